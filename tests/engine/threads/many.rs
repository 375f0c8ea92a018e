//! Many threads use one informer, and it stays consistent.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use deltascope::cache::controller::Generation;
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::fact::EventType;
use deltascope::cache::object::Item;
use deltascope::cache::rng::Rng;
use deltascope::cache::threads::SharedIndexInformer;
use k8s_openapi::api::core::v1::Pod;

use super::{HANGS, Running, Server, event, expired, named, options, parity_indexers, pods, seeds};

/// Maintains a copy of the objects, and checks each notification against it.
#[derive(Clone, Default)]
struct Follower {
    inner: Arc<(Mutex<BTreeMap<String, u64>>, Condvar)>,
}

impl Follower {
    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, u64>)) {
        change(&mut self.inner.0.lock().unwrap());
        self.inner.1.notify_all();
    }

    /// Waits until the copy equals `truth`.
    fn wait(&self, truth: &BTreeMap<String, u64>) {
        let objects = self.inner.0.lock().unwrap();
        let (objects, waited) = (self.inner.1)
            .wait_timeout_while(objects, HANGS, |objects| objects != truth)
            .unwrap();
        assert!(!waited.timed_out(), "{objects:?} instead of {truth:?}");
    }
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

/// Eight threads use one informer: two write, one cuts the watch, three read, two add and remove
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
    // The follower may have had the same objects earlier, so finish with an object that is new.
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
fn eight_threads_leave_an_informer_consistent() {
    for seed in 0..seeds() {
        stress(seed, Generation::ALL[seed as usize % Generation::ALL.len()]);
    }
}
