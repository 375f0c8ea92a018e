//! The fold along a timeline: back and forth, replayed from its recording, and with inputs into the past.

use deltascope::cache::fact::{FactRecord, ProcessMode};
use deltascope::replay::timeline::Timeline;
use deltascope::world::source::scenario::Scenario;
use deltascope::world::virtual_time::Input;
use proptest::prelude::*;

use super::{Op, input, ops, scenario, settings};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_walk_back_and_forth_ends_in_the_same_picture(
        settings in settings(),
        ops in ops(),
        walk in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let scenario = scenario(settings);
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                let shown = timeline.insert(timeline.len(), input);
                prop_assert!(shown <= timeline.len());
            }
        }
        let mut pictures = vec![timeline.picture(0)];
        for record in timeline.all_facts().iter() {
            let mut next = pictures.last().unwrap().clone();
            next.apply(record);
            pictures.push(next);
        }
        for place in walk {
            let step = place.index(pictures.len());
            prop_assert_eq!(&timeline.picture(step), &pictures[step]);
        }
    }

    #[test]
    fn a_recording_states_the_same_facts_again(
        settings in settings(),
        ops in ops(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        traffic in prop::option::of(any::<u64>()),
    ) {
        let scenario = Scenario { traffic, ..scenario(settings) };
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                timeline.insert(timeline.len(), input);
            }
        }
        for place in places {
            let step = place.index(timeline.len() + 1);
            timeline.insert(step, Input::Pop);
        }
        let mut again = timeline.recording().play().unwrap();
        again.extend(timeline.len());
        prop_assert!(*again.facts(0..timeline.len()) == *timeline.all_facts());
    }

    #[test]
    fn an_input_into_the_past_keeps_the_facts_before_it(
        settings in settings(),
        ops in ops(),
        place in any::<prop::sample::Index>(),
    ) {
        let scenario = scenario(settings);
        let mut timeline = Timeline::new(scenario).unwrap();
        for op in &ops {
            if let Some(input) = input(op) {
                timeline.insert(timeline.len(), input);
            }
        }
        let before: Vec<FactRecord> = timeline.all_facts().to_vec();
        let step = place.index(before.len() + 1);
        let shown = timeline.insert(step, Input::Mode(ProcessMode::Held));
        prop_assert!(*timeline.facts(0..step) == before[..step]);
        prop_assert!(shown >= step && shown <= timeline.len());
        let mut picture = timeline.picture(0);
        for record in timeline.all_facts().iter() {
            picture.apply(record);
        }
        prop_assert_eq!(picture, timeline.picture(timeline.len()));
    }
}

#[test]
fn an_input_at_the_same_position_replaces_the_first() {
    let scenario = deltascope::replay::lessons::load("indexer")
        .unwrap()
        .scenario;
    let mut once = Timeline::new(scenario).unwrap();
    let place = once.len();
    let mut twice = once.clone();
    twice.insert(place, input(&Op::Create(1, 1)).unwrap());
    for timeline in [&mut once, &mut twice] {
        timeline.insert(place, input(&Op::Create(2, 2)).unwrap());
    }
    assert!(*once.all_facts() == *twice.all_facts());
}
