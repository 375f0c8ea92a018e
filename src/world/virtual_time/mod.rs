//! A world: one informer and its source under a clock that jumps.
//!
//! Deterministic: the same settings, source and inputs cause the same facts, byte for byte, natively and in
//! wasm. There is no thread and no real clock here. [`World::step`] lets one machine do one micro-step; when
//! no machine can continue, the clock jumps to the next virtual time at which one can.
//!
//! The machines are those of `cache`, which `cache/threads` runs as well. Here each one is driven so that
//! every step is visible. The source executes its scheduled actions. The reflector (or a program that calls
//! the queue itself) and its resync timer fill the queue. The process loop pops, updates the Indexer and
//! notifies the handlers. Each listener has a `pop` and a `run`. Workers take keys from a workqueue. A
//! machine blocks on a visible lock, until a virtual time, or on a send that nobody has received.

mod client;
mod handlers;
mod process;
mod program;
mod reflect;
mod settings;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;

use deltascope_cache::controller::InformerQueue;
use deltascope_cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
use deltascope_cache::fact::{
    Actor, Cause, Fact, FactRecord, HandlersFact, LockName, Printer, ProcessMode, RunFact, Rv,
};
use deltascope_cache::fifo::{Fifo, FifoOptions};
use deltascope_cache::index::{IndexFunc, Indexers};
use deltascope_cache::informer::SharedInformerState;
use deltascope_cache::key::Key;
use deltascope_cache::key_func::{
    deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope_cache::listener::ProcessorListener;
use deltascope_cache::mutation_detector::MutationDetector;
use deltascope_cache::object::{Item, Object};
use deltascope_cache::order::Order;
use deltascope_cache::processor::SharedProcessor;
use deltascope_cache::queue::Release;
use deltascope_cache::step::Step;
use deltascope_cache::store::{Indexer, StoreOptions};

use super::bounds::MOST_HANDLERS;
use super::cause_tracker::CauseTracker;
use super::fields::LATEST_MS;
use super::lock::Lock;
use super::{Source, Time, Wait};
use deltascope_cache::rng::Rng;

pub use handlers::Handler;
pub use process::{Popped, ProcessLoop};
pub use reflect::{Answer, REQUESTS, ReflectorDriver, ReflectorLog, RequestKind, RequestLine};
pub use settings::{
    HandlerSettings, InformerKind, ManualQueue, PrintSettings, ProcessFailure, Settings,
    SourceKind, TransformSettings, WorkSettings, era, mode, mode_text,
};
pub use work::Work;

pub use deltascope_cache::reflector::ReflectorState;

/// How many times in a row the clock jumps without a fact before a step gives up: only peer informers act
/// then, and nothing they do is recorded.
const SILENT_MOMENTS: usize = 1_000;
/// A line that was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The line.
    pub line: Arc<str>,
    /// Who printed it: the program prints what a lister answered, for example.
    pub by: Printer,
}

impl Printed {
    /// A line that was printed.
    #[must_use]
    pub fn of(by: Printer, line: &Arc<str>) -> Self {
        Self {
            line: Arc::clone(line),
            by,
        }
    }
}

/// How many lines of output a world keeps.
pub const OUTPUT_LINES: usize = 500;
/// How many notifications a world keeps for each handler.
pub const NOTIFICATIONS: usize = 500;

/// An input from outside; settings, source and inputs determine the whole run.
#[derive(Clone, Debug)]
pub enum Input<C> {
    /// A command to the source.
    Source(C),
    /// Pop once (in mode `Held` only).
    Pop,
    /// The mode of the process loop from now on.
    Mode(ProcessMode),
    /// Switch KnownObjects on or off (manual queue only).
    KnownObjects(bool),
    /// Add a handler to a shared informer.
    AddHandler(HandlerSettings),
    /// Remove this handler from a shared informer.
    RemoveHandler(u8),
    /// The program prints this line; `{indices}` is filled in.
    Print(Arc<str>),
    /// The program asks the Indexer, and prints the answer.
    Ask(Question),
}

/// A program's question to an Indexer: the keys that an index holds for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The name of the index.
    pub index: Arc<str>,
    /// The indexed value.
    pub value: Arc<str>,
    /// Whether to print the answer as JSON; else as Go prints keys and an error.
    pub json: bool,
}

type Obj = DynamicObject;

