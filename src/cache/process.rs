//! processDeltas: writes popped items into the store and notifies the handlers, as a state machine
//! with visible steps.
//!
//! Upstream: `processDeltas`, `processDeltasInBatch` and `processReplacedAllInfo` in
//! [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use derive_where::derive_where;

use super::delta::{Delta, DeltaType};
use super::delta_fifo::PoppedDeltas;
use super::error::{Error, TransactionError};
use super::event_handler::ResourceEventHandler;
use super::fact::{Fact, NotificationRef, ObjectRef, QueueFact};
use super::fifo::PoppedObject;
use super::key::Key;
use super::key_func::{deletion_handling_meta_namespace_key_func, key_error};
use super::map::Set;
use super::object::{DeletedFinalStateUnknown, Item, Object};
use super::queue::{ProcessOutcome, count};
use super::real_fifo::PoppedBatch;
use super::real_fifo::{QueuedDelta, ReplacedAllInfo};
use super::step::Step;
use super::store::{Indexer, Transaction, TransactionType};
use super::trace::Trace;

/// The result of one Pop of an informer's queue.
#[derive(Debug)]
#[derive_where(Clone)]
pub enum PoppedItems<O> {
    /// All deltas of one key.
    Deltas(PoppedDeltas<O>),
    /// One entry, or several entries with different keys.
    Entries(PoppedBatch<O>),
    /// The newest object of one key.
    Object(PoppedObject<O>),
}

impl<O> PoppedItems<O> {
    /// Number of deltas, entries or objects.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Deltas(taken) => taken.deltas.len(),
            Self::Entries(taken) => taken.entries.len(),
            Self::Object(_) => 1,
        }
    }

    /// Always false: there is at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is processed as a batch: all writes before all notifications.
    #[must_use]
    pub fn is_batch(&self) -> bool {
        match self {
            Self::Deltas(_) | Self::Object(_) => false,
            Self::Entries(taken) => taken.batch,
        }
    }

    /// Whether it belongs to the initial list.
    #[must_use]
    pub fn is_in_initial_list(&self) -> bool {
        match self {
            Self::Deltas(taken) => taken.is_in_initial_list,
            Self::Entries(taken) => taken.is_in_initial_list,
            Self::Object(taken) => taken.is_in_initial_list,
        }
    }

    /// Number of keys or entries left in the queue.
    #[must_use]
    pub fn depth(&self) -> usize {
        match self {
            Self::Deltas(taken) => taken.depth,
            Self::Entries(taken) => taken.depth,
            Self::Object(taken) => taken.depth,
        }
    }
}

/// A notification to the handlers.
///
/// Upstream: `addNotification`, `updateNotification` and `deleteNotification` in
/// [`shared_informer.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/shared_informer.go).
#[derive(Debug)]
#[derive_where(Clone)]
pub enum Notification<O> {
    /// `OnAdd`
    Add {
        /// The object.
        object: Item<O>,
        /// Whether it is in the initial list (or is sent to a late handler).
        is_in_initial_list: bool,
    },
    /// `OnUpdate`
    Update {
        /// The stored object before the update. `None` only if the process function goes by delta
        /// types and nothing was stored.
        old: Option<Item<O>>,
        /// The new object.
        new: Item<O>,
    },
    /// `OnDelete`
    Delete {
        /// The object, or its tombstone.
        object: Item<O>,
    },
}

impl<O> Notification<O> {
    /// For an object that was added or changed: an update if the store holds its key, else an add.
    fn of_came(old: Option<&Item<O>>, object: &Item<O>, is_in_initial_list: bool) -> Self {
        let object = object.clone();
        match old {
            Some(old) => Self::Update {
                old: Some(old.clone()),
                new: object,
            },
            None => Self::Add {
                object,
                is_in_initial_list,
            },
        }
    }
}

impl<O> Notification<O> {
    /// The object that the notification is about; for an update, the new one.
    #[must_use]
    pub fn object(&self) -> &Item<O> {
        match self {
            Self::Add { object, .. } | Self::Delete { object } => object,
            Self::Update { new, .. } => new,
        }
    }

    /// Whether it is an add of the initial list. A handler syncs only after it has handled all of
    /// these.
    #[must_use]
    pub fn is_in_initial_list(&self) -> bool {
        matches!(
            self,
            Self::Add {
                is_in_initial_list: true,
                ..
            }
        )
    }

