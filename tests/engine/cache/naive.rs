//! The queues beside naive ones: lists, searched from end to end, which do what client-go's source says in as few lines
//! as it takes. `make soak` makes a million calls to each.

use std::sync::Arc;
use std::time::Duration;

use deltascope::cache::delta::{Delta, DeltaType};
use deltascope::cache::delta_fifo::{DeltaFifo, DeltaFifoOptions, Offered, PoppedDeltas};
use deltascope::cache::fact::{Entry, ObjectRef};
use deltascope::cache::fifo::{Fifo, FifoOptions, PoppedObject};
use deltascope::cache::key::Key;
use deltascope::cache::key_func::{
    deletion_handling_meta_namespace_key_func, meta_namespace_key_func,
};
use deltascope::cache::object::Item;
use deltascope::cache::queue::{KeyListerGetter, ProcessOutcome, Queue, Release, TransformFunc};
use deltascope::cache::real_fifo::{PoppedBatch, QueuedDelta, RealFifo, RealFifoOptions};
use deltascope::cache::store::{Indexer, new_store};
use proptest::prelude::*;

use super::queues::{Call, any_call, call, known_store, releases};
use super::{O, bad_app_fails, cases, key_func, tombstone};

/// The calls of a case: with the cases of `make soak`, a million of them.
const CALLS: std::ops::Range<usize> = 20..90;

type Done = Result<(), ()>;

fn key_of(item: &Item<O>) -> Result<Key, ()> {
    match item {
        Item::Tombstone(gone) => Ok(gone.key.clone()),
        _ => meta_namespace_key_func(item).map_err(|_| ()),
    }
}

/// What was popped stays an item; only `ErrRequeue` without an error and success are none.
fn fails(outcome: &ProcessOutcome) -> bool {
    matches!(
        outcome,
        ProcessOutcome::Failed(_) | ProcessOutcome::Requeue(Some(_))
    )
}

/// `populated` and `initialPopulationCount`.
#[derive(Default)]
struct Population {
    populated: bool,
    initial: usize,
}

impl Population {
    fn populate(&mut self, initial: usize) {
        if !self.populated {
            (self.populated, self.initial) = (true, initial);
        }
    }

    fn count_down(&mut self, popped: usize) {
        self.initial = self.initial.saturating_sub(popped);
    }

    fn synced(&self) -> bool {
        self.populated && self.initial == 0
    }
}

// --- FIFO -----------------------------------------------------------------------------------------

#[derive(Default)]
struct NaiveFifo {
    items: Vec<(Key, Item<O>)>,
    queue: Vec<Key>,
    population: Population,
    closed: bool,
}

impl NaiveFifo {
    fn has(&self, key: &Key) -> bool {
        self.items.iter().any(|(other, _)| other == key)
    }

    fn set(&mut self, key: Key, item: Item<O>) {
        if !self.has(&key) {
            self.queue.push(key.clone());
        }
        self.items.retain(|(other, _)| *other != key);
        self.items.push((key, item));
    }

    fn call(&mut self, call: &Call) -> Done {
        // A FIFO does not look into tombstones.
        let key_of = |item: &Item<O>| meta_namespace_key_func(item).map_err(|_| ());
        match call {
            Call::Add(item) | Call::Update(item) => {
                let key = key_of(item)?;
                self.population.populate(0);
                self.set(key, item.clone());
            }
            Call::AddIfNotPresent(item) => {
                let key = key_of(item)?;
                self.population.populate(0);
                if !self.has(&key) {
                    self.set(key, item.clone());
                }
            }
            Call::Delete(item) => {
                let key = key_of(item)?;
                self.population.populate(0);
                self.items.retain(|(other, _)| *other != key);
            }
            Call::Replace(items) => {
                let mut listed = Self::default();
                for item in items {
                    listed.set(key_of(item)?, item.clone());
                }
                self.population.populate(listed.items.len());
                (self.items, self.queue) = (listed.items, listed.queue);
            }
            Call::Close => self.closed = true,
            Call::Resync | Call::Bookmark(_) | Call::Begin { .. } | Call::Finish(_) => {}
        }
        Ok(())
    }

