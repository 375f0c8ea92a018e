//! Event handlers: filters, handlers made of functions, and which updates count as resyncs.

use std::sync::{Arc, Mutex};

use deltascope::cache::event_handler::{
    FilteringResourceEventHandler, ResourceEventHandler, ResourceEventHandlerDetailedFuncs,
    ResourceEventHandlerFuncs,
};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::Notification;

use super::{add, short, update};
use crate::cache::{O, labelled, pod, rv, tombstone};

/// Records its notifications.
#[derive(Default)]
struct Noting(Mutex<Vec<String>>);

impl ResourceEventHandler<O> for Noting {
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool) {
        self.note(&Notification::Add {
            object: object.clone(),
            is_in_initial_list,
        });
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        self.note(&Notification::Update {
            old: Some(old.clone()),
            new: new.clone(),
        });
    }

    fn on_delete(&self, object: &Item<O>) {
        self.note(&Notification::Delete {
            object: object.clone(),
        });
    }
}

impl Noting {
    fn note(&self, notification: &Notification<O>) {
        self.0.lock().unwrap().push(short(notification));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn delete(object: Item<O>) -> Notification<O> {
    Notification::Delete { object }
}

#[test]
fn a_filter_turns_one_notification_into_another() {
    let noting = Arc::new(Noting::default());
    let handler = FilteringResourceEventHandler {
        filter_func: Arc::new(|item: &Item<O>| {
            let labels = item.as_object().map(|object| object.labels());
            labels.is_some_and(|labels| labels.get("app").is_some_and(|app| app == "in"))
        }),
        handler: Arc::clone(&noting),
    };
    let within = |rv| labelled("p", rv, "in");
    let without = |rv| labelled("p", rv, "out");
    let table: [(Notification<O>, Option<&str>); 11] = [
        (add(within("1"), true), Some("+p 1 initial")),
        (add(within("1"), false), Some("+p 1")),
        (add(without("1"), true), None),
        (update(within("1"), within("2")), Some("~p 1 2")),
        (update(without("1"), within("2")), Some("+p 2")),
        (update(within("1"), without("2")), Some("-p 1")),
        (update(without("1"), without("2")), None),
        (delete(within("1")), Some("-p 1")),
        (delete(without("1")), None),
        (delete(tombstone("p", Some(within("1")))), Some("-p 1 x")),
        (delete(tombstone("p", None)), None),
    ];
    for (notification, expected) in table {
        notification.deliver(&handler);
        assert_eq!(
            noting.take(),
            Vec::from_iter(expected),
            "{}",
            short(&notification)
        );
    }
}

#[test]
fn every_function_of_a_handler_is_optional() {
    let noting = Arc::new(Noting::default());
    let all = [
        add(pod("p", "1"), true),
        update(pod("p", "1"), pod("p", "2")),
        delete(pod("p", "2")),
    ];
    let deliver = |handler: &dyn ResourceEventHandler<O>| {
        all.iter()
            .for_each(|notification| notification.deliver(handler));
        noting.take()
    };
    assert!(deliver(&ResourceEventHandlerFuncs::default()).is_empty());
    assert!(deliver(&ResourceEventHandlerDetailedFuncs::default()).is_empty());
    let object = |noting: &Arc<Noting>| {
        let noting = Arc::clone(noting);
        Some(Box::new(move |item: &Item<O>| {
            noting.0.lock().unwrap().push(rv(item).to_owned());
        }) as _)
    };
    let both = |noting: &Arc<Noting>| {
        let noting = Arc::clone(noting);
        Some(Box::new(move |old: &Item<O>, new: &Item<O>| noting.on_update(old, new)) as _)
    };
    let lines = deliver(&ResourceEventHandlerFuncs {
        add_func: object(&noting),
        update_func: both(&noting),
        delete_func: object(&noting),
    });
    assert_eq!(lines, ["1", "~p 1 2", "2"]);
    let adding = Arc::clone(&noting);
    let lines = deliver(&ResourceEventHandlerDetailedFuncs {
        add_func: Some(Box::new(move |item, initial| adding.on_add(item, initial))),
        update_func: both(&noting),
        delete_func: object(&noting),
    });
    assert_eq!(lines, ["+p 1 initial", "~p 1 2", "2"]);
}

#[test]
fn an_update_without_another_version_counts_as_a_resync() {
    for (notification, is_sync) in [
        (update(pod("p", "1"), pod("p", "1")), true),
        (update(pod("p", ""), pod("p", "")), true),
        (update(pod("p", "1"), pod("p", "2")), false),
        (
            update(tombstone("p", Some(pod("p", "1"))), pod("p", "1")),
            false,
        ),
        (add(pod("p", "1"), false), false),
        (delete(pod("p", "1")), false),
    ] {
        assert_eq!(notification.is_sync(), is_sync, "{}", short(&notification));
    }
}
