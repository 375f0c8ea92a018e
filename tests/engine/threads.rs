//! The informer in threads: it does what the same parts do alone, and nothing that blocks hangs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests; here they are of threads, and `make soak` asks for more by the environment"
)]

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use deltascope::cache::backoff::{Backoff, NoJitter};
use deltascope::cache::controller::{Config, Controller as Machine, Generation};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::fact::{EventType, Fact, HandlersFact, Notification, ObjectRef, Shape};
use deltascope::cache::factory::FactoryOptions;
use deltascope::cache::index::{IndexFunc, Indexers, label_index_func};
use deltascope::cache::informer::{SharedInformerState, initial_notices};
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::listener::{HandlerEnd, ListenerId, PanicPolicy, ProcessorListener};
use deltascope::cache::lister::{GenericLister, GroupResource};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::Notice;
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::queue::{ProcessOutcome, Release};
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions};
use deltascope::cache::reflector::Need;
use deltascope::cache::rng::Rng;
use deltascope::cache::selector::Selector;
use deltascope::cache::store::new_indexer;
use deltascope::cache::threads::{
    BlockingQueue, BlockingWorkqueue, Clock, HandlerOptions, InformerOptions, Latch, MutatedFunc,
    Registration, SharedIndexInformer, SharedInformerFactory, ThreadSafeStore, new_informer,
    wait_for, wait_for_cache_sync,
};
use deltascope::cache::trace::Trace;
use deltascope::cache::workqueue::{ItemFastSlow, ShutDown, default_controller_rate_limiter};
use deltascope::world::virtual_time::{Era, HandlerSettings, InformerKind, Input, Settings, World};
use deltascope::world::{Refused, Source, Time};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_core::{ApiResource, DynamicObject};

/// How long a test waits for what has to come, before it says that it hangs.
const HANGS: Duration = Duration::from_secs(60);

fn pod(name: &str, rv: u64) -> Item<Pod> {
    let mut pod = Pod::default();
    pod.metadata.namespace = Some("ns".into());
    pod.metadata.name = Some(name.into());
    pod.metadata.resource_version = Some(rv.to_string());
    pod.metadata.labels = Some([("parity".to_owned(), (rv % 2).to_string())].into());
    Item::object(pod)
}

fn text(item: &Item<Pod>) -> String {
    let object = item.as_object().unwrap();
    let mark = if item.is_tombstone() { "†" } else { "" };
    format!("{}@{}{mark}", object.name(), object.resource_version())
}

fn line(notice: &Notice<Pod>) -> String {
    match notice {
        Notice::Add {
            object,
            is_in_initial_list,
        } => format!("+{} {is_in_initial_list}", text(object)),
        Notice::Update { old, new } => format!("~{} {}", text(old.as_ref().unwrap()), text(new)),
        Notice::Delete { object } => format!("-{}", text(object)),
    }
}

// ---- a server that does what it is told

/// One list after the other as it was told, and one stream of events.
#[derive(Clone, Default)]
struct Server {
    inner: Arc<(Mutex<Served>, Condvar)>,
}

/// Objects and the version of the list.
type Listed = (Vec<Item<Pod>>, u64);

#[derive(Default)]
struct Served {
    lists: VecDeque<Result<Listed, ApiError>>,
    stream: VecDeque<WatchItem<Pod>>,
    // Somebody waits for an event, and there is none.
    idle: bool,
    // It can stream lists.
    streams: bool,
    over: bool,
}

struct Watch {
    server: Server,
    stopped: Arc<AtomicBool>,
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, Served> {
        self.inner.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut Served)) {
        change(&mut self.lock());
        self.inner.1.notify_all();
    }

    fn wait(&self, until: impl Fn(&Served) -> bool) -> MutexGuard<'_, Served> {
        let served = self.lock();
        let (served, waited) = (self.inner.1)
            .wait_timeout_while(served, HANGS, |served| !until(served))
            .unwrap();
        assert!(!waited.timed_out(), "nothing more is asked of the server");
        served
    }

    fn list_next(&self, items: Vec<Item<Pod>>, rv: u64) {
        self.change(|served| served.lists.push_back(Ok((items, rv))));
    }

    fn send(&self, items: impl IntoIterator<Item = WatchItem<Pod>>) {
        self.change(|served| {
            served.idle = false;
            served.stream.extend(items);
        });
    }

    /// Waits until everything was read.
    fn settle(&self) {
        drop(self.wait(|served| served.idle && served.stream.is_empty()));
    }

    /// Whoever still lists is told that it is over.
    fn end(&self) {
        self.change(|served| served.over = true);
    }
}

impl ListerWatcher<Pod> for Server {
    type Watch = Watch;

