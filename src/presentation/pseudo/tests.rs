//! What a listing shows.

use super::*;
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{
    Actor, Cause, FactId, HandlersFact, Known, LockName, ObjectRef, Printer, ServerFact, StoreFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::step::Step;
use deltascope_replay::lessons;
use deltascope_replay::timeline::Timeline;

pub(super) fn classic() -> Picture {
    Picture {
        generation: Generation::Classic,
        ..Picture::default()
    }
}

fn record(id: u64, actor: Actor, step: Step, fact: Fact) -> FactRecord {
    FactRecord {
        id: FactId(id),
        time: 0,
        actor,
        cause: Cause::Start,
        step,
        fact,
    }
}

pub(super) fn records(actor: Actor, facts: Vec<(Step, Fact)>) -> Vec<FactRecord> {
    facts
        .into_iter()
        .zip(0..)
        .map(|((step, fact), id)| record(id, actor, step, fact))
        .collect()
}

pub(super) fn object(rv: &str) -> ObjectRef {
    ObjectRef {
        key: Key::from("default/web-1"),
        shape: deltascope_cache::fact::Shape::Object,
        rv: rv.into(),
        uid: "u".into(),
    }
}

fn shown(listing: &Listing) -> Vec<String> {
    listing
        .lines
        .iter()
        .map(|line| {
            format!(
                "{}{}{}",
                if line.current { ">" } else { "" },
                line.text,
                line.value
                    .as_ref()
                    .map_or(String::new(), |value| format!(" → {value}"))
            )
        })
        .collect()
}

fn delete_kept() -> Vec<FactRecord> {
    let by = Actor::Reflector;
    let key = Key::from("default/web-1");
    records(
        by,
        vec![
            (
                Step::ReflectorReceive,
                Fact::Reflector(ReflectorFact::EventReceived {
                    event: EventType::Deleted,
                    object: object("12"),
                    ends_list: false,
                }),
            ),
            (
                Step::DeleteLock,
                Fact::Queue(QueueFact::LockTaken {
                    lock: LockName::Queue,
                    by,
                }),
            ),
            (
                Step::DeleteCheck,
                Fact::Queue(QueueFact::DeleteChecked {
                    key: key.clone(),
                    known: Some(Known::Yes("2".into())),
                    pending: false,
                }),
            ),
            (
                Step::QueueActionAppend,
                Fact::Queue(QueueFact::DeltaAppended {
                    delta_type: DeltaType::Deleted,
                    object: object("12"),
                    depth: 1,
                }),
            ),
            (
                Step::QueueActionEnqueue,
                Fact::Queue(QueueFact::KeyEnqueued { key, length: 3 }),
            ),
            (
                Step::DeleteUnlock,
                Fact::Queue(QueueFact::LockReleased {
                    lock: LockName::Queue,
                    by,
                }),
            ),
        ],
    )
}

#[test]
fn the_values_are_those_of_the_call() {
    let recent = delete_kept();
    let all = listing(&recent, &classic());
    assert_eq!(all.title(), "DeltaFIFO.Delete");
    assert_eq!(
        shown(&all),
        [
            "Delete(obj):",
            "  key = key_of(obj) → web-1",
            "  lock",
            "  populated = true",
            "  known   = known_objects.get(key) is some → true (rv 2)",
            "  pending = items contains key → false",
            "  if not known and not pending: return → false",
            "  queue_action(Deleted, obj) → key enqueued, 1 delta",
            ">  unlock",
        ]
    );
    let link = all.link.unwrap();
    assert_eq!(link.to_string(), "client-go v0.32 delta_fifo.go:335");
    assert_eq!(
        link.url,
        "https://github.com/kubernetes/client-go/blob/v0.32.13/tools/cache/delta_fifo.go#L335"
    );
}

#[test]
fn before_the_start_only_a_run_without_a_queue_shows_the_program() {
    for (id, _) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        let picture = Timeline::new(lesson.scenario).unwrap().picture(0);
        let title = listing(&[], &picture).title();
        let no_queue = !picture.informer.has_queue();
        assert_eq!(title == "program", no_queue, "{id}: {title}");
    }
}

#[test]
fn a_line_that_has_not_run_has_no_value() {
    let recent = delete_kept();
    let early = listing(&recent[..2], &classic());
    assert_eq!(early.title(), "DeltaFIFO.Delete");
    assert!(early.lines.iter().all(|line| line.value.is_none()));
    assert!(early.lines[2].current);
}

