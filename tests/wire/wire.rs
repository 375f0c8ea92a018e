//! Recorded bodies, as an API server sent them and as people spoil them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use deltascope::cache::fact::EventType;
use deltascope::cache::object::Object;
use deltascope::replay::lessons::recordings::bundled;
use deltascope::world::source::pod;
use deltascope::world::source::wire::{
    LineSplitter, LineTooLong, MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE, Recorded, RecordedEvent,
    WatchReader, open, open_text,
};
use proptest::prelude::*;

/// What a file must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Kind and number of the items, resource version.
    List(&'static str, usize, &'static str),
    /// The same, of a page that is not the last one.
    Page(&'static str, usize, &'static str),
    /// ADDED, MODIFIED, DELETED, BOOKMARK, ERROR, and the bytes of a cut line.
    Watch([usize; 5], Option<u32>),
    /// The line, and a part of the reason.
    Fails(Option<u32>, &'static str),
}
use Outcome::{Fails, List, Page, Watch};

/// Every file of tests/transcripts and of the bundled recordings.
const FILES: &[(&str, Outcome)] = &[
    ("cors-preflight", Fails(Some(1), "405 MethodNotAllowed")),
    (
        "discovery-aggregated-api",
        Fails(Some(1), "discovery document (APIGroupDiscoveryList)"),
    ),
    (
        "discovery-aggregated-apis",
        Fails(Some(1), "discovery document (APIGroupDiscoveryList)"),
    ),
    (
        "discovery-api",
        Fails(Some(1), "discovery document (APIVersions)"),
    ),
    (
        "discovery-api-v1",
        Fails(Some(1), "discovery document (APIResourceList)"),
    ),
    (
        "discovery-apis",
        Fails(Some(1), "discovery document (APIGroupList)"),
    ),
    (
        "error-400-label",
        Fails(Some(1), "400 BadRequest, \"unable to parse requirement"),
    ),
    (
        "error-400-limit",
        Fails(Some(1), "400 BadRequest, \"strconv.ParseInt"),
    ),
    (
        "error-400-rv",
        Fails(Some(1), "400 BadRequest, \"invalid resource version"),
    ),
    (
        "error-401",
        Fails(Some(1), "401 Unauthorized, \"Unauthorized\""),
    ),
    (
        "error-403-namespace",
        Fails(Some(1), "403 Forbidden, \"pods is forbidden"),
    ),
    (
        "error-403-proxy-exec",
        Fails(Some(1), "plain text, not JSON: \"Forbidden\""),
    ),
    (
        "error-404-group",
        Fails(Some(1), "plain text, not JSON: \"404 page not found\""),
    ),
    (
        "error-404-pod",
        Fails(Some(1), "404 NotFound, \"pods \\\"nope\\\" not found\""),
    ),
    ("error-404-resource", Fails(Some(1), "404 NotFound")),
    ("error-422-match", Fails(Some(1), "422 Invalid")),
    (
        "error-429",
        Fails(Some(1), "plain text, not JSON: \"Too many requests"),
    ),
    (
        "error-500-server-down",
        Fails(Some(1), "connect: connection refused"),
    ),
    ("error-storage-stalled", Fails(Some(1), "INTERNAL_ERROR")),
    ("get-pod", Fails(Some(1), "a single object of kind \"Pod\"")),
    (
        "host-rejected",
        Fails(Some(1), "plain text, not JSON: \"Forbidden\""),
    ),
    ("list-25-page-1", Page("Pod", 10, "41232")),
    ("list-25-page-2", Page("Pod", 10, "41232")),
    ("list-25-page-3", List("Pod", 5, "41232")),
    ("list-3", List("Pod", 3, "41193")),
    ("list-3-compact", List("Pod", 3, "41468")),
    ("list-410-exact", Fails(Some(1), "410 Expired")),
    (
        "list-accept-not-acceptable",
        Fails(Some(1), "406 NotAcceptable"),
    ),
    ("list-all-namespaces-rv0", List("Pod", 5, "41197")),
    ("list-continue-expired", Fails(Some(1), "410 Expired")),
    ("list-continue-inconsistent", Page("Pod", 3, "41666")),
    ("list-continue-invalid", Fails(Some(1), "400 BadRequest")),
    ("list-continue-with-rv", Fails(Some(1), "400 BadRequest")),
    ("list-empty", List("Pod", 0, "41183")),
    ("list-expired-page-1", Page("Pod", 3, "41652")),
    ("list-field-selector", List("Pod", 1, "41193")),
    ("list-gzip", Fails(None, "compressed (gzip)")),
    ("list-label-selector", List("Pod", 1, "41193")),
    ("list-metadata", Fails(Some(1), "406 NotAcceptable")),
    (
        "list-metadata-list",
        List("PartialObjectMetadata", 3, "41193"),
    ),
    ("list-namespaces", List("Namespace", 2, "41702")),
    ("list-rv-future", Fails(Some(1), "504 Timeout")),
    ("list-table", Fails(Some(1), "this is a Table")),
    ("root", Fails(Some(1), "discovery document (paths)")),
    (
        "static-404",
        Fails(Some(1), "plain text, not JSON: \"404 page not found\""),
    ),
    ("static-index", Fails(Some(1), "a page of HTML")),
    ("version", Fails(Some(1), "neither a list")),
    ("watch-410", Watch([0, 0, 0, 0, 1], None)),
    ("watch-410-no-cache", Watch([0, 0, 0, 0, 1], None)),
    ("watch-410-rv1", Watch([0, 0, 0, 0, 1], None)),
    ("watch-410-table", Watch([0, 0, 0, 0, 1], None)),
    ("watch-bookmarks", Watch([1, 3, 1, 4, 0], None)),
    ("watch-bookmarks-list", List("Pod", 2, "41572")),
    ("watch-cut", Watch([0, 1, 0, 0, 0], Some(779))),
    ("watch-large-object", Watch([3, 1, 0, 0, 0], None)),
    ("watch-pod-lifecycle", Watch([2, 10, 2, 1, 0], None)),
    ("watch-pod-lifecycle-list", List("Pod", 0, "41474")),
    (
        "watch-pod-lifecycle-metadata",
        Watch([2, 10, 2, 1, 0], None),
    ),
    (
        "watch-pod-lifecycle-phase-selector",
        Watch([1, 4, 1, 1, 0], None),
    ),
    ("watch-pod-lifecycle-selector", Watch([1, 1, 1, 1, 0], None)),
    (
        "watch-pod-lifecycle-table",
        Fails(Some(1), "this is a Table"),
    ),
    ("watch-proxy-terminated", Watch([0, 1, 0, 0, 0], None)),
    ("watch-resume", Watch([1, 9, 1, 0, 0], None)),
    ("watch-rv-future", Fails(None, "the file is empty")),
    ("watch-rv0", Watch([4, 2, 1, 0, 0], None)),
    ("watch-rvmatch-exact", Fails(Some(1), "422 Invalid")),
    ("watch-server-killed", Watch([0, 2, 0, 0, 0], None)),
    ("watch-server-terminated", Watch([0, 1, 0, 0, 0], None)),
    ("watchlist", Watch([4, 2, 1, 3, 0], None)),
    ("watchlist-no-bookmarks", Watch([3, 0, 0, 0, 0], None)),
    ("watchlist-no-match", Fails(Some(1), "422 Invalid")),
    ("watchlist-not-supported", Fails(Some(1), "422 Invalid")),
    ("watchlist-old-rv", Watch([8, 0, 0, 1, 0], None)),
    ("watchlist-rv-future", Watch([0, 0, 0, 0, 1], None)),
    ("write-conflict", Fails(Some(1), "409 AlreadyExists")),
    ("cors-get", List("Pod", 2, "41584")),
    ("list-25-limit-rv0", List("Pod", 25, "41235")),
    ("list-3-rv0", List("Pod", 3, "41193")),
    ("list-accept-browser", List("Pod", 3, "41193")),
    ("list-exact", List("Pod", 3, "41193")),
    ("list-notolderthan", List("Pod", 3, "41193")),
    ("list-rv-future-exact", Fails(Some(1), "504 Timeout")),
    ("static-js", Fails(Some(1), "plain text, not JSON")),
    ("static-redirect", Fails(Some(1), "a page of HTML")),
    ("static-wasm", Fails(Some(1), "plain text, not JSON")),
    (
        "watch-pod-lifecycle-legacy-path",
        Watch([2, 10, 2, 1, 0], None),
    ),
    ("watch-rv-unset", Watch([4, 2, 1, 0, 0], None)),
    ("watchlist-rv0", Watch([4, 2, 1, 3, 0], None)),
    (
        "write-create-pod",
        Fails(Some(1), "a single object of kind \"Pod\""),
    ),
    (
        "write-delete-pod",
        Fails(Some(1), "a single object of kind \"Pod\""),
    ),
];

