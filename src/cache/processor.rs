//! The shared processor: which listeners are told what.
//!
//! Upstream: `sharedProcessor` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).

use std::sync::Arc;
use std::time::Duration;

use super::fact::{Fact, HandlersFact};
use super::informer::{HandlerRegistration, determine_resync_period};
use super::listener::ListenerId;
use super::object::Object;
use super::process::Notification;
use super::queue::count;
use super::step::Step;
use super::trace::Trace;

/// When a listener is to be told everything again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResyncSchedule {
    /// The period asked for, after the first adjustments.
    pub requested_resync_period: Duration,
    /// The period that counts; zero: never.
    pub resync_period: Duration,
    /// The earliest moment of the next resync.
    pub next_resync: Duration,
}

impl ResyncSchedule {
    /// Whether it is time.
    #[must_use]
    pub fn should_resync(&self, now: Duration) -> bool {
        !self.resync_period.is_zero() && now >= self.next_resync
    }

    /// Puts the next resync a period away.
    pub fn determine_next_resync(&mut self, now: Duration) {
        self.next_resync = now.saturating_add(self.resync_period);
    }
}

/// The listeners of an informer: `L` is a [`ProcessorListener`](super::listener::ProcessorListener),
/// or whatever a runtime keeps one in.
///
/// Resyncs are told only to listeners that are syncing: all are at first, and from then on each
/// check decides.
#[derive(Clone, Debug)]
pub struct SharedProcessor<L> {
    entries: Vec<Entry<L>>,
    next_id: u32,
    started: bool,
}

/// One listener.
#[derive(Clone, Debug)]
struct Entry<L> {
    id: ListenerId,
    listener: L,
    syncing: bool,
    resync: ResyncSchedule,
}

impl<L> Default for SharedProcessor<L> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            next_id: 0,
            started: false,
        }
    }
}

impl<L> SharedProcessor<L> {
    /// Adds a listener, made for its number and name. `initial` is how much it is told first; whoever
    /// adds it tells it.
    pub fn add_listener(
        &mut self,
        registration: &HandlerRegistration,
        initial: usize,
        listener: impl FnOnce(ListenerId, &Arc<str>) -> L,
        now: Duration,
        trace: &mut impl Trace,
    ) -> ListenerId {
        let id = ListenerId(self.next_id);
        self.next_id += 1;
        if let Some(period) = registration.new_resync_check_period {
            self.resync_check_period_changed(period);
        }
        trace.fact(Step::HandlerAdd, || {
            Fact::Handlers(HandlersFact::HandlerAdded {
                handler: id.number(),
                name: Arc::clone(&registration.name),
                initial: count(initial),
            })
        });
        let mut resync = ResyncSchedule {
            requested_resync_period: registration.requested_resync_period,
            resync_period: registration.resync_period,
            next_resync: now,
        };
        resync.determine_next_resync(now);
        self.entries.push(Entry {
            id,
            listener: listener(id, &registration.name),
            syncing: true,
            resync,
        });
        id
    }

    /// Takes a listener out, to be closed. `None` when it is not there: removing twice is fine.
    pub fn remove_listener(&mut self, id: ListenerId, trace: &mut impl Trace) -> Option<L> {
        let place = self.entries.iter().position(|entry| entry.id == id)?;
        trace.fact(Step::HandlerRemove, || {
            Fact::Handlers(HandlersFact::HandlerRemoved {
                handler: id.number(),
            })
        });
        Some(self.entries.remove(place).listener)
    }

