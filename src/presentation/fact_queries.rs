//! Queries about single facts that several modules need.

use std::sync::Arc;

use deltascope_cache::fact::{
    Actor, Entry, Fact, HandlersFact, LockName, NotificationRef, ObjectRef, QueueFact, RunFact,
    ServerFact, StoreFact,
};
use deltascope_cache::key::Key;

/// The object that was written on the server: created, updated or deleted.
#[must_use]
pub fn written(fact: &Fact) -> Option<&ObjectRef> {
    if let Fact::Server(
        ServerFact::ObjectCreated { object, .. }
        | ServerFact::ObjectUpdated { object, .. }
        | ServerFact::ObjectDeleted { object, .. },
    ) = fact
    {
        Some(object)
    } else {
        None
    }
}

/// The object with which a program called the queue.
#[must_use]
pub fn called(fact: &Fact) -> Option<&ObjectRef> {
    if let Fact::Run(RunFact::Called { object, .. }) = fact {
        Some(object)
    } else {
        None
    }
}

/// The objects of a fact about a whole list or store.
#[must_use]
pub fn whole(fact: &Fact) -> Option<&[ObjectRef]> {
    if let Fact::Server(ServerFact::ObjectsLearned { objects, .. }) = fact {
        Some(objects)
    } else if let Fact::Store(StoreFact::StoreReplaced { items }) = fact {
        Some(items)
    } else if let Fact::Queue(QueueFact::EntryAppended {
        entry: Entry::ReplacedAll { objects, .. },
        ..
    }) = fact
    {
        Some(objects)
    } else {
        None
    }
}

/// Whether objects in the store were written or removed.
#[must_use]
pub fn changes_store(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Store(
            StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::StoreReplaced { .. }
        )
    )
}

/// The lock that a fact is about, and the actor that took it, waits for it or released it.
#[must_use]
pub fn lock_of(fact: &Fact) -> Option<(LockName, Actor)> {
    if let Fact::Queue(
        QueueFact::LockTaken { lock, by }
        | QueueFact::LockAwaited { lock, by, .. }
        | QueueFact::LockReleased { lock, by },
    ) = fact
    {
        Some((*lock, *by))
    } else {
        None
    }
}

/// The index, the value and the key of an index entry that was added or removed.
#[must_use]
pub fn index_entry(fact: &Fact) -> Option<(&Arc<str>, &Arc<str>, &Key)> {
    if let Fact::Store(
        StoreFact::IndexEntryAdded { index, value, key }
        | StoreFact::IndexEntryRemoved {
            index, value, key, ..
        },
    ) = fact
    {
        Some((index, value, key))
    } else {
        None
    }
}

/// Whether a fact changes all indices.
#[must_use]
pub fn resets_indices(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Store(StoreFact::StoreReplaced { .. } | StoreFact::IndicesReset)
    )
}

/// The handler that a notification was sent to, queued for or taken by, and the notification.
#[must_use]
pub fn notification(fact: &Fact) -> Option<(u8, &NotificationRef)> {
    if let Fact::Handlers(
        HandlersFact::NotificationSent {
            handler,
            notification,
        }
        | HandlersFact::NotificationQueued {
            handler,
            notification,
            ..
        }
        | HandlersFact::NotificationTaken {
            handler,
            notification,
        },
    ) = fact
    {
        Some((*handler, notification))
    } else {
        None
    }
}
