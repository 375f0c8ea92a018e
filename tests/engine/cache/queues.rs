//! The queues: what they merge, drop, pop and requeue, and the facts that they state.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::delta::{Delta, DeltaType};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions, Offered};
use deltascope::cache::error::Error;
use deltascope::cache::fact::{Entry, Fact, Known, ObjectRef, QueueFact};
use deltascope::cache::fifo::{Fifo, FifoOptions};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{
    deletion_handling_meta_namespace_key_func, split_meta_namespace_key,
};
use deltascope::cache::lister::{GroupResource, ListerError};
use deltascope::cache::object::Item;
use deltascope::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release};
use deltascope::cache::real_fifo::{PoppedBatch, RealFifo, RealFifoOptions};
use deltascope::cache::step::Step;
use deltascope::cache::store::{Indexer, new_store};
use deltascope::cache::trace::Trace;
use proptest::prelude::*;

use super::fold::Fold;
use super::{
    Facts, O, any_item, any_pod, bad_app_fails, cases, delta_fifo, key_func, pod, rv, tombstone,
};

fn types(deltas: &[Delta<O>]) -> Vec<DeltaType> {
    deltas.iter().map(|delta| delta.delta_type).collect()
}

fn no_clock() -> Duration {
    Duration::ZERO
}

#[derive(Clone, Debug)]
pub(super) enum Call {
    Add(Item<O>),
    Update(Item<O>),
    Delete(Item<O>),
    Replace(Vec<Item<O>>),
    Resync,
    Close,
    Bookmark(u8),
    AddIfNotPresent(Item<O>),
    Begin { batch: bool },
    Finish(ProcessOutcome),
}

pub(super) fn any_call() -> impl Strategy<Value = Call> {
    let outcome = prop_oneof![
        5 => Just(ProcessOutcome::Done),
        1 => Just(ProcessOutcome::Failed("process failed".into())),
        1 => Just(ProcessOutcome::Requeue(None)),
        1 => Just(ProcessOutcome::Requeue(Some("process failed".into()))),
    ];
    prop_oneof![
        4 => any_item(true).prop_map(Call::Add),
        4 => any_item(true).prop_map(Call::Update),
        5 => any_item(true).prop_map(Call::Delete),
        2 => prop::collection::vec(any_pod(false), 0..5).prop_map(Call::Replace),
        1 => prop::collection::vec(any_item(true), 0..5).prop_map(Call::Replace),
        2 => Just(Call::Resync),
        1 => Just(Call::Close),
        1 => (0..99_u8).prop_map(Call::Bookmark),
        2 => any_item(false).prop_map(Call::AddIfNotPresent),
        6 => any::<bool>().prop_map(|batch| Call::Begin { batch }),
        8 => outcome.prop_map(Call::Finish),
    ]
}

/// The calls that every queue supports.
pub(super) fn call<Q: Queue<O>>(
    queue: &mut Q,
    call: Call,
    known: Option<&dyn KeyListerGetter<O>>,
    trace: &mut impl Trace,
) -> Result<(), Error> {
    match call {
        Call::Add(item) => queue.add(item, trace),
        Call::Update(item) => queue.update(item, trace),
        Call::Delete(item) => queue.delete(item, known, trace),
        Call::Replace(items) => queue.replace(items, "9", known, trace),
        Call::Resync => queue.resync(known, trace),
        Call::Close => {
            queue.close(trace);
            Ok(())
        }
        Call::Bookmark(_) | Call::AddIfNotPresent(_) | Call::Begin { .. } | Call::Finish(_) => {
            Ok(())
        }
    }
}

fn deltas_of(key: &Key, deltas: &[Delta<O>]) -> Vec<(DeltaType, ObjectRef)> {
    deltas
        .iter()
        .map(|delta| (delta.delta_type, delta.object.to_ref(key)))
        .collect()
}