    /// The listeners that are told something: all of them, or if it counts as a resync
    /// ([`Notification::is_sync`]) those that are syncing.
    pub fn distribute<O: Object>(
        &self,
        notification: &Notification<O>,
        trace: &mut impl Trace,
    ) -> Distribution<'_, L> {
        let is_sync = notification.is_sync();
        if is_sync {
            self.state_withheld(notification, trace);
        }
        Distribution {
            entries: self.entries.iter(),
            is_sync,
        }
    }

    /// As [`distribute`](Self::distribute), where the listeners are here and not behind a lock.
    pub fn distribute_mut<O: Object>(
        &mut self,
        notification: &Notification<O>,
        trace: &mut impl Trace,
    ) -> DistributionMut<'_, L> {
        let is_sync = notification.is_sync();
        if is_sync {
            self.state_withheld(notification, trace);
        }
        DistributionMut {
            entries: self.entries.iter_mut(),
            is_sync,
        }
    }

    /// Asks every listener whether it is due; those that are count as syncing until the next check.
    /// Says whether any is: then the queue is to be resynced.
    pub fn should_resync(&mut self, now: Duration, trace: &mut impl Trace) -> bool {
        let mut needed = false;
        for entry in &mut self.entries {
            let due = entry.resync.should_resync(now);
            if entry.syncing != due {
                entry.syncing = due;
                trace.fact(Step::ResyncCheck, || {
                    Fact::Handlers(HandlersFact::SyncingSet {
                        handler: entry.id.number(),
                        syncing: due,
                    })
                });
            }
            if due {
                needed = true;
                entry.resync.determine_next_resync(now);
            }
        }
        needed
    }

    /// The informer checks with another period from now on: each listener's own follows.
    ///
    /// When their next resync is stays, as upstream leaves it.
    fn resync_check_period_changed(&mut self, resync_check_period: Duration) {
        for entry in &mut self.entries {
            let requested = entry.resync.requested_resync_period;
            entry.resync.resync_period = determine_resync_period(requested, resync_check_period);
        }
    }

    /// The informer runs: from now on listeners run as soon as they are added.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// Whether the informer runs.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.started
    }

    /// The informer has stopped: gives all listeners, to be closed.
    pub fn stop(&mut self) -> impl Iterator<Item = (ListenerId, L)> + use<L> {
        self.started = false;
        std::mem::take(&mut self.entries)
            .into_iter()
            .map(|entry| (entry.id, entry.listener))
    }

    /// All listeners.
    pub fn listeners(&self) -> impl ExactSizeIterator<Item = (ListenerId, &L)> {
        self.entries.iter().map(|entry| (entry.id, &entry.listener))
    }

    /// All listeners, to change.
    pub fn listeners_mut(&mut self) -> impl ExactSizeIterator<Item = (ListenerId, &mut L)> {
        self.entries
            .iter_mut()
            .map(|entry| (entry.id, &mut entry.listener))
    }

    /// One listener.
    #[must_use]
    pub fn get(&self, id: ListenerId) -> Option<&L> {
        self.entry(id).map(|entry| &entry.listener)
    }

    /// One listener, to change.
    pub fn get_mut(&mut self, id: ListenerId) -> Option<&mut L> {
        self.entries
            .iter_mut()
            .find(|entry| entry.id == id)
            .map(|entry| &mut entry.listener)
    }

    /// Whether a listener is told resyncs.
    #[must_use]
    pub fn is_syncing(&self, id: ListenerId) -> bool {
        self.entry(id).is_some_and(|entry| entry.syncing)
    }

    /// When a listener is to be told everything again.
    #[must_use]
    pub fn resync_schedule(&self, id: ListenerId) -> Option<ResyncSchedule> {
        self.entry(id).map(|entry| entry.resync)
    }

    fn entry(&self, id: ListenerId) -> Option<&Entry<L>> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn state_withheld<O: Object>(&self, notification: &Notification<O>, trace: &mut impl Trace) {
        for entry in self.entries.iter().filter(|entry| !entry.syncing) {
            trace.fact(Step::Withhold, || {
                Fact::Handlers(HandlersFact::NotificationWithheld {
                    handler: entry.id.number(),
                    key: notification.to_fact().object().key.clone(),
                })
            });
        }
    }
}

/// The listeners that are told something.
pub struct Distribution<'a, L> {
    entries: std::slice::Iter<'a, Entry<L>>,
    is_sync: bool,
}

impl<'a, L> Iterator for Distribution<'a, L> {
    type Item = (ListenerId, &'a L);

    fn next(&mut self) -> Option<Self::Item> {
        let is_sync = self.is_sync;
        let entry = self.entries.find(|entry| entry.is_told(is_sync))?;
        Some((entry.id, &entry.listener))
    }
}

/// The listeners that are told something, to tell them.
pub struct DistributionMut<'a, L> {
    entries: std::slice::IterMut<'a, Entry<L>>,
    is_sync: bool,
}

impl<'a, L> Iterator for DistributionMut<'a, L> {
    type Item = (ListenerId, &'a mut L);

    fn next(&mut self) -> Option<Self::Item> {
        let is_sync = self.is_sync;
        let entry = self.entries.find(|entry| entry.is_told(is_sync))?;
        Some((entry.id, &mut entry.listener))
    }
}

impl<L> Entry<L> {
    fn is_told(&self, is_sync: bool) -> bool {
        !is_sync || self.syncing
    }
}
