//! Writes facts down, each with its time, its actor and its cause.

use std::collections::VecDeque;

use deltascope_cache::fact::{
    Actor, Cause, Entry, Fact, FactId, FactRecord, HandlersFact, QueueFact, ReflectorFact, RunFact,
    ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Time;

/// The trace of a world.
///
/// It follows each thing on its way (an event on the stream, a delta in the queue, a notification
/// in a buffer), so that every fact knows the one that caused it without any machine having to
/// carry causes around.
#[derive(Clone, Debug)]
pub struct CauseTracker {
    now: Time,
    actor: Actor,
    next: u64,
    out: Vec<FactRecord>,
    /// What an actor does next is caused by this, unless the fact itself says otherwise.
    chains: SortedMap<Actor, Cause>,
    /// What the reflector asked for and has no answer to.
    request: Option<Cause>,
    /// The `EventSent` of each event on the stream.
    stream: VecDeque<Cause>,
    /// The `WatchClosed` that the reflector has not noticed yet.
    closed: Option<Cause>,
    /// The `Synced` of the queue.
    synced: Option<Cause>,
    /// The `PopAsked` of each Pop that has not come yet.
    asked: VecDeque<Cause>,
    /// The fact that put each delta into the queue.
    queued: SortedMap<Key, VecDeque<Cause>>,
    /// The `DeletionDetected` whose Delta is not queued yet, with its key.
    detected: Option<(Key, Cause)>,
    /// The same as `queued` for the entries of a RealFIFO.
    entries: VecDeque<Cause>,
    /// The same for what is being processed.
    taken: Vec<Cause>,
    /// The `DeltaTaken` of each key of what is being processed.
    looked_up: SortedMap<Key, Cause>,
    /// The `NotificationSent` that each handler's `pop` has not received.
    sent: SortedMap<u8, Cause>,
    /// The `WorkAdded` of each key in the workqueue.
    added: SortedMap<Key, Cause>,
    /// The `WorkDelayed` of each key that waits for its moment.
    delayed: SortedMap<Key, Cause>,
    /// The `NotificationQueued` of each notification in a buffer.
    buffers: SortedMap<u8, VecDeque<Cause>>,
    /// The `NotificationTaken` that each handler works on …
    running: SortedMap<u8, Cause>,
    /// … and that of the last handler inside process.
    handling: Option<Cause>,
    /// The first `ObjectMutated` of each key that the detector has not found.
    mutated: SortedMap<Key, Cause>,
}

impl Default for CauseTracker {
    fn default() -> Self {
        Self {
            now: 0,
            actor: Actor::Server,
            next: 0,
            out: Vec::new(),
            chains: SortedMap::new(),
            request: None,
            stream: VecDeque::new(),
            closed: None,
            synced: None,
            asked: VecDeque::new(),
            queued: SortedMap::new(),
            detected: None,
            entries: VecDeque::new(),
            looked_up: SortedMap::new(),
            sent: SortedMap::new(),
            added: SortedMap::new(),
            delayed: SortedMap::new(),
            taken: Vec::new(),
            buffers: SortedMap::new(),
            running: SortedMap::new(),
            handling: None,
            mutated: SortedMap::new(),
        }
    }
}

impl CauseTracker {
    /// From now on `actor` acts, at `now`.
    pub(super) fn turn(&mut self, now: Time, actor: Actor) {
        self.now = now;
        self.actor = actor;
    }

    /// What `actor` does next has this cause.
    pub(super) fn because(&mut self, actor: Actor, cause: Cause) {
        self.chains.insert(actor, cause);
    }

    /// `actor` goes on with what the actor before it was at.
    pub(super) fn hand_over(&mut self, actor: Actor) {
        let cause = self.chain();
        self.actor = actor;
        self.because(actor, cause);
    }

    /// The process loop is about to pop this key, or the first entries: because it is asked to, or
    /// because of what was queued first.
    pub(super) fn about_to_pop(&mut self, key: Option<&Key>, held: bool) {
        let queued = match key {
            Some(key) => self.queued.get(key).and_then(VecDeque::front),
            None => self.entries.front(),
        };
        let asked = self.asked.front().filter(|_| held);
        if let Some(cause) = asked.or(queued).copied() {
            self.because(Actor::ProcessLoop, cause);
        }
    }

    /// That the queue has synced, if it has.
    pub(super) fn synced(&self) -> Cause {
        self.synced.unwrap_or(Cause::Start)
    }

    /// Whoever reads the stream has come to its end.
    pub(super) fn stream_ended(&mut self) {
        if let Some(cause) = self.closed.take() {
            self.because(self.actor, cause);
        }
    }

    /// States what an input does by itself; what the actor is at goes on as before.
    pub(super) fn input(&mut self, cause: Cause, step: Step, fact: Fact) -> Cause {
        self.state(cause, step, fact);
        Cause::Fact(FactId(self.next - 1))
    }

    /// How many facts there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.next
    }

    /// The facts since there were so many, as far as they were not drained.
    pub(super) fn since(&self, count: u64) -> &[FactRecord] {
        let new = self.next.saturating_sub(count) as usize;
        &self.out[self.out.len().saturating_sub(new)..]
    }

    /// The mutation detector has looked at everything.
    pub(super) fn compared(&mut self) {
        self.mutated.clear();
    }

    /// The facts since the last call.
    pub fn drain(&mut self) -> Vec<FactRecord> {
        std::mem::take(&mut self.out)
    }

    fn chain(&self) -> Cause {
        self.chains
            .get(&self.actor)
            .copied()
            .unwrap_or(Cause::Start)
    }

    fn cause_of(&mut self, fact: &Fact) -> Cause {
        let cause = match fact {
            Fact::Server(fact) => self.cause_on_server(fact),
            Fact::Reflector(fact) => self.cause_in_reflector(fact),
            Fact::Queue(fact) => self.cause_in_queue(fact),
            Fact::Store(fact) => self.cause_in_store(fact),
            Fact::Handlers(fact) => self.cause_in_handlers(fact),
            Fact::Work(fact) => self.cause_of_work(fact),
            // What somebody does from outside has the cause that its input has.
            Fact::Run(_) => None,
        };
        cause.unwrap_or_else(|| self.chain())
    }

    fn cause_on_server(&mut self, fact: &ServerFact) -> Option<Cause> {
        match fact {
            ServerFact::ListAnswered { .. }
            | ServerFact::ListRefused { .. }
            | ServerFact::WatchAccepted { .. }
            | ServerFact::WatchRefused { .. }
            | ServerFact::WatchDenied { .. }
            | ServerFact::ConnectionRefused => self.request.take(),
            ServerFact::ObjectCreated { .. }
            | ServerFact::ObjectUpdated { .. }
            | ServerFact::ObjectDeleted { .. }
            | ServerFact::WriteRefused { .. }
            | ServerFact::RefusalsAsked { .. }
            | ServerFact::HistoryCompacted { .. }
            | ServerFact::ObjectsLearned { .. }
            | ServerFact::RequestDeferred { .. }
            | ServerFact::EventSent { .. }
            | ServerFact::WatchClosed { .. } => None,
        }
    }

    fn cause_in_reflector(&mut self, fact: &ReflectorFact) -> Option<Cause> {
        match fact {
            ReflectorFact::EventReceived { .. } => self.stream.pop_front(),
            ReflectorFact::ListRequested { .. }
            | ReflectorFact::PageReceived { .. }
            | ReflectorFact::ListFailed { .. }
            | ReflectorFact::ListReceived { .. }
            | ReflectorFact::WatchRequested { .. }
            | ReflectorFact::WatchFailed { .. }
            | ReflectorFact::InitialEventKept { .. }
            | ReflectorFact::InitialEventsEnded { .. }
            | ReflectorFact::InitialEventsEndMissed { .. }
            | ReflectorFact::StreamFellBack { .. }
            | ReflectorFact::ObjectRejected { .. }
            | ReflectorFact::VersionUnavailable { .. }
            | ReflectorFact::WatchErrorReported { .. }
            | ReflectorFact::ResyncDue { .. }
            | ReflectorFact::LastSyncMoved { .. }
            | ReflectorFact::WatchEnded { .. }
            | ReflectorFact::BackoffStarted { .. }
            | ReflectorFact::ReflectorStopped { .. } => None,
        }
    }

    fn cause_in_queue(&mut self, fact: &QueueFact) -> Option<Cause> {
        match fact {
            QueueFact::DeltaAppended { object, .. } => self.detected(&object.key),
            QueueFact::EntryAppended { entry, .. } => match entry {
                Entry::Delta(_, object) => self.detected(&object.key),
                Entry::ReplacedAll { .. } | Entry::SyncAll | Entry::Bookmark { .. } => None,
            },
            QueueFact::KeyPopped { key, .. } => {
                self.asked.pop_front();
                self.taken = self.queued.remove(key).unwrap_or_default().into();
                self.taken.first().copied()
            }
            QueueFact::FifoKeySkipped { key } => {
                let removed = self.queued.remove(key);
                removed.and_then(|mut all| all.pop_front())
            }
            QueueFact::EntriesTaken { count, .. } => {
                self.asked.pop_front();
                let count = (*count as usize).min(self.entries.len());
                self.taken = self.entries.drain(..count).collect();
                self.taken.first().copied()
            }
            QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. } => {
                self.taken.first().copied()
            }
            QueueFact::DeltaTaken { position, .. } => self.taken.get(*position as usize).copied(),
            QueueFact::LockTaken { .. }
            | QueueFact::LockAwaited { .. }
            | QueueFact::LockReleased { .. }
            | QueueFact::KeyFailed { .. }
            | QueueFact::TransformFailed { .. }
            | QueueFact::Transformed { .. }
            | QueueFact::Populated { .. }
            | QueueFact::DeleteChecked { .. }
            | QueueFact::DeleteIgnored { .. }
            | QueueFact::DeltasMerged { .. }
            | QueueFact::KeyEnqueued { .. }
            | QueueFact::DeletionDetected { .. }
            | QueueFact::ResyncSkipped { .. }
            | QueueFact::AlreadyPresent { .. }
            | QueueFact::FifoItemSet { .. }
            | QueueFact::FifoItemRemoved { .. }
            | QueueFact::FifoCleared
            | QueueFact::QueueEmpty
            | QueueFact::Synced
            | QueueFact::ProcessFailed { .. }
            | QueueFact::Requeued { .. }
            | QueueFact::ProcessWasSlow { .. }
            | QueueFact::QueueClosed
            | QueueFact::Processed { .. }
            | QueueFact::EntriesProcessed { .. } => None,
        }
    }

    /// The `DeletionDetected` of the Delta that is being queued, where it is one's.
    fn detected(&mut self, of: &Key) -> Option<Cause> {
        let (key, cause) = self.detected.take()?;
        (key == *of).then_some(cause)
    }

    fn cause_in_store(&self, fact: &StoreFact) -> Option<Cause> {
        match fact {
            StoreFact::ItemStored { .. }
            | StoreFact::ItemRemoved { .. }
            | StoreFact::IndexEntryAdded { .. }
            | StoreFact::IndexEntryRemoved { .. } => self.looked_up(fact.key()),
            StoreFact::StoreReplaced { .. }
            | StoreFact::IndexFailed { .. }
            | StoreFact::IndexersAdded { .. }
            | StoreFact::IndicesReset
            | StoreFact::StoreVersionMoved { .. } => None,
        }
    }

    fn looked_up(&self, key: Option<&Key>) -> Option<Cause> {
        self.looked_up.get(key?).copied()
    }

    fn cause_in_handlers(&mut self, fact: &HandlersFact) -> Option<Cause> {
        match fact {
            // In a batch the writes come first: each is told because of its own delta.
            HandlersFact::NotificationSent { .. } | HandlersFact::NotificationTaken { .. }
                if self.actor == Actor::ProcessLoop =>
            {
                self.looked_up(fact.key())
            }
            HandlersFact::NotificationWithheld { key, .. } => self.looked_up(Some(key)),
            HandlersFact::NotificationQueued { handler, .. } => self.sent.remove(handler),
            HandlersFact::NotificationTaken { handler, .. } => {
                let waiting = self.buffers.get_mut(handler);
                waiting.and_then(VecDeque::pop_front)
            }
            HandlersFact::MutationDetected { key } => self.mutated.get(key).copied(),
            HandlersFact::HandlerSynced { handler } => {
                let in_listener = matches!(self.actor, Actor::Listener(_));
                let running = self.running.get(handler).copied();
                running.filter(|_| in_listener)
            }
            HandlersFact::LinePrinted { handler, .. }
            | HandlersFact::NotificationHandled { handler }
            | HandlersFact::HandlerPanicked { handler, .. }
            | HandlersFact::ObjectMutated { handler, .. } => self.running.get(handler).copied(),
            HandlersFact::NotificationSent { .. }
            | HandlersFact::HandlerAsked { .. }
            | HandlersFact::RemovalAsked { .. }
            | HandlersFact::HandlerAdded { .. }
            | HandlersFact::HandlerRemoved { .. }
            | HandlersFact::SyncingSet { .. }
            | HandlersFact::ResyncCheckSet { .. } => None,
        }
    }

    fn cause_of_work(&mut self, fact: &WorkFact) -> Option<Cause> {
        match fact {
            WorkFact::WorkAdded { key, .. } => match self.actor {
                Actor::Main => self.delayed.remove(key),
                Actor::Listener(handler) => self.running.get(&handler).copied(),
                _ => self.handling,
            },
            WorkFact::WorkTaken { key, .. } => self.added.remove(key),
            WorkFact::WorkDone { .. }
            | WorkFact::WorkDelayed { .. }
            | WorkFact::WorkForgotten { .. }
            | WorkFact::Reconciled { .. }
            | WorkFact::WorkShutDown { .. } => None,
        }
    }

    fn state(&mut self, cause: Cause, step: Step, fact: Fact) {
        let id = FactId(self.next);
        self.follow(id, &fact);
        self.next += 1;
        self.out.push(FactRecord {
            id,
            time: self.now,
            actor: self.actor,
            cause,
            step,
            fact,
        });
    }

    /// What follows from the fact for the facts to come.
    fn follow(&mut self, id: FactId, fact: &Fact) {
        let this = Cause::Fact(id);
        match fact {
            Fact::Server(fact) => self.follow_server(this, fact),
            Fact::Reflector(fact) => self.follow_reflector(this, fact),
            Fact::Queue(fact) => self.follow_queue(this, fact),
            Fact::Store(_) => {}
            Fact::Handlers(fact) => self.follow_handlers(this, fact),
            Fact::Work(fact) => self.follow_work(this, fact),
            Fact::Run(fact) => self.follow_run(this, fact),
        }
    }

    /// The actor goes on because of this.
    fn go_on(&mut self, this: Cause) {
        self.chains.insert(self.actor, this);
    }

    fn follow_server(&mut self, this: Cause, fact: &ServerFact) {
        match fact {
            ServerFact::ObjectCreated { .. }
            | ServerFact::ObjectUpdated { .. }
            | ServerFact::ObjectDeleted { .. } => self.go_on(this),
            ServerFact::EventSent { .. } => self.stream.push_back(this),
            ServerFact::WatchClosed { lost, .. } => {
                // Lost events left the stream; what ended it is on it, as the last thing.
                for _ in 0..*lost {
                    self.stream.pop_back();
                }
                self.closed = Some(this);
            }
            // The answer goes back; what a new watch has missed is sent because of it.
            ServerFact::ListAnswered { .. }
            | ServerFact::ListRefused { .. }
            | ServerFact::WatchAccepted { .. }
            | ServerFact::WatchRefused { .. }
            | ServerFact::WatchDenied { .. }
            | ServerFact::ConnectionRefused => {
                self.go_on(this);
                self.chains.insert(Actor::Reflector, this);
                // Or a program in its place.
                self.chains.insert(Actor::Program, this);
            }
            ServerFact::WriteRefused { .. }
            | ServerFact::RefusalsAsked { .. }
            | ServerFact::HistoryCompacted { .. }
            | ServerFact::ObjectsLearned { .. }
            | ServerFact::RequestDeferred { .. } => {}
        }
    }

    fn follow_reflector(&mut self, this: Cause, fact: &ReflectorFact) {
        match fact {
            ReflectorFact::ListReceived { .. }
            | ReflectorFact::BackoffStarted { .. }
            | ReflectorFact::EventReceived { .. }
            | ReflectorFact::InitialEventsEnded { .. }
            | ReflectorFact::PageReceived { .. }
            | ReflectorFact::ListFailed { .. }
            | ReflectorFact::WatchFailed { .. }
            | ReflectorFact::StreamFellBack { .. }
            | ReflectorFact::ResyncDue { .. } => self.go_on(this),
            // What was still on its way is not read any more.
            ReflectorFact::WatchEnded { .. } => {
                self.stream.clear();
                self.closed = None;
                self.go_on(this);
            }
            // A request is answered by the server, whatever else that does meanwhile.
            ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. } => {
                self.go_on(this);
                self.request = Some(this);
            }
            ReflectorFact::InitialEventKept { .. }
            | ReflectorFact::InitialEventsEndMissed { .. }
            | ReflectorFact::ObjectRejected { .. }
            | ReflectorFact::VersionUnavailable { .. }
            | ReflectorFact::WatchErrorReported { .. }
            | ReflectorFact::LastSyncMoved { .. }
            | ReflectorFact::ReflectorStopped { .. } => {}
        }
    }

    fn follow_queue(&mut self, this: Cause, fact: &QueueFact) {
        match fact {
            QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. } => {
                self.looked_up.clear();
                self.go_on(this);
            }
            QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. } => self.go_on(this),
            QueueFact::DeltaTaken { object, .. } => {
                self.looked_up.insert(object.key.clone(), this);
                self.go_on(this);
            }
            QueueFact::DeletionDetected { key } => self.detected = Some((key.clone(), this)),
            QueueFact::EntryAppended { .. } => self.entries.push_back(this),
            QueueFact::Synced => self.synced = Some(this),
            QueueFact::DeltaAppended { object, .. } => {
                self.queued.or_default(object.key.clone()).push_back(this);
            }
            // With the deltas their causes are back.
            QueueFact::Requeued { key, added: true } => {
                let taken = self.taken.iter().copied().collect();
                self.queued.insert(key.clone(), taken);
            }
            QueueFact::FifoItemSet { object, .. } => {
                self.queued.insert(object.key.clone(), [this].into());
            }
            // Its place stays, and Pop skips it because of this.
            QueueFact::FifoItemRemoved { key } => {
                self.queued.insert(key.clone(), [this].into());
            }
            QueueFact::DeltasMerged {
                key, kept_older, ..
            } => {
                if let Some(causes) = self.queued.get_mut(key) {
                    let newer = causes.pop_back();
                    if let (false, Some(newer)) = (*kept_older, newer) {
                        causes.pop_back();
                        causes.push_back(newer);
                    }
                }
            }
            QueueFact::LockTaken { .. }
            | QueueFact::LockAwaited { .. }
            | QueueFact::LockReleased { .. }
            | QueueFact::KeyFailed { .. }
            | QueueFact::TransformFailed { .. }
            | QueueFact::Transformed { .. }
            | QueueFact::Populated { .. }
            | QueueFact::DeleteChecked { .. }
            | QueueFact::DeleteIgnored { .. }
            | QueueFact::KeyEnqueued { .. }
            | QueueFact::ResyncSkipped { .. }
            | QueueFact::AlreadyPresent { .. }
            | QueueFact::FifoCleared
            | QueueFact::FifoKeySkipped { .. }
            | QueueFact::QueueEmpty
            | QueueFact::ProcessFailed { .. }
            | QueueFact::Requeued { .. }
            | QueueFact::ProcessWasSlow { .. }
            | QueueFact::QueueClosed
            | QueueFact::Processed { .. }
            | QueueFact::EntriesProcessed { .. } => {}
        }
    }

    fn follow_handlers(&mut self, this: Cause, fact: &HandlersFact) {
        match fact {
            HandlersFact::HandlerAdded { .. } => self.go_on(this),
            HandlersFact::ObjectMutated { key, .. } => {
                self.mutated.or_insert(key.clone(), this);
            }
            HandlersFact::NotificationSent { handler, .. } => {
                self.sent.insert(*handler, this);
            }
            HandlersFact::HandlerRemoved { handler } => {
                self.sent.remove(handler);
                self.buffers.remove(handler);
            }
            // A handler inside `process` does not change what the process loop is at.
            HandlersFact::NotificationTaken { handler, .. } => {
                self.running.insert(*handler, this);
                if self.actor == Actor::ProcessLoop {
                    self.handling = Some(this);
                }
            }
            HandlersFact::NotificationQueued { handler, .. } => {
                self.buffers.or_default(*handler).push_back(this);
            }
            HandlersFact::NotificationWithheld { .. }
            | HandlersFact::LinePrinted { .. }
            | HandlersFact::NotificationHandled { .. }
            | HandlersFact::HandlerPanicked { .. }
            | HandlersFact::HandlerAsked { .. }
            | HandlersFact::RemovalAsked { .. }
            | HandlersFact::HandlerSynced { .. }
            | HandlersFact::SyncingSet { .. }
            | HandlersFact::ResyncCheckSet { .. }
            | HandlersFact::MutationDetected { .. } => {}
        }
    }

    fn follow_work(&mut self, this: Cause, fact: &WorkFact) {
        match fact {
            WorkFact::WorkTaken { .. } | WorkFact::Reconciled { .. } => self.go_on(this),
            WorkFact::WorkAdded { key, place } if *place != WorkPlace::Duplicate => {
                self.added.insert(key.clone(), this);
            }
            WorkFact::WorkDelayed { key, .. } => {
                self.delayed.or_insert(key.clone(), this);
            }
            WorkFact::WorkAdded { .. }
            | WorkFact::WorkDone { .. }
            | WorkFact::WorkForgotten { .. }
            | WorkFact::WorkShutDown { .. } => {}
        }
    }

    fn follow_run(&mut self, this: Cause, fact: &RunFact) {
        match fact {
            RunFact::Called { .. } => self.go_on(this),
            RunFact::PopAsked { .. } => self.asked.push_back(this),
            RunFact::ModeSet { .. } => self.asked.clear(),
            RunFact::KnownObjectsSet { .. }
            | RunFact::BesideRequested { .. }
            | RunFact::BesideStored { .. } => {}
        }
    }
}

impl Trace for CauseTracker {
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact) {
        let fact = fact();
        let cause = self.cause_of(&fact);
        self.state(cause, step, fact);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_more_facts_than_fit_32_bits() {
        let last = u64::from(u32::MAX);
        let mut scribe = CauseTracker {
            next: last,
            ..CauseTracker::default()
        };
        let mut told = Vec::new();
        for _ in 0..3 {
            let caused = scribe.input(
                Cause::Start,
                Step::SettingChanged,
                Fact::Queue(QueueFact::Synced),
            );
            told.push(caused);
        }
        let ids: Vec<u64> = scribe
            .since(last)
            .iter()
            .map(|record| record.id.0)
            .collect();
        assert_eq!(ids, [last, last + 1, last + 2]);
        let causes: Vec<_> = ids.iter().map(|id| Cause::Fact(FactId(*id))).collect();
        assert_eq!(told, causes);
    }
}