#[test]
fn a_nested_routine_names_its_caller() {
    let recent = delete_kept();
    let nested = listing(&recent[..5], &classic());
    assert_eq!(nested.title(), "DeltaFIFO.Delete › queueActionLocked");
    assert_eq!(
        shown(&nested)[3..],
        [
            "  items[key].push(type, obj) → Deleted, 1 delta",
            "  if the last two are Deleted: keep one",
            ">  if key was not queued: queue.push(key) → 3 keys queued",
        ]
    );
    // The caller is unknown: its facts are not among the recent ones.
    let alone = listing(&recent[3..4], &classic());
    assert_eq!(alone.title(), "queueActionLocked");
}

#[test]
fn the_values_of_an_earlier_call_are_not_shown() {
    let mut recent = delete_kept();
    recent.extend(records(
        Actor::Reflector,
        vec![(
            Step::DeleteLock,
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by: Actor::Reflector,
            }),
        )],
    ));
    let again = listing(&recent, &classic());
    assert!(again.lines.iter().all(|line| line.value.is_none()));
}

#[test]
fn the_facts_of_other_actors_are_skipped() {
    let mut recent = delete_kept();
    recent.insert(
        3,
        record(
            90,
            Actor::ProcessLoop,
            Step::PopLock,
            Fact::Queue(QueueFact::LockAwaited {
                lock: LockName::Queue,
                by: Actor::ProcessLoop,
                holder: Actor::Reflector,
            }),
        ),
    );
    recent.insert(
        4,
        record(
            91,
            Actor::Server,
            Step::ServerCompact,
            Fact::Server(ServerFact::HistoryCompacted { oldest: "9".into() }),
        ),
    );
    let with = listing(&recent, &classic());
    let without = listing(&delete_kept(), &classic());
    assert_eq!(with, without);
}

#[test]
fn a_loop_shows_the_round_that_is_running() {
    let taken = |position, delta_type| {
        (
            Step::ProcessDelta,
            Fact::Queue(QueueFact::DeltaTaken {
                position,
                delta_type,
                object: object("5"),
                exists: Some(true),
            }),
        )
    };
    let recent = records(
        Actor::ProcessLoop,
        vec![
            taken(0, DeltaType::Added),
            (
                Step::StoreWrite,
                Fact::Store(StoreFact::ItemStored {
                    object: object("5"),
                    old: None,
                }),
            ),
            taken(1, DeltaType::Updated),
        ],
    );
    let second = listing(&recent, &classic());
    assert_eq!(
        shown(&second),
        [
            "process_deltas(deltas):",
            ">  for type, obj in deltas, oldest first: → Updated web-1",
            "    old, exists = store.get(key) → exists = true",
            "    store.update | add | delete(obj)",
            "    handler.on_update | on_add | on_delete",
        ]
    );
}

#[test]
fn the_two_loops_of_replace_are_distinguished() {
    let by = Actor::Reflector;
    let appended = |name: &str, delta_type| {
        (
            Step::QueueActionAppend,
            Fact::Queue(QueueFact::DeltaAppended {
                delta_type,
                object: ObjectRef {
                    key: Key::from(name),
                    ..object("5")
                },
                depth: 1,
            }),
        )
    };
    let recent = records(
        by,
        vec![
            (
                Step::ReplaceLock,
                Fact::Queue(QueueFact::LockTaken {
                    lock: LockName::Queue,
                    by,
                }),
            ),
            appended("a", DeltaType::Replaced),
            appended("b", DeltaType::Replaced),
            (
                Step::ReplaceMissing,
                Fact::Queue(QueueFact::DeletionDetected {
                    key: Key::from("c"),
                }),
            ),
            appended("c", DeltaType::Deleted),
            (
                Step::ReplacePopulation,
                Fact::Queue(QueueFact::Populated { initial: 3 }),
            ),
            (
                Step::ReplaceUnlock,
                Fact::Queue(QueueFact::LockReleased {
                    lock: LockName::Queue,
                    by,
                }),
            ),
        ],
    );
    assert_eq!(
        shown(&listing(&recent, &classic())),
        [
            "Replace(list):",
            "  lock",
            "  for obj in list:",
            "    queue_action(Replaced, obj) → 2 objects",
            "  for key in items, known_objects not in list:",
            "    queue_action(Deleted, tombstone(key)) → c",
            "  if not populated: left = keys queued → populated, 3 left",
            ">  unlock",
        ]
    );
    // While the first loop runs, the second one has no value.
    let early = listing(&recent[..1], &classic());
    assert!(early.lines.iter().all(|line| line.value.is_none()));
}

