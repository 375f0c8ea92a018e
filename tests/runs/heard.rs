//! What a handler should have heard, compared with what a controller logged.

use deltascope::cache::fact::EventType;
use deltascope::cache::rng::Rng;
use deltascope::replay::heard::{
    self, Beside, Comparison, Difference, Kind, Known, Notified, notified,
};
use deltascope::replay::lessons;
use deltascope::replay::log::{Call, Calls, Logged, call_of, read_calls};
use deltascope::replay::timeline::Timeline;

/// Calls, each as `+a1` (OnAdd), `~a2` (OnUpdate), `-a3` (OnDelete) or `xa2` (OnDelete with a tombstone).
fn calls(text: &str) -> Vec<Call> {
    let call = |word: &str| Call {
        event: match &word[..1] {
            "+" => EventType::Added,
            "~" => EventType::Modified,
            _ => EventType::Deleted,
        },
        key: word[1..2].to_owned(),
        rv: word[2..].to_owned(),
        tombstone: word.starts_with('x'),
    };
    text.split_whitespace().map(call).collect()
}

fn compare(should: &[Call], heard: &[Call]) -> Comparison {
    compared(None, should, heard)
}

fn compared(known: Option<&Known>, should: &[Call], heard: &[Call]) -> Comparison {
    let [should, heard] = [should, heard].map(|calls| calls.iter().collect::<Vec<_>>());
    heard::compare(known, &should, &heard)
}

#[test]
fn the_first_difference_is_found_and_named() {
    let first = |kind, should, heard| {
        Some(Difference {
            kind,
            should,
            heard,
        })
    };
    for (should, heard, alike, difference) in [
        ("+a1 ~a2 -a3", "+a1 ~a2 -a3", 3, None),
        // Objects by themselves, and resyncs, on either side.
        ("+a1 +b2 ~a3", "+b2 +a1 ~a1 ~a3 ~b2", 3, None),
        ("+a1 ~a1 ~a2", "+a1 ~a2", 2, None),
        // Lines without versions.
        ("+a1 ~a2 -a3", "+a ~a -a", 3, None),
        (
            "+a1 ~a2 ~a3",
            "+a1 ~a3",
            1,
            first(Kind::Missing, Some(1), Some(1)),
        ),
        (
            "+a1 +b2 ~a3",
            "+a1 ~a3",
            2,
            first(Kind::Missing, Some(1), None),
        ),
        (
            "+a1 ~a3",
            "+a1 ~a2 ~a3",
            1,
            first(Kind::Extra, Some(1), Some(1)),
        ),
        (
            "+a1 ~a3",
            "+a1 +b2 ~a3",
            2,
            first(Kind::Extra, None, Some(1)),
        ),
        (
            "+a1 ~a2 ~a3",
            "+a1 ~a3 ~a2",
            1,
            first(Kind::Order, Some(1), Some(1)),
        ),
        (
            "+a1 ~a2 -a3",
            "+a1 -a2",
            1,
            first(Kind::Type, Some(1), Some(1)),
        ),
        (
            "+a1 xa1 +b2",
            "+a1 -a1 +b2",
            2,
            first(Kind::Tombstone, Some(1), Some(1)),
        ),
        (
            "+a1 -a2",
            "+a1 xa2",
            1,
            first(Kind::Tombstone, Some(1), Some(1)),
        ),
        // The earlier of two.
        (
            "+a1 +b2 ~b3 ~a4",
            "+a1 +b2 -b3 -a4",
            2,
            first(Kind::Type, Some(2), Some(2)),
        ),
        // Nothing in common.
        ("+a1", "+b1", 0, first(Kind::Missing, Some(0), None)),
        ("", "+b1", 0, first(Kind::Extra, None, Some(0))),
    ] {
        let found = compare(&calls(should), &calls(heard));
        assert_eq!(
            (found.alike, found.first),
            (alike, difference),
            "{should} / {heard}"
        );
    }
}

