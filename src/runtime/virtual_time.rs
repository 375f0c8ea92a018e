//! A world: one informer and its source under a clock that jumps.
//!
//! Deterministic: from the same settings, source and inputs come the same facts, byte for byte,
//! natively and in wasm. There is no thread and no real clock here. [`World::step`] lets one
//! machine do one micro-step; when none can go on, the clock jumps to the next moment at which one
//! can.
//!
//! The machines: the source does what is due; the *feeder* is the reflector (or a program that
//! calls the queue itself); the *process loop* pops, updates the Indexer and tells the handlers;
//! each handler with a buffer is a *listener*. What blocks the feeder and the process loop is the
//! queue's lock, which in the classic generation is held while `process` runs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;
use serde::Deserialize;
use serde_json::Value;

use crate::cache::delta::{Delta, DeltaType};
use crate::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions, Taken};
use crate::cache::fact::{
    Actor, BackoffReason, Cause, EventType, Fact, FactRecord, Notification, ObjectRef, ProcessMode,
    Rv,
};
use crate::cache::index::{IndexFunc, Indexers};
use crate::cache::key::Key;
use crate::cache::key_func::{deletion_handling_meta_namespace_key_func, meta_namespace_key_func};
use crate::cache::object::{Item, Object};
use crate::cache::order::Order;
use crate::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release};
use crate::cache::step::Step;
use crate::cache::store::{Indexer, StoreOptions};
use crate::cache::trace::Trace;

use super::lock::Lock;
use super::rng::Rng;
use super::scribe::Scribe;
use super::{Listing, Refused, Source, StreamItem, Time, Wait};

/// How long a list or the opening of a watch takes, in virtual ms: a fast server on a local network.
pub const REQUEST_MS: Time = 40;
/// The first back-off of client-go's reflector, in ms; a world leaves the jitter out, so that a
/// lesson tells the same story each time.
pub const BACKOFF_MS: Time = 800;
/// A watch that ends sooner than this and brought nothing leads to a list.
const SHORT_WATCH_MS: Time = 1_000;
/// How many lines of output a world keeps.
pub const OUTPUT_LINES: usize = 500;
/// How many notifications a world keeps for each handler.
pub const NOTIFICATIONS: usize = 500;

/// What feeds the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Feed {
    /// A simulated API server, through a reflector.
    #[default]
    Server,
    /// A recording of a real API server, through a reflector.
    Recorded,
    /// A program that calls the queue itself: no server, no reflector.
    Program,
}

/// What the reflector is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReflectorState {
    /// Nothing yet, or there is no reflector.
    #[default]
    Idle,
    /// Waiting for a list or putting it into the queue.
    List,
    /// Watching.
    Watch,
    /// Waiting before it tries again.
    Backoff,
    /// Over.
    Stopped,
}

/// What is built, and how it behaves.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Settings {
    /// What the scheduler's choices follow from, where it has any.
    pub seed: u64,
    /// Let machines take turns at random (from the seed) instead of each running until it blocks.
    pub interleave: bool,
    /// What feeds the queue.
    pub feed: Feed,
    /// Whether the queue can ask the Indexer.
    pub known_objects: bool,
    /// Whether the process function keeps an Indexer.
    pub store: bool,
    /// `EmitDeltaTypeReplaced`.
    pub emit_delta_type_replaced: bool,
    /// The Indexer's indices, by name: `namespace`, `node`, or any label.
    pub indices: Vec<Arc<str>>,
    /// How the process loop runs.
    pub mode: ProcessModeText,
    /// How long `process` takes for each delta, in virtual ms; the lock is held meanwhile.
    pub process_ms: u32,
    /// The process function goes by the delta's type alone, as the first programs of the lessons
    /// do; else it looks whether the object exists, as `processDeltas` does.
    pub by_type: bool,
    /// Who is told.
    pub handlers: Vec<HandlerSettings>,
}

/// One handler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct HandlerSettings {
    /// Its name.
    pub name: Arc<str>,
    /// It runs inside `process`; else it has a buffer and a loop of its own.
    pub inline: bool,
    /// How long it takes for each notification, in virtual ms (with a buffer only).
    pub latency_ms: u32,
    /// The lines it prints: `{type}`, `{name}`, `{rv}` and `{phase}` are filled in.
    pub on_add: Vec<String>,
    /// The same for an update.
    pub on_update: Vec<String>,
    /// The same for a delete.
    pub on_delete: Vec<String>,
}

/// A [`ProcessMode`] as data writes it: `"free"`, `"held"`, or a pause in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
pub struct ProcessModeText(pub ProcessMode);

impl TryFrom<Value> for ProcessModeText {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        let pause = value.as_u64().and_then(|ms| ms.try_into().ok());
        match (value.as_str(), pause) {
            (Some("free"), _) => Ok(Self(ProcessMode::Free)),
            (Some("held"), _) => Ok(Self(ProcessMode::Held)),
            (_, Some(ms)) => Ok(Self(ProcessMode::Paced(ms))),
            _ => Err(format!(
                "mode {value} is not known; write \"free\", \"held\" or a pause in ms"
            )),
        }
    }
}

