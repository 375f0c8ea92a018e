//! Records facts, each with its time, its actor and its cause.

use std::collections::VecDeque;

use deltascope_cache::fact::{
    Actor, Cause, Entry, Fact, FactId, FactRecord, HandlersFact, Printer, QueueFact, ReflectorFact,
    RunFact, ServerFact, StoreFact, WorkFact, WorkPlace,
};
use deltascope_cache::key::Key;
use deltascope_cache::sorted::SortedMap;
use deltascope_cache::step::Step;
use deltascope_cache::trace::Trace;

use super::Time;

/// The trace of a world.
///
/// It follows each item on its way (an event on the stream, a delta in the queue, a notification in a
/// buffer), so that every fact knows its cause although no machine carries causes around.
#[derive(Clone, Debug)]
pub struct CauseTracker {
    now: Time,
    actor: Actor,
    next: u64,
    out: Vec<FactRecord>,
    /// The cause of each actor's next fact, unless the fact itself implies another.
    chains: SortedMap<Actor, Cause>,
    /// The reflector's request that has no answer yet.
    request: Option<Cause>,
    /// The `EventSent` of each event on the stream.
    stream: VecDeque<Cause>,
    /// The `WatchClosed` that the reflector has not noticed yet.
    closed: Option<Cause>,
    /// The `Synced` of the queue.
    synced: Option<Cause>,
    /// The `PopAsked` of each Pop that has not started yet.
    asked: VecDeque<Cause>,
    /// The fact that put each delta into the queue.
    queued: SortedMap<Key, VecDeque<Cause>>,
    /// The `DeletionDetected` whose Delta is not queued yet, with its key.
    detected: Option<(Key, Cause)>,
    /// Like `queued`, for the entries of a RealFIFO.
    entries: VecDeque<Cause>,
    /// Like `queued`, for the item being processed.
    taken: Vec<Cause>,
    /// The `DeltaTaken` of each key being processed.
    looked_up: SortedMap<Key, Cause>,
    /// The `NotificationSent` that each handler's `pop` has not received yet.
    sent: SortedMap<u8, Cause>,
    /// The `WorkAdded` of each key in the workqueue.
    added: SortedMap<Key, Cause>,
    /// The `WorkDelayed` of each key that waits for its time.
    delayed: SortedMap<Key, Cause>,
    /// The `NotificationQueued` of each notification in a buffer.
    buffers: SortedMap<u8, VecDeque<Cause>>,
    /// The `NotificationTaken` that each handler is working on …
    running: SortedMap<u8, Cause>,
    /// … and that of the last handler called inside `process`.
    handling: Option<Cause>,
    /// The first `ObjectMutated` of each key that the detector has not reported yet.
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

    /// Sets the cause of `actor`'s next facts.
    pub(super) fn because(&mut self, actor: Actor, cause: Cause) {
        self.chains.insert(actor, cause);
    }

    /// Lets `actor` continue the chain of the current actor.
    pub(super) fn hand_over(&mut self, actor: Actor) {
        let cause = self.chain();
        self.actor = actor;
        self.because(actor, cause);
    }

    /// The process loop is about to pop this key, or the first entries. The cause is the request to pop, or
    /// the fact that queued the first delta.
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

    /// The cause of the sync: the queue's `Synced`, if it has synced.
    pub(super) fn synced(&self) -> Cause {
        self.synced.unwrap_or(Cause::Start)
    }

    /// The current actor has read the stream to its end.
    pub(super) fn stream_ended(&mut self) {
        if let Some(cause) = self.closed.take() {
            self.because(self.actor, cause);
        }
    }

    /// States the fact of an input; the actor's chain of causes continues as before.
    pub(super) fn input(&mut self, cause: Cause, step: Step, fact: Fact) -> Cause {
        self.state(cause, step, fact);
        Cause::Fact(FactId(self.next - 1))
    }

