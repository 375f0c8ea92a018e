//! Runs the same script with threads, in a world and with the plain state machines: each handler
//! receives the same notifications.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{Controller as Machine, Generation};
use deltascope::cache::fact::{EventType, Fact, HandlersFact, NotificationRef, ObjectRef, Shape};
use deltascope::cache::informer::{SharedInformerState, initial_notifications};
use deltascope::cache::listener::{HandlerEnd, ListenerId, ProcessorListener};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, WatchItem, WatchRequest,
};
use deltascope::cache::object::Item;
use deltascope::cache::process::Notification;
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::reflector::Need;
use deltascope::cache::rng::Rng;
use deltascope::cache::threads::{Latch, Registration, SharedIndexInformer};
use deltascope::cache::trace::Trace;
use deltascope::world::virtual_time::{HandlerSettings, InformerKind, Input, Settings, World};
use deltascope::world::{Refused, Source, Time};
use k8s_openapi::api::core::v1::Pod;
use kube_core::{ApiResource, DynamicObject};

use super::{Listed, Recorder, Server, config, event, expired, line, options, pods, seeds};

/// A step of the script; after each, everything comes to rest.
#[derive(Clone, Debug)]
enum Op {
    /// Events, with their versions.
    Events(Vec<(EventType, String, u64)>),
    /// The watch has expired, and the server returns this list.
    Relist(Vec<(String, u64)>, u64),
    /// The server closes the watch normally after one event.
    Close(String, u64),
    AddHandler,
    /// The n-th of the handlers added so far.
    RemoveHandler(usize),
}

/// A random, consistent script, which starts with a list.
fn script(seed: u64, length: usize) -> Vec<Op> {
    let mut rng = Rng::new(seed);
    let mut objects: BTreeMap<String, u64> = BTreeMap::new();
    let mut rv = 10;
    let mut handlers = 0;
    let mut change = |objects: &mut BTreeMap<String, u64>, rng: &mut Rng| {
        rv += 1;
        let name = format!("p{}", rng.below(6));
        let event = match objects.get(&name) {
            None => EventType::Added,
            Some(_) if rng.chance(30) => EventType::Deleted,
            Some(_) => EventType::Modified,
        };
        match event {
            EventType::Deleted => objects.remove(&name),
            _ => objects.insert(name.clone(), rv),
        };
        (event, name, rv)
    };
    let mut ops = Vec::new();
    for step in 0..length {
        let op = match rng.below(8) {
            _ if step == 0 => 6,
            0..=1 if handlers < 6 => 8,
            2 if handlers > 0 => 9,
            choice => choice,
        };
        ops.push(match op {
            6..=7 => {
                // Changes that no watch has seen.
                for _ in 0..rng.below(8) {
                    change(&mut objects, &mut rng);
                }
                let (_, _, rv) = change(&mut objects, &mut rng);
                Op::Relist(objects.clone().into_iter().collect(), rv)
            }
            8 => {
                handlers += 1;
                Op::AddHandler
            }
            9 => Op::RemoveHandler(rng.below(handlers) as usize),
            5 => {
                let mut seen = change(&mut objects, &mut rng);
                while seen.0 == EventType::Deleted {
                    seen = change(&mut objects, &mut rng);
                }
                Op::Close(seen.1, seen.2)
            }
            _ => {
                let count = 1 + rng.below(12);
                let events = (0..count).map(|_| change(&mut objects, &mut rng));
                Op::Events(events.collect())
            }
        });
    }
    ops
}

/// The notifications of each handler, and their number after each step. The first handler exists
/// from start to end; the script's handlers follow.
type Received = Vec<(Vec<String>, Vec<usize>)>;

