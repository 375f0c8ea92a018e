//! Small models of what blocks: a scheduler chooses, thousands of times differently, who goes on at
//! each lock. What cannot go on any more is found, and so is whatever an assertion forbids.
//!
//! The sources are the library's own, with shuttle's locks in the place of the standard library's.

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

// The sources name the modules of their crate.
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

/// The threads of the library, on the scheduler's locks.
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
        // Counting references needs no scheduler.
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

    /// Chance is the scheduler's alone.
    pub(crate) struct RandomJitter;

    impl RandomJitter {
        #[allow(clippy::new_ret_no_self, reason = "it stands for another type")]
        pub(crate) fn new() -> NoJitter {
            NoJitter
        }
    }

    /// shuttle does not tell; it does not matter, either.
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

/// How many schedules of each model: 2,000, or what `SOAK_SEEDS` says (as `make soak` does).
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
fn closing_a_queue_wakes_all_who_wait() {
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
                // Nobody holds the lock: this does not wait for itself.
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
fn a_listener_tells_everything_in_order_until_it_is_closed() {
    check_random(
        || {
            let told = Arc::new(Mutex::new(Vec::new()));
            let (adds, deletes) = (Arc::clone(&told), Arc::clone(&told));
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
                let told = Arc::clone(&told);
                thread::spawn(move || {
                    listener.synced().wait();
                    assert!(told.lock().unwrap().len() >= 2);
                    listener.close();
                })
            };
            join(synced);
            join(running);
            let told = told.lock().unwrap();
            assert!(*told == ["a", "b"] || *told == ["a", "b", "c"], "{told:?}");
        },
        schedules(),
    );
}

#[test]
fn a_workqueue_drains_and_then_lets_everybody_go() {
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
            // Only now: a worker that was let go may leave one behind who holds an item that was added
            // once more, and who takes it again himself.
            assert_eq!(queue.get(), Err(ShutDown));
            let done = done.load(Ordering::Relaxed);
            assert!((1..=3).contains(&done), "{done}");
        },
        schedules(),
    );
}

// ---- the informer

/// Lists what it has, and is silent until it is stopped.
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

/// The process loop waits in its second Pop until the handler has been told of the first: where that
/// comes later, nobody can go on.
#[test]
fn a_handler_hears_of_each_pop_before_the_next_one_has_ended() {
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

/// A handler that is added while the first list is processed hears of each object once, from the store
/// or from the process loop, and has synced no earlier.
#[test]
fn a_handler_that_is_added_late_hears_of_each_object_once() {
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
                let told = Arc::new(Mutex::new(Vec::new()));
                let (adds, updates) = (Arc::clone(&told), Arc::clone(&told));
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
                let mut told = told.lock().unwrap().clone();
                told.sort();
                assert_eq!(told, ["a", "b"]);
                stop.set();
                running.join().unwrap().unwrap();
            },
            schedules(),
        );
    }
}

/// Whenever the stop comes, a process loop that has begun ends with an empty queue up to 1.33, and
/// later with what it was at.
#[test]
fn a_stop_lets_the_process_loop_empty_the_queue_up_to_1_33() {
    for (generation, drains) in [(Generation::Classic, true), (Generation::InOrder, false)] {
        // In this process: shuttle's threads are one.
        let lost = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&lost);
        check_random(
            move || {
                let begun = Latch::new();
                let (told, begins) = (Arc::new(AtomicUsize::new(0)), begun.clone());
                let tells = Arc::clone(&told);
                let handler = ResourceEventHandlerFuncs {
                    add_func: Some(Box::new(move |_: &_| {
                        tells.fetch_add(1, Ordering::Relaxed);
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
                let told = told.load(Ordering::Relaxed);
                assert_eq!(store.len(), told);
                assert!(told == 3 || !drains, "{told} of 3");
                counted.fetch_add(3 - told, Ordering::Relaxed);
            },
            schedules(),
        );
        assert_eq!(lost.load(Ordering::Relaxed) == 0, drains, "{generation:?}");
    }
}