    /// The next key with an object; those without one are counted down, too.
    fn pop(&mut self) -> Option<(Key, Item<O>)> {
        while !self.queue.is_empty() {
            let key = self.queue.remove(0);
            self.population.count_down(1);
            if let Some(place) = self.items.iter().position(|(other, _)| *other == key) {
                return Some(self.items.remove(place));
            }
        }
        None
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_fifo_behaves_like_the_naive_one(
        calls in prop::collection::vec(any_call(), CALLS),
        release in releases(),
    ) {
        let mut queue = Fifo::new(FifoOptions { release, ..FifoOptions::new(key_func()) });
        let mut naive = NaiveFifo::default();
        let mut taken: Option<PoppedObject<O>> = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    let popped = queue.begin_pop(&mut ());
                    let expected = naive.pop();
                    prop_assert_eq!(popped.is_err(), expected.is_none() && naive.closed);
                    taken = popped.unwrap_or_default();
                    let found = taken.as_ref().map(|one| (&one.key, one.item.to_ref(&one.key)));
                    prop_assert_eq!(found, expected.as_ref().map(|(key, item)| (key, item.to_ref(key))));
                }
                Call::Begin { .. } => {}
                Call::Finish(outcome) => if let Some(one) = taken.take() {
                    if let ProcessOutcome::Requeue(_) = outcome {
                        naive.population.populate(0);
                        if !naive.has(&one.key) {
                            naive.set(one.key.clone(), one.item.clone());
                        }
                    }
                    let failed = fails(&outcome);
                    prop_assert_eq!(queue.finish_pop(one, outcome, Duration::ZERO, &mut ()).1.is_err(), failed);
                    prop_assert_eq!(queue.has_synced(), naive.population.synced());
                },
                Call::AddIfNotPresent(item) => {
                    let done = naive.call(&Call::AddIfNotPresent(item.clone()));
                    prop_assert_eq!(queue.add_if_not_present(item, &mut ()).is_err(), done.is_err());
                }
                other => {
                    let done = naive.call(&other);
                    prop_assert_eq!(call(&mut queue, other, None, &mut ()).is_err(), done.is_err());
                }
            }
            prop_assert!(queue.queue().eq(&naive.queue));
            for (key, item) in &naive.items {
                prop_assert_eq!(queue.get_by_key(key).map(|item| item.to_ref(key)), Some(item.to_ref(key)));
            }
            prop_assert_eq!(queue.list().len(), naive.items.len());
            prop_assert_eq!(queue.populated(), naive.population.populated);
            prop_assert_eq!(queue.initial_population_count(), naive.population.initial);
            prop_assert!(!queue.has_synced() || naive.population.synced());
        }
    }
}

// --- DeltaFIFO ------------------------------------------------------------------------------------

type Deltas = Vec<(DeltaType, Item<O>)>;

struct NaiveDeltaFifo {
    queue: Vec<(Key, Deltas)>,
    population: Population,
    closed: bool,
    replaced: bool,
    transformer: Option<TransformFunc<O>>,
    release: Release,
}

impl NaiveDeltaFifo {
    fn has(&self, key: &Key) -> bool {
        self.queue.iter().any(|(other, _)| other == key)
    }

    fn action(&mut self, kind: DeltaType, cause: DeltaType, key: Key, item: Item<O>) -> Done {
        let transforms =
            self.release == Release::V0_24 || !item.is_tombstone() && cause != DeltaType::Sync;
        let item = match &self.transformer {
            Some(transformer) if transforms => transformer(item).map_err(|_| ())?,
            _ => item,
        };
        let Some((_, deltas)) = self.queue.iter_mut().find(|(other, _)| *other == key) else {
            self.queue.push((key, vec![(kind, item)]));
            return Ok(());
        };
        deltas.push((kind, item));
        // Two deletions in a row are one: the older, unless it is a tombstone.
        if let [.., (DeltaType::Deleted, older), (DeltaType::Deleted, _)] = &deltas[..] {
            let drop = deltas.len() - if older.is_tombstone() { 2 } else { 1 };
            deltas.remove(drop);
        }
        Ok(())
    }

