//! A live run is a recording: replayed from memory or from a file, it is the same.

use std::sync::Arc;

use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{Fact, ReflectorFact, ServerFact};
use deltascope::presentation::command::{Command as Click, Export};
use deltascope::presentation::session::keep::Kept;
use deltascope::presentation::session::{Session, typed};
use deltascope::replay::picture::Behind;
use deltascope::replay::timeline::Timeline;
use deltascope::replay::trace::{self, Trace};
use deltascope::world::Asked;
use deltascope::world::text::Text;
use kube_core::DynamicObject;
use proptest::prelude::*;
use serde_json::json;

use super::{Op, Run, copied, generation, scenario, stored, wanted};

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => (0..900u16).prop_map(Op::Wait),
        8 => Just(Op::Read),
        8 => any::<u8>().prop_map(Op::Write),
        3 => any::<u8>().prop_map(Op::Delete),
        1 => Just(Op::Bookmark),
        1 => any::<u8>().prop_map(Op::End),
        1 => any::<u8>().prop_map(Op::Refuse),
        1 => any::<u8>().prop_map(Op::Mode),
        1 => Just(Op::Pop),
    ];
    prop::collection::vec(op, 1..80)
}

/// The facts around a difference, in short.
fn differ(one: &Timeline, other: &Timeline, at: Option<usize>) -> String {
    let of = |timeline: &Timeline| {
        let record = timeline.fact(at?)?;
        Some((record.time, record.actor, record.cause, record.fact.name()))
    };
    format!("{:?} and {:?}", of(one), of(other))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    /// The picture is right; the recording replays as the same run, from memory and from a file; in the end
    /// the store equals the cluster.
    #[test]
    fn a_live_run_is_a_recording(
        ops in ops(),
        generation in generation(),
        streams in any::<Option<bool>>(),
    ) {
        let mut run = Run::new(generation, streams);
        let mut picture = run.timeline.picture(0);
        let mut seen = 0;
        for op in &ops {
            run.act(*op);
            picture.apply_all(&run.timeline.facts(seen..run.timeline.len()));
            seen = run.timeline.len();
            // Without a watch the cluster's state is unknown; with one it is known as far as the cluster has
            // sent it.
            match picture.store.behind {
                Behind::Unknown => {}
                behind => {
                    prop_assert!(run.cluster.watching, "{behind:?}");
                    prop_assert!(run.cluster.has_more() || behind == run.cluster.ahead_of(&picture));
                }
            }
        }
        prop_assert!(picture == run.timeline.picture(seen), "the fold is another picture");

        let mut live = run.timeline.clone();
        live.end_live();
        let recording = live.recording();
        let (mut played, all) = recording.play_within(live.len()).unwrap();
        played.extend(seen);
        prop_assert_eq!(all, recording.inputs.len());
        let differs = (0..seen).find(|at| played.fact(*at) != live.fact(*at));
        prop_assert!(differs.is_none(), "played again, fact {differs:?} of {seen} differs: {}",
            differ(&played, &live, differs));
        prop_assert!(played.picture(seen) == live.picture(seen));

        let text = trace::write(&Trace {
            lesson: "".into(), title: Text::default(), at: None, start: None, recording,
        });
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        prop_assert!(error.is_none(), "{}", error.unwrap());
        let read = read.unwrap().recording;
        let (mut again, _) = read.play_within(live.len()).unwrap();
        again.extend(seen);
        let differs = (0..seen).find(|at| again.fact(*at) != live.fact(*at));
        prop_assert!(differs.is_none(), "read again, {}", differ(&again, &live, differs));

        run.catch_up();
        let there = |object: &Arc<DynamicObject>| {
            let of = &object.metadata;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let key = format!("{}/{}", text(&of.namespace), text(&of.name));
            (key, text(&of.resource_version))
        };
        let mut has: Vec<_> = run.cluster.objects.values().map(there).collect();
        has.sort();
        prop_assert_eq!(stored(&run.timeline), has);
        let behind = run.timeline.picture(run.timeline.len()).store.behind;
        prop_assert_eq!(behind, Behind::By(0));
    }

    /// The rest of a long run is itself a recording: it begins with the cluster's objects at that time.
    #[test]
    fn a_forgotten_beginning_is_replaced_by_the_state_of_the_cluster(
        generation in generation(),
        streams in any::<Option<bool>>(),
        left in 0..9_000usize,
        later in ops(),
    ) {
        let mut run = Run::new(generation, streams);
        for round in 0..500_u16 {
            run.cluster.write((round % 12) as u8);
            if round % 7 == 0 {
                run.cluster.delete((round % 5) as u8);
            }
            if round % 90 == 13 {
                run.act(Op::End((round % 4) as u8));
            }
            run.act(Op::Read);
            run.act(Op::Wait(70));
        }
        let known = run.timeline.len();
        let whole = run.timeline.clone();
        let gone = run.timeline.forget(left);
        prop_assert_eq!(run.timeline.len() + gone, known);
        prop_assert!(gone > 0 || left + 4_096 > known, "{} {}", left, known);
        for at in [0, 1, 700, run.timeline.len() / 2, run.timeline.len()] {
            prop_assert!(run.timeline.fact(at) == whole.fact(gone + at), "{at}");
            prop_assert!(run.timeline.picture(at) == whole.picture(gone + at), "{at}");
        }
        for op in later.iter().filter(|op| !matches!(op, Op::Mode(_) | Op::Pop)) {
            run.act(*op);
        }
        run.catch_up();
        // Recomputed after it was dropped.
        let mut rested = run.timeline.clone();
        rested.rest();
        let middle = rested.len() / 2;
        prop_assert!(rested.picture(middle) == run.timeline.picture(middle));

        let mut live = run.timeline.clone();
        live.end_live();
        let recording = live.recording();
        let text = trace::write(&Trace {
            lesson: "".into(), title: Text::default(), at: None, start: None, recording,
        });
        let longest = text.lines().map(str::len).max();
        prop_assert!(longest < Some(40_000), "{longest:?}");
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        prop_assert!(error.is_none(), "{}", error.unwrap());
        let mut played = read.unwrap().recording.play().unwrap();
        played.extend_past(run.now);
        prop_assert_eq!(stored(&played), stored(&live));
        let sent = |timeline: &Timeline| {
            let mut sent = Vec::new();
            timeline.each::<()>(0..timeline.len(), &mut |_, record| {
                if let Fact::Server(ServerFact::EventSent { event, object, .. }) = &record.fact {
                    sent.push(format!("{} {}", event.as_str(), object.rv));
                }
                std::ops::ControlFlow::Continue(())
            });
            sent
        };
        let (was, is) = (sent(&live), sent(&played));
        prop_assert!(is.ends_with(&was), "{} events, then {}", was.len(), is.len());
    }
}

