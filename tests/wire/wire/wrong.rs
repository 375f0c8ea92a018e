//! Errors in files: they are reported with their position, and the events before them play.

use std::fs;

use deltascope::world::source::wire::{
    MAX_BYTES, MAX_EVENTS, MAX_ITEMS, MAX_LINE, open, open_text,
};

use super::{file, path};

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

    // A list plays although the watch is unreadable; a watch does not play without its list.
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

const ADDED: &str = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"1"}}}"#;

#[test]
fn an_invalid_line_is_reported_and_the_events_before_it_play() {
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
fn an_invalid_document_is_reported() {
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
        // Each item is read alone: the text between two commas.
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
fn input_beyond_the_limits_is_refused() {
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

    // Too deep nesting is an error, not a stack overflow.
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