    /// Calls the matching method of the handler.
    pub fn deliver(&self, handler: &(impl ResourceEventHandler<O> + ?Sized)) {
        match self {
            Self::Add {
                object,
                is_in_initial_list,
            } => handler.on_add(object, *is_in_initial_list),
            Self::Update { old, new } => handler.on_update(old.as_ref().unwrap_or(new), new),
            Self::Delete { object } => handler.on_delete(object),
        }
    }
}

impl<O: Object> Notification<O> {
    /// Whether it is an update with an unchanged resource version. Such an update counts as a
    /// resync: only syncing listeners receive it.
    #[must_use]
    pub fn is_sync(&self) -> bool {
        let Self::Update {
            old: Some(old),
            new,
        } = self
        else {
            return false;
        };
        match (old.plain_object(), new.plain_object()) {
            (Some(old), Some(new)) => old.resource_version() == new.resource_version(),
            _ => false,
        }
    }

    /// The notification as recorded in facts.
    #[must_use]
    pub fn to_fact(&self) -> NotificationRef {
        match self {
            Self::Add {
                object,
                is_in_initial_list,
            } => NotificationRef::Add {
                object: named(object),
                is_in_initial_list: *is_in_initial_list,
            },
            Self::Update { old, new } => NotificationRef::Update {
                old: old.as_ref().map(named),
                new: named(new),
            },
            Self::Delete { object } => NotificationRef::Delete {
                object: named(object),
            },
        }
    }
}

/// The result of one step of a [`Process`].
#[derive(Clone, Debug)]
pub enum Progress<O> {
    /// The next entry was taken and its key looked up.
    Took,
    /// The store was written to.
    Wrote,
    /// Notify the handlers of this now; take the next step when they have received it.
    Notify(Notification<O>),
    /// Everything is done. Further steps return the same.
    Done(ProcessOutcome),
}

/// The next stage of a [`Process`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcessStage {
    /// Take the next entry.
    Take,
    /// Write what was taken.
    Write,
    /// Notify the handlers of what was written.
    Notify,
    /// Nothing.
    Done,
}

/// The progress of a [`Process`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessPosition {
    /// The next stage.
    pub stage: ProcessStage,
    /// Number of entries taken.
    pub taken: usize,
    /// Of the last entry or batch: number of notifications already returned …
    pub sent: usize,
    /// … and number of notifications still to come.
    pub pending: usize,
}

/// The process function's work on one popped item.
///
/// It takes, writes and notifies entry by entry. In a batch it takes all entries, then writes them
/// at once, then notifies. A whole list is one entry with many notifications.
#[derive_where(Clone)]
pub struct Process<O> {
    work: PoppedItems<O>,
    stage: ProcessStage,
    by_type: bool,
    /// Number of entries taken …
    taken: usize,
    /// … and of those, number of entries written.
    written: usize,
    notifications: Notifications<O>,
    sent: usize,
    fault: Option<Fault>,
    failed: Option<Arc<str>>,
}

/// An injected fault: the process function cannot write the objects of one name.
// Hidden, as what client-go does not have: only a simulation wants a process function to fail at will.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The name of the objects …
    pub name: Arc<str>,
    /// … and the error.
    pub error: Arc<str>,
}

impl Fault {
    fn at<O: Object>(&self, item: &Item<O>) -> Option<Error> {
        let name = item.as_object().map(|object| object.name());
        (name == Some(&*self.name)).then(|| Error::Process(Arc::clone(&self.error)))
    }
}

/// Pending notifications. Usually there is only one, which needs no allocation.
#[derive_where(Clone)]
struct Notifications<O> {
    first: Option<Notification<O>>,
    rest: VecDeque<Notification<O>>,
}

/// One entry to process.
enum Entry<'a, O> {
    Delta(&'a Key, &'a Delta<O>),
    /// A FIFO's object. Only the store knows whether it is new or changed.
    Object(&'a Key, &'a Item<O>),
    ReplacedAll(Arc<ReplacedAllInfo<O>>),
    SyncAll,
    Bookmark(Arc<str>),
}

impl<O: Object> Process<O> {
    /// The process function of informers: an add or an update, depending on what the store holds.
    #[must_use]
    pub fn new(work: PoppedItems<O>) -> Self {
        Self {
            work,
            stage: ProcessStage::Take,
            by_type: false,
            taken: 0,
            written: 0,
            notifications: Notifications {
                first: None,
                rest: VecDeque::new(),
            },
            sent: 0,
            fault: None,
            failed: None,
        }
    }