pub(super) fn releases() -> impl Strategy<Value = Release> {
    prop::sample::select(vec![
        Release::V0_24,
        Release::V0_32,
        Release::V0_34,
        Release::V0_35,
        Release::V0_36,
    ])
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_facts_of_a_delta_fifo_determine_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        replaced in any::<bool>(),
        transforms in any::<bool>(),
        knows in any::<bool>(),
        release in releases(),
    ) {
        let mut queue = DeltaFifo::new(DeltaFifoOptions {
            key_func: key_func(),
            emit_delta_type_replaced: replaced,
            transformer: transforms.then(bad_app_fails),
            release,
        });
        let mut store = new_store::<O>(Arc::new(deletion_handling_meta_namespace_key_func));
        let mut fold = Fold::default();
        let mut taken = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    let was_empty = queue.is_empty();
                    match queue.begin_pop(&mut fold) {
                        Ok(Some(item)) => taken = Some(item),
                        Ok(None) => prop_assert!(was_empty && !queue.is_closed()),
                        Err(error) => {
                            prop_assert!(was_empty && queue.is_closed());
                            prop_assert_eq!(error, Error::FifoClosed);
                        }
                    }
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    let fails = matches!(outcome, ProcessOutcome::Failed(_) | ProcessOutcome::Requeue(Some(_)));
                    if outcome == ProcessOutcome::Done {
                        for delta in &item.deltas {
                            if delta.delta_type == DeltaType::Deleted {
                                store.delete(&delta.object, &mut ()).unwrap();
                            } else {
                                store.add(delta.object.clone(), &mut ()).unwrap();
                            }
                        }
                    }
                    let (_, end) = queue.finish_pop(item, outcome, Duration::ZERO, &mut fold);
                    prop_assert_eq!(end.is_err(), fails);
                },
                Call::AddIfNotPresent(object) => {
                    let delta = Delta { delta_type: DeltaType::Added, object };
                    let _ = queue.add_if_not_present(Offered::Deltas(vec![delta].into()), &mut fold);
                }
                other => {
                    let known = knows.then_some(&store as &dyn KeyListerGetter<O>);
                    // Errors are legal: the fold is compared with the state that they leave.
                    let _legal = call(&mut queue, other, known, &mut fold);
                }
            }
            prop_assert!(queue.is_consistent());
            let keys: VecDeque<Key> = queue.list_keys().cloned().collect();
            let deltas: BTreeMap<Key, _> = keys
                .iter()
                .map(|key| (key.clone(), deltas_of(key, queue.get_by_key(key).unwrap())))
                .collect();
            for deltas in deltas.values() {
                let deletes = |pair: &[(DeltaType, ObjectRef)]| {
                    pair.iter().all(|(delta_type, _)| *delta_type == DeltaType::Deleted)
                };
                // Requeued deltas are queued unchanged; all others are merged.
                prop_assert!(!deltas.windows(2).any(deletes));
            }
            prop_assert_eq!(&fold.queue, &keys);
            prop_assert_eq!(&fold.deltas, &deltas);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.synced, queue.populated() && queue.initial_population_count() == 0);
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }

    #[test]
    fn the_facts_of_a_fifo_determine_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        release in releases(),
    ) {
        let mut queue = Fifo::new(FifoOptions { release, ..FifoOptions::new(key_func()) });
        let mut fold = Fold::default();
        let mut taken = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    taken = queue.begin_pop(&mut fold).unwrap_or_default();
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    queue.finish_pop(item, outcome, Duration::ZERO, &mut fold).1.unwrap_or_default();
                },
                Call::AddIfNotPresent(item) => {
                    let _ = queue.add_if_not_present(item, &mut fold);
                }
                other => {
                    let _legal = call(&mut queue, other, None, &mut fold);
                }
            }
            let keys: VecDeque<Key> = queue.queue().cloned().collect();
            let items: BTreeMap<Key, _> = queue
                .list()
                .into_iter()
                .map(|(key, item)| (key.clone(), vec![(DeltaType::Added, item.to_ref(key))]))
                .collect();
            prop_assert_eq!(&fold.queue, &keys);
            prop_assert_eq!(&fold.deltas, &items);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }

    #[test]
    fn the_facts_of_a_real_fifo_determine_its_state(
        calls in prop::collection::vec(any_call(), 0..60),
        transforms in any::<bool>(),
        release in releases(),
        batch_size in 1..4_usize,
    ) {
        let mut queue = RealFifo::new(RealFifoOptions {
            transformer: transforms.then(bad_app_fails),
            batch_size,
            ..RealFifoOptions::new(key_func(), release)
        });
        let store = known_store();
        let mut fold = Fold::default();
        let mut taken: Option<PoppedBatch<O>> = None;
        for one in calls {
            match one {
                Call::Begin { batch } if taken.is_none() => {
                    let before = queue.initial_population_count();
                    let popped = if batch {
                        queue.begin_pop_batch(&mut fold)
                    } else {
                        queue.begin_pop(&mut fold)
                    };
                    taken = popped.unwrap_or_default();
                    if let Some(taken) = &taken {
                        let length = taken.entries.len();
                        let keys: BTreeSet<_> = taken.entries.iter().map(|entry| entry.key()).collect();
                        prop_assert!((1..=batch_size).contains(&length));
                        prop_assert!(before == 0 || length <= before, "across the end of the initial list");
                        prop_assert_eq!(keys.len(), length, "a repeated key");
                        prop_assert!(length == 1 || !keys.contains(&None), "this entry must be alone");
                        prop_assert!(length == 1 || taken.batch);
                    }
                }
                Call::Finish(outcome) => if let Some(item) = taken.take() {
                    let _ = queue.finish_pop(item, outcome, Duration::ZERO, &mut fold);
                },
                Call::Bookmark(rv) => queue.bookmark(&rv.to_string(), &mut fold),
                Call::AddIfNotPresent(_) => {}
                other => {
                    let _legal = call(&mut queue, other, Some(&store), &mut fold);
                }
            }
            let entries: VecDeque<Entry> = queue
                .entries()
                .map(|entry| entry.to_entry(queue.key_func()))
                .collect();
            prop_assert_eq!(&fold.entries, &entries);
            prop_assert_eq!(fold.populated, queue.populated());
            prop_assert_eq!(fold.synced, queue.has_synced());
            prop_assert_eq!(fold.closed, queue.is_closed());
        }
    }
}

