//! Whole informers under the virtual scheduler: in any interleaving every actor comes to rest, and in the end
//! the store equals the server and every handler has been notified of it.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests; `make soak` asks for more by the environment, and a failure says how to see it"
)]

mod day;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::of_world::picture_of;
use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{
    Actor, Fact, FactRecord, HandlersFact, LockName, NotificationRef, QueueFact, ReflectorFact,
    Request, ServerFact,
};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::rng::Rng;
use deltascope::cache::selector::Selector;
use deltascope::replay::invariants::Invariants;
use deltascope::replay::link::Link;
use deltascope::replay::picture::{Delivery, Picture};
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::world::source::any::AnySource;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{
    Answer, HandlerSettings, InformerKind, Input, ReflectorState, Settings, WorkSettings, World,
};

/// The number of seeds: `usual`, or one in `of` of `SOAK_SEEDS` (set by `make soak`).
pub(super) fn seeds(usual: u64, of: u64) -> u64 {
    let soak = std::env::var("SOAK_SEEDS").ok();
    soak.and_then(|seeds| seeds.parse::<u64>().ok())
        .map_or(usual, |seeds| seeds.div_ceil(of))
}

fn pod(rng: &mut Rng) -> PodSpec {
    PodSpec {
        namespace: ["a", "b"][rng.below(2) as usize].to_owned(),
        name: format!("p{}", rng.below(6)),
        labels: [("app".to_owned(), format!("app-{}", rng.below(3)))].into(),
        node: format!("n{}", rng.below(2)),
        phase: "Running".to_owned(),
    }
}

/// With `at_once` there are no latencies and many resyncs during the traffic; else resyncs are so rare that
/// slow handlers come to rest in between.
fn handler(rng: &mut Rng, name: &str, at_once: bool) -> HandlerSettings {
    HandlerSettings {
        name: name.into(),
        latency_ms: if at_once { 0 } else { rng.below(4) as u32 * 50 },
        resync_ms: match rng.below(10) {
            0..5 => None,
            5..7 => Some(0),
            _ => Some(4_000 + rng.below(4) * 2_500),
        },
        queues: rng.chance(50),
        ..HandlerSettings::default()
    }
}

fn scenario(seed: u64, rng: &mut Rng, at_once: bool) -> Scenario {
    let generation = Generation::ALL[(seed % 4) as usize];
    let shared = !rng.chance(20);
    let period = if at_once { 250 } else { 4_000 };
    Scenario {
        settings: Settings {
            seed,
            interleave: true,
            informer: if shared {
                InformerKind::Shared
            } else {
                InformerKind::Plain
            },
            era: generation,
            watch_list: Some(rng.chance(50)),
            refuses_streaming: rng.chance(20),
            selector: rng
                .chance(25)
                .then(|| Selector::parse("app in (app-0,app-2)").unwrap()),
            // An atomic list would call `OnAdd` twice for a repeated object, and a handler would no longer
            // mirror the store.
            repeats: if generation != Generation::Atomic && rng.chance(20) {
                vec!["a/p0".into(), "b/p3".into()]
            } else {
                Vec::new()
            },
            page_size: rng.below(3) as u32,
            resync_ms: rng.below(4) * period,
            process_ms: if at_once { 0 } else { rng.below(2) as u32 * 25 },
            indices: vec!["namespace".into(), "app".into()],
            handlers: (0..rng.below(4))
                .map(|n| handler(rng, &format!("h{n}"), at_once))
                .collect(),
            work: rng.chance(50).then(|| WorkSettings {
                workers: 1 + rng.below(2) as u8,
                latency_ms: if at_once { 0 } else { 30 },
                // A retry would take longer than the time until the next resync.
                failures: if at_once { 0 } else { rng.below(3) as u32 },
            }),
            ..Settings::default()
        },
        ..Scenario::default()
    }
}

