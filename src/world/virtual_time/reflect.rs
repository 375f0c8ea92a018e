//! The reflector in a world: it sends requests to the source and calls the queue, one micro-step at a time. A
//! program that calls the queue itself takes its place where there is no reflector.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;

use crate::bounds::push_within;
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

use super::client::Client;
use super::settings::{InformerKind, Settings, SourceKind};
use super::{World, ceil_ms, key_of, millis};

/// How long a list or the opening of a watch takes, in virtual ms: a fast server on a local network.
pub(crate) const REQUEST_MS: Time = 40;
/// How many requests the page shows: two rounds of a list in pages.
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
    /// The page size; 0 without a limit.
    pub limit: u32,
    /// Whether it requests a following page.
    pub continues: bool,
    /// The answer so far.
    pub answer: Answer,
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// `LIST`
    List,
    /// `WATCH`
    Watch,
    /// `WATCH` with `sendInitialEvents`: a streaming list.
    Stream,
}

impl RequestKind {
    /// The kind of a watch.
    #[must_use]
    pub fn of(watch: &WatchRequest) -> Self {
        match watch.send_initial_events {
            Some(true) => Self::Stream,
            _ => Self::Watch,
        }
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is no answer yet.
    Awaited,
    /// One page with this many objects; more pages follow.
    Page(u32),
    /// The list is complete, with this many objects.
    Listed(u32),
    /// The watch is open.
    Open,
    /// The watch has ended, by an `ERROR` event of this HTTP status; 0 without one.
    Ended(u16),
    /// The request failed with this message.
    Failed(Arc<str>),
}

/// The requests of a reflector and their answers, noted by its driver in addition to the reflector's own
/// state. The driver notes them directly and never from facts, because tests compare them with the picture,
/// which is made from facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReflectorLog {
    /// The requests, oldest first, at most [`REQUESTS`].
    pub requests: VecDeque<RequestLine>,
    /// Events received.
    pub events: u64,
    /// Lists received.
    pub lists: u64,
    /// Lists requested, whatever the number of their pages; …
    pub lists_asked: u64,
    /// … and watches requested, including streaming lists.
    pub watches_asked: u64,
    /// The length of the current backoff, in ms.
    pub backoff_ms: Option<u64>,
    /// How often the watch-error handler was called.
    pub watch_errors: u64,
    /// How often the resync timer fired.
    pub resyncs: u64,
    /// Whether the watch is open …
    open: bool,
    /// … and the HTTP status of the last `ERROR` event, 0 without one.
    code: u16,
}

impl ReflectorLog {
    /// A list, or a further page of one, is requested.
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

    /// A watch is requested.
    pub(super) fn asks_watch(&mut self, request: &WatchRequest) {
        self.watches_asked += 1;
        let rv_match = request.resource_version_match;
        self.asks(RequestLine {
            kind: RequestKind::of(request),
            rv: Arc::clone(&request.resource_version),
            rv_match: rv_match.map_or("", ResourceVersionMatch::as_str),
            limit: 0,
            continues: false,
            answer: Answer::Awaited,
        });
    }

    fn asks(&mut self, line: RequestLine) {
        push_within(&mut self.requests, REQUESTS, line);
    }

    /// Notes the answer to the last request.
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

    /// The open watch has sent an item.
    pub(super) fn receives(&mut self, item: &WatchItem<Obj>) {
        match item {
            WatchItem::Closed => return,
            WatchItem::Error(error) => self.code = error.code,
            WatchItem::Event(..) | WatchItem::Bookmark { .. } => {}
        }
        self.events += 1;
    }

    /// Notes that the watch is closed, if it was open.
    pub(super) fn closes(&mut self) {
        if std::mem::take(&mut self.open) {
            self.answered(Answer::Ended(self.code));
        }
    }
}

type Obj = DynamicObject;

/// The state of the reflector's driver, or of the program in its place.
///
/// ```text
/// Ask ─► Await ─► Ask ─► Want ─► Do ─► Unlock ─► Stored ─► Ask …
/// ```
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Check the reflector's current need.
    Ask,
    /// A request is in flight until this virtual time.
    Await(Time),
    /// A call waits for the queue's lock.
    Want(StoreCall<Obj>),
    Do(StoreCall<Obj>),
    Unlock(Step, Result<(), Error>),
    Stored(Result<(), Error>),
    /// The program's next call is due.
    Calls,
    /// A program that lists and watches without a reflector.
    Client(Client),
    Stopped,
}

/// The state of the resync timer's driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResyncStage {
    Timer,
    Want,
    Do,
    Unlock,
}

/// The driver of the reflector, or of a program in its place.
#[derive(Clone)]
pub struct ReflectorDriver {
    pub(super) actor: Actor,
    pub(super) stage: Stage,
    pub(super) reflector: Reflector<Obj>,
    resync: ResyncStage,
    resync_error: Option<Error>,
    /// The requests and answers so far.
    pub log: ReflectorLog,
    /// The event that the reflector has received and not yet passed to the queue.
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
            release: settings.era.release(),
            // The transform also applies to a streaming list's temporary store.
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

