//! Every lesson loads, runs and comes to what it promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use deltascope::lessons::{self, text::Lang};
use deltascope::replay::timeline::Timeline;

#[test]
fn every_lesson_prints_exactly_its_lines_and_has_all_its_moments() {
    let menu = lessons::menu();
    for id in [
        "sandbox",
        "deltafifo",
        "reflector",
        "indexer",
        "pod-lifecycle",
    ] {
        assert!(menu.iter().any(|(other, _)| &**other == id), "{id}");
    }
    for (id, title) in menu {
        let lesson = lessons::load(&id).unwrap();
        assert_eq!(lesson.id, id);
        for text in [&title, &lesson.note] {
            assert!(!text.get(Lang::En).is_empty() && !text.get(Lang::Zh).is_empty());
        }
        let mut timeline = Timeline::new(lesson.scenario.clone()).unwrap();
        timeline.extend(3_000);
        assert!(timeline.len() > 5, "{id} has {} facts", timeline.len());
        for marker in &lesson.markers {
            assert!(
                marker.find(timeline.facts()).is_some(),
                "{id}: {} never comes",
                marker.id
            );
        }
        if !lesson.expect.output.is_empty() {
            let output = timeline.picture(timeline.len()).output;
            let output: Vec<&str> = output.iter().map(AsRef::as_ref).collect();
            assert_eq!(output, lesson.expect.output, "{id}");
        }
    }
}

#[test]
fn an_unknown_lesson_says_which_there_are() {
    let error = lessons::load("delta").unwrap_err();
    for id in ["delta", "deltafifo", "sandbox", "pod-lifecycle"] {
        assert!(error.en.contains(id) && error.zh.contains(id), "{error:?}");
    }
}