pub(super) fn known_store() -> Indexer<O> {
    let mut store = new_store(key_func());
    store.add(pod("a/p0", "1"), &mut ()).unwrap();
    store.add(pod("b/p1", "2"), &mut ()).unwrap();
    store
}

#[test]
fn only_neighbouring_deletions_are_merged() {
    let whole = |rv: &str| pod("a", rv);
    let gone = |rv: &str| tombstone("a", Some(pod("a", rv)));
    type Two = [Item<O>; 2];
    let cases: [(&str, Two, &str, bool); 4] = [
        (
            "two objects: the older",
            [whole("1"), whole("2")],
            "1",
            false,
        ),
        (
            "object, tombstone: the object",
            [whole("1"), gone("2")],
            "1",
            false,
        ),
        (
            "tombstone, object: the object",
            [gone("1"), whole("2")],
            "2",
            false,
        ),
        (
            "two tombstones: the newer",
            [gone("1"), gone("2")],
            "2",
            true,
        ),
    ];
    for (name, [older, newer], kept, is_tombstone) in cases {
        let mut queue = delta_fifo();
        queue.add(pod("a", "0"), &mut ()).unwrap();
        queue.delete(older, None, &mut ()).unwrap();
        queue.delete(newer, None, &mut ()).unwrap();
        let deltas = queue.get_by_key("a").unwrap();
        assert_eq!(
            types(deltas),
            [DeltaType::Added, DeltaType::Deleted],
            "{name}"
        );
        assert_eq!(rv(&deltas[1].object), kept, "{name}");
        assert_eq!(deltas[1].object.is_tombstone(), is_tombstone, "{name}");
    }
    let mut queue = delta_fifo();
    for _ in 0..2 {
        queue.add(pod("a", "1"), &mut ()).unwrap();
        queue.update(pod("a", "1"), &mut ()).unwrap();
        queue.delete(pod("a", "1"), None, &mut ()).unwrap();
    }
    assert_eq!(queue.get_by_key("a").unwrap().len(), 6);
}

