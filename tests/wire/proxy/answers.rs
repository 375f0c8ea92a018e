//! The meaning of every recorded answer, in chunks of any size.

use std::collections::BTreeSet;
use std::fs;

use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::world::source::proxy::exchange::End;
use proptest::prelude::*;

use super::Ending::{Closed, Cut, CutInLine, Error};
use super::Meaning::{Later, List, Refused, Watch};
use super::{Answer, Meaning, meaning, path};

use ApiErrorKind as K;

/// The largest answer that is cut at every byte.
const SMALL: usize = 4_000;

/// Every recorded answer.
const FILES: &[(&str, Meaning)] = &[
    ("cors-get", List(2, "41584", false)),
    (
        "cors-preflight",
        Refused(
            405,
            K::Other,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resou",
        ),
    ),
    (
        "discovery-aggregated-api",
        Refused(
            200,
            K::Other,
            "",
            "items[0] cannot be used: it has no metadata.name",
        ),
    ),
    ("discovery-aggregated-apis", List(1, "", false)),
    (
        "discovery-api",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"APIVersions\" and no list of objects",
        ),
    ),
    (
        "discovery-api-v1",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"APIResourceList\" and no list of obj",
        ),
    ),
    (
        "discovery-apis",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"APIGroupList\" and no list of object",
        ),
    ),
    (
        "error-400-label",
        Refused(
            400,
            K::Other,
            "BadRequest",
            "unable to parse requirement: found '=', expected: identifier",
        ),
    ),
    (
        "error-400-limit",
        Refused(
            400,
            K::Other,
            "BadRequest",
            "strconv.ParseInt: parsing \"abc\": invalid syntax",
        ),
    ),
    (
        "error-400-rv",
        Refused(
            400,
            K::Other,
            "BadRequest",
            "invalid resource version: resourceVersion: Invalid value: \"",
        ),
    ),
    (
        "error-401",
        Refused(401, K::Unauthorized, "Unauthorized", "Unauthorized"),
    ),
    (
        "error-403-namespace",
        Refused(
            403,
            K::Forbidden,
            "Forbidden",
            "pods is forbidden: User \"jane\" cannot list resource \"pods",
        ),
    ),
    (
        "error-403-proxy-exec",
        Refused(403, K::Forbidden, "Forbidden", "Forbidden (get pods)"),
    ),
    (
        "error-404-group",
        Refused(
            404,
            K::NotFound,
            "NotFound",
            "the server could not find the requested resource (get pods)",
        ),
    ),
    (
        "error-404-pod",
        Refused(404, K::NotFound, "NotFound", "pods \"nope\" not found"),
    ),
    (
        "error-404-resource",
        Refused(
            404,
            K::NotFound,
            "NotFound",
            "the server could not find the requested resource",
        ),
    ),
    (
        "error-422-match",
        Refused(
            422,
            K::Invalid,
            "Invalid",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatc",
        ),
    ),
    ("error-429", Later(429, 1000)),
    (
        "error-500-server-down",
        Refused(
            500,
            K::InternalError,
            "InternalError",
            "an error on the server (\"dial tcp 127.0.0.1:16443: connect:",
        ),
    ),
    (
        "error-storage-stalled",
        Refused(
            500,
            K::InternalError,
            "InternalError",
            "an error on the server (\"stream error: stream ID 1; INTERNA",
        ),
    ),
    (
        "get-pod",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"Pod\" and no list of objects",
        ),
    ),
    (
        "host-rejected",
        Refused(403, K::Forbidden, "Forbidden", "Forbidden (get pods)"),
    ),
    ("list-25-limit-rv0", List(25, "41235", false)),
    ("list-25-page-1", List(10, "41232", true)),
    ("list-25-page-2", List(10, "41232", true)),
    ("list-25-page-3", List(5, "41232", false)),
    ("list-3", List(3, "41193", false)),
    ("list-3-compact", List(3, "41468", false)),
    ("list-3-rv0", List(3, "41193", false)),
    (
        "list-410-exact",
        Refused(
            410,
            K::Expired,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        ),
    ),
    ("list-accept-browser", List(3, "41193", false)),
    (
        "list-accept-not-acceptable",
        Refused(
            406,
            K::Other,
            "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: applicatio",
        ),
    ),
    ("list-all-namespaces-rv0", List(5, "41197", false)),
    (
        "list-continue-expired",
        Refused(
            410,
            K::Expired,
            "Expired",
            "The provided continue parameter is too old to display a cons",
        ),
    ),
    ("list-continue-inconsistent", List(3, "41666", true)),
    (
        "list-continue-invalid",
        Refused(
            400,
            K::Other,
            "BadRequest",
            "invalid continue token: continue key is not valid: invalid c",
        ),
    ),
    (
        "list-continue-with-rv",
        Refused(
            400,
            K::Other,
            "BadRequest",
            "specifying resource version is not allowed when using contin",
        ),
    ),
    ("list-empty", List(0, "41183", false)),
    ("list-exact", List(3, "41193", false)),
    ("list-expired-page-1", List(3, "41652", true)),
    ("list-field-selector", List(1, "41193", false)),
    (
        "list-gzip",
        Refused(
            200,
            K::Other,
            "",
            "the answer is not a JSON list (it is not UTF-8; 9710 bytes c",
        ),
    ),
    ("list-label-selector", List(1, "41193", false)),
    (
        "list-metadata",
        Refused(
            406,
            K::Other,
            "NotAcceptable",
            "you requested PartialObjectMetadata, but the requested objec",
        ),
    ),
    ("list-metadata-list", List(3, "41193", false)),
    ("list-namespaces", List(2, "41702", false)),
    ("list-notolderthan", List(3, "41193", false)),
    ("list-rv-future", Later(504, 1000)),
    ("list-rv-future-exact", Later(504, 1000)),
    (
        "list-table",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"Table\" and no list of objects",
        ),
    ),
    (
        "root",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"\" and no list of objects",
        ),
    ),
    (
        "static-404",
        Refused(
            404,
            K::NotFound,
            "NotFound",
            "the server could not find the requested resource (get pods)",
        ),
    ),
    (
        "static-index",
        Refused(
            200,
            K::Other,
            "",
            "serializer for text/html doesn't exist: this is a web page,",
        ),
    ),
    (
        "static-js",
        Refused(
            200,
            K::Other,
            "",
            "the answer is not a JSON list (expected value; 17 bytes came",
        ),
    ),
    (
        "static-redirect",
        Refused(
            301,
            K::Other,
            "",
            "the server responded with the status code 301 but did not re",
        ),
    ),
    (
        "static-wasm",
        Refused(
            200,
            K::Other,
            "",
            "the answer is not a JSON list (expected value; 8 bytes came)",
        ),
    ),
    (
        "version",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"\" and no list of objects",
        ),
    ),
    (
        "watch-410",
        Watch(
            [0, 0, 0, 0],
            Error(410, "Expired", "too old resource version: 41652 (41666)"),
        ),
    ),
    (
        "watch-410-no-cache",
        Watch(
            [0, 0, 0, 0],
            Error(
                410,
                "Expired",
                "The resourceVersion for the provided watch is too ",
            ),
        ),
    ),
    (
        "watch-410-rv1",
        Watch(
            [0, 0, 0, 0],
            Error(410, "Expired", "too old resource version: 1 (41666)"),
        ),
    ),
    (
        "watch-410-table",
        Watch(
            [0, 0, 0, 0],
            Error(410, "Expired", "too old resource version: 41652 (41666)"),
        ),
    ),
    ("watch-bookmarks", Watch([1, 3, 1, 4], Closed)),
    ("watch-bookmarks-list", List(2, "41572", false)),
    ("watch-cut", Watch([0, 1, 0, 0], CutInLine(779))),
    ("watch-large-object", Watch([3, 1, 0, 0], Closed)),
    ("watch-pod-lifecycle", Watch([2, 10, 2, 1], Closed)),
    (
        "watch-pod-lifecycle-legacy-path",
        Watch([2, 10, 2, 1], Closed),
    ),
    ("watch-pod-lifecycle-list", List(0, "41474", false)),
    ("watch-pod-lifecycle-metadata", Watch([2, 10, 2, 1], Closed)),
    (
        "watch-pod-lifecycle-phase-selector",
        Watch([1, 4, 1, 1], Closed),
    ),
    ("watch-pod-lifecycle-selector", Watch([1, 1, 1, 1], Closed)),
    (
        "watch-pod-lifecycle-table",
        Watch([0, 0, 0, 0], Error(500, "InternalError", "this is a Table")),
    ),
    ("watch-proxy-terminated", Watch([0, 1, 0, 0], Cut)),
    ("watch-resume", Watch([1, 9, 1, 0], Closed)),
    ("watch-rv-future", Watch([0, 0, 0, 0], Closed)),
    ("watch-rv-unset", Watch([4, 2, 1, 0], Closed)),
    ("watch-rv0", Watch([4, 2, 1, 0], Closed)),
    (
        "watch-rvmatch-exact",
        Refused(
            422,
            K::Invalid,
            "Invalid",
            "ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMat",
        ),
    ),
    ("watch-server-killed", Watch([0, 2, 0, 0], Cut)),
    ("watch-server-terminated", Watch([0, 1, 0, 0], Closed)),
    ("watchlist", Watch([4, 2, 1, 3], Closed)),
    ("watchlist-no-bookmarks", Watch([3, 0, 0, 0], Closed)),
    (
        "watchlist-no-match",
        Refused(
            422,
            K::Invalid,
            "Invalid",
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatc",
        ),
    ),
    (
        "watchlist-not-supported",
        Refused(
            422,
            K::Invalid,
            "Invalid",
            "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents:",
        ),
    ),
    ("watchlist-old-rv", Watch([8, 0, 0, 1], Closed)),
    (
        "watchlist-rv-future",
        Watch(
            [0, 0, 0, 0],
            Error(
                504,
                "Timeout",
                "Timeout: Too large resource version: 141572, curre",
            ),
        ),
    ),
    ("watchlist-rv0", Watch([4, 2, 1, 3], Closed)),
    (
        "write-conflict",
        Refused(
            409,
            K::Other,
            "AlreadyExists",
            "pods \"via-proxy\" already exists",
        ),
    ),
    (
        "write-create-pod",
        Refused(
            201,
            K::Other,
            "",
            "the server responded with the status code 201 but did not re",
        ),
    ),
    (
        "write-delete-pod",
        Refused(
            200,
            K::Other,
            "",
            "the answer is of kind \"Pod\" and no list of objects",
        ),
    ),
];