/// One informer and its source.
pub struct World<S: Source> {
    now: Time,
    rng: Rng,
    settings: Settings,
    tracker: CauseTracker,
    source: S,
    lock: Lock,
    block_deltas: Lock,
    driver: ReflectorDriver,
    queue: InformerQueue<Obj>,
    known_objects: bool,
    store: Option<Indexer<Obj>>,
    store_rv: Rv,
    process: ProcessLoop,
    informer: SharedInformerState<Obj>,
    processor: SharedProcessor<ProcessorListener<Obj>>,
    handlers: Vec<Handler>,
    main: handlers::Main,
    work: Option<Work>,
    detector: Option<MutationDetector<Obj>>,
    /// Virtual time of the detector's next comparison; set only after a handler has written into an object.
    compare_at: Option<Time>,
    output: VecDeque<Printed>,
    script: VecDeque<(Time, Input<S::Command>)>,
    /// The actor of the last micro-step: it continues as long as it can.
    last: Option<Actor>,
    inputs: u32,
    /// The number of script entries taken so far.
    scripted: u32,
    beside: Vec<program::PeerInformer<S>>,
    /// How often the clock has jumped since the last fact.
    silent: usize,
    /// Whether a trial has shown that the next micro-step states a fact.
    is_settled: bool,
    /// The cause of each call that the program has yet to make.
    calls: VecDeque<Cause>,
}

// Not derived: a derived clone is inlined, and the page would have one of eleven KB for each crate.
impl<S: Source> Clone for World<S> {
    fn clone(&self) -> Self {
        Self {
            now: self.now,
            rng: self.rng.clone(),
            settings: self.settings.clone(),
            tracker: self.tracker.clone(),
            source: self.source.clone(),
            lock: self.lock.clone(),
            block_deltas: self.block_deltas.clone(),
            driver: self.driver.clone(),
            queue: self.queue.clone(),
            known_objects: self.known_objects,
            store: self.store.clone(),
            store_rv: self.store_rv.clone(),
            process: self.process.clone(),
            informer: self.informer.clone(),
            processor: self.processor.clone(),
            handlers: self.handlers.clone(),
            main: self.main.clone(),
            work: self.work.clone(),
            detector: self.detector.clone(),
            compare_at: self.compare_at,
            output: self.output.clone(),
            script: self.script.clone(),
            last: self.last,
            inputs: self.inputs,
            scripted: self.scripted,
            beside: self.beside.clone(),
            silent: self.silent,
            is_settled: self.is_settled,
            calls: self.calls.clone(),
        }
    }
}

impl<S: Source> World<S> {
    /// Builds a world with a script, before its first step.
    #[must_use]
    pub fn new(settings: Settings, source: S, script: Vec<(Time, Input<S::Command>)>) -> Self {
        let by_hand = !settings.is_informer();
        let period = if by_hand {
            Duration::ZERO
        } else {
            millis(settings.resync_ms)
        };
        let mut informer = SharedInformerState::new(period);
        let mut processor = SharedProcessor::default();
        let mut handlers = Vec::new();
        for handler in settings.handlers.iter().take(MOST_HANDLERS) {
            let inline = match settings.informer {
                InformerKind::Manual | InformerKind::Indexer | InformerKind::Client => {
                    handler.inline
                }
                InformerKind::Plain => true,
                InformerKind::Shared => false,
            };
            let resync = handler.resync_ms.map(millis);
            // A handler can be refused only after a stop.
            let Ok(registration) = informer.add_event_handler(&handler.name, resync, &mut ())
            else {
                continue;
            };
            let listener = |id, name: &Arc<str>| ProcessorListener::new(id, name);
            let id = processor.add_listener(&registration, 0, listener, Duration::ZERO, &mut ());
            if inline {
                // Listener numbers must equal the handler's index.
                processor.remove_listener(id, &mut ());
            }
            handlers.push(Handler::new(handler.clone(), inline, id));
        }
        // The informer was not started before.
        let period = informer.start().unwrap_or(period);
        let key_func = Arc::new(meta_namespace_key_func);
        let has_store = match settings.informer {
            InformerKind::Manual => settings.store || settings.knows_objects(),
            InformerKind::Plain | InformerKind::Shared | InformerKind::Indexer => true,
            InformerKind::Client => false,
        };
        Self {
            now: 0,
            rng: Rng::new(settings.seed),
            tracker: CauseTracker::default(),
            lock: Lock::default(),
            block_deltas: Lock::new(LockName::BlockDeltas),
            driver: ReflectorDriver::new(&settings, period, source.begins_with_list()),
            queue: if settings.has_fifo() {
                InformerQueue::Fifo(Fifo::new(FifoOptions {
                    release: Release::V0_32,
                    ..FifoOptions::new(key_func)
                }))
            } else if by_hand {
                InformerQueue::Delta(DeltaFifo::new(DeltaFifoOptions {
                    emit_delta_type_replaced: settings.emit_delta_type_replaced,
                    transformer: settings.transform_func(),
                    release: Release::V0_32,
                    ..DeltaFifoOptions::new(key_func)
                }))
            } else {
                InformerQueue::new(settings.era, key_func, settings.transform_func())
            },
            known_objects: settings.knows_objects(),
            store: has_store.then(|| indexer(&settings)),
            store_rv: "".into(),
            process: ProcessLoop::new(settings.mode),
            informer,
            processor,
            handlers,
            main: handlers::Main::default(),
            work: settings.work.as_ref().map(Work::new),
            detector: settings
                .mutation_detector
                .then(|| MutationDetector::new("world", Arc::new(handlers::fingerprint))),
            compare_at: None,
            output: VecDeque::new(),
            script: script.into(),
            last: None,
            inputs: 0,
            scripted: 0,
            beside: Vec::new(),
            silent: 0,
            is_settled: false,
            calls: VecDeque::new(),
            settings,
            source,
        }
    }

