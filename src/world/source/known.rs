//! What a server is known to have, going by its lists and its events.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;

use deltascope_cache::fact::{EventType, ObjectRef, Rv};
use deltascope_cache::key::Key;

use super::simulator::DELETED_SHOWN;

/// The objects of a server.
#[derive(Clone, Debug)]
pub struct Known {
    /// Whether all of them are known: there was a list.
    complete: bool,
    rv: Rv,
    objects: IndexMap<Key, (ObjectRef, bool)>,
    deleted: VecDeque<Key>,
}

impl Known {
    /// Nothing yet, at this version.
    #[must_use]
    pub fn new(rv: Rv, complete: bool) -> Self {
        Self {
            complete,
            rv,
            objects: IndexMap::new(),
            deleted: VecDeque::new(),
        }
    }

    /// The version of the last list, or of the last event since.
    #[must_use]
    pub fn rv(&self) -> &Rv {
        &self.rv
    }

    /// Whether it is known what the server has.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The objects, the last deleted ones (true) among them.
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &(ObjectRef, bool))> {
        self.objects.iter()
    }

    /// The deleted ones among them, the longest ago first.
    pub fn deleted(&self) -> impl Iterator<Item = &Key> {
        self.deleted.iter()
    }

    /// The server has come to this version.
    pub fn set_rv(&mut self, rv: Rv) {
        self.rv = rv;
    }

    /// A list tells all that there is.
    pub fn learn(&mut self, rv: Rv, objects: &[ObjectRef]) {
        self.rv = rv;
        self.deleted.clear();
        self.objects.clear();
        for object in objects {
            self.objects
                .insert(object.key.clone(), (object.clone(), false));
        }
    }

    /// An event tells what has changed.
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
                // One that is there stays where it is: a stream that tells all of them again, each to be
                // moved to the end, would cost the square of their number.
                if self.objects.get(key).is_some_and(|(_, deleted)| *deleted) {
                    self.objects.shift_remove(key);
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
                    self.objects.shift_remove(&first);
                }
            }
            EventType::Bookmark | EventType::Error => {}
        }
    }
}
