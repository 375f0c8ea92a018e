//! The reflector in a world: it asks the source and calls the queue, one micro-step at a time; and
//! the program that calls the queue where there is no reflector.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;

use crate::{Asked, Refused, Source, Time, Wait};
use deltascope_cache::backoff::NoJitter;
use deltascope_cache::controller::InformerQueue;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::error::Error;
use deltascope_cache::fact::{Actor, Cause, EventType, Fact, ObjectRef, Reason, RunFact, Rv};
use deltascope_cache::lister_watcher::{
    ListRequest, ResourceVersionMatch, WatchItem, WatchRequest,
};
use deltascope_cache::object::Item;
use deltascope_cache::queue::Queue;
use deltascope_cache::reflector::{Need, Reflector, ReflectorOptions, ReflectorState, StoreCall};
use deltascope_cache::rng::Rng;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::program::Client;
use super::settings::{InformerKind, Settings, SourceKind};
use super::{World, ceil_ms, key_of, millis};

/// How long a list or the opening of a watch takes, in virtual ms: a fast server on a local network.
pub const REQUEST_MS: Time = 40;
/// How many requests are kept for the picture: two rounds of a list in pages.
pub const REQUESTS: usize = 8;

/// One request of the reflector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// A list, a watch or a streaming list.
    pub kind: RequestKind,
    /// `resourceVersion`
    pub rv: Rv,
    /// `resourceVersionMatch`; empty without one.
    pub rv_match: &'static str,
    /// The most objects of a page; 0 without a limit.
    pub limit: u32,
    /// Whether it asks for the next page.
    pub continues: bool,
    /// What came of it.
    pub answer: Answer,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// `LIST`
    List,
    /// `WATCH`
    Watch,
    /// `WATCH` with `sendInitialEvents`: a streaming list.
    Stream,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing yet.
    Awaited,
    /// So many objects, and more to come.
    Page(u32),
    /// The list is complete: so many objects.
    Listed(u32),
    /// The watch is open.
    Open,
    /// The watch is over, by an `ERROR` event of this HTTP status; 0: without one.
    Ended(u16),
    /// It failed.
    Failed(Arc<str>),
}

/// What has gone through the hands of a reflector's driver, besides what the reflector itself knows: its
/// requests, and what came of them. It is taken from them, never from facts: the picture, which is
/// made from facts, is held against it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReflectorLog {
    /// Its requests, the newest last, at most [`REQUESTS`].
    pub requests: VecDeque<RequestLine>,
    /// Events received.
    pub events: u64,
    /// Lists received.
    pub lists: u64,
    /// Lists asked for, whatever the number of their pages; …
    pub lists_asked: u64,
    /// … and watches asked for, those of streaming lists among them.
    pub watches_asked: u64,
    /// How long it waits, in ms, while it backs off.
    pub backoff_ms: Option<u64>,
    /// How often the watch-error handler was called.
    pub watch_errors: u64,
    /// How often the resync timer fired.
    pub resyncs: u64,
    /// Whether its watch was opened and is not closed yet …
    open: bool,
    /// … and the HTTP status of the last `ERROR` event, 0 without one.
    code: u16,
}

impl ReflectorLog {
    /// A list is asked for, or one more page of it.
    pub(super) fn asks_list(&mut self, request: &ListRequest) {
        let continues = !request.continue_token.is_empty();
        self.lists_asked += u64::from(!continues);
        let rv_match = request.resource_version_match;
        self.asks(RequestLine {
            kind: RequestKind::List,
            rv: Arc::clone(&request.resource_version),
            rv_match: rv_match.map_or("", ResourceVersionMatch::as_str),
            limit: request.limit,
            continues,
            answer: Answer::Awaited,
        });
    }

    /// A watch is asked for.
    pub(super) fn asks_watch(&mut self, request: &WatchRequest) {
        self.watches_asked += 1;
        let rv_match = request.resource_version_match;
        self.asks(RequestLine {
            kind: match request.send_initial_events {
                Some(true) => RequestKind::Stream,
                _ => RequestKind::Watch,
            },
            rv: Arc::clone(&request.resource_version),
            rv_match: rv_match.map_or("", ResourceVersionMatch::as_str),
            limit: 0,
            continues: false,
            answer: Answer::Awaited,
        });
    }