    /// Takes an input, now.
    pub fn input(&mut self, input: Input<S::Command>) {
        if self.source.is_driven_by_commands() {
            // A world at rest is the same in every replay. A trial on a clone for each event of a busy
            // cluster would cost too much.
            while self.step_within(self.now) {}
        } else {
            self.settle();
        }
        self.silent = 0;
        self.input_beside(&input);
        // Printing touches no machine.
        self.is_settled &= matches!(input, Input::Print(_) | Input::Ask(_));
        let cause = Cause::Input(self.inputs);
        self.inputs += 1;
        self.take(cause, input);
    }

    fn take(&mut self, cause: Cause, input: Input<S::Command>) {
        match input {
            Input::Source(command) => {
                self.tracker.turn(self.now, Actor::Server);
                self.tracker.because(Actor::Server, cause);
                let calls = self.source.calls();
                self.source.command(self.now, command, &mut self.tracker);
                if self.source.calls() > calls {
                    self.calls.push_back(cause);
                }
            }
            Input::Pop => {
                self.process.asked += 1;
                let asked = self.process.asked;
                self.setting(cause, Fact::Run(RunFact::PopAsked { asked }));
            }
            Input::Mode(mode) => {
                self.process.mode = mode;
                self.process.asked = 0;
                self.process.not_before = match mode {
                    ProcessMode::Paced(ms) => self.now + Time::from(ms),
                    ProcessMode::Free | ProcessMode::Held => self.now,
                };
                self.setting(cause, Fact::Run(RunFact::ModeSet { mode }));
            }
            Input::KnownObjects(on) => {
                // An informer's queue is fixed, and a FIFO uses no KnownObjects.
                if self.settings.informer == InformerKind::Manual && !self.settings.has_fifo() {
                    self.known_objects = on;
                    if on && self.store.is_none() {
                        self.store = Some(indexer(&self.settings));
                    }
                    self.setting(cause, Fact::Run(RunFact::KnownObjectsSet { on }));
                }
            }
            // Only a shared informer can add and remove handlers.
            Input::AddHandler(_) | Input::RemoveHandler(_)
                if self.settings.informer != InformerKind::Shared => {}
            Input::AddHandler(_) if self.handlers.len() + self.asked().count() >= MOST_HANDLERS => {
            }
            Input::AddHandler(settings) => {
                let resync_ms = settings.resync_ms.unwrap_or(self.settings.resync_ms);
                let asked = Fact::Handlers(HandlersFact::HandlerAsked {
                    name: Arc::clone(&settings.name),
                    latency_ms: settings.latency_ms,
                    resync_ms,
                    filter: settings.filter.clone().unwrap_or_default(),
                });
                self.ask_main(cause, asked, handlers::Request::Add(settings));
            }
            // One removal is enough: client-go, too, ignores a second one.
            Input::RemoveHandler(handler) if !self.can_remove(handler) => {}
            Input::RemoveHandler(handler) => {
                let asked = Fact::Handlers(HandlersFact::RemovalAsked { handler });
                self.ask_main(cause, asked, handlers::Request::Remove(handler));
            }
            Input::Print(line) => self.print(cause, &line),
            Input::Ask(question) => self.ask(cause, &question),
        }
    }

