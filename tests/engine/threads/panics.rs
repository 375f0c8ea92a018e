//! What remains after a handler's panic.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::event_handler::ResourceEventHandler;
use deltascope::cache::key_func::meta_namespace_key_func;
use deltascope::cache::listener::PanicPolicy;
use deltascope::cache::object::Item;
use deltascope::cache::queue::Release;
use deltascope::cache::real_fifo::{RealFifo, RealFifoOptions};
use deltascope::cache::threads::{BlockingQueue, Clock, Latch, SharedIndexInformer, new_informer};
use k8s_openapi::api::core::v1::Pod;

use super::{Recorder, Running, Server, options, pod, text, while_stored};

#[test]
fn objects_stored_before_a_panic_are_notified_at_once() {
    let server = Server::default();
    let mut options = options(Generation::Classic);
    // The clock stands still, so no thread continues after the panic.
    options.clock = Clock::manual();
    options.panic_policy = PanicPolicy::Skip;
    options.config.indexers = while_stored(|_, rv| assert!(rv != "2", "the index function's own"));
    let informer = SharedIndexInformer::new(server.clone(), options);
    let recorder = Recorder::default();
    informer.add_event_handler(recorder.clone()).unwrap();
    server.list_next(vec![pod("a", 1), pod("a", 2)], 5);
    let running = Running::start(&informer, server);
    assert_eq!(recorder.wait(1), ["+a@1 true"]);
    running.end();
}

struct Panics {
    recorder: Recorder,
}

impl ResourceEventHandler<Pod> for Panics {
    fn on_add(&self, object: &Item<Pod>, is_in_initial_list: bool) {
        assert!(!text(object).starts_with("bad"), "the handler's own");
        self.recorder.on_add(object, is_in_initial_list);
    }

    fn on_update(&self, _old: &Item<Pod>, _new: &Item<Pod>) {}

    fn on_delete(&self, _object: &Item<Pod>) {}
}

#[test]
fn a_panicking_handler_loses_the_notification_and_pauses() {
    let server = Server::default();
    let mut options = options(Generation::Atomic);
    options.clock = Clock::manual();
    options.panic_policy = PanicPolicy::Skip;
    let clock = options.clock.clone();
    let informer = SharedIndexInformer::new(server.clone(), options);
    let recorder = Recorder::default();
    let handler = Panics {
        recorder: recorder.clone(),
    };
    let registration = informer.add_event_handler(handler).unwrap();
    server.list_next(vec![pod("a", 1), pod("bad", 2), pod("c", 3)], 5);
    let running = Running::start(&informer, server);
    recorder.wait(1);
    while recorder.lines().len() < 2 {
        clock.advance(Duration::from_millis(1100));
        thread::yield_now();
    }
    assert_eq!(recorder.lines(), ["+a@1 true", "+c@3 true"]);
    // One of the initial list was never handled.
    assert!(!registration.has_synced());
    running.end();
}

#[test]
fn a_handler_that_panics_ends_the_program_by_default() {
    const CRASH: &str = "DELTASCOPE_TEST_CRASH";
    if std::env::var(CRASH).is_err() {
        // The thread of a test is named after the whole path of the test.
        let test = thread::current().name().unwrap().to_owned();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([&test, "--exact", "--nocapture"])
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
    let recorder = Recorder::default();
    let handler = Panics {
        recorder: recorder.clone(),
    };
    informer.add_event_handler(handler).unwrap();
    server.list_next(vec![pod("bad", 1), pod("c", 2)], 5);
    let _running = Running::start(&informer, server);
    recorder.wait(1);
    panic!("went on");
}

#[test]
fn an_item_counts_as_popped_although_its_processing_panicked() {
    for generation in Generation::ALL {
        let server = Server::default();
        let mut options = options(generation);
        options.panic_policy = PanicPolicy::Skip;
        let recorder = Recorder::default();
        let handler = Panics {
            recorder: recorder.clone(),
        };
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
        assert!(recorder.lines().is_empty());
    }

    let key_func = Arc::new(meta_namespace_key_func::<Pod>);
    let real = RealFifo::new(RealFifoOptions::new(key_func, Release::V0_36));
    let queue = BlockingQueue::new(real, None);
    queue.replace(vec![pod("a", 1)], "1").unwrap();
    let pop = || queue.pop(|_| panic!("the process function's own"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(pop)).is_err());
    assert!(queue.has_synced());
}