#[test]
fn a_deletion_of_an_unknown_key_is_ignored() {
    struct Unsure;
    impl KeyListerGetter<O> for Unsure {
        fn list_keys(&self) -> Vec<Key> {
            Vec::new()
        }
        fn get_by_key(&self, _key: &str) -> Result<Option<Item<O>>, String> {
            Err("cannot tell".into())
        }
    }
    let store = known_store();
    type Asked<'a> = Option<&'a dyn KeyListerGetter<O>>;
    let cases: [(&str, Asked<'_>, Option<Known>, bool); 4] = [
        ("a/p0", None, None, false),
        ("a/p0", Some(&store), Some(Known::Yes("1".into())), true),
        ("a/p9", Some(&store), Some(Known::No), false),
        ("a/p9", Some(&Unsure), Some(Known::Failed), true),
    ];
    for (key, knows, known, queued) in cases {
        let mut queue = delta_fifo();
        let mut facts = Facts::new();
        queue.delete(pod(key, "5"), knows, &mut facts).unwrap();
        assert_eq!(queue.get_by_key(key).is_some(), queued, "{known:?}");
        let key = Key::from(key);
        let pending = false;
        let checked = (
            Step::DeleteCheck,
            Fact::Queue(QueueFact::DeleteChecked {
                key: key.clone(),
                known,
                pending,
            }),
        );
        assert_eq!(facts[2], checked, "after Populated and Synced");
        let ignored = (
            Step::DeleteIgnore,
            Fact::Queue(QueueFact::DeleteIgnored { key }),
        );
        assert_eq!(facts[3] == ignored, !queued);
        assert!(queue.has_synced(), "a delete populates the queue");
    }
}

#[test]
fn the_next_list_finds_missed_deletions() {
    let store = known_store();
    let mut queue = delta_fifo();
    queue.add(pod("c0", "3"), &mut ()).unwrap();
    queue
        .replace(vec![pod("a/p0", "4")], "9", Some(&store), &mut ())
        .unwrap();
    let keys: Vec<&Key> = queue.list_keys().collect();
    assert_eq!(keys, ["c0", "a/p0", "b/p1"]);
    let queued = queue.get_by_key("c0").unwrap();
    assert_eq!(types(queued), [DeltaType::Added, DeltaType::Deleted]);
    let missed = &queue.get_by_key("b/p1").unwrap()[0];
    assert_eq!(missed.delta_type, DeltaType::Deleted);
    assert!(missed.object.is_tombstone());
    assert_eq!(rv(&missed.object), "2");
}

#[test]
fn the_transformer_of_0_24_sees_every_object() {
    for (release, expected) in [(Release::V0_24, "2tt"), (Release::V0_32, "2t")] {
        let mut queue = DeltaFifo::new(DeltaFifoOptions {
            transformer: Some(bad_app_fails()),
            release,
            ..DeltaFifoOptions::new(key_func())
        });
        // A list is transformed in every release, although it queues Sync.
        queue
            .replace(vec![pod("a", "2")], "9", None, &mut ())
            .unwrap();
        let mut store = new_store(key_func());
        let (taken, _) = queue
            .pop(|_| ProcessOutcome::Done, no_clock, &mut ())
            .unwrap()
            .unwrap();
        assert_eq!(rv(&taken.deltas[0].object), "2t");
        store.add(taken.deltas[0].object.clone(), &mut ()).unwrap();
        queue.resync(Some(&store), &mut ()).unwrap();
        assert_eq!(rv(&queue.get_by_key("a").unwrap()[0].object), expected);
    }
}

#[test]
fn pop_is_begin_process_and_finish() {
    let mut queue = delta_fifo();
    assert!(matches!(
        queue.pop(|_| ProcessOutcome::Done, no_clock, &mut ()),
        Ok(None)
    ));
    let list = vec![pod("a", "1"), pod("b", "1")];
    queue.replace(list, "9", None, &mut ()).unwrap();
    assert!(!queue.has_synced());
    let mut seen = Vec::new();
    for _ in 0..2 {
        let process = |p: deltascope::cache::queue::Processing<'_, _>| {
            let taken: &deltascope::cache::delta_fifo::PoppedDeltas<O> = p.taken;
            seen.push((taken.key.to_string(), p.is_in_initial_list, p.has_synced));
            ProcessOutcome::Failed("process failed".into())
        };
        let (_, end) = queue.pop(process, no_clock, &mut ()).unwrap().unwrap();
        assert_eq!(end.unwrap_err().to_string(), "process failed");
    }
    assert_eq!(seen, [("a".into(), true, false), ("b".into(), true, true)]);
    queue.close(&mut ());
    let end = queue.pop(|_| ProcessOutcome::Done, no_clock, &mut ());
    assert_eq!(end.unwrap_err().kind().as_str(), "ErrFIFOClosed");
}