    fn asks(&mut self, line: RequestLine) {
        if self.requests.len() == REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back(line);
    }

    /// What came of the last request.
    pub(super) fn answered(&mut self, answer: Answer) {
        match &answer {
            Answer::Open => (self.open, self.code) = (true, 0),
            Answer::Listed(_) => self.lists += 1,
            _ => {}
        }
        if let Some(last) = self.requests.back_mut() {
            last.answer = answer;
        }
    }

    /// The open watch has brought something.
    pub(super) fn receives(&mut self, item: &WatchItem<Obj>) {
        match item {
            WatchItem::Closed => return,
            WatchItem::Error(error) => self.code = error.code,
            WatchItem::Event(..) | WatchItem::Bookmark { .. } => {}
        }
        self.events += 1;
    }

    /// The watch is closed, if it was open.
    pub(super) fn closes(&mut self) {
        if std::mem::take(&mut self.open) {
            self.answered(Answer::Ended(self.code));
        }
    }
}

type Obj = DynamicObject;

/// Where the driver of the reflector, or the program in its place, is.
///
/// ```text
/// Ask ─► Await ─► Ask ─► Want ─► Do ─► Unlock ─► Stored ─► Ask …
/// ```
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// At what the reflector waits for.
    Ask,
    /// A request is on its way until then.
    Await(Time),
    /// A call needs the queue's lock.
    Want(StoreCall<Obj>),
    Do(StoreCall<Obj>),
    Unlock(Step, Result<(), Error>),
    Stored(Result<(), Error>),
    /// The program's next call.
    Calls,
    /// A program that lists and watches itself.
    Client(Client),
    Stopped,
}

/// Where the resync timer's driver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResyncStage {
    Timer,
    Want,
    Do,
    Unlock,
}

/// The reflector, or a program in its place.
#[derive(Clone)]
pub struct ReflectorDriver {
    pub(super) actor: Actor,
    pub(super) stage: Stage,
    pub(super) reflector: Reflector<Obj>,
    resync: ResyncStage,
    resync_error: Option<Error>,
    /// What its facts came to.
    pub log: ReflectorLog,
    /// The event that it has received and not handed to the queue.
    pub in_hand: Option<(EventType, ObjectRef)>,
}

impl ReflectorDriver {
    pub(super) fn new(
        settings: &Settings,
        resync_period: Duration,
        begins_with_list: bool,
    ) -> Self {
        let client = settings.informer == InformerKind::Client;
        let program = settings.source == SourceKind::Program || client;
        let options = ReflectorOptions {
            type_description: settings.type_description(),
            watch_list: settings.streams(),
            page_size: settings.page_size,
            resync_period,
            bookmark_store: settings.keeps_resource_version(),
            release: settings.era.0.release(),
            // The temporary store of a streaming list uses the queue's, too.
            transformer: settings.transform_func(),
            order: deltascope_cache::order::Order::Key,
            jitter: match settings.jitter {
                Some(seed) => Box::new(Rng::new(seed.into())),
                None => Box::new(NoJitter),
            },
            ..ReflectorOptions::default()
        };
        Self {
            actor: if program {
                Actor::Program
            } else {
                Actor::Reflector
            },
            stage: match settings.informer {
                InformerKind::Client => Stage::Client(Client::default()),
                _ if program => Stage::Calls,
                _ => Stage::Ask,
            },
            reflector: if begins_with_list {
                Reflector::new(options)
            } else {
                Reflector::in_mid_watch(options)
            },
            resync: ResyncStage::Timer,
            resync_error: None,
            log: ReflectorLog::default(),
            in_hand: None,
        }
    }

    /// What the reflector is doing.
    #[must_use]
    pub fn state(&self) -> ReflectorState {
        match self.stage {
            Stage::Calls => ReflectorState::Idle,
            Stage::Client(client) => client.state(),
            Stage::Stopped => ReflectorState::Stopped,
            _ => self.reflector.state(),
        }
    }

    /// The machine.
    #[must_use]
    pub fn reflector(&self) -> &Reflector<Obj> {
        &self.reflector
    }
}