#[test]
fn every_transcript_opens_as_it_should() {
    for &(name, expected) in FILES {
        check(name, &open(&[file(name)]), expected);
    }
}

#[test]
fn every_transcript_is_in_the_table() {
    let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed.len(), FILES.len(), "a name is in the table twice");
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // What was asked, and how the answer came, stand beside it.
            if path.extension().unwrap() == "json" {
                continue;
            }
            assert_eq!(path.extension().unwrap(), "body", "{path:?}");
            found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(found, listed);
}

#[test]
fn text_is_read_as_bytes_are() {
    for (name, _) in FILES {
        let (file_name, bytes) = file(name);
        // A text decoder does what the page's did: what is not UTF-8 becomes U+FFFD.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(
            open_text(&file_name, &text),
            open(&[(file_name, bytes)]),
            "{name}"
        );
    }
}

#[test]
fn a_list_is_the_start_of_its_watch_in_any_order() {
    let (list, watch) = (file("watch-bookmarks-list"), file("watch-bookmarks"));
    let recorded = open(&[list.clone(), watch.clone()]);
    assert_eq!(recorded, open(&[watch, list]));
    let start = recorded.start.unwrap();
    assert_eq!(
        (&*start.rv, start.items.len(), start.partial),
        ("41572", 2, false)
    );
    assert_eq!(recorded.events.len(), 9);
    assert!(recorded.has_watch);
    assert_eq!(recorded.error, None);
}

