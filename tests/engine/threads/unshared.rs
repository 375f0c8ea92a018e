//! The unshared informer, which calls its handler between the writes.

use std::sync::{Arc, Mutex};
use std::thread;

use deltascope::cache::controller::Generation;
use deltascope::cache::error::Error;
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::fact::EventType;
use deltascope::cache::object::Item;
use deltascope::cache::threads::{Latch, ThreadSafeStore, new_informer};
use k8s_openapi::api::core::v1::Pod;

use super::{Recorder, Server, event, options, pod};

/// Reads the store in its handler.
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
        // Up to 1.35 this runs under the queue's lock.
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