impl<S: Source> World<S> {
    pub(super) fn driver_waits(&self) -> Wait {
        let actor = self.driver.actor;
        match &self.driver.stage {
            Stage::Ask => match self.driver.reflector.need() {
                Need::Wait(moment) => Wait::Until(ceil_ms(*moment)),
                Need::Event => {
                    let next = self.source.arrival().into_iter();
                    let next = next.chain(self.initial_events_end_check());
                    next.min().map_or(Wait::External, Wait::Until)
                }
                Need::Stopped => Wait::External,
                Need::List(_) | Need::Watch(_) | Need::Store(_) | Need::Stored => Wait::Ready,
            },
            Stage::Await(at) => self
                .source
                .answer_at(*at)
                .map_or(Wait::External, Wait::Until),
            Stage::Calls => self.source.arrival().map_or(Wait::External, Wait::Until),
            Stage::Client(client) => client.waits(self.source.arrival()),
            Stage::Want(_) if !self.lock.is_ready_for(actor) => Wait::Lock,
            Stage::Stopped => Wait::External,
            Stage::Want(_) | Stage::Do(_) | Stage::Unlock(..) | Stage::Stored(_) => Wait::Ready,
        }
    }

    /// Whether its next micro-step states a fact, where that shows before.
    pub(super) fn driver_states(&self) -> Option<bool> {
        match &self.driver.stage {
            Stage::Want(_) => self.asking_states(&self.lock, self.driver.actor),
            Stage::Unlock(..) => Some(true),
            _ => None,
        }
    }

    /// One micro-step of the reflector, or of the program in its place.
    pub(super) fn step_reflector(&mut self) {
        let actor = self.driver.actor;
        let now = millis(self.now);
        // Every arm below sets the next stage where it does not stay `Stopped`.
        match std::mem::replace(&mut self.driver.stage, Stage::Stopped) {
            Stage::Ask => {
                self.driver.stage = Stage::Ask;
                match self.driver.reflector.need() {
                    Need::Wait(_) => {
                        if self.driver.state() == ReflectorState::Idle {
                            self.tracker.because(actor, Cause::Start);
                        }
                        self.driver.reflector.waited(now, &mut self.tracker);
                        self.turn_to_need();
                    }
                    // At the same moment an event comes first.
                    Need::Event if self.source.arrival().is_none_or(|at| at > self.now) => {
                        self.tracker.because(actor, Cause::Start);
                        let reflector = &mut self.driver.reflector;
                        reflector.initial_events_end_checked(now, &mut self.tracker);
                    }
                    Need::Event => self.receive(),
                    Need::List(_) | Need::Watch(_) | Need::Store(_) | Need::Stored => {
                        self.turn_to_need()
                    }
                    Need::Stopped => {}
                }
            }
            Stage::Await(_) => self.answer(),
            Stage::Want(call) => {
                let (step, _) = self.lock_steps(&call);
                let taken = self.lock.acquire(actor, step, &mut self.tracker);
                self.driver.stage = if taken {
                    Stage::Do(call)
                } else {
                    Stage::Want(call)
                };
            }
            Stage::Do(call) => {
                let (_, unlock) = self.lock_steps(&call);
                let outcome = self.write(call);
                self.driver.in_hand = None;
                self.driver.stage = Stage::Unlock(unlock, outcome);
            }
            Stage::Unlock(step, outcome) => {
                self.lock.release(self.now, actor, step, &mut self.tracker);
                self.tracker.turn(self.now, actor);
                self.synced();
                self.driver.stage = if actor == Actor::Program {
                    Stage::Calls
                } else {
                    Stage::Stored(outcome)
                };
            }
            Stage::Stored(outcome) => {
                self.driver
                    .reflector
                    .stored(now, outcome, &mut self.tracker);
                self.turn_to_need();
            }
            Stage::Calls => self.call_of_program(),
            Stage::Client(client) => self.run_client(client),
            Stage::Stopped => {}
        }
    }

    /// Looks what the reflector waits for now.
    fn turn_to_need(&mut self) {
        self.attend();
        let driver = &mut self.driver;
        driver.stage = match driver.reflector.need() {
            Need::List(request) => {
                driver.log.asks_list(request);
                self.source.ask(Asked::List(request.clone()));
                Stage::Await(self.now + REQUEST_MS)
            }
            Need::Watch(request) => {
                driver.log.asks_watch(request);
                self.source.ask(Asked::Watch(request.clone()));
                Stage::Await(self.now + REQUEST_MS)
            }
            Need::Store(_) => match driver.reflector.take_store_call() {
                Some(call) => {
                    driver.in_hand = in_hand(&call);
                    Stage::Want(call)
                }
                None => Stage::Ask,
            },
            Need::Event | Need::Wait(_) | Need::Stored | Need::Stopped => Stage::Ask,
        };
    }