#[test]
fn has_synced_turns_true_before_or_after_the_process_function() {
    for (release, during) in [
        (Release::V0_34, true),
        (Release::V0_35, true),
        (Release::V0_36, false),
    ] {
        let mut fifo = Fifo::new(FifoOptions {
            release,
            ..FifoOptions::new(key_func())
        });
        let mut real = RealFifo::new(RealFifoOptions::new(key_func(), release));
        let known = new_store(key_func());
        fifo.replace(vec![pod("a", "1")], "9", None, &mut ())
            .unwrap();
        real.replace(vec![pod("a", "1")], "9", Some(&known), &mut ())
            .unwrap();
        let taken = fifo.begin_pop(&mut ()).unwrap().unwrap();
        assert_eq!(fifo.has_synced(), during, "FIFO {release:?}");
        let _ = fifo.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
        assert!(fifo.has_synced());
        let taken = real.begin_pop_batch(&mut ()).unwrap().unwrap();
        assert_eq!(real.has_synced(), during, "RealFIFO {release:?}");
        let _ = real.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
        assert!(real.has_synced());
    }
}

#[test]
fn a_skipped_key_of_the_initial_list_counts_when_the_pop_ends() {
    let list = || {
        let mut queue = Fifo::new(FifoOptions::new(key_func()));
        queue
            .replace(vec![pod("a", "1")], "9", None, &mut ())
            .unwrap();
        queue.delete(pod("a", "1"), None, &mut ()).unwrap();
        queue
    };
    // Another object ends the Pop; it still belongs to the initial list.
    let mut queue = list();
    queue.add(pod("b", "2"), &mut ()).unwrap();
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(taken.is_in_initial_list && !queue.has_synced());
    let _ = queue.finish_pop(taken, ProcessOutcome::Done, Duration::ZERO, &mut ());
    assert!(queue.has_synced());
    // Close ends it.
    let mut queue = list();
    assert!(queue.begin_pop(&mut ()).unwrap().is_none());
    assert!(!queue.has_synced(), "that Pop is still waiting");
    queue.close(&mut ());
    assert!(queue.begin_pop(&mut ()).is_err());
    assert!(queue.has_synced());
    // A second list while that Pop waits does not end it, an Add does.
    let mut queue = list();
    assert!(queue.begin_pop(&mut ()).unwrap().is_none());
    queue
        .replace(vec![pod("b", "2")], "10", None, &mut ())
        .unwrap();
    assert!(!queue.has_synced());
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(taken.is_in_initial_list && !queue.has_synced());
    queue.add(pod("c", "3"), &mut ()).unwrap();
    assert!(queue.has_synced());
}

#[test]
fn a_slow_process_function_is_reported_if_many_keys_wait() {
    let slow = |waiting: usize, ms: u64| {
        let mut queue = delta_fifo();
        for index in 0..=waiting {
            queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        }
        let clock = Cell::new(Duration::from_secs(5));
        let mut facts = Facts::new();
        let process = |_: deltascope::cache::queue::Processing<'_, _>| {
            clock.set(clock.get() + Duration::from_millis(ms));
            ProcessOutcome::Done
        };
        queue.pop(process, || clock.get(), &mut facts).unwrap();
        facts.into_iter().find_map(|(step, fact)| match fact {
            Fact::Queue(QueueFact::ProcessWasSlow { key, depth, ms }) => {
                assert_eq!(step, Step::PopSlow);
                Some((key.to_string(), depth, ms))
            }
            _ => None,
        })
    };
    assert_eq!(slow(11, 101), Some(("p0".into(), 11, 101)));
    assert_eq!(slow(11, 100), None);
    assert_eq!(slow(10, 5000), None);
}

