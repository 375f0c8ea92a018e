//! What the captions say of each fact in each generation, held to runs of all four of them.
//!
//! `generations.tsv` has a row for each sentence: the fact, the generations whose informers say it (`all`,
//! or `none`: other programs alone), the sentence, and by what it is held. A sentence that not all say, that
//! names a release or states a rule has to be held: by checks of [`CHECKS`], which look at what follows in the
//! same run, or by lines of client-go (those that the panel beside it shows) and recorded runs. What the
//! API server does is held by the `API concepts`; what a program or the page does itself is their `own`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Lang, words};
use crate::pseudo;
use deltascope_cache::backoff::BACKOFF_RESET;
use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{
    Actor, Cause, Entry, Fact, FactRecord, HandlersFact, LockName, Notification, QueueFact,
    ReflectorFact, ServerFact, StoreFact, WorkFact,
};
use deltascope_cache::key::Key;
use deltascope_cache::rng::Rng;
use deltascope_replay::lessons;
use deltascope_replay::timeline::Timeline;
use deltascope_world::source::scenario::Scenario;
use deltascope_world::virtual_time::{Era, InformerKind};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/caption/generations.tsv");

/// What makes a sentence a rule: it says what will, or will not, be.
const RULES: [&str; 22] = [
    "again",
    "at once",
    "batch",
    "before",
    "BOOKMARK",
    "bookmark",
    "comes",
    "HasSynced",
    "lock",
    "log",
    "lost",
    "never",
    "next",
    "nobody",
    "pause",
    "put back",
    "resync",
    "round",
    "stream",
    "until",
    "waits",
    "without",
];

thread_local! {
    /// The sentences that were said, before anything is filled in.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn note(sentence: &str) {
    SAID.with_borrow_mut(|said| said.push(sentence.to_owned()));
}

/// A run, with what is said of each fact.
struct Run {
    name: String,
    generation: Generation,
    informer: bool,
    /// The process loop calls the handlers itself.
    inline: bool,
    facts: Vec<FactRecord>,
    said: Vec<BTreeSet<String>>,
    /// The line of client-go that the panel shows beside each fact.
    places: Vec<String>,
}

impl Run {
    fn of(name: &str, scenario: Scenario, steps: usize) -> Self {
        let (generation, informer) = (scenario.settings.era.0, scenario.settings.is_informer());
        let inline = scenario.settings.machinery != InformerKind::Shared;
        let mut timeline = Timeline::new(scenario).unwrap();
        timeline.extend(steps);
        let facts = timeline.all_facts().to_vec();
        let mut picture = timeline.picture(0);
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for (index, record) in facts.iter().enumerate() {
            picture.apply(record);
            let recent = &facts[(index + 1).saturating_sub(160)..=index];
            SAID.take();
            let _ = words(record, recent, &picture, Lang::En);
            all.push(SAID.take().into_iter().collect());
            let link = pseudo::listing(recent, &picture).link;
            let place = link.map(|link| link.text).unwrap_or_default();
            places.push(place.trim_start_matches("client-go ").to_owned());
        }
        Self {
            name: format!("{name}, {}", generation.as_str()),
            generation,
            informer,
            inline,
            facts,
            said: all,
            places,
        }
    }

    /// What the one whose fact this is did after it.
    fn after(&self, at: usize) -> impl Iterator<Item = &FactRecord> {
        let actor = self.facts[at].actor;
        self.by(actor, at)
    }

    /// What somebody did after a fact.
    fn by(&self, actor: Actor, at: usize) -> impl Iterator<Item = &FactRecord> {
        let later = self.facts[at + 1..].iter();
        later.filter(move |record| record.actor == actor)
    }

    /// What was before a fact, the last first.
    fn before(&self, at: usize) -> impl Iterator<Item = &FactRecord> {
        self.facts[..at].iter().rev()
    }

    /// The reflector's next request after a fact, where the run goes on as far, and what it did until then.
    fn next_request(&self, at: usize) -> Option<(Request, Vec<&FactRecord>)> {
        let mut between = Vec::new();
        for record in self.by(Actor::Reflector, at) {
            let (kind, rv) = match &record.fact {
                Fact::Reflector(ReflectorFact::ListRequested { rv, .. }) => (Asks::List, rv),
                Fact::Reflector(ReflectorFact::WatchRequested {
                    rv,
                    initial_events: true,
                }) => (Asks::Stream, rv),
                Fact::Reflector(ReflectorFact::WatchRequested { rv, .. }) => (Asks::Watch, rv),
                _ => {
                    between.push(record);
                    continue;
                }
            };
            let rv = rv.to_string();
            return Some((Request { kind, rv }, between));
        }
        None
    }

    /// What the reflector has seen last, up to a fact.
    fn last_sync(&self, at: usize) -> String {
        let moved = self.before(at + 1).find_map(|record| match &record.fact {
            Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) => Some(to.to_string()),
            _ => None,
        });
        moved.unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    List,
    Stream,
    Watch,
}

#[derive(Debug)]
struct Request {
    kind: Asks,
    rv: String,
}

