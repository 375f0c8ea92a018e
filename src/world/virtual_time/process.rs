//! The process loop in a world: Pop and the process function, one micro-step at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kube_core::DynamicObject;

use crate::{Source, Time, Wait};
use deltascope_cache::controller::InformerQueue;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Actor, Entry, Fact, ObjectRef, ProcessMode, Rv, Shape, StoreFact};
use deltascope_cache::key::Key;
use deltascope_cache::listener::ListenerId;
use deltascope_cache::process::{Fault, Notification, PoppedItems, Process, Progress};
use deltascope_cache::queue::ProcessOutcome;
use deltascope_cache::real_fifo::QueuedDelta;
use deltascope_cache::step::Step;

use super::settings::InformerKind;
use super::{World, key_of};

type Obj = DynamicObject;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Idle,
    Begin,
    /// Processing needs `blockDeltas`.
    Block,
    Run,
    /// A handler inside `process` calls `HasSynced`, …
    HasSynced,
    /// … waits for the queue's lock, …
    HasSyncedWait,
    /// … and holds it.
    HasSyncedAnswer,
    /// The next listener is to be notified.
    Send,
    /// The listener's `pop` has not received the notification yet.
    Sent(ListenerId),
    Busy(Time),
    Unblock,
    /// The queue released its lock during processing.
    Relock,
    Finish,
    Unlock,
}

/// Pop and the process function.
#[derive(Clone)]
pub struct ProcessLoop {
    /// How the process loop pops.
    pub mode: ProcessMode,
    /// How many requested Pops have not begun yet.
    pub asked: u32,
    pub(super) not_before: Time,
    work: Work,
    began: Time,
    run: Option<Process<Obj>>,
    outcome: ProcessOutcome,
    /// How often the process function has failed as configured.
    failures: u8,
    /// The notification being delivered.
    notification: Option<Arc<Notification<Obj>>>,
    type_name: &'static str,
    /// The handlers inside `process` that are still to be notified; the first one is running while it calls
    /// `HasSynced`.
    inside: VecDeque<usize>,
    targets: VecDeque<ListenerId>,
    /// The last popped item.
    pub last: Option<Popped>,
    /// How many items were popped.
    pub count: u64,
}

/// A popped item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popped {
    /// The key.
    pub key: Key,
    /// The deltas, oldest first.
    pub deltas: Vec<(DeltaType, ObjectRef)>,
    /// The index of the delta being processed (`None` before the first).
    pub position: Option<usize>,
    /// Whether the item belongs to the first list.
    pub is_in_initial_list: bool,
    /// RealFIFO only: the entries, oldest first. `key` is empty then, and `deltas` holds the entries' deltas;
    /// an entry that is a whole list or resync has none.
    pub entries: Vec<Entry>,
}

impl Popped {
    /// The entries popped from a RealFIFO.
    #[must_use]
    pub fn of_entries(entries: Vec<Entry>, is_in_initial_list: bool) -> Self {
        Self {
            key: Key::from(""),
            deltas: entries
                .iter()
                .filter_map(|entry| match entry {
                    Entry::Delta(delta_type, object) => Some((*delta_type, object.clone())),
                    _ => None,
                })
                .collect(),
            position: None,
            is_in_initial_list,
            entries,
        }
    }
}

impl ProcessLoop {
    pub(super) fn new(mode: ProcessMode) -> Self {
        Self {
            mode,
            asked: 0,
            not_before: 0,
            work: Work::Idle,
            began: 0,
            run: None,
            outcome: ProcessOutcome::Done,
            failures: 0,
            notification: None,
            type_name: DeltaType::Added.as_str(),
            inside: VecDeque::new(),
            targets: VecDeque::new(),
            last: None,
            count: 0,
        }
    }
}

impl<S: Source> World<S> {
    /// The popped item that is still being processed.
    pub fn processing(&self) -> Option<Popped> {
        self.process.run.as_ref().map(|run| self.popped(run))
    }

