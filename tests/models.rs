//! Small models of the blocking parts. A scheduler decides at each lock which thread continues, in
//! thousands of different ways. It detects deadlocks and failed assertions.
//!
//! The models compile the library's own sources, with shuttle's locks instead of the standard
//! library's.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "tests, which use some of the sources that are included; `make soak` asks for more by the environment"
)]

use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::{check_random, thread};

// The sources refer to the modules of their crate.
pub(crate) use deltascope::cache::*;

use deltascope::cache::controller::{Config, Generation};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope::cache::error::Error;
use deltascope::cache::event_handler::{
    ResourceEventHandlerDetailedFuncs, ResourceEventHandlerFuncs,
};
use deltascope::cache::index::{IndexFunc, Indexers, label_index_func};
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::listener::PanicPolicy;
use deltascope::cache::lister_watcher::{
    ApiError, ListPage, ListRequest, ListerWatcher, WatchItem, WatchRequest, Watcher,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::Notification;
use deltascope::cache::queue::{ProcessOutcome, Release};
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions};
use deltascope::cache::store::new_indexer;
use deltascope::cache::workqueue::{Bucket, ShutDown};
use k8s_openapi::api::core::v1::Pod;

use threads::clock::Clock;
use threads::controller::InformerOptions;
use threads::informer::SharedIndexInformer;
use threads::join;
use threads::latch::Latch;
use threads::listener::{Chunk, Listener};
use threads::queue::BlockingQueue;
use threads::store::ThreadSafeStore;
use threads::sync::{Arc, Mutex};
use threads::unshared::new_informer;
use threads::workqueue::BlockingWorkqueue;

/// The library's threads module, with the scheduler's locks.
#[path = "../src/cache/threads"]
mod threads {
    use deltascope::cache::backoff::NoJitter;
    use deltascope::cache::listener::PanicPolicy;
    use shuttle::thread;

    use clock::Clock;
    use latch::Latch;
    use sync::JoinHandle;

    pub(crate) mod clock;
    pub(crate) mod condvar_mutex;
    pub(crate) mod controller;
    pub(crate) mod informer;
    pub(crate) mod latch;
    pub(crate) mod listener;
    pub(crate) mod queue;
    pub(crate) mod store;
    pub(crate) mod unshared;
    pub(crate) mod workqueue;

    pub(crate) mod sync {
        // Reference counts need no scheduler.
        pub(crate) use std::sync::Arc;

        pub(crate) use shuttle::sync::{
            Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        };
        pub(crate) use shuttle::thread::JoinHandle;
    }

    pub(crate) fn spawn<T: Send + 'static>(
        _name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        thread::spawn(work)
    }

    pub(crate) fn in_threads<const N: usize>(
        others: [(&str, &(dyn Fn() + Sync)); N],
        here: impl FnOnce(),
    ) {
        thread::scope(|scope| {
            for (_name, work) in others {
                scope.spawn(work);
            }
            here();
        });
    }

    pub(crate) fn guarded(_policy: PanicPolicy, _clock: &Clock, _stop: &Latch, work: impl Fn()) {
        work();
    }

    /// Only the scheduler is random.
    pub(crate) struct RandomJitter;

    impl RandomJitter {
        #[allow(clippy::new_ret_no_self, reason = "it stands for another type")]
        pub(crate) fn new() -> NoJitter {
            NoJitter
        }
    }

    /// shuttle does not provide this, and it does not matter here.
    pub(crate) fn has_ended(_thread: &JoinHandle<()>) -> bool {
        false
    }

    pub(crate) fn join(thread: JoinHandle<()>) {
        thread.join().unwrap();
    }

    pub(crate) fn panicked(_policy: PanicPolicy) {
        panic!("a handler has panicked");
    }
}

/// The number of schedules for each model: 2,000, or `SOAK_SEEDS`, which `make soak` sets.
fn schedules() -> usize {
    let soak = std::env::var("SOAK_SEEDS");
    soak.ok()
        .and_then(|seeds| seeds.parse().ok())
        .unwrap_or(2000)
}

fn pod(name: &str, rv: u64) -> Item<Pod> {
    let mut pod = Pod::default();
    pod.metadata.name = Some(name.into());
    pod.metadata.resource_version = Some(rv.to_string());
    pod.metadata.labels = Some([("parity".to_owned(), (rv % 2).to_string())].into());
    Item::object(pod)
}

fn delta_fifo() -> DeltaFifo<Pod> {
    DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)))
}