/// The same scenario in every generation.
fn in_all(runs: &mut Vec<Run>, name: &str, scenario: &Scenario, steps: usize) {
    for generation in Generation::ALL {
        let mut scenario = scenario.clone();
        scenario.settings.era = Era(generation);
        runs.push(Run::of(name, scenario, steps));
    }
}

const REFUSALS: [&str; 7] = [
    "expired",
    "tooLarge",
    "tooManyRequests",
    "connectionRefused",
    "internalError",
    "forbidden",
    "invalid",
];

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

fn pod(rng: &mut Rng) -> Value {
    json!({ "metadata": {
        "namespace": pick(rng, &["a", "b"]),
        "name": format!("p{}", rng.below(5)),
        "labels": { "app": format!("app-{}", rng.below(3)) },
    } })
}

fn act(rng: &mut Rng, at: u64) -> Value {
    let mut act = match rng.below(24) {
        0..6 => json!({ "op": "create", "object": pod(rng) }),
        6..10 => json!({ "op": "update", "object": pod(rng) }),
        10..13 => json!({ "op": "delete", "object": pod(rng) }),
        13 => json!({ "op": "cut" }),
        14 => json!({ "op": "compact" }),
        15 => json!({ "op": "close" }),
        16 => json!({ "op": "bookmark" }),
        17..19 => json!({ "op": "error", "code": pick(rng, &[410, 429, 500]) }),
        19..22 => json!({
            "op": "refuse",
            "request": pick(rng, &["list", "watch"]),
            "with": pick(rng, &REFUSALS),
            "times": 1 + rng.below(3),
        }),
        22 => json!({ "op": "addHandler", "handler": { "name": "late" } }),
        _ => json!({ "op": "removeHandler", "handler": rng.below(3) }),
    };
    act["at"] = json!(at);
    act
}

/// A run in which much goes wrong; for shared informers, or plain ones.
fn faults(seed: u64) -> Value {
    let mut rng = Rng::new(seed);
    let rng = &mut rng;
    let shared = rng.chance(70);
    let mut at = 0;
    let script: Vec<Value> = (0..14)
        .map(|_| {
            at += rng.below(900);
            act(rng, at)
        })
        .filter(|act| shared || !matches!(act["op"].as_str(), Some("addHandler" | "removeHandler")))
        .collect();
    let handler = |rng: &mut Rng, name: &str| {
        let mut handler = json!({ "name": name, "onAdd": ["OnAdd: {name}"] });
        if shared {
            handler["latencyMs"] = json!(rng.below(4) * 60);
            handler["queues"] = json!(rng.chance(50));
            handler["resyncMs"] = json!(pick(rng, &[0, 1_000, 2_500]));
        }
        handler
    };
    let mut settings = json!({
        "machinery": if shared { "shared" } else { "plain" },
        "refusesStreaming": rng.chance(25),
        "pageSize": rng.below(3),
        "resyncMs": rng.below(3) * 1_000,
        "processMs": rng.below(2) * 120,
        "indices": ["namespace", "app"],
        "handlers": [handler(rng, "first"), handler(rng, "second")],
    });
    if rng.chance(50) {
        settings["watchList"] = json!(rng.chance(50));
    }
    if rng.chance(30) {
        settings["mode"] = json!(200);
    }
    if rng.chance(25) {
        settings["selector"] = json!("app in (app-0,app-2)");
    }
    if rng.chance(20) {
        settings["repeats"] = json!(["a/p0", "b/p3"]);
    }
    if rng.chance(20) {
        settings["transform"] = json!({ "rejects": "app=app-1" });
    }
    if rng.chance(20) {
        let requeue = rng.chance(50);
        settings["processFails"] = json!({ "at": "p1", "times": 1, "requeue": requeue });
    }
    if shared {
        settings["work"] = json!({ "latencyMs": 30, "failures": rng.below(3) });
        settings["mutationDetector"] = json!(rng.chance(20));
    }
    json!({
        "settings": settings,
        "initial": [
            { "metadata": { "namespace": "a", "name": "p0", "labels": { "app": "app-0" } } },
            { "metadata": { "namespace": "a", "name": "p1", "labels": { "app": "app-2" } } },
            { "metadata": { "namespace": "b", "name": "p3", "labels": { "app": "app-0" } } },
        ],
        "script": script,
    })
}

/// Every way to refuse, at every request.
fn refusals(runs: &mut Vec<Run>) {
    for with in REFUSALS {
        for (request, streams) in [
            ("watch", false),
            ("watch", true),
            ("list", false),
            ("list", true),
        ] {
            let scenario = json!({
                "settings": {
                    "machinery": "shared", "watchList": streams, "handlers": [{ "name": "h" }],
                },
                "initial": [{ "metadata": { "name": "a" } }],
                "script": [
                    { "at": 0, "op": "refuse", "request": request, "with": with, "times": 2 },
                    { "at": 9_000, "op": "create", "object": { "metadata": { "name": "b" } } },
                    { "at": 9_900, "op": "refuse", "request": request, "with": with, "times": 2 },
                    { "at": 9_901, "op": "error", "code": 410 },
                ],
            });
            let scenario: Scenario = serde_json::from_value(scenario).unwrap();
            in_all(
                runs,
                &format!("{request} refused: {with}, {streams}"),
                &scenario,
                400,
            );
        }
    }
}