fn input(rng: &mut Rng, at_once: bool) -> Input<Command> {
    let source = Input::Source;
    match rng.below(20) {
        0..6 => source(Command::Write(Write::Create(pod(rng).into_object()))),
        6..10 => source(Command::Write(Write::Update(pod(rng).into_object()))),
        10..13 => {
            let PodSpec {
                namespace, name, ..
            } = pod(rng);
            source(Command::Write(Write::Delete { namespace, name }))
        }
        13 => source(Command::Cut),
        14 => source(Command::Compact),
        15 => source(Command::Close),
        16 => source(Command::Bookmark),
        17 => source(Command::ErrorEvent([410, 429, 500][rng.below(3) as usize])),
        18 => source(Command::Refuse(Refusals {
            request: [Request::List, Request::Watch][usize::from(rng.chance(50))],
            kind: [
                ApiErrorKind::Expired,
                ApiErrorKind::TooLarge,
                ApiErrorKind::TooManyRequests,
                ApiErrorKind::Forbidden,
                ApiErrorKind::InternalError,
            ][rng.below(5) as usize],
            times: 1 + rng.below(2) as u32,
        })),
        _ if rng.chance(70) => Input::AddHandler(handler(rng, "late", at_once)),
        _ => Input::RemoveHandler(rng.below(4) as u8),
    }
}

/// The most facts of a run: usually some thousand, more with frequent resyncs while a server refuses.
const MOST_FACTS: usize = 400_000;
/// The virtual time in which every refusal and every backoff ends.
const COMES_TO_REST_MS: u64 = 1_000_000;
/// The time limit of a run on a busy machine; usually a run takes some hundredths of a second.
const HANGS: Duration = Duration::from_secs(20);
/// The number of resync checks after the run has come to rest.
const CHECKS: usize = 4;

/// A world and its facts.
struct Run {
    world: World<AnySource>,
    facts: Vec<FactRecord>,
    /// What makes the same run on the page.
    recording: Recording,
    /// The actors that are about to write to the queue, which no picture shows.
    writers: BTreeSet<Actor>,
    /// Whether the server has closed the watch and the reflector has not noticed it yet.
    closes: bool,
    /// Named in every failure message.
    name: String,
}

// A failure says where the run can be seen.
impl Drop for Run {
    fn drop(&mut self) {
        if thread::panicking() {
            let link = Link::of(None, &self.recording);
            eprintln!("{}\nopens on the page with {link}", self.name);
        }
    }
}

impl Run {
    fn new(scenario: Scenario, name: String) -> Self {
        Self {
            world: scenario.build().unwrap(),
            facts: Vec::new(),
            recording: Recording::of(scenario),
            writers: BTreeSet::new(),
            closes: false,
            name,
        }
    }

    fn input(&mut self, input: Input<Command>) {
        self.recording.inputs.push(RecordedInput {
            after: self.facts.len(),
            at: self.facts.last().map_or(0, |record| record.time),
            input: input.clone(),
        });
        self.world.input(input);
        self.note();
    }

    fn step(&mut self) -> bool {
        let went = self.world.step();
        self.note();
        went
    }

    fn note(&mut self) {
        for record in self.world.drain() {
            match &record.fact {
                Fact::Reflector(
                    ReflectorFact::ListReceived { .. }
                    | ReflectorFact::InitialEventsEnded { .. }
                    | ReflectorFact::ResyncDue { wanted: true },
                ) => {
                    self.writers.insert(record.actor);
                }
                Fact::Queue(QueueFact::LockReleased {
                    lock: LockName::Queue,
                    by,
                }) => {
                    self.writers.remove(by);
                }
                Fact::Server(ServerFact::WatchClosed { .. }) => self.closes = true,
                Fact::Reflector(ReflectorFact::WatchEnded { .. }) => self.closes = false,
                _ => {}
            }
            self.facts.push(record);
        }
        assert!(self.facts.len() < MOST_FACTS, "no end: {}", self.name);
    }

