use super::*;
use deltascope_world::source::pod::PodSpec;
use deltascope_world::source::wire;

fn heavy() -> Scenario {
    let items: Vec<_> = (0..2_000)
        .map(|n| {
            serde_json::json!({ "metadata": { "namespace": "a", "name": format!("p{n}"),
                "resourceVersion": "1" } })
        })
        .collect();
    let list = serde_json::json!({ "kind": "PodList", "apiVersion": "v1",
        "metadata": { "resourceVersion": "9" }, "items": items });
    let settings = serde_json::json!({ "feed": "recorded", "knownObjects": true,
        "indices": ["namespace", "app"], "handlers": [{ "name": "h", "latencyMs": 100 }] });
    Scenario {
        settings: serde_json::from_value(settings).unwrap(),
        recorded: Some(wire::open_text("list.json", &list.to_string())),
        ..Scenario::default()
    }
}

fn endless() -> Scenario {
    let settings = serde_json::json!({ "knownObjects": true, "indices": ["namespace", "app"],
        "handlers": [{ "name": "h", "onAdd": ["{name}"], "onUpdate": ["{name}"] }] });
    Scenario {
        settings: serde_json::from_value(settings).unwrap(),
        traffic: Some(7),
        ..Scenario::default()
    }
}

#[test]
fn the_checkpoints_weigh_no_more_than_the_facts() {
    for scenario in [heavy(), endless()] {
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(30_000);
        assert!(timeline.len() >= 20_000);
        let starts = timeline
            .segments
            .iter()
            .map(|segment| &segment.start.picture);
        let weight: usize = starts.map(|picture| picture.weight()).sum();
        assert!(weight <= timeline.len(), "{weight} {}", timeline.len());
        for pair in timeline.segments.windows(2) {
            let gap = pair[1].from - pair[0].from;
            let most = SEGMENT.max(pair[0].start.picture.weight() * 2);
            assert!((most..most + 100).contains(&gap), "{gap}");
        }
    }
}

/// A server of many objects that are listed repeatedly; each list fills the store with one fact.
fn relisting() -> Scenario {
    let initial = (0..500).map(|n| PodSpec::of(&format!("p{n}")).into_object().into());
    let settings = serde_json::json!({ "machinery": "plain", "era": "1.36", "watchList": false });
    let entries = (1..40).flat_map(|n| {
        ["compact", "cut"].map(|op| serde_json::json!({ "at": n * 20_000, "op": op }))
    });
    let script = entries.map(|entry| serde_json::from_value(entry).unwrap());
    Scenario {
        settings: serde_json::from_value(settings).unwrap(),
        initial: initial.collect(),
        script: script.collect(),
        ..Scenario::default()
    }
}

#[test]
fn the_memory_of_facts_is_limited_independently_of_their_number() {
    const KB: usize = 1 << 10;
    // The memory of the facts of one micro-step.
    const STEP: usize = 100 * KB;
    let weigh =
        |facts: &[FactRecord]| -> usize { facts.iter().map(|record| record.fact.weight()).sum() };
    let all = Timeline::new(relisting()).unwrap();
    let whole = weigh(&all.all_facts());
    assert!(whole > 1_000 * KB && !all.is_full(), "{whole}");
    let slices = Slices::whole();
    let begun = at_once(Timeline::begin(relisting(), MAX_FACTS, &slices));
    let mut bounded = begun.unwrap();
    bounded.may_hold = Holds {
        segment: 100 * KB,
        kept: 300 * KB,
        run: whole / 2,
    };
    bounded.extend(usize::MAX);
    assert!(bounded.is_full() && !bounded.is_endless() && bounded.len() < all.len());
    let kept = bounded
        .segments
        .iter()
        .filter_map(|one| one.facts.as_deref());
    let kept: Vec<usize> = kept.map(|facts| weigh(facts)).collect();
    let are_short = kept.iter().all(|held| *held < 100 * KB + STEP);
    let sum: usize = kept.iter().sum();
    assert!(are_short && sum < 400 * KB + STEP, "{kept:?}");
    let len = bounded.len();
    let held = weigh(&bounded.all_facts());
    assert!((whole / 2..whole / 2 + STEP).contains(&held), "{held}");
    assert!(bounded.all_facts()[..] == all.facts(0..len)[..]);
    // An earlier cut makes room again.
    bounded.insert(len / 2, Input::Print("a".into()));
    assert_eq!(bounded.held, weigh(&bounded.all_facts()));
}

