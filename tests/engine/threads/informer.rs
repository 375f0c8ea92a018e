//! The shared informer as a whole: its guarantees, its stops and its resyncs; and the factory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::error::Error;
use deltascope::cache::fact::EventType;
use deltascope::cache::factory::FactoryOptions;
use deltascope::cache::lister::GroupResource;
use deltascope::cache::lister_watcher::{ApiError, ApiErrorKind, WatchItem};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::queue::Release;
use deltascope::cache::threads::{
    Clock, HandlerOptions, Latch, MutatedFunc, SharedIndexInformer, SharedInformerFactory,
    new_informer, wait_for, wait_for_cache_sync,
};
use k8s_openapi::api::core::v1::{Node, Pod};

use super::{
    HANGS, Recorder, Running, Server, event, named, options, parity_indexers, pod, while_stored,
};

#[test]
fn a_shared_informer_keeps_its_guarantees() {
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

        // These are refused after the start.
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
        let recorder = Recorder::default();
        let registration = informer.add_event_handler(recorder.clone()).unwrap();
        let running = Running::start(&informer, server.clone());
        // The server has no list.
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
        let mut lines = recorder.lines();
        lines.sort();
        assert_eq!(lines, ["+a@1 true", "+b@2 true"]);
        server.send([event(&(EventType::Deleted, "a".into(), 6))]);
        assert_eq!(recorder.wait(3)[2], "-a@6");
        running.end();
    }
}

#[test]
fn an_empty_initial_list_syncs() {
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
fn a_stop_ends_any_wait_of_the_reflector() {
    // A list that does not arrive, a pause, an event that does not arrive.
    for situation in 0..3 {
        let server = Server::default();
        let mut options = options(Generation::Atomic);
        options.config.backoff.duration = Duration::from_secs(3600);
        let informer = SharedIndexInformer::new(server.clone(), options);
        let failed = Latch::new();
        let called = failed.clone();
        let handler = Arc::new(move |_: &_| called.set());
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
        // A list that fails because of the stop is not reported.
        assert_eq!(failed.is_set(), situation == 1);
    }
}

#[test]
fn only_handlers_with_a_resync_period_receive_resyncs() {
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
        // The timer restarts some time after all handlers were notified. A resync may come while
        // the one before is still in the queue; it does not queue those objects again.
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

/// A list that takes two Pops or more, except in the atomic generation, where the whole list is one
/// entry.
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
fn a_handler_is_notified_of_each_pop_while_the_next_one_is_processed() {
    for generation in Generation::ALL {
        let server = Server::default();
        let recorder = Recorder::default();
        let (sender, heard) = channel();
        let sender = Mutex::new(sender);
        let mut options = options(generation);
        options.config.indexers = {
            let (server, recorder) = (server.clone(), recorder.clone());
            while_stored(move |name, rv| match (name, rv) {
                // The queue is not locked meanwhile: the last one is queued before the list's
                // notifications are sent.
                ("b", _) if generation == Generation::Atomic => {
                    server.send([event(&(EventType::Added, "last".into(), 6))]);
                    server.settle();
                }
                ("d", _) if generation == Generation::Atomic => {}
                ("d" | "last", _) => sender.lock().unwrap().send(recorder.hears(1)).unwrap(),
                _ => {}
            })
        };
        let informer = SharedIndexInformer::new(server.clone(), options);
        informer.add_event_handler(recorder.clone()).unwrap();
        server.list_next(list_of_two_pops(), 5);
        let running = Running::start(&informer, server);
        assert!(heard.recv_timeout(2 * HANGS).unwrap(), "{generation:?}");
        running.end();
    }
}

#[test]
fn up_to_1_33_a_stopped_process_loop_drains_the_queue() {
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
    for (generation, release, expected, stored) in [
        (Generation::Classic, Release::V0_32, &drained[..], "abcd"),
        (Generation::Classic, Release::V0_34, &drained[..3], "ab"),
        (Generation::InOrder, Release::V0_34, &one_by_one, "abc"),
        (Generation::Batched, Release::V0_35, &one_by_one, "abc"),
        // The list is one entry, and the entries queued behind it are lost.
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
                assert_eq!(recorder.lines(), expected, "{generation:?} {release:?}");
                store
            };
            let mut names: Vec<_> = store.list().iter().map(|item| named(item).0).collect();
            names.sort();
            assert_eq!(names.concat(), stored, "{generation:?} {release:?}");
            // A stop may drop notifications that still wait in a listener.
            let lines = recorder.lines();
            assert!(expected.starts_with(&lines.iter().map(|line| &**line).collect::<Vec<_>>()));
        }
    }
}

#[test]
fn the_mutation_detector_reports_a_modified_object() {
    let server = Server::default();
    let mut options = options(Generation::Atomic);
    options.clock = Clock::manual();
    options.config.type_description = "*v1.Pod".into();
    let clock = options.clock.clone();
    let informer = SharedIndexInformer::new(server.clone(), options);
    // A shared pod cannot be modified: this stands for its content.
    let written = Arc::new(AtomicBool::new(false));
    let content = Arc::clone(&written);
    let (sender, found) = channel();
    let sender = Mutex::new(sender);
    let looks = move |pod: &Pod| u64::from(pod.name() == "a" && content.load(Ordering::Acquire));
    let failed: MutatedFunc<Pod> = Arc::new(move |mutated, message| {
        let mutation = (mutated.key.to_string(), message.to_owned());
        sender.lock().unwrap().send(mutation).unwrap();
    });
    informer
        .set_mutation_detector(Arc::new(looks), Arc::clone(&failed))
        .unwrap();
    let recorder = Recorder::default();
    informer.add_event_handler(recorder.clone()).unwrap();
    server.list_next(vec![pod("a", 1), pod("b", 2)], 5);
    let running = Running::start(&informer, server.clone());
    recorder.wait(2);
    assert_eq!(
        informer.set_mutation_detector(Arc::new(|_| 0), failed),
        Err(Error::InformerStarted)
    );
    written.store(true, Ordering::Release);
    // The detector checks once a second.
    let first = loop {
        clock.advance(Duration::from_secs(1));
        match found.try_recv() {
            Ok(first) => break first,
            Err(_) => thread::yield_now(),
        }
    };
    assert_eq!(first, ("ns/a".into(), "cache *v1.Pod modified".into()));
    running.end();
    // It reports the object once, however often it checks.
    assert!(found.try_recv().is_err());
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
