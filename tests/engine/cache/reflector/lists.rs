//! How the reflector lists: in pages, at which version, and how it handles the responses.

use std::sync::Arc;

use deltascope::cache::fact::{Fact, ReflectorFact};
use deltascope::cache::lister_watcher::{ApiErrorKind as Kind, Table};
use deltascope::cache::object::Object;
use deltascope::cache::order::Order;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::ReflectorOptions;
use deltascope::cache::step::Step;
use kube_core::DynamicObject as O;

use super::Say::{
    Added, Bookmark, Deleted, End, ListError, Modified, Opaque, Open, OpenError, Page, Refuse,
    Start, TablePage,
};
use super::{Say, options, plays, streaming};

#[test]
fn a_list_comes_in_pages() {
    let first = (Start, r#"LIST "0"/500"#);
    plays(
        "a server that pages is asked for pages again",
        options(),
        &[
            first.clone(),
            (Page("10", &["a", "b"], "c1"), "LIST page c1/500"),
            (Page("11", &["c"], "c2"), "LIST page c2/500"),
            (
                Page("12", &["d"], ""),
                r#"Replace "10" a@10 b@10 c@11 d@12; WATCH "10""#,
            ),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "10"/500"#,
            ),
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
        ],
    );
    plays(
        "a custom page size, also for lists after the first",
        ReflectorOptions {
            page_size: 2,
            ..options()
        },
        &[
            (Start, r#"LIST "0"/2"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (
                OpenError(Kind::Forbidden),
                r#"!Forbidden; pause; LIST "10"/2"#,
            ),
        ],
    );
    plays(
        "the server may send pages even without a limit",
        options(),
        &[
            first.clone(),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (OpenError(Kind::Gone), r#"!Gone; pause; LIST "10"/0"#),
            (Page("20", &["a"], "c"), "LIST page c/0"),
            (
                Page("21", &["b"], ""),
                r#"Replace "20" a@20 b@21; WATCH "20""#,
            ),
            (OpenError(Kind::Gone), r#"!Gone; pause; LIST "20"/0"#),
        ],
    );
    plays(
        "a token expires: the whole list, whatever the server says of a next page",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (ListError(Kind::Expired), r#"LIST "0"/0"#),
            (Page("12", &["b"], "c9"), r#"Replace "12" b@12; WATCH "12""#),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "12"/500"#,
            ),
        ],
    );
    plays(
        "only the reason Expired is about the token; Gone and a version too large are about the list",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (ListError(Kind::Gone), r#"LIST ""/500"#),
            (Page("11", &["a"], "c2"), "LIST page c2/500"),
            (
                ListError(Kind::TooLarge),
                r#"!failed to list pods: TooLarge; pause; LIST ""/500"#,
            ),
            (Page("12", &[], ""), r#"Replace "12"; WATCH "12""#),
            // In the end the server sent no pages.
            (OpenError(Kind::Expired), r#"!Expired; pause; LIST "12"/0"#),
        ],
    );
    plays(
        "any other error of a page restarts the list after a pause",
        options(),
        &[
            first.clone(),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (
                ListError(Kind::InternalError),
                r#"!failed to list pods: InternalError; pause; LIST "0"/500"#,
            ),
            (Page("10", &["b"], ""), r#"Replace "10" b@10; WATCH "10""#),
        ],
    );
    plays(
        "the second attempt of the first list counts for paging, too",
        options(),
        &[
            first,
            (ListError(Kind::Expired), r#"LIST ""/500"#),
            (Page("10", &["a"], "c1"), "LIST page c1/500"),
            (
                Page("10", &["b"], ""),
                r#"Replace "10" a@10 b@10; WATCH "10""#,
            ),
            (
                OpenError(Kind::Expired),
                r#"!Expired; pause; LIST "10"/500"#,
            ),
        ],
    );
}

#[test]
fn an_unavailable_version_is_omitted_until_a_list_succeeds() {
    let talk = plays(
        "expired again and again",
        options(),
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (OpenError(Kind::Expired), r#"!Expired; pause; LIST "10"/0"#),
            // At once, without calling the watch-error handler, and with the same page size.
            (ListError(Kind::Expired), r#"LIST ""/0"#),
            (
                ListError(Kind::Expired),
                r#"!failed to list pods: Expired; pause; LIST ""/500"#,
            ),
            (ListError(Kind::TooLarge), r#"LIST ""/500"#),
            (Page("9", &["a"], "c"), "LIST page c/500"),
            (ListError(Kind::Expired), r#"LIST ""/0"#),
            (
                ListError(Kind::Forbidden),
                r#"!failed to list pods: Forbidden; pause; LIST ""/500"#,
            ),
        ],
    );
    assert!(talk.reflector.is_last_sync_resource_version_unavailable());
    assert_eq!(&**talk.reflector.last_sync_resource_version(), "10");
    let mut talk = talk;
    let said = talk.say(&Page("30", &[], ""));
    assert_eq!(said, r#"Replace "30"; WATCH "30""#);
    assert!(!talk.reflector.is_last_sync_resource_version_unavailable());
    let said = talk.say(&OpenError(Kind::Timeout));
    assert_eq!(said, r#"!Timeout; pause; LIST "30"/0"#);
}

#[test]
fn events_with_another_type_are_skipped_and_lists_are_not_checked() {
    let check = |o: &O| match o.name() {
        "odd" => Err("expected type Pod, but watch event object had type Node".to_owned()),
        _ => Ok(()),
    };
    for release in [
        Release::V0_32,
        Release::V0_34,
        Release::V0_35,
        Release::V0_36,
    ] {
        let options = |options| ReflectorOptions {
            release,
            expected_type: Some(Arc::new(check)),
            ..options
        };
        let mut talk = plays(
            &format!("{release:?}"),
            options(self::options()),
            &[
                (Start, r#"LIST "0"/500"#),
                (
                    Page("10", &["a", "odd"], ""),
                    r#"Replace "10" a@10 odd@10; WATCH "10""#,
                ),
                (Open, ""),
                (Modified("odd", "11"), ""),
                (Opaque, ""),
            ],
        );
        assert_eq!(&**talk.reflector.last_sync_resource_version(), "10");
        let rejected = |(_, fact): &&(Step, Fact)| {
            matches!(fact, Fact::Reflector(ReflectorFact::ObjectRejected { .. }))
        };
        assert_eq!(talk.facts.iter().filter(rejected).count(), 2);
        assert_eq!(talk.say(&Deleted("a", "12")), "Delete a@12");
        plays(
            &format!("{release:?}, streaming"),
            options(streaming()),
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("odd", "1"), ""),
                (Added("a", "2"), ""),
                (End("9"), r#"Replace "9" a@2"#),
            ],
        );
    }
}

/// Since 1.34 in streaming lists, since 1.36 also in watches and as the response to a list.
#[test]
fn a_table_is_rejected_where_upstream_rejects_it() {
    let table_check = |o: &O| {
        Table::of(
            "meta.k8s.io/v1",
            if o.name() == "odd" { "Table" } else { "Pod" },
        )
    };
    for (release, stream, watch, list) in [
        (
            Release::V0_32,
            r#"Replace "9" odd@1 a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_34,
            r#"Replace "9" a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_35,
            r#"Replace "9" a@2"#,
            "Update odd@11",
            r#"Replace "9"; WATCH "9""#,
        ),
        (
            Release::V0_36,
            r#"Replace "9" a@2"#,
            "",
            r#"!failed to list pods: unsupported list gvk: meta.k8s.io/v1, Kind=Table, type: pods; pause; LIST "0"/500"#,
        ),
    ] {
        let options = |options| ReflectorOptions {
            release,
            order: Order::Insertion,
            table_check: Some(Arc::new(table_check)),
            ..options
        };
        plays(
            &format!("{release:?}, streaming"),
            options(streaming()),
            &[
                (Start, r#"STREAM """#),
                (Open, ""),
                (Added("odd", "1"), ""),
                (Added("a", "2"), ""),
                (End("9"), stream),
                (Modified("odd", "11"), watch),
            ],
        );
        plays(
            &format!("{release:?}, a list"),
            options(self::options()),
            &[(Start, r#"LIST "0"/500"#), (TablePage("9"), list)],
        );
    }
    assert_eq!(Table::of("v1", "Table"), None);
    let beta = Table::of("meta.k8s.io/v1beta1", "Table").unwrap();
    assert_eq!(beta.to_string(), "meta.k8s.io/v1beta1, Kind=Table");
}

#[test]
fn a_store_that_refuses_an_event_does_not_stop_the_stream() {
    plays(
        "refused",
        ReflectorOptions {
            bookmark_store: true,
            ..options()
        },
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (Refuse("Add Update Delete Bookmark Replace"), ""),
            (Added("a", "11"), "Add a@11"),
            (Modified("a", "12"), "Update a@12"),
            (Deleted("a", "13"), "Delete a@13"),
            (Bookmark("14"), "Bookmark 14"),
            // Each of them has advanced the version.
            (Say::Error(Kind::Expired), r#"pause; LIST "14"/0"#),
            (
                Page("20", &["b"], ""),
                r#"Replace "20" b@20; !unable to sync list result: refused; pause; LIST "14"/0"#,
            ),
        ],
    );
}