/// Runs the script with the plain state machines.
fn alone(generation: Generation, ops: &[Op]) -> Received {
    let mut machine = Machine::new(config(generation));
    let mut processor: SharedProcessor<ProcessorListener<Pod>> = SharedProcessor::default();
    let mut state = SharedInformerState::<Pod>::new(Duration::ZERO);
    let mut received = Received::new();
    let mut lists: VecDeque<Listed> = VecDeque::new();
    let mut stream: VecDeque<WatchItem<Pod>> = VecDeque::new();
    let mut now = Duration::ZERO;
    let trace = &mut ();
    let mut add = |machine: &Machine<Pod>,
                   processor: &mut SharedProcessor<_>,
                   received: &mut Received,
                   step| {
        let registration = state.add_event_handler("h", None, &mut ()).unwrap();
        let initial = initial_notifications(machine.store());
        let made = |id, name: &Arc<str>| ProcessorListener::new(id, name);
        let count = initial.len();
        let id = processor.add_listener(&registration, count, made, Duration::ZERO, &mut ());
        for notification in initial {
            processor.get_mut(id).unwrap().add(notification, &mut ());
        }
        received.push((Vec::new(), vec![0; step]));
    };
    add(&machine, &mut processor, &mut received, 0);
    for (step, op) in ops.iter().enumerate() {
        match op {
            Op::Events(events) => stream.extend(events.iter().map(event)),
            Op::Relist(items, rv) => {
                lists.push_back((pods(items), *rv));
                if step > 0 {
                    stream.push_back(expired());
                }
            }
            Op::Close(name, rv) => {
                stream.push_back(event(&(EventType::Modified, name.clone(), *rv)));
                stream.push_back(WatchItem::Closed);
            }
            Op::AddHandler => add(&machine, &mut processor, &mut received, step),
            Op::RemoveHandler(handler) => {
                processor.remove_listener(ListenerId(*handler as u32 + 1), trace);
            }
        }
        loop {
            let reflector = machine.reflector_mut();
            match reflector.need() {
                Need::Wait(moment) => {
                    now = now.max(*moment);
                    reflector.waited(now, trace);
                }
                Need::List(_) => {
                    let (items, rv) = lists.pop_front().unwrap();
                    reflector.listed(now, Ok(page(items, rv)), trace);
                }
                Need::Watch(_) => reflector.watched(now, Ok(()), trace),
                Need::Event => match stream.pop_front() {
                    Some(item) => reflector.received(now, item, trace),
                    None => break,
                },
                Need::Store(_) => assert!(machine.carry_out(now, trace)),
                Need::Stored | Need::Stopped => unreachable!(),
            }
        }
        let mut distribute = |notification: Notification<Pod>| {
            let notification = Arc::new(notification);
            for (_, listener) in processor.distribute_mut(&notification, &mut ()) {
                listener.add(Arc::clone(&notification), &mut ());
            }
        };
        while machine
            .process(
                |notification, _| distribute(notification),
                || Duration::ZERO,
                trace,
            )
            .unwrap()
        {}
        for (id, listener) in processor.listeners_mut() {
            while let Some(taken) = listener.take(trace) {
                received[id.0 as usize].0.push(line(&taken.notification));
                listener.done(HandlerEnd::Returned, trace);
            }
        }
        for (lines, counts) in &mut received {
            counts.push(lines.len());
        }
    }
    received
}

/// Runs the script with threads. `alone` has the number of notifications that each handler receives
/// before the next step.
fn in_threads(generation: Generation, ops: &[Op], alone: &Received) -> Vec<Vec<String>> {
    let server = Server::default();
    let informer = SharedIndexInformer::new(server.clone(), options(generation));
    let stop = Latch::new();
    let mut running = None;
    let mut handlers = Vec::new();
    let add = |handlers: &mut Vec<(Recorder, Registration<Pod>)>| {
        let recorder = Recorder::default();
        let registration = informer.add_event_handler(recorder.clone()).unwrap();
        handlers.push((recorder, registration));
    };
    add(&mut handlers);
    for (step, op) in ops.iter().enumerate() {
        match op {
            Op::Events(events) => server.send(events.iter().map(event)),
            Op::Relist(items, rv) => {
                server.list_next(pods(items), *rv);
                if running.is_some() {
                    server.send([expired()]);
                } else {
                    running = Some(informer.spawn(&stop));
                }
            }
            Op::Close(name, rv) => server.send([
                event(&(EventType::Modified, name.clone(), *rv)),
                WatchItem::Closed,
            ]),
            Op::AddHandler => add(&mut handlers),
            Op::RemoveHandler(handler) => informer.remove_event_handler(&handlers[handler + 1].1),
        }
        server.settle();
        for ((recorder, _), (_, counts)) in handlers.iter().zip(alone) {
            recorder.wait(counts[step]);
        }
    }
    for (_, registration) in &handlers {
        // A removed handler may have received everything before.
        assert!(informer.has_synced());
        drop(registration.has_synced_checker());
    }
    stop.set();
    running.unwrap().join().unwrap().unwrap();
    let lines = |(recorder, _): &(Recorder, _)| recorder.lines();
    handlers.iter().map(lines).collect()
}

/// A source that answers according to the script.
#[derive(Clone, Default)]
struct Scripted {
    lists: VecDeque<(Vec<(String, u64)>, u64)>,
    stream: VecDeque<WatchItem<DynamicObject>>,
    watched: bool,
}

fn dynamic(name: &str, rv: u64) -> Item<DynamicObject> {
    let kind = ApiResource::erase::<Pod>(&());
    let mut object = DynamicObject::new(name, &kind).within("ns");
    object.metadata.resource_version = Some(rv.to_string());
    Item::object(object)
}

impl Source for Scripted {
    type Command = Op;

