//! Streaming lists: from the request to the watch, and what follows a failed one.

use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::lister_watcher::ApiErrorKind as Kind;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{ReflectorOptions, ReflectorState};
use kube_core::DynamicObject as O;

use super::Say::{
    Added, Bookmark, Close, Deleted, End, Modified, Opaque, Open, OpenError, Page, Pass, Refuse,
    Start,
};
use super::{Say, options, plays, streaming};
use crate::cache::pod;

#[test]
fn what_follows_a_streaming_list_that_failed() {
    let again = r#"STREAM """#;
    let paused = r#"pause; STREAM """#;
    let list = r#"LIST "0"/500"#;
    for (kind, expected) in [
        (Kind::ConnectionRefused, paused),
        (Kind::TooManyRequests, paused),
        (Kind::Expired, again),
        (Kind::Gone, again),
        (Kind::TooLarge, again),
        (Kind::InternalError, list),
        (Kind::Timeout, list),
        (Kind::Forbidden, list),
        (Kind::Invalid, list),
        (Kind::Unauthorized, list),
        (Kind::NotFound, list),
        (Kind::Other, list),
    ] {
        let options = || ReflectorOptions {
            // Has no effect here.
            max_internal_error_retry: Duration::from_secs(10),
            ..streaming()
        };
        let opening = [(Start, again), (OpenError(kind), expected)];
        plays(&format!("{kind:?} on opening"), options(), &opening);
        let mut stream = vec![
            (Start, again),
            (Open, ""),
            (Added("a", "5"), ""),
            (Say::Error(kind), expected),
        ];
        if expected != list {
            // The objects of the first stream were dropped.
            stream.extend([
                (Open, ""),
                (Added("b", "6"), ""),
                (End("10"), r#"Replace "10" b@6"#),
                (Close, r#"pause; STREAM "10""#),
            ]);
        } else {
            // The next round tries a streaming list again.
            stream.extend([
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (OpenError(Kind::Other), r#"!Other; pause; STREAM "10""#),
            ]);
        }
        plays(&format!("{kind:?} in the stream"), options(), &stream);
    }
}

#[test]
fn a_streaming_list_from_its_request_to_the_watch() {
    plays(
        "changes before the bookmark, bookmarks between",
        ReflectorOptions {
            bookmark_store: true,
            update_resource_version_store: true,
            ..streaming()
        },
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Added("c", "5"), ""),
            (Added("a", "3"), ""),
            (Added("b", "4"), ""),
            (Modified("a", "6"), ""),
            (Deleted("b", "7"), ""),
            (Deleted("x", "7"), ""),
            (Bookmark("8"), ""),
            (Opaque, ""),
            (End("9"), r#"Replace "9" a@6 c@5"#),
            // The same stream continues.
            (Bookmark("10"), "Bookmark 10; UpdateResourceVersion 10"),
            (End("11"), "Bookmark 11; UpdateResourceVersion 11"),
            (Added("d", "12"), "Add d@12; UpdateResourceVersion 12"),
            (Close, r#"WATCH "12""#),
            (OpenError(Kind::TooManyRequests), r#"pause; WATCH "12""#),
            (OpenError(Kind::Expired), r#"!Expired; pause; STREAM "12""#),
            (OpenError(Kind::Expired), r#"STREAM """#),
            (OpenError(Kind::Invalid), r#"LIST ""/500"#),
        ],
    );
    plays(
        "closed early: another stream, or if closed at once without an event, a list",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Added("a", "5"), ""),
            (Close, r#"STREAM """#),
            (Open, ""),
            (Pass(1), ""),
            (Close, r#"STREAM """#),
            (Open, ""),
            (Close, r#"LIST "0"/500"#),
        ],
    );
    plays(
        "the store refuses: a list, and only the list's failure is reported",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Open, ""),
            (Refuse("Replace"), ""),
            (End("9"), r#"Replace "9"; LIST "0"/500"#),
            (
                Page("9", &["a"], ""),
                r#"Replace "9" a@9; !unable to sync list result: refused; pause; STREAM """#,
            ),
        ],
    );
}

#[test]
fn a_late_end_of_a_streaming_list_causes_a_warning() {
    let talk = plays(
        "no other action",
        streaming(),
        &[
            (Start, r#"STREAM """#),
            (Pass(30), r#"STREAM """#),
            (Open, ""),
            // No event so far: the time counts from the request.
            (Pass(9), ""),
            (Pass(1), "late 40000 false"),
            (Pass(10), "late 50000 false"),
            (Pass(1), ""),
            (Added("a", "5"), ""),
            // An event arrived since the last check.
            (Pass(9), ""),
            (Pass(10), "late 19000 true"),
            (Bookmark("6"), ""),
            (Pass(20), "late 10000 true; late 20000 true"),
            (Close, r#"STREAM """#),
            (Pass(10), r#"STREAM """#),
            (Open, ""),
            (Pass(10), "late 20000 false"),
            (End("9"), r#"Replace "9""#),
            (Pass(60), ""),
            (Close, r#"WATCH "9""#),
            (Open, ""),
            (Pass(60), ""),
        ],
    );
    assert_eq!(talk.reflector.state(), ReflectorState::Watch);
    plays(
        "a list, and a watch after it",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Pass(60), ""),
        ],
    );
}

#[test]
fn the_temporary_store_transforms_since_0_34_and_has_the_chosen_order() {
    let transformer = |item: Item<O>| match item.as_object() {
        Some(o) if o.name() == "bad" => Err("no".to_owned()),
        Some(o) => Ok(pod(o.name(), &format!("{}t", o.resource_version()))),
        None => Ok(item),
    };
    for (release, order, expected) in [
        (
            Release::V0_32,
            Order::Insertion,
            r#"Replace "9" c@5 bad@3 b@6"#,
        ),
        (Release::V0_34, Order::Insertion, r#"Replace "9" c@5t b@6t"#),
        (Release::V0_36, Order::Insertion, r#"Replace "9" c@5t b@6t"#),
        (Release::V0_36, Order::Dense, r#"Replace "9" b@6t c@5t"#),
        (Release::V0_36, Order::Key, r#"Replace "9" b@6t c@5t"#),
    ] {
        let options = ReflectorOptions {
            release,
            order,
            transformer: Some(Arc::new(transformer)),
            ..streaming()
        };
        plays(
            &format!("{release:?} {order:?}"),
            options,
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("a", "1"), ""),
                (Added("c", "5"), ""),
                (Added("bad", "3"), ""),
                (Added("b", "4"), ""),
                (Modified("b", "6"), ""),
                (Deleted("a", "7"), ""),
                (End("9"), expected),
                // The queue transforms later objects.
                (Modified("c", "10"), "Update c@10"),
            ],
        );
    }
}