    fn list(&self, _request: &ListRequest) -> Result<ListPage<Pod>, ApiError> {
        let mut served = self.wait(|served| !served.lists.is_empty() || served.over);
        let over = || Err(ApiError::new(ApiErrorKind::Other, "the test is over"));
        let (items, rv) = served.lists.pop_front().unwrap_or_else(over)?;
        Ok(ListPage {
            resource_version: rv.to_string().into(),
            items,
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&self, _request: &WatchRequest) -> Result<Watch, ApiError> {
        Ok(Watch {
            server: self.clone(),
            stopped: Arc::default(),
        })
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        !self.lock().streams
    }
}

impl Watcher<Pod> for Watch {
    fn next(&mut self) -> WatchItem<Pod> {
        let mut served = self.server.lock();
        loop {
            if self.stopped.load(Ordering::Acquire) {
                return WatchItem::Closed;
            }
            if let Some(item) = served.stream.pop_front() {
                served.idle = false;
                return item;
            }
            served.idle = true;
            self.server.inner.1.notify_all();
            served = self.server.inner.1.wait(served).unwrap();
        }
    }

    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let (server, stopped) = (self.server.clone(), Arc::clone(&self.stopped));
        Box::new(move || {
            server.change(|_| stopped.store(true, Ordering::Release));
        })
    }
}

// ---- a handler that writes down what it is told

#[derive(Clone, Default)]
struct Recorder {
    inner: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl Recorder {
    fn push(&self, notice: &Notice<Pod>) {
        self.inner.0.lock().unwrap().push(line(notice));
        self.inner.1.notify_all();
    }

    fn lines(&self) -> Vec<String> {
        self.inner.0.lock().unwrap().clone()
    }

    /// Whether it has been told so much, or is within the time that a test has.
    fn hears(&self, count: usize) -> bool {
        let lines = self.inner.0.lock().unwrap();
        let (_lines, waited) = (self.inner.1)
            .wait_timeout_while(lines, HANGS, |lines| lines.len() < count)
            .unwrap();
        !waited.timed_out()
    }

    /// Waits until it was told so much.
    fn wait(&self, count: usize) -> Vec<String> {
        let hears = self.hears(count);
        let lines = self.lines();
        assert!(hears, "{} of {count}: {lines:?}", lines.len());
        lines
    }
}

impl ResourceEventHandler<Pod> for Recorder {
    fn on_add(&self, object: &Item<Pod>, is_in_initial_list: bool) {
        let object = object.clone();
        self.push(&Notice::Add {
            object,
            is_in_initial_list,
        });
    }

    fn on_update(&self, old: &Item<Pod>, new: &Item<Pod>) {
        let (old, new) = (Some(old.clone()), new.clone());
        self.push(&Notice::Update { old, new });
    }

    fn on_delete(&self, object: &Item<Pod>) {
        let object = object.clone();
        self.push(&Notice::Delete { object });
    }
}

// ---- the same script, in threads and alone

/// What happens; after each everything comes to rest.
#[derive(Clone, Debug)]
enum Op {
    /// Events, with the versions after them.
    Events(Vec<(EventType, String, u64)>),
    /// The watch has expired, and this is the list then.
    Relist(Vec<(String, u64)>, u64),
    /// The server ends the watch in good order after one event.
    Close(String, u64),
    AddHandler,
    /// One of those added before, in their order.
    RemoveHandler(usize),
}

/// A random script in which no event contradicts another; the first is a list.
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
                // What changed meanwhile, nobody has seen.
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

fn event((event, name, rv): &(EventType, String, u64)) -> WatchItem<Pod> {
    WatchItem::Event(*event, pod(name, *rv))
}

fn pods(items: &[(String, u64)]) -> Vec<Item<Pod>> {
    items.iter().map(|(name, rv)| pod(name, *rv)).collect()
}

fn expired() -> WatchItem<Pod> {
    WatchItem::Error(ApiError::new(ApiErrorKind::Expired, "too old"))
}

fn config(generation: Generation) -> Config<Pod> {
    Config {
        backoff: Backoff {
            duration: Duration::from_micros(10),
            cap: Duration::from_micros(10),
            ..Backoff::default()
        },
        jitter: Box::new(NoJitter),
        watch_list: false,
        ..Config::new(generation)
    }
}

fn options(generation: Generation) -> InformerOptions<Pod> {
    InformerOptions {
        config: config(generation),
        ..InformerOptions::new(generation)
    }
}

/// What each handler was told, and how much after each step. The first handler is there from the
/// start to the end; the script's follow.
type Told = Vec<(Vec<String>, Vec<usize>)>;

/// The script with the plain machines.
fn alone(generation: Generation, ops: &[Op]) -> Told {
    let mut machine = Machine::new(config(generation));
    let mut processor: SharedProcessor<ProcessorListener<Pod>> = SharedProcessor::default();
    let mut state = SharedInformerState::<Pod>::new(Duration::ZERO);
    let mut told = Told::new();
    let mut lists: VecDeque<Listed> = VecDeque::new();
    let mut stream: VecDeque<WatchItem<Pod>> = VecDeque::new();
    let mut now = Duration::ZERO;
    let trace = &mut ();
    let mut add =
        |machine: &Machine<Pod>, processor: &mut SharedProcessor<_>, told: &mut Told, step| {
            let registration = state.add_event_handler("h", None, &mut ()).unwrap();
            let initial = initial_notices(machine.store());
            let made = |id, name: &Arc<str>| ProcessorListener::new(id, name);
            let count = initial.len();
            let id = processor.add_listener(&registration, count, made, Duration::ZERO, &mut ());
            for notice in initial {
                processor.get_mut(id).unwrap().add(notice, &mut ());
            }
            told.push((Vec::new(), vec![0; step]));
        };
    add(&machine, &mut processor, &mut told, 0);
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
            Op::AddHandler => add(&machine, &mut processor, &mut told, step),
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
        let mut tell = |notice: Notice<Pod>| {
            let notice = Arc::new(notice);
            for (_, listener) in processor.distribute_mut(&notice, &mut ()) {
                listener.add(Arc::clone(&notice), &mut ());
            }
        };
        while machine
            .process(|notice, _| tell(notice), || Duration::ZERO, trace)
            .unwrap()
        {}
        for (id, listener) in processor.listeners_mut() {
            while let Some(taken) = listener.take(trace) {
                told[id.0 as usize].0.push(line(&taken.notice));
                listener.done(HandlerEnd::Returned, trace);
            }
        }
        for (lines, counts) in &mut told {
            counts.push(lines.len());
        }
    }
    told
}

/// The same in threads; `alone` says how much each handler has to be told before the next step.
fn in_threads(generation: Generation, ops: &[Op], alone: &Told) -> Vec<Vec<String>> {
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
        // Those that were removed may have been told everything before.
        assert!(informer.has_synced());
        drop(registration.has_synced_checker());
    }
    stop.set();
    running.unwrap().join().unwrap().unwrap();
    let lines = |(recorder, _): &(Recorder, _)| recorder.lines();
    handlers.iter().map(lines).collect()
}

/// A source that answers as the script says.
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