#[test]
fn no_wake_up_of_a_queue_is_lost() {
    check_random(
        || {
            let queue = Arc::new(BlockingQueue::new(delta_fifo(), None));
            let popped = Arc::new(AtomicUsize::new(0));
            let poppers: Vec<_> = (0..2)
                .map(|_| {
                    let (queue, popped) = (Arc::clone(&queue), Arc::clone(&popped));
                    thread::spawn(move || {
                        loop {
                            match queue.pop(|_| ProcessOutcome::Done) {
                                Ok((taken, _)) => {
                                    popped.fetch_add(taken.deltas.len(), Ordering::Relaxed);
                                }
                                Err(error) => {
                                    assert_eq!(error, Error::FifoClosed);
                                    return;
                                }
                            }
                        }
                    })
                })
                .collect();
            let adders: Vec<_> = (0..2)
                .map(|adder| {
                    let queue = Arc::clone(&queue);
                    thread::spawn(move || {
                        for rv in 0..2 {
                            queue.add(pod(&format!("{adder}"), rv)).unwrap();
                        }
                    })
                })
                .collect();
            adders.into_iter().for_each(join);
            queue.close();
            poppers.into_iter().for_each(join);
            assert_eq!(popped.load(Ordering::Relaxed), 4);
        },
        schedules(),
    );
}

#[test]
fn closing_a_queue_wakes_all_waiting_threads() {
    check_random(
        || {
            let queue = Arc::new(BlockingQueue::new(delta_fifo(), None));
            let poppers: Vec<_> = (0..3)
                .map(|_| {
                    let queue = Arc::clone(&queue);
                    thread::spawn(move || {
                        let end = queue.pop(|_| ProcessOutcome::Done).map(|_| ());
                        assert_eq!(end, Err(Error::FifoClosed));
                    })
                })
                .collect();
            queue.close();
            poppers.into_iter().for_each(join);
        },
        schedules(),
    );
}

#[test]
fn an_atomic_queue_that_unlocks_loses_nothing_and_syncs_after_processing() {
    check_random(
        || {
            let key_func = Arc::new(meta_namespace_key_func::<Pod>);
            let real = RealFifo::new(RealFifoOptions::new(key_func, Release::V0_36));
            let queue = Arc::new(BlockingQueue::new(real, None));
            let adder = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    queue.replace(vec![pod("a", 1)], "1").unwrap();
                    queue.update(pod("a", 2)).unwrap();
                    queue.update(pod("b", 3)).unwrap();
                    queue.close();
                })
            };
            let mut taken = 0;
            let process = |queue: &BlockingQueue<_, RealFifo<Pod>>, first: bool| {
                // The lock is not held, so this does not deadlock.
                assert_eq!(queue.has_synced(), !first);
                ProcessOutcome::Done
            };
            while let Ok((batch, end)) = queue.pop_batch(|_| process(&queue, taken == 0)) {
                assert_eq!(end, Ok(()));
                taken += batch.entries.len();
            }
            assert_eq!(taken, 3);
            join(adder);
        },
        schedules(),
    );
}

#[test]
fn a_reader_never_sees_half_of_a_write() {
    check_random(
        || {
            let parity: IndexFunc<Pod> = label_index_func("parity");
            let indexers: Indexers<Pod> = [("parity".into(), parity)].into_iter().collect();
            let key_func = Arc::new(meta_namespace_key_func);
            let store = Arc::new(ThreadSafeStore::new(new_indexer(key_func, indexers)));
            let writers: Vec<_> = (0..2)
                .map(|writer| {
                    let store = Arc::clone(&store);
                    thread::spawn(move || {
                        store.add(pod("a", writer)).unwrap();
                        store.update(pod("a", writer + 1)).unwrap();
                        store.delete(&pod("a", writer)).unwrap();
                    })
                })
                .collect();
            for _ in 0..3 {
                for parity in ["0", "1"] {
                    let found = store.by_index("parity", parity).unwrap();
                    let labels = found.iter().map(|item| item.as_object().unwrap().labels());
                    assert!(labels.into_iter().all(|labels| labels["parity"] == parity));
                }
                let reader = store.read();
                let count = |parity| reader.by_index("parity", parity).unwrap().count();
                assert_eq!(count("0") + count("1"), reader.len());
            }
            writers.into_iter().for_each(join);
            assert!(store.is_empty());
        },
        schedules(),
    );
}