/// What reaches a world from outside; together with the settings it makes the whole run.
#[derive(Clone, Debug)]
pub enum Input<C> {
    /// For the source.
    Source(C),
    /// Pop once (held only).
    Pop,
    /// How the process loop runs from now on.
    Mode(ProcessMode),
    /// With or without KnownObjects from now on.
    KnownObjects(bool),
}

type Obj = DynamicObject;

/// One informer and its source.
#[derive(Clone)]
pub struct World<S: Source> {
    now: Time,
    rng: Rng,
    settings: Settings,
    scribe: Scribe,
    source: S,
    lock: Lock,
    feeder: Feeder,
    queue: DeltaFifo<Obj>,
    known_objects: bool,
    store: Option<Indexer<Obj>>,
    store_rv: Rv,
    process: Process,
    handlers: Vec<Handler>,
    output: VecDeque<Arc<str>>,
    script: VecDeque<(Time, Input<S::Command>)>,
    /// Who acted last: it goes on as long as it can.
    last: Option<Actor>,
    inputs: u32,
    /// The input behind each call that a program has yet to make.
    calls: VecDeque<Cause>,
}

/// What the feeder is about to call.
#[derive(Clone, Debug)]
enum Call {
    Add(Item<Obj>),
    Update(Item<Obj>),
    Delete(Item<Obj>),
    Replace(Vec<Item<Obj>>, Rv),
}

impl Call {
    fn lock_step(&self) -> Step {
        match self {
            Self::Add(_) | Self::Update(_) => Step::AddLock,
            Self::Delete(_) => Step::DeleteLock,
            Self::Replace(..) => Step::ReplaceLock,
        }
    }

    fn unlock_step(&self) -> Step {
        match self {
            Self::Add(_) | Self::Update(_) => Step::AddUnlock,
            Self::Delete(_) => Step::DeleteUnlock,
            Self::Replace(..) => Step::ReplaceUnlock,
        }
    }
}

/// The reflector, or a program in its place.
///
/// ```text
/// Start ─► List ─► AwaitList ─► Want ─► Do ─► Unlock ─► SetVersion ─► OpenWatch ─► AwaitWatch ─► Watch
///                                 ▲                                                               │
///                                 └───────────────────────── one event ───────────────────────────┤
/// OpenWatch ◄───────────────── the watch ends, having brought something or lasted ────────────────┤
/// List or OpenWatch ◄── Backoff ◄──────────── it fails, is refused or ends at once ───────────────┘
/// ```
#[derive(Clone, Debug)]
enum Stage {
    Start,
    List,
    AwaitList(Time, Rv),
    Want(Call),
    Do(Call),
    Unlock(Step),
    SetVersion,
    OpenWatch,
    AwaitWatch(Time, Rv),
    Watch,
    Backoff(Time),
    Calls,
    Stopped,
}

/// The reflector, or a program in its place.
#[derive(Clone, Debug)]
pub struct Feeder {
    actor: Actor,
    stage: Stage,
    pub(crate) state: ReflectorState,
    pub(crate) last_sync: Rv,
    /// What `last_sync` becomes once the queue has it.
    version: Option<Rv>,
    /// Where `SetVersion` leads.
    watching: bool,
    /// When the watch was opened, and how many events had come before it.
    opened: (Time, u64),
    pub(crate) relist: bool,
    pub(crate) backoff_ms: u64,
    pub(crate) in_hand: Option<(EventType, ObjectRef)>,
    pub(crate) events: u64,
    pub(crate) lists: u64,
}

#[derive(Clone, Debug)]
enum Work {
    Idle,
    Begin,
    Take,
    Store,
    Notify,
    Busy(Time),
    Finish,
    Unlock,
}

/// Pop and the process function.
#[derive(Clone, Debug)]
pub struct Process {
    pub(crate) mode: ProcessMode,
    pub(crate) asked: u32,
    not_before: Time,
    work: Work,
    began: Time,
    taken: Option<Taken<Obj>>,
    pub(crate) last: Option<PoppedDeltas>,
    position: Option<usize>,
    notification: Option<Notification>,
    pub(crate) count: u64,
}

/// What was popped, for the picture.
#[derive(Clone, Debug)]
pub struct PoppedDeltas {
    /// The key.
    pub key: Key,
    /// Its deltas, oldest first.
    pub deltas: Vec<(DeltaType, ObjectRef)>,
    /// The one in work, or the last one that was.
    pub position: Option<usize>,
    /// Whether it belongs to the first list.
    pub is_in_initial_list: bool,
}

/// One handler.
#[derive(Clone, Debug)]
pub struct Handler {
    pub(crate) settings: HandlerSettings,
    pub(crate) pending: VecDeque<(Notification, DeltaType, Arc<str>)>,
    pub(crate) running: Option<(Notification, Vec<Arc<str>>, Time)>,
    pub(crate) notifications: VecDeque<Notification>,
}

