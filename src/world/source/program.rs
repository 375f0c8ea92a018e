//! A program that calls the queue itself: no API server, no reflector.

use std::collections::VecDeque;
use std::sync::Arc;

use kube_core::DynamicObject;

use crate::{Refused, Source, Time};
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{EventType, Reason};
use deltascope_cache::key::Key;
use deltascope_cache::lister_watcher::{ListPage, ListRequest, WatchItem, WatchRequest};
use deltascope_cache::object::Object;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::trace::Trace;

use super::Command;
use super::answer::{key_of, reference, write_target};
use super::pod::Write;
use super::stream::{Delivery, Stream};

/// One call on the queue: Added is `Add`, Updated is `Update`, Deleted is `Delete`.
type Call = (DeltaType, Arc<DynamicObject>);

/// A program as a source: it makes queue calls instead of answering requests.
#[derive(Clone, Debug, Default)]
pub struct Program {
    due: VecDeque<(Time, Call)>,
    /// The calls made so far.
    pub(super) stream: Stream,
    /// The object of the last call for each key: a delete passes it again.
    latest: SortedMap<Key, Arc<DynamicObject>>,
    versions: u64,
}

impl Program {
    fn version(&mut self, mut object: DynamicObject) -> Arc<DynamicObject> {
        self.versions += 1;
        if object.resource_version().is_empty() {
            object.metadata.resource_version = Some(self.versions.to_string());
        }
        let object = Arc::new(object);
        self.latest.insert(key_of(&object), Arc::clone(&object));
        object
    }
}

impl Source for Program {
    type Command = Command;

    fn command(&mut self, now: Time, command: Command, _trace: &mut impl Trace) {
        let Command::Write(write) = command else {
            return; // There is no watch to cut and no history to forget.
        };
        let (_, key) = write_target(&write);
        let call = match write {
            Write::Create(object) => (DeltaType::Added, self.version(object)),
            Write::Update(object) => (DeltaType::Updated, self.version(object)),
            Write::Delete { namespace, name } => {
                let latest = self.latest.get(&key).cloned();
                let object = latest.unwrap_or_else(|| {
                    let object = super::pod::PodSpec {
                        namespace,
                        name,
                        ..Default::default()
                    };
                    Arc::new(object.into_object())
                });
                (DeltaType::Deleted, object)
            }
        };
        self.due.push_back((now, call));
    }

    fn next_moment(&self) -> Option<Time> {
        None
    }

    fn advance(&mut self, _now: Time, _trace: &mut impl Trace) {}

    fn begins_with_list(&self) -> bool {
        false
    }

    fn list(
        &mut self,
        _: Time,
        _: &ListRequest,
        _: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        Err(Refused::Over(Reason::NothingToList))
    }

    fn watch(&mut self, _: Time, _: &WatchRequest, _: &mut impl Trace) -> Result<(), Refused> {
        Err(Refused::Over(Reason::NothingToWatch))
    }

    fn hang_up(&mut self) {}

    fn arrival(&self) -> Option<Time> {
        self.due.front().map(|(at, _)| *at)
    }

    fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        None
    }

    fn calls(&self) -> usize {
        self.due.len()
    }

    fn take_call(&mut self) -> Option<Call> {
        let (_, call) = self.due.pop_front()?;
        let object = reference(&key_of(&call.1), &call.1);
        let event = event_of(call.0);
        self.stream.note(event, object, Delivery::Received);
        Some(call)
    }
}

/// The watch event type that stands for a call.
#[must_use]
pub fn event_of(delta_type: DeltaType) -> EventType {
    match delta_type {
        DeltaType::Deleted => EventType::Deleted,
        DeltaType::Updated => EventType::Modified,
        _ => EventType::Added,
    }
}
