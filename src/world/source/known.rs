//! The objects that a server is known to have, according to its lists and events.

use std::collections::VecDeque;
use std::sync::Arc;

use deltascope_cache::fact::{EventType, ObjectRef, Rv};
use deltascope_cache::key::Key;
use deltascope_cache::map::{self, Map};

use super::simulator::DELETED_SHOWN;

/// The known objects of a server.
#[derive(Clone, Debug)]
pub struct Known {
    /// Whether all objects are known, because there was a list.
    complete: bool,
    rv: Rv,
    objects: Map<Key, (ObjectRef, bool)>,
    deleted: VecDeque<Key>,
}

impl Known {
    /// No objects, at this version.
    #[must_use]
    pub fn new(rv: Rv, complete: bool) -> Self {
        Self {
            complete,
            rv,
            objects: Map::default(),
            deleted: VecDeque::new(),
        }
    }

    /// The version of the last list, or of the last event since.
    #[must_use]
    pub fn rv(&self) -> &Rv {
        &self.rv
    }

    /// Whether all objects of the server are known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The objects, with whether each was deleted; the last deleted ones are included.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &(ObjectRef, bool))> {
        self.objects.iter()
    }

    /// The deleted objects, the longest ago first.
    pub fn deleted(&self) -> impl Iterator<Item = &Key> {
        self.deleted.iter()
    }

    /// Sets the server's version.
    pub(crate) fn set_rv(&mut self, rv: Rv) {
        self.rv = rv;
    }

    /// Replaces the objects by those of a list.
    pub fn learn(&mut self, rv: Rv, objects: &[ObjectRef]) {
        self.rv = rv;
        self.deleted.clear();
        self.objects.clear();
        for object in objects {
            self.objects
                .insert(object.key.clone(), (object.clone(), false));
        }
    }

    /// Applies an event.
    pub fn follow(&mut self, event: EventType, object: &ObjectRef) {
        if !object.rv.is_empty() {
            self.rv = Arc::clone(&object.rv);
        }
        if !self.complete {
            return;
        }
        let key = &object.key;
        match event {
            EventType::Added => {
                // An object that exists keeps its place: if a stream repeats all objects, moving each to the
                // end would take quadratic time.
                if self.objects.get(key).is_some_and(|(_, deleted)| *deleted) {
                    map::remove(&mut self.objects, key);
                }
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object.clone(), false));
            }
            EventType::Modified => {
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object.clone(), false));
            }
            EventType::Deleted => {
                let was = self.objects.insert(key.clone(), (object.clone(), true));
                if was.is_none_or(|(_, deleted)| !deleted) {
                    self.deleted.push_back(key.clone());
                }
                if self.deleted.len() > DELETED_SHOWN
                    && let Some(first) = self.deleted.pop_front()
                {
                    map::remove(&mut self.objects, &first);
                }
            }
            EventType::Bookmark | EventType::Error => {}
        }
    }
}