/// The same under virtual time, with the machines taking turns at random.
fn in_world(generation: Generation, seed: u64, ops: &[Op]) -> Vec<Vec<String>> {
    let handler = || HandlerSettings {
        name: "h".into(),
        ..HandlerSettings::default()
    };
    let settings = Settings {
        seed,
        interleave: true,
        machinery: InformerKind::Shared,
        era: Era(generation),
        watch_list: Some(false),
        handlers: vec![handler()],
        ..Settings::default()
    };
    let mut world = World::new(settings, Scripted::default(), Vec::new());
    let mut told = vec![Vec::new()];
    for op in ops {
        match op {
            Op::AddHandler => {
                told.push(Vec::new());
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
                told[usize::from(handler)].push(line_of(&notification));
            }
        }
    }
    told
}

/// As [`line`], of a fact.
fn line_of(notification: &Notification) -> String {
    let text = |object: &ObjectRef| {
        let mark = if object.shape == Shape::Tombstone {
            "†"
        } else {
            ""
        };
        format!("{}@{}{mark}", &object.key["ns/".len()..], object.rv)
    };
    match notification {
        Notification::Add {
            object,
            is_in_initial_list,
        } => format!("+{} {is_in_initial_list}", text(object)),
        Notification::Update { old, new } => {
            format!("~{} {}", text(old.as_ref().unwrap()), text(new))
        }
        Notification::Delete { object } => format!("-{}", text(object)),
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

/// The lines about each object, in their order.
fn by_key(lines: &[String]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let name = line[1..].split('@').next().unwrap();
        found.entry(name).or_default().push(line);
    }
    found
}

/// How many seeds: `make soak` asks for more.
fn seeds() -> u64 {
    let asked = std::env::var("SOAK_SEEDS").ok();
    asked.map_or(100, |asked| asked.parse().unwrap())
}

#[test]
fn threads_and_worlds_tell_each_handler_what_the_machines_alone_do() {
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
                    // What a DeltaFIFO has of one key at a time depends on who is faster.
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

// ---- many at once

/// Follows what it is told, and holds each notification against the one before.
#[derive(Clone, Default)]
struct Follower {
    inner: Arc<(Mutex<BTreeMap<String, u64>>, Condvar)>,
}

impl Follower {
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, u64>)) {
        change(&mut self.inner.0.lock().unwrap());
        self.inner.1.notify_all();
    }

    /// Waits until it has come so far.
    fn wait(&self, truth: &BTreeMap<String, u64>) {
        let objects = self.inner.0.lock().unwrap();
        let (objects, waited) = (self.inner.1)
            .wait_timeout_while(objects, HANGS, |objects| objects != truth)
            .unwrap();
        assert!(!waited.timed_out(), "{objects:?} instead of {truth:?}");
    }
}

fn named(item: &Item<Pod>) -> (String, u64) {
    let object = item.as_object().unwrap();
    let rv = object.resource_version().parse().unwrap();
    (object.name().to_owned(), rv)
}

impl ResourceEventHandler<Pod> for Follower {
    fn on_add(&self, object: &Item<Pod>, _is_in_initial_list: bool) {
        let (name, rv) = named(object);
        self.change(|objects| assert_eq!(objects.insert(name, rv), None));
    }

    fn on_update(&self, old: &Item<Pod>, new: &Item<Pod>) {
        let ((_, old), (name, rv)) = (named(old), named(new));
        assert!(old <= rv);
        self.change(|objects| assert_eq!(objects.insert(name, rv), Some(old)));
    }

    fn on_delete(&self, object: &Item<Pod>) {
        let (name, _) = named(object);
        self.change(|objects| assert!(objects.remove(&name).is_some()));
    }
}

/// Eight threads at one informer: two write, one cuts the watch, three read, two add and remove
/// handlers.
fn stress(seed: u64, generation: Generation) {
    const WRITES: usize = 40;
    let server = Server::default();
    let mut options = options(generation);
    options.config.indexers = parity_indexers();
    let informer = SharedIndexInformer::new(server.clone(), options);
    let follower = Follower::default();
    informer.add_event_handler(follower.clone()).unwrap();
    server.list_next(Vec::new(), 1);
    let running = Running::start(&informer, server.clone());
    informer.has_synced_checker().wait();

    let truth = Mutex::new((BTreeMap::new(), 1));
    let at_work = AtomicUsize::new(3);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (server, truth, at_work) = (&server, &truth, &at_work);
            scope.spawn(move || {
                let mut rng = Rng::new(seed * 2 + writer);
                for _ in 0..WRITES {
                    let mut truth = truth.lock().unwrap();
                    let (objects, rv) = &mut *truth;
                    *rv += 1;
                    let name = format!("p{}", rng.below(6));
                    let kind = match objects.get(&name) {
                        None => EventType::Added,
                        Some(_) if rng.chance(25) => EventType::Deleted,
                        Some(_) => EventType::Modified,
                    };
                    if kind == EventType::Deleted {
                        objects.remove(&name);
                    } else {
                        objects.insert(name.clone(), *rv);
                    }
                    server.send([event(&(kind, name, *rv))]);
                }
                at_work.fetch_sub(1, Ordering::AcqRel);
            });
        }
        scope.spawn(|| {
            for _ in 0..4 {
                let truth = truth.lock().unwrap();
                let items: Vec<_> = truth.0.clone().into_iter().collect();
                server.list_next(pods(&items), truth.1);
                server.send([expired()]);
                drop(truth);
                thread::yield_now();
            }
            at_work.fetch_sub(1, Ordering::AcqRel);
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let store = informer.get_indexer();
                while at_work.load(Ordering::Acquire) > 0 {
                    let reader = store.read();
                    let count = |parity| reader.by_index("parity", parity).unwrap().count();
                    assert_eq!(count("0") + count("1"), reader.len());
                    drop(reader);
                    let known = store.list_keys().len();
                    assert!(known <= 6);
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let registration = informer.add_event_handler(Follower::default()).unwrap();
                    registration.has_synced_checker().wait();
                    informer.remove_event_handler(&registration);
                }
            });
        }
    });
    let (mut objects, mut rv) = truth.into_inner().unwrap();
    // The follower may have had the same objects before: what is told last has not been there.
    rv += 1;
    server.send([event(&(EventType::Added, "last".into(), rv))]);
    objects.insert("last".into(), rv);
    follower.wait(&objects);
    let stored: BTreeMap<_, _> = informer.get_store().list().iter().map(named).collect();
    assert_eq!(stored, objects);
    let late = Follower::default();
    informer.add_event_handler(late.clone()).unwrap();
    late.wait(&objects);
    running.end();
}