    fn gone(&mut self, key: Key, object: Option<Item<O>>) -> Done {
        let gone = tombstone(&key, object);
        self.action(DeltaType::Deleted, DeltaType::Deleted, key, gone)
    }

    fn call(&mut self, call: &Call, known: Option<&Indexer<O>>) -> Done {
        match call {
            Call::Add(item) | Call::Update(item) => {
                let kind = match call {
                    Call::Add(_) => DeltaType::Added,
                    _ => DeltaType::Updated,
                };
                self.population.populate(0);
                self.action(kind, kind, key_of(item)?, item.clone())?;
            }
            Call::AddIfNotPresent(item) => {
                let key = key_of(item)?;
                self.population.populate(0);
                if !self.has(&key) {
                    self.queue
                        .push((key, vec![(DeltaType::Added, item.clone())]));
                }
            }
            Call::Delete(item) => {
                let key = key_of(item)?;
                self.population.populate(0);
                if self.has(&key) || known.is_some_and(|known| known.get_by_key(&key).is_some()) {
                    self.action(DeltaType::Deleted, DeltaType::Deleted, key, item.clone())?;
                }
            }
            Call::Replace(items) => self.replace(items, known)?,
            Call::Resync => {
                for (key, item) in known.into_iter().flat_map(Indexer::iter) {
                    if !self.has(key) {
                        self.action(DeltaType::Sync, DeltaType::Sync, key.clone(), item.clone())?;
                    }
                }
            }
            Call::Close => self.closed = true,
            Call::Bookmark(_) | Call::Begin { .. } | Call::Finish(_) => {}
        }
        Ok(())
    }

    fn replace(&mut self, items: &[Item<O>], known: Option<&Indexer<O>>) -> Done {
        let kind = match self.replaced {
            true => DeltaType::Replaced,
            false => DeltaType::Sync,
        };
        let mut listed: Vec<Key> = Vec::new();
        for item in items {
            let key = key_of(item)?;
            self.action(kind, DeltaType::Replaced, key.clone(), item.clone())?;
            if !listed.contains(&key) {
                listed.push(key);
            }
        }
        let mut initial = listed.len();
        for (key, deltas) in self.queue.clone() {
            if !listed.contains(&key) {
                initial += 1;
                let object = match deltas.last() {
                    Some((_, Item::Tombstone(gone))) => gone.object.clone(),
                    newest => newest.map(|(_, item)| item.clone()),
                };
                self.gone(key, object)?;
            }
        }
        for (key, item) in known.into_iter().flat_map(Indexer::iter) {
            if !self.has(key) {
                initial += 1;
                self.gone(key.clone(), Some(item.clone()))?;
            }
        }
        self.population.populate(initial);
        Ok(())
    }
}

fn refs<'a>(
    key: &Key,
    deltas: impl IntoIterator<Item = (&'a DeltaType, &'a Item<O>)>,
) -> Vec<(DeltaType, ObjectRef)> {
    let deltas = deltas.into_iter();
    deltas
        .map(|(kind, item)| (*kind, item.to_ref(key)))
        .collect()
}