impl<S: Source> World<S> {
    /// Builds a world to which `script` will happen; nothing has happened in it yet.
    #[must_use]
    pub fn new(settings: Settings, source: S, script: Vec<(Time, Input<S::Command>)>) -> Self {
        let handlers = settings
            .handlers
            .iter()
            .map(|settings| Handler {
                settings: settings.clone(),
                pending: VecDeque::new(),
                running: None,
                notifications: VecDeque::new(),
            })
            .collect();
        let program = settings.feed == Feed::Program;
        Self {
            now: 0,
            rng: Rng::new(settings.seed),
            scribe: Scribe::default(),
            lock: Lock::default(),
            feeder: Feeder {
                actor: if program {
                    Actor::Program
                } else {
                    Actor::Reflector
                },
                stage: if program { Stage::Calls } else { Stage::Start },
                state: ReflectorState::Idle,
                last_sync: "".into(),
                version: None,
                watching: false,
                opened: (0, 0),
                relist: false,
                backoff_ms: 0,
                in_hand: None,
                events: 0,
                lists: 0,
            },
            queue: DeltaFifo::new(DeltaFifoOptions {
                emit_delta_type_replaced: settings.emit_delta_type_replaced,
                release: Release::V0_32,
                ..DeltaFifoOptions::new(Arc::new(meta_namespace_key_func))
            }),
            known_objects: settings.known_objects,
            store: (settings.store || settings.known_objects).then(|| indexer(&settings.indices)),
            store_rv: "".into(),
            process: Process {
                mode: settings.mode.0,
                asked: 0,
                not_before: 0,
                work: Work::Idle,
                began: 0,
                taken: None,
                last: None,
                position: None,
                notification: None,
                count: 0,
            },
            handlers,
            output: VecDeque::new(),
            script: script.into(),
            last: None,
            inputs: 0,
            calls: VecDeque::new(),
            settings,
            source,
        }
    }

    /// Takes an input, now.
    pub fn input(&mut self, input: Input<S::Command>) {
        let cause = Cause::Input(self.inputs);
        self.inputs += 1;
        match input {
            Input::Source(command) => {
                self.scribe.turn(self.now, Actor::Server);
                self.scribe.because(Actor::Server, cause);
                let calls = self.source.calls();
                self.source.command(self.now, command, &mut self.scribe);
                if self.source.calls() > calls {
                    self.calls.push_back(cause);
                }
            }
            Input::Pop => {
                self.process.asked += 1;
                let asked = self.process.asked;
                self.setting(cause, Fact::PopAsked { asked });
            }
            Input::Mode(mode) => {
                self.process.mode = mode;
                self.process.asked = 0;
                self.process.not_before = match mode {
                    ProcessMode::Paced(ms) => self.now + Time::from(ms),
                    ProcessMode::Free | ProcessMode::Held => self.now,
                };
                self.setting(cause, Fact::ModeSet { mode });
            }
            Input::KnownObjects(on) => {
                self.known_objects = on;
                if on && self.store.is_none() {
                    self.store = Some(indexer(&self.settings.indices));
                }
                self.setting(cause, Fact::KnownObjectsSet { on });
            }
        }
    }

    fn setting(&mut self, cause: Cause, fact: Fact) {
        self.scribe.turn(self.now, Actor::ProcessLoop);
        self.scribe.input(cause, Step::SettingChanged, fact);
    }

    /// Lets one machine do one micro-step that states at least one fact; false when nothing can
    /// happen any more without an input.
    pub fn step(&mut self) -> bool {
        let before = self.scribe.count();
        loop {
            let actors = self.actors();
            let ready: Vec<Actor> = actors
                .iter()
                .copied()
                .filter(|actor| match self.wait_of(*actor) {
                    Wait::Ready => true,
                    Wait::Until(at) => at <= self.now,
                    Wait::Lock | Wait::Outside => false,
                })
                .collect();
            let Some(actor) = self.choose(&ready) else {
                let next = actors
                    .iter()
                    .filter_map(|actor| match self.wait_of(*actor) {
                        Wait::Until(at) => Some(at),
                        Wait::Ready | Wait::Lock | Wait::Outside => None,
                    })
                    .min();
                let Some(next) = next else { return false };
                self.now = next;
                continue;
            };
            self.last = Some(actor);
            self.scribe.turn(self.now, actor);
            match actor {
                Actor::Server => self.outside(),
                Actor::Reflector | Actor::Program => self.feed(),
                Actor::ProcessLoop => self.run_process(),
                Actor::Listener(number) => self.listen(usize::from(number)),
                Actor::Resync | Actor::Main | Actor::Pop(_) | Actor::Worker(_) => {}
            }
            if self.scribe.count() > before {
                return true;
            }
        }
    }

    /// The facts since the last call.
    pub fn drain(&mut self) -> Vec<FactRecord> {
        self.scribe.drain()
    }