#[test]
fn every_answer_has_the_expected_meaning() {
    for &(name, expected) in FILES {
        let answer = Answer::of(name);
        let responses = answer.responses(&answer.chunks);
        let found = meaning(&responses);
        assert!(is_meant(found, expected), "{name}: {found:?}");
        assert_eq!(answer.responses(&[]), responses, "{name} in one piece");
    }
    let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(
        listed,
        names(),
        "what is recorded, and what is in the table"
    );
}

#[test]
fn small_answers_may_be_cut_anywhere() {
    for (name, _) in FILES {
        let answer = Answer::of(name);
        if answer.body.len() > SMALL {
            continue;
        }
        let responses = answer.responses(&[]);
        for cut in 1..answer.body.len() {
            assert!(answer.responses(&[cut]) == responses, "{name} cut at {cut}");
        }
        let everywhere: Vec<usize> = (1..answer.body.len()).collect();
        assert!(
            answer.responses(&everywhere) == responses,
            "{name} byte by byte"
        );
    }
}

/// The owner of the connection decompresses a compressed answer.
#[test]
fn a_large_list_is_read_in_chunks() {
    let mut answer = Answer::of("list-gzip");
    // The gzip header has ten bytes, the trailer eight.
    let packed = &answer.body[10..answer.body.len() - 8];
    answer.body = miniz_oxide::inflate::decompress_to_vec(packed).unwrap();
    let responses = answer.responses(&[]);
    assert!(
        matches!(meaning(&responses), List(60, "41295", false)),
        "{:?}",
        meaning(&responses)
    );
    for size in [1, 7, 4_096] {
        let cuts: Vec<usize> = (0..answer.body.len()).step_by(size).collect();
        assert!(answer.responses(&cuts) == responses, "in pieces of {size}");
    }
}

