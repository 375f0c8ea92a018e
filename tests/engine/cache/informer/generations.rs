//! The generations of the process function: the order of pops, writes and notifications.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::controller::{Generation, InformerQueue};
use deltascope::cache::fact::{Fact, QueueFact};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::process::{PoppedItems, Process, Progress};
use deltascope::cache::queue::{ProcessOutcome, Release};
use deltascope::cache::reflector::StoreCall;
use deltascope::cache::store::{Indexer, StoreOptions};
use proptest::prelude::*;

use super::{Event, Parts, any_written, call, follow, list, parts, short};
use crate::cache::{Facts, O, cases, key_func, labelled, letters_indexer, opaque, pod, rv};

#[test]
fn a_generation_is_a_range_of_versions() {
    use Generation::{Atomic, Batched, Classic, InOrder};
    for (era, generation) in [
        ("1.24", Some(Classic)),
        ("1.32", Some(Classic)),
        ("1.33", Some(InOrder)),
        ("1.34", Some(InOrder)),
        ("1.35", Some(Batched)),
        ("1.36", Some(Atomic)),
        ("1.41", Some(Atomic)),
        ("2.0", None),
        ("1.", None),
        ("1.+3", None),
        ("1.36.1", None),
        ("1.99999999999", None),
        ("", None),
    ] {
        assert_eq!(Generation::from_version(era), generation, "{era}");
    }
    for generation in Generation::ALL {
        assert_eq!(
            Generation::from_version(generation.version()),
            Some(generation)
        );
    }
}

#[test]
fn the_stores_content_during_a_notification() {
    let first = [("a/p0", "5"), ("a/p1", "6"), ("b/p0", "7")];
    let relist = [("a/p1", "15"), ("b/p1", "16")];
    let table: [(Generation, [&[&[&str]]; 2]); 4] = [
        (
            Generation::Classic,
            [
                &[
                    &["took", "wrote", "+a/p0 5 initial | 5"],
                    &["took", "wrote", "+a/p1 6 initial | 5 6"],
                    &["took", "wrote", "+b/p0 7 initial | 5 6 7 synced"],
                ],
                &[
                    &["took", "wrote", "~a/p1 6 15 | 5 15 7 synced"],
                    &["took", "wrote", "+b/p1 16 | 5 15 7 16 synced"],
                    &["took", "wrote", "-a/p0 5 x | 15 7 16 synced"],
                    &["took", "wrote", "-b/p0 7 x | 15 16 synced"],
                ],
            ],
        ),
        (
            Generation::InOrder,
            [
                &[
                    &["took", "wrote", "+a/p0 5 initial | 5"],
                    &["took", "wrote", "+a/p1 6 initial | 5 6"],
                    &["took", "wrote", "+b/p0 7 initial | 5 6 7 synced"],
                ],
                &[
                    &["took", "wrote", "-a/p0 5 x | 6 7 synced"],
                    &["took", "wrote", "-b/p0 7 x | 6 synced"],
                    &["took", "wrote", "~a/p1 6 15 | 15 synced"],
                    &["took", "wrote", "+b/p1 16 | 15 16 synced"],
                ],
            ],
        ),
        (
            Generation::Batched,
            [
                &[&[
                    "took",
                    "took",
                    "took",
                    "wrote",
                    "+a/p0 5 initial | 5 6 7 synced",
                    "+a/p1 6 initial | 5 6 7 synced",
                    "+b/p0 7 initial | 5 6 7 synced",
                ]],
                &[&[
                    "took",
                    "took",
                    "took",
                    "took",
                    "wrote",
                    "-a/p0 5 x | 15 16 synced",
                    "-b/p0 7 x | 15 16 synced",
                    "~a/p1 6 15 | 15 16 synced",
                    "+b/p1 16 | 15 16 synced",
                ]],
            ],
        ),
        (
            Generation::Atomic,
            [
                &[&[
                    "took",
                    "wrote",
                    "+a/p0 5 initial | 5 6 7",
                    "+a/p1 6 initial | 5 6 7",
                    "+b/p0 7 initial | 5 6 7",
                ]],
                &[&[
                    "took",
                    "wrote",
                    "-a/p0 5 x | 15 16 synced",
                    "-b/p0 7 x | 15 16 synced",
                    "~a/p1 6 15 | 15 16 synced",
                    "+b/p1 16 | 15 16 synced",
                ]],
            ],
        ),
    ];
    for (generation, [at_first, later]) in table {
        let mut parts = parts(generation);
        parts.write(list(&first));
        assert_eq!(parts.pops(), at_first, "{generation:?}");
        assert!(parts.queue.has_synced(), "{generation:?}");
        parts.write(list(&relist));
        assert_eq!(parts.pops(), later, "{generation:?}");
    }
}