    /// The work that is left for some actor, not counting future resyncs.
    fn unrest(&self) -> Option<String> {
        // This is usually enough, and cheap.
        if self.world.lock().holder().is_some() || !self.world.queue().is_empty() {
            return Some(format!("queue's lock: {:?}", self.world.lock()));
        }
        if self.world.reflector().state() != ReflectorState::Watch || !self.writers.is_empty() {
            let state = self.world.reflector().state();
            return Some(format!("{state:?}, writers {:?}", self.writers));
        }
        let picture = picture_of(&self.world);
        let api = &picture.api;
        let waits = api
            .stream
            .iter()
            .any(|line| line.delivery == Delivery::Waiting);
        let answer = picture.reflector.requests.back().map(|last| &last.answer);
        let work = picture.work.as_ref();
        [
            (waits || self.closes || api.watch.is_none(), "stream"),
            (answer != Some(&Answer::Open), "request"),
            (picture.reflector.in_hand.is_some(), "in hand"),
            (!picture.lock.waiting.is_empty(), "queue's lock"),
            (picture.block_deltas.holder.is_some(), "blockDeltas"),
            (!picture.block_deltas.waiting.is_empty(), "blockDeltas"),
            (!picture.asked.is_empty(), "a handler to add"),
            (!picture.queue.synced, "HasSynced"),
            (picture.pop.processing.is_some(), "process"),
            (
                picture
                    .handlers
                    .iter()
                    .any(|handler| !handler.pending.is_empty()),
                "a buffer",
            ),
            (
                picture
                    .handlers
                    .iter()
                    .any(|handler| handler.running.is_some()),
                "a handler",
            ),
            (
                work.is_some_and(|work| !work.queue.is_empty() || !work.dirty.is_empty()),
                "the workqueue",
            ),
            (
                work.is_some_and(|work| work.workers.iter().any(Option::is_some)),
                "a worker",
            ),
            (
                work.is_some_and(|work| !work.failures.is_empty()),
                "a retry",
            ),
        ]
        .iter()
        .find(|(is_so, _)| *is_so)
        .map(|(_, what)| (*what).to_owned())
    }

    /// Runs until no work is left.
    fn rest(&mut self) {
        let until = self.world.now() + COMES_TO_REST_MS;
        while let Some(what) = self.unrest() {
            let goes_on = self.step() && self.world.now() < until;
            assert!(goes_on, "left waiting: {what}: {}", self.name);
        }
    }

    /// Checks that the store equals the server's selected objects, and that every handler was notified of
    /// them.
    fn check(&self) {
        let (picture, name) = (picture_of(&self.world), &self.name);
        let objects = picture.api.objects.values();
        let server: BTreeMap<String, String> = objects
            .filter(|object| !object.deleted && picture.api.selects(&object.body.labels))
            .map(|object| (object.object.key.to_string(), object.object.rv.to_string()))
            .collect();
        let items = picture.store.items.iter();
        let store: BTreeMap<String, String> = items
            .map(|(key, object)| (key.to_string(), object.rv.to_string()))
            .collect();
        assert_eq!(store, server, "{name}");
        for (number, handler) in picture.handlers.iter().enumerate() {
            let (kept, name) = (self.kept(number), format!("{}: {name}", handler.name));
            if !handler.removed {
                assert_eq!(kept, server, "{name}");
                assert!(handler.synced || handler.inline, "not synced: {name}");
            }
        }
    }

    /// The notifications that a handler has received from this fact on.
    fn notifications(&self, number: usize, from: usize) -> impl Iterator<Item = &NotificationRef> {
        let facts = self.facts[from..].iter();
        facts.filter_map(move |record| match &record.fact {
            Fact::Handlers(HandlersFact::NotificationTaken {
                handler,
                notification,
            }) if usize::from(*handler) == number => Some(notification),
            _ => None,
        })
    }