    /// The answer to a request is here.
    fn answer(&mut self) {
        let now = millis(self.now);
        self.driver.stage = Stage::Ask;
        self.tracker.turn(self.now, Actor::Server);
        match self.driver.reflector.need().clone() {
            Need::List(request) => {
                let answer = self.source.list(self.now, &request, &mut self.tracker);
                self.tracker.turn(self.now, Actor::Reflector);
                let answer = match answer {
                    Ok(page) => Ok(page),
                    Err(Refused::Api(error)) => Err(error),
                    Err(Refused::Over(reason)) => return self.stop(reason),
                };
                let brought = match &answer {
                    Ok(page) => Ok(page.items.len()),
                    Err(error) => Err(Arc::clone(&error.message)),
                };
                let ReflectorDriver { reflector, log, .. } = &mut self.driver;
                reflector.listed(now, answer, &mut self.tracker);
                match (brought, reflector.need()) {
                    (Err(error), _) => log.answered(Answer::Failed(error)),
                    (Ok(_), Need::Store(StoreCall::Replace(items, _))) => {
                        log.answered(Answer::Listed(items.len() as u32));
                    }
                    (Ok(count), Need::List(_)) => log.answered(Answer::Page(count as u32)),
                    // An object of it was rejected.
                    (Ok(_), _) => {}
                }
            }
            Need::Watch(request) => {
                let answer = self.source.watch(self.now, &request, &mut self.tracker);
                self.tracker.turn(self.now, Actor::Reflector);
                let answer = match answer {
                    Ok(()) => Ok(()),
                    Err(Refused::Api(error)) => Err(error),
                    Err(Refused::Over(reason)) => return self.stop(reason),
                };
                let log = &mut self.driver.log;
                log.answered(match &answer {
                    Ok(()) => Answer::Open,
                    Err(error) => Answer::Failed(Arc::clone(&error.message)),
                });
                self.driver
                    .reflector
                    .watched(now, answer, &mut self.tracker);
            }
            _ => self.tracker.turn(self.now, Actor::Reflector),
        }
        self.turn_to_need();
    }

    /// When the reflector looks next whether a streaming list ends. Not where something was told before:
    /// what has been recorded keeps its facts.
    fn initial_events_end_check(&self) -> Option<Time> {
        let at = self.driver.reflector.initial_events_end_check_at()?;
        (self.settings.source == SourceKind::Server).then(|| ceil_ms(at))
    }

    /// Takes one thing off the watch stream.
    fn receive(&mut self) {
        let Some(item) = self.source.receive() else {
            return;
        };
        if matches!(item, WatchItem::Closed) {
            self.tracker.stream_ended();
        }
        let ReflectorDriver { reflector, log, .. } = &mut self.driver;
        log.receives(&item);
        reflector.received(millis(self.now), item, &mut self.tracker);
        // The end of a streaming list: it is complete.
        if matches!(reflector.need(), Need::Store(StoreCall::Replace(..))) {
            log.lists += 1;
        }
        self.turn_to_need();
    }

    /// Nothing more will come; no resync, either.
    pub(super) fn stop(&mut self, reason: Reason) {
        let now = millis(self.now);
        let reflector = &mut self.driver.reflector;
        reflector.stop_because(now, reason, &mut self.tracker);
        self.driver.log.backoff_ms = None;
        self.driver.stage = Stage::Stopped;
    }

    /// Closes the watch once the reflector has done with it, and notes what it came to.
    fn attend(&mut self) {
        let now = millis(self.now);
        let ReflectorDriver { reflector, log, .. } = &mut self.driver;
        if !reflector.is_watching() {
            log.closes();
            self.source.hang_up();
        }
        // That the handler was called is a fact, too; nobody else is to be told.
        log.watch_errors += u64::from(reflector.take_watch_error().is_some());
        match reflector.need() {
            Need::Wait(until) if reflector.state() == ReflectorState::Backoff => {
                let ms = || until.saturating_sub(now).as_millis() as u64;
                log.backoff_ms.get_or_insert_with(ms);
            }
            _ => log.backoff_ms = None,
        }
    }

