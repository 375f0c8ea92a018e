//! The lifecycle of an informer: it runs once, sends late handlers the store's content, and reports
//! when it has synced.

use std::time::Duration;

use deltascope::cache::controller::Generation;
use deltascope::cache::error::{Error, ErrorKind};
use deltascope::cache::informer::{CacheSync, CacheSyncWait, initial_notifications};

use super::{Shared, list, parts, short};
use crate::cache::bad_app_fails;

#[test]
fn an_informer_runs_once_and_refuses_late_settings() {
    let mut shared = Shared::new(Duration::ZERO);
    let state = &mut shared.state;
    state.set_transform(Some(bad_app_fails())).unwrap();
    assert!(state.transform().is_some());
    assert_eq!(state.start(), Ok(Duration::ZERO));
    let refused = [
        state.start().map(|_| ()),
        state.set_transform(None),
        state.check_not_started(),
    ];
    assert!(state.transform().is_some());
    state.check_add_indexers().unwrap();
    state.stop();
    let stopped = [
        state.check_add_indexers(),
        state.add_event_handler("h", None, &mut ()).map(|_| ()),
        state.add_event_handler("", None, &mut ()).map(|_| ()),
    ];
    let texts = |results: [Result<(), Error>; 3], kind| {
        results.map(|result| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), kind);
            error.to_string()
        })
    };
    let twice = "the sharedIndexInformer has started, run more than once is not allowed";
    let started = "informer has already started";
    assert_eq!(
        texts(refused, ErrorKind::Started),
        [twice, started, started]
    );
    assert_eq!(
        texts(stopped, ErrorKind::Stopped),
        [
            "indexer was not added because it has stopped already",
            "handler h was not added to shared informer because it has stopped already",
            "handler was not added to shared informer because it has stopped already",
        ]
    );
}

#[test]
fn a_late_handler_receives_an_add_for_every_stored_object() {
    let mut parts = parts(Generation::Atomic);
    parts.write(list(&[("b", "2"), ("a", "1")]));
    parts.pops();
    let notifications = initial_notifications(&parts.store);
    let added: Vec<String> = notifications
        .iter()
        .map(|notification| short(notification))
        .collect();
    assert_eq!(added, ["+a 1 initial", "+b 2 initial"]);
}

#[test]
fn wait_for_cache_sync_polls_ten_times_a_second() {
    let ms = Duration::from_millis;
    let mut wait = CacheSyncWait::default();
    assert_eq!(wait.poll(ms(5), false, || false), CacheSync::AskAt(ms(105)));
    let too_early = || panic!("polled too early");
    assert_eq!(
        wait.poll(ms(50), false, too_early),
        CacheSync::AskAt(ms(105))
    );
    assert_eq!(
        wait.poll(ms(105), false, || false),
        CacheSync::AskAt(ms(205))
    );
    assert_eq!(
        wait.clone().poll(ms(205), false, || true),
        CacheSync::Synced
    );
    assert_eq!(wait.poll(ms(150), true, || true), CacheSync::Stopped);
    // The first call polls even if it was stopped.
    assert_eq!(
        CacheSyncWait::default().poll(ms(0), true, || true),
        CacheSync::Synced
    );
    assert_eq!(
        CacheSyncWait::default().poll(ms(0), true, || false),
        CacheSync::Stopped
    );
}
