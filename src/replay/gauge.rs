//! The gauge: how far the store is behind the server.

use deltascope_cache::fact::{Fact, ObjectRef, ServerFact, StoreFact};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_world::virtual_time::{InformerKind, ReflectorState, SourceKind};

use super::picture::{ApiRoom, Behind, Picture, StoreRoom};

impl Picture {
    /// Compares server and store again for the objects that a fact may have changed.
    pub(super) fn look_again(&mut self, fact: &Fact) {
        if let Fact::Server(
            ServerFact::ObjectCreated { object, .. }
            | ServerFact::ObjectUpdated { object, .. }
            | ServerFact::ObjectDeleted { object, .. }
            | ServerFact::EventSent { object, .. },
        )
        | Fact::Store(StoreFact::ItemStored { object, .. }) = fact
        {
            self.look_at(&object.key);
        } else if let Fact::Store(StoreFact::ItemRemoved { key, .. }) = fact {
            self.look_at(key);
        } else if let Fact::Server(ServerFact::ObjectsLearned { .. })
        | Fact::Store(StoreFact::StoreReplaced { .. }) = fact
        {
            self.look_at_all();
        }
    }

    fn look_at(&mut self, key: &Key) {
        if is_shown(&self.api, &self.store, key) {
            self.store.unlike.remove(key);
        } else {
            self.store.unlike.insert(key.clone(), ());
        }
    }

    /// Compares server and store for every object.
    pub(super) fn look_at_all(&mut self) {
        let keys = self.api.objects.keys().chain(self.store.items.keys());
        let unlike: SortedMap<Key, ()> = keys
            .filter(|key| !is_shown(&self.api, &self.store, key))
            .map(|key| (key.clone(), ()))
            .collect();
        self.store.unlike = unlike;
    }

    /// How many objects the store is behind the server.
    pub(super) fn behind(&self) -> Behind {
        let is_filled = !matches!(self.informer, InformerKind::Indexer | InformerKind::Client);
        let is_known = || {
            let api = &self.api;
            api.known_from_events
                && api.sends_events
                && self.reflector.state == ReflectorState::Watch
        };
        match self.api.source {
            SourceKind::Program => Behind::Nothing,
            _ if !self.store.present || !is_filled => Behind::Nothing,
            SourceKind::Recorded | SourceKind::Cluster if !is_known() => Behind::Unknown,
            SourceKind::Server | SourceKind::Recorded | SourceKind::Cluster => {
                Behind::By(self.store.unlike.len() as u64)
            }
        }
    }
}

/// Whether the store has the same version of an object as the server, or neither has the object.
fn is_shown(api: &ApiRoom, store: &StoreRoom, key: &Key) -> bool {
    let there = api.objects.get(key);
    let there = there.filter(|entry| !entry.deleted && api.selects(&entry.body.labels));
    let identity = |object: &ObjectRef| (object.rv.clone(), object.uid.clone());
    there.map(|entry| identity(&entry.object)) == store.items.get(key).map(identity)
}