    /// How many facts there have been.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.scribe.count()
    }

    /// How it was built.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where list and watch come from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The queue's lock.
    #[must_use]
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &DeltaFifo<Obj> {
        &self.queue
    }

    /// Whether the queue can ask the Indexer.
    #[must_use]
    pub fn known_objects(&self) -> bool {
        self.known_objects
    }

    /// The Indexer, where the program has one.
    #[must_use]
    pub fn store(&self) -> Option<&Indexer<Obj>> {
        self.store.as_ref()
    }

    /// The version of what was written into the store last.
    #[must_use]
    pub fn store_rv(&self) -> Rv {
        Arc::clone(&self.store_rv)
    }

    /// What was printed, the newest [`OUTPUT_LINES`].
    #[must_use]
    pub fn output(&self) -> &VecDeque<Arc<str>> {
        &self.output
    }

    /// The reflector.
    #[must_use]
    pub fn reflector(&self) -> &Feeder {
        &self.feeder
    }

    /// Pop and the process function.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// The handlers.
    #[must_use]
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    fn actors(&self) -> Vec<Actor> {
        let mut actors = vec![self.feeder.actor, Actor::ProcessLoop];
        actors.extend((0..self.handlers.len()).map(|number| Actor::Listener(number as u8)));
        actors.push(Actor::Server);
        actors
    }

    /// Who goes on: whoever acted last, as long as it can; else the first in the order of the
    /// pipeline. With `interleave` anybody.
    fn choose(&mut self, ready: &[Actor]) -> Option<Actor> {
        if ready.is_empty() {
            return None;
        }
        if self.settings.interleave {
            let pick = self.rng.below(ready.len() as u64) as usize;
            return ready.get(pick).copied();
        }
        self.last
            .filter(|last| *last != Actor::Server && ready.contains(last))
            .or_else(|| ready.first().copied())
    }

    fn wait_of(&self, actor: Actor) -> Wait {
        match actor {
            Actor::Server => self
                .source
                .next_moment()
                .into_iter()
                .chain(self.script.front().map(|(at, _)| *at))
                .min()
                .map_or(Wait::Outside, Wait::Until),
            Actor::Reflector | Actor::Program => match &self.feeder.stage {
                Stage::AwaitList(at, _) | Stage::AwaitWatch(at, _) | Stage::Backoff(at) => {
                    Wait::Until(*at)
                }
                Stage::Watch | Stage::Calls => {
                    self.source.arrival().map_or(Wait::Outside, Wait::Until)
                }
                Stage::Want(_) if !self.lock.is_ready_for(actor) => Wait::Lock,
                Stage::Stopped => Wait::Outside,
                Stage::Start
                | Stage::List
                | Stage::Want(_)
                | Stage::Do(_)
                | Stage::Unlock(_)
                | Stage::SetVersion
                | Stage::OpenWatch => Wait::Ready,
            },
            Actor::ProcessLoop => match self.process.work {
                Work::Idle if self.queue.is_empty() => Wait::Outside,
                Work::Idle if !self.lock.is_ready_for(actor) => Wait::Lock,
                Work::Idle => match self.process.mode {
                    ProcessMode::Held if self.process.asked == 0 => Wait::Outside,
                    ProcessMode::Paced(_) => Wait::Until(self.process.not_before),
                    ProcessMode::Free | ProcessMode::Held => Wait::Ready,
                },
                Work::Busy(until) => Wait::Until(until),
                Work::Begin
                | Work::Take
                | Work::Store
                | Work::Notify
                | Work::Finish
                | Work::Unlock => Wait::Ready,
            },
            Actor::Resync | Actor::Main | Actor::Pop(_) | Actor::Worker(_) => Wait::Outside,
            Actor::Listener(number) => match self.handlers.get(usize::from(number)) {
                Some(handler) if !handler.settings.inline => match &handler.running {
                    Some((_, _, until)) => Wait::Until(*until),
                    None if handler.pending.is_empty() => Wait::Outside,
                    None => Wait::Ready,
                },
                _ => Wait::Outside,
            },
        }
    }

    /// What is due in the script, or else in the source.
    fn outside(&mut self) {
        if self.script.front().is_some_and(|(at, _)| *at <= self.now) {
            if let Some((_, input)) = self.script.pop_front() {
                self.input(input);
            }
        } else {
            self.scribe.because(Actor::Server, Cause::Start);
            self.source.advance(self.now, &mut self.scribe);
        }
    }

    /// One micro-step of the reflector, or of the program in its place.
    fn feed(&mut self) {
        let actor = self.feeder.actor;
        // Every arm below sets the next stage where it does not stay `Stopped`.
        match std::mem::replace(&mut self.feeder.stage, Stage::Stopped) {
            Stage::Start => {
                self.scribe.because(actor, Cause::Start);
                self.feeder.stage = if self.source.begins_with_list() {
                    Stage::List
                } else {
                    Stage::OpenWatch
                };
            }
            Stage::List => {
                // The first list takes whatever the server has at hand.
                let rv: Rv = if self.feeder.lists == 0 {
                    "0".into()
                } else {
                    Arc::clone(&self.feeder.last_sync)
                };
                self.feeder.state = ReflectorState::List;
                self.feeder.backoff_ms = 0;
                self.feeder.relist = false;
                self.scribe
                    .fact(Step::ReflectorList, || Fact::ListRequested {
                        rv: Arc::clone(&rv),
                        rv_match: "",
                        limit: 0,
                        continues: false,
                    });
                self.feeder.stage = Stage::AwaitList(self.now + REQUEST_MS, rv);
            }
            Stage::AwaitList(_, rv) => {
                self.scribe.turn(self.now, Actor::Server);
                let answer = self.source.list(self.now, &rv, &mut self.scribe);
                self.scribe.turn(self.now, actor);
                match answer {
                    Ok(listing) => self.listed(listing),
                    Err(Refused::Expired | Refused::Unreachable) => {
                        self.back_off(true, BackoffReason::ListFailed);
                    }
                    Err(Refused::Over(reason)) => self.stop(reason),
                }
            }
            Stage::Want(call) => {
                self.feeder.stage = if self.lock.acquire(actor, call.lock_step(), &mut self.scribe)
                {
                    Stage::Do(call)
                } else {
                    Stage::Want(call)
                };
            }
            Stage::Do(call) => {
                let unlock = call.unlock_step();
                self.call(call);
                self.feeder.in_hand = None;
                self.feeder.stage = Stage::Unlock(unlock);
            }
            Stage::Unlock(step) => {
                self.lock.release(self.now, actor, step, &mut self.scribe);
                self.feeder.stage = if actor == Actor::Program {
                    Stage::Calls
                } else {
                    Stage::SetVersion
                };
            }
            Stage::SetVersion => {
                self.set_version();
                self.feeder.stage = if self.feeder.watching {
                    Stage::Watch
                } else {
                    Stage::OpenWatch
                };
            }
            Stage::OpenWatch => {
                let rv = Arc::clone(&self.feeder.last_sync);
                self.feeder.state = ReflectorState::Watch;
                self.feeder.backoff_ms = 0;
                self.scribe
                    .fact(Step::ReflectorWatch, || Fact::WatchRequested {
                        rv: Arc::clone(&rv),
                        initial_events: false,
                    });
                self.feeder.stage = Stage::AwaitWatch(self.now + REQUEST_MS, rv);
            }
            Stage::AwaitWatch(_, rv) => {
                self.scribe.turn(self.now, Actor::Server);
                let answer = self.source.watch(self.now, &rv, &mut self.scribe);
                self.scribe.turn(self.now, actor);
                match answer {
                    Ok(()) => {
                        self.feeder.watching = true;
                        self.feeder.opened = (self.now, self.feeder.events);
                        self.feeder.stage = Stage::Watch;
                    }
                    Err(Refused::Expired) => self.watch_ended(BackoffReason::Expired),
                    // Never a list: the watch is tried again.
                    Err(Refused::Unreachable) => {
                        self.back_off(false, BackoffReason::WatchEnded);
                    }
                    Err(Refused::Over(reason)) => self.stop(reason),
                }
            }
            Stage::Watch => self.receive(),
            Stage::Backoff(_) => {
                self.feeder.stage = if self.feeder.relist {
                    Stage::List
                } else {
                    Stage::OpenWatch
                };
            }
            Stage::Calls => {
                self.feeder.stage = Stage::Calls;
                if let Some((delta_type, object)) = self.source.take_call() {
                    let cause = self.calls.pop_front().unwrap_or(Cause::Start);
                    self.scribe.because(actor, cause);
                    let item = Item::Object(object);
                    let object = item.to_ref(&key_of(&item));
                    self.scribe
                        .fact(Step::ProgramCall, || Fact::Called { delta_type, object });
                    self.feeder.stage = Stage::Want(match delta_type {
                        DeltaType::Deleted => Call::Delete(item),
                        DeltaType::Updated => Call::Update(item),
                        _ => Call::Add(item),
                    });
                }
            }
            Stage::Stopped => {}
        }
    }

    fn listed(&mut self, listing: Listing) {
        let Listing { rv, items } = listing;
        self.feeder.lists += 1;
        let count = items.len() as u32;
        self.scribe
            .fact(Step::ReflectorList, || Fact::ListReceived {
                rv: Arc::clone(&rv),
                count,
            });
        self.feeder.version = Some(Arc::clone(&rv));
        self.feeder.watching = false;
        let items = items.into_iter().map(Item::Object).collect();
        self.feeder.stage = Stage::Want(Call::Replace(items, rv));
    }

    /// Takes one thing off the watch stream.
    fn receive(&mut self) {
        self.feeder.stage = Stage::Watch;
        let Some(item) = self.source.receive() else {
            return;
        };
        match item {
            StreamItem::Object(event, object) => {
                self.feeder.events += 1;
                self.feeder.version = Some(object.resource_version().into());
                let item = Item::Object(object);
                let object = item.to_ref(&key_of(&item));
                self.feeder.in_hand = Some((event, object.clone()));
                self.scribe
                    .fact(Step::ReflectorReceive, || Fact::EventReceived {
                        event,
                        object,
                    });
                self.feeder.stage = Stage::Want(match event {
                    EventType::Deleted => Call::Delete(item),
                    EventType::Modified => Call::Update(item),
                    _ => Call::Add(item),
                });
            }
            StreamItem::Bookmark(rv) => {
                self.feeder.events += 1;
                let object = bare_ref(Arc::clone(&rv));
                self.scribe
                    .fact(Step::ReflectorReceive, || Fact::EventReceived {
                        event: EventType::Bookmark,
                        object,
                    });
                self.feeder.version = Some(rv);
                self.feeder.stage = Stage::SetVersion;
            }
            StreamItem::Error(code, _) => {
                self.feeder.events += 1;
                self.scribe
                    .fact(Step::ReflectorReceive, || Fact::EventReceived {
                        event: EventType::Error,
                        object: bare_ref("".into()),
                    });
                // A 410 or a 500 on the stream leads to a list, a 429 to another watch.
                self.watch_ended(match code {
                    410 => BackoffReason::Expired,
                    429 => BackoffReason::WatchEnded,
                    _ => BackoffReason::WatchFailed,
                });
            }
            StreamItem::End(_) => {
                self.scribe.stream_ended();
                // A watch that ends at once and brought nothing counts as an error; else the next
                // one begins where this one ended, without a pause.
                let (since, events) = self.feeder.opened;
                let short = self.now < since + SHORT_WATCH_MS && self.feeder.events == events;
                if short {
                    self.watch_ended(BackoffReason::WatchFailed);
                } else {
                    self.watch_over(false);
                    self.feeder.stage = Stage::OpenWatch;
                }
            }
        }
    }

    fn watch_over(&mut self, relist: bool) {
        self.feeder.relist = relist;
        self.feeder.watching = false;
        self.scribe
            .fact(Step::ReflectorEnd, || Fact::WatchEnded { relist });
    }

    fn watch_ended(&mut self, reason: BackoffReason) {
        let relist = reason != BackoffReason::WatchEnded;
        self.watch_over(relist);
        self.back_off(relist, reason);
    }

    fn back_off(&mut self, relist: bool, reason: BackoffReason) {
        self.feeder.relist = relist;
        self.feeder.state = ReflectorState::Backoff;
        self.feeder.backoff_ms = BACKOFF_MS;
        self.scribe
            .fact(Step::ReflectorBackoff, || Fact::BackoffStarted {
                ms: BACKOFF_MS,
                reason,
            });
        self.feeder.stage = Stage::Backoff(self.now + BACKOFF_MS);
    }

    fn stop(&mut self, reason: Arc<str>) {
        self.feeder.state = ReflectorState::Stopped;
        self.scribe
            .fact(Step::ReflectorStop, || Fact::ReflectorStopped { reason });
        self.feeder.stage = Stage::Stopped;
    }

    fn set_version(&mut self) {
        let Some(to) = self.feeder.version.take() else {
            return;
        };
        let from = std::mem::replace(&mut self.feeder.last_sync, Arc::clone(&to));
        if from != to {
            self.scribe
                .fact(Step::ReflectorSetVersion, || Fact::LastSyncMoved {
                    from,
                    to,
                });
        }
    }

    /// Calls the queue; the lock is held. An error of the queue is a fact of the queue: upstream's
    /// reflector logs it and goes on.
    fn call(&mut self, call: Call) {
        let known = if self.known_objects {
            self.store
                .as_ref()
                .map(|store| store as &dyn KeyListerGetter<Obj>)
        } else {
            None
        };
        let scribe = &mut self.scribe;
        let _stated_as_a_fact = match call {
            Call::Add(item) => self.queue.add(item, scribe),
            Call::Update(item) => self.queue.update(item, scribe),
            Call::Delete(item) => self.queue.delete(item, known, scribe),
            Call::Replace(items, rv) => self.queue.replace(items, &rv, known, scribe),
        };
    }

    /// One micro-step of the process loop.
    fn run_process(&mut self) {
        let actor = Actor::ProcessLoop;
        match self.process.work {
            Work::Idle => {
                if let Some(key) = self.queue.list_keys().next() {
                    let held = self.process.mode == ProcessMode::Held;
                    self.scribe.about_to_pop(key, held);
                }
                if self.lock.acquire(actor, Step::PopLock, &mut self.scribe) {
                    self.process.work = Work::Begin;
                }
            }
            Work::Begin => {
                self.process.began = self.now;
                let taken = self.queue.begin_pop(&mut self.scribe);
                match taken {
                    Ok(Some(taken)) => {
                        self.process.asked = self.process.asked.saturating_sub(1);
                        self.process.count += 1;
                        self.process.position = None;
                        self.process.taken = Some(taken);
                        self.process.work = Work::Take;
                    }
                    Ok(None) | Err(_) => self.process.work = Work::Unlock,
                }
            }
            Work::Take => self.take_delta(),
            Work::Store => self.update_store(),
            Work::Notify => self.notify(),
            Work::Busy(_) => self.process.work = Work::Take,
            Work::Finish => {
                if let Some(taken) = self.process.taken.take() {
                    let elapsed = Duration::from_millis(self.now - self.process.began);
                    let popped = popped(&taken, self.process.position);
                    let key = popped.key.clone();
                    self.process.last = Some(popped);
                    // The outcome is ok, so there is no error to look at.
                    let _ok = self.queue.finish_pop(
                        taken,
                        ProcessOutcome::Done,
                        elapsed,
                        &mut self.scribe,
                    );
                    self.scribe
                        .fact(Step::PopProcess, || Fact::Processed { key });
                }
                self.process.work = Work::Unlock;
            }
            Work::Unlock => {
                self.lock
                    .release(self.now, actor, Step::PopUnlock, &mut self.scribe);
                if let ProcessMode::Paced(ms) = self.process.mode {
                    self.process.not_before = self.now + Time::from(ms);
                }
                self.process.work = Work::Idle;
            }
        }
    }

    fn current_delta(&self) -> Option<(Key, Delta<Obj>, bool)> {
        let taken = self.process.taken.as_ref()?;
        let delta = taken.deltas.get(self.process.position?)?;
        Some((taken.key.clone(), delta.clone(), taken.is_in_initial_list))
    }

    fn take_delta(&mut self) {
        self.process.position = Some(self.process.position.map_or(0, |position| position + 1));
        let Some((key, delta, _)) = self.current_delta() else {
            self.process.position = self.process.position.and_then(|p| p.checked_sub(1));
            self.process.work = Work::Finish;
            return;
        };
        let exists = self
            .store
            .as_ref()
            .filter(|_| !self.settings.by_type)
            .map(|store| store.get_by_key(&key).is_some());
        let position = self.process.position.unwrap_or_default() as u32;
        self.scribe.fact(Step::ProcessDelta, || Fact::DeltaTaken {
            position,
            delta_type: delta.delta_type,
            object: delta.object.to_ref(&key),
            exists,
        });
        self.process.work = Work::Store;
    }

    /// Writes the delta into the store, where there is one, and makes the notification.
    fn update_store(&mut self) {
        self.process.work = Work::Notify;
        let Some((key, delta, is_in_initial_list)) = self.current_delta() else {
            return;
        };
        let item = delta.object;
        let object = item.to_ref(&key);
        let old = self
            .store
            .as_ref()
            .and_then(|store| store.get_by_key(&key))
            .map(|old| old.to_ref(&key));
        let update = match delta.delta_type {
            DeltaType::Updated if self.settings.by_type => true,
            _ => old.is_some() && !self.settings.by_type,
        };
        let notification = match delta.delta_type {
            DeltaType::Deleted => Notification::Delete {
                object: object.clone(),
            },
            _ if update => Notification::Update {
                old: old.clone(),
                new: object.clone(),
            },
            _ => Notification::Add {
                object: object.clone(),
                is_in_initial_list,
            },
        };
        if let Some(store) = self.store.as_mut() {
            let before = self.scribe.count();
            // No index function of a world fails, and the queue has made the key already.
            let _cannot_fail = match delta.delta_type {
                DeltaType::Deleted => store.delete(&item, &mut self.scribe),
                _ if update => store.update(item, &mut self.scribe),
                _ => store.add(item, &mut self.scribe),
            };
            if self.scribe.count() > before && !is_tombstone(&object) {
                self.store_rv = object.rv;
            }
        }
        self.process.notification = Some(notification);
    }

    /// Tells every handler: into its buffer, or right here.
    fn notify(&mut self) {
        let phase: Arc<str> = self
            .current_delta()
            .and_then(|(_, delta, _)| delta.object.as_object().map(|object| phase_of(object)))
            .unwrap_or_default();
        let delta_type = self
            .current_delta()
            .map_or(DeltaType::Added, |(_, delta, _)| delta.delta_type);
        if let Some(notification) = self.process.notification.take() {
            for (number, handler) in self.handlers.iter_mut().enumerate() {
                let number = number as u8;
                if handler.settings.inline {
                    handler.remember(&notification);
                    self.scribe
                        .fact(Step::ProcessNotify, || Fact::NotificationTaken {
                            handler: number,
                            notification: notification.clone(),
                        });
                    for line in handler.lines(&notification, delta_type, &phase) {
                        print(&mut self.output, number, line, &mut self.scribe);
                    }
                    self.scribe
                        .fact(Step::ListenerDone, || Fact::NotificationHandled {
                            handler: number,
                        });
                } else {
                    handler.pending.push_back((
                        notification.clone(),
                        delta_type,
                        Arc::clone(&phase),
                    ));
                    let pending = handler.pending.len() as u32;
                    self.scribe
                        .fact(Step::ListenerAdd, || Fact::NotificationQueued {
                            handler: number,
                            notification: notification.clone(),
                            pending,
                        });
                }
            }
        }
        self.process.work = if self.settings.process_ms > 0 {
            Work::Busy(self.now + Time::from(self.settings.process_ms))
        } else {
            Work::Take
        };
    }

    /// One micro-step of a listener.
    fn listen(&mut self, number: usize) {
        let Some(handler) = self.handlers.get_mut(number) else {
            return;
        };
        let number = number as u8;
        if let Some((_, lines, _)) = handler.running.take() {
            for line in lines {
                print(&mut self.output, number, line, &mut self.scribe);
            }
            self.scribe
                .fact(Step::ListenerDone, || Fact::NotificationHandled {
                    handler: number,
                });
        } else if let Some((notification, delta_type, phase)) = handler.pending.pop_front() {
            handler.remember(&notification);
            let lines = handler.lines(&notification, delta_type, &phase);
            let until = self.now + Time::from(handler.settings.latency_ms);
            handler.running = Some((notification.clone(), lines, until));
            self.scribe
                .fact(Step::ListenerTake, || Fact::NotificationTaken {
                    handler: number,
                    notification,
                });
        }
    }
}