#[test]
fn other_combinations_are_errors() {
    let fails = |files: &[(String, Vec<u8>)], part: &str| {
        let recorded = open(files);
        let error = recorded.error.expect(part);
        assert!(error.message.en.contains(part), "{error}");
        assert_eq!(error.line, None);
        assert!(recorded.start.is_none() && recorded.events.is_empty() && !recorded.has_watch);
    };
    fails(&[], "There is no file");
    fails(
        &[file("list-3"), file("list-empty")],
        "Both files are lists",
    );
    fails(
        &[file("watchlist"), file("watch-rv0")],
        "Both files are watches",
    );
    fails(
        &[file("list-3"), file("watch-rv0"), file("watch-cut")],
        "These are 3 files",
    );

    // A list plays without the watch that cannot be read; a watch does not without its list.
    let recorded = open(&[file("list-3"), file("error-401")]);
    assert_eq!(recorded.start.unwrap().items.len(), 3);
    assert!(
        recorded
            .error
            .unwrap()
            .message
            .en
            .starts_with("error-401.body, line 1: ")
    );
    for files in [
        [file("list-gzip"), file("watch-bookmarks")],
        [file("watch-bookmarks"), file("list-gzip")],
    ] {
        let recorded = open(&files);
        assert!(recorded.events.is_empty() && !recorded.has_watch);
        assert!(
            recorded
                .error
                .unwrap()
                .message
                .en
                .starts_with("list-gzip.body: ")
        );
    }
}

#[test]
fn items_of_a_list_get_their_types() {
    for (name, kind, api_version) in [
        ("list-3", "Pod", "v1"),
        ("list-namespaces", "Namespace", "v1"),
        (
            "list-metadata-list",
            "PartialObjectMetadata",
            "meta.k8s.io/v1",
        ),
    ] {
        for item in open(&[file(name)]).start.unwrap().items {
            let types = item.types.clone().unwrap();
            assert_eq!((&*types.kind, &*types.api_version), (kind, api_version));
            assert!(!item.name().is_empty() && !item.uid().is_empty());
        }
    }
    // kubectl's own list mixes kinds and has no version.
    let recorded = open_text(
        "k",
        r#"{"apiVersion":"v1","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}],"kind":"List","metadata":{"resourceVersion":""}}"#,
    );
    let start = recorded.start.unwrap();
    assert_eq!((&*start.rv, &*start.kind), ("", ""));
    assert_eq!(start.items[0].types.as_ref().unwrap().kind, "Deployment");
    assert_eq!(
        start.items[0].types.as_ref().unwrap().api_version,
        "apps/v1"
    );
}

#[test]
fn pods_keep_what_is_shown_and_lose_managed_fields() {
    let recorded = open(&[file("watch-pod-lifecycle")]);
    let phases: Vec<String> = recorded
        .events
        .iter()
        .filter_map(|event| match event {
            RecordedEvent::Object { object, .. } => {
                assert!(object.metadata.managed_fields.is_none());
                assert!(!object.resource_version().is_empty());
                let body = pod::body(object);
                Some(format!("{} {}", object.name(), body.phase))
            }
            _ => None,
        })
        .collect();
    assert!(
        phases.iter().any(|phase| phase.ends_with(" Pending")),
        "{phases:?}"
    );
    assert!(
        phases.iter().any(|phase| phase.ends_with(" Running")),
        "{phases:?}"
    );
    let text = format!("{recorded:?}");
    assert!(!text.contains("f:metadata") && !text.contains("fieldsV1"));
}