#[test]
fn a_listener_notifies_in_order_until_it_is_closed() {
    check_random(
        || {
            let received = Arc::new(Mutex::new(Vec::new()));
            let (adds, deletes) = (Arc::clone(&received), Arc::clone(&received));
            let name = |item: &Item<Pod>| item.as_object().unwrap().name().to_owned();
            let handler = ResourceEventHandlerDetailedFuncs {
                add_func: Some(Box::new(move |item, _| {
                    adds.lock().unwrap().push(name(item))
                })),
                delete_func: Some(Box::new(move |item| {
                    deletes.lock().unwrap().push(name(item))
                })),
                update_func: None,
            };
            let listener = Arc::new(Listener::new(Box::new(handler)));
            let running = {
                let listener = Arc::clone(&listener);
                thread::spawn(move || listener.run(PanicPolicy::Crash, &Clock::manual()))
            };
            let add = |name: &str, is_in_initial_list| Notification::Add {
                object: pod(name, 1),
                is_in_initial_list,
            };
            let first = vec![add("a", true), add("b", true)];
            listener.add(Chunk::new(first));
            listener.upstream_has_synced();
            let object = pod("c", 2);
            listener.add(Chunk::new([Notification::Delete { object }]));
            let synced = {
                let listener = Arc::clone(&listener);
                let received = Arc::clone(&received);
                thread::spawn(move || {
                    listener.synced().wait();
                    assert!(received.lock().unwrap().len() >= 2);
                    listener.close();
                })
            };
            join(synced);
            join(running);
            let received = received.lock().unwrap();
            assert!(
                *received == ["a", "b"] || *received == ["a", "b", "c"],
                "{received:?}"
            );
        },
        schedules(),
    );
}

#[test]
fn a_workqueue_drains_and_then_ends_all_workers() {
    check_random(
        || {
            let clock = Clock::manual();
            let limiter = Box::new(Bucket::new(10.0, 100));
            let queue = Arc::new(BlockingWorkqueue::with_clock(limiter, &clock));
            let done = Arc::new(AtomicUsize::new(0));
            let workers: Vec<_> = (0..2)
                .map(|_| {
                    let (queue, done) = (Arc::clone(&queue), Arc::clone(&done));
                    thread::spawn(move || {
                        while let Ok(item) = queue.get() {
                            done.fetch_add(1, Ordering::Relaxed);
                            queue.done(&item);
                        }
                    })
                })
                .collect();
            queue.add("a");
            queue.add_after("b", std::time::Duration::from_secs(1));
            clock.advance(std::time::Duration::from_secs(1));
            queue.add("a");
            queue.shut_down_with_drain();
            workers.into_iter().for_each(join);
            // Check this last: a worker that has ended may leave another worker with an item that
            // was added again. That worker takes it once more.
            assert_eq!(queue.get(), Err(ShutDown));
            let done = done.load(Ordering::Relaxed);
            assert!((1..=3).contains(&done), "{done}");
        },
        schedules(),
    );
}

// ---- the informer

/// Lists its objects, then stays silent until it is stopped.
struct Silent(Vec<Item<Pod>>);

struct Silence(Latch);

impl ListerWatcher<Pod> for Silent {
    type Watch = Silence;

    fn list(&self, _: &ListRequest) -> Result<ListPage<Pod>, ApiError> {
        Ok(ListPage {
            resource_version: "9".into(),
            items: self.0.clone(),
            continue_token: "".into(),
            table: None,
        })
    }

    fn watch(&self, _: &WatchRequest) -> Result<Silence, ApiError> {
        Ok(Silence(Latch::new()))
    }

    fn is_watch_list_semantics_unsupported(&self) -> bool {
        true
    }
}

impl Watcher<Pod> for Silence {
    fn next(&mut self) -> WatchItem<Pod> {
        self.0.wait();
        WatchItem::Closed
    }

    fn stopper(&self) -> Box<dyn Fn() + Send + Sync> {
        let stopped = self.0.clone();
        Box::new(move || stopped.set())
    }
}

fn options(generation: Generation, indexers: Indexers<Pod>) -> InformerOptions<Pod> {
    InformerOptions {
        config: Config {
            indexers,
            ..Config::new(generation)
        },
        panic_policy: PanicPolicy::Crash,
        clock: Clock::manual(),
    }
}