#[test]
fn a_fact_is_found_by_its_number_after_many_forgotten_ones() {
    let mut timeline = Timeline::new(endless()).unwrap();
    let gone = (1 << 32) + 5;
    timeline.forgotten = gone;
    for (id, place) in [(gone + 2, Some(2)), (gone - 1, None), (7, None)] {
        assert_eq!(timeline.place_of(FactId(id)), place, "{id}");
    }
}

#[test]
fn the_oldest_checkpoints_are_thinned_out_evenly_beyond_the_limit() {
    let mut timeline = Timeline::new(endless()).unwrap();
    timeline.checkpoints = 12;
    timeline.extend(100 * SEGMENT);
    assert_eq!(timeline.segments.len(), 12);
    assert!(timeline.thinned() > 90 * SEGMENT && timeline.thinned() < timeline.len());
    let lengths: Vec<usize> = (0..11).map(|number| timeline.len_of(number)).collect();
    assert!(
        lengths.iter().all(|length| *length <= 32 * SEGMENT),
        "{lengths:?}"
    );
    let mut dense = Timeline::new(endless()).unwrap();
    dense.extend(100 * SEGMENT);
    assert_eq!(dense.thinned(), 0);
    for place in [0, 1, 7 * SEGMENT, 50 * SEGMENT + 3, 99 * SEGMENT] {
        assert!(timeline.picture(place) == dense.picture(place), "{place}");
        assert!(timeline.fact(place) == dense.fact(place), "{place}");
    }
}

#[test]
fn the_end_of_the_segment_before_the_last_is_never_recomputed() {
    let mut timeline = Timeline::new(endless()).unwrap().with_checkpoints(2);
    timeline.may_hold.kept = 0;
    for _ in 0..30 {
        timeline.extend(timeline.len() + SEGMENT / 2);
        let [.., before, _] = &timeline.segments[..] else {
            continue;
        };
        assert!(timeline.has_facts(before.from..timeline.len()));
        assert!(timeline.segments.len() <= 3);
    }
    assert!(!timeline.has_facts(0..SEGMENT));
}

#[test]
fn facts_dropped_while_in_use_are_recomputed() {
    let mut timeline = Timeline::new(endless()).unwrap();
    timeline.extend(3 * SEGMENT);
    let kept = timeline.all_facts().to_vec();
    let places = [0, 500, SEGMENT - 1, SEGMENT + 300];
    let pictures = places.map(|place| timeline.picture(place));
    timeline.rest();
    for (place, picture) in places.into_iter().zip(pictures) {
        assert!(timeline.picture(place) == picture, "{place}");
        assert!(timeline.fact(place).as_ref() == kept.get(place), "{place}");
    }
    // Keep the cache this time.
    timeline.extend(6 * SEGMENT);
    let before = timeline.picture(5 * SEGMENT - 9);
    for segment in timeline.segments.iter_mut().take(4) {
        segment.facts = None;
    }
    assert!(timeline.fact(4 * SEGMENT - 9).is_some());
    assert!(timeline.picture(5 * SEGMENT - 9) == before);
}

#[test]
fn inputs_at_changed_positions_are_all_kept() {
    let mut timeline = Timeline::new(endless()).unwrap();
    timeline.extend(400);
    for place in [100, 104, 108, 300] {
        timeline.insert(
            place,
            Input::Mode(deltascope_cache::fact::ProcessMode::Paced(7)),
        );
    }
    timeline.insert(308, Input::Pop);
    let recording = timeline.recording();
    let again = recording.play().unwrap();
    assert!(again.facts(0..300)[..] == timeline.facts(0..300)[..]);
    // Missing facts, positions beyond the end, unordered times: no input is lost.
    for change in [-9_i64, 3, 10, 10_000_000] {
        let mut other = recording.clone();
        for taken in &mut other.inputs {
            taken.after = taken.after.saturating_add_signed(change as isize);
        }
        for swapped in [false, true] {
            if swapped {
                other.inputs.swap(1, 3);
            }
            for by_time in [false, true] {
                let mut played = if by_time {
                    other.play_by_time(MAX_FACTS).unwrap()
                } else {
                    other.play().unwrap()
                };
                assert_eq!(played.inputs().len(), 5, "{change} {swapped} {by_time}");
                // The run can be replayed again and recomputed.
                played.extend(800);
                let mut twice = played.recording().play().unwrap();
                twice.extend(800);
                assert!(twice.facts(0..800)[..] == played.facts(0..800)[..]);
                let facts = played.facts(0..800).to_vec();
                played.rewind(350);
                played.extend(800);
                let same = played.facts(0..350).iter().zip(&facts).all(|(a, b)| a == b);
                assert!(same, "{change} {swapped} {by_time}");
            }
        }
    }
}