impl Process {
    /// What was popped and is not done with.
    pub(crate) fn processing(&self) -> Option<PoppedDeltas> {
        self.taken
            .as_ref()
            .map(|taken| popped(taken, self.position))
    }
}

impl Handler {
    fn remember(&mut self, notification: &Notification) {
        if self.notifications.len() == NOTIFICATIONS {
            self.notifications.pop_front();
        }
        self.notifications.push_back(notification.clone());
    }

    fn lines(
        &self,
        notification: &Notification,
        delta_type: DeltaType,
        phase: &str,
    ) -> Vec<Arc<str>> {
        let (templates, object) = match notification {
            Notification::Add { object, .. } => (&self.settings.on_add, object),
            Notification::Update { new, .. } => (&self.settings.on_update, new),
            Notification::Delete { object } => (&self.settings.on_delete, object),
        };
        let name = object.key.rsplit('/').next().unwrap_or_default();
        templates
            .iter()
            .map(|template| {
                template
                    .replace("{type}", delta_type.as_str())
                    .replace("{name}", name)
                    .replace("{rv}", &object.rv)
                    .replace("{phase}", phase)
                    .into()
            })
            .collect()
    }
}

fn print(output: &mut VecDeque<Arc<str>>, handler: u8, line: Arc<str>, scribe: &mut Scribe) {
    if output.len() == OUTPUT_LINES {
        output.pop_front();
    }
    output.push_back(Arc::clone(&line));
    scribe.fact(Step::ListenerHandle, || Fact::LinePrinted { handler, line });
}

