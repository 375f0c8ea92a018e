//! The shared informer with threads: it lists pods, then receives changes as fast as possible.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};

use deltascope::cache::controller::Generation;
use deltascope::cache::event_handler::ResourceEventHandlerFuncs;
use deltascope::cache::fact::EventType;
use deltascope::cache::lister_watcher::{
    ApiError, ApiErrorKind, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::Item;
use deltascope::cache::threads::{InformerOptions, Latch, SharedIndexInformer, wait_for};
use k8s_openapi::api::core::v1::Pod;

use crate::workload::{Run, World};

/// Number of pods in the initial list.
const LISTED: usize = 10_000;
/// Number of changes that are sent.
pub const CHANGES: usize = 50_000;

/// Capacity of the connection, allocated before the clock starts.
const ROOM: usize = CHANGES;

/// Measures from the first sent change until the last handler has received the last change.
pub fn informer_row(world: &World, generation: Generation, handlers: usize) -> Run {
    let events = world.events();
    let listed = events[..LISTED].to_vec();
    let changes = events[LISTED..LISTED + CHANGES].to_vec();
    informer(listed, changes, generation, handlers)
}

/// The same with other pods; of the changes there are [`CHANGES`].
pub fn informer(
    listed: Vec<Item<Pod>>,
    changes: Vec<Item<Pod>>,
    generation: Generation,
    handlers: usize,
) -> Run {
    let (sender, receiver) = sync_channel(ROOM);
    let server = Server {
        listed: Mutex::new(listed),
        changes: Mutex::new(Some(Changes {
            items: receiver,
            sender: sender.clone(),
        })),
    };
    let informer = SharedIndexInformer::new(server, InformerOptions::new(generation));
    let all_seen = Latch::new();
    let behind = Arc::new(AtomicUsize::new(handlers));
    let mut synced = Vec::new();
    for _ in 0..handlers {
        let (seen, behind, all_seen) = (AtomicUsize::new(0), Arc::clone(&behind), all_seen.clone());
        let handler = ResourceEventHandlerFuncs {
            update_func: Some(Box::new(move |_, _| {
                // Only this handler's thread writes the counter.
                let count = seen.load(Ordering::Relaxed) + 1;
                seen.store(count, Ordering::Relaxed);
                if count == CHANGES && behind.fetch_sub(1, Ordering::AcqRel) == 1 {
                    all_seen.set();
                }
            })),
            ..ResourceEventHandlerFuncs::default()
        };
        if let Ok(registration) = informer.add_event_handler(handler) {
            synced.push(registration.has_synced_checker());
        }
    }
    let stop = Latch::new();
    let thread = informer.spawn(&stop);
    let _all = wait_for(&stop, &synced);
    Box::new(move || {
        for change in changes {
            let _sent = sender.send(WatchItem::Event(EventType::Modified, change));
        }
        all_seen.wait();
        Box::new(Running {
            stop,
            thread: Some(thread),
        })
    })
}

/// Stops the informer when it is dropped, after the clock has stopped.
struct Running<T> {
    stop: Latch,
    thread: Option<std::thread::JoinHandle<T>>,
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.stop.set();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

struct Server {
    listed: Mutex<Vec<Item<Pod>>>,
    changes: Mutex<Option<Changes>>,
}

struct Changes {
    items: Receiver<WatchItem<Pod>>,
    sender: SyncSender<WatchItem<Pod>>,
}

impl ListerWatcher<Pod> for Server {
    type Watch = Changes;

    fn list(&self, _request: &ListRequest) -> Result<ListPage<Pod>, ApiError> {
        Ok(ListPage {
            resource_version: "1".into(),
            // Handed over, so that only the informer holds the objects: dropping an old one is part
            // of an event.
            items: std::mem::take(&mut *self.listed.lock().unwrap_or_else(PoisonError::into_inner)),
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&self, _request: &WatchRequest) -> Result<Changes, ApiError> {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let once = || ApiError::new(ApiErrorKind::Other, "there is only one watch");
        changes.take().ok_or_else(once)
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        true
    }
}

impl Watcher<Pod> for Changes {
    fn next(&mut self) -> WatchItem<Pod> {
        self.items.recv().unwrap_or(WatchItem::Closed)
    }

    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let sender = self.sender.clone();
        Box::new(move || {
            // If the channel is full, a waiting watch already has an item to wake it.
            let _sent = sender.try_send(WatchItem::Closed);
        })
    }
}
