//! Which motions the lessons' runs show, and where they start and end.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::rows::things::{self, Thing};
use deltascope_cache::controller::Generation;
use deltascope_cache::fact::{Cause, FactId};
use deltascope_cache::step::Step;
use deltascope_replay::lessons;
use deltascope_replay::picture::ReflectorRoom;
use deltascope_replay::timeline::Timeline;

/// The kind of an anchor, without the names and numbers of a run.
fn kind(anchor: &Anchor) -> String {
    let anchor = anchor.to_string();
    let mut parts = anchor.split('/');
    let (room, what) = (parts.next().unwrap_or_default(), parts.next());
    match (room, what, parts.next()) {
        ("room" | "door", Some(what), _) => format!("{room}/{what}"),
        ("handler", _, Some(place)) => format!("handler/…/{place}"),
        ("handler", ..) => "handler/…".to_owned(),
        ("reflector", Some("state"), Some(state)) => format!("reflector/state/{state}"),
        (_, Some(what), Some(_)) => format!("{room}/{what}/…"),
        _ => anchor,
    }
}

fn kinds(all: &[Anchor]) -> String {
    let all: Vec<String> = all.iter().map(kind).collect();
    all.join(" ")
}

/// What a motion shows: its start and its end, or what it lights.
fn drawn(flight: Option<&Flight>, flash: &[Anchor]) -> String {
    let Some(flight) = flight else {
        return kinds(flash);
    };
    let (from, to) = (kinds(&flight.from), kinds(&flight.to));
    format!("{from} → {to}")
}

/// Whether the picture has something at this anchor.
fn is_there(anchor: &Anchor, picture: &Picture, things: &[Thing]) -> bool {
    if let Anchor::Column { key, .. } = anchor {
        return picture.queue.keys.contains(key) || picture.queue.deltas.contains_key(key);
    }
    if let (Anchor::Work(part, Some(key)), Some(work)) = (anchor, &picture.work) {
        return match part {
            WorkPart::Queue => work.queue.contains(key),
            WorkPart::Dirty => work.dirty.contains_key(key),
            WorkPart::Processing => work.workers.iter().flatten().any(|held| held == key),
            WorkPart::Delayed => work.delayed.contains_key(key),
            WorkPart::Failures => work.failures.contains_key(key),
        };
    }
    things.iter().any(|thing| thing.anchor == *anchor)
}

