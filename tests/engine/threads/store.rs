//! The store, with readers and writers at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use deltascope::cache::index::Indexers;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::lister::{GenericLister, GroupResource};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::rng::Rng;
use deltascope::cache::selector::Selector;
use deltascope::cache::store::new_indexer;
use deltascope::cache::threads::ThreadSafeStore;
use k8s_openapi::api::core::v1::Pod;

use super::{parity_indexers, pod};

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