/// The process loop waits in its second Pop until the handler was notified of the first. If the
/// notification came later, this would be a deadlock.
#[test]
fn a_handler_is_notified_of_each_pop_before_the_next_one_has_ended() {
    for generation in [Generation::Classic, Generation::InOrder] {
        check_random(
            move || {
                let heard = Latch::new();
                let (waits, hears) = (heard.clone(), heard.clone());
                let look: IndexFunc<Pod> = Arc::new(move |item, _| {
                    if item.as_object().unwrap().name() == "b" {
                        waits.wait();
                    }
                    Ok(())
                });
                let indexers = [("look".into(), look)].into_iter().collect();
                let silent = Silent(vec![pod("a", 1), pod("b", 2)]);
                let informer = SharedIndexInformer::new(silent, options(generation, indexers));
                let handler = ResourceEventHandlerFuncs {
                    add_func: Some(Box::new(move |_: &_| hears.set())),
                    ..ResourceEventHandlerFuncs::default()
                };
                let registration = informer.add_event_handler(handler).unwrap();
                let stop = Latch::new();
                let running = informer.spawn(&stop);
                registration.has_synced_checker().wait();
                assert_eq!(informer.get_store().len(), 2);
                stop.set();
                running.join().unwrap().unwrap();
            },
            schedules(),
        );
    }
}

/// A handler that is added while the initial list is processed receives each object once, from the
/// store or from the process loop, and syncs only after that.
#[test]
fn a_late_handler_receives_each_object_once() {
    for generation in [Generation::Classic, Generation::InOrder] {
        check_random(
            move || {
                let begun = Latch::new();
                let begins = begun.clone();
                let look: IndexFunc<Pod> = Arc::new(move |_, _| {
                    begins.set();
                    Ok(())
                });
                let indexers = [("look".into(), look)].into_iter().collect();
                let silent = Silent(vec![pod("a", 1), pod("b", 2)]);
                let informer = SharedIndexInformer::new(silent, options(generation, indexers));
                let stop = Latch::new();
                let running = informer.spawn(&stop);
                begun.wait();
                let received = Arc::new(Mutex::new(Vec::new()));
                let (adds, updates) = (Arc::clone(&received), Arc::clone(&received));
                let name = |item: &Item<Pod>| item.as_object().unwrap().name().to_owned();
                let handler = ResourceEventHandlerFuncs {
                    add_func: Some(Box::new(move |item: &_| {
                        adds.lock().unwrap().push(name(item))
                    })),
                    update_func: Some(Box::new(move |_: &_, item: &_| {
                        updates.lock().unwrap().push(name(item));
                    })),
                    delete_func: None,
                };
                let registration = informer.add_event_handler(handler).unwrap();
                registration.has_synced_checker().wait();
                let mut received = received.lock().unwrap().clone();
                received.sort();
                assert_eq!(received, ["a", "b"]);
                stop.set();
                running.join().unwrap().unwrap();
            },
            schedules(),
        );
    }
}

/// Whenever the stop comes, a process loop that has started drains the queue up to 1.33; later it
/// finishes only the current Pop.
#[test]
fn up_to_1_33_a_stopped_process_loop_drains_the_queue() {
    for (generation, drains) in [(Generation::Classic, true), (Generation::InOrder, false)] {
        // Accumulates over all schedules: shuttle runs its threads in this process.
        let lost = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&lost);
        check_random(
            move || {
                let begun = Latch::new();
                let (received, begins) = (Arc::new(AtomicUsize::new(0)), begun.clone());
                let receives = Arc::clone(&received);
                let handler = ResourceEventHandlerFuncs {
                    add_func: Some(Box::new(move |_: &_| {
                        receives.fetch_add(1, Ordering::Relaxed);
                        begins.set();
                    })),
                    ..ResourceEventHandlerFuncs::default()
                };
                let silent = Silent(vec![pod("a", 1), pod("b", 2), pod("c", 3)]);
                let options = options(generation, Indexers::default());
                let (store, controller) = new_informer(silent, handler, None, &options);
                let stop = Latch::new();
                let stopper = {
                    let stop = stop.clone();
                    thread::spawn(move || {
                        begun.wait();
                        stop.set();
                    })
                };
                controller.run(&stop).unwrap();
                join(stopper);
                let received = received.load(Ordering::Relaxed);
                assert_eq!(store.len(), received);
                assert!(received == 3 || !drains, "{received} of 3");
                counted.fetch_add(3 - received, Ordering::Relaxed);
            },
            schedules(),
        );
        assert_eq!(lost.load(Ordering::Relaxed) == 0, drains, "{generation:?}");
    }
}