    fn setting(&mut self, cause: Cause, fact: Fact) {
        self.tracker.turn(self.now, Actor::ProcessLoop);
        self.tracker.input(cause, Step::SettingChanged, fact);
    }

    /// Lets one machine do one micro-step that states at least one fact; false if nothing can happen without
    /// an input, before [`LATEST_MS`].
    pub fn step(&mut self) -> bool {
        self.step_within(Time::MAX)
    }

    /// Like [`Self::step`], but the clock does not pass `limit`. If it returns false, the clock may still
    /// have jumped without a fact.
    pub fn step_within(&mut self, limit: Time) -> bool {
        let before = self.tracker.count();
        loop {
            self.run_beside();
            if self.tracker.count() == before && self.micro_step() && self.tracker.count() == before
            {
                continue;
            }
            if self.tracker.count() > before {
                self.silent = 0;
                return true;
            }
            let next = self.next_moment();
            // A later input could not be written down.
            let limit = limit.min(LATEST_MS);
            let Some(next) = next.filter(|at| *at <= limit && self.silent < SILENT_MOMENTS) else {
                return false;
            };
            self.silent += 1;
            self.is_settled = false;
            self.now = next;
        }
    }

    /// Whether the clock has jumped since the last fact.
    #[must_use]
    pub fn is_ahead(&self) -> bool {
        self.silent > 0
    }

    /// Advances the clock to `moment`; for use when nothing happens before.
    pub fn wait_until(&mut self, moment: Time) {
        self.is_settled = false;
        self.now = self.now.max(moment);
    }

    /// The next virtual time at which something can happen, if nothing can now.
    #[must_use]
    pub fn next_moment(&self) -> Option<Time> {
        let waiting = |actor| match self.wait_of(actor) {
            Wait::Until(at) => Some(at),
            Wait::Ready | Wait::Lock | Wait::External => None,
        };
        let own = self.actors().filter_map(waiting).min();
        own.into_iter().chain(self.beside_at()).min()
    }

    /// Lets one machine do one micro-step; false if none is ready.
    fn micro_step(&mut self) -> bool {
        let Some((actor, rng)) = self.choose() else {
            return false;
        };
        self.rng = rng;
        let (states, before) = (self.states(actor), self.count());
        self.act(actor);
        debug_assert!(states.is_none_or(|states| states == (self.count() > before)));
        true
    }

    fn act(&mut self, actor: Actor) {
        self.is_settled = false;
        self.last = Some(actor);
        self.tracker.turn(self.now, actor);
        match actor {
            Actor::Server => self.outside(),
            Actor::Reflector | Actor::Program => self.step_reflector(),
            Actor::Resync => self.resync(),
            Actor::ProcessLoop => self.run_process(),
            Actor::Main => self.main_or_timer(),
            Actor::Pop(number) => self.pop(number),
            Actor::Listener(number) => self.listen(number),
            Actor::Worker(number) => self.run_worker(number),
        }
    }

    /// Does all micro-steps that state no fact. So an input finds the same world during the run, at its end
    /// and in a replay.
    fn settle(&mut self) {
        while let Some((actor, rng)) = self.choose() {
            match self.states(actor) {
                Some(true) => return,
                Some(false) => {
                    self.rng = rng;
                    self.act(actor);
                }
                None if self.is_settled => return,
                None => {
                    let mut trial = self.clone();
                    trial.rng = rng;
                    trial.act(actor);
                    if trial.count() != self.count() {
                        self.is_settled = true;
                        return;
                    }
                    *self = trial;
                }
            }
        }
    }

    /// Whether the next micro-step of a ready actor states a fact; `None` if only the micro-step itself can
    /// show it.
    fn states(&self, actor: Actor) -> Option<bool> {
        match actor {
            // Timers of the reflector, of listeners and of workers state that they fired.
            Actor::Pop(_) | Actor::Listener(_) => Some(true),
            Actor::Reflector | Actor::Program => self.driver_states(),
            Actor::Resync => self.resync_states(),
            Actor::ProcessLoop => self.process_states(),
            Actor::Main => self.main_states(),
            Actor::Worker(number) => self.worker_states(number),
            Actor::Server => match self.script.front() {
                Some((at, Input::Print(_) | Input::Ask(_) | Input::Mode(_) | Input::Pop))
                    if *at <= self.now =>
                {
                    Some(true)
                }
                _ => None,
            },
        }
    }

    /// Whether asking for a lock states a fact: an actor to which it was handed over just continues.
    fn asking_states(&self, lock: &Lock, actor: Actor) -> Option<bool> {
        Some(lock.holder() != Some(actor))
    }