    /// The state of the reflector.
    #[must_use]
    pub fn state(&self) -> ReflectorState {
        match self.stage {
            Stage::Calls => ReflectorState::Idle,
            Stage::Client(client) => client.state(),
            Stage::Stopped => ReflectorState::Stopped,
            _ => self.reflector.state(),
        }
    }

    /// The reflector itself.
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

    /// Whether the next micro-step states a fact, if that is known beforehand.
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
        // Every arm below sets the next stage, unless it stays `Stopped`.
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
                    // An event that arrives at the same time comes first.
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

    /// Sets the stage that the reflector's need calls for.
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

    /// The answer to the current request has arrived.
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
                    // The transform rejected one of the objects.
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

    /// When the reflector next checks whether a streaming list has ended. Only with a simulated server:
    /// recorded runs must keep their facts.
    fn initial_events_end_check(&self) -> Option<Time> {
        let at = self.driver.reflector.initial_events_end_check_at()?;
        (self.settings.source == SourceKind::Server).then(|| ceil_ms(at))
    }

    /// Receives one item of the watch stream.
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
        // The streaming list is complete.
        if matches!(reflector.need(), Need::Store(StoreCall::Replace(..))) {
            log.lists += 1;
        }
        self.turn_to_need();
    }

    /// Stops the reflector and its resyncs for good.
    pub(super) fn stop(&mut self, reason: Reason) {
        let now = millis(self.now);
        let reflector = &mut self.driver.reflector;
        reflector.stop_because(now, reason, &mut self.tracker);
        self.driver.log.backoff_ms = None;
        self.driver.stage = Stage::Stopped;
    }

    /// Closes the watch that the reflector has finished, and updates the log.
    fn attend(&mut self) {
        let now = millis(self.now);
        let ReflectorDriver { reflector, log, .. } = &mut self.driver;
        if !reflector.is_watching() {
            log.closes();
            self.source.hang_up();
        }
        // The reflector has stated the call of the watch-error handler as a fact; here it is only counted.
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

    /// The steps at which a call takes and releases the lock.
    fn lock_steps(&self, call: &StoreCall<Obj>) -> (Step, Step) {
        match call {
            _ if matches!(self.queue, InformerQueue::Fifo(_)) => (Step::FifoLock, Step::FifoUnlock),
            StoreCall::Delete(_) => (Step::DeleteLock, Step::DeleteUnlock),
            StoreCall::Replace(..) => (Step::ReplaceLock, Step::ReplaceUnlock),
            StoreCall::Resync => (Step::ResyncLock, Step::ResyncUnlock),
            _ => (Step::AddLock, Step::AddUnlock),
        }
    }

    /// Calls the queue, with the lock held. The queue states its errors as facts.
    fn write(&mut self, call: StoreCall<Obj>) -> Result<(), Error> {
        let tracker = &mut self.tracker;
        match (&mut self.queue, &self.store) {
            (queue, Some(store)) if self.known_objects => queue.write(call, store, tracker),
            // Calls without KnownObjects. A RealFIFO of atomic events needs none.
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
                // A program makes neither lists nor resyncs.
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

    /// Whether the next micro-step states a fact, if that is known beforehand.
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
                // The lock's next holder has taken its turn. The reflector receives an error at once if it is
                // waiting for an event, else as soon as it does.
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
    use super::*;
    use crate::virtual_time::Input;
    use deltascope_cache::controller::Generation;
    use deltascope_cache::lister_watcher::ListPage;

    /// A server with one object at first. From 540 ms on, when the first resync is due, it creates four more
    /// every 20 ms, until there are 25. Its version is the number of objects.
    #[derive(Default)]
    struct Server {
        /// The version that the open watch has reached.
        watch: Option<u64>,
        /// How often it was cloned.
        clones: std::rc::Rc<std::cell::Cell<usize>>,
        /// The number of list requests and of watch requests.
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
            era: Generation::ALL[(seed % 4) as usize],
            watch_list: Some(false),
            resync_ms: 500,
            process_ms: 5,
            ..Settings::default()
        };
        World::new(settings, Server::default(), Vec::new())
    }

    /// Does one micro-step, or jumps to the next one.
    fn turn(world: &mut World<Server>) {
        if !world.micro_step() {
            world.now = world.next_moment().unwrap();
        }
    }

    /// Cloning a world costs as much as the world holds; inputs must not pay that each time.
    #[test]
    fn inputs_and_informers_beside_clone_no_world() {
        for seed in 0..8 {
            let world = || {
                let mut world = world(seed);
                world.settings.interleave = false;
                world
            };
            // Three peer informers with virtual times of their own.
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

    // In client-go, `startResync` passes its error to the watch, which ends with it.
    #[test]
    fn a_failed_resync_ends_the_watch_and_the_next_round_resyncs_again() {
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
            let stated: Vec<_> = facts
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
            assert_eq!(stated, expected, "seed {seed}");
            // Events in flight are not read anymore.
            assert!(!is_heard || world.source.watch.is_none(), "seed {seed}");
            heard += usize::from(is_heard);
            handed_on += usize::from(is_heard && next.is_some());
            kept += usize::from(!is_heard);

            let resyncs = world.driver.log.resyncs;
            let until = world.now + 10_000;
            while world.now < until {
                turn(&mut world);
            }
            // The driver's log agrees with the requests that the server received.
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