/// The start and the end of each fact's motion, and what it lights: everything that the lessons' runs show.
const MOTIONS: &[&str] = &[
    "BackoffStarted: reflector/state/backoff",
    "BesideRequested:",
    "BesideStored:",
    "Called:",
    "ConnectionRefused:",
    "DeleteChecked: queue/column/… store/item/…",
    "DeleteIgnored: reflector/hand reflector/state/watch → room/queue",
    "DeletionDetected:",
    "DeltaAppended: api/call/… → queue/delta/… queue/more queue/column/…",
    "DeltaAppended: reflector/hand reflector/state/list → queue/delta/… queue/more queue/column/…",
    "DeltaAppended: reflector/hand reflector/state/watch → queue/delta/… queue/more queue/column/…",
    "DeltaAppended: store/item/… reflector/hand reflector/state/watch → queue/delta/… queue/more queue/column/…",
    "DeltaTaken: pop/delta/…",
    "DeltasMerged: queue/column/… store/item/…",
    "EntriesProcessed: pop/last",
    "EntriesTaken: queue/entry/… door/queue → pop/slot door/indexer door/processor",
    "EntryAppended: reflector/hand reflector/state/list → queue/entry/… queue/more",
    "EntryAppended: reflector/hand reflector/state/watch → queue/entry/… queue/more",
    "EntryAppended: store/item/… reflector/hand reflector/state/watch → queue/entry/… queue/more",
    "EventReceived: api/stream/… → reflector/hand reflector/requests",
    "EventReceived: api/stream/… → reflector/hand reflector/state/stream",
    "EventReceived: api/stream/… → reflector/hand reflector/state/watch",
    "EventSent: api/object/… → api/stream/…",
    "HandlerAdded: handler/…",
    "HandlerAsked:",
    "HandlerSynced: handler/…",
    "HistoryCompacted:",
    "IndexEntryAdded: store/item/… pop/slot door/queue → store/index/…",
    "IndexEntryRemoved: store/index/…",
    "IndicesReset:",
    "InitialEventKept: reflector/hand",
    "InitialEventsEnded: reflector/hand",
    "ItemRemoved: store/item/…",
    "ItemStored:",
    "ItemStored: pop/delta/… pop/slot door/queue → store/item/…",
    "KeyEnqueued: queue/key/…",
    "KeyPopped: queue/column/… door/queue → pop/slot door/indexer door/processor",
    "LastSyncMoved: reflector/lastsync",
    "LinePrinted: beside → output/line/…",
    "LinePrinted: handler/…/running handler/… → output/line/…",
    "LinePrinted: output/line/…",
    "ListAnswered: api/gauge",
    "ListOpened: pop/delta/… door/queue → room/indexer",
    "ListReceived: door/api → reflector/requests",
    "ListRefused:",
    "ListRequested: reflector/requests → door/api",
    "LockAwaited: pop/lock",
    "LockReleased: pop/block",
    "LockReleased: pop/lock",
    "LockTaken: pop/block",
    "LockTaken: pop/lock",
    "ModeSet:",
    "NotificationHandled: handler/…",
    "NotificationQueued: handler/…/sending pop/slot door/indexer door/queue → handler/…/pending handler/…",
    "NotificationSent: pop/slot door/indexer door/queue → handler/…/sending handler/…",
    "NotificationSent: store/item/… → handler/…/sending handler/…",
    "NotificationTaken: handler/…/pending → handler/…/running handler/…",
    "NotificationTaken: pop/slot door/indexer door/queue → handler/…/running handler/…",
    "ObjectCreated: api/object/… api/gauge",
    "ObjectDeleted: api/object/… api/gauge",
    "ObjectUpdated: api/object/… api/gauge",
    "PopAsked:",
    "Populated:",
    "ProcessWasSlow:",
    "Processed: pop/last",
    "Reconciled: work/processing",
    "ReflectorStopped:",
    "RefusalsAsked:",
    "ResyncDue:",
    "ResyncOpened: pop/delta/… door/queue → room/indexer",
    "ResyncSkipped:",
    "StoreReplaced:",
    "StoreVersionMoved: store/gauge",
    "Synced:",
    "WatchAccepted: api/gauge",
    "WatchClosed:",
    "WatchEnded:",
    "WatchErrorReported:",
    "WatchFailed: reflector/requests",
    "WatchRefused:",
    "WatchRequested: reflector/requests → door/api",
    "WorkAdded:",
    "WorkAdded: handler/…/running handler/… → work/dirty/… work/dirty",
    "WorkAdded: handler/…/running handler/… → work/queue/… work/queue",
    "WorkAdded: work/delayed/… work/delayed → work/dirty/… work/dirty",
    "WorkAdded: work/delayed/… work/delayed → work/queue/… work/queue",
    "WorkDelayed: work/processing/… work/processing → work/delayed/… work/delayed",
    "WorkDone: work/processing",
    "WorkDone: work/processing/… work/processing → work/queue/… work/queue",
    "WorkForgotten:",
    "WorkTaken: work/queue/… work/queue → work/processing/… work/processing",
];

#[test]
fn a_motion_goes_from_the_old_place_of_a_thing_to_its_new_one() {
    let mut seen: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut wrong = BTreeSet::new();
    for (id, _) in lessons::menu() {
        let Ok(lesson) = lessons::load(&id) else {
            panic!("{id} does not load")
        };
        for generation in Generation::ALL {
            let mut scenario = lesson.scenario.clone();
            if scenario.settings.is_informer() {
                scenario.settings.era = generation;
            }
            let Ok(mut timeline) = Timeline::new(scenario) else {
                panic!("{id} does not run")
            };
            timeline.extend(1_000);
            let mut before = timeline.picture(0);
            let mut was = things::things(&before, &Default::default(), None);
            for record in timeline.facts(0..1_000).iter() {
                let mut after = before.clone();
                after.apply(record);
                let Motion {
                    flight, flash, ms, ..
                } = plan(record, &after);
                assert!(ms >= BRIEF_MS, "{record:?}");
                let name = record.fact.name();
                let of = drawn(flight.as_ref(), &flash);
                seen.entry(name).or_default().insert(of);
                let is = things::things(&after, &Default::default(), None);
                if let Some(flight) = &flight {
                    assert!(!flight.from.is_empty() && !flight.to.is_empty());
                    assert!(flight.from.iter().all(|from| !flight.to.contains(from)));
                    for (anchors, begins) in [(&flight.from, true), (&flight.to, false)] {
                        // The first place exists, if it is one that belongs to a single thing.
                        let first = anchors.first().filter(|one| kind(one).contains('…'));
                        let there = first.is_none_or(|first| {
                            begins && is_there(first, &before, &was) || is_there(first, &after, &is)
                        });
                        if !there {
                            wrong.insert((name, kinds(anchors), begins));
                        }
                    }
                }
                (before, was) = (after, is);
            }
        }
    }
    let seen: Vec<String> = seen
        .into_iter()
        .flat_map(|(name, all)| all.into_iter().map(move |of| format!("{name}: {of}")))
        .map(|line| line.trim_end().to_owned())
        .collect();
    assert_eq!(seen, MOTIONS);
    let but = [
        // A bookmark has no object, and little is known of a recording's server.
        ("EventSent", "api/object/…", true),
        // A whole list is one token, and so is a whole resync.
        ("ListOpened", "pop/delta/… door/queue", true),
        ("ResyncOpened", "pop/delta/… door/queue", true),
    ];
    let but = but.map(|(name, from, begins)| (name, from.to_owned(), begins));
    assert_eq!(wrong, but.into());
}