    fn command(&mut self, _: Time, op: Op, _: &mut impl Trace) {
        let event = |event, name: &str, rv| WatchItem::Event(event, dynamic(name, rv));
        match op {
            Op::Events(events) => {
                let events = events
                    .iter()
                    .map(|(kind, name, rv)| event(*kind, name, *rv));
                self.stream.extend(events);
            }
            Op::Relist(items, rv) => {
                self.lists.push_back((items, rv));
                if self.watched {
                    let expired = ApiError::new(ApiErrorKind::Expired, "too old");
                    self.stream.push_back(WatchItem::Error(expired));
                }
            }
            Op::Close(name, rv) => {
                self.stream.push_back(event(EventType::Modified, &name, rv));
                self.stream.push_back(WatchItem::Closed);
            }
            Op::AddHandler | Op::RemoveHandler(_) => {}
        }
    }

    fn next_moment(&self) -> Option<Time> {
        None
    }

    fn advance(&mut self, _: Time, _: &mut impl Trace) {}

    fn begins_with_list(&self) -> bool {
        true
    }

    fn list(
        &mut self,
        _: Time,
        _: &ListRequest,
        _: &mut impl Trace,
    ) -> Result<ListPage<DynamicObject>, Refused> {
        let (items, rv) = self.lists.pop_front().unwrap();
        Ok(ListPage {
            resource_version: rv.to_string().into(),
            items: items.iter().map(|(name, rv)| dynamic(name, *rv)).collect(),
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&mut self, _: Time, _: &WatchRequest, _: &mut impl Trace) -> Result<(), Refused> {
        self.watched = true;
        Ok(())
    }

    fn arrival(&self) -> Option<Time> {
        (!self.stream.is_empty()).then_some(0)
    }

    fn receive(&mut self) -> Option<WatchItem<DynamicObject>> {
        self.stream.pop_front()
    }

    fn hang_up(&mut self) {}
}

/// Runs the script under virtual time, where the state machines take turns at random.
fn in_world(generation: Generation, seed: u64, ops: &[Op]) -> Vec<Vec<String>> {
    let handler = || HandlerSettings {
        name: "h".into(),
        ..HandlerSettings::default()
    };
    let settings = Settings {
        seed,
        interleave: true,
        informer: InformerKind::Shared,
        era: generation,
        watch_list: Some(false),
        handlers: vec![handler()],
        ..Settings::default()
    };
    let mut world = World::new(settings, Scripted::default(), Vec::new());
    let mut received = vec![Vec::new()];
    for op in ops {
        match op {
            Op::AddHandler => {
                received.push(Vec::new());
                world.input(Input::AddHandler(handler()));
            }
            Op::RemoveHandler(handler) => {
                world.input(Input::RemoveHandler(*handler as u8 + 1));
            }
            op => world.input(Input::Source(op.clone())),
        }
        while world.step() {}
        for record in world.drain() {
            if let Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) = record.fact
            {
                received[usize::from(handler)].push(line_of(&notification));
            }
        }
    }
    received
}

/// Like [`line`], from a fact.
fn line_of(notification: &NotificationRef) -> String {
    let text = |object: &ObjectRef| {
        let mark = if object.shape == Shape::Tombstone {
            "†"
        } else {
            ""
        };
        format!("{}@{}{mark}", &object.key["ns/".len()..], object.rv)
    };
    match notification {
        NotificationRef::Add {
            object,
            is_in_initial_list,
        } => format!("+{} {is_in_initial_list}", text(object)),
        NotificationRef::Update { old, new } => {
            format!("~{} {}", text(old.as_ref().unwrap()), text(new))
        }
        NotificationRef::Delete { object } => format!("-{}", text(object)),
    }
}

fn page(items: Vec<Item<Pod>>, rv: u64) -> ListPage<Pod> {
    ListPage {
        resource_version: rv.to_string().into(),
        items,
        continue_token: "".into(),
        table: None,
    }
}

/// The lines about each object, in order.
fn by_key(lines: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let name = line[1..].split('@').next().unwrap();
        found.entry(name).or_default().push(line);
    }
    found
}

#[test]
fn threads_and_worlds_notify_each_handler_like_the_plain_machines() {
    for seed in 0..seeds() {
        let ops = script(seed, 12);
        for generation in Generation::ALL {
            let alone = alone(generation, &ops);
            let threads = in_threads(generation, &ops, &alone);
            assert_eq!(threads.len(), alone.len());
            let world = in_world(generation, seed, &ops);
            assert_eq!(world.len(), alone.len());
            for (world, (alone, _)) in world.iter().zip(&alone) {
                assert_eq!(
                    by_key(world),
                    by_key(alone),
                    "{seed} {generation:?} {ops:?}"
                );
            }
            for (threads, (alone, _)) in threads.iter().zip(&alone) {
                if generation == Generation::Classic {
                    // How many deltas a DeltaFIFO has of a key depends on the timing.
                    assert_eq!(
                        by_key(threads),
                        by_key(alone),
                        "{seed} {generation:?} {ops:?}"
                    );
                } else {
                    assert_eq!(threads, alone, "{seed} {generation:?} {ops:?}");
                }
            }
        }
    }
}