    fn popped(&self, run: &Process<Obj>) -> Popped {
        let taken = run.position().taken;
        match run.work() {
            PoppedItems::Deltas(work) => Popped {
                key: work.key.clone(),
                deltas: work
                    .deltas
                    .iter()
                    .map(|delta| (delta.delta_type, delta.object.to_ref(&work.key)))
                    .collect(),
                position: taken.checked_sub(1),
                is_in_initial_list: work.is_in_initial_list,
                entries: Vec::new(),
            },
            PoppedItems::Object(work) => Popped {
                key: work.key.clone(),
                // The same type as in its `KeyPopped`.
                deltas: vec![(DeltaType::Added, work.item.to_ref(&work.key))],
                position: None,
                is_in_initial_list: work.is_in_initial_list,
                entries: Vec::new(),
            },
            PoppedItems::Entries(work) => {
                let entries = match &self.queue {
                    InformerQueue::Real(queue) => work
                        .entries
                        .iter()
                        .map(|entry| entry.to_entry(queue.key_func()))
                        .collect(),
                    InformerQueue::Delta(_) | InformerQueue::Fifo(_) => Vec::new(),
                };
                let mut popped = Popped::of_entries(entries, work.is_in_initial_list);
                let at = taken.checked_sub(1);
                popped.position = at.filter(|place| *place < popped.deltas.len());
                popped
            }
        }
    }

    pub(super) fn process_waits(&self) -> Wait {
        let actor = Actor::ProcessLoop;
        match self.process.work {
            Work::Idle if self.queue.is_empty() => Wait::External,
            Work::Idle if !self.lock.is_ready_for(actor) => Wait::Lock,
            Work::Idle => match self.process.mode {
                ProcessMode::Held if self.process.asked == 0 => Wait::External,
                ProcessMode::Paced(_) => Wait::Until(self.process.not_before),
                ProcessMode::Free | ProcessMode::Held => Wait::Ready,
            },
            Work::Block if !self.block_deltas.is_ready_for(actor) => Wait::Lock,
            Work::Relock | Work::HasSyncedWait if !self.lock.is_ready_for(actor) => Wait::Lock,
            Work::Busy(until) => Wait::Until(until),
            Work::Sent(id) if self.is_offered(id) => Wait::External,
            Work::Begin
            | Work::Block
            | Work::Run
            | Work::HasSynced
            | Work::HasSyncedWait
            | Work::HasSyncedAnswer
            | Work::Send
            | Work::Sent(_)
            | Work::Unblock
            | Work::Relock
            | Work::Finish
            | Work::Unlock => Wait::Ready,
        }
    }

    /// Whether the next micro-step states a fact, if that is known beforehand.
    pub(super) fn process_states(&self) -> Option<bool> {
        let actor = Actor::ProcessLoop;
        match self.process.work {
            Work::Idle | Work::Relock => self.asking_states(&self.lock, actor),
            Work::Block => self.asking_states(&self.block_deltas, actor),
            Work::HasSynced | Work::HasSyncedAnswer | Work::Unblock | Work::Unlock => Some(true),
            Work::HasSyncedWait | Work::Sent(_) | Work::Busy(_) => Some(false),
            Work::Begin | Work::Run | Work::Send | Work::Finish => None,
        }
    }

    /// One micro-step of the process loop.
    pub(super) fn run_process(&mut self) {
        let actor = Actor::ProcessLoop;
        match self.process.work {
            Work::Idle => {
                let held = self.process.mode == ProcessMode::Held;
                self.tracker.about_to_pop(self.queue.next_key(), held);
                if self.lock.acquire(actor, Step::PopLock, &mut self.tracker) {
                    self.process.work = Work::Begin;
                }
            }
            Work::Begin => self.begin_pop(actor),
            Work::Block => {
                if self
                    .block_deltas
                    .acquire(actor, Step::BlockDeltasLock, &mut self.tracker)
                {
                    self.process.work = Work::Run;
                }
            }
            Work::Run => self.run_step(),
            Work::HasSynced => {
                // `HasSynced` does not know whether Pop holds the lock.
                let step = Step::HasSyncedLock;
                let taken = self.lock.acquire_again(actor, step, &mut self.tracker);
                self.process.work = if taken {
                    Work::HasSyncedAnswer
                } else {
                    Work::HasSyncedWait
                };
            }
            Work::HasSyncedWait => self.process.work = Work::HasSyncedAnswer,
            Work::HasSyncedAnswer => {
                let synced = self.queue.has_synced();
                let step = Step::HasSyncedUnlock;
                self.lock.release(self.now, actor, step, &mut self.tracker);
                self.tracker.turn(self.now, actor);
                if let Some(number) = self.process.inside.pop_front() {
                    self.return_inside(number, self.process.type_name, Some(synced));
                }
                self.notify_inside();
            }
            Work::Send => self.send(),
            Work::Sent(_) => self.process.work = Work::Send,
            Work::Busy(_) => self.process.work = Work::Run,
            Work::Unblock => {
                self.block_deltas.release(
                    self.now,
                    actor,
                    Step::BlockDeltasUnlock,
                    &mut self.tracker,
                );
                self.process.work = if self.lock.holder() == Some(actor) {
                    Work::Finish
                } else {
                    Work::Relock
                };
            }
            Work::Relock => {
                if self.lock.acquire(actor, Step::PopRetake, &mut self.tracker) {
                    self.process.work = Work::Finish;
                }
            }
            Work::Finish => self.finish_pop(),
            Work::Unlock => {
                self.lock
                    .release(self.now, actor, Step::PopUnlock, &mut self.tracker);
                self.tracker.turn(self.now, actor);
                self.synced();
                if let ProcessMode::Paced(ms) = self.process.mode {
                    self.process.not_before = self.now + Time::from(ms);
                }
                self.process.work = Work::Idle;
            }
        }
    }