fn pairs(deltas: &[Delta<O>]) -> impl Iterator<Item = (&DeltaType, &Item<O>)> {
    deltas
        .iter()
        .map(|delta| (&delta.delta_type, &delta.object))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_delta_fifo_behaves_like_the_naive_one(
        calls in prop::collection::vec(any_call(), CALLS),
        replaced in any::<bool>(),
        transforms in any::<bool>(),
        knows in any::<bool>(),
        release in releases(),
    ) {
        let transformer = transforms.then(bad_app_fails);
        let mut queue = DeltaFifo::new(DeltaFifoOptions {
            key_func: key_func(),
            emit_delta_type_replaced: replaced,
            transformer: transformer.clone(),
            release,
        });
        let (population, queued, closed) = (Population::default(), Vec::new(), false);
        let mut naive = NaiveDeltaFifo { queue: queued, population, closed, replaced, transformer, release };
        let mut store = new_store::<O>(Arc::new(deletion_handling_meta_namespace_key_func));
        let mut taken: Option<PoppedDeltas<O>> = None;
        for one in calls {
            match one {
                Call::Begin { .. } if taken.is_none() => {
                    let popped = queue.begin_pop(&mut ());
                    prop_assert_eq!(popped.is_err(), naive.queue.is_empty() && naive.closed);
                    taken = popped.unwrap_or_default();
                    let first = !naive.population.synced();
                    let expected = (!naive.queue.is_empty()).then(|| naive.queue.remove(0));
                    prop_assert_eq!(taken.is_some(), expected.is_some());
                    if let (Some(one), Some((key, deltas))) = (&taken, &expected) {
                        naive.population.count_down(1);
                        prop_assert_eq!(&one.key, key);
                        let deltas = deltas.iter().map(|(kind, item)| (kind, item));
                        prop_assert_eq!(refs(key, pairs(&one.deltas)), refs(key, deltas));
                        prop_assert_eq!((one.is_in_initial_list, one.depth), (first, naive.queue.len()));
                    }
                }
                Call::Begin { .. } => {}
                Call::Finish(outcome) => if let Some(one) = taken.take() {
                    if outcome == ProcessOutcome::Done {
                        for delta in &one.deltas {
                            match delta.delta_type {
                                DeltaType::Deleted => store.delete(&delta.object, &mut ()).unwrap(),
                                _ => store.add(delta.object.clone(), &mut ()).unwrap(),
                            }
                        }
                    }
                    if let ProcessOutcome::Requeue(_) = outcome {
                        naive.population.populate(0);
                        if !naive.has(&one.key) {
                            let deltas = pairs(&one.deltas).map(|(kind, item)| (*kind, item.clone()));
                            naive.queue.push((one.key.clone(), deltas.collect()));
                        }
                    }
                    let failed = fails(&outcome);
                    prop_assert_eq!(queue.finish_pop(one, outcome, Duration::ZERO, &mut ()).1.is_err(), failed);
                },
                Call::AddIfNotPresent(object) => {
                    let done = naive.call(&Call::AddIfNotPresent(object.clone()), None);
                    let offered = Offered::Deltas(vec![Delta { delta_type: DeltaType::Added, object }].into());
                    prop_assert_eq!(queue.add_if_not_present(offered, &mut ()).is_err(), done.is_err());
                }
                other => {
                    let done = naive.call(&other, knows.then_some(&store));
                    let known = knows.then_some(&store as &dyn KeyListerGetter<O>);
                    prop_assert_eq!(call(&mut queue, other, known, &mut ()).is_err(), done.is_err());
                }
            }
            prop_assert!(queue.is_consistent());
            prop_assert!(queue.list_keys().eq(naive.queue.iter().map(|(key, _)| key)));
            for (key, deltas) in &naive.queue {
                let found = refs(key, pairs(queue.get_by_key(key).unwrap()));
                prop_assert_eq!(found, refs(key, deltas.iter().map(|(kind, item)| (kind, item))));
            }
            prop_assert_eq!(queue.populated(), naive.population.populated);
            prop_assert_eq!(queue.initial_population_count(), naive.population.initial);
            prop_assert_eq!(queue.has_synced(), naive.population.synced());
        }
    }
}

// --- RealFIFO -------------------------------------------------------------------------------------

#[derive(Clone)]
enum Naive {
    Change(DeltaType, Key, Item<O>),
    All(String, Vec<Item<O>>),
    SyncAll,
    Bookmark(String),
}

impl Naive {
    fn key(&self) -> Option<&Key> {
        match self {
            Self::Change(_, key, _) => Some(key),
            _ => None,
        }
    }