    fn call_of_program(&mut self) {
        let actor = self.driver.actor;
        self.driver.stage = Stage::Calls;
        let Some((delta_type, object)) = self.source.take_call() else {
            return;
        };
        let cause = self.calls.pop_front().unwrap_or(Cause::Start);
        self.tracker.because(actor, cause);
        let item = Item::Object(object);
        let object = item.to_ref(&key_of(&item));
        self.tracker.fact(Step::ProgramCall, || {
            Fact::Run(RunFact::Called { delta_type, object })
        });
        if self.settings.informer == InformerKind::Indexer {
            return self.write_to_indexer(delta_type, &item);
        }
        self.driver.stage = Stage::Want(match delta_type {
            DeltaType::Deleted => StoreCall::Delete(item),
            DeltaType::Updated => StoreCall::Update(item),
            _ => StoreCall::Add(item),
        });
    }

    /// Where a call takes the lock, and where it gives it back.
    fn lock_steps(&self, call: &StoreCall<Obj>) -> (Step, Step) {
        match call {
            _ if matches!(self.queue, InformerQueue::Fifo(_)) => (Step::FifoLock, Step::FifoUnlock),
            StoreCall::Delete(_) => (Step::DeleteLock, Step::DeleteUnlock),
            StoreCall::Replace(..) => (Step::ReplaceLock, Step::ReplaceUnlock),
            StoreCall::Resync => (Step::ResyncLock, Step::ResyncUnlock),
            _ => (Step::AddLock, Step::AddUnlock),
        }
    }

    /// Calls the queue; the lock is held. An error of the queue is a fact of the queue.
    fn write(&mut self, call: StoreCall<Obj>) -> Result<(), Error> {
        let tracker = &mut self.tracker;
        match (&mut self.queue, &self.store) {
            (queue, Some(store)) if self.known_objects => queue.write(call, store, tracker),
            // Without KnownObjects; to a RealFIFO of atomic events they are nothing.
            (InformerQueue::Delta(queue), _) => match call {
                StoreCall::Add(item) => queue.add(item, tracker),
                StoreCall::Update(item) => queue.update(item, tracker),
                StoreCall::Delete(item) => queue.delete(item, None, tracker),
                StoreCall::Replace(items, rv) => queue.replace(items, &rv, None, tracker),
                StoreCall::Resync => queue.resync(None, tracker),
                StoreCall::Bookmark(_) | StoreCall::UpdateResourceVersion(_) => Ok(()),
            },
            (queue, Some(store)) => queue.write(call, store, tracker),
            (InformerQueue::Fifo(queue), None) => match call {
                StoreCall::Delete(item) => queue.delete(item, None, tracker),
                StoreCall::Add(item) | StoreCall::Update(item) => queue.add(item, tracker),
                // A program has neither lists nor resyncs.
                _ => Ok(()),
            },
            // An informer always has a store.
            (InformerQueue::Real(_), None) => Ok(()),
        }
    }

    // ---- the resync timer

    pub(super) fn resync_waits(&self) -> Wait {
        match self.driver.resync {
            ResyncStage::Timer => self
                .driver
                .reflector
                .resync_at()
                .map_or(Wait::External, |at| Wait::Until(ceil_ms(at))),
            ResyncStage::Want if !self.lock.is_ready_for(Actor::Resync) => Wait::Lock,
            ResyncStage::Want | ResyncStage::Do | ResyncStage::Unlock => Wait::Ready,
        }
    }

    /// Whether its next micro-step states a fact, where that shows before.
    pub(super) fn resync_states(&self) -> Option<bool> {
        match self.driver.resync {
            ResyncStage::Timer | ResyncStage::Unlock => Some(true),
            ResyncStage::Want => self.asking_states(&self.lock, Actor::Resync),
            ResyncStage::Do => None,
        }
    }

