//! The shared processor: selects the listeners for each notification.
//!
//! Upstream: `sharedProcessor` in
//! [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).

use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;

use super::fact::{Fact, HandlersFact};
use super::informer::{HandlerRegistration, determine_resync_period};
use super::listener::ListenerId;
use super::object::Object;
use super::process::Notification;
use super::queue::count;
use super::step::Step;
use super::trace::Trace;

/// The resync schedule of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResyncSchedule {
    /// The requested period, after the initial adjustments.
    pub requested_resync_period: Duration,
    /// The effective period; zero: never.
    pub resync_period: Duration,
    /// The earliest time of the next resync.
    pub next_resync: Duration,
}

impl ResyncSchedule {
    /// Whether a resync is due.
    #[must_use]
    pub fn should_resync(&self, now: Duration) -> bool {
        !self.resync_period.is_zero() && now >= self.next_resync
    }

    /// Schedules the next resync one period from `now`.
    pub fn determine_next_resync(&mut self, now: Duration) {
        self.next_resync = now.saturating_add(self.resync_period);
    }
}

/// The listeners of an informer: `L` is a
/// [`ProcessorListener`](super::listener::ProcessorListener), or a runtime's wrapper of one.
///
/// Only syncing listeners receive resyncs. At first all listeners are syncing; after that, each
/// resync check decides.
#[derive(Clone, Debug)]
#[derive_where(Default)]
pub struct SharedProcessor<L> {
    entries: Vec<Entry<L>>,
    next_id: u32,
    started: bool,
}

/// A listener with its resync state.
#[derive(Clone, Debug)]
struct Entry<L> {
    id: ListenerId,
    listener: L,
    syncing: bool,
    resync: ResyncSchedule,
}

impl<L> SharedProcessor<L> {
    /// Adds a listener, which the closure creates from its number and name. `initial` is the number
    /// of notifications that the caller sends it first.
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

    /// Removes a listener and returns it, to be closed. `None` if it does not exist: removing twice
    /// is allowed.
    pub fn remove_listener(&mut self, id: ListenerId, trace: &mut impl Trace) -> Option<L> {
        let place = self.entries.iter().position(|entry| entry.id == id)?;
        trace.fact(Step::HandlerRemove, || {
            Fact::Handlers(HandlersFact::HandlerRemoved {
                handler: id.number(),
            })
        });
        Some(self.entries.remove(place).listener)
    }

    /// The listeners that receive a notification: all of them, or for a resync
    /// ([`Notification::is_sync`]) only the syncing ones.
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

    /// Like [`distribute`](Self::distribute), with mutable access to the listeners.
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

    /// Checks which listeners are due for a resync; those are syncing until the next check. Returns
    /// whether any is: then resync the queue.
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

    /// Adapts each listener's period to a new check period of the informer.
    ///
    /// Leaves the time of their next resync unchanged, like client-go.
    fn resync_check_period_changed(&mut self, resync_check_period: Duration) {
        for entry in &mut self.entries {
            let requested = entry.resync.requested_resync_period;
            entry.resync.resync_period = determine_resync_period(requested, resync_check_period);
        }
    }

    /// Marks the informer as running: from now on, listeners run as soon as they are added.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// Whether the informer runs.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.started
    }

    /// The informer has stopped: removes and returns all listeners, to be closed.
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

    /// All listeners, mutable.
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

    /// One listener, mutable.
    pub fn get_mut(&mut self, id: ListenerId) -> Option<&mut L> {
        self.entries
            .iter_mut()
            .find(|entry| entry.id == id)
            .map(|entry| &mut entry.listener)
    }

    /// Whether a listener receives resyncs.
    #[must_use]
    pub fn is_syncing(&self, id: ListenerId) -> bool {
        self.entry(id).is_some_and(|entry| entry.syncing)
    }

    /// The resync schedule of a listener.
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

/// Iterates over the listeners that receive a notification.
pub struct Distribution<'a, L> {
    entries: std::slice::Iter<'a, Entry<L>>,
    is_sync: bool,
}

impl<'a, L> Iterator for Distribution<'a, L> {
    type Item = (ListenerId, &'a L);

    fn next(&mut self) -> Option<Self::Item> {
        let is_sync = self.is_sync;
        let entry = self.entries.find(|entry| entry.receives(is_sync))?;
        Some((entry.id, &entry.listener))
    }
}

/// Like [`Distribution`], with mutable access.
pub struct DistributionMut<'a, L> {
    entries: std::slice::IterMut<'a, Entry<L>>,
    is_sync: bool,
}

impl<'a, L> Iterator for DistributionMut<'a, L> {
    type Item = (ListenerId, &'a mut L);

    fn next(&mut self) -> Option<Self::Item> {
        let is_sync = self.is_sync;
        let entry = self.entries.find(|entry| entry.receives(is_sync))?;
        Some((entry.id, &mut entry.listener))
    }
}

impl<L> Entry<L> {
    fn receives(&self, is_sync: bool) -> bool {
        !is_sync || self.syncing
    }
}