fn indexer(indices: &[Arc<str>]) -> Indexer<Obj> {
    let indexers: Indexers<Obj> = indices
        .iter()
        .map(|name| (Arc::clone(name), index_func(name)))
        .collect();
    let options = StoreOptions {
        // The page shows keys in their order; so tombstones of one list come in it, too.
        order: Order::Key,
        keeps_resource_version: false,
        ..StoreOptions::default()
    };
    Indexer::with_options(
        Arc::new(deletion_handling_meta_namespace_key_func),
        indexers,
        options,
    )
}

/// As the programs of the lessons write theirs: one value for each object, empty where it has none.
fn index_func(name: &Arc<str>) -> IndexFunc<Obj> {
    let name = Arc::clone(name);
    Arc::new(move |item, values| {
        let object = item.as_object();
        let value = match &*name {
            "namespace" => object.map(|object| object.namespace()),
            "node" => object.and_then(|object| object.data.pointer("/spec/nodeName")?.as_str()),
            label => object.and_then(|object| object.labels().get(label).map(String::as_str)),
        };
        values.push(value.unwrap_or_default());
        Ok(())
    })
}

fn phase_of(object: &Obj) -> Arc<str> {
    object
        .data
        .pointer("/status/phase")
        .and_then(|phase| phase.as_str())
        .unwrap_or_default()
        .into()
}

/// The key of an item in a queue; for anything without one the empty key, and the queue then
/// states the error.
fn key_of(item: &Item<Obj>) -> Key {
    meta_namespace_key_func(item).unwrap_or_else(|_| Key::from(""))
}

fn bare_ref(rv: Rv) -> ObjectRef {
    ObjectRef {
        key: Key::from(""),
        shape: crate::cache::fact::Shape::Object,
        rv,
        uid: "".into(),
    }
}

fn is_tombstone(object: &ObjectRef) -> bool {
    object.shape != crate::cache::fact::Shape::Object
}

fn popped(taken: &Taken<Obj>, position: Option<usize>) -> PoppedDeltas {
    PoppedDeltas {
        key: taken.key.clone(),
        deltas: taken
            .deltas
            .iter()
            .map(|delta| (delta.delta_type, delta.object.to_ref(&taken.key)))
            .collect(),
        position,
        is_in_initial_list: taken.is_in_initial_list,
    }
}