    fn entry(&self) -> Entry {
        let to_ref = |item: &Item<O>| item.to_ref(&key_of(item).unwrap_or_else(|()| "".into()));
        match self {
            Self::Change(kind, key, item) => Entry::Delta(*kind, item.to_ref(key)),
            Self::All(rv, items) => Entry::ReplacedAll {
                rv: rv.as_str().into(),
                objects: items.iter().map(to_ref).collect(),
            },
            Self::SyncAll => Entry::SyncAll,
            Self::Bookmark(rv) => Entry::Bookmark {
                rv: rv.as_str().into(),
            },
        }
    }
}

struct NaiveRealFifo {
    entries: Vec<Naive>,
    population: Population,
    closed: bool,
    atomic: bool,
    bookmarks: bool,
    batch_size: usize,
    transformer: Option<TransformFunc<O>>,
    release: Release,
}

impl NaiveRealFifo {
    fn push(&mut self, kind: DeltaType, item: Item<O>) -> Done {
        let key = key_of(&item)?;
        let transforms = kind != DeltaType::Sync && !item.is_tombstone();
        let (key, item) = match &self.transformer {
            Some(transformer) if transforms => {
                let item = transformer(item).map_err(|_| ())?;
                (key_of(&item).unwrap_or(key), item)
            }
            _ => (key, item),
        };
        self.entries.push(Naive::Change(kind, key, item));
        Ok(())
    }

    fn queues(&self, key: &Key) -> bool {
        self.entries.iter().any(|entry| entry.key() == Some(key))
    }

    fn call(&mut self, call: &Call, known: &Indexer<O>) -> Done {
        let kind = match call {
            Call::Add(_) => DeltaType::Added,
            Call::Update(_) => DeltaType::Updated,
            _ => DeltaType::Deleted,
        };
        match call {
            Call::Add(item) | Call::Update(item) | Call::Delete(item) => {
                self.population.populate(0);
                self.push(kind, item.clone())?;
            }
            Call::Replace(items) => {
                match (self.atomic, self.transformer.clone()) {
                    (true, None) => self.entries.push(Naive::All("9".into(), items.clone())),
                    (true, Some(transformer)) => {
                        let items: Result<_, _> =
                            items.iter().cloned().map(|one| transformer(one)).collect();
                        self.entries
                            .push(Naive::All("9".into(), items.map_err(|_| ())?));
                    }
                    (false, _) => self.replace(items, known)?,
                }
                self.population.populate(self.entries.len());
            }
            Call::Resync if self.atomic => self.entries.push(Naive::SyncAll),
            Call::Resync => {
                let queued = self.entries.clone();
                for (key, item) in known.iter() {
                    if !queued.iter().any(|entry| entry.key() == Some(key)) {
                        self.push(DeltaType::Sync, item.clone())?;
                    }
                }
            }
            Call::Close => self.closed = true,
            Call::Bookmark(rv) if self.bookmarks => {
                self.entries.push(Naive::Bookmark(rv.to_string()));
            }
            Call::Bookmark(_) | Call::AddIfNotPresent(_) | Call::Begin { .. } | Call::Finish(_) => {
            }
        }
        Ok(())
    }

    /// Deletions of what is queued and not listed, of what is known and neither, then the list.
    fn replace(&mut self, items: &[Item<O>], known: &Indexer<O>) -> Done {
        let listed: Vec<Key> = items.iter().map(key_of).collect::<Result<_, _>>()?;
        let mut gone: Vec<(Key, Item<O>)> = Vec::new();
        let mut seen: Vec<&Key> = Vec::new();
        for key in self.entries.iter().filter_map(Naive::key) {
            if seen.contains(&key) || listed.contains(key) {
                continue;
            }
            seen.push(key);
            let newest = self
                .entries
                .iter()
                .rev()
                .find(|entry| entry.key() == Some(key));
            if let Some(Naive::Change(kind, key, item)) = newest
                && *kind != DeltaType::Deleted
            {
                gone.push((key.clone(), item.clone()));
            }
        }
        for (key, item) in known.iter() {
            if !listed.contains(key) && !self.queues(key) {
                gone.push((key.clone(), item.clone()));
            }
        }
        for (key, item) in gone {
            self.push(DeltaType::Deleted, tombstone(&key, Some(item)))?;
        }
        items
            .iter()
            .cloned()
            .try_for_each(|item| self.push(DeltaType::Replaced, item))
    }