#[test]
fn bookmarks_are_versions() {
    let bookmarks = |name| -> Vec<(String, bool)> {
        open(&[file(name)])
            .events
            .iter()
            .filter_map(|event| match event {
                RecordedEvent::Bookmark {
                    rv,
                    initial_events_end,
                } => Some((rv.to_string(), *initial_events_end)),
                _ => None,
            })
            .collect()
    };
    let mark = |rv: &str, end| (rv.to_owned(), end);
    assert_eq!(
        bookmarks("watch-bookmarks"),
        [
            mark("41603", false),
            mark("41634", false),
            mark("41636", false),
            mark("41636", false)
        ]
    );
    assert_eq!(
        bookmarks("watchlist"),
        [
            mark("41549", true),
            mark("41551", false),
            mark("41553", false)
        ]
    );
}

#[test]
fn errors_of_the_server_are_events() {
    for (name, code, reason, part) in [
        (
            "watch-410",
            410,
            "Expired",
            "too old resource version: 41652 (41666)",
        ),
        (
            "watch-410-table",
            410,
            "Expired",
            "too old resource version",
        ),
        (
            "watchlist-rv-future",
            504,
            "Timeout",
            "Too large resource version: 141572",
        ),
    ] {
        let recorded = open(&[file(name)]);
        let [
            RecordedEvent::Error {
                code: found,
                reason: why,
                message,
                causes,
            },
        ] = &recorded.events[..]
        else {
            panic!("{name}: {recorded:?}");
        };
        assert_eq!((*found, &**why), (code, reason));
        let too_large = causes
            .iter()
            .any(|cause| cause == "ResourceVersionTooLarge");
        assert_eq!(too_large, code == 504, "{causes:?}");
        assert!(message.contains(part), "{message}");
    }
}

/// A server has one or two causes: of a thousand the first are kept.
#[test]
fn of_causes_some_are_kept() {
    let causes: Vec<serde_json::Value> = (0..1_000)
        .map(|number| serde_json::json!({ "reason": "", "message": number.to_string() }))
        .collect();
    let status =
        serde_json::json!({ "kind": "Status", "code": 410, "details": { "causes": causes } });
    let event = serde_json::json!({ "type": "ERROR", "object": status });
    let recorded = open_text("w", &event.to_string());
    let [RecordedEvent::Error { causes, .. }] = &recorded.events[..] else {
        panic!("{recorded:?}");
    };
    let first: Vec<String> = (0..16).map(|number: u32| number.to_string()).collect();
    assert_eq!(*causes, first);
}

#[test]
fn secrets_never_leave() {
    let secret = r#""metadata":{"name":"s","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter2"}},"data":{"p":"hunter2"},"stringData":{"p":"hunter2"},"binaryData":{"p":"hunter2"}"#;
    for text in [
        format!(
            r#"{{"kind":"SecretList","apiVersion":"v1","metadata":{{}},"items":[{{{secret}}}]}}"#
        ),
        format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{}},"items":[{{{secret}}}]}}"#
        ),
        format!(r#"{{"kind":"List","items":[{{"kind":"Secret",{secret}}}]}}"#),
        format!(r#"{{"kind":"List","items":[{{{secret}}}]}}"#),
        format!(r#"{{"type":"ADDED","object":{{"kind":"Secret","apiVersion":"v1",{secret}}}}}"#),
        format!(r#"{{"type":"DELETED","object":{{"kind":"ConfigMap",{secret}}}}}"#),
        format!(r#"{{"type":"MODIFIED","object":{{{secret}}}}}"#),
    ] {
        let recorded = open_text("s", &text);
        assert_eq!(recorded.error, None, "{text}");
        let objects = recorded
            .start
            .iter()
            .map(|list| list.items.len())
            .sum::<usize>()
            + recorded.events.len();
        assert_eq!(objects, 1, "{text}");
        assert!(!format!("{recorded:?}").contains("hunter2"), "{text}");
    }
}

const ADDED: &str = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"1"}}}"#;

