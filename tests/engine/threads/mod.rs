//! The informer with threads: it behaves like the plain state machines, and no blocking call hangs.

#![allow(
    clippy::disallowed_methods,
    reason = "tests; here they are of threads, and `make soak` asks for more by the environment"
)]

mod alike;
mod informer;
mod many;
mod panics;
mod queues;
mod store;
mod unshared;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use deltascope::cache::backoff::{Backoff, NoJitter};
use deltascope::cache::controller::{Config, Generation};
use deltascope::cache::error::Error;
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::fact::EventType;
use deltascope::cache::index::{IndexFunc, Indexers, label_index_func};
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::Notification;
use deltascope::cache::threads::{InformerOptions, Latch, SharedIndexInformer};
use k8s_openapi::api::core::v1::Pod;

/// How long a test waits for something that has to happen, before it fails as hung.
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

fn line(notification: &Notification<Pod>) -> String {
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

/// The number of seeds: `make soak` sets more.
fn seeds() -> u64 {
    let asked = std::env::var("SOAK_SEEDS").ok();
    asked.map_or(100, |asked| asked.parse().unwrap())
}

fn named(item: &Item<Pod>) -> (String, u64) {
    let object = item.as_object().unwrap();
    let rv = object.resource_version().parse().unwrap();
    (object.name().to_owned(), rv)
}

fn parity_indexers() -> Indexers<Pod> {
    let parity: IndexFunc<Pod> = label_index_func("parity");
    [("parity".into(), parity)].into_iter().collect()
}

/// An index function that calls `at` for each stored object, while the process loop is processing
/// it.
fn while_stored(at: impl Fn(&str, &str) + Send + Sync + 'static) -> Indexers<Pod> {
    let look: IndexFunc<Pod> = Arc::new(move |item, _| {
        let object = item.as_object().unwrap();
        at(object.name(), object.resource_version());
        Ok(())
    });
    [("looks".into(), look)].into_iter().collect()
}

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

// ---- a scripted server

/// Returns one prepared list after the other, and one stream of events.
#[derive(Clone, Default)]
struct Server {
    inner: Arc<(Mutex<Served>, Condvar)>,
}

/// Objects, and the version of the list.
type Listed = (Vec<Item<Pod>>, u64);

#[derive(Default)]
struct Served {
    lists: VecDeque<Result<Listed, ApiError>>,
    stream: VecDeque<WatchItem<Pod>>,
    // A watch waits for an event, and there is none.
    idle: bool,
    // Whether it supports streaming lists.
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
        assert!(!waited.timed_out(), "the server receives no more requests");
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

    /// Waits until all events were read.
    fn settle(&self) {
        drop(self.wait(|served| served.idle && served.stream.is_empty()));
    }

    /// Ends the test: pending lists fail.
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

// ---- a handler that records its notifications

#[derive(Clone, Default)]
struct Recorder {
    inner: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl Recorder {
    fn push(&self, notification: &Notification<Pod>) {
        self.inner.0.lock().unwrap().push(line(notification));
        self.inner.1.notify_all();
    }

    fn lines(&self) -> Vec<String> {
        self.inner.0.lock().unwrap().clone()
    }

    /// Waits for this many notifications; returns false if the time of the test is over.
    fn hears(&self, count: usize) -> bool {
        let lines = self.inner.0.lock().unwrap();
        let (_lines, waited) = (self.inner.1)
            .wait_timeout_while(lines, HANGS, |lines| lines.len() < count)
            .unwrap();
        !waited.timed_out()
    }

    /// Waits for this many notifications.
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
        self.push(&Notification::Add {
            object,
            is_in_initial_list,
        });
    }

    fn on_update(&self, old: &Item<Pod>, new: &Item<Pod>) {
        let (old, new) = (Some(old.clone()), new.clone());
        self.push(&Notification::Update { old, new });
    }

    fn on_delete(&self, object: &Item<Pod>) {
        let object = object.clone();
        self.push(&Notification::Delete { object });
    }
}