/// What chance does not meet.
fn directed(runs: &mut Vec<Run>) {
    let objects = |n: usize| -> Vec<Value> {
        let object = |n| json!({ "metadata": { "namespace": "a", "name": format!("p{n}") } });
        (0..n).map(object).collect()
    };
    let update = |at: u64, name: &str| json!({ "at": at, "op": "update", "object": { "metadata": { "namespace": "a", "name": name } } });
    let handlers = json!([{ "name": "h" }]);
    let all = [
        (
            "lists fail for minutes",
            json!({
                "settings": { "machinery": "shared", "watchList": false, "handlers": handlers },
                "initial": objects(2),
                "script": [
                    { "at": 0, "op": "refuse", "request": "list", "with": "forbidden", "times": 20 },
                ],
            }),
        ),
        (
            "slow",
            json!({
                "settings": { "machinery": "shared", "processMs": 150, "handlers": handlers },
                "initial": objects(14),
                "script": (0..14).map(|n| update(2_500 + n, &format!("p{n}"))).collect::<Vec<_>>(),
            }),
        ),
        (
            "resync behind changes",
            json!({
                "settings": {
                    "machinery": "shared", "mode": 700, "resyncMs": 1_000, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [update(3_900, "p0"), update(3_950, "p1"), update(3_960, "p0"), { "at": 9_000, "op": "cut" }],
            }),
        ),
        (
            "a token expires",
            json!({
                "settings": { "machinery": "shared", "watchList": false, "pageSize": 1, "handlers": handlers },
                "initial": objects(3),
                "script": [{ "at": 50, "op": "refuse", "request": "list", "with": "expired", "times": 1 }],
            }),
        ),
        (
            "no end of the initial events",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "withholdsInitialEventsEnd": true, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [{ "at": 35_000, "op": "close" }],
            }),
        ),
        (
            "transformed",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "transform": { "appends": "seen=x" }, "handlers": handlers,
                },
                "initial": objects(2),
                "script": [update(900, "p0")],
            }),
        ),
        (
            "the store refuses a stream",
            json!({
                "settings": {
                    "machinery": "shared", "watchList": true, "transform": { "rejects": "bad=true" }, "handlers": handlers,
                },
                "initial": [{ "metadata": { "name": "a", "labels": { "bad": "true" } } }, { "metadata": { "name": "b" } }],
                "script": [update(900, "p0")],
            }),
        ),
        (
            "handlers that panic and write",
            json!({
                "settings": {
                    "machinery": "shared", "resyncMs": 4_000, "mutationDetector": true,
                    "handlers": [
                        { "name": "often", "resyncMs": 1_000, "panicsAt": "p0" },
                        { "name": "h", "mutates": "seen=yes" },
                    ],
                },
                "initial": objects(2),
                "script": [
                    update(900, "p0"),
                    { "at": 1_000, "op": "addHandler", "handler": { "name": "late", "resyncMs": 500 } },
                ],
            }),
        ),
        (
            "HasSynced inside Pop",
            json!({
                "settings": { "machinery": "plain", "handlers": [{ "name": "h", "callsHasSynced": true }] },
                "initial": objects(2),
                "script": [update(900, "p0")],
            }),
        ),
        (
            "slow inside Pop",
            json!({
                "settings": { "machinery": "plain", "processMs": 400, "handlers": handlers },
                "initial": objects(3),
                "script": [update(300, "p0"), update(310, "p1")],
            }),
        ),
    ];
    for (name, scenario) in all {
        let scenario: Scenario = serde_json::from_value(scenario).unwrap();
        in_all(runs, name, &scenario, 600);
    }
    let by_hand = |queue: &str, known: bool| {
        json!({
            "settings": {
                "feed": "program", "queue": queue, "store": true, "knownObjects": known, "mode": 300,
                "handlers": [{ "name": "h", "inline": true, "onAdd": ["OnAdd: {name}"] }],
            },
            "script": [
                { "at": 100, "op": "create", "object": { "metadata": { "name": "a", "resourceVersion": "1" } } },
                { "at": 110, "op": "create", "object": { "metadata": { "name": "b", "resourceVersion": "2" } } },
                { "at": 120, "op": "update", "object": { "metadata": { "name": "b", "resourceVersion": "3" } } },
                { "at": 130, "op": "delete", "object": { "metadata": { "name": "b" } } },
                { "at": 140, "op": "delete", "object": { "metadata": { "name": "b" } } },
                { "at": 150, "op": "create", "object": { "metadata": { "name": "b", "resourceVersion": "4" } } },
                { "at": 2_000, "op": "delete", "object": { "metadata": { "name": "a" } } },
                { "at": 2_010, "op": "delete", "object": { "metadata": { "name": "c" } } },
            ],
        })
    };
    for (queue, known) in [("DeltaFIFO", true), ("DeltaFIFO", false), ("FIFO", false)] {
        let scenario: Scenario = serde_json::from_value(by_hand(queue, known)).unwrap();
        runs.push(Run::of(queue, scenario, 400));
    }
}

fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    for (id, _) in lessons::menu() {
        let lesson = lessons::load(&id).unwrap();
        if lesson.scenario.settings.is_informer() {
            in_all(&mut runs, &id, &lesson.scenario, 500);
        } else {
            runs.push(Run::of(&id, lesson.scenario, 500));
        }
    }
    refusals(&mut runs);
    directed(&mut runs);
    for seed in 0..SEEDS {
        let scenario: Scenario = serde_json::from_value(faults(seed)).unwrap();
        in_all(&mut runs, &format!("seed {seed}"), &scenario, 900);
    }
    runs
}

const SEEDS: u64 = 80;

// ---- what a sentence promises, looked up in what follows

/// `Ok`: it is so, or the run ends before it could be.
type Check = fn(&Run, usize) -> Result<(), String>;

const CHECKS: [(&str, Check); 38] = [
    ("list next", list_next),
    ("LIST next", plain_list_next),
    ("stream next", stream_next),
    ("watch next", watch_next),
    ("paused", paused),
    ("at once", at_once),
    ("reported", reported),
    ("unreported", unreported),
    ("newest", newest),
    ("pauses", pauses),
    ("from last sync", from_last_sync),
    ("nothing queued", nothing_queued),
    ("bookmark queued", bookmark_queued),
    ("bookmark alone", bookmark_alone),
    ("kept aside", nothing_queued),
    ("processed before", processed_before),
    ("processed after", processed_after),
    ("without the lock", without_the_lock),
    ("under the lock", under_the_lock),
    ("deletes first", deletes_first),
    ("deletes last", deletes_last),
    ("replaced, then told", replaced_then_told),
    ("keys once", keys_once),
    ("looked up first", looked_up_first),
    ("told OnAdd", |run, at| told(run, at, "add")),
    ("told OnUpdate", |run, at| told(run, at, "update")),
    ("told OnDelete", |run, at| told(run, at, "delete")),
    ("syncing", |run, at| syncing(run, at, true)),
    ("not syncing", |run, at| syncing(run, at, false)),
    ("by resync", |run, at| by_resync(run, at, true)),
    ("by list", |run, at| by_resync(run, at, false)),
    ("delay", delay),
    ("no request", no_request),
    ("popped first", popped_first),
    ("once", once),
    ("silent", silent),
    ("told what is there", told_what_is_there),
    ("stored first", stored_first),
];

fn holds(yes: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if yes { Ok(()) } else { Err(what()) }
}

fn asks(run: &Run, at: usize, kinds: &[Asks]) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(kinds.contains(&request.kind), || {
            format!("{request:?} comes next")
        })
    })
}

fn list_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::List, Asks::Stream])
}

fn plain_list_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::List])
}

fn stream_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::Stream])
}

fn watch_next(run: &Run, at: usize) -> Result<(), String> {
    asks(run, at, &[Asks::Watch])?;
    let last = run.last_sync(at);
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(request.rv == last, || {
            format!("{request:?} comes next, not from {last}")
        })
    })
}

fn between(run: &Run, at: usize, is: fn(&Fact) -> bool, wanted: bool) -> Result<(), String> {
    let here = is(&run.facts[at].fact);
    run.next_request(at).map_or(Ok(()), |(request, between)| {
        let met = here || between.iter().any(|record| is(&record.fact));
        holds(met == wanted, || format!("{between:?} before {request:?}"))
    })
}

fn is_pause(fact: &Fact) -> bool {
    matches!(fact, Fact::Reflector(ReflectorFact::BackoffStarted { .. }))
}

fn is_report(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Reflector(ReflectorFact::WatchErrorReported { .. })
    )
}

fn paused(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_pause, true)
}

fn at_once(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_pause, false)
}

fn reported(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_report, true)
}

fn unreported(run: &Run, at: usize) -> Result<(), String> {
    between(run, at, is_report, false)
}

fn newest(run: &Run, at: usize) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, _)| {
        holds(request.rv.is_empty(), || format!("{request:?} comes next"))
    })
}

/// Each pause is twice the one before, up to 30 s. When they begin anew is the generation's.
fn pauses(run: &Run, at: usize) -> Result<(), String> {
    let reset = BACKOFF_RESET.as_millis() as u64;
    let all = run.facts[..=at]
        .iter()
        .filter_map(|record| match record.fact {
            Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some((record.time, ms)),
            _ => None,
        });
    // It begins with the reflector, at 0.
    let (mut start, mut next, mut wanted, mut found) = (0, 800, 0, 0);
    for (time, ms) in all {
        let anew = time - start > reset;
        if anew {
            next = 800;
        }
        if anew || run.generation != Generation::Atomic {
            start = time;
        }
        (wanted, found) = (next, ms);
        next = (next * 2).min(30_000);
    }
    holds(wanted == found, || format!("{wanted} ms, not {found}"))
}