#[test]
fn a_bad_line_is_named_and_what_came_before_plays() {
    for (line, part) in [
        (
            &b"{\"type\":\"ADDED\",}"[..],
            "the line is not JSON (trailing comma, column 17)",
        ),
        (b"nonsense", "the line is not JSON (expected ident"),
        (b"[]", "no watch event"),
        (b"{}", "no watch event"),
        (b"{\"type\":7,\"object\":{}}", "no watch event"),
        (
            b"{\"type\":\"CHANGED\",\"object\":{}}",
            "the event type \"CHANGED\" is unknown",
        ),
        (b"{\"type\":\"ADDED\"}", "the ADDED event has no object"),
        (
            b"{\"type\":\"BOOKMARK\",\"object\":null}",
            "the BOOKMARK event has no object",
        ),
        (
            b"{\"type\":\"BOOKMARK\",\"object\":{}}",
            "no metadata.resourceVersion",
        ),
        (
            b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}",
            "it has no metadata.name",
        ),
        (
            b"{\"type\":\"ADDED\",\"object\":{}}",
            "it has no metadata.name",
        ),
        (
            b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":1}}}",
            "metadata.name must be a text",
        ),
        (
            b"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"rows\":[]}}",
            "this is a Table",
        ),
        (
            b"{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\"}",
            "403 Forbidden",
        ),
        (
            b"{\"type\":\"ADDED\",\"object\":{\"a\":\"\xff\"}}",
            "byte 32 of the line is not UTF-8",
        ),
        (
            b"{\"type\":\"ADDED\",\"obj",
            "ends in the middle of an event, and others follow",
        ),
    ] {
        let mut bytes = format!("{ADDED}\n\r\n{ADDED}\r\n").into_bytes();
        bytes.extend_from_slice(line);
        bytes.extend_from_slice(format!("\n{ADDED}\n").as_bytes());
        let recorded = open(&[("w".to_owned(), bytes)]);
        let error = recorded.error.expect(part);
        assert_eq!(error.line, Some(4), "{error}");
        assert!(error.message.en.starts_with("w, line 4: "), "{error}");
        assert!(error.message.en.contains(part), "{error}");
        assert!(
            error.message.en.ends_with("The 2 events before it play."),
            "{error}"
        );
        assert!(
            error.message.zh.starts_with("w 第 4 行："),
            "{}",
            error.message.zh
        );
        assert!(
            error.message.zh.ends_with("它之前的 2 个事件照常播放。"),
            "{}",
            error.message.zh
        );
        assert_eq!(recorded.events.len(), 2);
        assert!(recorded.has_watch);
    }
}

