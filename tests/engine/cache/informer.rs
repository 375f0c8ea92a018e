//! What is above the queue: the process function, listeners, the shared processor, bookkeeping.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deltascope::cache::controller::{
    Config, Controller, Generation, InformerQueue, Seen, new_indexer_informer, new_informer,
};
use deltascope::cache::error::{Error, ErrorKind};
use deltascope::cache::event_handler::{
    FilteringResourceEventHandler, ResourceEventHandler, ResourceEventHandlerDetailedFuncs,
    ResourceEventHandlerFuncs,
};
use deltascope::cache::fact::{Fact, HandlersFact, Notification, QueueFact};
use deltascope::cache::informer::{
    CacheSync, CacheSyncWait, HandlerRegistration, SharedInformerState, determine_resync_period,
    initial_notices,
};
use deltascope::cache::key_func::deletion_handling_meta_namespace_key_func;
use deltascope::cache::listener::{
    HandlerEnd, INITIAL_BUFFER_SIZE, ListenerId, ProcessorListener, REST_AFTER_PANIC,
};
use deltascope::cache::lister_watcher::{ListPage, Table};
use deltascope::cache::mutation_detector::{COMPARE_PERIOD, Mutated, MutationDetector};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::order::Order;
use deltascope::cache::process::{Notice, Process, ProcessStage, Progress, TakenWork};
use deltascope::cache::processor::SharedProcessor;
use deltascope::cache::queue::{ProcessOutcome, Release};
use deltascope::cache::reflector::{Need, StoreCall};
use deltascope::cache::step::Step;
use deltascope::cache::store::{Indexer, StoreOptions};
use proptest::prelude::*;

use super::{
    Facts, O, bad_app_fails, cases, key_func, labelled, letters_indexer, opaque, pod, rv, tombstone,
};

// ---- an informer's parts, without threads and without a server

struct Parts {
    queue: InformerQueue<O>,
    store: Indexer<O>,
}

fn parts(generation: Generation) -> Parts {
    let options = StoreOptions {
        order: Order::Key,
        keeps_resource_version: generation.keeps_store_resource_version(),
        ..StoreOptions::default()
    };
    Parts {
        queue: InformerQueue::new(generation, key_func(), None),
        store: Indexer::with_options(
            Arc::new(deletion_handling_meta_namespace_key_func),
            letters_indexer(),
            options,
        ),
    }
}

fn list(names: &[(&str, &str)]) -> StoreCall<O> {
    let items = names.iter().map(|(name, rv)| pod(name, rv)).collect();
    StoreCall::Replace(items, "10".into())
}

/// A notification in short: `+a/b 1 initial`, `~a/b 1 2`, `-a/b 1`, `x` for a tombstone.
fn short(notice: &Notice<O>) -> String {
    let key = |item: &Item<O>| deletion_handling_meta_namespace_key_func(item).unwrap();
    match notice {
        Notice::Add {
            object,
            is_in_initial_list,
        } => {
            let initial = if *is_in_initial_list { " initial" } else { "" };
            format!("+{} {}{initial}", key(object), rv(object))
        }
        Notice::Update { old, new } => {
            let old = old.as_ref().map_or("", rv);
            format!("~{} {old} {}", key(new), rv(new))
        }
        Notice::Delete { object } if object.is_tombstone() => {
            format!("-{} {} x", key(object), rv(object))
        }
        Notice::Delete { object } => format!("-{} {}", key(object), rv(object)),
    }
}

impl Parts {
    fn write(&mut self, call: StoreCall<O>) {
        self.queue.write(call, &self.store, &mut ()).unwrap();
    }

    /// Pops once; what each step was, and beside a notification what a handler in the processing
    /// loop sees: the stored versions and HasSynced.
    fn pop(&mut self) -> Option<(Vec<String>, ProcessOutcome)> {
        let work = self.queue.begin_pop(&mut ()).unwrap()?;
        let mut process = Process::new(work);
        let mut steps = Vec::new();
        let outcome = loop {
            match process.step(&mut self.store, &mut ()) {
                Progress::Took => steps.push("took".into()),
                Progress::Wrote => steps.push("wrote".into()),
                Progress::Notify(notice) => {
                    let stored: Vec<&str> = self.store.list().map(rv).collect();
                    let synced = if self.queue.has_synced() {
                        " synced"
                    } else {
                        ""
                    };
                    steps.push(format!("{} | {}{synced}", short(&notice), stored.join(" ")));
                }
                Progress::Done(outcome) => break outcome,
            }
        };
        assert_eq!(process.position().stage, ProcessStage::Done);
        let elapsed = Duration::ZERO;
        let end = self
            .queue
            .finish_pop(process.into_taken(), outcome.clone(), elapsed, &mut ());
        assert_eq!(end.is_ok(), outcome == ProcessOutcome::Done);
        Some((steps, outcome))
    }

    fn pops(&mut self) -> Vec<Vec<String>> {
        std::iter::from_fn(|| self.pop().map(|(steps, _)| steps)).collect()
    }
}

// ---- generations and the process function

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
        assert_eq!(Generation::from_era(era), generation, "{era}");
    }
    for generation in Generation::ALL {
        assert_eq!(Generation::from_era(generation.era()), Some(generation));
    }
}

#[test]
fn what_the_store_holds_inside_a_notification() {
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
        let told: Vec<String> = parts.pops().concat();
        let told: Vec<&str> = told
            .iter()
            .filter_map(|step| Some(step.split_once(" | ")?.0))
            .collect();
        assert_eq!(told, expected, "{generation:?}");
        assert_eq!(parts.store.get_by_key("a").map(rv), Some("3"));
    }
}