    fn begin_pop(&mut self, actor: Actor) {
        self.process.began = self.now;
        match self.queue.begin_pop(&mut self.tracker) {
            Ok(Some(taken)) => {
                self.process.asked = self.process.asked.saturating_sub(1);
                self.process.count += 1;
                let run = if self.settings.by_type {
                    Process::by_type(taken)
                } else {
                    Process::new(taken)
                };
                self.process.run = Some(run.with_fault(self.fault()));
                if self.queue.unlocks_while_processing() {
                    self.lock
                        .release(self.now, actor, Step::PopRelease, &mut self.tracker);
                    self.tracker.turn(self.now, actor);
                }
                self.process.work = match self.settings.informer {
                    InformerKind::Shared => Work::Block,
                    _ => Work::Run,
                };
            }
            Ok(None) | Err(_) => self.process.work = Work::Unlock,
        }
    }

    fn finish_pop(&mut self) {
        self.process.work = Work::Unlock;
        let Some(run) = self.process.run.take() else {
            return;
        };
        self.process.last = Some(self.popped(&run));
        let elapsed = Duration::from_millis(self.now - self.process.began);
        let outcome = std::mem::replace(&mut self.process.outcome, ProcessOutcome::Done);
        // The process loop ignores the error; the queue has stated it.
        let _stated = self
            .queue
            .finish_pop(run.into_taken(), outcome, elapsed, &mut self.tracker);
    }

    fn run_step(&mut self) {
        let Some(mut run) = self.process.run.take() else {
            self.process.work = Work::Unlock;
            return;
        };
        let before = self.tracker.count();
        let progress = match &mut self.store {
            Some(store) => run.step(store, &mut self.tracker),
            None => run.step_without_store(&mut self.tracker),
        };
        match progress {
            Progress::Took => {}
            Progress::Wrote => self.follow_store(before, &run),
            Progress::Notify(notification) => {
                let delta_type = delta_type(&run, &notification);
                self.notify(
                    Arc::new(notification),
                    delta_type.map_or("", DeltaType::as_str),
                );
            }
            Progress::Done(outcome) => {
                self.process.outcome = self.outcome_of(outcome);
                self.process.work = if self.block_deltas.holder() == Some(Actor::ProcessLoop) {
                    Work::Unblock
                } else if self.lock.holder() == Some(Actor::ProcessLoop) {
                    Work::Finish
                } else {
                    Work::Relock
                };
            }
        }
        self.process.run = Some(run);
    }

    /// The configured failure of the process function, until it has occurred `times` times.
    fn fault(&self) -> Option<Fault> {
        let fails = self.settings.process_fails.as_ref()?;
        (self.process.failures < fails.times).then(|| Fault {
            name: Arc::clone(&fails.at),
            error: format!("cannot process {}", fails.at).into(),
        })
    }

    /// The outcome for Pop: a queue that can requeue the item is asked to do so if configured.
    fn outcome_of(&mut self, outcome: ProcessOutcome) -> ProcessOutcome {
        let ProcessOutcome::Failed(error) = outcome else {
            return outcome;
        };
        // A world's objects all have a key, so only the configured failure fails.
        self.process.failures = self.process.failures.saturating_add(1);
        let asks = self.settings.process_fails.as_ref();
        if asks.is_some_and(|fails| fails.requeue) && matches!(self.queue, InformerQueue::Delta(_))
        {
            ProcessOutcome::Requeue(Some(error))
        } else {
            ProcessOutcome::Failed(error)
        }
    }