#[test]
fn a_key_twice_in_one_list() {
    let table: [(Generation, &[&str]); 4] = [
        (
            Generation::Classic,
            &["+a 1 initial", "~a 1 3", "+b 2 initial"],
        ),
        (
            Generation::InOrder,
            &["+a 1 initial", "+b 2 initial", "~a 1 3"],
        ),
        (
            Generation::Batched,
            &["+a 1 initial", "+b 2 initial", "~a 1 3"],
        ),
        (
            Generation::Atomic,
            &["+a 1 initial", "+b 2 initial", "+a 3 initial"],
        ),
    ];
    for (generation, expected) in table {
        let mut parts = parts(generation);
        parts.write(list(&[("a", "1"), ("b", "2"), ("a", "3")]));
        let notifications: Vec<String> = parts.pops().concat();
        let notifications: Vec<&str> = notifications
            .iter()
            .filter_map(|step| Some(step.split_once(" | ")?.0))
            .collect();
        assert_eq!(notifications, expected, "{generation:?}");
        assert_eq!(parts.store.get_by_key("a").map(rv), Some("3"));
    }
}

#[test]
fn a_batch_ends_at_its_limit_the_initial_list_or_a_repeated_key() {
    let mut parts = parts(Generation::Batched);
    let names: Vec<String> = (0..1001).map(|n| format!("p{n:04}")).collect();
    let listed: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    parts.write(list(&listed));
    // Behind the initial list, so never in one batch with it.
    parts.write(StoreCall::Update(pod("p0000", "2")));
    parts.write(StoreCall::Update(pod("p0001", "2")));
    // A repeated key ends the batch.
    parts.write(StoreCall::Delete(pod("p0000", "3")));
    let pops = parts.pops();
    let counts: Vec<usize> = pops
        .iter()
        .map(|steps| steps.iter().filter(|step| step.contains(" | ")).count())
        .collect();
    assert_eq!(counts, [1000, 1, 2, 1]);
    assert!(!pops[0].last().unwrap().ends_with("synced"));
    assert!(pops[1].last().unwrap().ends_with("synced"));
}

#[test]
fn bookmarks_and_resyncs_are_entries_of_their_own() {
    let mut parts = parts(Generation::Atomic);
    parts.write(list(&[("a", "1"), ("b", "2")]));
    parts.write(StoreCall::Bookmark("20".into()));
    parts.write(StoreCall::Resync);
    parts.write(StoreCall::UpdateResourceVersion("30".into()));
    assert_eq!(
        parts.pops(),
        [
            vec!["took", "wrote", "+a 1 initial | 1 2", "+b 2 initial | 1 2"],
            vec!["took", "wrote"],
            vec!["took", "~a 1 1 | 1 2 synced", "~b 2 2 | 1 2 synced"],
        ]
    );
    assert_eq!(parts.store.last_store_sync_resource_version(), "20");
    for generation in [
        Generation::Classic,
        Generation::InOrder,
        Generation::Batched,
    ] {
        let mut parts = self::parts(generation);
        parts.write(list(&[("a", "1")]));
        parts.write(StoreCall::Bookmark("20".into()));
        assert_eq!(
            parts.pops().len(),
            1,
            "{generation:?}: no bookmark is queued"
        );
    }
}

#[test]
fn a_failed_process_function_loses_the_popped_item() {
    // The index function fails for this object.
    let bad = || labelled("a", "1", "bad");
    for generation in Generation::ALL {
        let mut parts = parts(generation);
        parts.write(StoreCall::Replace(vec![bad()], "10".into()));
        let (steps, outcome) = parts.pop().unwrap();
        assert_eq!(
            steps,
            ["took", "wrote"],
            "{generation:?}: no handler is notified"
        );
        let ProcessOutcome::Failed(text) = outcome else {
            panic!("{generation:?}: {outcome:?}");
        };
        assert!(text.ends_with("index func failed"), "{text}");
        assert!(parts.pop().is_none(), "{generation:?}: nothing is left");
        assert!(parts.queue.has_synced(), "{generation:?}");
    }
}