#[test]
fn a_log_that_ends_early_or_late_does_not_differ() {
    for (should, heard, after_log, after_run, lines) in [
        ("+a1 +b2 ~a3 -b4", "+a1 +b2", 2, 0, vec![Some(0), Some(1)]),
        (
            "+a1 +b2",
            "+a1 +b2 ~a3 +c4",
            0,
            2,
            vec![Some(0), Some(1), None, None],
        ),
    ] {
        let found = compare(&calls(should), &calls(heard));
        let wanted = Comparison {
            alike: 2,
            lines,
            first: None,
            after_log,
            after_run,
        };
        assert_eq!(found, wanted, "{should} / {heard}");
    }
}

#[test]
fn of_a_run_without_its_beginning_the_lines_of_before_are_passed_over() {
    let known = |text: &str| -> Known {
        let words = text.split_whitespace();
        words
            .map(|word| (word[..1].to_owned(), word[1..].to_owned()))
            .collect()
    };
    for (before, should, heard, alike, kind) in [
        // All of before, a part of it, and nothing of it.
        ("a2", "~a3 ~a4", "+a1 ~a2 ~a3 ~a4", 2, None),
        ("a2", "~a3 ~a4", "~a2 ~a3 ~a4", 2, None),
        ("a2", "~a3 ~a4", "~a3 ~a4", 2, None),
        // The log lags, and has not come to it.
        ("a2", "~a3", "+a1", 0, None),
        // One that came and went before.
        ("a2", "~a3", "+b1 -b2 ~a2 ~a3", 1, None),
        // The run begins with a resync, and with a deletion.
        ("a2", "~a2 ~a3", "+a1 ~a2 ~a2 ~a3", 1, None),
        ("a2 b1", "-a3 +b4", "~a2 -a3 -b1 +b4", 2, None),
        // A tombstone has the version that was known.
        ("a2 b1", "xa2 ~b3", "xa2 ~b3", 2, None),
        ("a2", "xa2 +a4", "+a1 ~a2 xa2 +a4", 2, None),
        // It goes back to the version that was known, in the run and before it.
        ("a2", "~a3 ~a2", "~a2 ~a3 ~a2", 2, None),
        ("a2", "~a3 ~a4", "~a2 ~a3 ~a2 ~a3 ~a4", 2, None),
        // What differs afterwards still does.
        ("a2 b1", "~a3 ~b4", "~a2 ~b1 ~b4", 1, Some(Kind::Missing)),
        ("a2", "~a3", "~a2 ~a3 ~a3 -a3 ~a9", 1, None),
        ("a2 b1", "~a3 ~b4", "~a2 ~a3 -a3 ~b4", 2, Some(Kind::Extra)),
        ("a2", "~a3 ~a4", "~a2 ~a4 ~a3", 0, Some(Kind::Order)),
    ] {
        let found = compared(Some(&known(before)), &calls(should), &calls(heard));
        let kind_found = found.first.map(|first| first.kind);
        assert_eq!(
            (found.alike, kind_found),
            (alike, kind),
            "{before}: {should} / {heard}"
        );
    }
}

#[test]
fn what_is_kept_of_a_line_reads_as_the_line() {
    let object = "{\"metadata\":{\"namespace\":\"n\",\"name\":\"a\",\"resourceVersion\":\"7\",\"labels\":{\"secret\":\"x\"}}}";
    for line in [
        format!(
            "{{\"informer\":{{\"type\":\"ADDED\",\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"object\":{object}}}}}"
        ),
        format!(
            "{{\"informer\":{{\"type\":\"DELETED\",\"object\":{{\"Key\":\"n/a\",\"Obj\":{object}}}}}}}"
        ),
        "{\"informer\":{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"node\"}}}}"
            .to_owned(),
    ] {
        let logged = call_of(12, line.as_bytes()).unwrap().unwrap();
        let kept = logged.to_json().to_string();
        assert!(!kept.contains("secret"), "{kept}");
        // It is the twelfth line wherever it stands.
        let mut log = Calls::new("log");
        let (one, rest) = kept.split_at(kept.len() / 2);
        assert_eq!(log.read(one.as_bytes()).unwrap(), []);
        assert_eq!(log.read(format!("{rest}\n").as_bytes()).unwrap(), [logged]);
    }
}

fn other_line() -> &'static [u8] {
    b"{\"informer\":{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"other\",\"resourceVersion\":\"1\"}}}}"
}

