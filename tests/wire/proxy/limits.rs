//! The limits of a list, and the retry of one that exceeds them.

use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::world::source::live::MAX_OBJECTS;
use deltascope::world::source::live::Wanted;
use deltascope::world::source::proxy::exchange::{Deadlines, End, Exchange, Phase};
use deltascope::world::source::proxy::list;
use deltascope::world::source::proxy::list::Excess;
use deltascope::world::source::proxy::target::Target;
use deltascope::world::source::wire::MAX_LINE;

use super::Meaning::{List, Refused};
use super::{Answer, answer, meaning, pods, wanted};

use ApiErrorKind as K;

#[test]
fn a_list_is_read_with_its_keys_in_any_order_and_limited() {
    let read = |body: &str| {
        let mut answer = Answer::of("list-3");
        answer.body = body.as_bytes().to_vec();
        meaning(&answer.responses(&[]))
    };
    // Custom resources have their keys sorted; the items state their own kind.
    for body in [
        r#"{"apiVersion":"a/v1","items":[{"kind":"A","metadata":{"name":"]}\"[{"}},{"kind":"A","metadata":{"name":"b"}}],"kind":"AList","metadata":{"resourceVersion":"5"}}"#,
        r#" { "metadata":{"resourceVersion":"5"}, "x":["items",{"items":[1]}], "kind":"AList", "items" : [ {"metadata":{"name":"a"}} , {"metadata":{"name":"b"}} ] } "#,
    ] {
        assert_eq!(read(body), List(2, "5", false), "{body}");
    }
    for body in [
        r#"{"kind":"AList","items":[]}"#,
        r#"{"kind":"AList","metadata":{},"items":null}"#,
    ] {
        assert_eq!(read(body), List(0, "", false), "{body}");
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
        let found = read(body);
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

/// A list of `count` objects.
fn list_of(count: usize) -> Vec<u8> {
    let items = vec![r#"{"metadata":{"name":"a"}}"#; count].join(",");
    format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"5"}},"items":[{items}]}}"#)
        .into_bytes()
}

#[test]
fn a_list_that_is_too_large_is_requested_again_once_it_fits() {
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
    // The first answer has too many objects; or, for a streaming list, the world states that it had too many.
    let mut streamed = wanted(true);
    streamed.too_much = true;
    for wanted in [wanted(false), streamed] {
        let mut exchange = fresh(&pods(), &wanted);
        if !wanted.too_much {
            let responses = answer(&mut exchange, 0, 200, &list_of(MAX_OBJECTS + 1));
            assert_eq!(responses, []);
        }
        assert_eq!(exchange.excess(), Some((Excess::Objects, None)));
        // Then only the number of objects is requested, also if the request fails or there is still one too
        // many.
        let mut now = 1_000;
        for (status, body, count) in [
            (200, counted(MAX_OBJECTS), Some(100_001)),
            (500, b"nobody".to_vec(), Some(100_001)),
            (200, b"{}".to_vec(), Some(100_001)),
            (200, counted(MAX_OBJECTS + 9), Some(100_010)),
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
        // A failed or unanswered count is repeated, too.
        exchange.timeout(now);
        exchange.sent(now);
        assert_eq!(exchange.end(now, End::Broken("reset".to_owned())), []);
        exchange.timeout(now + 1_000);
        exchange.sent(now + 1_000);
        now = exchange.due().unwrap();
        assert_eq!(exchange.timeout(now), []);
        assert_eq!(exchange.phase(), Phase::Waiting(now + 1_000));
        // Now they fit: the wanted list is requested again.
        exchange.timeout(now + 1_000);
        let responses = answer(&mut exchange, now + 1_000, 200, &counted(MAX_OBJECTS - 1));
        assert_eq!((responses, exchange.excess()), (vec![], None));
        assert_eq!(exchange.phase(), Phase::Send);
        assert!(!is_count(&exchange));
        if !wanted.too_much {
            let responses = answer(&mut exchange, now + 1_000, 200, &list_of(MAX_OBJECTS));
            assert_eq!(meaning(&responses), List(MAX_OBJECTS, "5", false));
        }
    }
    // If the user may not count, the wanted request will be refused the same way.
    let mut exchange = fresh(&pods(), &wanted(false));
    answer(&mut exchange, 0, 200, &list_of(MAX_OBJECTS + 1));
    exchange.timeout(1_000);
    assert_eq!(answer(&mut exchange, 1_000, 403, b"{}"), []);
    assert_eq!(exchange.phase(), Phase::Send);
    assert!(!is_count(&exchange));

    // Where no server can count, the whole list is requested, less often: with selectors, or if bytes are the
    // exceeded limit.
    let selected = Target {
        label_selector: "app=web".to_owned(),
        ..pods()
    };
    let long = format!(
        r#"{{"kind":"AList","items":[{{"x":"{}"}}]}}"#,
        "x".repeat(MAX_LINE)
    );
    for (target, body, excess) in [
        (selected, list_of(MAX_OBJECTS + 1), Excess::Objects),
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
    page.has = MAX_OBJECTS - 2;
    let mut exchange = fresh(&pods(), &page);
    assert_eq!(answer(&mut exchange, 0, 200, &list_of(3)), []);
    assert_eq!(exchange.excess(), Some((Excess::Objects, None)));
}