#[test]
fn a_list_with_an_object_without_a_key_fails_in_processing() {
    let mut parts = parts(Generation::Atomic);
    parts.write(StoreCall::Replace(
        vec![pod("a", "1"), opaque()],
        "10".into(),
    ));
    let (steps, outcome) = parts.pop().unwrap();
    assert_eq!(steps, ["took"]);
    assert_eq!(
        outcome,
        ProcessOutcome::Failed(
            "couldn't create key for object not-an-object: object has no meta: object does not \
             implement the Object interfaces"
                .into()
        )
    );
    assert!(parts.store.is_empty());
}

#[test]
fn in_a_batch_only_the_entry_without_a_key_fails() {
    // The queue accepts any key function; the store's cannot compute a key for an explicit key
    // here.
    let mut queue: InformerQueue<O> = InformerQueue::new(Generation::Batched, key_func(), None);
    let mut store = Indexer::with_options(
        Arc::new(|item: &Item<O>| match item {
            Item::Object(object) => Ok(object.name().into()),
            _ => Err("not a pod".into()),
        }),
        letters_indexer(),
        StoreOptions::default(),
    );
    let items = vec![pod("a", "1"), Item::ExplicitKey("b".into()), pod("c", "3")];
    queue
        .write(StoreCall::Replace(items, "10".into()), &store, &mut ())
        .unwrap();
    let mut process = Process::new(queue.begin_pop(&mut ()).unwrap().unwrap());
    let mut notifications = Vec::new();
    let outcome = loop {
        match process.next_notification(&mut store, &mut ()) {
            Ok(notification) => notifications.push(short(&notification)),
            Err(outcome) => break outcome,
        }
    };
    assert_eq!(notifications, ["+a 1 initial", "+c 3 initial"]);
    assert_eq!(
        outcome,
        ProcessOutcome::Failed(
            "not all items in the batch successfully processed: failed to execute (1/3) \
             transactions failed due to: [couldn't create key for object b: not a pod]"
                .into()
        )
    );
    assert_eq!(store.len(), 2);
}

#[test]
fn a_process_function_may_go_by_delta_types() {
    let mut parts = parts(Generation::Classic);
    parts.write(StoreCall::Update(pod("a", "1")));
    parts.write(StoreCall::Add(pod("a", "2")));
    parts.write(StoreCall::Delete(pod("a", "3")));
    let work = parts.queue.begin_pop(&mut ()).unwrap().unwrap();
    let mut process = Process::by_type(work);
    let mut facts = Facts::new();
    let mut notifications = Vec::new();
    loop {
        match process.step_without_store(&mut facts) {
            Progress::Notify(notification) => notifications.push(short(&notification)),
            Progress::Done(outcome) => {
                assert_eq!(outcome, ProcessOutcome::Done);
                break;
            }
            Progress::Took | Progress::Wrote => {}
        }
    }
    assert_eq!(notifications, ["~a  1", "+a 2", "-a 3"]);
    for (_, fact) in facts {
        assert!(
            matches!(
                fact,
                Fact::Queue(QueueFact::DeltaTaken { exists: None, .. })
            ),
            "{fact:?}"
        );
    }
}

