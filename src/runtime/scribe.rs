//! Writes facts down, each with its time, its actor and its cause.

use std::collections::{BTreeMap, VecDeque};

use crate::cache::fact::{Actor, Cause, Fact, FactId, FactRecord};
use crate::cache::key::Key;
use crate::cache::step::Step;
use crate::cache::trace::Trace;

use super::Time;

/// The trace of a world.
///
/// It follows each thing on its way (an event on the stream, a delta in the queue, a notification
/// in a buffer), so that every fact knows the one that caused it without any machine having to
/// carry causes around.
#[derive(Clone, Debug)]
pub struct Scribe {
    now: Time,
    actor: Actor,
    next: u32,
    out: Vec<FactRecord>,
    /// What an actor does next is caused by this, unless the fact itself says otherwise.
    chains: BTreeMap<Actor, Cause>,
    /// What the reflector asked for and has no answer to.
    request: Option<Cause>,
    /// The `EventSent` of each event on the stream.
    stream: VecDeque<Cause>,
    /// The `WatchClosed` that the reflector has not noticed yet.
    closed: Option<Cause>,
    /// The `PopAsked` of each Pop that has not come yet.
    asked: VecDeque<Cause>,
    /// The fact that put each delta into the queue.
    queued: BTreeMap<Key, VecDeque<Cause>>,
    /// The same for what is being processed.
    taken: Vec<Cause>,
    /// The `NotificationQueued` of each notification in a buffer.
    buffers: BTreeMap<u8, VecDeque<Cause>>,
    /// The `NotificationTaken` that each handler works on.
    running: BTreeMap<u8, Cause>,
}

impl Default for Scribe {
    fn default() -> Self {
        Self {
            now: 0,
            actor: Actor::Server,
            next: 0,
            out: Vec::new(),
            chains: BTreeMap::new(),
            request: None,
            stream: VecDeque::new(),
            closed: None,
            asked: VecDeque::new(),
            queued: BTreeMap::new(),
            taken: Vec::new(),
            buffers: BTreeMap::new(),
            running: BTreeMap::new(),
        }
    }
}

impl Scribe {
    /// From now on `actor` acts, at `now`.
    pub(super) fn turn(&mut self, now: Time, actor: Actor) {
        self.now = now;
        self.actor = actor;
    }

    /// What `actor` does next has this cause.
    pub(super) fn because(&mut self, actor: Actor, cause: Cause) {
        self.chains.insert(actor, cause);
    }

    /// The process loop is about to pop this key: because it is asked to, or because of what was
    /// queued first.
    pub(super) fn about_to_pop(&mut self, key: &Key, held: bool) {
        let queued = self.queued.get(key).and_then(VecDeque::front);
        let asked = self.asked.front().filter(|_| held);
        if let Some(cause) = asked.or(queued).copied() {
            self.because(Actor::ProcessLoop, cause);
        }
    }

    /// The reflector has come to the end of the stream.
    pub(super) fn stream_ended(&mut self) {
        if let Some(cause) = self.closed.take() {
            self.because(Actor::Reflector, cause);
        }
    }

    /// States what an input does by itself; what the actor is at goes on as before.
    pub(super) fn input(&mut self, cause: Cause, step: Step, fact: Fact) {
        self.state(cause, step, fact);
    }

    /// How many facts there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.next
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
        let chain = self.chain();
        match fact {
            Fact::ListAnswered { .. }
            | Fact::ListRefused { .. }
            | Fact::WatchAccepted { .. }
            | Fact::WatchRefused { .. }
            | Fact::ConnectionRefused => self.request.take().unwrap_or(chain),
            Fact::EventReceived { .. } => self.stream.pop_front().unwrap_or(chain),
            Fact::KeyPopped { key, .. } => {
                self.asked.pop_front();
                self.taken = self.queued.remove(key).unwrap_or_default().into();
                self.taken.first().copied().unwrap_or(chain)
            }
            Fact::DeltaTaken { position, .. } => {
                self.taken.get(*position as usize).copied().unwrap_or(chain)
            }
            Fact::NotificationTaken { handler, .. } => self
                .buffers
                .get_mut(handler)
                .and_then(VecDeque::pop_front)
                .unwrap_or(chain),
            Fact::LinePrinted { handler, .. } | Fact::NotificationHandled { handler } => {
                self.running.get(handler).copied().unwrap_or(chain)
            }
            _ => chain,
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
            Fact::EventSent { .. } => self.stream.push_back(this),
            Fact::WatchClosed { lost, .. } => {
                // Lost events left the stream; what ended it is on it, as the last thing.
                for _ in 0..*lost {
                    self.stream.pop_back();
                }
                self.closed = Some(this);
            }
            Fact::ObjectCreated { .. }
            | Fact::ObjectUpdated { .. }
            | Fact::ObjectDeleted { .. }
            | Fact::ListReceived { .. }
            | Fact::WatchEnded { .. }
            | Fact::BackoffStarted { .. }
            | Fact::EventReceived { .. }
            | Fact::Called { .. }
            | Fact::KeyPopped { .. }
            | Fact::DeltaTaken { .. } => {
                self.chains.insert(self.actor, this);
            }
            // A request is answered by the server, whatever else that does meanwhile.
            Fact::ListRequested { .. } | Fact::WatchRequested { .. } => {
                self.chains.insert(self.actor, this);
                self.request = Some(this);
            }
            // The answer goes back; what a new watch has missed is sent because of it.
            Fact::ListAnswered { .. }
            | Fact::ListRefused { .. }
            | Fact::WatchAccepted { .. }
            | Fact::WatchRefused { .. }
            | Fact::ConnectionRefused => {
                self.chains.insert(self.actor, this);
                self.chains.insert(Actor::Reflector, this);
            }
            // A handler inside `process` does not change what the process loop is at.
            Fact::NotificationTaken { handler, .. } => {
                self.running.insert(*handler, this);
            }
            Fact::PopAsked { .. } => self.asked.push_back(this),
            Fact::ModeSet { .. } => self.asked.clear(),
            Fact::DeltaAppended { object, .. } => self
                .queued
                .entry(object.key.clone())
                .or_default()
                .push_back(this),
            Fact::DeltasMerged {
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
            Fact::NotificationQueued { handler, .. } => {
                self.buffers.entry(*handler).or_default().push_back(this);
            }
            _ => {}
        }
    }
}

impl Trace for Scribe {
    fn fact(&mut self, step: Step, fact: impl FnOnce() -> Fact) {
        let fact = fact();
        // Before 1.36 client-go keeps no version in the store, so nothing happens there.
        if matches!(fact, Fact::StoreVersionMoved { .. }) {
            return;
        }
        let cause = self.cause_of(&fact);
        self.state(cause, step, fact);
    }
}