#[test]
fn an_input_after_the_end_comes_at_its_time() {
    let mut timeline = Timeline::new(heavy()).unwrap();
    timeline.extend(1);
    let end = timeline.time_at(timeline.len());
    let mut recording = timeline.recording();
    recording.inputs.push(RecordedInput {
        after: usize::MAX,
        at: end + 25_000,
        input: Input::Mode(deltascope_cache::fact::ProcessMode::Held),
    });
    for _ in 0..2 {
        let mut played = recording.play().unwrap();
        let last = played.len();
        assert_eq!(played.time_at(last), end + 25_000);
        // Recomputed, the input comes at the same time.
        let fact = played.fact(last - 1);
        played.over = true;
        played.rewind(last);
        assert!(played.fact(last - 1) == fact);
        recording = played.recording();
    }
}

#[test]
fn dropped_facts_are_recomputed_identically() {
    let mut timeline = Timeline::new(endless()).unwrap();
    timeline.extend(3 * SEGMENT);
    timeline.insert(
        SEGMENT + 7,
        Input::Mode(deltascope_cache::fact::ProcessMode::Held),
    );
    timeline.insert(SEGMENT + 90, Input::Pop);
    timeline.extend(5 * SEGMENT);
    let kept = timeline.all_facts().to_vec();
    let places: Vec<usize> = (0..timeline.len()).step_by(997).collect();
    let pictures: Vec<Picture> = places.iter().map(|at| timeline.picture(*at)).collect();
    for drop in [0, 1, 2] {
        let last = timeline.segments.len() - 1;
        for segment in &mut timeline.segments[..last] {
            segment.facts = None;
        }
        if drop == 1 {
            // Merge two segments, as thinning does.
            timeline.segments.remove(1);
            timeline.looked_at.borrow_mut().clear();
        }
        let again = timeline.all_facts();
        let differs = again
            .iter()
            .zip(&kept)
            .position(|(again, kept)| again != kept);
        assert_eq!((again.len(), differs), (kept.len(), None), "drop {drop}");
        for (place, picture) in places.iter().zip(&pictures) {
            assert_eq!(&timeline.picture(*place), picture, "{place}");
            assert_eq!(timeline.fact(*place).as_ref(), kept.get(*place));
        }
    }
    let mut back = Vec::new();
    let range = SEGMENT - 3..2 * SEGMENT + 3;
    timeline.each_back::<()>(range.clone(), &mut |place, record| {
        back.push((place, record.clone()));
        ControlFlow::Continue(())
    });
    back.reverse();
    let forth: Vec<_> = range.clone().zip(kept[range].iter().cloned()).collect();
    assert!(back == forth);
    for time in [0, 1, 700, 5_000, timeline.time_at(timeline.len())] {
        let count = kept.partition_point(|record| record.time <= time);
        assert_eq!(timeline.count_until(time), count, "{time}");
    }
}

#[test]
fn the_end_of_a_run_is_shown_with_a_short_fold_however_long_its_segment_is() {
    let mut timeline = Timeline::new(endless()).unwrap();
    let mut longest = 0;
    for facts in (1..40).map(|n| n * 211) {
        timeline.extend(facts + AHEAD);
        longest = longest.max(facts - timeline.nearest(facts));
        let mut folded = Picture::clone(&timeline.segments[0].start.picture);
        timeline.fold(&mut folded, 0..facts);
        assert!(timeline.picture(facts) == folded, "{facts}");
    }
    assert!(longest <= EDGE + BEHIND_EDGE, "{longest} facts");
    // What comes after a cut is another end.
    timeline.rewind(3_000);
    let end = timeline.len();
    let mut folded = Picture::clone(&timeline.segments[0].start.picture);
    timeline.fold(&mut folded, 0..end);
    assert!(timeline.picture(end) == folded);
}