#[test]
fn a_runs_own_notifications_logged_are_what_should_be_heard() {
    let scenario = lessons::load("tombstone").unwrap().scenario;
    let timeline = Timeline::new(scenario).unwrap();
    let should = notified(&timeline, 0, timeline.len());
    let mut log = String::from("plain text\n{\"msg\":\"other\"}\n");
    for one in &should {
        let (namespace, name) = one.call.key.split_once('/').unwrap();
        let object = serde_json::json!({ "metadata": {
            "namespace": namespace, "name": name, "resourceVersion": one.call.rv } });
        let object = match one.call.tombstone {
            true => serde_json::json!({ "Key": one.call.key, "Obj": object }),
            false => object,
        };
        let event = match one.call.event {
            EventType::Added => "ADDED",
            EventType::Modified => "MODIFIED",
            _ => "DELETED",
        };
        let line = serde_json::json!({ "time": one.time, "informer": { "type": event, "object": object } });
        log.push_str(&format!("{line}\n"));
    }
    let lines = read_calls("c.log", log.as_bytes()).unwrap();
    assert_eq!(lines[0].line, 3);
    let heard: Vec<Call> = lines.iter().map(|line| line.call.clone()).collect();
    let calls: Vec<Call> = should.iter().map(|one| one.call.clone()).collect();
    assert!(calls.iter().any(|call| call.tombstone) && calls.len() > 4);
    let found = compare(&calls, &heard);
    assert_eq!(found.first, None);
    // Nothing is alike yet: as both grow, the log has yet to come to it; of two that are whole, it differs.
    let other = call_of(1, other_line()).unwrap().unwrap();
    for grows in [true, false] {
        let mut beside = Beside::kept(&timeline, false, grows);
        beside.say(vec![other.clone()]);
        beside.compare(&timeline, timeline.len());
        assert_eq!(beside.first().is_none(), grows);
    }
    // Without the second line, that is what is missing.
    let gone = 1;
    let mut fewer = heard.clone();
    fewer.remove(gone);
    let first = compare(&calls, &fewer).first.unwrap();
    assert_eq!((first.kind, first.should), (Kind::Missing, Some(gone)));
}

#[test]
fn what_grows_is_compared_as_if_it_had_come_at_once() {
    let mut differs = Vec::new();
    for seed in 1..6 {
        let mut rng = Rng::new(seed);
        let mut timeline = Timeline::new(lessons::load("sandbox").unwrap().scenario).unwrap();
        timeline.extend(3_000);
        // A line may be lacking, twice, or late.
        let mut lines: Vec<Logged> = Vec::new();
        for Notified { call, .. } in notified(&timeline, 0, timeline.len()) {
            let line = Logged {
                line: 0,
                call,
                kind: Default::default(),
            };
            match rng.below(12) {
                0 => {}
                1 => lines.extend([line.clone(), line]),
                2 => lines.insert(lines.len().saturating_sub(1), line),
                _ => lines.push(line),
            }
        }
        let mut beside = Beside::new(false);
        let (mut said, mut left) = (Vec::new(), lines.into_iter());
        for end in (0..=timeline.len()).step_by(20) {
            let more: Vec<_> = left.by_ref().take(rng.below(3) as usize).collect();
            said.extend(more.iter().map(|line| line.call.clone()));
            beside.say(more);
            beside.compare(&timeline, end);
            let should: Vec<Call> = notified(&timeline, 0, end)
                .into_iter()
                .map(|one| one.call)
                .collect();
            assert_eq!(*beside.found(), compare(&should, &said), "{seed} {end}");
        }
        differs.push((beside.should().len(), beside.first().is_some()));
    }
    assert!(
        differs
            .iter()
            .all(|(should, differs)| *should > 50 && *differs),
        "{differs:?}"
    );
}

#[test]
fn a_log_that_says_nothing_or_cannot_be_read_is_refused() {
    for (log, named) in [
        ("nothing\n", "no line has the key"),
        (
            "{\"informer\":{\"type\":\"ADDED\",\"object\":{}}}\n",
            "line 1",
        ),
        (
            "{\"informer\":{\"type\":\"GONE\",\"object\":{\"metadata\":{\"name\":\"a\"}}}}\n",
            "line 1",
        ),
    ] {
        let error = read_calls("c.log", log.as_bytes()).unwrap_err();
        assert!(error.message.en.contains(named), "{}", error.message.en);
    }
}
