//! Every transcript opens as expected, and the bundled recordings play.

use std::collections::BTreeSet;
use std::fs;

use deltascope::cache::fact::EventType;
use deltascope::replay::lessons::recordings::bundled;
use deltascope::world::source::wire::{Recorded, RecordedEvent, WatchReader, open, open_text};
use proptest::prelude::*;

use super::{FOLDERS, file, root};

use Outcome::{Fails, List, Page, Watch};

/// The result of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Kind and number of the items, resource version.
    List(&'static str, usize, &'static str),
    /// The same for a page that is not the last one.
    Page(&'static str, usize, &'static str),
    /// Numbers of ADDED, MODIFIED, DELETED, BOOKMARK and ERROR events, and the bytes of a cut line.
    Watch([usize; 5], Option<u32>),
    /// The line of the error, and a part of the message.
    Fails(Option<u32>, &'static str),
}

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
fn every_transcript_opens_as_expected() {
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
            // The request and the timing of the answer are in a file beside it.
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
fn text_and_bytes_are_read_the_same() {
    for (name, _) in FILES {
        let (file_name, bytes) = file(name);
        // As in a text decoder of the page, invalid UTF-8 becomes U+FFFD.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(
            open_text(&file_name, &text),
            open(&[(file_name, bytes)]),
            "{name}"
        );
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
        assert!(recording.title.iter().all(|title| !title.is_empty()));
    }
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
            let mut from = 0;
            for end in ends {
                reader.push(&bytes[from..end]);
                from = end;
            }
            prop_assert!(reader.error().is_none());
            let (events, error) = reader.finish();
            prop_assert_eq!(events, expected.events);
            prop_assert_eq!(error, None);
        }
    }
}