#[test]
fn the_copy_of_a_run_is_its_recording() {
    let mut session = Session::new();
    let (mut kept, mut copy) = (Kept::default(), String::new());
    let create = json!({ "metadata": { "namespace": "default", "name": "mine" } });
    for (what, command) in [
        ("nothing", Click::Seek(0)),
        ("steps", Click::Step(3)),
        ("an input", Click::CutWatch),
        ("one more", Click::Seek(40)),
        ("into the past", Click::Seek(10)),
        ("which drops what came after", Click::CutWatch),
        ("a branch", Click::Fork),
        ("the other one", Click::Branch(1)),
        ("a generation", typed::generation("1.36")),
        ("a lesson", Click::Load("reflector".into())),
    ] {
        session.obey(command);
        if what == "one more" {
            session.obey(typed::inject("create", create.clone()));
        }
        assert!(copied(&session, &mut kept, &mut copy), "{what}");
        let exported = session.export(Export::Trace).unwrap();
        let lines = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
        assert_eq!(lines(&copy), lines(&exported), "{what}");
        assert_eq!(session.copy(&mut kept), None, "{what}");
    }
    // A trace too large to be written at once has no copy.
    let pods = (0..3_000)
        .map(|n| json!({ "metadata": { "namespace": "default", "name": format!("pod-{n}") } }));
    let trace = format!(
        "{{\"deltascope\":1}}\n{}\n",
        json!({ "scenario": { "initial": pods.collect::<Vec<_>>() } })
    );
    session.obey(Click::Open(vec![("many.jsonl".into(), trace.into_bytes())]));
    assert_eq!(session.view().error, None);
    assert!(!copied(&session, &mut kept, &mut copy));
    assert_eq!(copy, "");
}

#[test]
fn waits_have_jitter_and_replay_identically() {
    // The first backoff and the requested duration of a watch, for a jitter seed.
    let waits = |jitter: Option<u32>| {
        let mut scenario = scenario(Generation::Atomic, Some(false));
        scenario.settings.jitter = jitter;
        let mut run = Run::of(scenario);
        run.go();
        run.refuse = Some(1);
        for _ in 0..40 {
            run.act(Op::Read);
            run.act(Op::Wait(100));
        }
        let paused = run.timeline.all_facts();
        let paused = paused.iter().find_map(|record| match record.fact {
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some(ms),
            _ => None,
        });
        let asked = match wanted(&run.timeline).unwrap().ask {
            Asked::Watch(watch) => watch.timeout.as_secs(),
            Asked::List(_) => panic!("a watch"),
        };
        let text = trace::write(&Trace {
            lesson: "".into(),
            title: Text::default(),
            at: None,
            start: None,
            recording: run.timeline.recording(),
        });
        let (read, error) = trace::read("trace.jsonl", text.as_bytes());
        assert_eq!(error, None);
        let again = read.unwrap().recording.play().unwrap();
        let facts = run.timeline.all_facts();
        assert!(again.facts(0..facts.len())[..] == facts[..]);
        (paused.unwrap(), asked)
    };
    assert_eq!(waits(None), (800, 300));
    let seeds: Vec<_> = (0..20).map(|seed| waits(Some(seed))).collect();
    for (paused, asked) in &seeds {
        assert!(
            (800..1_600).contains(paused) && (300..600).contains(asked),
            "{seeds:?}"
        );
    }
    let mut different = seeds.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), seeds.len(), "{seeds:?}");
}