#[test]
fn a_bad_document_is_named() {
    let text = fs::read_to_string(path("list-3")).unwrap();
    let third = text.rfind("    {\n      \"metadata\"").unwrap();
    let (before, after) = text.split_at(third);
    let third_line = u32::try_from(before.matches('\n').count() + 1).unwrap();
    let nameless = format!("{before}{}", after.replacen("\"name\"", "\"nome\"", 1));
    let lines = u32::try_from(text.lines().count()).unwrap();
    for (text, line, part) in [
        (String::new(), None, "the file is empty"),
        (" \n\t ".to_owned(), None, "the file is empty"),
        ("\u{feff}".to_owned(), None, "the file is empty"),
        ("\u{1f}\u{fffd}\u{8}".to_owned(), None, "compressed (gzip)"),
        ("\u{1f}\u{8b}".to_owned(), Some(1), "plain text"),
        ("\n\n<!DOCTYPE html>".to_owned(), Some(3), "a page of HTML"),
        (
            "kind: PodList\nitems: []".to_owned(),
            Some(1),
            "not JSON: \"kind: PodList\"",
        ),
        (format!("[{ADDED}]"), Some(1), "a JSON array"),
        ("{}".to_owned(), Some(1), "neither a list"),
        (
            "{\"kind\":\"PodList\"}".to_owned(),
            Some(1),
            "no array items",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":{}}".to_owned(),
            Some(1),
            "no array items",
        ),
        (
            "{\"kind\":\"PodList\",\n\"items\":[\n7]}".to_owned(),
            Some(3),
            "items[0] cannot be used: it is not a JSON object",
        ),
        (
            "{\"kind\":\"PodList\",\n\"items\":[{\"metadata\":{\"name\":\"\\\"\"}},\n[1,\n2],{}]}"
                .to_owned(),
            Some(3),
            "items[1] cannot be used: it is not",
        ),
        (
            "{\"kind\":\"PodList\",\n\n\"items\":oops}".to_owned(),
            Some(3),
            "this is not JSON (expected value, column 9)",
        ),
        (
            format!("{text}\n{text}"),
            Some(lines + 1),
            "a second document begins here",
        ),
        // Each item is read alone: what is between two commas.
        (
            "{\"kind\":\"PodList\",\"items\":[\n{\"metadata\":{\"name\":\"a\"}}},\n{}]}".to_owned(),
            Some(2),
            "this is not JSON (trailing characters, column 26)",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":[\n{},\n,{}]}".to_owned(),
            Some(2),
            "items[0] cannot be used",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":[\n,{}]}".to_owned(),
            Some(2),
            "this is not JSON (expected value, column 1)",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":[\ntru,{}]}".to_owned(),
            Some(2),
            "this is not JSON (the value ends in the middle, column 4)",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":[],\n\"items\":[{}]}".to_owned(),
            Some(2),
            "items twice",
        ),
        (
            "{\"kind\":\"PodList\",\"items\":[{}],\"items\":null}".to_owned(),
            Some(1),
            "items twice",
        ),
        (
            "{\"kind\":\"PodList\",\"\\u0069tems\":[{}]}".to_owned(),
            Some(1),
            "under an escaped name",
        ),
        (
            format!(
                "{{\"kind\":\"PodList\",\"items\":[{}",
                "1,\n".repeat(MAX_ITEMS + 5)
            ),
            Some(10_001),
            "the list has 10005 objects",
        ),
        (
            format!(
                "{{\"kind\":\"PodList\",\"items\":[{{}}],\"x\":[{}{{}}]}}",
                "{\"\":0},".repeat(1_040_000)
            ),
            Some(1),
            "small values",
        ),
        (
            text[..text.len() / 2].to_owned(),
            Some(0),
            "the file ends in the middle",
        ),
        (
            nameless,
            Some(third_line),
            "items[2] cannot be used: it has no metadata.name",
        ),
        (
            "{\"kind\":\"Pod".to_owned(),
            Some(1),
            "the file ends in the middle",
        ),
    ] {
        let recorded = open_text("l", &text);
        let error = recorded.error.expect(part);
        assert!(error.message.en.contains(part), "{error}");
        if line != Some(0) {
            assert_eq!(error.line, line, "{error}");
        }
        assert!(
            error.line.is_none() || error.message.en.contains("line"),
            "{error}"
        );
        assert!(recorded.start.is_none() && recorded.events.is_empty());
    }
    for (bytes, line, part) in [
        (&b"\xff\xfe{\0"[..], None, "UTF-16"),
        (b"\xfe\xff\0{", None, "UTF-16"),
        (
            b"{\"kind\":\n \"\xc3(\"}",
            Some(2),
            "byte 3 of the line is not UTF-8",
        ),
    ] {
        let error = open(&[("l".to_owned(), bytes.to_vec())]).error.unwrap();
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.en.contains(part), "{error}");
    }
}

#[test]
fn marks_and_line_ends_are_tolerated() {
    let plain = open(&[file("watch-bookmarks")]);
    let text = fs::read_to_string(path("watch-bookmarks")).unwrap();
    for other in [
        format!("\u{feff}{text}"),
        text.replace('\n', "\r\n"),
        format!("\u{feff}\r\n\r\n{}", text.replace('\n', "\r\n\r\n")),
        text.trim_end().to_owned(),
        format!("{text}  \n \n"),
    ] {
        assert_eq!(open_text("watch-bookmarks.body", &other), plain);
    }
    let list = fs::read_to_string(path("list-3")).unwrap();
    let other = format!("\u{feff}{}\r\n", list.replace('\n', "\r\n"));
    assert_eq!(open_text("l", &other), open_text("l", &list));
    assert_eq!(open_text("l", &other).start.unwrap().items.len(), 3);
    // Keys in order, as jq -S writes them.
    let sorted = r#"{"object":{"kind":"Pod","metadata":{"name":"a"}},"type":"DELETED"}"#;
    let recorded = open_text("w", sorted);
    assert!(
        matches!(
            &recorded.events[..],
            [RecordedEvent::Object {
                event: EventType::Deleted,
                ..
            }]
        ),
        "{recorded:?}"
    );
}