    /// One micro-step of the resync timer.
    pub(super) fn resync(&mut self) {
        let now = millis(self.now);
        match self.driver.resync {
            ResyncStage::Timer => {
                self.tracker.because(Actor::Resync, Cause::Start);
                let wanted = self.should_resync();
                let ReflectorDriver { reflector, log, .. } = &mut self.driver;
                log.resyncs += u64::from(reflector.resync_at().is_some());
                if reflector.resync_fired(now, wanted, &mut self.tracker) {
                    self.driver.resync = ResyncStage::Want;
                }
            }
            ResyncStage::Want => {
                if self
                    .lock
                    .acquire(Actor::Resync, Step::ResyncLock, &mut self.tracker)
                {
                    self.driver.resync = ResyncStage::Do;
                }
            }
            ResyncStage::Do => {
                let outcome = self.write(StoreCall::Resync);
                self.driver.resync_error = outcome.err();
                self.driver.resync = ResyncStage::Unlock;
            }
            ResyncStage::Unlock => {
                self.lock.release(
                    self.now,
                    Actor::Resync,
                    Step::ResyncUnlock,
                    &mut self.tracker,
                );
                self.driver.resync = ResyncStage::Timer;
                let outcome = self.driver.resync_error.take().map_or(Ok(()), Err);
                let reflector = &mut self.driver.reflector;
                // Whoever got the lock had its turn. An error goes to the reflector: at once, where
                // that waits for an event; else once it does.
                let is_heard = outcome.is_err() && matches!(reflector.need(), Need::Event);
                self.tracker.turn(self.now, Actor::Resync);
                if is_heard {
                    self.tracker.hand_over(Actor::Reflector);
                }
                reflector.resync_done(now, outcome, &mut self.tracker);
                self.attend();
            }
        }
    }
}