    /// The state that a handler derives from its notifications; checks that none is repeated or missing.
    fn kept(&self, number: usize) -> BTreeMap<String, String> {
        let mut kept = BTreeMap::new();
        for notification in self.notifications(number, 0) {
            let name = || format!("handler {number}: {notification:?}: {}", self.name);
            let old = match notification {
                NotificationRef::Add { object, .. } => {
                    let had = kept.insert(object.key.to_string(), object.rv.to_string());
                    assert_eq!(had, None, "{}", name());
                    continue;
                }
                NotificationRef::Update { old, new } => {
                    let rv = kept.insert(new.key.to_string(), new.rv.to_string());
                    assert_eq!(
                        rv.as_deref(),
                        old.as_ref().map(|old| &*old.rv),
                        "{}",
                        name()
                    );
                    continue;
                }
                NotificationRef::Delete { object } => kept.remove(object.key.as_str()),
            };
            assert!(old.is_some(), "{}", name());
        }
        kept
    }

    /// Checks that no handler receives an object of the first list after it has synced.
    fn check_synced(&self) {
        let mut synced = BTreeSet::new();
        for record in &self.facts {
            match &record.fact {
                Fact::Handlers(HandlersFact::HandlerSynced { handler }) => {
                    let first = synced.insert(*handler);
                    assert!(first, "handler {handler} has synced twice: {}", self.name);
                }
                Fact::Handlers(HandlersFact::NotificationTaken {
                    handler,
                    notification:
                        NotificationRef::Add {
                            is_in_initial_list: true,
                            ..
                        },
                }) => assert!(
                    !synced.contains(handler),
                    "handler {handler} had not synced: {}",
                    self.name
                ),
                _ => {}
            }
        }
    }

    /// The invariants report no unknown violation either.
    fn check_invariants(&self, mut invariants: Invariants) {
        for (place, record) in self.facts.iter().enumerate() {
            invariants.see(place, record);
        }
        invariants.end();
        let broken = invariants.violations().iter();
        let unknown: Vec<_> = broken.filter(|found| !found.known).collect();
        assert!(unknown.is_empty(), "{unknown:#?}: {}", self.name);
    }

    /// Lets `checks` resync checks pass, with all their effects.
    fn pass_checks(&mut self, checks: usize, check_ms: u64) {
        let until = self.world.now() + (checks as u64 + 1) * check_ms;
        let from = self.facts.len();
        let due = |record: &&FactRecord| {
            matches!(
                record.fact,
                Fact::Reflector(ReflectorFact::ResyncDue { .. })
            )
        };
        while self.facts[from..].iter().filter(due).count() < checks {
            let goes_on = self.step() && self.world.now() < until;
            assert!(goes_on, "no resync: {}", self.name);
        }
        self.rest();
    }