#[test]
fn a_watch_may_be_cut_at_any_byte() {
    for name in ["watch-410", "watch-cut", "watchlist-rv-future"] {
        let (_, bytes) = file(name);
        let whole = open(&[file(name)]).events;
        for end in 1..bytes.len() {
            let recorded = open(&[(name.to_owned(), bytes[..end].to_vec())]);
            assert_eq!(recorded.error, None, "{name} cut at {end}");
            let lines = bytes[..end].iter().filter(|&&byte| byte == b'\n').count();
            let rest = end
                - bytes[..end]
                    .iter()
                    .rposition(|&b| b == b'\n')
                    .map_or(0, |at| at + 1);
            match recorded.events.last() {
                Some(RecordedEvent::Cut { bytes }) => {
                    assert_eq!(*bytes as usize, rest, "{name} cut at {end}");
                    assert_eq!(recorded.events[..recorded.events.len() - 1], whole[..lines]);
                }
                // Only its \n is missing, or nothing at all.
                _ => assert_eq!(recorded.events[..], whole[..lines + usize::from(rest > 0)]),
            }
        }
    }
    // Also inside a character.
    let (_, bytes) = file("watch-large-object");
    let at = bytes.iter().position(|byte| *byte >= 0xc0).unwrap() + 1;
    let recorded = open(&[("w".to_owned(), bytes[..at].to_vec())]);
    assert_eq!(recorded.error, None);
    assert!(matches!(
        recorded.events.last(),
        Some(RecordedEvent::Cut { .. })
    ));
}

#[test]
fn what_is_too_much_is_refused() {
    let recorded = open(&[("l".to_owned(), vec![b' '; MAX_BYTES + 1])]);
    assert!(
        recorded
            .error
            .unwrap()
            .message
            .en
            .contains("at most 67108864 are read")
    );

    let mut bytes = format!("{ADDED}\n{{\"type\":\"ADDED\",\"object\":\"").into_bytes();
    bytes.resize(bytes.len() + MAX_LINE, b'x');
    let recorded = open(&[("w".to_owned(), bytes)]);
    let error = recorded.error.unwrap();
    assert_eq!((error.line, recorded.events.len()), (Some(2), 1));
    assert!(
        error.message.en.contains("longer than 8388608 bytes"),
        "{error}"
    );

    let bookmark =
        "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}\n";
    let recorded = open_text("w", &bookmark.repeat(MAX_EVENTS));
    assert_eq!((recorded.error, recorded.events.len()), (None, MAX_EVENTS));
    let recorded = open_text("w", &bookmark.repeat(MAX_EVENTS + 1));
    let error = recorded.error.unwrap();
    assert_eq!(
        (error.line, recorded.events.len()),
        (Some(10_001), MAX_EVENTS)
    );
    assert!(
        error.message.en.contains("more than 10000 events"),
        "{error}"
    );

    let items = |count| {
        let items = vec!["{\"metadata\":{\"name\":\"a\"}}"; count].join(",\n");
        open_text(
            "l",
            &format!("{{\"kind\":\"PodList\",\"items\":[{items}]}}"),
        )
    };
    assert_eq!(items(MAX_ITEMS).error, None);
    let error = items(MAX_ITEMS + 1).error.unwrap();
    assert_eq!(error.line, Some(10_001));
    assert!(
        error.message.en.contains("the list has 10001 objects"),
        "{error}"
    );

    // Deeper than anybody reads: an error, not the end of the stack.
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{ADDED}\n{}\n", "[".repeat(100_000)),
    ] {
        assert!(open_text("d", &text).error.is_some());
    }
}

#[test]
fn messages_stay_short_and_have_both_languages() {
    let name = "n".repeat(10_000);
    for text in [
        "x".repeat(10_000),
        "é".repeat(10_000),
        format!("{{\"kind\":\"{}\"}}", "k".repeat(10_000)),
        format!("{{\"kind\":\"{}List\"}}", "k".repeat(10_000)),
        format!(
            "{{\"kind\":\"Status\",\"reason\":\"{0}\",\"message\":\"{0}\"}}",
            "k".repeat(10_000)
        ),
        format!("{{\"type\":\"{}\",\"object\":{{}}}}", "k".repeat(10_000)),
        format!(
            "{{\"type\":\"ADDED\",\"object\":{{\"metadata\":\"{}\"}}}}",
            "k".repeat(10_000)
        ),
    ] {
        let message = open_text(&name, &text).error.unwrap().message;
        assert!(message.en.len() < 600, "{}", message.en);
        assert!(
            message
                .zh
                .chars()
                .any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c))
        );
        assert!(message.zh.len() < 900, "{}", message.zh);
    }
}

#[test]
fn bundled_recordings_play() {
    let ids: BTreeSet<&str> = bundled().iter().map(|recording| recording.id).collect();
    assert_eq!(ids.len(), bundled().len());
    for recording in bundled() {
        let recorded = recording.open();
        assert_eq!(recorded.error, None, "{}", recording.id);
        assert!(
            recorded.has_watch && !recorded.events.is_empty(),
            "{}",
            recording.id
        );
        assert_eq!(
            recorded.start.is_some(),
            recording.files.len() == 2,
            "{}",
            recording.id
        );
        assert!(!recording.title_en.is_empty() && !recording.title_zh.is_empty());
    }
}