#[test]
fn eight_threads_at_one_informer_leave_it_in_step() {
    for seed in 0..seeds() {
        stress(seed, Generation::ALL[seed as usize % Generation::ALL.len()]);
    }
}

// ---- the store

fn parity_indexers() -> Indexers<Pod> {
    let parity: IndexFunc<Pod> = label_index_func("parity");
    [("parity".into(), parity)].into_iter().collect()
}

#[test]
fn a_reader_never_sees_an_object_without_its_index() {
    const WRITES: u64 = 3_000;
    let key_func = Arc::new(meta_namespace_key_func);
    let store = ThreadSafeStore::new(new_indexer(key_func, parity_indexers()));
    let written = AtomicUsize::new(0);
    thread::scope(|scope| {
        for writer in 0..4 {
            let (store, written) = (&store, &written);
            scope.spawn(move || {
                let mut rng = Rng::new(writer);
                for rv in 0..WRITES {
                    let item = pod(&format!("p{}", rng.below(5)), rv);
                    if rng.chance(20) {
                        store.delete(&item).unwrap();
                    } else {
                        store.add(item).unwrap();
                    }
                }
                written.fetch_add(1, Ordering::Release);
            });
        }
        for _ in 0..4 {
            scope.spawn(|| {
                while written.load(Ordering::Acquire) < 4 {
                    for parity in ["0", "1"] {
                        let found = store.by_index("parity", parity).unwrap();
                        let matches = |item: &Item<Pod>| {
                            item.as_object().unwrap().labels()["parity"] == parity
                        };
                        assert!(found.iter().all(matches));
                    }
                    let store = store.read();
                    let indexed: usize = ["0", "1"]
                        .iter()
                        .map(|parity| store.by_index("parity", parity).unwrap().count())
                        .sum();
                    assert_eq!(indexed, store.len());
                }
            });
        }
    });
}

#[test]
fn listers_read_a_store_that_threads_share() {
    let key_func = Arc::new(meta_namespace_key_func);
    let store = Arc::new(ThreadSafeStore::new(new_indexer(
        key_func,
        Indexers::default(),
    )));
    store.add(pod("a", 1)).unwrap();
    store.add(pod("b", 2)).unwrap();
    let lister = GenericLister::new(Arc::clone(&store), GroupResource::new("", "pods"));
    let odd = Selector::parse("parity=1").unwrap();
    let found: Vec<Arc<Pod>> = lister.list(&odd).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(lister.by_namespace("ns").get("b").unwrap().name(), "b");
}

// ---- the queues

#[test]
fn pop_waits_for_what_is_added_and_ends_with_the_queue() {
    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let delta = DeltaFifo::new(DeltaFifoOptions::new(key_func));
    let queue = BlockingQueue::new(delta, None);
    let (sender, popped) = channel();
    thread::scope(|scope| {
        for _ in 0..3 {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                loop {
                    match queue.pop(|_| ProcessOutcome::Done) {
                        Ok((taken, end)) => sender.send((taken.key.to_string(), end)).unwrap(),
                        Err(error) => {
                            assert_eq!(error, Error::FifoClosed);
                            return;
                        }
                    }
                }
            });
        }
        for round in 0..200 {
            let name = format!("p{}", round % 7);
            queue.add(pod(&name, round)).unwrap();
            let (key, end) = popped.recv_timeout(HANGS).unwrap();
            assert_eq!((key, end), (format!("ns/{name}"), Ok(())));
        }
        assert!(queue.has_synced());
        queue.close();
    });
    assert!(queue.is_closed());
}

#[test]
fn an_atomic_queue_takes_more_while_a_batch_is_processed() {
    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let real = RealFifo::new(RealFifoOptions::new(key_func, Release::V0_36));
    let queue = BlockingQueue::new(real, None);
    queue.replace(vec![pod("a", 1)], "1").unwrap();
    assert!(!queue.has_synced());
    let process = |_: deltascope::cache::queue::Processing<'_, _>| {
        // With the lock held this would wait for itself.
        queue.update(pod("a", 2)).unwrap();
        queue.add(pod("b", 3)).unwrap();
        ProcessOutcome::Done
    };
    let (list, _) = queue.pop_batch(process).unwrap();
    assert_eq!(list.entries.len(), 1);
    assert!(queue.has_synced());
    let (batch, _) = queue.pop_batch(|_| ProcessOutcome::Done).unwrap();
    assert_eq!((batch.entries.len(), queue.depth()), (2, 0));
}

// ---- the workqueue