    /// How many entries a batch takes.
    fn batch(&self) -> usize {
        let most = match self.population.initial {
            0 => self.batch_size,
            initial => self.batch_size.min(initial),
        };
        let mut keys: Vec<&Key> = Vec::new();
        for entry in self.entries.iter().take(most) {
            match entry.key() {
                Some(key) if !keys.contains(&key) => keys.push(key),
                _ => break,
            }
        }
        keys.len().max(1)
    }
}

fn entries(of: &[QueuedDelta<O>]) -> Vec<Entry> {
    of.iter().map(|entry| entry.to_entry(&key_func())).collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn a_real_fifo_behaves_like_the_naive_one(
        calls in prop::collection::vec(any_call(), CALLS),
        transforms in any::<bool>(),
        release in releases(),
        batch_size in 1..5_usize,
        (atomic, bookmarks) in any::<(bool, bool)>(),
    ) {
        let transformer = transforms.then(bad_app_fails);
        let mut queue = RealFifo::new(RealFifoOptions {
            transformer: transformer.clone(),
            batch_size,
            atomic_events: atomic,
            emit_delta_type_bookmark: bookmarks,
            ..RealFifoOptions::new(key_func(), release)
        });
        let mut naive = NaiveRealFifo {
            entries: Vec::new(),
            population: Population::default(),
            closed: false,
            atomic,
            bookmarks,
            batch_size,
            transformer,
            release,
        };
        let store = known_store();
        let mut taken: Option<PoppedBatch<O>> = None;
        for one in calls {
            match one {
                Call::Begin { batch } if taken.is_none() => {
                    let length = if batch { naive.batch() } else { 1 }.min(naive.entries.len());
                    let popped = match batch {
                        true => queue.begin_pop_batch(&mut ()),
                        false => queue.begin_pop(&mut ()),
                    };
                    prop_assert_eq!(popped.is_err(), length == 0 && naive.closed);
                    taken = popped.unwrap_or_default();
                    let first = !naive.population.synced();
                    let expected: Vec<Entry> = naive.entries.drain(..length).map(|one| one.entry()).collect();
                    let found = taken.as_ref().map_or(Vec::new(), |one| entries(&one.entries));
                    prop_assert_eq!(found, expected);
                    if let Some(one) = &taken {
                        let whole = batch && (length > 1 || naive.release < Release::V0_36);
                        prop_assert_eq!((one.is_in_initial_list, one.batch), (first, whole));
                        if naive.release < Release::V0_36 {
                            naive.population.count_down(length);
                        }
                    }
                }
                Call::Begin { .. } => {}
                Call::Finish(outcome) => if let Some(one) = taken.take() {
                    if naive.release >= Release::V0_36 {
                        naive.population.count_down(one.entries.len());
                    }
                    let failed = fails(&outcome);
                    prop_assert_eq!(queue.finish_pop(one, outcome, Duration::ZERO, &mut ()).1.is_err(), failed);
                },
                Call::Bookmark(rv) => {
                    naive.call(&Call::Bookmark(rv), &store).unwrap();
                    queue.bookmark(&rv.to_string(), &mut ());
                }
                other => {
                    let done = naive.call(&other, &store);
                    prop_assert_eq!(call(&mut queue, other, Some(&store), &mut ()).is_err(), done.is_err());
                }
            }
            let found: Vec<Entry> = queue.entries().map(|entry| entry.to_entry(&key_func())).collect();
            let expected: Vec<Entry> = naive.entries.iter().map(Naive::entry).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(queue.populated(), naive.population.populated);
            prop_assert_eq!(queue.initial_population_count(), naive.population.initial);
            prop_assert_eq!(queue.has_synced(), naive.population.synced());
        }
    }
}