#[test]
fn a_batch_may_take_longer() {
    let slow = |batch: usize, ms: u64| {
        let mut queue = RealFifo::new(RealFifoOptions {
            batch_size: batch,
            ..RealFifoOptions::new(key_func(), Release::V0_36)
        });
        for index in 0..batch + 11 {
            queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        }
        let mut facts = Facts::new();
        let taken = queue.begin_pop_batch(&mut facts).unwrap().unwrap();
        let elapsed = Duration::from_millis(ms);
        let _ = queue.finish_pop(taken, ProcessOutcome::Done, elapsed, &mut facts);
        facts
            .iter()
            .any(|(_, fact)| matches!(fact, Fact::Queue(QueueFact::ProcessWasSlow { .. })))
    };
    assert!(slow(1, 101) && !slow(1, 100));
    assert!(slow(3, 301) && !slow(3, 300));
    assert!(slow(20, 1001) && !slow(20, 1000));
}

#[test]
fn the_lock_is_released_unless_very_many_entries_wait() {
    let options = RealFifoOptions {
        batch_size: 2,
        ..RealFifoOptions::new(key_func(), Release::V0_36)
    };
    let mut queue = RealFifo::new(options);
    for (index, unlocks) in [true, true, true, false].into_iter().enumerate() {
        queue.add(pod(&format!("p{index}"), "1"), &mut ()).unwrap();
        assert_eq!(queue.unlocks_while_processing(), unlocks);
    }
    let old = RealFifo::<O>::new(RealFifoOptions::new(key_func(), Release::V0_35));
    assert!(!old.unlocks_while_processing());
}

#[test]
fn requeued_deltas_go_to_the_end_unless_the_key_has_newer_ones() {
    let mut queue = delta_fifo();
    for name in ["a", "b"] {
        queue.add(pod(name, "1"), &mut ()).unwrap();
    }
    let again = |_: deltascope::cache::queue::Processing<'_, _>| ProcessOutcome::Requeue(None);
    queue.pop(again, no_clock, &mut ()).unwrap();
    assert_eq!(queue.list_keys().collect::<Vec<_>>(), ["b", "a"]);
    let taken = queue.begin_pop(&mut ()).unwrap().unwrap();
    queue.update(pod("b", "2"), &mut ()).unwrap();
    let mut facts = Facts::new();
    let outcome = ProcessOutcome::Requeue(Some("process failed".into()));
    let (_, end) = queue.finish_pop(taken, outcome, Duration::ZERO, &mut facts);
    assert!(end.is_err());
    let key = Key::from("b");
    assert_eq!(
        facts,
        [(
            Step::PopRequeue,
            Fact::Queue(QueueFact::Requeued { key, added: false })
        )]
    );
    assert_eq!(rv(&queue.get_by_key("b").unwrap()[0].object), "2");
}

/// An invisible name must be distinguishable from an empty one.
#[test]
fn errors_quote_names_as_in_go() {
    const UNSEEN: &str = "a\u{200b}\u{7}";
    let index_write = Error::IndexWrite {
        key: UNSEEN.into(),
        index: UNSEEN.into(),
        error: "boom".into(),
    };
    let not_found = ListerError::NotFound {
        resource: GroupResource::new("", "pods"),
        name: UNSEEN.into(),
    };
    let mut queue = delta_fifo();
    let mut refused = |item| {
        let refused = queue.add_if_not_present(item, &mut ());
        refused.unwrap_err().to_string()
    };
    for (said, count) in [
        (
            split_meta_namespace_key(&format!("a/b/{UNSEEN}")).unwrap_err(),
            1,
        ),
        (not_found.to_string(), 1),
        (index_write.to_string(), 2),
        (refused(Offered::Item(Item::Opaque(UNSEEN.into()))), 1),
        (refused(Offered::Item(Item::ExplicitKey(UNSEEN.into()))), 1),
    ] {
        assert_eq!(said.matches(r#"a\u200b\a""#).count(), count, "{said}");
    }
}