#[test]
fn workers_share_a_queue_and_none_has_the_same_item_at_the_same_time() {
    const ITEMS: usize = 5;
    let queue = BlockingWorkqueue::new(default_controller_rate_limiter());
    let busy: Vec<AtomicBool> = (0..ITEMS).map(|_| AtomicBool::new(false)).collect();
    let (handled, added) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Ok(item) = queue.get() {
                    let item: String = item;
                    let number: usize = item.parse().unwrap();
                    assert!(!busy[number].swap(true, Ordering::AcqRel));
                    handled.fetch_add(1, Ordering::AcqRel);
                    busy[number].store(false, Ordering::Release);
                    queue.forget(&item);
                    queue.done(&item);
                }
            });
        }
        let adding: Vec<_> = (0..4)
            .map(|seed| {
                let (queue, added) = (&queue, &added);
                scope.spawn(move || {
                    let mut rng = Rng::new(seed);
                    for _ in 0..500 {
                        queue.add(rng.below(ITEMS as u64).to_string());
                        added.fetch_add(1, Ordering::AcqRel);
                    }
                })
            })
            .collect();
        for thread in adding {
            thread.join().unwrap();
        }
        queue.shut_down_with_drain();
        queue.add("0".to_owned());
    });
    assert_eq!(queue.get(), Err(ShutDown));
    let handled = handled.load(Ordering::Acquire);
    assert!(
        handled >= ITEMS && handled <= added.load(Ordering::Acquire),
        "{handled}"
    );
}

