//! Reading lists and watches, line by line and byte by byte.

use std::fs;

use deltascope::cache::fact::EventType;
use deltascope::cache::object::Object;
use deltascope::world::source::pod;
use deltascope::world::source::wire::{LineSplitter, LineTooLong, RecordedEvent, open, open_text};

use super::{file, path};

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
fn pods_keep_the_shown_fields_and_lose_managed_fields() {
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
fn errors_of_the_server_are_error_events() {
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

/// A server sends one or two causes: of a thousand only the first are kept.
#[test]
fn only_the_first_causes_are_kept() {
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
fn the_data_of_secrets_is_dropped() {
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

#[test]
fn byte_order_marks_and_line_ends_are_tolerated() {
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
    // Sorted keys, as `jq -S` writes them.
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
                // Only the
                // is missing, or nothing at all.
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
fn the_length_of_lines_is_limited() {
    let mut splitter = LineSplitter::new(3);
    let mut lines = Vec::new();
    let mut source =
        |chunk: &[u8]| splitter.push(chunk, |line, bytes| lines.push((line, bytes.to_vec())));
    assert_eq!(source(b"abc\n\na"), Ok(()));
    assert_eq!(source(b"b"), Ok(()));
    assert_eq!(source(b"c\nd"), Ok(()));
    assert_eq!(source(b"efg\n"), Err(LineTooLong { line: 4 }));
    assert_eq!(
        lines,
        [(1, b"abc".to_vec()), (2, Vec::new()), (3, b"abc".to_vec())]
    );
}
