//! What an API server and a proxy really answered, through the wire: whatever the cutting, it means
//! the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deltascope::cache::fact::{EventType, WatchEnd};
use deltascope::cache::lister_watcher::{
    ApiErrorKind, ListRequest, ResourceVersionMatch, WatchRequest,
};
use deltascope::world::source::live::{Asked, Page, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::proxy::discovery::{self, Discovery, Found};
use deltascope::world::source::proxy::exchange::{
    Deadlines, End, Exchange, Head, MAX_RETRIES, Phase,
};
use deltascope::world::source::proxy::list::Excess;
use deltascope::world::source::proxy::target::{self, Resource, Target};
use deltascope::world::source::proxy::{list, request};
use deltascope::world::source::wire::{MAX_LINE, RecordedEvent};
use proptest::prelude::*;
use serde_json::Value;

/// What a file must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Objects, version, and whether there is a next page.
    List(usize, &'static str, bool),
    /// ADDED, MODIFIED, DELETED, BOOKMARK and how it ends.
    Watch([usize; 4], Ending),
    /// Code, class, reason and a part of the text.
    Refused(u16, ApiErrorKind, &'static str, &'static str),
    /// To be asked again: code and ms.
    Later(u16, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Closed,
    Cut,
    CutInLine(u32),
    /// An ERROR event of this code, reason and a part of its text.
    Error(u16, &'static str, &'static str),
}
use ApiErrorKind as K;
use Ending::{Closed, Cut, CutInLine, Error};
use Meaning::{Later, List, Refused, Watch};

/// Up to so many bytes an answer is cut at each of them.
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
fn every_answer_means_what_it_should() {
    for &(name, expected) in FILES {
        let answer = Answer::of(name);
        let told = answer.told(&answer.chunks);
        let found = meaning(&told);
        assert!(is_meant(found, expected), "{name}: {found:?}");
        assert_eq!(answer.told(&[]), told, "{name} in one piece");
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
        let told = answer.told(&[]);
        for cut in 1..answer.body.len() {
            assert!(answer.told(&[cut]) == told, "{name} cut at {cut}");
        }
        let everywhere: Vec<usize> = (1..answer.body.len()).collect();
        assert!(answer.told(&everywhere) == told, "{name} byte by byte");
    }
}

/// A compressed answer is unpacked by whoever owns the wire.
#[test]
fn a_large_list_is_read_as_it_comes() {
    let mut answer = Answer::of("list-gzip");
    // What stands around the compressed bytes: ten before, eight after.
    let packed = &answer.body[10..answer.body.len() - 8];
    answer.body = miniz_oxide::inflate::decompress_to_vec(packed).unwrap();
    let told = answer.told(&[]);
    assert!(
        matches!(meaning(&told), List(60, "41295", false)),
        "{:?}",
        meaning(&told)
    );
    for size in [1, 7, 4_096] {
        let cuts: Vec<usize> = (0..answer.body.len()).step_by(size).collect();
        assert!(answer.told(&cuts) == told, "in pieces of {size}");
    }
}

#[test]
fn requests_are_those_of_a_reflector() {
    let list = |rv: &str, limit, token: &str| {
        Asked::List(ListRequest {
            resource_version: rv.into(),
            limit,
            continue_token: token.into(),
            ..ListRequest::default()
        })
    };
    let watch = |rv: &str, initial: Option<bool>| {
        Asked::Watch(WatchRequest {
            resource_version: rv.into(),
            resource_version_match: initial.map(|_| ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: initial,
            timeout: Duration::from_secs(401),
        })
    };
    let deployments = Target {
        base: "http://127.0.0.1:8001/".to_owned(),
        resource: resource("apps", "v1", "Deployment", "deployments"),
        namespace: Some("default".to_owned()),
        label_selector: "app in (a, b)".to_owned(),
        field_selector: "metadata.name=x".to_owned(),
        metadata_only: true,
    };
    let selectors = "fieldSelector=metadata.name%3Dx&labelSelector=app+in+%28a%2C+b%29";
    let of_apps = "http://127.0.0.1:8001/apis/apps/v1/namespaces/default/deployments";
    for (target, asked, url) in [
        (
            &pods(),
            list("0", 500, ""),
            "/api/v1/pods?limit=500&pretty=false&resourceVersion=0".to_owned(),
        ),
        (&pods(), list("", 0, ""), "/api/v1/pods?pretty=false".to_owned()),
        (
            &pods(),
            list("41", 0, ""),
            "/api/v1/pods?resourceVersion=41&pretty=false".to_owned(),
        ),
        (
            &pods(),
            list("", 500, "a+/="),
            "/api/v1/pods?limit=500&continue=a%2B%2F%3D&pretty=false".to_owned(),
        ),
        (
            &pods(),
            watch("41", None),
            "/api/v1/pods?watch=true&timeoutSeconds=401&allowWatchBookmarks=true&resourceVersion=41&pretty=false".to_owned(),
        ),
        (
            &pods(),
            watch("", Some(true)),
            "/api/v1/pods?watch=true&timeoutSeconds=401&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&pretty=false".to_owned(),
        ),
        (
            &deployments,
            list("0", 0, ""),
            format!("{of_apps}?{selectors}&resourceVersion=0&pretty=false"),
        ),
        (
            &deployments,
            watch("9", None),
            format!("{of_apps}?watch=true&timeoutSeconds=401&{selectors}&allowWatchBookmarks=true&resourceVersion=9&pretty=false"),
        ),
    ] {
        let request = request::of(target, &asked).unwrap();
        assert_eq!(request.url, url);
        let kind = match (target.metadata_only, &asked) {
            (false, _) => "application/json",
            (true, Asked::List(_)) => "application/json;as=PartialObjectMetadataList;",
            (true, Asked::Watch(_)) => "application/json;as=PartialObjectMetadata;",
        };
        assert!(request.accept.starts_with(kind), "{}", request.accept);
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_it_is_sent() {
    let of = |change: fn(&mut Target)| {
        let mut target = pods();
        change(&mut target);
        target
    };
    for target in [
        of(|target| target.base = "javascript:alert(1)/".to_owned()),
        of(|target| target.base = "//evil.example/".to_owned()),
        of(|target| target.namespace = Some("a/../secrets?".to_owned())),
        of(|target| target.resource.plural = "pods/x".to_owned()),
        of(|target| target.resource.plural = "..".to_owned()),
        of(|target| target.label_selector = "a===b".to_owned()),
        of(|target| target.field_selector = "x".repeat(100_000)),
        of(|target| {
            target.resource.namespaced = false;
            target.namespace = Some("default".to_owned());
        }),
    ] {
        let words = target.check().unwrap_err();
        assert!(!words.en.is_empty() && !words.zh.is_empty());
        let mut exchange = Exchange::new(&target, &wanted(false), Deadlines::default(), 5);
        assert_eq!(
            (exchange.phase(), exchange.due()),
            (Phase::Waiting(5), Some(5))
        );
        let told = exchange.timeout(5);
        assert!(matches!(meaning(&told), Refused(0, ..)), "{told:?}");
        assert_eq!(exchange.phase(), Phase::Done);
    }
    for (text, base) in [
        ("", Some("/")),
        ("/", Some("/")),
        (" /k8s ", Some("/k8s/")),
        ("http://127.0.0.1:8001", Some("http://127.0.0.1:8001/")),
        ("http://[::1]:8001/k8s/", Some("http://[::1]:8001/k8s/")),
        ("ftp://a/", None),
        ("k8s", None),
        ("http:///", None),
        ("/a?b", None),
    ] {
        assert_eq!(target::base(text).ok().as_deref(), base, "{text}");
    }
}

#[test]
fn a_server_that_says_when_is_asked_again_ten_times() {
    let busy = Answer::of("error-429");
    let mut exchange = busy.exchange();
    let mut now = 0;
    for attempt in 1..=MAX_RETRIES {
        assert_eq!(exchange.phase(), Phase::Send);
        assert_eq!(exchange.request().url, "/api/v1/pods?pretty=false");
        exchange.sent(now);
        assert_eq!(exchange.phase(), Phase::Reading);
        let told = exchange.head(now, &busy.head);
        let later = ResponsePart::Later {
            code: 429,
            after_ms: 1_000,
            attempt,
        };
        assert_eq!(
            told,
            [ServerResponse {
                request: 7,
                told: later
            }]
        );
        assert_eq!(exchange.phase(), Phase::Waiting(now + 1_000));
        // What the connection still brings says nothing more.
        assert_eq!(exchange.chunk(now, b"busy"), []);
        assert_eq!(exchange.end(now, End::Complete), []);
        assert_eq!(exchange.timeout(now + 999), []);
        now += 1_000;
        assert_eq!(exchange.due(), Some(now));
        assert_eq!(exchange.timeout(now), []);
    }
    exchange.sent(now);
    let mut told = exchange.head(now, &busy.head);
    told.extend(exchange.chunk(now, &busy.body));
    told.extend(exchange.end(now, End::Complete));
    let found = meaning(&told);
    assert!(
        matches!(found, Refused(429, K::TooManyRequests, ..)),
        "{found:?}"
    );
    assert_eq!((exchange.phase(), exchange.due()), (Phase::Done, None));

    // Only with a number, and only of these classes.
    for (status, retry_after, later) in [
        (503, "2", Some(2_000)),
        (500, "0", Some(0)),
        (429, "-5", Some(0)),
        (429, "", None),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", None),
        (404, "1", None),
        (302, "1", None),
        (503, "99999999999", Some(3_600_000)),
    ] {
        let mut answer = Answer::of("error-429");
        answer.head.status = status;
        answer.head.retry_after = retry_after.to_owned();
        let found = meaning(&answer.told(&[]));
        match later {
            Some(ms) => assert_eq!(found, Later(status, ms)),
            None => assert!(
                matches!(found, Refused(code, ..) if code == status),
                "{found:?}"
            ),
        }
    }
}

#[test]
fn what_stays_silent_is_given_up() {
    let deadlines = Deadlines {
        list_ms: 100,
        watch_ms: 300,
        over_ms: 50,
        ..Deadlines::default()
    };
    let fresh = |watch| Exchange::new(&pods(), &wanted(watch), deadlines, 10);
    // No answer at all.
    for watch in [false, true] {
        let mut exchange = fresh(watch);
        exchange.sent(20);
        assert_eq!((exchange.due(), exchange.last_heard()), (Some(120), 10));
        assert_eq!(exchange.timeout(119), []);
        let found = meaning(&exchange.timeout(120));
        assert!(
            matches!(found, Refused(0, K::ConnectionRefused, ..)),
            "{found:?}"
        );
        assert_eq!(exchange.phase(), Phase::Done);
    }
    // Bytes of any kind count.
    let lifecycle = Answer::of("watch-pod-lifecycle");
    let mut exchange = fresh(true);
    exchange.sent(20);
    assert_eq!(exchange.head(50, &lifecycle.head).len(), 1);
    // Without a bookmark nobody knows that others will come: the watch's own time counts.
    assert_eq!(exchange.due(), Some(350));
    let mut quiet = fresh(true);
    let mut asked = wanted(true);
    if let Asked::Watch(watch) = &mut asked.ask {
        watch.timeout = Duration::from_secs(400);
        quiet = Exchange::new(&pods(), &asked, deadlines, 10);
    }
    quiet.sent(20);
    quiet.head(50, &lifecycle.head);
    assert_eq!(quiet.due(), Some(400_100));
    let bookmark =
        b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n";
    assert_eq!(quiet.chunk(60, bookmark).len(), 1);
    assert_eq!(quiet.due(), Some(360));
    // The one that ends the initial events says nothing of others: a server without a watch cache sends it.
    let mut events = Exchange::new(&pods(), &asked, deadlines, 10);
    events.sent(20);
    events.head(50, &lifecycle.head);
    let end = b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n";
    assert_eq!(events.chunk(60, end).len(), 1);
    assert_eq!(events.due(), Some(400_110));
    // What is held back is not silent.
    quiet.held(300);
    assert_eq!((quiet.due(), quiet.last_heard()), (Some(600), 60));
    assert_eq!(exchange.chunk(200, &lifecycle.body[..7]), []);
    assert_eq!((exchange.due(), exchange.last_heard()), (Some(500), 200));
    let told = exchange.timeout(500);
    assert!(matches!(
        told[..],
        [ServerResponse {
            told: ResponsePart::Ended(WatchEnd::Silent),
            ..
        }]
    ));
    assert_eq!(exchange.chunk(501, &lifecycle.body[7..]), []);
    // In the middle of a list.
    let list = Answer::of("list-3");
    let mut exchange = fresh(false);
    assert_eq!(exchange.head(50, &list.head), []);
    assert_eq!(exchange.chunk(60, &list.body[..9_000]), []);
    let found = meaning(&exchange.timeout(160));
    assert!(matches!(found, Refused(0, ..)), "{found:?}");
}

#[test]
fn a_connection_may_break_at_any_time() {
    let broken = End::Broken("connection reset by peer".to_owned());
    for name in ["list-3", "watch-pod-lifecycle", "error-401"] {
        let answer = Answer::of(name);
        let mut exchange = answer.exchange();
        let found = meaning(&exchange.end(3, broken.clone()));
        assert!(
            matches!(found, Refused(0, K::ConnectionRefused, ..)),
            "{found:?}"
        );
        assert_eq!(exchange.end(3, broken.clone()), []);
    }
    let mut list = Answer::of("list-3");
    list.body.truncate(12_000);
    list.end = broken.clone();
    let found = meaning(&list.told(&[]));
    assert!(
        matches!(found, Refused(0, K::Other, "", text) if text.contains("reset by peer")),
        "{found:?}"
    );
    // Half a list that looks whole to the network is none either.
    list.end = End::Complete;
    assert!(matches!(meaning(&list.told(&[])), Refused(200, ..)));
    // Half a Status is no reason to forget the code.
    let mut denied = Answer::of("error-401");
    denied.body.truncate(20);
    denied.end = broken;
    let found = meaning(&denied.told(&[]));
    assert!(
        matches!(found, Refused(401, K::Unauthorized, ..)),
        "{found:?}"
    );
}

#[test]
fn an_event_that_cannot_be_read_ends_the_watch_with_an_error() {
    let good =
        r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}"#;
    let mut long = br#"{"type":"ADDED","object":{"x":""#.to_vec();
    long.resize(MAX_LINE + 1, b'x');
    for (line, part) in [
        (&b"404 page not found"[..], "trailing characters"),
        (br#"{"type":"BOOM","object":{}}"#, "BOOM"),
        (
            br#"{"type":"ADDED","object":{"kind":"Pod"}}"#,
            "no metadata.name",
        ),
        (br#"{"type":"ADDED""#, "unexpected EOF"),
        (b"{\"type\":\"\xff\"}", "invalid UTF-8"),
        (b"<html>", "expected value"),
        (&long, "longer than 8388608 bytes"),
    ] {
        let mut answer = Answer::of("watch-rv0");
        answer.body = [good.as_bytes(), line, good.as_bytes()].join(&b"\n"[..]);
        let told = answer.told(&[]);
        let found = meaning(&told);
        assert!(
            matches!(found, Watch([1, 0, 0, 0], Error(500, "InternalError", text)) if text.contains(part)),
            "{found:?}"
        );
        let ResponsePart::Event(RecordedEvent::Error { causes, .. }) = &told[2].told else {
            panic!("{found:?}");
        };
        assert!(causes.iter().any(|cause| cause == "ClientWatchDecoding"));
        let middle = answer.body.len() / 2;
        assert!(answer.told(&[1, middle]) == told);
    }
    // The last line needs no end, and empty ones say nothing.
    let mut answer = Answer::of("watch-rv0");
    answer.body = format!("\n\r\n{good}\r\n\n{good}").into_bytes();
    assert_eq!(meaning(&answer.told(&[])), Watch([2, 0, 0, 0], Closed));
    answer.end = End::Broken(String::new());
    assert_eq!(meaning(&answer.told(&[])), Watch([2, 0, 0, 0], Cut));
}

#[test]
fn a_list_is_read_in_any_order_and_bounded() {
    let told = |body: &str| {
        let mut answer = Answer::of("list-3");
        answer.body = body.as_bytes().to_vec();
        meaning(&answer.told(&[]))
    };
    // Custom resources have their keys in order; items say themselves what they are.
    for body in [
        r#"{"apiVersion":"a/v1","items":[{"kind":"A","metadata":{"name":"]}\"[{"}},{"kind":"A","metadata":{"name":"b"}}],"kind":"AList","metadata":{"resourceVersion":"5"}}"#,
        r#" { "metadata":{"resourceVersion":"5"}, "x":["items",{"items":[1]}], "kind":"AList", "items" : [ {"metadata":{"name":"a"}} , {"metadata":{"name":"b"}} ] } "#,
    ] {
        assert_eq!(told(body), List(2, "5", false), "{body}");
    }
    for body in [
        r#"{"kind":"AList","items":[]}"#,
        r#"{"kind":"AList","metadata":{},"items":null}"#,
    ] {
        assert_eq!(told(body), List(0, "", false), "{body}");
    }
    for (body, part) in [
        ("", "0 bytes came"),
        ("[]", "not a JSON object"),
        (r#"{"kind":"AList"}"#, "no list of objects"),
        (r#"{"kind":"AList","items":[1]}"#, "items[0] cannot be used"),
        (r#"{"kind":"AList","items":[{}]}"#, "no metadata.name"),
        (
            r#"{"kind":"AList","items":[{"metadata":{"name":"a"}}]"#,
            "not a JSON list",
        ),
        (
            r#"{"kind":"AList","items":[{"metadata":{"name":"a"}}"#,
            "not a JSON list",
        ),
        (r#"{"kind":"AList","items":[]} {}"#, "not a JSON list"),
        ("<!doctype html>", "not a JSON list"),
        (&"[".repeat(70_000), "bytes around the objects"),
    ] {
        let found = told(body);
        assert!(
            matches!(found, Refused(200, K::Other, "", text) if text.contains(part)),
            "{part}: {found:?}"
        );
    }
    let counted = br#"{"kind":"PodList","metadata":{"remainingItemCount":41},"items":[{"metadata":{"name":"a"}}]}"#;
    assert_eq!(list::count(counted), Some(42));
    assert_eq!(list::names(counted), Some(vec!["a".to_owned()]));
    assert_eq!(list::count(b"<html>"), None);
}

/// A list of so many objects.
fn list_of(count: usize) -> Vec<u8> {
    let items = vec![r#"{"metadata":{"name":"a"}}"#; count].join(",");
    format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#)
        .into_bytes()
}

fn answer(exchange: &mut Exchange, now: u64, status: u16, body: &[u8]) -> Vec<ServerResponse> {
    let head = Head {
        status,
        content_type: "application/json".to_owned(),
        ..Head::default()
    };
    exchange.sent(now);
    let mut told = exchange.head(now, &head);
    if exchange.phase() != Phase::Reading {
        // Whoever owns the wire has closed it.
        return told;
    }
    told.extend(exchange.chunk(now, body));
    told.extend(exchange.end(now, End::Complete));
    told
}

#[test]
fn what_does_not_fit_is_asked_for_again_once_it_does() {
    let deadlines = Deadlines {
        count_ms: 1_000,
        blind_ms: 9_000,
        ..Deadlines::default()
    };
    let fresh = |target: &Target, wanted: &Wanted| Exchange::new(target, wanted, deadlines, 0);
    let counted = |more: usize| {
        format!(r#"{{"kind":"PodList","metadata":{{"remainingItemCount":{more}}},"items":[{{"metadata":{{"name":"a"}}}}]}}"#)
            .into_bytes()
    };
    let is_count = |exchange: &Exchange| exchange.request().url.contains("limit=1&");
    // The first answer, or (a streaming list) the world says that it was too much.
    let mut streamed = wanted(true);
    streamed.too_much = true;
    for wanted in [wanted(false), streamed] {
        let mut exchange = fresh(&pods(), &wanted);
        if !wanted.too_much {
            let told = answer(&mut exchange, 0, 200, &list_of(list::MAX_OBJECTS + 1));
            assert_eq!(told, []);
        }
        assert_eq!(exchange.excess(), Some((Excess::Objects, None)));
        // Then it looks how many there are, and nothing else: also where nobody answers, and where they
        // are one too many still.
        let mut now = 1_000;
        for (status, body, count) in [
            (200, counted(list::MAX_OBJECTS), Some(50_001)),
            (500, b"nobody".to_vec(), Some(50_001)),
            (200, b"{}".to_vec(), Some(50_001)),
            (200, counted(list::MAX_OBJECTS + 9), Some(50_010)),
        ] {
            assert_eq!(exchange.phase(), Phase::Waiting(now));
            assert_eq!(exchange.timeout(now - 1), []);
            assert_eq!(exchange.timeout(now), []);
            assert_eq!(exchange.phase(), Phase::Send);
            assert!(is_count(&exchange), "{}", exchange.request().url);
            assert_eq!(answer(&mut exchange, now, status, &body), []);
            assert_eq!(exchange.excess(), Some((Excess::Objects, count)));
            now += 1_000;
        }
        // A look that is lost, or that nobody answers, is one as well.
        exchange.timeout(now);
        exchange.sent(now);
        assert_eq!(exchange.end(now, End::Broken("reset".to_owned())), []);
        exchange.timeout(now + 1_000);
        exchange.sent(now + 1_000);
        now = exchange.due().unwrap();
        assert_eq!(exchange.timeout(now), []);
        assert_eq!(exchange.phase(), Phase::Waiting(now + 1_000));
        // They fit: what was wanted is asked for.
        exchange.timeout(now + 1_000);
        let told = answer(
            &mut exchange,
            now + 1_000,
            200,
            &counted(list::MAX_OBJECTS - 1),
        );
        assert_eq!((told, exchange.excess()), (vec![], None));
        assert_eq!(exchange.phase(), Phase::Send);
        assert!(!is_count(&exchange));
        if !wanted.too_much {
            let told = answer(&mut exchange, now + 1_000, 200, &list_of(list::MAX_OBJECTS));
            assert_eq!(meaning(&told), List(list::MAX_OBJECTS, "5", false));
        }
    }
    // Who may not look is told so in answer to what was wanted.
    let mut exchange = fresh(&pods(), &wanted(false));
    answer(&mut exchange, 0, 200, &list_of(list::MAX_OBJECTS + 1));
    exchange.timeout(1_000);
    assert_eq!(answer(&mut exchange, 1_000, 403, b"{}"), []);
    assert_eq!(exchange.phase(), Phase::Send);
    assert!(!is_count(&exchange));

    // What no server counts is asked for whole, more seldom: what has selectors, and bytes.
    let selected = Target {
        label_selector: "app=web".to_owned(),
        ..pods()
    };
    let long = format!(
        r#"{{"kind":"AList","items":[{{"x":"{}"}}]}}"#,
        "x".repeat(MAX_LINE)
    );
    for (target, body, excess) in [
        (selected, list_of(list::MAX_OBJECTS + 1), Excess::Objects),
        (pods(), long.into_bytes(), Excess::Object),
    ] {
        let mut exchange = fresh(&target, &wanted(false));
        assert_eq!(answer(&mut exchange, 0, 200, &body), []);
        assert_eq!(exchange.excess(), Some((excess, None)));
        assert_eq!(exchange.phase(), Phase::Waiting(9_000));
        exchange.timeout(9_000);
        assert!(!is_count(&exchange) && exchange.excess().is_none());
    }

    // The pages of a list count together.
    let mut page = wanted(false);
    page.has = list::MAX_OBJECTS - 2;
    let mut exchange = fresh(&pods(), &page);
    assert_eq!(answer(&mut exchange, 0, 200, &list_of(3)), []);
    assert_eq!(exchange.excess(), Some((Excess::Objects, None)));
}

#[test]
fn old_and_new_servers_have_the_same_resources() {
    let recorded = |kind: &'static str| {
        move |path: &str| {
            let name = match (path, kind) {
                ("/api", "new") => "discovery-aggregated-api",
                ("/apis", "new") => "discovery-aggregated-apis",
                ("/api", _) => "discovery-api",
                ("/apis", _) => "discovery-apis",
                ("/api/v1", _) => "discovery-api-v1",
                _ => "error-404-group",
            };
            let answer = Answer::of(name);
            Ok((answer.head, answer.body))
        }
    };
    let new = discovered(recorded("new"));
    let names = |found: &Found| {
        found
            .resources
            .iter()
            .map(Resource::name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&new),
        ["configmaps", "namespaces", "pods", "deployments.apps"]
    );
    assert_eq!(new.errors, []);
    let old = discovered(recorded("old"));
    assert_eq!(old.resources, new.resources[..3]);
    // Of the group there is no answer.
    let [error] = &old.errors[..] else {
        panic!("{:?}", old.errors);
    };
    assert!(error.en.contains("404"), "{error:?}");
}

#[test]
fn what_fails_hides_nothing_else() {
    let group = |name: &str, versions: &str| {
        format!(r#"{{"metadata":{{"name":"{name}"}},"versions":[{versions}]}}"#)
    };
    let version = |version: &str, freshness: &str, resources: &str| {
        format!(r#"{{"version":"{version}","freshness":"{freshness}","resources":[{resources}]}}"#)
    };
    let resource = |name: &str, verbs: &str| {
        format!(
            r#"{{"resource":"{name}","responseKind":{{"kind":"K{name}"}},"scope":"Namespaced","verbs":[{verbs}]}}"#
        )
    };
    let all = r#""list","watch""#;
    let groups = [
        group(
            "g.io",
            &[
                version(
                    "v2",
                    "Current",
                    &[resource("b", all), resource("w", r#""watch""#)].join(","),
                ),
                version(
                    "v1",
                    "Current",
                    &[resource("a", all), resource("b", all), resource("w", all)].join(","),
                ),
            ]
            .join(","),
        ),
        group("stale.io", &version("v1", "Stale", "")),
        group("gone.io", &version("v1", "Stale", &resource("old", all))),
    ]
    .join(",");
    let list = |items: &str| format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{items}]}}"#);
    let of_pods = group("", &version("v1", "Current", &resource("pods", all)));
    let json = Head {
        status: 200,
        content_type: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            .to_owned(),
        ..Head::default()
    };
    let answer = |text: String| Ok((json.clone(), text.into_bytes()));
    let found = discovered(|path| {
        match path {
        "/api" => answer(list(&of_pods)),
        "/apis" => answer(list(&groups)),
        "/apis/stale.io/v1" => answer(
            r#"{"kind":"APIResourceList","resources":[{"name":"fresh","kind":"F","namespaced":true,"verbs":["list","watch"]},{"name":"fresh/status","kind":"F","verbs":["list","watch"]}]}"#.to_owned(),
        ),
        _ => Err("no route".to_owned()),
    }
    });
    let names: Vec<String> = found
        .resources
        .iter()
        .map(|resource| format!("{}/{}", resource.name(), resource.version))
        .collect();
    assert_eq!(
        names,
        [
            "pods/v1",
            "b.g.io/v2",
            "a.g.io/v1",
            "w.g.io/v1",
            "fresh.stale.io/v1",
            "old.gone.io/v1"
        ]
    );
    let [error] = &found.errors[..] else {
        panic!("{:?}", found.errors);
    };
    assert!(
        error.en.contains("apis/gone.io/v1") && error.en.contains("no route"),
        "{error:?}"
    );
    assert!(error.zh.contains("没有应答"), "{error:?}");

    // Half of the API, and none at all.
    let forbidden = Answer::of("error-403-namespace");
    let found = discovered(|path| match path {
        "/api" => answer(list(&of_pods)),
        _ => Ok((forbidden.head.clone(), forbidden.body.clone())),
    });
    assert_eq!((found.resources.len(), found.errors.len()), (1, 1));
    let page = Answer::of("static-index");
    let found = discovered(|_| Ok((page.head.clone(), page.body.clone())));
    assert_eq!((found.resources.len(), found.errors.len()), (0, 2));
    assert!(found.errors[0].en.contains("there is no API here"));
    let found = discovered(|_| answer(list("")));
    assert_eq!((found.resources.len(), found.errors.len()), (0, 1));
    for spoiled in [
        "",
        "[]",
        "{}",
        r#"{"kind":"APIGroupList","groups":[1,{},{"name":2,"versions":[{}]}]}"#,
    ] {
        let found = discovered(|_| answer(spoiled.to_owned()));
        assert!(
            found.resources.is_empty() && !found.errors.is_empty(),
            "{spoiled}"
        );
    }
}

#[test]
fn resources_have_the_names_that_kubectl_takes() {
    let with = |group: &str, kind: &str, plural: &str, short: &str| Resource {
        singular: kind.to_ascii_lowercase(),
        short_names: vec![short.to_owned()],
        ..resource(group, "v1", kind, plural)
    };
    let resources = [
        with("", "Pod", "pods", "po"),
        with("", "Event", "events", "ev"),
        with("apps", "Deployment", "deployments", "deploy"),
        with("events.k8s.io", "Event", "events", "ev"),
        with("metrics.k8s.io", "PodMetrics", "podmetrics", "pods"),
    ];
    for (text, name) in [
        ("pods", Some("pods")),
        ("Pod", Some("pods")),
        ("po", Some("pods")),
        (" PODS ", Some("pods")),
        ("pods.v1", Some("pods")),
        ("deployments.apps", Some("deployments.apps")),
        ("deployment.v1.apps", Some("deployments.apps")),
        ("deploy", Some("deployments.apps")),
        ("events", Some("events")),
        ("events.events.k8s.io", Some("events.events.k8s.io")),
        ("ev.v1.events.k8s.io", Some("events.events.k8s.io")),
        ("deployments.v2.apps", None),
        ("", None),
        ("pod.apps", None),
    ] {
        let found = discovery::find(&resources, text);
        assert_eq!(
            found.as_ref().map(|found| found.name()).ok().as_deref(),
            name,
            "{text}"
        );
        if let Err(words) = found {
            assert!(
                words.en.contains("It has: ") && words.zh.contains("它有："),
                "{words:?}"
            );
        }
    }
}

/// What is found where each GET is answered so.
fn discovered(answer: impl Fn(&str) -> Result<(Head, Vec<u8>), String>) -> Found {
    let mut discovery = Discovery::new("/");
    while let Some(ask) = discovery.next_ask() {
        assert!(!discovery.is_done());
        assert!(ask.request.accept.ends_with("application/json"));
        match answer(&ask.request.url) {
            Ok((head, body)) => discovery.answer(ask.id, Ok((&head, &body))),
            Err(why) => discovery.answer(ask.id, Err(&why)),
        }
    }
    assert!(discovery.is_done());
    discovery.finish()
}

/// A recorded answer.
struct Answer {
    watch: bool,
    target: Target,
    head: Head,
    end: End,
    body: Vec<u8>,
    /// Where its chunks ended.
    chunks: Vec<usize>,
}

impl Answer {
    fn of(name: &str) -> Self {
        let text = fs::read_to_string(path(name, "json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let response = &file["response"];
        let header = |name: &str| -> String {
            let headers = response["headers"].as_array().unwrap();
            let found = headers
                .iter()
                .find(|header| header[0].as_str().unwrap().eq_ignore_ascii_case(name));
            found.map_or_else(String::new, |header| header[1].as_str().unwrap().to_owned())
        };
        let request = &file["request"];
        let query = request["query"].as_str().unwrap_or_default();
        let accept = request["headers"]["Accept"].as_str().unwrap_or_default();
        let chunks = file["chunks"].as_array().unwrap().iter();
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        Self {
            watch: query.contains("watch=true")
                || request["path"].as_str().unwrap().contains("/watch/"),
            target: Target {
                metadata_only: accept.contains("PartialObjectMetadata"),
                ..pods()
            },
            head: Head {
                status: response["status"].as_u64().unwrap().try_into().unwrap(),
                content_type: header("Content-Type"),
                retry_after: header("Retry-After"),
            },
            end: match response["end"].as_str().unwrap() {
                "complete" => End::Complete,
                why => End::Broken(why.to_owned()),
            },
            body: fs::read(path(name, "body")).unwrap(),
            chunks: chunks
                .map(|chunk| number(&chunk["offset"]) + number(&chunk["length"]))
                .collect(),
        }
    }

    fn exchange(&self) -> Exchange {
        Exchange::new(&self.target, &wanted(self.watch), Deadlines::default(), 0)
    }

    /// What is told where the body comes in pieces that end there.
    fn told(&self, cuts: &[usize]) -> Vec<ServerResponse> {
        let mut exchange = self.exchange();
        exchange.sent(0);
        let mut told = exchange.head(0, &self.head);
        let mut from = 0;
        let mut ends: Vec<usize> = cuts.iter().map(|end| *end.min(&self.body.len())).collect();
        ends.push(self.body.len());
        ends.sort_unstable();
        for end in ends {
            told.extend(exchange.chunk(0, &self.body[from..end]));
            from = end;
        }
        told.extend(exchange.end(0, self.end.clone()));
        told
    }
}

/// Texts need only begin so.
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

fn meaning(told: &[ServerResponse]) -> Meaning {
    assert!(told.iter().all(|telling| telling.request == 7));
    let told: Vec<&ResponsePart> = told.iter().map(|telling| &telling.told).collect();
    let text = |text: &str| -> &'static str { text.to_owned().leak() };
    match told[..] {
        [
            ResponsePart::Page(Page {
                rv,
                items,
                continue_token,
            }),
        ] => List(items.len(), text(rv), !continue_token.is_empty()),
        [ResponsePart::Refused(error)] => Refused(
            error.code,
            error.kind,
            text(&error.reason),
            text(&error.message),
        ),
        [
            ResponsePart::Later {
                code,
                after_ms,
                attempt,
            },
        ] => {
            assert_eq!(*attempt, 1);
            Later(*code, *after_ms)
        }
        [ResponsePart::Opened, ref events @ ..] => {
            let (mut counts, mut ending) = ([0; 4], None);
            for event in events {
                assert_eq!(ending, None, "something comes after the end");
                match event {
                    ResponsePart::Event(RecordedEvent::Object { event, .. }) => match event {
                        EventType::Added => counts[0] += 1,
                        EventType::Modified => counts[1] += 1,
                        EventType::Deleted => counts[2] += 1,
                        EventType::Bookmark | EventType::Error => panic!("{event:?}"),
                    },
                    ResponsePart::Event(RecordedEvent::Bookmark { .. }) => counts[3] += 1,
                    ResponsePart::Event(RecordedEvent::Error {
                        code,
                        reason,
                        message,
                        ..
                    }) => ending = Some(Error(*code, text(reason), text(message))),
                    ResponsePart::Ended(WatchEnd::Closed) => ending = Some(Closed),
                    ResponsePart::Ended(WatchEnd::Cut) => ending = Some(Cut),
                    ResponsePart::Ended(WatchEnd::CutInLine(bytes)) => {
                        ending = Some(CutInLine(*bytes))
                    }
                    other => panic!("a watch told {other:?}"),
                }
            }
            Watch(counts, ending.expect("a watch ends"))
        }
        _ => panic!("{} tellings that make no answer", told.len()),
    }
}

fn pods() -> Target {
    Target {
        base: "/".to_owned(),
        resource: resource("", "v1", "Pod", "pods"),
        ..Target::default()
    }
}

fn resource(group: &str, version: &str, kind: &str, plural: &str) -> Resource {
    Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: true,
        ..Resource::default()
    }
}

fn wanted(watch: bool) -> Wanted {
    let ask = if watch {
        Asked::Watch(WatchRequest::default())
    } else {
        Asked::List(ListRequest::default())
    };
    Wanted {
        request: 7,
        ask,
        has: 0,
        too_much: false,
    }
}

fn path(name: &str, extension: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/transcripts")
        .join(format!("{name}.{extension}"))
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

/// Where the data of a Secret, or a copy of it, may stand; and what stands there.
const PLACES: &[(&[&str], &str)] = &[
    (&["data"], r#"{"password":"hunter2"}"#),
    (&["stringData"], r#"{"password":"hunter2"}"#),
    (&["binaryData"], r#"{"password":"hunter2"}"#),
    (&["spec"], r#"{"template":{"data":"hunter2"}}"#),
    (
        &["metadata", "annotations"],
        r#"{"kubectl.kubernetes.io/last-applied-configuration":"hunter2","kapp.k14s.io/original":"hunter2"}"#,
    ),
    (
        &["metadata", "managedFields"],
        r#"[{"fieldsV1":{"f:data":"hunter2"}}]"#,
    ),
    (&["metadata", "labels"], r#"{"app":["hunter2"]}"#),
    (&["metadata", "namespace"], r#"["hunter2"]"#),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunks_do_not_matter(cuts in prop::collection::vec(any::<prop::sample::Index>(), 1..60)) {
        for (name, _) in FILES {
            let answer = Answer::of(name);
            let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(answer.body.len() + 1)).collect();
            prop_assert!(answer.told(&cuts) == answer.told(&[]), "{}", name);
        }
    }

    /// Whatever comes, there is one answer to a list, and a watch ends once.
    #[test]
    fn spoiled_answers_are_answers(
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
        let told = answer.told(&[]);
        let cut = cut.index(answer.body.len() + 1);
        prop_assert!(answer.told(&[cut]) == told, "{} cut at {}", name, cut);
        // It says itself what does not fit.
        meaning(&told);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// What a Secret or a ConfigMap holds is left behind, wherever it stands and however it is spoiled.
    #[test]
    fn data_stays_on_the_wire(
        of_config in any::<bool>(),
        metadata_only in any::<bool>(),
        watch in any::<bool>(),
        says_kind in 0..4_u8,
        places in prop::collection::vec(any::<bool>(), PLACES.len()),
        spoil in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (kind, plural) = if of_config { ("ConfigMap", "configmaps") } else { ("Secret", "secrets") };
        let mut object: Value = serde_json::from_str(r#"{"metadata":{"name":"a","namespace":"default","resourceVersion":"5","labels":{"app":"web"}}}"#).unwrap();
        // Its own kind, that of its metadata, none, or something else.
        let own = [Some(kind), Some("PartialObjectMetadata"), None, Some("Opaque")][usize::from(says_kind)];
        if let Some(own) = own {
            object["kind"] = own.into();
            object["apiVersion"] = "v1".into();
        }
        for ((path, value), _) in PLACES.iter().zip(places).filter(|(_, there)| *there) {
            let mut at = &mut object;
            for step in *path {
                at = &mut at[*step];
            }
            *at = serde_json::from_str(value).unwrap();
        }
        let mut answer = Answer::of("list-3");
        answer.body = if watch {
            format!("{}\n", serde_json::json!({ "type": "ADDED", "object": object }))
        } else {
            serde_json::json!({ "kind": format!("{kind}List"), "apiVersion": "v1", "metadata": { "resourceVersion": "5" }, "items": [object] }).to_string()
        }.into_bytes();
        answer.watch = watch;
        answer.target.metadata_only = metadata_only;
        answer.target.resource = resource("", "v1", kind, plural);
        if let Some((place, byte)) = spoil {
            let place = place.index(answer.body.len());
            answer.body[place] = byte;
        }
        if let Some(end) = end {
            answer.body.truncate(end.index(answer.body.len() + 1));
        }
        let told = answer.told(&[]);
        // One byte of it may be another, so a part of it has to do.
        prop_assert!(!format!("{told:?}").contains("unter"), "{:?}", meaning(&told));
        if spoil.is_none() && end.is_none() && !format!("{object}").contains("[\"hunter2\"]") {
            let found = meaning(&told);
            prop_assert!(matches!(found, List(1, "5", false) | Watch([1, 0, 0, 0], Closed)), "{:?}", found);
        }
    }
}