#[test]
fn what_is_added_for_later_comes_when_the_clock_says_so() {
    let clock = Clock::manual();
    let limiter = ItemFastSlow::new(Duration::from_secs(1), Duration::from_secs(60), 1);
    let queue = BlockingWorkqueue::with_clock(Box::new(limiter), &clock);
    queue.add_after("later", Duration::from_secs(5));
    queue.add_rate_limited("failed");
    assert_eq!((queue.len(), queue.num_requeues(&"failed")), (0, 1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(queue.get(), Ok("failed"));
    assert!(queue.is_empty());
    clock.advance(Duration::from_secs(4));
    assert_eq!(queue.get(), Ok("later"));
    queue.shut_down();
    assert!(queue.is_shutting_down());
    assert_eq!(queue.get(), Err(ShutDown));
}

// ---- the informer

struct Running {
    server: Server,
    stop: Latch,
    thread: thread::JoinHandle<Result<(), Error>>,
}

impl Running {
    fn start(informer: &SharedIndexInformer<Pod>, server: Server) -> Self {
        let stop = Latch::new();
        let thread = informer.spawn(&stop);
        Self {
            server,
            stop,
            thread,
        }
    }

    fn end(self) {
        self.stop.set();
        self.server.end();
        self.thread.join().unwrap().unwrap();
    }
}

#[test]
fn a_shared_informer_keeps_its_promises() {
    for generation in Generation::ALL {
        let server = Server::default();
        let informer = SharedIndexInformer::new(server.clone(), options(generation));
        let (sender, errors) = channel();
        let sender = Mutex::new(sender);
        informer
            .set_watch_error_handler(Arc::new(move |error| {
                sender.lock().unwrap().send(error.to_string()).unwrap();
            }))
            .unwrap();
        informer.add_indexers(parity_indexers()).unwrap();
        let early = Recorder::default();
        let registration = informer.add_event_handler(early.clone()).unwrap();
        server.change(|served| {
            let refused = ApiError::new(ApiErrorKind::Forbidden, "no");
            served.lists.push_back(Err(refused));
        });
        assert!(!informer.has_synced() && !informer.has_started());
        assert_eq!(&*informer.last_sync_resource_version(), "");

        let running = Running::start(&informer, server.clone());
        let error = errors.recv_timeout(HANGS).unwrap();
        assert!(error.ends_with(": no"), "{error}");
        assert!(!registration.has_synced());
        server.list_next(vec![pod("a", 1), pod("b", 2)], 5);
        let both = [
            informer.has_synced_checker(),
            registration.has_synced_checker(),
        ];
        assert!(wait_for(&running.stop, &both));
        assert_eq!(early.lines(), ["+a@1 true", "+b@2 true"]);
        let clock = Clock::real();
        assert!(wait_for_cache_sync(
            &clock,
            &running.stop,
            &[&|| informer.has_synced()]
        ));

        // What has started takes no more of this.
        assert_eq!(informer.run(&running.stop), Err(Error::InformerRunTwice));
        let transform: deltascope::cache::queue::TransformFunc<Pod> = Arc::new(Ok);
        assert_eq!(
            informer.set_transform(transform),
            Err(Error::InformerStarted)
        );

        server.send([event(&(EventType::Modified, "a".into(), 6))]);
        assert_eq!(early.wait(3)[2], "~a@1 a@6");
        server.settle();
        assert_eq!(&*informer.last_sync_resource_version(), "6");
        let store = informer.get_indexer();
        assert_eq!(store.index_keys("parity", "0").unwrap().len(), 2);
        let kept = if generation == Generation::Atomic {
            "6"
        } else {
            ""
        };
        assert_eq!(store.last_store_sync_resource_version(), kept);

        let late = Recorder::default();
        let options = HandlerOptions {
            name: Some("late".into()),
            resync_period: None,
        };
        let second = informer
            .add_event_handler_with_options(late.clone(), &options)
            .unwrap();
        second.has_synced_checker().wait();
        assert_eq!(late.lines(), ["+a@6 true", "+b@2 true"]);
        informer.remove_event_handler(&registration);
        informer.remove_event_handler(&registration);
        server.send([event(&(EventType::Deleted, "b".into(), 7))]);
        assert_eq!(late.wait(3)[2], "-b@7");
        assert_eq!(early.lines().len(), 3);

        running.end();
        assert!(informer.is_stopped());
        let error = informer.add_event_handler(Recorder::default()).err();
        assert!(matches!(error, Some(Error::HandlerNotAdded(_))));
        assert_eq!(
            informer.add_indexers(parity_indexers()),
            Err(Error::IndexerNotAdded)
        );
    }
}

#[test]
fn a_list_can_be_a_stream() {
    for generation in Generation::ALL {
        let server = Server::default();
        server.change(|served| served.streams = true);
        let mut options = options(generation);
        options.config.watch_list = true;
        let informer = SharedIndexInformer::new(server.clone(), options);
        let told = Recorder::default();
        let registration = informer.add_event_handler(told.clone()).unwrap();
        let running = Running::start(&informer, server.clone());
        // There is no list to be had.
        server.send([
            event(&(EventType::Added, "a".into(), 1)),
            event(&(EventType::Added, "b".into(), 2)),
        ]);
        server.settle();
        assert!(!informer.has_synced() && informer.get_store().is_empty());
        server.send([WatchItem::Bookmark {
            resource_version: "5".into(),
            initial_events_end: true,
        }]);
        assert!(wait_for(
            &running.stop,
            &[registration.has_synced_checker()]
        ));
        let mut lines = told.lines();
        lines.sort();
        assert_eq!(lines, ["+a@1 true", "+b@2 true"]);
        server.send([event(&(EventType::Deleted, "a".into(), 6))]);
        assert_eq!(told.wait(3)[2], "-a@6");
        running.end();
    }
}

#[test]
fn an_empty_first_list_is_a_synced_one() {
    for generation in Generation::ALL {
        let server = Server::default();
        let informer = SharedIndexInformer::new(server.clone(), options(generation));
        let registration = informer.add_event_handler(Recorder::default()).unwrap();
        server.list_next(Vec::new(), 1);
        let running = Running::start(&informer, server);
        assert!(wait_for(
            &running.stop,
            &[registration.has_synced_checker()]
        ));
        running.end();
    }
}

#[test]
fn a_stop_ends_whatever_the_reflector_waits_for() {
    // A list that does not come, a pause, an event that does not come.
    for situation in 0..3 {
        let server = Server::default();
        let mut options = options(Generation::Atomic);
        options.config.backoff.duration = Duration::from_secs(3600);
        let informer = SharedIndexInformer::new(server.clone(), options);
        let failed = Latch::new();
        let told = failed.clone();
        let handler = Arc::new(move |_: &_| told.set());
        informer.set_watch_error_handler(handler).unwrap();
        let running = Running::start(&informer, server.clone());
        match situation {
            0 => {}
            1 => {
                let refused = Err(ApiError::new(ApiErrorKind::Other, "no"));
                server.change(|served| served.lists.push_back(refused));
                failed.wait();
            }
            _ => {
                server.list_next(Vec::new(), 1);
                server.settle();
            }
        }
        running.end();
        // A list that fails because of the stop is not told.
        assert_eq!(failed.is_set(), situation == 1);
    }
}

#[test]
fn resyncs_are_told_to_those_who_asked() {
    for generation in Generation::ALL {
        let server = Server::default();
        let mut options = options(generation);
        options.clock = Clock::manual();
        options.config.full_resync_period = Duration::from_secs(30);
        let clock = options.clock.clone();
        let informer = SharedIndexInformer::new(server.clone(), options);
        let (every, never) = (Recorder::default(), Recorder::default());
        informer.add_event_handler(every.clone()).unwrap();
        let zero = HandlerOptions {
            name: None,
            resync_period: Some(Duration::ZERO),
        };
        informer
            .add_event_handler_with_options(never.clone(), &zero)
            .unwrap();
        server.list_next(vec![pod("a", 1), pod("b", 2)], 5);
        let running = Running::start(&informer, server.clone());
        server.settle();
        every.wait(2);
        // The timer is set anew some time after everybody was told. A resync may come while the one before
        // is in the queue: what is still there is not put in again.
        let both = ["~a@1 a@1", "~b@2 b@2"];
        let times = |of: &str| every.lines().iter().filter(|line| *line == of).count();
        while both.iter().any(|line| times(line) < 3) {
            clock.advance(Duration::from_secs(30));
            thread::yield_now();
        }
        for line in &every.lines()[2..] {
            assert!(both.contains(&&**line), "{generation:?}: {line}");
        }
        server.send([event(&(EventType::Modified, "a".into(), 6))]);
        assert_eq!(never.wait(3)[2], "~a@1 a@6");
        running.end();
    }
}

/// Calls this for each object that the store takes, while the process loop is at it.
fn while_stored(at: impl Fn(&str, &str) + Send + Sync + 'static) -> Indexers<Pod> {
    let look: IndexFunc<Pod> = Arc::new(move |item, _| {
        let object = item.as_object().unwrap();
        at(object.name(), object.resource_version());
        Ok(())
    });
    [("looks".into(), look)].into_iter().collect()
}

/// A list that takes two Pops or more, except in the atomic generation, where all of it is one.
fn list_of_two_pops() -> Vec<Item<Pod>> {
    vec![
        pod("a", 1),
        pod("b", 2),
        pod("c", 3),
        pod("a", 4),
        pod("d", 5),
    ]
}

#[test]
fn a_handler_hears_of_each_pop_while_the_next_one_is_processed() {
    for generation in Generation::ALL {
        let server = Server::default();
        let told = Recorder::default();
        let (sender, heard) = channel();
        let sender = Mutex::new(sender);
        let mut options = options(generation);
        options.config.indexers = {
            let (server, told) = (server.clone(), told.clone());
            while_stored(move |name, rv| match (name, rv) {
                // The queue is not locked meanwhile: the last one is queued before the list is told.
                ("b", _) if generation == Generation::Atomic => {
                    server.send([event(&(EventType::Added, "last".into(), 6))]);
                    server.settle();
                }
                ("d", _) if generation == Generation::Atomic => {}
                ("d" | "last", _) => sender.lock().unwrap().send(told.hears(1)).unwrap(),
                _ => {}
            })
        };
        let informer = SharedIndexInformer::new(server.clone(), options);
        informer.add_event_handler(told.clone()).unwrap();
        server.list_next(list_of_two_pops(), 5);
        let running = Running::start(&informer, server);
        assert!(heard.recv_timeout(2 * HANGS).unwrap(), "{generation:?}");
        running.end();
    }
}

#[test]
fn a_stop_lets_the_process_loop_empty_the_queue_up_to_1_33() {
    let drained = [
        "+a@1 true",
        "~a@1 a@4",
        "+b@2 true",
        "+c@3 true",
        "+d@5 true",
    ];
    let one_by_one = ["+a@1 true", "+b@2 true", "+c@3 true"];
    let list = [
        "+a@1 true",
        "+b@2 true",
        "+c@3 true",
        "+a@4 true",
        "+d@5 true",
    ];
    for (generation, release, told, stored) in [
        (Generation::Classic, Release::V0_32, &drained[..], "abcd"),
        (Generation::Classic, Release::V0_34, &drained[..3], "ab"),
        (Generation::InOrder, Release::V0_34, &one_by_one, "abc"),
        (Generation::Batched, Release::V0_35, &one_by_one, "abc"),
        // The list is one entry, and what is queued behind it is lost.
        (Generation::Atomic, Release::V0_36, &list, "abcd"),
    ] {
        for shared in [false, true] {
            let server = Server::default();
            let recorder = Recorder::default();
            let stop = Latch::new();
            let mut options = options(generation);
            options.config.release = release;
            options.config.indexers = {
                let (server, stop) = (server.clone(), stop.clone());
                let seen = AtomicUsize::new(0);
                while_stored(move |_, _| {
                    let seen = seen.fetch_add(1, Ordering::AcqRel) + 1;
                    if seen == 1 && generation == Generation::Atomic {
                        server.send([event(&(EventType::Added, "e".into(), 6))]);
                        server.settle();
                    }
                    if seen == 3 {
                        stop.set();
                    }
                })
            };
            server.list_next(list_of_two_pops(), 5);
            let store = if shared {
                let informer = SharedIndexInformer::new(server.clone(), options);
                informer.add_event_handler(recorder.clone()).unwrap();
                informer.run(&stop).unwrap();
                informer.get_store()
            } else {
                let handler = recorder.clone();
                let (store, controller) = new_informer(server.clone(), handler, None, &options);
                controller.run(&stop).unwrap();
                assert_eq!(recorder.lines(), told, "{generation:?} {release:?}");
                store
            };
            let mut names: Vec<_> = store.list().iter().map(|item| named(item).0).collect();
            names.sort();
            assert_eq!(names.concat(), stored, "{generation:?} {release:?}");
            // Of what a listener has not told yet, a stop leaves the rest out.
            let lines = recorder.lines();
            assert!(told.starts_with(&lines.iter().map(|line| &**line).collect::<Vec<_>>()));
        }
    }
}

#[test]
fn what_was_stored_before_a_panic_is_told_at_once() {
    let server = Server::default();
    let mut options = options(Generation::Classic);
    // It stands still: nobody goes on after the panic.
    options.clock = Clock::manual();
    options.panic_policy = PanicPolicy::Skip;
    options.config.indexers = while_stored(|_, rv| assert!(rv != "2", "the index function's own"));
    let informer = SharedIndexInformer::new(server.clone(), options);
    let told = Recorder::default();
    informer.add_event_handler(told.clone()).unwrap();
    server.list_next(vec![pod("a", 1), pod("a", 2)], 5);
    let running = Running::start(&informer, server);
    assert_eq!(told.wait(1), ["+a@1 true"]);
    running.end();
}

#[test]
fn the_mutation_detector_tells_of_an_object_that_somebody_has_written_into() {
    let server = Server::default();
    let mut options = options(Generation::Atomic);
    options.clock = Clock::manual();
    options.config.type_description = "*v1.Pod".into();
    let clock = options.clock.clone();
    let informer = SharedIndexInformer::new(server.clone(), options);
    // A pod cannot be written into while it is shared: this stands for its content.
    let written = Arc::new(AtomicBool::new(false));
    let content = Arc::clone(&written);
    let (sender, found) = channel();
    let sender = Mutex::new(sender);
    let looks = move |pod: &Pod| u64::from(pod.name() == "a" && content.load(Ordering::Acquire));
    let failed: MutatedFunc<Pod> = Arc::new(move |mutated, message| {
        let told = (mutated.key.to_string(), message.to_owned());
        sender.lock().unwrap().send(told).unwrap();
    });
    informer
        .set_mutation_detector(Arc::new(looks), Arc::clone(&failed))
        .unwrap();
    let told = Recorder::default();
    informer.add_event_handler(told.clone()).unwrap();
    server.list_next(vec![pod("a", 1), pod("b", 2)], 5);
    let running = Running::start(&informer, server.clone());
    told.wait(2);
    assert_eq!(
        informer.set_mutation_detector(Arc::new(|_| 0), failed),
        Err(Error::InformerStarted)
    );
    written.store(true, Ordering::Release);
    // It looks once a second.
    let first = loop {
        clock.advance(Duration::from_secs(1));
        match found.try_recv() {
            Ok(first) => break first,
            Err(_) => thread::yield_now(),
        }
    };
    assert_eq!(first, ("ns/a".into(), "cache *v1.Pod modified".into()));
    running.end();
    // Once, however often it looked.
    assert!(found.try_recv().is_err());
}

struct Panics {
    told: Recorder,
}

impl ResourceEventHandler<Pod> for Panics {
    fn on_add(&self, object: &Item<Pod>, is_in_initial_list: bool) {
        assert!(!text(object).starts_with("bad"), "the handler's own");
        self.told.on_add(object, is_in_initial_list);
    }

    fn on_update(&self, _old: &Item<Pod>, _new: &Item<Pod>) {}

    fn on_delete(&self, _object: &Item<Pod>) {}
}

#[test]
fn a_handler_that_panics_skips_what_it_was_told_after_a_rest() {
    let server = Server::default();
    let mut options = options(Generation::Atomic);
    options.clock = Clock::manual();
    options.panic_policy = PanicPolicy::Skip;
    let clock = options.clock.clone();
    let informer = SharedIndexInformer::new(server.clone(), options);
    let told = Recorder::default();
    let handler = Panics { told: told.clone() };
    let registration = informer.add_event_handler(handler).unwrap();
    server.list_next(vec![pod("a", 1), pod("bad", 2), pod("c", 3)], 5);
    let running = Running::start(&informer, server);
    told.wait(1);
    while told.lines().len() < 2 {
        clock.advance(Duration::from_millis(1100));
        thread::yield_now();
    }
    assert_eq!(told.lines(), ["+a@1 true", "+c@3 true"]);
    // One of the first list was never handled.
    assert!(!registration.has_synced());
    running.end();
}

#[test]
fn a_handler_that_panics_ends_the_program_unless_it_is_told_otherwise() {
    const CRASH: &str = "DELTASCOPE_TEST_CRASH";
    if std::env::var(CRASH).is_err() {
        let test = "a_handler_that_panics_ends_the_program_unless_it_is_told_otherwise";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(CRASH, "1")
            .output()
            .unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("the handler's own"), "{said}");
        assert!(!said.contains("went on"), "{said}");
        return;
    }
    let server = Server::default();
    let informer = SharedIndexInformer::new(server.clone(), options(Generation::Atomic));
    let told = Recorder::default();
    let handler = Panics { told: told.clone() };
    informer.add_event_handler(handler).unwrap();
    server.list_next(vec![pod("bad", 1), pod("c", 2)], 5);
    let _running = Running::start(&informer, server);
    told.wait(1);
    panic!("went on");
}

#[test]
fn what_was_popped_counts_as_popped_although_its_processing_panicked() {
    for generation in Generation::ALL {
        let server = Server::default();
        let mut options = options(generation);
        options.panic_policy = PanicPolicy::Skip;
        let told = Recorder::default();
        let handler = Panics { told: told.clone() };
        let (_, controller) = new_informer(server.clone(), handler, None, &options);
        let stop = Latch::new();
        server.list_next(vec![pod("bad", 1)], 5);
        thread::scope(|scope| {
            let running = scope.spawn(|| controller.run(&stop));
            controller.has_synced_checker().wait();
            stop.set();
            running.join().unwrap().unwrap();
        });
        assert!(controller.has_synced());
        assert!(told.lines().is_empty());
    }

    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let real = RealFifo::new(RealFifoOptions::new(key_func, Release::V0_36));
    let queue = BlockingQueue::new(real, None);
    queue.replace(vec![pod("a", 1)], "1").unwrap();
    let pop = || queue.pop(|_| panic!("the process function's own"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(pop)).is_err());
    assert!(queue.has_synced());
}

/// Looks at the store while it is told.
struct Looks {
    store: Mutex<Option<Arc<ThreadSafeStore<Pod>>>>,
    seen: Recorder,
    sizes: Mutex<Vec<usize>>,
    stop: Latch,
}

impl ResourceEventHandler<Pod> for Looks {
    fn on_add(&self, object: &Item<Pod>, is_in_initial_list: bool) {
        let store = self.store.lock().unwrap();
        let size = store.as_ref().unwrap().list().len();
        self.sizes.lock().unwrap().push(size);
        self.seen.on_add(object, is_in_initial_list);
    }

    fn on_update(&self, old: &Item<Pod>, new: &Item<Pod>) {
        // Under the queue's lock, up to 1.35.
        self.stop.set();
        self.seen.on_update(old, new);
    }

    fn on_delete(&self, _object: &Item<Pod>) {}
}

#[test]
fn an_unshared_informer_calls_its_handler_between_the_writes() {
    for generation in Generation::ALL {
        let server = Server::default();
        let stop = Latch::new();
        let looks = Arc::new(Looks {
            store: Mutex::default(),
            seen: Recorder::default(),
            sizes: Mutex::default(),
            stop: stop.clone(),
        });
        let handler = Arc::clone(&looks);
        let (store, controller) = new_informer(server.clone(), handler, None, &options(generation));
        *looks.store.lock().unwrap() = Some(Arc::clone(&store));
        server.list_next(vec![pod("a", 1), pod("b", 2), pod("c", 3)], 5);
        thread::scope(|scope| {
            let running = scope.spawn(|| controller.run(&stop));
            controller.has_synced_checker().wait();
            assert!(controller.has_synced());
            looks.seen.wait(3);
            server.settle();
            assert_eq!(&*controller.last_sync_resource_version(), "5");
            server.send([event(&(EventType::Modified, "a".into(), 6))]);
            running.join().unwrap().unwrap();
        });
        assert_eq!(controller.run(&stop), Err(Error::InformerRunTwice));
        assert_eq!(looks.seen.lines().last().unwrap(), "~a@1 a@6");
        let grows = generation <= Generation::InOrder;
        let sizes = if grows { vec![1, 2, 3] } else { vec![3, 3, 3] };
        assert_eq!(*looks.sizes.lock().unwrap(), sizes, "{generation:?}");
    }
}

#[test]
fn a_factory_starts_each_kind_once_and_waits_for_all() {
    let factory = SharedInformerFactory::new(FactoryOptions::default());
    let kinds = [
        GroupResource::new("", "pods"),
        GroupResource::new("apps", "deployments"),
    ];
    let servers = [Server::default(), Server::default()];
    let stop = Latch::new();
    for (kind, server) in kinds.iter().zip(&servers) {
        let make = |_: &_| SharedIndexInformer::new(server.clone(), options(Generation::Atomic));
        let informer: SharedIndexInformer<Pod> = factory.informer_for(kind, make).unwrap();
        factory.start(&stop);
        factory.start(&stop);
        server.list_next(vec![pod("a", 1)], 1);
        informer.has_synced_checker().wait();
        let again = factory.informer_for(kind, |_| -> SharedIndexInformer<Pod> { unreachable!() });
        assert!(again.unwrap().has_synced());
    }
    let other = factory.informer_for(&kinds[0], |_| -> SharedIndexInformer<Node> {
        unreachable!()
    });
    assert!(other.is_err());
    let synced = kinds.clone().map(|kind| (kind, true));
    assert_eq!(factory.wait_for_cache_sync(&stop), synced);
    stop.set();
    factory.shutdown();
    factory.shutdown();
}