#[test]
fn a_batch_ends_where_it_has_to() {
    let mut parts = parts(Generation::Batched);
    let names: Vec<String> = (0..1001).map(|n| format!("p{n:04}")).collect();
    let listed: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    parts.write(list(&listed));
    // Behind the first list, so never in a batch with it.
    parts.write(StoreCall::Update(pod("p0000", "2")));
    parts.write(StoreCall::Update(pod("p0001", "2")));
    // A repeat ends the batch.
    parts.write(StoreCall::Delete(pod("p0000", "3")));
    let pops = parts.pops();
    let told: Vec<usize> = pops
        .iter()
        .map(|steps| steps.iter().filter(|step| step.contains(" | ")).count())
        .collect();
    assert_eq!(told, [1000, 1, 2, 1]);
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
fn a_process_function_that_fails_loses_what_was_popped() {
    // The index function fails for this one.
    let bad = || labelled("a", "1", "bad");
    for generation in Generation::ALL {
        let mut parts = parts(generation);
        parts.write(StoreCall::Replace(vec![bad()], "10".into()));
        let (steps, outcome) = parts.pop().unwrap();
        assert_eq!(steps, ["took", "wrote"], "{generation:?}: nobody is told");
        let ProcessOutcome::Failed(text) = outcome else {
            panic!("{generation:?}: {outcome:?}");
        };
        assert!(text.ends_with("index func failed"), "{text}");
        assert!(parts.pop().is_none(), "{generation:?}: nothing is left");
        assert!(parts.queue.has_synced(), "{generation:?}");
    }
}

#[test]
fn a_list_with_something_without_a_key_fails_when_it_is_processed() {
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
fn in_a_batch_what_has_no_key_fails_alone() {
    // The queue takes any key function; the store's cannot name an explicit key here.
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
    let mut told = Vec::new();
    let outcome = loop {
        match process.next_notice(&mut store, &mut ()) {
            Ok(notice) => told.push(short(&notice)),
            Err(outcome) => break outcome,
        }
    };
    assert_eq!(told, ["+a 1 initial", "+c 3 initial"]);
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
fn a_process_function_may_go_by_the_types() {
    let mut parts = parts(Generation::Classic);
    parts.write(StoreCall::Update(pod("a", "1")));
    parts.write(StoreCall::Add(pod("a", "2")));
    parts.write(StoreCall::Delete(pod("a", "3")));
    let work = parts.queue.begin_pop(&mut ()).unwrap().unwrap();
    let mut process = Process::by_type(work);
    let mut facts = Facts::new();
    let mut told = Vec::new();
    loop {
        match process.step_without_store(&mut facts) {
            Progress::Notify(notice) => told.push(short(&notice)),
            Progress::Done(outcome) => {
                assert_eq!(outcome, ProcessOutcome::Done);
                break;
            }
            Progress::Took | Progress::Wrote => {}
        }
    }
    assert_eq!(told, ["~a  1", "+a 2", "-a 3"]);
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
fn the_facts_of_a_list_are_told_in_this_order() {
    let names = |generation| {
        let mut parts = parts(generation);
        parts.write(list(&[("gone", "1")]));
        parts.pops();
        parts.write(list(&[("a", "2")]));
        let mut facts = Facts::new();
        while let Some(work) = parts.queue.begin_pop(&mut facts).unwrap() {
            let mut process = Process::new(work);
            while process.next_notice(&mut parts.store, &mut facts).is_ok() {}
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
        // The list has the version of the one before.
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

/// What a server tells an informer.
#[derive(Clone, Debug)]
enum Told {
    Add(u8),
    Update(u8),
    Delete(u8),
    List(Vec<u8>),
    Resync,
    /// The process loop gets its turn.
    Pop,
}

fn any_told() -> impl Strategy<Value = Told> {
    prop_oneof![
        12 => any_written(),
        6 => Just(Told::Pop),
    ]
}

/// All but the process loop's turns.
fn any_written() -> impl Strategy<Value = Told> {
    prop_oneof![
        3 => (0..6_u8).prop_map(Told::Add),
        3 => (0..6_u8).prop_map(Told::Update),
        3 => (0..6_u8).prop_map(Told::Delete),
        2 => proptest::collection::vec(0..6_u8, 0..6).prop_map(Told::List),
        1 => Just(Told::Resync),
    ]
}

/// What the reflector makes of it, with a version of its own; `None` for the process loop's turn.
fn call(told: &Told, version: u32) -> Option<StoreCall<O>> {
    let rv = version.to_string();
    let object = |name: u8| pod(&format!("p{name}"), &rv);
    Some(match told {
        Told::Add(name) => StoreCall::Add(object(*name)),
        Told::Update(name) => StoreCall::Update(object(*name)),
        Told::Delete(name) => StoreCall::Delete(object(*name)),
        Told::List(names) => {
            let names: BTreeSet<u8> = names.iter().copied().collect();
            StoreCall::Replace(names.into_iter().map(object).collect(), rv.as_str().into())
        }
        Told::Resync => StoreCall::Resync,
        Told::Pop => return None,
    })
}

proptest! {
    #![proptest_config(cases())]

    /// Whatever happens between, at the end each generation holds the same, and by its notifications
    /// a handler that keeps a copy of its own holds the same, too.
    #[test]
    fn all_generations_come_to_the_same(told in proptest::collection::vec(any_told(), 0..40)) {
        let mut contents = Vec::new();
        for generation in Generation::ALL {
            let mut parts = parts(generation);
            let mut copy: BTreeMap<String, String> = BTreeMap::new();
            let mut version = 0;
            let drain = |parts: &mut Parts, copy: &mut BTreeMap<String, String>, once: bool| {
                while let Some(work) = parts.queue.begin_pop(&mut ()).unwrap() {
                    let mut process = Process::new(work);
                    let outcome = loop {
                        match process.next_notice(&mut parts.store, &mut ()) {
                            Ok(notice) => follow(&notice, copy),
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
            for told in &told {
                version += 1;
                let Some(call) = call(told, version) else {
                    drain(&mut parts, &mut copy, true);
                    continue;
                };
                parts.write(call);
            }
            drain(&mut parts, &mut copy, false);
            let content = super::content(&parts.store);
            prop_assert_eq!(&content, &copy, "{:?}", generation);
            contents.push(content);
        }
        for content in &contents {
            prop_assert_eq!(content, &contents[0]);
        }
    }
}

/// Keeps a copy by what a handler is told.
fn follow(notice: &Notice<O>, copy: &mut BTreeMap<String, String>) {
    let object = notice.object();
    let key = deletion_handling_meta_namespace_key_func(object).unwrap();
    match notice {
        Notice::Delete { .. } => copy.remove(key.as_str()),
        Notice::Add { .. } | Notice::Update { .. } => {
            copy.insert(key.to_string(), rv(object).to_owned())
        }
    };
}

// ---- the unshared informer

#[test]
fn the_unshared_informer_tells_its_handler_in_the_processing_loop() {
    let mut informer = Controller::new(Config {
        indexers: super::app_indexer(),
        full_resync_period: SECOND,
        transform: Some(bad_app_fails()),
        ..Config::new(Generation::Classic)
    });
    let processed = |informer: &mut Controller<O>| {
        let mut told = Vec::new();
        let mut handler = |notice: Notice<O>, seen: Seen<'_, O>| {
            told.push(format!("{} | {}", short(&notice), seen.store.len()));
        };
        while let Ok(true) = informer.process(&mut handler, || Duration::ZERO, &mut ()) {}
        told
    };
    let now = Duration::ZERO;
    let list = |informer: &mut Controller<O>, apps: [&str; 2]| {
        let Need::List(_) = informer.reflector().need() else {
            panic!("{:?}", informer.reflector().need());
        };
        let page = ListPage {
            resource_version: "10".into(),
            items: vec![labelled("a", "1", apps[0]), labelled("b", "2", apps[1])],
            continue_token: "".into(),
            table: None,
        };
        informer.reflector_mut().listed(now, Ok(page), &mut ());
        assert!(informer.carry_out(now, &mut ()));
        assert!(
            !informer.carry_out(now, &mut ()),
            "nothing more is asked for"
        );
    };
    informer.reflector_mut().waited(now, &mut ());
    // An object that cannot be transformed: those before it come, and another list.
    list(&mut informer, ["web", "bad"]);
    assert_eq!(processed(&mut informer), ["+a 1t initial | 1"]);
    assert!(!informer.has_synced() && informer.last_sync_resource_version().is_empty());
    assert!(informer.reflector_mut().take_watch_error().is_some());
    informer.reflector_mut().waited(now, &mut ());
    list(&mut informer, ["web", "db"]);
    assert_eq!(
        processed(&mut informer),
        ["~a 1t 1t | 1", "+b 2t initial | 2"]
    );
    assert!(informer.has_synced());
    assert_eq!(&**informer.last_sync_resource_version(), "10");
    let web: Vec<&str> = informer
        .store()
        .by_index("app", "web")
        .unwrap()
        .map(rv)
        .collect();
    assert_eq!(web, ["1t"]);

    informer.reflector_mut().watched(now, Ok(()), &mut ());
    assert!(!informer.resync(now, &mut ()), "not due yet");
    let due = informer.reflector().resync_at().unwrap();
    assert!(informer.resync(due, &mut ()));
    assert_eq!(processed(&mut informer).len(), 2);
    assert_eq!(informer.reflector().resync_at(), Some(due + SECOND));

    let copy = informer.clone();
    informer.stop(due, &mut ());
    assert!(matches!(informer.reflector().need(), Need::Stopped));
    let closed = informer.process(|_, _| {}, || due, &mut ());
    assert_eq!(closed, Err(Error::FifoClosed));
    assert!(!copy.queue().is_closed(), "a copy goes its own way");
}

#[test]
fn an_informer_has_its_generations_defaults() {
    for (generation, streams, keeps_version) in [
        (Generation::Classic, false, false),
        (Generation::InOrder, false, false),
        (Generation::Batched, true, false),
        (Generation::Atomic, true, true),
    ] {
        let mut informer: Controller<O> = new_indexer_informer(generation, super::app_indexer());
        assert_eq!(informer.store().index_names().count(), 1);
        informer.reflector_mut().waited(Duration::ZERO, &mut ());
        let asks_to_stream = matches!(informer.reflector().need(), Need::Watch(_));
        assert_eq!(asks_to_stream, streams, "{generation:?}");
        let mut informer: Controller<O> = new_informer(generation);
        informer.write(list(&[("a", "1")]), &mut ()).unwrap();
        assert_eq!(
            informer.process(|_, _| {}, || Duration::ZERO, &mut ()),
            Ok(true)
        );
        let version = informer.store().last_store_sync_resource_version();
        assert_eq!(
            version,
            if keeps_version { "10" } else { "" },
            "{generation:?}"
        );
    }
}

#[test]
fn what_a_config_says_of_types_reaches_the_reflector() {
    let odd = |object: &O| object.name() == "odd";
    let mut config: Config<O> = Config::new(Generation::Atomic);
    let options = config.reflector_options();
    assert!(options.expected_type.is_none() && options.table_check.is_none());
    config.expected_type = Some(Arc::new(move |object: &O| match odd(object) {
        true => Err("odd".to_owned()),
        false => Ok(()),
    }));
    config.table_check = Some(Arc::new(move |object: &O| odd(object).then_some(Table::V1)));
    let options = config.clone().reflector_options();
    let (expected, table) = (options.expected_type.unwrap(), options.table_check.unwrap());
    for name in ["a", "odd"] {
        let object = pod(name, "1");
        let object = object.as_object().unwrap();
        let is_odd = (expected(object).is_err(), table(object).is_some());
        assert_eq!(is_odd, (name == "odd", name == "odd"));
    }
}

// ---- event handlers

/// Notes what it is told.
#[derive(Default)]
struct Noting(Mutex<Vec<String>>);

impl ResourceEventHandler<O> for Noting {
    fn on_add(&self, object: &Item<O>, is_in_initial_list: bool) {
        self.note(&Notice::Add {
            object: object.clone(),
            is_in_initial_list,
        });
    }

    fn on_update(&self, old: &Item<O>, new: &Item<O>) {
        self.note(&Notice::Update {
            old: Some(old.clone()),
            new: new.clone(),
        });
    }

    fn on_delete(&self, object: &Item<O>) {
        self.note(&Notice::Delete {
            object: object.clone(),
        });
    }
}

impl Noting {
    fn note(&self, notice: &Notice<O>) {
        self.0.lock().unwrap().push(short(notice));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn add(object: Item<O>, is_in_initial_list: bool) -> Notice<O> {
    Notice::Add {
        object,
        is_in_initial_list,
    }
}

fn update(old: Item<O>, new: Item<O>) -> Notice<O> {
    let old = Some(old);
    Notice::Update { old, new }
}

fn delete(object: Item<O>) -> Notice<O> {
    Notice::Delete { object }
}

#[test]
fn a_filter_turns_one_notification_into_another() {
    let noting = Arc::new(Noting::default());
    let handler = FilteringResourceEventHandler {
        filter_func: Arc::new(|item: &Item<O>| {
            let labels = item.as_object().map(|object| object.labels());
            labels.is_some_and(|labels| labels.get("app").is_some_and(|app| app == "in"))
        }),
        handler: Arc::clone(&noting),
    };
    let within = |rv| labelled("p", rv, "in");
    let without = |rv| labelled("p", rv, "out");
    let table: [(Notice<O>, Option<&str>); 11] = [
        (add(within("1"), true), Some("+p 1 initial")),
        (add(within("1"), false), Some("+p 1")),
        (add(without("1"), true), None),
        (update(within("1"), within("2")), Some("~p 1 2")),
        (update(without("1"), within("2")), Some("+p 2")),
        (update(within("1"), without("2")), Some("-p 1")),
        (update(without("1"), without("2")), None),
        (delete(within("1")), Some("-p 1")),
        (delete(without("1")), None),
        (delete(tombstone("p", Some(within("1")))), Some("-p 1 x")),
        (delete(tombstone("p", None)), None),
    ];
    for (notice, expected) in table {
        notice.tell(&handler);
        assert_eq!(
            noting.take(),
            Vec::from_iter(expected),
            "{}",
            short(&notice)
        );
    }
}

#[test]
fn a_handler_is_as_many_functions_as_are_needed() {
    let noting = Arc::new(Noting::default());
    let all = [
        add(pod("p", "1"), true),
        update(pod("p", "1"), pod("p", "2")),
        delete(pod("p", "2")),
    ];
    let tell = |handler: &dyn ResourceEventHandler<O>| {
        all.iter().for_each(|notice| notice.tell(handler));
        noting.take()
    };
    assert!(tell(&ResourceEventHandlerFuncs::default()).is_empty());
    assert!(tell(&ResourceEventHandlerDetailedFuncs::default()).is_empty());
    let object = |noting: &Arc<Noting>| {
        let noting = Arc::clone(noting);
        Some(Box::new(move |item: &Item<O>| {
            noting.0.lock().unwrap().push(rv(item).to_owned());
        }) as _)
    };
    let both = |noting: &Arc<Noting>| {
        let noting = Arc::clone(noting);
        Some(Box::new(move |old: &Item<O>, new: &Item<O>| noting.on_update(old, new)) as _)
    };
    let told = tell(&ResourceEventHandlerFuncs {
        add_func: object(&noting),
        update_func: both(&noting),
        delete_func: object(&noting),
    });
    assert_eq!(told, ["1", "~p 1 2", "2"]);
    let adding = Arc::clone(&noting);
    let told = tell(&ResourceEventHandlerDetailedFuncs {
        add_func: Some(Box::new(move |item, initial| adding.on_add(item, initial))),
        update_func: both(&noting),
        delete_func: object(&noting),
    });
    assert_eq!(told, ["+p 1 initial", "~p 1 2", "2"]);
}

#[test]
fn an_update_without_another_version_counts_as_a_resync() {
    for (notice, is_sync) in [
        (update(pod("p", "1"), pod("p", "1")), true),
        (update(pod("p", ""), pod("p", "")), true),
        (update(pod("p", "1"), pod("p", "2")), false),
        (
            update(tombstone("p", Some(pod("p", "1"))), pod("p", "1")),
            false,
        ),
        (add(pod("p", "1"), false), false),
        (delete(pod("p", "1")), false),
    ] {
        assert_eq!(notice.is_sync(), is_sync, "{}", short(&notice));
    }
}

// ---- a listener

type Listener = ProcessorListener<O>;

fn listener() -> Listener {
    ProcessorListener::new(ListenerId(3), "h")
}

fn numbered(number: usize) -> Arc<Notice<O>> {
    Arc::new(add(pod("p", &number.to_string()), number.is_multiple_of(3)))
}

fn number(notice: &Notice<O>) -> usize {
    rv(notice.object()).parse().unwrap()
}

#[derive(Clone, Copy, Debug)]
enum Turn {
    Offer,
    Receive,
    Take,
    Done,
}

proptest! {
    #![proptest_config(cases())]

    /// Whoever gets a turn, a handler is told everything once and in order, a sender is held up
    /// exactly while `pop` has not received, and `HasSynced` waits for the first list.
    #[test]
    fn notifications_stay_in_order(
        turns in proptest::collection::vec(
            prop_oneof![
                3 => Just(Turn::Offer),
                3 => Just(Turn::Receive),
                2 => Just(Turn::Take),
                2 => Just(Turn::Done),
            ],
            0..200,
        ),
    ) {
        let mut listener = listener();
        let (mut sent, mut taken) = (0, 0);
        let mut offered: Option<usize> = None;
        let mut waiting: VecDeque<usize> = VecDeque::new();
        let mut running = None;
        let mut first_list = 0;
        for turn in turns {
            match turn {
                Turn::Offer => {
                    let result = listener.offer(numbered(sent), &mut ());
                    prop_assert_eq!(result.is_ok(), offered.is_none());
                    if result.is_ok() {
                        offered = Some(sent);
                        first_list += usize::from(sent % 3 == 0);
                        sent += 1;
                    }
                }
                Turn::Receive => {
                    prop_assert_eq!(listener.receive(&mut ()), offered.is_some());
                    waiting.extend(offered.take());
                }
                Turn::Take => {
                    let next = if running.is_none() { waiting.pop_front() } else { None };
                    prop_assert_eq!(listener.is_ready(), next.is_some());
                    let notice = listener.take(&mut ());
                    prop_assert_eq!(notice.as_ref().map(|taken| number(&taken.notice)), next);
                    if let Some(next) = next {
                        prop_assert_eq!(next, taken);
                        taken += 1;
                        running = Some(next);
                    }
                }
                Turn::Done => {
                    listener.done(HandlerEnd::Returned, &mut ());
                    if let Some(done) = running.take() {
                        first_list -= usize::from(done % 3 == 0);
                    }
                }
            }
            prop_assert_eq!(listener.is_offered(), offered.is_some());
            prop_assert_eq!(listener.is_running(), running.is_some());
            prop_assert_eq!(listener.waiting(), waiting.len());
            let notices: Vec<usize> = listener.notices().map(|notice| number(notice)).collect();
            prop_assert_eq!(notices, Vec::from(waiting.clone()));
            prop_assert!(!listener.has_synced());
            let mut asked = listener.clone();
            asked.upstream_has_synced(&mut ());
            prop_assert_eq!(asked.has_synced(), first_list == 0);
        }
    }
}

#[test]
fn the_ring_buffer_doubles() {
    let mut listener = listener();
    // One is next for the handler, the others are in the buffer.
    for sent in 0..=INITIAL_BUFFER_SIZE {
        let wakes = listener.add(numbered(sent), &mut ());
        assert_eq!(wakes, sent == 0, "only the first finds `run` idle");
    }
    assert_eq!(listener.capacity(), INITIAL_BUFFER_SIZE);
    listener.add(numbered(INITIAL_BUFFER_SIZE + 1), &mut ());
    assert_eq!(listener.capacity(), 2 * INITIAL_BUFFER_SIZE);
    for expected in 0..INITIAL_BUFFER_SIZE + 2 {
        let taken = listener.take(&mut ()).unwrap();
        assert_eq!(number(&taken.notice), expected);
        listener.done(HandlerEnd::Returned, &mut ());
    }
    assert!(listener.take(&mut ()).is_none());
    assert_eq!(
        listener.capacity(),
        2 * INITIAL_BUFFER_SIZE,
        "it never shrinks"
    );
}

#[test]
fn a_handler_that_panics_skips_and_rests() {
    let mut listener = listener();
    // The second one is of the first list, too.
    for number in [0, 1, 3] {
        listener.add(numbered(number), &mut ());
    }
    listener.upstream_has_synced(&mut ());
    assert_eq!(listener.take(&mut ()).unwrap().rest, Duration::ZERO);
    let mut facts = Facts::new();
    listener.done(HandlerEnd::Panicked("boom".into()), &mut facts);
    assert_eq!(
        facts,
        [(
            Step::HandlerPanic,
            Fact::Handlers(HandlersFact::HandlerPanicked {
                handler: 3,
                error: "boom".into()
            })
        )]
    );
    let next = listener.take(&mut ()).unwrap();
    assert_eq!((number(&next.notice), next.rest), (1, REST_AFTER_PANIC));
    listener.done(HandlerEnd::Returned, &mut ());
    assert_eq!(listener.take(&mut ()).unwrap().rest, Duration::ZERO);
    listener.done(HandlerEnd::Returned, &mut ());
    assert!(
        !listener.has_synced(),
        "one of the first list was never handled"
    );

    // Later on a panic costs nothing but the notification.
    let mut listener = self::listener();
    listener.add(numbered(0), &mut ());
    listener.upstream_has_synced(&mut ());
    listener.take(&mut ());
    listener.done(HandlerEnd::Returned, &mut facts);
    assert!(listener.has_synced());
    assert_eq!(
        facts.last().unwrap().1,
        Fact::Handlers(HandlersFact::HandlerSynced { handler: 3 })
    );
    listener.add(numbered(1), &mut ());
    listener.take(&mut ());
    listener.done(HandlerEnd::Panicked("boom".into()), &mut ());
    assert!(listener.has_synced());
}

#[test]
fn a_closed_listener_drops_what_waits_and_ends_after_what_it_is_at() {
    let mut listener = listener();
    for number in 0..3 {
        listener.add(numbered(number), &mut ());
    }
    listener.take(&mut ());
    listener.close();
    assert!(!listener.has_ended());
    assert!(listener.receive(&mut ()), "`pop` drops what waits");
    assert!(!listener.receive(&mut ()));
    assert!(listener.offer(numbered(4), &mut ()).is_ok());
    assert!(!listener.is_offered());
    listener.done(HandlerEnd::Returned, &mut ());
    assert!(listener.has_ended() && listener.take(&mut ()).is_none());
    listener.upstream_has_synced(&mut ());
    assert!(!listener.has_synced(), "nobody watches for it any more");
}

#[test]
fn a_notification_is_sent_then_queued_then_taken_then_handled() {
    let mut listener = listener();
    let mut facts = Facts::new();
    listener.add(numbered(0), &mut facts);
    listener.add(numbered(1), &mut facts);
    listener.take(&mut facts);
    listener.done(HandlerEnd::Returned, &mut facts);
    listener.upstream_has_synced(&mut facts);
    let names: Vec<_> = facts.iter().map(|(_, fact)| fact.name()).collect();
    assert_eq!(
        names,
        [
            "NotificationSent",
            "NotificationQueued",
            "NotificationSent",
            "NotificationQueued",
            "NotificationTaken",
            "NotificationHandled",
            "HandlerSynced"
        ]
    );
    let Fact::Handlers(HandlersFact::NotificationQueued {
        handler: 3,
        pending: 2,
        notification:
            Notification::Add {
                object,
                is_in_initial_list: false,
            },
    }) = &facts[3].1
    else {
        panic!("{:?}", facts[3]);
    };
    assert_eq!(object.key, "p");
}

// ---- the shared processor and its resyncs

const SECOND: Duration = Duration::from_secs(1);

fn seconds(seconds: u32) -> Duration {
    SECOND * seconds
}

struct Shared {
    state: SharedInformerState<O>,
    processor: SharedProcessor<()>,
}

impl Shared {
    fn new(resync: Duration) -> Self {
        Self {
            state: SharedInformerState::new(resync),
            processor: SharedProcessor::default(),
        }
    }

    fn add(
        &mut self,
        resync: Option<Duration>,
        now: Duration,
    ) -> (ListenerId, HandlerRegistration) {
        let registration = self.state.add_event_handler("h", resync, &mut ()).unwrap();
        let id = self
            .processor
            .add_listener(&registration, 0, |_, _| (), now, &mut ());
        (id, registration)
    }
}

#[test]
fn resync_periods_are_rounded_up() {
    struct Case {
        informer: u32,
        started: bool,
        asked: Option<u32>,
        // In milliseconds, to ask for less than a second.
        requested: u64,
        counts: u64,
        check: u64,
    }
    let case = |informer, started, asked, requested, counts, check| Case {
        informer,
        started,
        asked,
        requested,
        counts,
        check,
    };
    for case in [
        // The informer's default, and what is slower.
        case(20_000, false, None, 20_000, 20_000, 20_000),
        case(20_000, true, None, 20_000, 20_000, 20_000),
        case(20_000, false, Some(30_000), 30_000, 30_000, 20_000),
        case(20_000, true, Some(30_000), 30_000, 30_000, 20_000),
        // Never.
        case(20_000, false, Some(0), 0, 0, 20_000),
        case(20_000, true, Some(0), 0, 0, 20_000),
        // Faster: before start the informer follows, after it the handler.
        case(20_000, false, Some(10_000), 10_000, 10_000, 10_000),
        case(20_000, true, Some(10_000), 20_000, 20_000, 20_000),
        // A second at least.
        case(20_000, false, Some(300), 1_000, 1_000, 1_000),
        case(20_000, true, Some(300), 20_000, 20_000, 20_000),
        case(500, false, Some(300), 1_000, 1_000, 500),
        case(500, false, None, 1_000, 1_000, 500),
        // An informer without resyncs makes none.
        case(0, false, Some(10_000), 10_000, 0, 0),
        case(0, true, Some(300), 1_000, 0, 0),
        case(0, false, None, 0, 0, 0),
    ] {
        let ms = |ms: u32| Duration::from_millis(ms.into());
        let mut shared = Shared::new(ms(case.informer));
        if case.started {
            shared.state.start().unwrap();
        }
        let (_, registration) = shared.add(case.asked.map(ms), Duration::ZERO);
        let what = format!("{} {} {:?}", case.informer, case.started, case.asked);
        let got = [
            registration.requested_resync_period,
            registration.resync_period,
            shared.state.resync_check_period(),
        ]
        .map(|period| period.as_millis() as u64);
        assert_eq!(got, [case.requested, case.counts, case.check], "{what}");
        let lowered = case.check < u64::from(case.informer);
        assert_eq!(
            registration.new_resync_check_period.is_some(),
            lowered,
            "{what}"
        );
        assert_eq!(registration.late, case.started, "{what}");
    }
    assert_eq!(
        determine_resync_period(seconds(5), seconds(20)),
        seconds(20)
    );
}

#[test]
fn a_lower_check_period_is_told_and_serves_everybody() {
    let mut shared = Shared::new(seconds(60));
    let (slow, _) = shared.add(None, Duration::ZERO);
    let mut facts = Facts::new();
    let registration = shared
        .state
        .add_event_handler("fast", Some(seconds(10)), &mut facts)
        .unwrap();
    let processor = &mut shared.processor;
    processor.add_listener(&registration, 7, |_, _| (), Duration::ZERO, &mut facts);
    assert_eq!(
        facts
            .iter()
            .map(|(_, fact)| fact.clone())
            .collect::<Vec<_>>(),
        [
            Fact::Handlers(HandlersFact::ResyncCheckSet { ms: 10_000 }),
            Fact::Handlers(HandlersFact::HandlerAdded {
                handler: 1,
                name: "fast".into(),
                initial: 7
            })
        ]
    );
    assert_eq!(shared.state.start(), Ok(seconds(10)));
    let schedule = shared.processor.resync_schedule(slow).unwrap();
    assert_eq!(schedule.resync_period, seconds(60));
}

#[test]
fn a_period_is_honoured_only_at_checks() {
    // 20 s checked every 20 s; 30 s every 40 s; 0 never; in an informer without checks nobody.
    let mut shared = Shared::new(seconds(20));
    let ids = [None, Some(seconds(30)), Some(Duration::ZERO)]
        .map(|period| shared.add(period, Duration::ZERO).0);
    let mut due: [Vec<u32>; 3] = Default::default();
    for at in (20..=240).step_by(20) {
        let wanted = shared.processor.should_resync(seconds(at), &mut ());
        assert!(wanted, "one of them is always due");
        for (due, id) in due.iter_mut().zip(ids) {
            if shared.processor.is_syncing(id) {
                due.push(at);
            }
        }
    }
    assert_eq!(due[0], (20..=240).step_by(20).collect::<Vec<_>>());
    assert_eq!(due[1], [40, 80, 120, 160, 200, 240]);
    assert!(due[2].is_empty());

    let mut shared = Shared::new(Duration::ZERO);
    let (id, _) = shared.add(Some(seconds(10)), Duration::ZERO);
    assert!(!shared.processor.should_resync(seconds(100), &mut ()));
    assert!(!shared.processor.is_syncing(id));
}

#[test]
fn resyncs_are_withheld_from_who_is_not_syncing() {
    let mut shared = Shared::new(seconds(10));
    let (never, _) = shared.add(Some(Duration::ZERO), Duration::ZERO);
    let (ten, _) = shared.add(None, Duration::ZERO);
    let told = |shared: &Shared, notice: &Notice<O>, facts: &mut Facts| {
        let told = shared.processor.distribute(notice, facts);
        told.map(|(id, ())| id).collect::<Vec<_>>()
    };
    let same = update(pod("p", "1"), pod("p", "1"));
    let other = update(pod("p", "1"), pod("p", "2"));
    let mut facts = Facts::new();
    // All are syncing until the first check.
    assert_eq!(told(&shared, &same, &mut facts), [never, ten]);
    assert!(facts.is_empty());
    assert!(shared.processor.should_resync(seconds(10), &mut facts));
    assert_eq!(
        facts,
        [(
            Step::ResyncCheck,
            Fact::Handlers(HandlersFact::SyncingSet {
                handler: 0,
                syncing: false
            })
        )]
    );
    facts.clear();
    assert_eq!(told(&shared, &other, &mut facts), [never, ten]);
    assert!(facts.is_empty());
    assert_eq!(told(&shared, &same, &mut facts), [ten]);
    let Fact::Handlers(HandlersFact::NotificationWithheld { handler: 0, key }) = &facts[0].1 else {
        panic!("{facts:?}");
    };
    assert_eq!(*key, "p");
    // A check in which nobody is due.
    assert!(!shared.processor.should_resync(seconds(15), &mut ()));
    assert!(told(&shared, &same, &mut facts).is_empty());
    // Who comes now is syncing.
    let (late, _) = shared.add(Some(Duration::ZERO), seconds(16));
    assert_eq!(told(&shared, &same, &mut facts), [late]);
}

#[test]
fn who_is_removed_is_told_nothing_more() {
    let mut shared = Shared::new(Duration::ZERO);
    let (first, _) = shared.add(None, Duration::ZERO);
    let (second, _) = shared.add(None, Duration::ZERO);
    let mut facts = Facts::new();
    assert!(
        shared
            .processor
            .remove_listener(first, &mut facts)
            .is_some()
    );
    assert_eq!(
        facts[0].1,
        Fact::Handlers(HandlersFact::HandlerRemoved { handler: 0 })
    );
    facts.clear();
    assert!(
        shared
            .processor
            .remove_listener(first, &mut facts)
            .is_none()
    );
    assert!(facts.is_empty(), "removing twice is fine");
    let notice = add(pod("p", "1"), false);
    let told = shared.processor.distribute_mut(&notice, &mut ());
    assert_eq!(told.map(|(id, _)| id).collect::<Vec<_>>(), [second]);
    let (third, _) = shared.add(None, Duration::ZERO);
    assert!(
        ![first, second].contains(&third),
        "a number is not used again"
    );
    assert_eq!(shared.processor.stop().count(), 2);
    assert_eq!(shared.processor.listeners().len(), 0);
}

/// Who gets a turn in an informer whose goroutines run in any order.
#[derive(Clone, Debug)]
enum Go {
    /// The reflector writes to the queue.
    Write(Told),
    /// The process loop does its next step, if it is not held up.
    Process,
    /// `pop` or `run` of the n-th listener.
    Pop(usize),
    Run(usize),
    AddHandler,
    RemoveHandler(usize),
    ResyncCheck,
}

fn any_go() -> impl Strategy<Value = Go> {
    prop_oneof![
        4 => any_written().prop_map(Go::Write),
        12 => Just(Go::Process),
        6 => (0..4_usize).prop_map(Go::Pop),
        6 => (0..4_usize).prop_map(Go::Run),
        1 => Just(Go::AddHandler),
        1 => (0..4_usize).prop_map(Go::RemoveHandler),
        1 => Just(Go::ResyncCheck),
    ]
}

/// A listener, and the copy that its handler keeps.
struct Following {
    listener: Listener,
    copy: BTreeMap<String, String>,
    running: Option<Arc<Notice<O>>>,
}

impl Following {
    fn run(&mut self) {
        match self.running.take() {
            Some(notice) => {
                follow(&notice, &mut self.copy);
                self.listener.done(HandlerEnd::Returned, &mut ());
            }
            None => self.running = self.listener.take(&mut ()).map(|taken| taken.notice),
        }
    }
}

/// A shared informer, one turn at a time.
struct Turns {
    parts: Parts,
    state: SharedInformerState<O>,
    processor: SharedProcessor<Following>,
    process: Option<Process<O>>,
    /// What the process loop still has to offer: it is held up by the first that is not received.
    sending: VecDeque<(ListenerId, Arc<Notice<O>>)>,
    now: Duration,
    version: u32,
}

impl Turns {
    fn new(generation: Generation) -> Self {
        let mut turns = Self {
            parts: parts(generation),
            state: SharedInformerState::new(SECOND),
            processor: SharedProcessor::default(),
            process: None,
            sending: VecDeque::new(),
            now: Duration::ZERO,
            version: 0,
        };
        turns.add_handler();
        turns.state.start().unwrap();
        turns.processor.start();
        turns
    }

    fn go(&mut self, go: Go) {
        match go {
            Go::Write(told) => {
                self.version += 1;
                let call = call(&told, self.version).unwrap();
                self.parts.write(call);
                self.note_sync();
            }
            Go::Process => self.process(),
            Go::Pop(number) => {
                if let Some(following) = self.nth(number) {
                    following.listener.receive(&mut ());
                }
            }
            Go::Run(number) => {
                if let Some(following) = self.nth(number) {
                    following.run();
                }
            }
            // Both take BlockDeltas, which the process loop has while it processes.
            Go::AddHandler if self.process.is_none() => self.add_handler(),
            Go::RemoveHandler(number) if self.process.is_none() => {
                let id = self.processor.listeners().nth(number).map(|(id, _)| id);
                if let Some(id) = id {
                    self.processor.remove_listener(id, &mut ());
                }
            }
            Go::AddHandler | Go::RemoveHandler(_) => {}
            Go::ResyncCheck => {
                self.now += SECOND;
                if self.processor.should_resync(self.now, &mut ()) {
                    self.parts.write(StoreCall::Resync);
                }
            }
        }
    }

    fn nth(&mut self, number: usize) -> Option<&mut Following> {
        Some(self.processor.listeners_mut().nth(number)?.1)
    }

    fn add_handler(&mut self) {
        let registration = self.state.add_event_handler("h", None, &mut ()).unwrap();
        let initial = if registration.late {
            initial_notices(&self.parts.store)
        } else {
            Vec::new()
        };
        let make = |id, name: &Arc<str>| Following {
            listener: ProcessorListener::new(id, name),
            copy: BTreeMap::new(),
            running: None,
        };
        let id = self
            .processor
            .add_listener(&registration, initial.len(), make, self.now, &mut ());
        let listener = &mut self.processor.get_mut(id).unwrap().listener;
        for notice in initial {
            listener.add(notice, &mut ());
        }
        if self.state.has_synced() {
            listener.upstream_has_synced(&mut ());
        }
    }

    fn process(&mut self) {
        if let Some((id, notice)) = self.sending.pop_front() {
            let following = self.processor.get_mut(id).unwrap();
            if let Err(notice) = following.listener.offer(notice, &mut ()) {
                self.sending.push_front((id, notice));
            }
            return;
        }
        if self
            .processor
            .listeners()
            .any(|(_, f)| f.listener.is_offered())
        {
            return;
        }
        let Some(process) = &mut self.process else {
            let work = self.parts.queue.begin_pop(&mut ()).unwrap();
            self.process = work.map(Process::new);
            return;
        };
        match process.step(&mut self.parts.store, &mut ()) {
            Progress::Took | Progress::Wrote => {}
            Progress::Notify(notice) => {
                let notice = Arc::new(notice);
                let told = self.processor.distribute(&notice, &mut ());
                self.sending
                    .extend(told.map(|(id, _)| (id, Arc::clone(&notice))));
            }
            Progress::Done(outcome) => {
                let taken = self.process.take().unwrap().into_taken();
                let queue = &mut self.parts.queue;
                let end = queue.finish_pop(taken, outcome, Duration::ZERO, &mut ());
                end.unwrap();
                self.note_sync();
            }
        }
    }

    /// Whoever asks the queue waits for its lock, which the process loop has up to 0.35.
    fn note_sync(&mut self) {
        if self.process.is_none() && self.parts.queue.has_synced() && !self.state.has_synced() {
            self.state.set_synced();
            for (_, following) in self.processor.listeners_mut() {
                following.listener.upstream_has_synced(&mut ());
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.process.is_none()
            && self.parts.queue.is_empty()
            && self.processor.listeners().all(|(_, following)| {
                following.running.is_none()
                    && !following.listener.is_offered()
                    && following.listener.waiting() == 0
            })
    }
}

proptest! {
    #![proptest_config(cases())]

    /// However late a handler comes and however slow it is: when all is quiet its copy is the store,
    /// and it has synced when the informer has. Nobody is held up for ever.
    #[test]
    fn every_handler_ends_up_with_the_store(
        generation in proptest::sample::select(&Generation::ALL[..]),
        goes in proptest::collection::vec(any_go(), 0..200),
    ) {
        let mut turns = Turns::new(generation);
        for go in goes {
            turns.go(go);
        }
        let mut rounds = 0;
        while !turns.is_idle() {
            turns.go(Go::Process);
            let listeners = turns.processor.listeners().len();
            for number in 0..listeners {
                turns.go(Go::Pop(number));
                turns.go(Go::Run(number));
            }
            rounds += 1;
            prop_assert!(rounds < 100_000, "somebody waits for ever");
        }
        let stored = super::content(&turns.parts.store);
        for (id, following) in turns.processor.listeners() {
            prop_assert_eq!(&following.copy, &stored, "{:?} {:?}", generation, id);
            prop_assert_eq!(following.listener.has_synced(), turns.state.has_synced());
        }
    }
}

// ---- bookkeeping

#[test]
fn an_informer_runs_once_and_what_comes_too_late_is_refused() {
    let mut shared = Shared::new(Duration::ZERO);
    let state = &mut shared.state;
    state.set_transform(Some(bad_app_fails())).unwrap();
    assert!(state.transform().is_some());
    assert_eq!(state.start(), Ok(Duration::ZERO));
    let refused = [
        state.start().map(|_| ()),
        state.set_transform(None),
        state.check_not_started(),
    ];
    assert!(state.transform().is_some());
    state.check_add_indexers().unwrap();
    state.stop();
    let stopped = [
        state.check_add_indexers(),
        state.add_event_handler("h", None, &mut ()).map(|_| ()),
        state.add_event_handler("", None, &mut ()).map(|_| ()),
    ];
    let texts = |results: [Result<(), Error>; 3], kind| {
        results.map(|result| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), kind);
            error.to_string()
        })
    };
    let twice = "the sharedIndexInformer has started, run more than once is not allowed";
    let started = "informer has already started";
    assert_eq!(
        texts(refused, ErrorKind::Started),
        [twice, started, started]
    );
    assert_eq!(
        texts(stopped, ErrorKind::Stopped),
        [
            "indexer was not added because it has stopped already",
            "handler h was not added to shared informer because it has stopped already",
            "handler was not added to shared informer because it has stopped already",
        ]
    );
}

#[test]
fn a_late_handler_is_told_the_store() {
    let mut parts = parts(Generation::Atomic);
    parts.write(list(&[("b", "2"), ("a", "1")]));
    parts.pops();
    let notices = initial_notices(&parts.store);
    let told: Vec<String> = notices.iter().map(|notice| short(notice)).collect();
    assert_eq!(told, ["+a 1 initial", "+b 2 initial"]);
}

#[test]
fn who_waits_for_caches_asks_ten_times_a_second() {
    let ms = Duration::from_millis;
    let mut wait = CacheSyncWait::default();
    assert_eq!(wait.poll(ms(5), false, || false), CacheSync::AskAt(ms(105)));
    let too_early = || panic!("not asked before it is time");
    assert_eq!(
        wait.poll(ms(50), false, too_early),
        CacheSync::AskAt(ms(105))
    );
    assert_eq!(
        wait.poll(ms(105), false, || false),
        CacheSync::AskAt(ms(205))
    );
    assert_eq!(
        wait.clone().poll(ms(205), false, || true),
        CacheSync::Synced
    );
    assert_eq!(wait.poll(ms(150), true, || true), CacheSync::Stopped);
    // The first time it asks, stopped or not.
    assert_eq!(
        CacheSyncWait::default().poll(ms(0), true, || true),
        CacheSync::Synced
    );
    assert_eq!(
        CacheSyncWait::default().poll(ms(0), true, || false),
        CacheSync::Stopped
    );
}

// ---- the mutation detector

/// An object that can be written to although it is shared.
struct Mutable {
    name: String,
    value: AtomicU64,
}

impl Object for Mutable {
    fn namespace(&self) -> &str {
        ""
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn uid(&self) -> &str {
        ""
    }

    fn resource_version(&self) -> &str {
        "1"
    }

    fn labels(&self) -> &BTreeMap<String, String> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        &NONE
    }
}

#[test]
fn a_mutated_object_is_found_once() {
    let mut detector: MutationDetector<Mutable> = MutationDetector::new(
        "pods",
        Arc::new(|o: &Mutable| o.value.load(Ordering::Relaxed)),
    );
    let objects: Vec<Arc<Mutable>> = ["a", "b"]
        .into_iter()
        .map(|name| {
            Arc::new(Mutable {
                name: name.into(),
                value: AtomicU64::new(0),
            })
        })
        .collect();
    for object in &objects {
        detector.add_object(&Item::Object(Arc::clone(object)));
    }
    detector.add_object(&Item::Opaque("no object".into()));
    assert_eq!(detector.len(), 2);
    let mut now = Duration::ZERO;
    let mut found = |detector: &mut MutationDetector<Mutable>| {
        now += COMPARE_PERIOD;
        let mut facts = Facts::new();
        let mutated = detector.compare_objects(now, &mut facts);
        let keys: Vec<String> = mutated
            .iter()
            .map(|Mutated { key, .. }| key.to_string())
            .collect();
        let stated: Vec<String> = facts
            .into_iter()
            .map(|(_, fact)| match fact {
                Fact::Handlers(HandlersFact::MutationDetected { key }) => key.to_string(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(keys, stated);
        keys
    };
    assert!(found(&mut detector).is_empty());
    objects[1].value.store(1, Ordering::Relaxed);
    assert_eq!(found(&mut detector), ["b"]);
    assert!(found(&mut detector).is_empty(), "it was told");
    assert_eq!(detector.message(), "cache pods modified");
}

#[test]
fn what_came_in_is_watched_for_two_minutes_at_least_and_four_at_most() {
    let object = |name: &str| {
        Item::object(Mutable {
            name: name.into(),
            value: AtomicU64::new(0),
        })
    };
    // It came at such a second, after the tick; it is watched until that one. A rotation comes before
    // what is new is taken in.
    for (came, until) in [
        (0, 242),
        (60, 242),
        (119, 242),
        (120, 363),
        (121, 363),
        (500, 726),
    ] {
        let mut ticking: MutationDetector<Mutable> = MutationDetector::new("pods", Arc::new(|_| 0));
        let mut jumping = ticking.clone();
        for tick in 0..800 {
            let now = SECOND * tick;
            ticking.compare_objects(now, &mut ());
            let watched = usize::from(tick > came && tick < until);
            assert_eq!(ticking.len(), watched, "came at {came}, at {tick}");
            if tick == came {
                ticking.add_object(&object("a"));
                jumping.catch_up(now + SECOND / 2);
                jumping.add_object(&object("a"));
            }
            if tick < came || tick % 11 != 0 {
                continue;
            }
            // However rarely it is asked, it is as if it had ticked; and then goes on so.
            let (mut jumping, mut ticking) = (jumping.clone(), ticking.clone());
            jumping.catch_up(now + SECOND / 2);
            for detector in [&mut jumping, &mut ticking] {
                detector.add_object(&object("b"));
            }
            for more in 1..300 {
                ticking.compare_objects(now + SECOND * more, &mut ());
                if more % 7 == 0 {
                    jumping.catch_up(now + SECOND * more);
                    assert_eq!(jumping.len(), ticking.len(), "at {tick} + {more}");
                }
            }
        }
    }
}

/// Whoever copies a world copies what was popped.
#[test]
fn a_process_can_be_copied_in_the_middle() {
    let mut parts = parts(Generation::Batched);
    parts.write(list(&[("a", "1"), ("b", "2")]));
    let work = parts.queue.begin_pop(&mut ()).unwrap().unwrap();
    assert!(matches!(&work, TakenWork::Entries(_)) && work.is_batch() && work.len() == 2);
    let mut process = Process::new(work);
    let mut copies = Vec::new();
    let mut told = Vec::new();
    loop {
        copies.push((process.clone(), parts.store.clone(), told.clone()));
        match process.step(&mut parts.store, &mut ()) {
            Progress::Notify(notice) => told.push(short(&notice)),
            Progress::Done(_) => break,
            Progress::Took | Progress::Wrote => {}
        }
    }
    for (mut process, mut store, mut before) in copies {
        while let Ok(notice) = process.next_notice(&mut store, &mut ()) {
            before.push(short(&notice));
        }
        assert_eq!(before, told);
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