#[test]
fn lines_are_bounded() {
    let mut splitter = LineSplitter::new(3);
    let mut lines = Vec::new();
    let mut feed =
        |chunk: &[u8]| splitter.feed(chunk, |line, bytes| lines.push((line, bytes.to_vec())));
    assert_eq!(feed(b"abc\n\na"), Ok(()));
    assert_eq!(feed(b"b"), Ok(()));
    assert_eq!(feed(b"c\nd"), Ok(()));
    assert_eq!(feed(b"efg\n"), Err(LineTooLong { line: 4 }));
    assert_eq!(
        lines,
        [(1, b"abc".to_vec()), (2, Vec::new()), (3, b"abc".to_vec())]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40), ones in any::<bool>()) {
        for &(name, outcome) in FILES {
            if !matches!(outcome, Watch(..)) {
                continue;
            }
            let (file_name, bytes) = file(name);
            let expected = open(&[(file_name.clone(), bytes.clone())]);
            let mut ends: Vec<usize> = if ones && bytes.len() < 4_000 {
                (0..bytes.len()).collect()
            } else {
                cuts.iter().map(|cut| cut.index(bytes.len())).collect()
            };
            ends.push(bytes.len());
            ends.sort_unstable();
            let mut reader = WatchReader::new(&file_name);
            let (mut events, mut from) = (Vec::new(), 0);
            for end in ends {
                reader.feed(&bytes[from..end]);
                events.extend(reader.take_events());
                from = end;
            }
            prop_assert!(reader.error().is_none());
            let (rest, error) = reader.finish();
            events.extend(rest);
            prop_assert_eq!(events, expected.events);
            prop_assert_eq!(error, None);
        }
    }

    #[test]
    fn spoiled_files_never_panic(
        index in any::<prop::sample::Index>(),
        spoils in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
    ) {
        let (name, _) = FILES[index.index(FILES.len())];
        let (file_name, mut bytes) = file(name);
        for (place, byte) in spoils {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes.truncate(end.index(bytes.len() + 1));
        let recorded = open(&[(file_name, bytes)]);
        // Something to play, or a reason why not.
        prop_assert!(recorded.start.is_some() || recorded.has_watch || recorded.error.is_some());
    }
}

const FOLDERS: [&str; 2] = ["tests/transcripts", "src/replay/lessons/recordings"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> PathBuf {
    FOLDERS
        .iter()
        .map(|folder| root().join(folder).join(format!("{name}.body")))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("no {name}.body"))
}

fn file(name: &str) -> (String, Vec<u8>) {
    (format!("{name}.body"), fs::read(path(name)).unwrap())
}

fn check(name: &str, recorded: &Recorded, expected: Outcome) {
    if let Fails(line, part) = expected {
        let error = recorded
            .error
            .as_ref()
            .unwrap_or_else(|| panic!("{name}: {recorded:?}"));
        assert_eq!(error.line, line, "{name}: {error}");
        assert!(error.message.en.contains(part), "{name}: {error}");
        assert!(
            recorded.start.is_none() && recorded.events.is_empty(),
            "{name}"
        );
        return;
    }
    assert_eq!(recorded.error, None, "{name}");
    match expected {
        List(kind, count, rv) | Page(kind, count, rv) => {
            let start = recorded
                .start
                .as_ref()
                .unwrap_or_else(|| panic!("{name}: no list"));
            assert_eq!(
                (&*start.kind, start.items.len(), &*start.rv),
                (kind, count, rv),
                "{name}"
            );
            assert_eq!(start.partial, matches!(expected, Page(..)), "{name}");
            assert!(!recorded.has_watch && recorded.events.is_empty(), "{name}");
        }
        Watch(counts, cut) => {
            assert!(recorded.has_watch && recorded.start.is_none(), "{name}");
            let (mut found, mut found_cut) = ([0; 5], None);
            for event in &recorded.events {
                match event {
                    RecordedEvent::Object { event, .. } => match event {
                        EventType::Added => found[0] += 1,
                        EventType::Modified => found[1] += 1,
                        EventType::Deleted => found[2] += 1,
                        EventType::Bookmark | EventType::Error => panic!("{name}: {event:?}"),
                    },
                    RecordedEvent::Bookmark { .. } => found[3] += 1,
                    RecordedEvent::Error { .. } => found[4] += 1,
                    RecordedEvent::Cut { bytes } => found_cut = Some(*bytes),
                }
            }
            assert_eq!((found, found_cut), (counts, cut), "{name}");
        }
        Fails(..) => unreachable!(),
    }
}
