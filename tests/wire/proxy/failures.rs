//! Servers that defer a request, stay silent, break the connection or send unreadable data.

use std::time::Duration;

use deltascope::cache::fact::WatchEnd;
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::world::source::live::{Asked, ResponsePart, ServerResponse};
use deltascope::world::source::proxy::exchange::{Deadlines, End, Exchange, MAX_RETRIES, Phase};
use deltascope::world::source::wire::{MAX_LINE, RecordedEvent};

use super::Ending::{Closed, Cut, Error};
use super::Meaning::{Later, Refused, Watch};
use super::{Answer, meaning, pods, wanted};

use ApiErrorKind as K;

#[test]
fn a_deferred_request_is_retried_ten_times() {
    let busy = Answer::of("error-429");
    let mut exchange = busy.exchange();
    let mut now = 0;
    for attempt in 1..=MAX_RETRIES {
        assert_eq!(exchange.phase(), Phase::Send);
        assert_eq!(exchange.request().url, "/api/v1/pods?pretty=false");
        exchange.sent(now);
        assert_eq!(exchange.phase(), Phase::Reading);
        let responses = exchange.head(now, &busy.head);
        let later = ResponsePart::Later {
            code: 429,
            after_ms: 1_000,
            attempt,
        };
        assert_eq!(
            responses,
            [ServerResponse {
                request: 7,
                part: later
            }]
        );
        assert_eq!(exchange.phase(), Phase::Waiting(now + 1_000));
        // Further data of the connection is ignored.
        assert_eq!(exchange.chunk(now, b"busy"), []);
        assert_eq!(exchange.end(now, End::Complete), []);
        assert_eq!(exchange.timeout(now + 999), []);
        now += 1_000;
        assert_eq!(exchange.due(), Some(now));
        assert_eq!(exchange.timeout(now), []);
    }
    exchange.sent(now);
    let mut responses = exchange.head(now, &busy.head);
    responses.extend(exchange.chunk(now, &busy.body));
    responses.extend(exchange.end(now, End::Complete));
    let found = meaning(&responses);
    assert!(
        matches!(found, Refused(429, K::TooManyRequests, ..)),
        "{found:?}"
    );
    assert_eq!((exchange.phase(), exchange.due()), (Phase::Done, None));

    // Only a number counts, and only with these classes of status.
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
        let found = meaning(&answer.responses(&[]));
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
fn a_silent_exchange_is_given_up() {
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
    // Bytes of any kind count as activity.
    let lifecycle = Answer::of("watch-pod-lifecycle");
    let mut exchange = fresh(true);
    exchange.sent(20);
    assert_eq!(exchange.head(50, &lifecycle.head).len(), 1);
    // Without a bookmark no others are due: the watch's own timeout counts.
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
    // The bookmark that ends the initial events does not make others due: a server without a watch cache
    // sends it, too.
    let mut events = Exchange::new(&pods(), &asked, deadlines, 10);
    events.sent(20);
    events.head(50, &lifecycle.head);
    let end = b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n";
    assert_eq!(events.chunk(60, end).len(), 1);
    assert_eq!(events.due(), Some(400_110));
    // Paused reading is not silence.
    quiet.held(300);
    assert_eq!((quiet.due(), quiet.last_heard()), (Some(600), 60));
    assert_eq!(exchange.chunk(200, &lifecycle.body[..7]), []);
    assert_eq!((exchange.due(), exchange.last_heard()), (Some(500), 200));
    let responses = exchange.timeout(500);
    assert!(matches!(
        responses[..],
        [ServerResponse {
            part: ResponsePart::Ended(WatchEnd::Silent),
            ..
        }]
    ));
    assert_eq!(exchange.chunk(501, &lifecycle.body[7..]), []);
    // Silence in the middle of a list.
    let list = Answer::of("list-3");
    let mut exchange = fresh(false);
    assert_eq!(exchange.head(50, &list.head), []);
    assert_eq!(exchange.chunk(60, &list.body[..9_000]), []);
    let found = meaning(&exchange.timeout(160));
    assert!(matches!(found, Refused(0, ..)), "{found:?}");
}

#[test]
fn a_broken_connection_is_an_error_at_any_time() {
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
    let found = meaning(&list.responses(&[]));
    assert!(
        matches!(found, Refused(0, K::Other, "", text) if text.contains("reset by peer")),
        "{found:?}"
    );
    // Half a list over an intact connection is an error, too.
    list.end = End::Complete;
    assert!(matches!(meaning(&list.responses(&[])), Refused(200, ..)));
    // Half a Status still has its status code.
    let mut denied = Answer::of("error-401");
    denied.body.truncate(20);
    denied.end = broken;
    let found = meaning(&denied.responses(&[]));
    assert!(
        matches!(found, Refused(401, K::Unauthorized, ..)),
        "{found:?}"
    );
}

#[test]
fn an_unreadable_event_ends_the_watch_with_an_error() {
    let good =
        r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}"#;
    let mut long = br#"{"type":"ADDED","object":{"x":""#.to_vec();
    long.resize(MAX_LINE + 1, b'x');
    for (line, part) in [
        (&b"404 page not found"[..], "trailing characters"),
        (br#"{"type":"BOOM","object":{}}"#, "BOOM"),
        // A full stop in a value does not end the error.
        (br#"{"type":"BOOM. BOOM","object":{}}"#, "BOOM. BOOM"),
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
        let responses = answer.responses(&[]);
        let found = meaning(&responses);
        assert!(
            matches!(found, Watch([1, 0, 0, 0], Error(500, "InternalError", text)) if text.contains(part)),
            "{found:?}"
        );
        let ResponsePart::Event(RecordedEvent::Error { causes, .. }) = &responses[2].part else {
            panic!("{found:?}");
        };
        assert!(causes.iter().any(|cause| cause == "ClientWatchDecoding"));
        // The advice is for files.
        assert!(!causes.iter().any(|cause| cause.contains("the line.")));
        let middle = answer.body.len() / 2;
        assert!(answer.responses(&[1, middle]) == responses);
    }
    // The last line needs no line end, and empty lines are ignored.
    let mut answer = Answer::of("watch-rv0");
    answer.body = format!("\n\r\n{good}\r\n\n{good}").into_bytes();
    assert_eq!(meaning(&answer.responses(&[])), Watch([2, 0, 0, 0], Closed));
    answer.end = End::Broken(String::new());
    assert_eq!(meaning(&answer.responses(&[])), Watch([2, 0, 0, 0], Cut));
}
