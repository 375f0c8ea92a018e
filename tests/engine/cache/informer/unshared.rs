//! The unshared informer, and how an informer is configured.

use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{
    Config, Controller, Generation, Seen, new_indexer_informer, new_informer,
};
use deltascope::cache::error::Error;
use deltascope::cache::lister_watcher::{ListPage, Table};
use deltascope::cache::object::Object;
use deltascope::cache::process::Notification;
use deltascope::cache::reflector::Need;

use super::{SECOND, list, short};
use crate::cache::{O, bad_app_fails, labelled, pod, rv};

#[test]
fn the_unshared_informer_calls_its_handler_in_the_process_loop() {
    let mut informer = Controller::new(Config {
        indexers: crate::cache::app_indexer(),
        full_resync_period: SECOND,
        transform: Some(bad_app_fails()),
        ..Config::new(Generation::Classic)
    });
    let processed = |informer: &mut Controller<O>| {
        let mut lines = Vec::new();
        let mut handler = |notification: Notification<O>, seen: Seen<'_, O>| {
            lines.push(format!("{} | {}", short(&notification), seen.store.len()));
        };
        while let Ok(true) = informer.process(&mut handler, || Duration::ZERO, &mut ()) {}
        lines
    };
    let now = Duration::ZERO;
    let list = |informer: &mut Controller<O>, apps: [&str; 2]| {
        let Need::List(_) = informer.reflector().need() else {
            panic!("{:?}", informer.reflector().need());
        };
        let page = ListPage {
            resource_version: "10".into(),
            items: vec![labelled("a", "1", apps[0]), labelled("b", "2", apps[1])],
            continue_token: "".into(),
            table: None,
        };
        informer.reflector_mut().listed(now, Ok(page), &mut ());
        assert!(informer.carry_out(now, &mut ()));
        assert!(!informer.carry_out(now, &mut ()), "no second store call");
    };
    informer.reflector_mut().waited(now, &mut ());
    // The transformer fails for an object: the earlier objects are processed, and the reflector
    // lists again.
    list(&mut informer, ["web", "bad"]);
    assert_eq!(processed(&mut informer), ["+a 1t initial | 1"]);
    assert!(!informer.has_synced() && informer.last_sync_resource_version().is_empty());
    assert!(informer.reflector_mut().take_watch_error().is_some());
    informer.reflector_mut().waited(now, &mut ());
    list(&mut informer, ["web", "db"]);
    assert_eq!(
        processed(&mut informer),
        ["~a 1t 1t | 1", "+b 2t initial | 2"]
    );
    assert!(informer.has_synced());
    assert_eq!(&**informer.last_sync_resource_version(), "10");
    let web: Vec<&str> = informer
        .store()
        .by_index("app", "web")
        .unwrap()
        .map(rv)
        .collect();
    assert_eq!(web, ["1t"]);

    informer.reflector_mut().watched(now, Ok(()), &mut ());
    assert!(!informer.resync(now, &mut ()), "not due yet");
    let due = informer.reflector().resync_at().unwrap();
    assert!(informer.resync(due, &mut ()));
    assert_eq!(processed(&mut informer).len(), 2);
    assert_eq!(informer.reflector().resync_at(), Some(due + SECOND));

    let copy = informer.clone();
    informer.stop(due, &mut ());
    assert!(matches!(informer.reflector().need(), Need::Stopped));
    let closed = informer.process(|_, _| {}, || due, &mut ());
    assert_eq!(closed, Err(Error::FifoClosed));
    assert!(!copy.queue().is_closed(), "a copy is independent");
}

#[test]
fn an_informer_has_the_defaults_of_its_generation() {
    for (generation, streams, keeps_version) in [
        (Generation::Classic, false, false),
        (Generation::InOrder, false, false),
        (Generation::Batched, true, false),
        (Generation::Atomic, true, true),
    ] {
        let mut informer: Controller<O> =
            new_indexer_informer(generation, crate::cache::app_indexer());
        assert_eq!(informer.store().index_names().count(), 1);
        informer.reflector_mut().waited(Duration::ZERO, &mut ());
        let asks_to_stream = matches!(informer.reflector().need(), Need::Watch(_));
        assert_eq!(asks_to_stream, streams, "{generation:?}");
        let mut informer: Controller<O> = new_informer(generation);
        informer.write(list(&[("a", "1")]), &mut ()).unwrap();
        assert_eq!(
            informer.process(|_, _| {}, || Duration::ZERO, &mut ()),
            Ok(true)
        );
        let version = informer.store().last_store_sync_resource_version();
        assert_eq!(
            version,
            if keeps_version { "10" } else { "" },
            "{generation:?}"
        );
    }
}

#[test]
fn the_type_checks_of_a_config_reach_the_reflector() {
    let odd = |object: &O| object.name() == "odd";
    let mut config: Config<O> = Config::new(Generation::Atomic);
    let options = config.reflector_options();
    assert!(options.expected_type.is_none() && options.table_check.is_none());
    config.expected_type = Some(Arc::new(move |object: &O| match odd(object) {
        true => Err("odd".to_owned()),
        false => Ok(()),
    }));
    config.table_check = Some(Arc::new(move |object: &O| odd(object).then_some(Table::V1)));
    let options = config.clone().reflector_options();
    let (expected, table) = (options.expected_type.unwrap(), options.table_check.unwrap());
    for name in ["a", "odd"] {
        let object = pod(name, "1");
        let object = object.as_object().unwrap();
        let is_odd = (expected(object).is_err(), table(object).is_some());
        assert_eq!(is_odd, (name == "odd", name == "odd"));
    }
}
