//! The objects that a server is known to have, according to its lists and events.

use std::collections::VecDeque;
use std::sync::Arc;

use deltascope_cache::fact::{EventType, ObjectRef, Rv};
use deltascope_cache::key::Key;
use deltascope_cache::map::{self, Map};

use super::simulator::DELETED_SHOWN;

/// The known objects of a server, each as an `O`: what facts name of it, or all of it.
#[derive(Clone, Debug)]
pub struct Known<O> {
    /// Whether all objects are known, because there was a list.
    complete: bool,
    rv: Rv,
    objects: Map<Key, (O, bool)>,
    deleted: VecDeque<Key>,
}

impl<O> Known<O> {
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
    pub fn objects(&self) -> impl Iterator<Item = (&Key, &(O, bool))> {
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

    /// The object of this key, unless it was deleted.
    pub(super) fn get(&self, key: &Key) -> Option<&O> {
        let (object, deleted) = self.objects.get(key)?;
        (!deleted).then_some(object)
    }

    /// The objects that were not deleted.
    pub(super) fn existing(&self) -> impl Iterator<Item = &O> {
        let existing = self.objects.values().filter(|(_, deleted)| !deleted);
        existing.map(|(object, _)| object)
    }

    /// Replaces the objects by those of a list.
    pub fn learn(&mut self, rv: Rv, objects: impl IntoIterator<Item = (Key, O)>) {
        self.rv = rv;
        self.deleted.clear();
        let objects = objects.into_iter().map(|(key, one)| (key, (one, false)));
        self.objects = objects.collect();
    }

    /// Applies an event of this object; a bookmark and an error have none to keep.
    pub fn follow(&mut self, event: EventType, sent: &ObjectRef, kept: Option<O>) {
        if !sent.rv.is_empty() {
            self.rv = Arc::clone(&sent.rv);
        }
        let Some(object) = kept.filter(|_| self.complete) else {
            return;
        };
        let key = &sent.key;
        match event {
            EventType::Added => {
                // An object that exists keeps its place: if a stream repeats all objects, moving each to the
                // end would take quadratic time.
                if self.objects.get(key).is_some_and(|(_, deleted)| *deleted) {
                    map::remove(&mut self.objects, key);
                }
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object, false));
            }
            EventType::Modified => {
                self.deleted.retain(|other| other != key);
                self.objects.insert(key.clone(), (object, false));
            }
            EventType::Deleted => {
                let was = self.objects.insert(key.clone(), (object, true));
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