/// The same for the facts that no lesson shows, on a stage where nothing has happened.
#[test]
fn facts_that_no_lesson_shows_have_a_motion_too() {
    let plain = [
        "FifoItemRemoved: queue/column/… queue/key/…",
        "FifoItemSet: reflector/hand reflector/state/list → queue/delta/… queue/more room/queue",
        "FifoKeySkipped: room/queue",
        "HandlerPanicked: handler/…",
        "HandlerRemoved: handler/…",
        "ListFailed: reflector/requests",
        "MutationDetected: store/item/…",
        "NotificationWithheld: handler/…",
        "ObjectMutated: store/item/…",
        "PageReceived: door/api → reflector/requests",
        "StreamFellBack: reflector/requests",
        "SyncingSet: handler/…",
    ];
    let by_others = [
        (
            Actor::ProcessLoop,
            "WorkAdded: pop/slot door/indexer door/queue → work/queue/… work/queue",
        ),
        (
            Actor::Program,
            "FifoItemSet: api/call/… → queue/delta/… queue/more room/queue",
        ),
    ];
    let picture = Picture {
        reflector: ReflectorRoom {
            state: ReflectorState::List,
            ..ReflectorRoom::default()
        },
        ..Picture::default()
    };
    let said = |fact: &Fact, actor| {
        let record = FactRecord {
            id: FactId(0),
            time: 0,
            actor,
            cause: Cause::Start,
            step: Step::PopLock,
            fact: fact.clone(),
        };
        let Motion { flight, flash, .. } = plan(&record, &picture);
        format!("{}: {}", fact.name(), drawn(flight.as_ref(), &flash))
    };
    let samples = Fact::samples();
    let shown = |fact: &Fact| {
        let is_of = |line: &&str| line.split(':').next() == Some(fact.name());
        MOTIONS.iter().any(is_of)
    };
    let others = samples.iter().filter(|fact| !shown(fact));
    let lit = others.map(|fact| said(fact, Actor::Reflector));
    let lit: BTreeSet<String> = lit.filter(|line| !line.ends_with(": ")).collect();
    assert_eq!(lit, plain.map(str::to_owned).into());
    for (actor, line) in by_others {
        let is_of = |fact: &&Fact| line.split(':').next() == Some(fact.name());
        let fact = samples.iter().find(is_of);
        assert_eq!(fact.map(|fact| said(fact, actor)).as_deref(), Some(line));
    }
}

#[test]
fn what_the_ring_has_no_place_for_hides_nothing() {
    let queued = Fact::samples().into_iter().find_map(|fact| match fact {
        Fact::Handlers(HandlersFact::NotificationQueued { notification, .. }) => Some(notification),
        _ => None,
    });
    let Some(notification) = queued else {
        panic!("no sample")
    };
    let lands = [1, 4, 5, 9].map(|pending| {
        let fact = HandlersFact::NotificationQueued {
            handler: 1,
            pending,
            notification: notification.clone(),
        };
        let motion = handlers(&fact, Actor::ProcessLoop, &Picture::default());
        let flight = motion.and_then(|motion| motion.flight);
        flight.map(|flight| (flight.to[0].to_string(), flight.hides))
    });
    let at = |place: &str, hides| Some((format!("handler/1/pending/{place}"), hides));
    assert_eq!(
        lands,
        [
            at("0", Hides::Target),
            at("3", Hides::Target),
            at("3", Hides::Nothing),
            at("3", Hides::Nothing),
        ]
    );
}