fn from_last_sync(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) = &run.facts[at].fact else {
        return Err("nothing moved".into());
    };
    for record in run.by(Actor::Reflector, at) {
        match &record.fact {
            Fact::Reflector(ReflectorFact::LastSyncMoved { .. }) => return Ok(()),
            Fact::Reflector(ReflectorFact::WatchRequested {
                rv,
                initial_events: false,
            }) => {
                return holds(rv == to, || format!("the next watch is from {rv}"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the reflector puts into the queue before it goes on reading or asking.
fn queued(run: &Run, at: usize) -> Vec<&Fact> {
    let until = run.after(at).take_while(|record| {
        !matches!(
            record.fact,
            Fact::Reflector(
                ReflectorFact::EventReceived { .. }
                    | ReflectorFact::ListRequested { .. }
                    | ReflectorFact::WatchRequested { .. }
            )
        )
    });
    until
        .map(|record| &record.fact)
        .filter(|fact| {
            matches!(
                fact,
                Fact::Queue(QueueFact::EntryAppended { .. } | QueueFact::DeltaAppended { .. })
            )
        })
        .collect()
}

fn nothing_queued(run: &Run, at: usize) -> Result<(), String> {
    let queued = queued(run, at);
    holds(queued.is_empty(), || format!("{queued:?} is queued"))
}

fn bookmark_queued(run: &Run, at: usize) -> Result<(), String> {
    let queued = queued(run, at);
    // The run may end before.
    let ok = match queued[..] {
        [
            Fact::Queue(QueueFact::EntryAppended {
                entry: Entry::Bookmark { .. },
                ..
            }),
        ] => true,
        [] => run.next_request(at).is_none() && run.after(at).count() < 4,
        _ => false,
    };
    holds(ok, || format!("{queued:?} is queued"))
}

fn bookmark_alone(run: &Run, at: usize) -> Result<(), String> {
    nothing_queued(run, at)?;
    let Fact::Reflector(ReflectorFact::EventReceived { object, .. }) = &run.facts[at].fact else {
        return Err("no event".into());
    };
    let moved = run.after(at).next().is_none_or(|record| {
        matches!(&record.fact, Fact::Reflector(ReflectorFact::LastSyncMoved { to, .. }) if *to == object.rv)
            || run.last_sync(at) == *object.rv
    });
    holds(moved, || "the version has not moved".into())
}

fn pops(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. })
    )
}

fn processed(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Queue(
            QueueFact::Processed { .. }
                | QueueFact::EntriesProcessed { .. }
                | QueueFact::ProcessFailed { .. }
        )
    )
}

/// Part of processing what was popped.
fn works(record: &FactRecord) -> bool {
    record.actor == Actor::ProcessLoop
        && matches!(
            record.fact,
            Fact::Queue(
                QueueFact::DeltaTaken { .. }
                    | QueueFact::ListOpened { .. }
                    | QueueFact::ResyncOpened { .. }
            ) | Fact::Store(
                StoreFact::StoreReplaced { .. }
                    | StoreFact::ItemStored { .. }
                    | StoreFact::ItemRemoved { .. }
            ) | Fact::Handlers(HandlersFact::NotificationSent { .. })
        )
}

/// Of what was popped last nothing is left to be done, unless it failed.
fn processed_before(run: &Run, at: usize) -> Result<(), String> {
    let fails =
        |record: &&FactRecord| matches!(record.fact, Fact::Queue(QueueFact::ProcessFailed { .. }));
    let popped = || run.before(at).take_while(|record| !pops(&record.fact));
    let done = popped().filter(|record| works(record)).count();
    let left = run.after(at).take_while(|record| !processed(&record.fact));
    let left = left.filter(|record| works(record)).count();
    let next = run.after(at).find(|record| processed(&record.fact));
    let failed = popped().any(|record| fails(&record)) || next.is_some_and(|record| fails(&record));
    holds((done > 0 || failed) && left == 0, || {
        format!("{done} done, {left} left")
    })
}

/// What was popped last is yet to be processed.
fn processed_after(run: &Run, at: usize) -> Result<(), String> {
    let next = run
        .after(at)
        .find(|record| pops(&record.fact) || processed(&record.fact));
    holds(next.is_none_or(|record| processed(&record.fact)), || {
        format!("{next:?} comes next")
    })?;
    let last = run
        .before(at)
        .find(|record| pops(&record.fact) || processed(&record.fact));
    holds(last.is_some_and(|record| pops(&record.fact)), || {
        format!("{last:?} was the last")
    })
}

fn releases_or_takes(fact: &Fact) -> Option<bool> {
    match fact {
        Fact::Queue(QueueFact::LockTaken {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }) => Some(true),
        Fact::Queue(QueueFact::LockReleased {
            lock: LockName::Queue,
            by: Actor::ProcessLoop,
        }) => Some(false),
        _ => None,
    }
}

/// The process loop takes the lock again once nothing is left to be done.
fn without_the_lock(run: &Run, at: usize) -> Result<(), String> {
    let mut taken = false;
    for record in run.by(Actor::ProcessLoop, at) {
        if processed(&record.fact) {
            return Ok(());
        }
        taken |= releases_or_takes(&record.fact) == Some(true);
        holds(!(taken && works(record)), || {
            format!("{record:?} under the lock")
        })?;
    }
    Ok(())
}

/// The process loop, which has the lock, gives it back when it has processed, or when nothing is there.
fn under_the_lock(run: &Run, at: usize) -> Result<(), String> {
    let mut popped = run
        .before(at + 1)
        .filter(|record| record.actor == Actor::ProcessLoop || pops(&record.fact))
        .take_while(|record| releases_or_takes(&record.fact) != Some(false))
        .any(|record| pops(&record.fact));
    let mut done = run
        .before(at + 1)
        .take_while(|record| !pops(&record.fact))
        .any(|record| processed(&record.fact));
    for record in run.facts[at + 1..].iter() {
        if record.actor == Actor::ProcessLoop {
            popped |= pops(&record.fact);
            done |= processed(&record.fact);
        }
        if releases_or_takes(&record.fact) == Some(false) {
            return holds(done || !popped, || "the lock is given back before".into());
        }
    }
    Ok(())
}

/// The entries of a list that one holder of the lock has put in before, or puts in after, a fact.
fn listed(facts: &mut dyn Iterator<Item = &FactRecord>, actor: Actor) -> usize {
    facts
        .filter(|record| record.actor == actor)
        .take_while(|record| {
            !matches!(
                record.fact,
                Fact::Queue(QueueFact::LockTaken { .. } | QueueFact::LockReleased { .. })
            )
        })
        .filter(|record| match &record.fact {
            Fact::Queue(
                QueueFact::EntryAppended {
                    entry: Entry::Delta(delta_type, _),
                    ..
                }
                | QueueFact::DeltaAppended { delta_type, .. },
            ) => *delta_type == DeltaType::Replaced,
            _ => false,
        })
        .count()
}

fn deletes_first(run: &Run, at: usize) -> Result<(), String> {
    let before = listed(&mut run.before(at), run.facts[at].actor);
    holds(before == 0, || {
        format!("{before} of the list's objects come before")
    })
}

fn deletes_last(run: &Run, at: usize) -> Result<(), String> {
    let after = listed(&mut run.facts[at + 1..].iter(), run.facts[at].actor);
    holds(after == 0, || {
        format!("{after} of the list's objects come after")
    })
}

/// A whole list is in the store before anybody is told; deletions are told first.
fn replaced_then_told(run: &Run, at: usize) -> Result<(), String> {
    let mut replaced = false;
    let mut others = false;
    for record in run.facts[at + 1..].iter() {
        match &record.fact {
            Fact::Store(StoreFact::StoreReplaced { .. }) => replaced = true,
            fact if processed(fact) => break,
            Fact::Handlers(HandlersFact::NotificationSent {
                notification,
                handler: 0,
            }) => {
                let deletes = matches!(notification, Notification::Delete { .. });
                holds(replaced && !(deletes && others), || {
                    format!("{record:?} is told")
                })?;
                others |= !deletes;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The keys that are taken up in one go.
fn taken(run: &Run, at: usize) -> Vec<&Key> {
    let until = run.after(at).take_while(|record| !processed(&record.fact));
    let keys = until.filter_map(|record| match &record.fact {
        Fact::Queue(QueueFact::DeltaTaken { object, .. }) => Some(&object.key),
        _ => None,
    });
    keys.collect()
}

fn keys_once(run: &Run, at: usize) -> Result<(), String> {
    let keys = taken(run, at);
    let once: BTreeSet<_> = keys.iter().collect();
    holds(once.len() == keys.len(), || format!("{keys:?}"))
}

fn looked_up_first(run: &Run, at: usize) -> Result<(), String> {
    let wrote = run
        .before(at)
        .filter(|record| record.actor == Actor::ProcessLoop)
        .take_while(|record| !pops(&record.fact))
        .find(|record| {
            matches!(
                record.fact,
                Fact::Store(StoreFact::ItemStored { .. } | StoreFact::ItemRemoved { .. })
            )
        });
    holds(wrote.is_none(), || format!("{wrote:?} came before"))
}

/// What the handlers are told next of the object that was taken up.
fn told(run: &Run, at: usize, wanted: &str) -> Result<(), String> {
    let Fact::Queue(QueueFact::DeltaTaken { object, .. }) = &run.facts[at].fact else {
        return Err("nothing was taken up".into());
    };
    for record in &run.facts[at + 1..] {
        let (of, kind) = match &record.fact {
            Fact::Handlers(
                HandlersFact::NotificationSent { notification, .. }
                | HandlersFact::NotificationTaken { notification, .. },
            ) => (
                &notification.object().key,
                match notification {
                    Notification::Add { .. } => "add",
                    Notification::Update { .. } => "update",
                    Notification::Delete { .. } => "delete",
                },
            ),
            Fact::Handlers(HandlersFact::NotificationWithheld { key, .. }) => (key, "update"),
            fact if processed(fact) => return Ok(()),
            _ => continue,
        };
        // A listener may still be at what it was told before.
        let by_loop = record.actor == Actor::ProcessLoop
            || matches!(
                record.fact,
                Fact::Handlers(HandlersFact::NotificationTaken { .. })
            ) && run.inline;
        if *of == object.key && by_loop {
            return holds(kind == wanted, || format!("{record:?} comes"));
        }
    }
    Ok(())
}

fn syncing(run: &Run, at: usize, wanted: bool) -> Result<(), String> {
    let of = match run.facts[at].fact {
        Fact::Handlers(
            HandlersFact::NotificationSent { handler, .. }
            | HandlersFact::NotificationWithheld { handler, .. },
        ) => handler,
        _ => return Err("nobody is told".into()),
    };
    // Until the first check every handler counts as syncing.
    let is = run.before(at).find_map(|record| match record.fact {
        Fact::Handlers(HandlersFact::SyncingSet { handler, syncing }) if handler == of => {
            Some(syncing)
        }
        _ => None,
    });
    holds(is.unwrap_or(true) == wanted, || format!("syncing: {is:?}"))
}

/// Whether a chain of causes goes back to a resync, or to a list.
fn by_resync(run: &Run, at: usize, wanted: bool) -> Result<(), String> {
    let mut record = &run.facts[at];
    for _ in 0..40 {
        match &record.fact {
            Fact::Reflector(ReflectorFact::ResyncDue { .. }) => {
                return holds(wanted, || "a resync began it".into());
            }
            Fact::Reflector(
                ReflectorFact::ListReceived { .. } | ReflectorFact::InitialEventsEnded { .. },
            )
            | Fact::Server(ServerFact::ListAnswered { .. }) => {
                return holds(!wanted, || "a list began it".into());
            }
            _ => {}
        }
        let Cause::Fact(id) = record.cause else {
            break;
        };
        let Ok(place) = run.facts.binary_search_by_key(&id, |record| record.id) else {
            break;
        };
        record = &run.facts[place];
    }
    Err(format!("{record:?} began it"))
}

fn delay(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Work(WorkFact::WorkDelayed { ms, failures, .. }) = run.facts[at].fact else {
        return Err("nothing is delayed".into());
    };
    let before = run.before(at);
    let before = before
        .filter(|record| matches!(record.fact, Fact::Work(WorkFact::WorkDelayed { .. })))
        .count();
    let own = (5_u64 << (failures - 1).min(40)).min(1_000_000);
    holds(if before < 100 { ms == own } else { ms >= own }, || {
        format!("{ms} ms, not {own}")
    })
}

/// The stream goes on: nothing is asked for before it ends.
fn no_request(run: &Run, at: usize) -> Result<(), String> {
    run.next_request(at).map_or(Ok(()), |(request, between)| {
        let ended = between.iter().any(|record| {
            matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::WatchEnded { .. })
            )
        });
        // What the store refuses is asked for anew.
        let refused = between.iter().any(|record| {
            matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::StreamFellBack { .. })
            )
        });
        holds(ended || refused, || format!("{request:?} before its end"))
    })
}

/// `HasSynced` is false until so much of the first list has been popped.
fn popped_first(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Queue(QueueFact::Populated { initial }) = run.facts[at].fact else {
        return Err("nothing is populated".into());
    };
    let mut popped = 0;
    for record in &run.facts[at + 1..] {
        match record.fact {
            Fact::Queue(QueueFact::KeyPopped { .. } | QueueFact::FifoKeySkipped { .. }) => {
                popped += 1
            }
            Fact::Queue(QueueFact::EntriesTaken { count, .. }) => popped += count,
            Fact::Queue(QueueFact::Synced) => {
                return holds(popped >= initial, || format!("{popped} popped"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn once(run: &Run, at: usize) -> Result<(), String> {
    let kind = run.facts[at].fact.name();
    let again = run.facts[at + 1..]
        .iter()
        .find(|record| record.fact.name() == kind);
    holds(again.is_none(), || format!("{again:?} comes"))
}

fn silent(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Handlers(HandlersFact::HandlerRemoved { handler: of }) = run.facts[at].fact else {
        return Err("nobody was removed".into());
    };
    let told = run.facts[at + 1..].iter().find(
        |record| matches!(record.fact, Fact::Handlers(HandlersFact::NotificationTaken { handler, .. }) if handler == of),
    );
    holds(told.is_none(), || format!("{told:?} comes"))
}

fn told_what_is_there(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Handlers(HandlersFact::HandlerAdded {
        handler: of,
        initial,
        ..
    }) = run.facts[at].fact
    else {
        return Err("nobody was added".into());
    };
    let taken = run.facts[at + 1..]
        .iter()
        .filter_map(|record| match &record.fact {
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) if *handler == of => Some(notification),
            _ => None,
        });
    let wrong = taken.take(initial as usize).find(|told| {
        !matches!(
            told,
            Notification::Add {
                is_in_initial_list: true,
                ..
            }
        )
    });
    holds(wrong.is_none(), || format!("{wrong:?} comes"))
}

fn stored_first(run: &Run, at: usize) -> Result<(), String> {
    let Fact::Store(StoreFact::ItemStored { object, .. }) = &run.facts[at].fact else {
        return Err("nothing was stored".into());
    };
    let told = run.before(at).find(|record| match &record.fact {
        Fact::Handlers(HandlersFact::NotificationTaken { notification, .. }) => {
            let of = notification.object();
            of.key == object.key
                && of.rv == object.rv
                && !matches!(notification, Notification::Delete { .. })
        }
        _ => false,
    });
    holds(told.is_none(), || format!("{told:?} came before"))
}

// ---- the table

/// A row: by what a sentence is held, in which generations it is said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Row {
    eras: String,
    held: String,
}

fn table() -> BTreeMap<(String, String), Row> {
    let text = fs::read_to_string(TABLE).unwrap_or_default();
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let [fact, eras, sentence, held] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{TABLE}: {line:?} has not four columns");
            };
            let row = Row {
                eras: eras.to_owned(),
                held: held.to_owned(),
            };
            ((fact.to_owned(), sentence.to_owned()), row)
        });
    rows.collect()
}

fn eras(said: &BTreeSet<Generation>) -> String {
    match said.len() {
        0 => "none".to_owned(),
        4 => "all".to_owned(),
        _ => said
            .iter()
            .map(|one| one.era())
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Where a sentence was said: in which generations, and beside which lines.
#[derive(Default)]
struct Said {
    eras: BTreeSet<Generation>,
    places: BTreeMap<Generation, BTreeSet<String>>,
}

fn said(runs: &[Run]) -> BTreeMap<(String, String), Said> {
    let mut all: BTreeMap<_, Said> = BTreeMap::new();
    for run in runs {
        for (at, record) in run.facts.iter().enumerate() {
            for sentence in &run.said[at] {
                let key = (record.fact.name().to_owned(), sentence.clone());
                let said = all.entry(key).or_default();
                if run.informer {
                    said.eras.insert(run.generation);
                }
                let places = said.places.entry(run.generation).or_default();
                places.insert(run.places[at].clone());
            }
        }
    }
    all
}

/// Parts of sentences have no full stop.
fn needs_to_be_held(eras: &str, sentence: &str) -> bool {
    let whole = sentence.ends_with(['.', ':']) && !sentence.starts_with("Cause:");
    let named = ["1.3", "0.3"]
        .iter()
        .any(|release| sentence.contains(release));
    let rule = RULES.iter().any(|word| sentence.contains(word));
    whole && (eras != "all" || named || rule)
}

#[test]
fn each_sentence_stands_in_the_table_with_its_generations() {
    let runs = runs();
    let (said, table) = (said(&runs), table());
    let mut wrong = String::new();
    for ((fact, sentence), said) in &said {
        let eras = eras(&said.eras);
        let row = table.get(&(fact.clone(), sentence.clone()));
        let held = row.map(|row| row.held.as_str()).unwrap_or_default();
        let places: Vec<String> = said
            .places
            .values()
            .filter_map(|places| places.iter().find(|place| place.contains(".go:")))
            .cloned()
            .collect();
        let here = held.split("; ").all(|by| {
            let line = by.contains(".go:");
            !line || said.places.values().any(|places| places.contains(by))
        });
        let unheld = held.is_empty() && needs_to_be_held(&eras, sentence);
        if row.is_none_or(|row| row.eras != eras) || unheld || !here {
            wrong += &format!(
                "{fact}\t{eras}\t{sentence}\t{held}\n    # the panel: {}\n",
                places.join("; ")
            );
        }
    }
    for (fact, sentence) in table.keys() {
        if !said.contains_key(&(fact.clone(), sentence.clone())) {
            wrong += &format!("nobody says of {fact}: {sentence}\n");
        }
    }
    let held = table.values().filter(|row| !row.held.is_empty()).count();
    println!(
        "{} runs, {} sentences, {held} of them held",
        runs.len(),
        table.len()
    );
    assert!(wrong.is_empty(), "{TABLE} should have:\n{wrong}");
}

#[test]
fn what_a_sentence_promises_is_what_follows() {
    let runs = runs();
    let table = table();
    let mut met: BTreeMap<(&str, Generation), usize> = BTreeMap::new();
    let mut wrong = BTreeMap::new();
    for run in &runs {
        for (at, record) in run.facts.iter().enumerate() {
            for sentence in &run.said[at] {
                let key = (record.fact.name().to_owned(), sentence.clone());
                let held = table
                    .get(&key)
                    .map(|row| row.held.as_str())
                    .unwrap_or_default();
                for by in held.split("; ") {
                    let Some((name, check)) = CHECKS.iter().find(|(name, _)| *name == by) else {
                        continue;
                    };
                    *met.entry((name, run.generation)).or_default() += 1;
                    if let Err(error) = check(run, at) {
                        let place = (*name, sentence.clone());
                        wrong.entry(place).or_insert_with(|| {
                            format!("{}, fact {at} ({:?}): {error}", run.name, record.fact)
                        });
                    }
                }
            }
        }
    }
    println!(
        "{} checks in {} runs",
        met.values().sum::<usize>(),
        runs.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, _) in CHECKS {
        let met = met.keys().any(|(of, _)| *of == name);
        assert!(met, "no run has met {name:?}");
    }
}

#[test]
fn what_holds_a_sentence_is_there() {
    for ((fact, sentence), row) in table() {
        for by in row.held.split("; ").filter(|by| !by.is_empty()) {
            let check = CHECKS.iter().any(|(name, _)| *name == by);
            let vector =
                by.ends_with(".jsonl") && Path::new("tests/conformance").join(by).is_file();
            // One that the panel shows, as the first test holds.
            let line = by.starts_with("v0.3") && by.contains(".go:");
            let other = ["API concepts", "own"].contains(&by);
            assert!(
                check || vector || line || other,
                "{by:?} holds {fact}: {sentence}"
            );
        }
    }
}