#[test]
fn a_program_that_processes_by_type_has_its_own_process_function() {
    let recent = records(
        Actor::ProcessLoop,
        vec![
            (
                Step::PopTake,
                Fact::Queue(QueueFact::KeyPopped {
                    key: Key::from("default/web-1"),
                    deltas: vec![(DeltaType::Added, object("5"))],
                    is_in_initial_list: false,
                }),
            ),
            (
                Step::ProcessDelta,
                Fact::Queue(QueueFact::DeltaTaken {
                    position: 0,
                    delta_type: DeltaType::Added,
                    object: object("5"),
                    exists: None,
                }),
            ),
            (
                Step::ListenerHandle,
                Fact::Handlers(HandlersFact::LinePrinted {
                    by: Printer::Handler(0),
                    line: "Added pod1".into(),
                }),
            ),
        ],
    );
    let mut picture = classic();
    let alone = listing(&recent, &picture);
    assert_eq!(alone.title(), "DeltaFIFO.Pop › process");
    assert_eq!(alone.link, None);
    assert_eq!(
        shown(&alone),
        [
            "process(deltas):",
            "  for type, obj in deltas, oldest first: → Added web-1",
            "    switch type:",
            ">      print(type, obj) → Added pod1",
        ]
    );
    picture.store.present = true;
    let stored = listing(&recent[..2], &picture);
    assert_eq!(
        shown(&stored)[1..4],
        [
            ">  for type, obj in deltas, oldest first: → Added web-1",
            "    switch type:",
            "      store.add | update | delete(obj)",
        ]
    );
    assert_eq!(stored.link, None);
    // Pop itself is part of client-go.
    assert!(listing(&recent[..1], &picture).link.is_some());
}

#[test]
fn a_handler_without_a_buffer_is_called_by_process_deltas() {
    let recent = records(
        Actor::ProcessLoop,
        vec![(
            Step::ListenerHandle,
            Fact::Handlers(HandlersFact::LinePrinted {
                by: Printer::Handler(0),
                line: "OnAdd: web-1".into(),
            }),
        )],
    );
    assert_eq!(listing(&recent, &classic()).title(), "processDeltas");
}

#[test]
fn a_routine_for_two_methods_is_named_after_the_called_one() {
    let by = Actor::Reflector;
    let called = |event| {
        records(
            by,
            vec![
                (
                    Step::ReflectorReceive,
                    Fact::Reflector(ReflectorFact::EventReceived {
                        event,
                        object: object("5"),
                        ends_list: false,
                    }),
                ),
                (
                    Step::AddLock,
                    Fact::Queue(QueueFact::LockTaken {
                        lock: LockName::Queue,
                        by,
                    }),
                ),
            ],
        )
    };
    let picture = classic();
    assert_eq!(
        listing(&called(EventType::Added), &picture).title(),
        "DeltaFIFO.Add"
    );
    assert_eq!(
        listing(&called(EventType::Modified), &picture).title(),
        "DeltaFIFO.Update"
    );
    let removed = records(
        Actor::ProcessLoop,
        vec![
            (
                Step::ProcessDelta,
                Fact::Queue(QueueFact::DeltaTaken {
                    position: 0,
                    delta_type: DeltaType::Deleted,
                    object: object("5"),
                    exists: Some(true),
                }),
            ),
            (
                Step::StoreDelete,
                Fact::Store(StoreFact::ItemRemoved {
                    key: Key::from("default/web-1"),
                    old: None,
                }),
            ),
        ],
    );
    assert_eq!(
        listing(&removed, &picture).title(),
        "processDeltas › Indexer.Delete"
    );
}

#[test]
fn before_the_first_fact_no_line_is_current() {
    let mut picture = classic();
    let server = listing(&[], &picture);
    assert_eq!(server.title(), "Reflector.ListAndWatch");
    picture.api.source = SourceKind::Program;
    let program = listing(&[], &picture);
    assert_eq!(program.title(), "DeltaFIFO.Add");
    for line in server.lines.iter().chain(&program.lines) {
        assert!(!line.current && line.value.is_none());
    }
    assert!(server.link.is_some() && program.link.is_some());
}