    /// Injects a fault: the process function fails as if the key function had failed for the
    /// object.
    #[doc(hidden)]
    #[must_use]
    pub fn with_fault(self, fault: Option<Fault>) -> Self {
        Self { fault, ..self }
    }

    /// A process function that goes by delta types: `Updated` becomes an update.
    #[must_use]
    pub fn by_type(work: PoppedItems<O>) -> Self {
        Self {
            by_type: true,
            ..Self::new(work)
        }
    }

    /// Takes the next step.
    pub fn step(&mut self, store: &mut Indexer<O>, trace: &mut impl Trace) -> Progress<O> {
        self.step_with(Some(store), trace)
    }

    /// Takes the next step, without a store.
    pub fn step_without_store(&mut self, trace: &mut impl Trace) -> Progress<O> {
        self.step_with(None, trace)
    }

    /// Steps to the next notification, or to the end.
    pub fn next_notification(
        &mut self,
        store: &mut Indexer<O>,
        trace: &mut impl Trace,
    ) -> Result<Notification<O>, ProcessOutcome> {
        loop {
            match self.step(store, trace) {
                Progress::Took | Progress::Wrote => {}
                Progress::Notify(notification) => return Ok(notification),
                Progress::Done(outcome) => return Err(outcome),
            }
        }
    }

    /// Moves all notifications that are ready to the end of `buffer`, for callers that send many at
    /// once. Same as that many steps.
    pub fn take_pending(&mut self, buffer: &mut Vec<Notification<O>>) {
        if self.stage != ProcessStage::Notify {
            return;
        }
        self.sent += self.notifications.len();
        let Notifications { first, rest } = &mut self.notifications;
        if buffer.is_empty() && !rest.is_empty() {
            // Move only the first notification.
            first
                .take()
                .into_iter()
                .for_each(|first| rest.push_front(first));
            *buffer = mem::take(rest).into();
        } else {
            buffer.extend(first.take().into_iter().chain(rest.drain(..)));
        }
    }

    /// The current progress.
    #[must_use]
    pub fn position(&self) -> ProcessPosition {
        ProcessPosition {
            stage: self.stage,
            taken: self.taken,
            sent: self.sent,
            pending: self.notifications.len(),
        }
    }

    /// The popped item that it processes.
    #[must_use]
    pub fn work(&self) -> &PoppedItems<O> {
        &self.work
    }

    /// Returns the popped item, for the second half of Pop.
    #[must_use]
    pub fn into_taken(self) -> PoppedItems<O> {
        self.work
    }

    // ---- helpers

    fn step_with(&mut self, store: Option<&mut Indexer<O>>, trace: &mut impl Trace) -> Progress<O> {
        if self.stage == ProcessStage::Notify {
            if let Some(notification) = self.notifications.pop() {
                self.sent += 1;
                return Progress::Notify(notification);
            }
            self.stage = if self.failed.is_none() && self.taken < self.work.len() {
                ProcessStage::Take
            } else {
                ProcessStage::Done
            };
        }
        match self.stage {
            ProcessStage::Take if self.taken < self.work.len() => {
                self.take(store.map(|store| &*store), trace);
                Progress::Took
            }
            ProcessStage::Write => {
                self.stage = ProcessStage::Notify;
                if let Some(error) = self.fault_alone() {
                    self.fail(&error);
                } else if let Some(store) = store {
                    self.write(store, trace);
                }
                self.written = self.taken;
                Progress::Wrote
            }
            _ => {
                self.stage = ProcessStage::Done;
                Progress::Done(match &self.failed {
                    None => ProcessOutcome::Done,
                    Some(error) => ProcessOutcome::Failed(Arc::clone(error)),
                })
            }
        }
    }

    fn fail(&mut self, error: &Error) {
        self.notifications.clear();
        self.failed = Some(error.to_string().into());
        self.stage = ProcessStage::Done;
    }

    /// The injected error for the next entry to write, unless it is in a batch.
    fn fault_alone(&self) -> Option<Error> {
        let fault = self.fault.as_ref().filter(|_| !self.work.is_batch())?;
        match self.entry(self.written)? {
            Entry::Delta(_, delta) => fault.at(&delta.object),
            Entry::Object(_, object) => fault.at(object),
            // `open_list` checks lists.
            Entry::ReplacedAll(_) | Entry::SyncAll | Entry::Bookmark(_) => None,
        }
    }