#[test]
fn the_facts_of_a_list_come_in_this_order() {
    let names = |generation| {
        let mut parts = parts(generation);
        parts.write(list(&[("gone", "1")]));
        parts.pops();
        parts.write(list(&[("a", "2")]));
        let mut facts = Facts::new();
        while let Some(work) = parts.queue.begin_pop(&mut facts).unwrap() {
            let mut process = Process::new(work);
            while process
                .next_notification(&mut parts.store, &mut facts)
                .is_ok()
            {}
            let taken = process.into_taken();
            let outcome = ProcessOutcome::Done;
            let end = parts
                .queue
                .finish_pop(taken, outcome, Duration::ZERO, &mut facts);
            end.unwrap();
        }
        facts
            .iter()
            .map(|(_, fact)| fact.name())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(Generation::Atomic),
        [
            "EntriesTaken",
            "ListOpened",
            "StoreReplaced",
            "StoreVersionMoved",
            "IndicesReset",
            "EntriesProcessed"
        ]
        .into_iter()
        // The list has the same version as the one before.
        .filter(|name| *name != "StoreVersionMoved")
        .collect::<Vec<_>>()
    );
    assert_eq!(
        names(Generation::Batched),
        [
            "EntriesTaken",
            "DeltaTaken",
            "DeltaTaken",
            "ItemRemoved",
            "ItemStored",
            "EntriesProcessed"
        ]
    );
    assert_eq!(
        names(Generation::Classic),
        [
            "KeyPopped",
            "DeltaTaken",
            "ItemStored",
            "Processed",
            "KeyPopped",
            "DeltaTaken",
            "ItemRemoved",
            "Processed"
        ]
    );
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => any_written(),
        6 => Just(Event::Pop),
    ]
}

proptest! {
    #![proptest_config(cases())]

    /// After any sequence of events, all generations end with the same content, and so does a
    /// handler that maintains a copy from its notifications.
    #[test]
    fn all_generations_end_with_the_same_content(events in proptest::collection::vec(any_event(), 0..40)) {
        let mut contents = Vec::new();
        for generation in Generation::ALL {
            let mut parts = parts(generation);
            let mut copy: BTreeMap<String, String> = BTreeMap::new();
            let mut version = 0;
            let drain = |parts: &mut Parts, copy: &mut BTreeMap<String, String>, once: bool| {
                while let Some(work) = parts.queue.begin_pop(&mut ()).unwrap() {
                    let mut process = Process::new(work);
                    let outcome = loop {
                        match process.next_notification(&mut parts.store, &mut ()) {
                            Ok(notification) => follow(&notification, copy),
                            Err(outcome) => break outcome,
                        }
                    };
                    let taken = process.into_taken();
                    let end = parts.queue.finish_pop(taken, outcome, Duration::ZERO, &mut ());
                    end.unwrap();
                    if once {
                        break;
                    }
                }
            };
            for event in &events {
                version += 1;
                let Some(call) = call(event, version) else {
                    drain(&mut parts, &mut copy, true);
                    continue;
                };
                parts.write(call);
            }
            drain(&mut parts, &mut copy, false);
            let content = crate::cache::content(&parts.store);
            prop_assert_eq!(&content, &copy, "{:?}", generation);
            contents.push(content);
        }
        for content in &contents {
            prop_assert_eq!(content, &contents[0]);
        }
    }
}

/// Copying a world copies the popped items.
#[test]
fn a_process_can_be_copied_in_the_middle() {
    let mut parts = parts(Generation::Batched);
    parts.write(list(&[("a", "1"), ("b", "2")]));
    let work = parts.queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(matches!(&work, PoppedItems::Entries(_)) && work.is_batch() && work.len() == 2);
    let mut process = Process::new(work);
    let mut copies = Vec::new();
    let mut notifications = Vec::new();
    loop {
        copies.push((process.clone(), parts.store.clone(), notifications.clone()));
        match process.step(&mut parts.store, &mut ()) {
            Progress::Notify(notification) => notifications.push(short(&notification)),
            Progress::Done(_) => break,
            Progress::Took | Progress::Wrote => {}
        }
    }
    for (mut process, mut store, mut before) in copies {
        while let Ok(notification) = process.next_notification(&mut store, &mut ()) {
            before.push(short(&notification));
        }
        assert_eq!(before, notifications);
        assert_eq!(store.len(), 2);
    }
}

#[test]
fn a_queue_of_an_older_generation_in_a_newer_release() {
    // client-go 0.36 switched back: in batches, but counted down after the process function.
    let mut parts = Parts {
        queue: InformerQueue::of_release(Generation::Batched, Release::V0_36, key_func(), None),
        ..parts(Generation::Batched)
    };
    parts.write(list(&[("a", "1"), ("b", "2")]));
    let pops = parts.pops();
    assert_eq!(pops.len(), 1);
    assert_eq!(pops[0].last().unwrap(), "+b 2 initial | 1 2");
    assert!(parts.queue.has_synced());
}