#[test]
fn another_queue_has_its_own_name_and_links() {
    let mut picture = classic();
    picture.queue.kind = QueueKind::RealFifo;
    picture.generation = Generation::Atomic;
    let recent = records(
        Actor::Reflector,
        vec![(
            Step::AddLock,
            Fact::Queue(QueueFact::LockTaken {
                lock: LockName::Queue,
                by: Actor::Reflector,
            }),
        )],
    );
    let add = listing(&recent, &picture);
    assert_eq!(add.title(), "RealFIFO.Add, Delete, Bookmark");
    assert_eq!(
        add.link.unwrap().to_string(),
        "client-go v0.36 the_real_fifo.go:338"
    );
    picture.queue.kind = QueueKind::Fifo;
    let add = listing(&recent, &picture);
    assert_eq!((add.routine.as_str(), add.link), ("FIFO.Add", None));
}

#[test]
fn a_fifo_has_lines_and_links_of_its_own() {
    let script = [
        ("create", "x"),
        ("delete", "x"),
        ("create", "x"),
        ("pop", ""),
    ];
    let script: Vec<_> = (1..)
        .zip(script)
        .map(|(at, (op, name))| match op {
            "pop" => serde_json::json!({"at": at, "op": op}),
            _ => {
                serde_json::json!({"at": at, "op": op, "object": {"metadata": {"name": name}}})
            }
        })
        .collect();
    let handler = serde_json::json!({"inline": true, "onAdd": ["{name}"]});
    let settings = serde_json::json!({
        "queue": "FIFO", "feed": "program", "mode": "held", "handlers": [handler],
    });
    let lesson = deltascope_replay::lessons::inline(serde_json::json!({
        "settings": settings, "script": script,
    }));
    let mut timeline =
        deltascope_replay::timeline::Timeline::new(lesson.unwrap().scenario).unwrap();
    timeline.extend(1_000);
    let mut picture = timeline.picture(0);
    let facts = timeline.all_facts();
    let mut shown = Vec::new();
    for (at, record) in facts.iter().enumerate() {
        picture.apply(record);
        let listing = listing(&facts[..=at], &picture);
        let current = listing.lines.iter().find(|line| line.current).unwrap();
        let line = listing.link.as_ref().map_or(String::new(), |link| {
            link.to_string().replace("client-go v0.32 ", "")
        });
        shown.push(format!(
            "{} | {} | {} | {line}",
            record.fact.name(),
            listing.title(),
            current.text.trim(),
        ));
    }
    let write = "FIFO.Add, Delete, Replace";
    let add = [
        "Called | program | the program's next call, or its next line | ".to_owned(),
        format!("LockTaken | {write} | lock | fifo.go:169"),
        format!("FifoItemSet | {write} | Add: items[key] = obj | fifo.go:175"),
        format!("KeyEnqueued | {write} | Add: enqueue key if it was not there | fifo.go:173"),
        format!("LockReleased | {write} | unlock | fifo.go:170"),
    ];
    let own = "FIFO.Pop › process | print(obj) | ";
    let pop = [
        "PopAsked | this run | what was asked for on this page | ".to_owned(),
        "LockTaken | FIFO.Pop | lock | fifo.go:284".to_owned(),
        "KeyPopped | FIFO.Pop | key = queue.pop_front() | fifo.go:298".to_owned(),
        format!("NotificationTaken | {own}"),
        format!("LinePrinted | {own}"),
        format!("NotificationHandled | {own}"),
        "Processed | FIFO.Pop | process(items.remove(key)) | fifo.go:309".to_owned(),
        "LockReleased | FIFO.Pop | unlock | fifo.go:285".to_owned(),
    ];
    assert_eq!(shown[shown.len() - pop.len()..], pop);
    let shown: Vec<_> = shown
        .into_iter()
        .filter(|line| !line.starts_with("Populated") && !line.starts_with("Synced"))
        .collect();
    assert_eq!(shown[..add.len()], add);
}

#[test]
fn a_long_value_is_cut() {
    assert_eq!(cut("1234567890123456789012"), "1234567890123456789012");
    assert_eq!(cut("12345678901234567890123"), "123456789012345678901…");
}