    /// Notifies the handlers inside `process`, then distributes to the listeners.
    fn notify(&mut self, notification: Arc<Notification<Obj>>, type_name: &'static str) {
        if let Notification::Add { object, .. } | Notification::Update { new: object, .. } =
            &*notification
            && let Some(detector) = self.detector()
        {
            detector.add_object(object);
        }
        self.process.inside = (0..self.handlers.len())
            .filter(|number| self.handlers[*number].inline)
            .collect();
        self.process.type_name = type_name;
        self.process.notification = Some(notification);
        self.notify_inside();
    }

    /// Notifies the handlers inside `process`, until one calls `HasSynced`.
    fn notify_inside(&mut self) {
        let Some(notification) = self.process.notification.clone() else {
            return;
        };
        while let Some(number) = self.process.inside.front().copied() {
            self.call_inside(number, &notification);
            let handler = self.handlers.get(number);
            if handler.is_some_and(|handler| handler.calls_has_synced(&notification)) {
                self.process.work = Work::HasSynced;
                return;
            }
            self.process.inside.pop_front();
            self.return_inside(number, self.process.type_name, None);
        }
        self.process.targets = self
            .processor
            .distribute(&notification, &mut self.tracker)
            .map(|(id, _)| id)
            .collect();
        self.process.work = Work::Send;
    }

    /// Notifies the next listener; after the last one, continues.
    fn send(&mut self) {
        let Some(notification) = self.process.notification.clone() else {
            self.process.work = Work::Run;
            return;
        };
        let Some(id) = self.process.targets.pop_front() else {
            self.process.notification = None;
            self.process.work = if self.settings.process_ms > 0 {
                Work::Busy(self.now + Time::from(self.settings.process_ms))
            } else {
                Work::Run
            };
            return;
        };
        if let Some(listener) = self.processor.get_mut(id) {
            // Nobody else offers a notification while `blockDeltas` is held.
            let _has_room = listener.offer(notification, &mut self.tracker);
            self.process.work = Work::Sent(id);
        }
    }

    fn is_offered(&self, id: ListenerId) -> bool {
        self.processor
            .get(id)
            .is_some_and(|listener| listener.is_offered())
    }

    /// Updates the store version that the page shows, where client-go keeps none.
    fn follow_store(&mut self, before: u64, run: &Process<Obj>) {
        let mut rv: Option<Rv> = None;
        for record in self.tracker.since(before) {
            if let Fact::Store(StoreFact::ItemStored { object, .. }) = &record.fact {
                rv = Some(Arc::clone(&object.rv));
            } else if let Fact::Store(StoreFact::ItemRemoved { key, .. }) = &record.fact
                && let Some(object) = deleted(run, key)
            {
                rv = Some(object.rv);
            }
        }
        if let Some(rv) = rv {
            self.store_rv = rv;
        }
    }

    /// Notes that the queue has synced, once its lock is free.
    pub(super) fn synced(&mut self) {
        if self.informer.has_synced() || !self.queue.has_synced() {
            return;
        }
        self.informer.set_synced();
        // A new listener that still receives its initial notifications learns of the sync after them.
        let new = self.main.initial_listener();
        for (id, listener) in self.processor.listeners_mut() {
            if new != Some(id) {
                listener.upstream_has_synced(&mut self.tracker);
            }
        }
        self.report_sync();
    }
}

/// The object of the delta that removed `key`, unless it is a tombstone.
fn deleted(run: &Process<Obj>, key: &Key) -> Option<ObjectRef> {
    let object = match run.work() {
        PoppedItems::Deltas(work) => {
            let delta = work.deltas.get(run.position().taken.checked_sub(1)?)?;
            delta.object.to_ref(key)
        }
        PoppedItems::Entries(work) => work.entries.iter().find_map(|entry| match entry {
            QueuedDelta::Delta { key: of, delta } if of == key => Some(delta.object.to_ref(key)),
            _ => None,
        })?,
        // A FIFO reports no deletes.
        PoppedItems::Object(_) => return None,
    };
    (object.shape == Shape::Object).then_some(object)
}

/// The type of the delta that a notification belongs to; an object of a FIFO has none.
fn delta_type(run: &Process<Obj>, notification: &Notification<Obj>) -> Option<DeltaType> {
    match run.work() {
        PoppedItems::Object(_) => None,
        PoppedItems::Deltas(work) => run
            .position()
            .taken
            .checked_sub(1)
            .and_then(|place| work.deltas.get(place))
            .map(|delta| delta.delta_type),
        PoppedItems::Entries(work) => {
            let key = key_of(notification.object());
            work.entries
                .iter()
                .find(|entry| entry.key().is_none_or(|of| *of == key))
                .map(QueuedDelta::delta_type)
        }
    }
}
