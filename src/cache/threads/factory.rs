//! The shared informer factory in threads.

use std::any::Any;
use std::fmt;
use std::sync::PoisonError;
use std::thread::JoinHandle;

use crate::factory::{FactoryOptions, FactoryState, InformerScope};
use crate::lister::GroupResource;
use crate::object::Object;

use super::informer::SharedIndexInformer;
use super::latch::{Latch, wait_for};
use super::sync::{Arc, Mutex, MutexGuard};
use super::{join, spawn};

/// Makes, starts and stops shared informers, one for each kind.
///
/// Upstream: `sharedInformerFactory` in
/// [`factory.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/informers/factory.go).
pub struct SharedInformerFactory {
    state: Mutex<FactoryState<GroupResource, Arc<dyn AnyInformer>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// How many wait in `shutdown` is nobody's business, but all of them wait.
    stopped: Mutex<()>,
}

/// The kind has an informer already, and that is of another Rust type: ask with that one, or for
/// another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactoryError {
    /// The kind.
    pub kind: GroupResource,
}

impl fmt::Display for FactoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the informer for {} is of another Rust type: ask with that one",
            self.kind
        )
    }
}

impl std::error::Error for FactoryError {}

/// A [`SharedIndexInformer`] whatever its type.
trait AnyInformer: Send + Sync {
    fn run(&self, stop: &Latch);
    fn synced(&self) -> Latch;
    fn as_any(&self) -> &dyn Any;
}

impl<O: Object + Send + Sync + 'static> AnyInformer for SharedIndexInformer<O> {
    fn run(&self, stop: &Latch) {
        // Somebody else may have started it: then that one runs it.
        let _run_twice = Self::run(self, stop);
    }

    fn synced(&self) -> Latch {
        self.has_synced_checker()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl SharedInformerFactory {
    /// A factory without informers.
    #[must_use]
    pub fn new(options: FactoryOptions<GroupResource>) -> Self {
        Self {
            state: Mutex::new(FactoryState::new(options)),
            threads: Mutex::new(Vec::new()),
            stopped: Mutex::new(()),
        }
    }

    /// The informer of a kind; `make` makes it, when it is the first time that somebody asks.
    ///
    /// # Errors
    /// [`FactoryError`]
    pub fn informer_for<O: Object + Send + Sync + 'static>(
        &self,
        kind: &GroupResource,
        make: impl FnOnce(&InformerScope) -> SharedIndexInformer<O>,
    ) -> Result<SharedIndexInformer<O>, FactoryError> {
        let informer = lock(&self.state).informer_for(kind, |scope| Arc::new(make(scope)));
        let informer = informer.as_any().downcast_ref();
        informer
            .cloned()
            .ok_or_else(|| FactoryError { kind: kind.clone() })
    }

    /// Starts, in threads, the informers that were not started before.
    pub fn start(&self, stop: &Latch) {
        // First the threads: a `shutdown` in between would not wait for them.
        let mut threads = lock(&self.threads);
        let informers = lock(&self.state).start();
        for informer in informers {
            let stop = stop.clone();
            threads.push(spawn("informer", move || informer.run(&stop)));
        }
    }

    /// Waits until every informer that was started has synced, or `stop` is set; says of each kind
    /// whether it has.
    pub fn wait_for_cache_sync(&self, stop: &Latch) -> Vec<(GroupResource, bool)> {
        let started: Vec<_> = lock(&self.state)
            .started()
            .map(|(kind, informer)| (kind.clone(), informer.synced()))
            .collect();
        let latches: Vec<_> = started.iter().map(|(_, synced)| synced.clone()).collect();
        let _all = wait_for(stop, &latches);
        let outcome = |(kind, synced): (_, Latch)| (kind, synced.is_set());
        started.into_iter().map(outcome).collect()
    }

    /// Starts nothing any more, and waits until everything that was started has ended. For that its
    /// `stop` has to be set, before or meanwhile.
    pub fn shutdown(&self) {
        lock(&self.state).shut_down();
        let _one_by_one = lock(&self.stopped);
        let threads = std::mem::take(&mut *lock(&self.threads));
        threads.into_iter().for_each(join);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