    /// Checks that after some resync checks each handler has received every object again, unchanged and as
    /// often as its period demands, and nothing else.
    fn check_resyncs(&mut self, handlers: &[HandlerSettings]) {
        let name = self.name.clone();
        let settings = self.world.settings().clone();
        let first = &handlers[..settings.handlers.len()];
        let wanted = first.iter().filter_map(|handler| handler.resync_ms);
        let check_ms = match settings.resync_ms {
            // Without a default period there are no checks.
            0 => 0,
            default => wanted.filter(|ms| *ms > 0).fold(default, u64::min),
        };
        if check_ms == 0 {
            while self.step() {}
            let due = |record: &FactRecord| {
                matches!(
                    record.fact,
                    Fact::Reflector(ReflectorFact::ResyncDue { .. })
                )
            };
            assert!(!self.facts.iter().any(due), "nobody wants a resync: {name}");
            return;
        }
        // The first check comes too early for a handler that was just added.
        self.pass_checks(1, check_ms);
        let from = self.facts.len();
        self.pass_checks(CHECKS, check_ms);
        let picture = picture_of(&self.world);
        for (number, handler) in picture.handlers.iter().enumerate() {
            let wants = handlers[number].resync_ms.unwrap_or(settings.resync_ms);
            // A handler whose period is longer than the check period is due at every n-th check.
            let each = match settings.informer {
                InformerKind::Plain => 1,
                // The shortest possible period is one second.
                _ => wants.max(1_000).max(check_ms).div_ceil(check_ms) as usize,
            };
            let expected = match (settings.informer, wants, handler.removed) {
                (_, _, true) | (InformerKind::Shared, 0, _) => 0..=0,
                _ => CHECKS / each..=CHECKS.div_ceil(each),
            };
            let mut times: BTreeMap<&str, usize> = BTreeMap::new();
            for notification in self.notifications(number, from) {
                let NotificationRef::Update {
                    old: Some(old),
                    new,
                } = notification
                else {
                    panic!("handler {number}: {notification:?}: {name}");
                };
                assert_eq!(old, new, "handler {number}: {name}");
                *times.entry(&new.key).or_default() += 1;
            }
            let mut all: BTreeSet<usize> = times.values().copied().collect();
            if times.len() < picture.store.items.len() {
                all.insert(0);
            }
            let is_right = all.len() <= 1 && all.iter().all(|times| expected.contains(times));
            assert!(
                is_right,
                "handler {number}: {times:?}, not {expected:?} times: {name}"
            );
        }
        self.check();
    }
}

fn run(seed: u64) {
    let mut rng = Rng::new(seed);
    let at_once = rng.chance(40);
    let scenario = scenario(seed, &mut rng, at_once);
    let mut handlers = scenario.settings.handlers.clone();
    let name = format!("seed {seed}: {:?}", scenario.settings);
    let mut run = Run::new(scenario, name);
    let invariants = Invariants::new(&Picture::start(&run.world), false);
    for _ in 0..rng.between(10, 40) {
        let input = input(&mut rng, at_once);
        if let Input::AddHandler(handler) = &input {
            handlers.push(handler.clone());
        }
        run.input(input);
        for _ in 0..rng.below(25) {
            run.step();
        }
    }
    run.rest();
    run.check();
    run.check_synced();
    run.check_resyncs(&handlers);
    run.check_invariants(invariants);
}

/// Runs all seeds in a thread of its own, so that an endless run fails the test instead of hanging it.
pub(super) fn run_all(seeds: u64, run: fn(u64)) {
    let (done, ended) = channel();
    let runs = thread::spawn(move || {
        for seed in 0..seeds {
            run(seed);
            done.send(seed).unwrap();
        }
    });
    for seed in 0..seeds {
        match ended.recv_timeout(HANGS) {
            Ok(ended) => assert_eq!(ended, seed),
            Err(RecvTimeoutError::Timeout) => panic!("seed {seed} hangs"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // A failure in the thread fails the test.
    if let Err(failure) = runs.join() {
        std::panic::resume_unwind(failure);
    }
}

#[test]
fn every_run_comes_to_rest_in_any_interleaving() {
    run_all(seeds(1_000, 1), run);
}

#[test]
fn the_link_of_a_failure_plays_the_same_run() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut run = Run::new(scenario(seed, &mut rng, false), String::new());
        for _ in 0..rng.between(1, 20) {
            run.input(input(&mut rng, false));
            for _ in 0..rng.below(25) {
                run.step();
            }
        }
        let link = Link::of(None, &run.recording).to_string();
        let opened = Link::read(&link).unwrap();
        let recording = opened.recording(&Scenario::default()).unwrap();
        let (timeline, played) = recording.play_within(run.facts.len()).unwrap();
        assert_eq!(played, run.recording.inputs.len(), "{link}");
        let count = run.facts.len();
        assert!(timeline.facts(0..count)[..] == run.facts[..], "{link}");
    }
}