    /// Takes the facts stated since the last call.
    pub fn drain(&mut self) -> Vec<FactRecord> {
        self.tracker.drain()
    }

    /// The number of facts so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.tracker.count()
    }

    /// Virtual time, in ms since the start.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The settings that it was built with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &InformerQueue<Obj> {
        &self.queue
    }

    /// The queue's lock.
    #[must_use]
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The lock that keeps deltas from being processed while a handler is added.
    #[must_use]
    pub fn block_deltas(&self) -> &Lock {
        &self.block_deltas
    }

    /// Whether the queue uses the Indexer as KnownObjects.
    #[must_use]
    pub fn known_objects(&self) -> bool {
        self.known_objects
    }

    /// The Indexer, if there is one.
    #[must_use]
    pub fn store(&self) -> Option<&Indexer<Obj>> {
        self.store.as_ref()
    }

    /// The version of the store: client-go's own where it keeps one, else that of the last write.
    #[must_use]
    pub fn store_rv(&self) -> Rv {
        match &self.store {
            Some(store) if self.settings.keeps_resource_version() => {
                store.last_store_sync_resource_version().into()
            }
            _ => Arc::clone(&self.store_rv),
        }
    }

    /// The lines printed, the newest [`OUTPUT_LINES`].
    #[must_use]
    pub fn output(&self) -> &VecDeque<Printed> {
        &self.output
    }

    /// The reflector.
    #[must_use]
    pub fn reflector(&self) -> &ReflectorDriver {
        &self.driver
    }

    /// Pop and the process function.
    #[must_use]
    pub fn process(&self) -> &ProcessLoop {
        &self.process
    }

    /// The handlers, including removed ones.
    #[must_use]
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    /// The workqueue and its workers.
    #[must_use]
    pub fn work(&self) -> Option<&Work> {
        self.work.as_ref()
    }

    /// How often the informer checks for due resyncs, in ms; 0: never.
    #[must_use]
    pub fn resync_check_ms(&self) -> u64 {
        ceil_ms(self.informer.resync_check_period())
    }

    fn actors(&self) -> impl Iterator<Item = Actor> + use<S> {
        // A listener's `pop` is always ready to receive.
        let listeners = 0..self.handlers.len().min(usize::from(u8::MAX)) as u8;
        [self.driver.actor, Actor::Resync]
            .into_iter()
            .chain(listeners.clone().map(Actor::Pop))
            .chain([Actor::ProcessLoop, Actor::Main])
            .chain(listeners.map(Actor::Listener))
            .chain(self.work_actors())
            .chain([Actor::Server])
    }

    fn is_ready(&self, actor: Actor) -> bool {
        match self.wait_of(actor) {
            Wait::Ready => true,
            Wait::Until(at) => at <= self.now,
            Wait::Lock | Wait::External => false,
        }
    }

    /// Chooses the next actor: the last one, as long as it can continue; else the first in the order of the
    /// pipeline. With `interleave` it is any ready one, and the random generator advances.
    fn choose(&self) -> Option<(Actor, Rng)> {
        let mut rng = self.rng.clone();
        let mut ready = self.actors().filter(|actor| self.is_ready(*actor));
        if self.settings.interleave {
            let ready: Vec<Actor> = ready.collect();
            if ready.is_empty() {
                return None;
            }
            let pick = rng.below(ready.len() as u64) as usize;
            return Some((ready.get(pick).copied()?, rng));
        }
        let last = self.last.filter(|last| *last != Actor::Server);
        let on = last.filter(|last| self.is_ready(*last));
        Some((on.or_else(|| ready.next())?, rng))
    }

    fn wait_of(&self, actor: Actor) -> Wait {
        match actor {
            Actor::Server => self
                .source
                .next_moment()
                .into_iter()
                .chain(self.script.front().map(|(at, _)| *at))
                .min()
                .map_or(Wait::External, Wait::Until),
            Actor::Reflector | Actor::Program => self.driver_waits(),
            Actor::Resync => self.resync_waits(),
            Actor::ProcessLoop => self.process_waits(),
            Actor::Main => match (self.main_waits(), self.timer_at()) {
                (Wait::Ready, _) => Wait::Ready,
                (_, Some(at)) => Wait::Until(at),
                (wait, None) => wait,
            },
            Actor::Pop(number) => self.pop_waits(number),
            Actor::Listener(number) => self.listener_waits(number),
            Actor::Worker(number) => self.worker_waits(number),
        }
    }

    /// When the next timer of the program around the informer fires: the delaying queue's or the mutation
    /// detector's.
    fn timer_at(&self) -> Option<Time> {
        let delayed = self.work.as_ref().and_then(Work::next_due);
        [delayed.map(ceil_ms), self.compare_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn main_or_timer(&mut self) {
        if self.timer_at().is_none_or(|at| at > self.now) {
            return self.run_main();
        }
        if self.compare_at.is_some_and(|at| at <= self.now) {
            return self.compare_objects();
        }
        self.advance_work();
    }

    /// Takes the next due entry of the script, or else the source's due action.
    fn outside(&mut self) {
        if self.script.front().is_some_and(|(at, _)| *at <= self.now) {
            if let Some((_, input)) = self.script.pop_front() {
                let cause = Cause::Script(self.scripted);
                self.scripted += 1;
                self.take(cause, input);
            }
        } else {
            let cause = Cause::Source(self.source.number());
            self.tracker.because(Actor::Server, cause);
            self.source.advance(self.now, &mut self.tracker);
        }
    }
}

fn millis(time: Time) -> Duration {
    Duration::from_millis(time)
}

/// The first tick of the world's clock that is not before `moment`.
fn ceil_ms(moment: Duration) -> Time {
    u64::try_from(moment.as_nanos().div_ceil(1_000_000)).unwrap_or(Time::MAX)
}

fn indexer(settings: &Settings) -> Indexer<Obj> {
    let indexers: Indexers<Obj> = settings
        .indices
        .iter()
        .map(|name| (Arc::clone(name), index_func(name)))
        .collect();
    let options = StoreOptions {
        // The page shows keys in order; this way a list's tombstones come in that order, too.
        order: Order::Key,
        keeps_resource_version: settings.keeps_resource_version(),
        ..StoreOptions::default()
    };
    Indexer::with_options(program::key_func(settings), indexers, options)
}

/// An index function as in the lessons' programs: one value for each object, empty where it has none.
fn index_func(name: &Arc<str>) -> IndexFunc<Obj> {
    let name = Arc::clone(name);
    Arc::new(move |item, values| {
        let object = item.as_object();
        let value = match &*name {
            "namespace" => object.map(|object| object.namespace()),
            "node" => object.and_then(|object| object.data.pointer("/spec/nodeName")?.as_str()),
            path if path.starts_with('.') => {
                let value = object.and_then(|object| field_at(object, path));
                values.push(value.as_deref().unwrap_or_default());
                return Ok(());
            }
            label => object.and_then(|object| object.labels().get(label).map(String::as_str)),
        };
        values.push(value.unwrap_or_default());
        Ok(())
    })
}

/// The value of a field as text: `.spec.nodeName`, `.status.conditions.0.type`. Of the metadata only the kept
/// fields have one.
fn field_at(object: &Obj, path: &str) -> Option<Arc<str>> {
    let mut names = path.split('.').skip(1);
    let metadata = &object.metadata;
    let value = match names.next()? {
        "metadata" => {
            let name = names.next()?;
            // Label keys contain dots.
            let key = names.collect::<Vec<_>>().join(".");
            let text = match name {
                "name" => metadata.name.as_ref(),
                "namespace" => metadata.namespace.as_ref(),
                "uid" => metadata.uid.as_ref(),
                "resourceVersion" => metadata.resource_version.as_ref(),
                "labels" => metadata.labels.as_ref()?.get(&key),
                "annotations" => metadata.annotations.as_ref()?.get(&key),
                _ => None,
            };
            return text.map(|text| text.as_str().into());
        }
        first => names.try_fold(object.data.get(first)?, |value, name| match value {
            serde_json::Value::Array(values) => values.get(name.parse::<usize>().ok()?),
            other => other.get(name),
        })?,
    };
    match value {
        serde_json::Value::String(text) => Some(text.as_str().into()),
        serde_json::Value::Bool(_) | serde_json::Value::Number(_) => Some(value.to_string().into()),
        _ => None,
    }
}

fn phase_of(object: &Obj) -> Arc<str> {
    object
        .data
        .pointer("/status/phase")
        .and_then(|phase| phase.as_str())
        .unwrap_or_default()
        .into()
}

/// The key of an item in a queue. An item without a key has the empty one; the queue then states the error.
fn key_of(item: &Item<Obj>) -> Key {
    deletion_handling_meta_namespace_key_func(item).unwrap_or_else(|_| Key::from(""))
}
