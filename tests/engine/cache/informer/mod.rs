//! The layers above the queue: the process function, listeners, the shared processor, the
//! informer's state.

mod generations;
mod handlers;
mod life;
mod listener;
mod mutation;
mod processor;
mod unshared;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{Generation, InformerQueue};
use deltascope::cache::informer::{HandlerRegistration, SharedInformerState};
use deltascope::cache::key_func::deletion_handling_meta_namespace_key_func;
use deltascope::cache::listener::{ListenerId, ProcessorListener};
use deltascope::cache::object::Item;
use deltascope::cache::order::Order;
use deltascope::cache::process::{Notification, Process, ProcessStage, Progress};
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::queue::ProcessOutcome;
use deltascope::cache::reflector::StoreCall;
use deltascope::cache::store::{Indexer, StoreOptions};
use proptest::prelude::*;

use super::{O, key_func, letters_indexer, pod, rv};

struct Parts {
    queue: InformerQueue<O>,
    store: Indexer<O>,
}

fn parts(generation: Generation) -> Parts {
    let options = StoreOptions {
        order: Order::Key,
        keeps_resource_version: generation.keeps_store_resource_version(),
        ..StoreOptions::default()
    };
    Parts {
        queue: InformerQueue::new(generation, key_func(), None),
        store: Indexer::with_options(
            Arc::new(deletion_handling_meta_namespace_key_func),
            letters_indexer(),
            options,
        ),
    }
}

fn list(names: &[(&str, &str)]) -> StoreCall<O> {
    let items = names.iter().map(|(name, rv)| pod(name, rv)).collect();
    StoreCall::Replace(items, "10".into())
}

/// A notification as text: `+a/b 1 initial`, `~a/b 1 2`, `-a/b 1`, `x` for a tombstone.
fn short(notification: &Notification<O>) -> String {
    let key = |item: &Item<O>| deletion_handling_meta_namespace_key_func(item).unwrap();
    match notification {
        Notification::Add {
            object,
            is_in_initial_list,
        } => {
            let initial = if *is_in_initial_list { " initial" } else { "" };
            format!("+{} {}{initial}", key(object), rv(object))
        }
        Notification::Update { old, new } => {
            let old = old.as_ref().map_or("", rv);
            format!("~{} {old} {}", key(new), rv(new))
        }
        Notification::Delete { object } if object.is_tombstone() => {
            format!("-{} {} x", key(object), rv(object))
        }
        Notification::Delete { object } => format!("-{} {}", key(object), rv(object)),
    }
}

impl Parts {
    fn write(&mut self, call: StoreCall<O>) {
        self.queue.write(call, &self.store, &mut ()).unwrap();
    }

    /// Pops once. Returns the steps; a notification comes with the state that a handler in the
    /// process loop sees: the stored versions and HasSynced.
    fn pop(&mut self) -> Option<(Vec<String>, ProcessOutcome)> {
        let work = self.queue.begin_pop(&mut ()).unwrap()?;
        let mut process = Process::new(work);
        let mut steps = Vec::new();
        let outcome = loop {
            match process.step(&mut self.store, &mut ()) {
                Progress::Took => steps.push("took".into()),
                Progress::Wrote => steps.push("wrote".into()),
                Progress::Notify(notification) => {
                    let stored: Vec<&str> = self.store.list().map(rv).collect();
                    let synced = if self.queue.has_synced() {
                        " synced"
                    } else {
                        ""
                    };
                    steps.push(format!(
                        "{} | {}{synced}",
                        short(&notification),
                        stored.join(" ")
                    ));
                }
                Progress::Done(outcome) => break outcome,
            }
        };
        assert_eq!(process.position().stage, ProcessStage::Done);
        let elapsed = Duration::ZERO;
        let end = self
            .queue
            .finish_pop(process.into_taken(), outcome.clone(), elapsed, &mut ());
        assert_eq!(end.is_ok(), outcome == ProcessOutcome::Done);
        Some((steps, outcome))
    }

    fn pops(&mut self) -> Vec<Vec<String>> {
        std::iter::from_fn(|| self.pop().map(|(steps, _)| steps)).collect()
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// An event for an informer, mostly from the server.
#[derive(Clone, Debug)]
enum Event {
    Add(u8),
    Update(u8),
    Delete(u8),
    List(Vec<u8>),
    Resync,
    /// The process loop takes a turn.
    Pop,
}

/// All events except the process loop's turns.
fn any_written() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (0..6_u8).prop_map(Event::Add),
        3 => (0..6_u8).prop_map(Event::Update),
        3 => (0..6_u8).prop_map(Event::Delete),
        2 => proptest::collection::vec(0..6_u8, 0..6).prop_map(Event::List),
        1 => Just(Event::Resync),
    ]
}

/// The reflector's store call for an event, with a version of its own; `None` for the process
/// loop's turn.
fn call(event: &Event, version: u32) -> Option<StoreCall<O>> {
    let rv = version.to_string();
    let object = |name: u8| pod(&format!("p{name}"), &rv);
    Some(match event {
        Event::Add(name) => StoreCall::Add(object(*name)),
        Event::Update(name) => StoreCall::Update(object(*name)),
        Event::Delete(name) => StoreCall::Delete(object(*name)),
        Event::List(names) => {
            let names: BTreeSet<u8> = names.iter().copied().collect();
            StoreCall::Replace(names.into_iter().map(object).collect(), rv.as_str().into())
        }
        Event::Resync => StoreCall::Resync,
        Event::Pop => return None,
    })
}

/// Applies a notification to a copy of the store, as a handler would.
fn follow(notification: &Notification<O>, copy: &mut BTreeMap<String, String>) {
    let object = notification.object();
    let key = deletion_handling_meta_namespace_key_func(object).unwrap();
    match notification {
        Notification::Delete { .. } => copy.remove(key.as_str()),
        Notification::Add { .. } | Notification::Update { .. } => {
            copy.insert(key.to_string(), rv(object).to_owned())
        }
    };
}

fn add(object: Item<O>, is_in_initial_list: bool) -> Notification<O> {
    Notification::Add {
        object,
        is_in_initial_list,
    }
}

fn update(old: Item<O>, new: Item<O>) -> Notification<O> {
    let old = Some(old);
    Notification::Update { old, new }
}

type Listener = ProcessorListener<O>;

struct Shared {
    state: SharedInformerState<O>,
    processor: SharedProcessor<()>,
}

impl Shared {
    fn new(resync: Duration) -> Self {
        Self {
            state: SharedInformerState::new(resync),
            processor: SharedProcessor::default(),
        }
    }

    fn add(
        &mut self,
        resync: Option<Duration>,
        now: Duration,
    ) -> (ListenerId, HandlerRegistration) {
        let registration = self.state.add_event_handler("h", resync, &mut ()).unwrap();
        let id = self
            .processor
            .add_listener(&registration, 0, |_, _| (), now, &mut ());
        (id, registration)
    }
}
