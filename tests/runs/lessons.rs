//! Every lesson loads, runs and produces its expected result.

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, FactRecord, HandlersFact};
use deltascope::replay::invariants::Invariants;
use deltascope::replay::lessons;
use deltascope::replay::picture::InformerKind;
use deltascope::replay::recording::Recording;
use deltascope::replay::timeline::Timeline;
use deltascope::world::text::Lang;

#[test]
fn every_lesson_prints_exactly_its_lines_and_reaches_all_its_markers() {
    let menu = lessons::menu();
    for id in [
        "sandbox",
        "deltafifo",
        "listwatch",
        "reflector",
        "indexer",
        "myinformer",
        "sharedinformer-simulate",
        "sharedinformer-simulate-two",
        "sharedinformer-listwatch",
        "sharedinformer-indexer",
        "indexer-run",
        "sharedinformerfactory",
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
                marker.find(&timeline).is_some(),
                "{id}: {} never comes",
                marker.id
            );
        }
        if !lesson.expect.output.is_empty() {
            assert_eq!(printed(&timeline.all_facts()), lesson.expect.output, "{id}");
        }
    }
}

/// The printed lines, grouped by printer: the order between two handlers is arbitrary.
fn printed(facts: &[FactRecord]) -> Vec<&str> {
    let lines = |record: &'_ FactRecord| match &record.fact {
        Fact::Handlers(HandlersFact::LinePrinted { by, .. }) => Some(*by),
        _ => None,
    };
    let mut records: Vec<&FactRecord> = facts.iter().filter(|r| lines(r).is_some()).collect();
    records.sort_by_key(|record| lines(record));
    records
        .into_iter()
        .filter_map(|record| match &record.fact {
            Fact::Handlers(HandlersFact::LinePrinted { line, .. }) => Some(&**line),
            _ => None,
        })
        .collect()
}

#[test]
fn two_handlers_share_one_list_and_one_store_and_two_informers_do_not() {
    for (id, shared) in [
        ("sharedinformer-simulate", [true, false, false]),
        ("sharedinformer-simulate-two", [false, false, true]),
    ] {
        let mut timeline = Timeline::new(lessons::load(id).unwrap().scenario).unwrap();
        timeline.extend(3_000);
        let picture = timeline.picture(timeline.len());
        let beside = picture.beside.iter();
        let shown = (
            picture.informer == InformerKind::Shared,
            picture.reflector.lists_asked,
            picture.reflector.watches_asked,
            picture.store.items.clone(),
        );
        assert_eq!(shown.3.len(), 4, "{id}");
        let all: Vec<_> = std::iter::once(shown.clone())
            .chain(beside.map(|room| (room.shared, room.lists, room.watches, room.objects.clone())))
            .collect();
        assert_eq!(
            all,
            shared.map(|shared| (shared, 1, 1, shown.3.clone())),
            "{id}"
        );
        assert_eq!(picture.output.len(), 8, "{id}");
    }
}

#[test]
fn the_error_for_an_unknown_lesson_lists_all_lessons() {
    let error = lessons::load("delta").unwrap_err();
    for id in ["delta", "deltafifo", "sandbox", "pod-lifecycle"] {
        assert!(error.en.contains(id) && error.zh.contains(id), "{error:?}");
    }
}

/// Checks the known violations of each lesson in its own generation and, if it has an informer, in every
/// other one.
#[test]
fn the_invariants_find_only_known_violations_in_every_lesson() {
    for (id, _) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        let scenario = &lesson.scenario;
        // An empty list is synced at once.
        let listed = scenario.traffic.is_some() || !scenario.initial.is_empty();
        let early = scenario.settings.is_informer() && listed;
        for generation in Generation::ALL {
            let recording = Recording::of(lesson.scenario.clone());
            let mut timeline = recording.in_generation(generation).play().unwrap();
            timeline.extend(20_000);
            let invariants = Invariants::of(&timeline);
            let found = invariants.violations().iter();
            let found: Vec<_> = found.map(|one| (one.invariant.id(), one.known)).collect();
            let expected = match &*id {
                "reflector" => vec![("lost", true)],
                _ if early && generation != Generation::Atomic => vec![("early", true)],
                _ => vec![],
            };
            assert_eq!(
                found,
                expected,
                "{id} {generation:?}: {:#?}",
                invariants.violations()
            );
        }
    }
}