    /// The number of facts stated so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.next
    }

    /// The facts since their number was `count`, without those already drained.
    pub(super) fn since(&self, count: u64) -> &[FactRecord] {
        let new = self.next.saturating_sub(count) as usize;
        &self.out[self.out.len().saturating_sub(new)..]
    }

    /// The mutation detector has compared all objects.
    pub(super) fn compared(&mut self) {
        self.mutated.clear();
    }

    /// Takes the facts stated since the last call.
    pub fn drain(&mut self) -> Vec<FactRecord> {
        std::mem::take(&mut self.out)
    }

    fn chain(&self) -> Cause {
        self.chains
            .get(&self.actor)
            .copied()
            .unwrap_or(Cause::Start)
    }

    /// A cause implied by the fact itself comes first; otherwise the actor continues its chain.
    fn cause_of(&mut self, fact: &Fact) -> Cause {
        let cause = match fact {
            Fact::Server(fact) => is_answer(fact).then(|| self.request.take()).flatten(),
            Fact::Reflector(fact) => matches!(fact, ReflectorFact::EventReceived { .. })
                .then(|| self.stream.pop_front())
                .flatten(),
            Fact::Queue(fact) => self.cause_in_queue(fact),
            Fact::Store(fact) => self.cause_in_store(fact),
            Fact::Handlers(fact) => self.cause_in_handlers(fact),
            Fact::Work(fact) => self.cause_of_work(fact),
            // A fact of the run is stated with the cause of its input.
            Fact::Run(_) => None,
        };
        cause.unwrap_or_else(|| self.chain())
    }

    fn cause_in_queue(&mut self, fact: &QueueFact) -> Option<Cause> {
        if let QueueFact::DeltaAppended { object, .. }
        | QueueFact::EntryAppended {
            entry: Entry::Delta(_, object),
            ..
        } = fact
        {
            self.detected(&object.key)
        } else if let QueueFact::KeyPopped { key, .. } = fact {
            self.asked.pop_front();
            self.taken = self.queued.remove(key).unwrap_or_default().into();
            self.taken.first().copied()
        } else if let QueueFact::FifoKeySkipped { key } = fact {
            self.queued.remove(key)?.pop_front()
        } else if let QueueFact::EntriesTaken { count, .. } = fact {
            self.asked.pop_front();
            let count = (*count as usize).min(self.entries.len());
            self.taken = self.entries.drain(..count).collect();
            self.taken.first().copied()
        } else if let QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. } = fact {
            self.taken.first().copied()
        } else if let QueueFact::DeltaTaken { position, .. } = fact {
            self.taken.get(*position as usize).copied()
        } else {
            None
        }
    }

    /// The `DeletionDetected` that the delta being queued belongs to, if any.
    fn detected(&mut self, of: &Key) -> Option<Cause> {
        let (key, cause) = self.detected.take()?;
        (key == *of).then_some(cause)
    }

    fn cause_in_store(&self, fact: &StoreFact) -> Option<Cause> {
        let of_a_write = matches!(
            fact,
            StoreFact::ItemStored { .. }
                | StoreFact::ItemRemoved { .. }
                | StoreFact::IndexEntryAdded { .. }
                | StoreFact::IndexEntryRemoved { .. }
        );
        fact.key()
            .filter(|_| of_a_write)
            .and_then(|key| self.looked_up.get(key))
            .copied()
    }

    fn cause_in_handlers(&mut self, fact: &HandlersFact) -> Option<Cause> {
        let looked_up = || self.looked_up.get(fact.key()?).copied();
        if let HandlersFact::NotificationWithheld { .. } = fact {
            return looked_up();
        }
        // In a batch all writes come first; each notification is caused by its own delta.
        if self.actor == Actor::ProcessLoop
            && let HandlersFact::NotificationSent { .. } | HandlersFact::NotificationTaken { .. } =
                fact
        {
            return looked_up();
        }
        if let HandlersFact::NotificationQueued { handler, .. } = fact {
            self.sent.remove(handler)
        } else if let HandlersFact::NotificationTaken { handler, .. } = fact {
            self.buffers.get_mut(handler)?.pop_front()
        } else if let HandlersFact::MutationDetected { key } = fact {
            self.mutated.get(key).copied()
        } else if let HandlersFact::HandlerSynced { handler } = fact {
            let in_listener = matches!(self.actor, Actor::Listener(_));
            let running = self.running.get(handler).copied();
            running.filter(|_| in_listener)
        } else if let HandlersFact::LinePrinted {
            by: Printer::Handler(handler),
            ..
        }
        | HandlersFact::NotificationHandled { handler }
        | HandlersFact::HandlerPanicked { handler, .. }
        | HandlersFact::ObjectMutated { handler, .. } = fact
        {
            self.running.get(handler).copied()
        } else {
            None
        }
    }

    fn cause_of_work(&mut self, fact: &WorkFact) -> Option<Cause> {
        if let WorkFact::WorkAdded { key, .. } = fact {
            match self.actor {
                Actor::Main => self.delayed.remove(key),
                Actor::Listener(handler) => self.running.get(&handler).copied(),
                _ => self.handling,
            }
        } else if let WorkFact::WorkTaken { key, .. } = fact {
            self.added.remove(key)
        } else {
            None
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

    /// Records the causes of later facts that this fact determines.
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

    /// The actor continues because of this fact.
    fn go_on(&mut self, this: Cause) {
        self.chains.insert(self.actor, this);
    }

    fn follow_server(&mut self, this: Cause, fact: &ServerFact) {
        if let ServerFact::ObjectCreated { .. }
        | ServerFact::ObjectUpdated { .. }
        | ServerFact::ObjectDeleted { .. } = fact
        {
            self.go_on(this);
        } else if let ServerFact::EventSent { .. } = fact {
            self.stream.push_back(this);
        } else if let ServerFact::WatchClosed { lost, .. } = fact {
            // A lost event is not on the stream anymore; the end of the stream comes after all other events.
            for _ in 0..*lost {
                self.stream.pop_back();
            }
            self.closed = Some(this);
        } else if is_answer(fact) {
            // The reflector receives the answer. The events that a new watch has missed are also caused by
            // it.
            self.go_on(this);
            self.chains.insert(Actor::Reflector, this);
            // A program may take the reflector's place.
            self.chains.insert(Actor::Program, this);
        }
    }

    fn follow_reflector(&mut self, this: Cause, fact: &ReflectorFact) {
        if let ReflectorFact::ListRequested { .. } | ReflectorFact::WatchRequested { .. } = fact {
            // The server answers the request, whatever it does in between.
            self.request = Some(this);
        } else if let ReflectorFact::WatchEnded { .. } = fact {
            // Nobody reads the events that were still in flight.
            self.stream.clear();
            self.closed = None;
        } else if !matches!(
            fact,
            ReflectorFact::ListReceived { .. }
                | ReflectorFact::BackoffStarted { .. }
                | ReflectorFact::EventReceived { .. }
                | ReflectorFact::InitialEventsEnded { .. }
                | ReflectorFact::PageReceived { .. }
                | ReflectorFact::ListFailed { .. }
                | ReflectorFact::WatchFailed { .. }
                | ReflectorFact::StreamFellBack { .. }
                | ReflectorFact::ResyncDue { .. }
        ) {
            return;
        }
        self.go_on(this);
    }

    fn follow_queue(&mut self, this: Cause, fact: &QueueFact) {
        if let QueueFact::KeyPopped { .. } | QueueFact::EntriesTaken { .. } = fact {
            self.looked_up.clear();
            self.go_on(this);
        } else if let QueueFact::ListOpened { .. } | QueueFact::ResyncOpened { .. } = fact {
            self.go_on(this);
        } else if let QueueFact::DeltaTaken { object, .. } = fact {
            self.looked_up.insert(object.key.clone(), this);
            self.go_on(this);
        } else if let QueueFact::DeletionDetected { key } = fact {
            self.detected = Some((key.clone(), this));
        } else if let QueueFact::EntryAppended { .. } = fact {
            self.entries.push_back(this);
        } else if let QueueFact::Synced = fact {
            self.synced = Some(this);
        } else if let QueueFact::DeltaAppended { object, .. } = fact {
            self.queued.or_default(object.key.clone()).push_back(this);
        } else if let QueueFact::Requeued { key, added: true } = fact {
            // The deltas are back in the queue, and their causes with them.
            let taken = self.taken.iter().copied().collect();
            self.queued.insert(key.clone(), taken);
        } else if let QueueFact::FifoItemSet { object, .. } = fact {
            self.queued.insert(object.key.clone(), [this].into());
        } else if let QueueFact::FifoItemRemoved { key } = fact {
            // The key stays in the queue, and Pop skips it because of this fact.
            self.queued.insert(key.clone(), [this].into());
        } else if let QueueFact::DeltasMerged {
            key, kept_older, ..
        } = fact
            && let Some(causes) = self.queued.get_mut(key)
        {
            let newer = causes.pop_back();
            if let (false, Some(newer)) = (*kept_older, newer) {
                causes.pop_back();
                causes.push_back(newer);
            }
        }
    }

    fn follow_handlers(&mut self, this: Cause, fact: &HandlersFact) {
        if let HandlersFact::HandlerAdded { .. } = fact {
            self.go_on(this);
        } else if let HandlersFact::ObjectMutated { key, .. } = fact {
            self.mutated.or_insert(key.clone(), this);
        } else if let HandlersFact::NotificationSent { handler, .. } = fact {
            self.sent.insert(*handler, this);
        } else if let HandlersFact::NotificationQueued { handler, .. } = fact {
            self.buffers.or_default(*handler).push_back(this);
        } else if let HandlersFact::HandlerRemoved { handler } = fact {
            self.sent.remove(handler);
            self.buffers.remove(handler);
        } else if let HandlersFact::NotificationTaken { handler, .. } = fact {
            // A handler inside `process` does not change the process loop's chain.
            self.running.insert(*handler, this);
            if self.actor == Actor::ProcessLoop {
                self.handling = Some(this);
            }
        }
    }

    fn follow_work(&mut self, this: Cause, fact: &WorkFact) {
        if let WorkFact::WorkTaken { .. } | WorkFact::Reconciled { .. } = fact {
            self.go_on(this);
        } else if let WorkFact::WorkAdded { key, place } = fact {
            if *place != WorkPlace::Duplicate {
                self.added.insert(key.clone(), this);
            }
        } else if let WorkFact::WorkDelayed { key, .. } = fact {
            self.delayed.or_insert(key.clone(), this);
        }
    }

    fn follow_run(&mut self, this: Cause, fact: &RunFact) {
        if let RunFact::Called { .. } = fact {
            self.go_on(this);
        } else if let RunFact::PopAsked { .. } = fact {
            self.asked.push_back(this);
        } else if let RunFact::ModeSet { .. } = fact {
            self.asked.clear();
        }
    }
}

/// Whether the fact is the server's answer to a request.
fn is_answer(fact: &ServerFact) -> bool {
    matches!(
        fact,
        ServerFact::ListAnswered { .. }
            | ServerFact::ListRefused { .. }
            | ServerFact::WatchAccepted { .. }
            | ServerFact::WatchRefused { .. }
            | ServerFact::WatchDenied { .. }
            | ServerFact::ConnectionRefused
    )
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
        let mut tracker = CauseTracker {
            next: last,
            ..CauseTracker::default()
        };
        let mut inputs = Vec::new();
        for _ in 0..3 {
            let caused = tracker.input(
                Cause::Start,
                Step::SettingChanged,
                Fact::Queue(QueueFact::Synced),
            );
            inputs.push(caused);
        }
        let ids: Vec<u64> = tracker
            .since(last)
            .iter()
            .map(|record| record.id.0)
            .collect();
        assert_eq!(ids, [last, last + 1, last + 2]);
        let causes: Vec<_> = ids.iter().map(|id| Cause::Fact(FactId(*id))).collect();
        assert_eq!(inputs, causes);
    }
}