    fn entry(&self, position: usize) -> Option<Entry<'_, O>> {
        match &self.work {
            PoppedItems::Deltas(taken) => {
                let delta = taken.deltas.get(position)?;
                Some(Entry::Delta(&taken.key, delta))
            }
            PoppedItems::Entries(taken) => Some(match taken.entries.get(position)? {
                QueuedDelta::Delta { key, delta } => Entry::Delta(key, delta),
                QueuedDelta::ReplacedAll(info) => Entry::ReplacedAll(Arc::clone(info)),
                QueuedDelta::SyncAll => Entry::SyncAll,
                QueuedDelta::Bookmark(rv) => Entry::Bookmark(Arc::clone(rv)),
            }),
            PoppedItems::Object(taken) => Some(Entry::Object(&taken.key, &taken.item)),
        }
    }

    /// Takes the next entry and prepares its notifications.
    fn take(&mut self, store: Option<&Indexer<O>>, trace: &mut impl Trace) {
        if self.written == self.taken {
            self.sent = 0;
        }
        if self.taken == 0
            && let (PoppedItems::Entries(taken), Some(store)) = (&self.work, store)
            && taken.entries.len() > 1
        {
            store.warm(taken.entries.iter().filter_map(QueuedDelta::key));
        }
        let Some(entry) = self.entry(self.taken) else {
            return;
        };
        let is_in_initial_list = self.work.is_in_initial_list();
        match entry {
            Entry::Delta(key, delta) => {
                let old = store.and_then(|store| store.get_by_key(key));
                let step = if self.work.is_batch() {
                    Step::ProcessBatch
                } else {
                    Step::ProcessDelta
                };
                trace.fact(step, || {
                    Fact::Queue(QueueFact::DeltaTaken {
                        position: count(self.taken),
                        delta_type: delta.delta_type,
                        object: delta.object.to_ref(key),
                        exists: store.filter(|_| !self.by_type).map(|_| old.is_some()),
                    })
                });
                let object = delta.object.clone();
                let update = if self.by_type {
                    delta.delta_type == DeltaType::Updated
                } else {
                    old.is_some()
                };
                let notification = match delta.delta_type {
                    DeltaType::Deleted => Notification::Delete { object },
                    _ if update => Notification::Update {
                        old: old.cloned(),
                        new: object,
                    },
                    _ => Notification::Add {
                        object,
                        is_in_initial_list,
                    },
                };
                if self.work.is_batch() && self.taken == 0 {
                    // Leave room for the first one, too: see `take_pending`.
                    self.notifications.rest.reserve(self.work.len());
                }
                self.notifications.push(notification);
            }
            // Pop has already stated it.
            Entry::Object(key, object) => {
                let old = store.and_then(|store| store.get_by_key(key));
                let notification = Notification::of_came(old, object, is_in_initial_list);
                self.notifications.push(notification);
            }
            Entry::ReplacedAll(info) => {
                if let Some(store) = store
                    && let Err(error) = self.open_list(&info, is_in_initial_list, store, trace)
                {
                    self.taken += 1;
                    return self.fail(&error);
                }
            }
            Entry::SyncAll => {
                let stored = store.into_iter().flat_map(Indexer::list);
                self.notifications
                    .rest
                    .extend(stored.map(|item| Notification::Update {
                        old: Some(item.clone()),
                        new: item.clone(),
                    }));
                trace.fact(Step::ProcessSyncAll, || {
                    Fact::Queue(QueueFact::ResyncOpened {
                        count: count(self.notifications.len()),
                    })
                });
            }
            Entry::Bookmark(_) => {}
        }
        self.taken += 1;
        let all = !self.work.is_batch() || self.taken == self.work.len();
        if all {
            self.stage = ProcessStage::Write;
        }
        if let Some(Entry::SyncAll) = self.entry(self.taken - 1) {
            // Nothing to write.
            self.written = self.taken;
            self.stage = ProcessStage::Notify;
        }
    }

    /// Prepares the notifications for a whole list: deletions first, then the listed objects in
    /// list order.
    fn open_list(
        &mut self,
        info: &ReplacedAllInfo<O>,
        is_in_initial_list: bool,
        store: &Indexer<O>,
        trace: &mut impl Trace,
    ) -> Result<(), Error> {
        let key_func = store.key_func();
        let keys = info
            .objects
            .iter()
            .map(
                |item| match self.fault.as_ref().and_then(|fault| fault.at(item)) {
                    None => key_func(item).map_err(|error| key_error(item, error)),
                    Some(error) => Err(error),
                },
            )
            .collect::<Result<Vec<Key>, _>>()?;
        let listed: Set<&Key> = keys.iter().collect();
        for (key, object) in store.iter() {
            if listed.contains(key) {
                continue;
            }
            let tombstone = DeletedFinalStateUnknown {
                key: key.clone(),
                object: Some(object.clone()),
            };
            self.notifications.push(Notification::Delete {
                object: Item::Tombstone(Arc::new(tombstone)),
            });
        }
        trace.fact(Step::ProcessReplacedAll, || {
            Fact::Queue(QueueFact::ListOpened {
                rv: Arc::clone(&info.resource_version),
                count: count(keys.len()),
                removed: count(self.notifications.len()),
            })
        });
        // Look up each object in the store as it was before the list: a key that is listed twice is
        // added twice.
        self.notifications.rest.reserve(keys.len() + 1);
        for (key, object) in keys.iter().zip(&info.objects) {
            let old = store.get_by_key(key);
            let notification = Notification::of_came(old, object, is_in_initial_list);
            self.notifications.push(notification);
        }
        Ok(())
    }

    /// Writes the entries that were taken but not written yet.
    fn write(&mut self, store: &mut Indexer<O>, trace: &mut impl Trace) {
        if self.work.is_batch() {
            return self.write_batch(store, trace);
        }
        let end = match self.entry(self.written) {
            Some(Entry::Delta(_, delta)) => match delta.delta_type {
                DeltaType::Deleted => store.delete(&delta.object, trace),
                _ => store.add(delta.object.clone(), trace),
            },
            Some(Entry::Object(_, object)) => store.add(object.clone(), trace),
            Some(Entry::ReplacedAll(info)) => {
                let objects = info.objects.iter().cloned();
                store.replace(objects, &info.resource_version, trace)
            }
            Some(Entry::Bookmark(rv)) => {
                store.bookmark(&rv, trace);
                Ok(())
            }
            Some(Entry::SyncAll) | None => Ok(()),
        };
        if let Err(error) = end {
            self.fail(&error);
        }
    }

    /// Writes a batch in one transaction. Entries without a key fail; the others are written and
    /// keep their notifications.
    fn write_batch(&mut self, store: &mut Indexer<O>, trace: &mut impl Trace) {
        let total_transactions = self.taken - self.written;
        let mut transactions = Vec::with_capacity(total_transactions);
        let (mut refused, mut errors) = (Vec::new(), Vec::new());
        for position in self.written..self.taken {
            if let Some(Entry::Delta(_, delta)) = self.entry(position) {
                if let Some(error) = self
                    .fault
                    .as_ref()
                    .and_then(|fault| fault.at(&delta.object))
                {
                    refused.push(position - self.written);
                    errors.push(error);
                    continue;
                }
                transactions.push(Transaction {
                    transaction_type: match delta.delta_type {
                        DeltaType::Deleted => TransactionType::Delete,
                        _ => TransactionType::Update,
                    },
                    object: delta.object.clone(),
                });
            }
        }
        if !refused.is_empty() {
            self.notifications.retain(|place| !refused.contains(&place));
        }
        match store.transaction(transactions, trace) {
            Ok(()) => {}
            Err(Error::Transaction(error)) => {
                let successful = &error.successful_indices;
                self.notifications
                    .retain(|place| successful.binary_search(&place).is_ok());
                errors.extend(error.errors);
            }
            Err(error) => return self.fail(&error),
        }
        if errors.is_empty() {
            return;
        }
        let error = TransactionError {
            successful_indices: Vec::new(),
            total_transactions,
            errors,
        };
        let text = format!("not all items in the batch successfully processed: {error}");
        self.failed = Some(text.into());
    }
}

impl<O> Notifications<O> {
    fn push(&mut self, notification: Notification<O>) {
        if self.len() == 0 {
            self.first = Some(notification);
        } else {
            self.rest.push_back(notification);
        }
    }

    fn pop(&mut self) -> Option<Notification<O>> {
        self.first.take().or_else(|| self.rest.pop_front())
    }

    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Keeps the notifications whose positions pass `keep`.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut place = usize::from(self.first.is_some());
        self.first = self.first.take().filter(|_| keep(0));
        self.rest.retain(|_| {
            place += 1;
            keep(place - 1)
        });
    }

    fn clear(&mut self) {
        self.first = None;
        self.rest.clear();
    }
}

/// The reference to a notification's object that facts use.
fn named<O: Object>(item: &Item<O>) -> ObjectRef {
    // The store rejects objects without a key before any handler is notified.
    let key = deletion_handling_meta_namespace_key_func(item).unwrap_or_else(|_| Key::from(""));
    item.to_ref(&key)
}