fn in_hand(call: &StoreCall<Obj>) -> Option<(EventType, ObjectRef)> {
    let (event, item) = match call {
        StoreCall::Add(item) => (EventType::Added, item),
        StoreCall::Update(item) => (EventType::Modified, item),
        StoreCall::Delete(item) => (EventType::Deleted, item),
        _ => return None,
    };
    Some((event, item.to_ref(&key_of(item))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::virtual_time::{Era, Input};
    use deltascope_cache::controller::Generation;
    use deltascope_cache::lister_watcher::ListPage;

    /// A server that has one object, and from 540 ms on, when the first resync is due, others: each 20
    /// ms four, until there are 25. The version is their number.
    #[derive(Default)]
    struct Server {
        /// How many the open watch has told of.
        watch: Option<u64>,
        /// How often it was cloned.
        clones: std::rc::Rc<std::cell::Cell<usize>>,
        /// What it was asked for: lists, and watches.
        asked: (u64, u64),
    }

    impl Clone for Server {
        fn clone(&self) -> Self {
            self.clones.update(|clones| clones + 1);
            Self {
                watch: self.watch,
                clones: self.clones.clone(),
                asked: self.asked,
            }
        }
    }

    impl Server {
        const ALL: u64 = 25;

        fn comes(number: u64) -> Time {
            540 + number / 4 * 20
        }

        fn object(number: u64) -> Item<Obj> {
            let mut object = Obj {
                types: None,
                metadata: Default::default(),
                data: Default::default(),
            };
            object.metadata.name = Some(number.to_string());
            object.metadata.resource_version = Some(number.to_string());
            Item::object(object)
        }
    }

    impl Source for Server {
        type Command = ();

        fn command(&mut self, _: Time, (): (), _: &mut impl Trace) {}

        fn next_moment(&self) -> Option<Time> {
            None
        }

        fn advance(&mut self, _: Time, _: &mut impl Trace) {}

        fn begins_with_list(&self) -> bool {
            true
        }

        fn list(
            &mut self,
            now: Time,
            _: &ListRequest,
            _: &mut impl Trace,
        ) -> Result<ListPage<Obj>, Refused> {
            self.asked.0 += 1;
            let there = |number: &u64| *number == 1 || Self::comes(*number) <= now;
            let last = (1..=Self::ALL).rfind(there).unwrap();
            Ok(ListPage {
                resource_version: last.to_string().into(),
                items: (1..=last).map(Self::object).collect(),
                continue_token: "".into(),
                table: None,
            })
        }

        fn watch(
            &mut self,
            _: Time,
            request: &WatchRequest,
            _: &mut impl Trace,
        ) -> Result<(), Refused> {
            self.asked.1 += 1;
            self.watch = request.resource_version.parse().ok();
            Ok(())
        }

        fn arrival(&self) -> Option<Time> {
            let next = self.watch? + 1;
            (next <= Self::ALL).then(|| Self::comes(next))
        }

        fn receive(&mut self) -> Option<WatchItem<Obj>> {
            let next = self.watch.as_mut()?;
            *next += 1;
            Some(WatchItem::Event(EventType::Added, Self::object(*next)))
        }

        fn hang_up(&mut self) {
            self.watch = None;
        }
    }

    fn world(seed: u64) -> World<Server> {
        let settings = Settings {
            seed,
            interleave: true,
            informer: InformerKind::Plain,
            era: Era(Generation::ALL[(seed % 4) as usize]),
            watch_list: Some(false),
            resync_ms: 500,
            process_ms: 5,
            ..Settings::default()
        };
        World::new(settings, Server::default(), Vec::new())
    }

    /// One micro-step, when it comes.
    fn turn(world: &mut World<Server>) {
        if !world.micro_step() {
            world.now = world.next_moment().unwrap();
        }
    }

    /// A clone of a world costs what is in it: whoever gives many inputs must not pay it for each.
    #[test]
    fn inputs_and_informers_beside_clone_no_world() {
        for seed in 0..8 {
            let world = || {
                let mut world = world(seed);
                world.settings.interleave = false;
                world
            };
            // Some informers beside, with moments of their own.
            let mut world = (0..3).fold(world(), |all, _| all.with_beside(world(), true));
            let clones = world.source.clones.clone();
            let mut facts = 0;
            while world.now < 3_000 {
                assert!(world.step());
                facts += world.drain().len();
            }
            assert_eq!((clones.get(), facts > 300), (0, true), "seed {seed}");
            for _ in 0..400 {
                assert!(world.step());
                let before = clones.get();
                for _ in 0..20 {
                    world.input(Input::Print("a".into()));
                }
                let after = clones.get();
                assert!(after - before <= 2, "seed {seed}: {}", after - before);
                world.drain();
            }
        }
    }

    // Upstream: `startResync` hands its error to the watch, which ends with it.
    #[test]
    fn a_resync_that_fails_ends_the_watch_of_the_reflector_and_the_next_round_resyncs_again() {
        let (mut heard, mut handed_on, mut kept) = (0, 0, 0);
        for seed in 0..80 {
            let mut world = world(seed);
            while world.driver.resync != ResyncStage::Unlock {
                turn(&mut world);
            }
            // A queue refuses only objects without a key, and this store has none.
            world.driver.resync_error = Some(Error::FifoClosed);
            let (mut facts, mut is_heard, mut next) = (Vec::new(), false, None);
            while world.driver.resync == ResyncStage::Unlock {
                is_heard = matches!(world.driver.reflector.need(), Need::Event);
                next = world.lock.waiting().next();
                world.drain();
                turn(&mut world);
                facts = world.drain();
            }
            let told: Vec<_> = facts
                .iter()
                .map(|record| (record.actor, record.fact.name()))
                .collect();
            let mut expected = vec![(Actor::Resync, "LockReleased")];
            expected.extend(next.map(|next| (next, "LockTaken")));
            if is_heard {
                expected.push((Actor::Reflector, "WatchEnded"));
                expected.push((Actor::Reflector, "BackoffStarted"));
                let ended = facts
                    .iter()
                    .find(|record| record.fact.name() == "WatchEnded");
                assert_eq!(ended.unwrap().cause, facts[0].cause, "seed {seed}");
            }
            assert_eq!(told, expected, "seed {seed}");
            // What is on the way is not read any more.
            assert!(!is_heard || world.source.watch.is_none(), "seed {seed}");
            heard += usize::from(is_heard);
            handed_on += usize::from(is_heard && next.is_some());
            kept += usize::from(!is_heard);

            let resyncs = world.driver.log.resyncs;
            let until = world.now + 10_000;
            while world.now < until {
                turn(&mut world);
            }
            // What the driver has noted is what the server has seen.
            let log = &world.driver.log;
            let asked = (log.lists_asked, log.watches_asked);
            assert_eq!(asked, world.source.asked, "seed {seed}");
            assert_eq!(world.driver.log.lists, 2, "seed {seed}");
            assert!(world.driver.log.resyncs > resyncs, "seed {seed}");
            assert_eq!(world.store.unwrap().list_keys().len(), 25, "seed {seed}");
        }
        assert!(
            heard > 9 && handed_on > 9 && kept > 9,
            "{heard} {handed_on} {kept}"
        );
    }
}