/// Texts need only contain the expected part.
fn is_meant(found: Meaning, expected: Meaning) -> bool {
    match (found, expected) {
        (Refused(code, kind, reason, text), Refused(code_, kind_, reason_, part)) => {
            (code, kind, reason) == (code_, kind_, reason_) && text.contains(part)
        }
        (Watch(counts, Error(code, reason, text)), Watch(counts_, Error(code_, reason_, part))) => {
            (counts, code, reason) == (counts_, code_, reason_) && text.contains(part)
        }
        _ => found == expected,
    }
}

fn names() -> BTreeSet<String> {
    fs::read_dir(path("root", "json").parent().unwrap())
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..60)) {
        for (name, _) in FILES {
            let answer = Answer::of(name);
            let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(answer.body.len() + 1)).collect();
            prop_assert!(answer.responses(&cuts) == answer.responses(&[]), "{}", name);
        }
    }

    /// For any input there is one answer to a list, and a watch ends once.
    #[test]
    fn corrupt_answers_are_read_or_refused(
        which in any::<prop::sample::Index>(),
        spoils in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        broken in any::<bool>(),
    ) {
        let (name, _) = FILES[which.index(FILES.len())];
        let mut answer = Answer::of(name);
        for (place, byte) in spoils {
            if !answer.body.is_empty() {
                let place = place.index(answer.body.len());
                answer.body[place] = byte;
            }
        }
        answer.body.truncate(end.index(answer.body.len() + 1));
        if broken {
            answer.end = End::Broken("reset".to_owned());
        }
        let responses = answer.responses(&[]);
        let cut = cut.index(answer.body.len() + 1);
        prop_assert!(answer.responses(&[cut]) == responses, "{} cut at {}", name, cut);
        // `meaning` panics on responses that do not fit together.
        meaning(&responses);
    }
}
