//! The shared informer factory for multithreaded programs.

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

/// Creates, starts and stops shared informers, one per kind.
///
/// Upstream: `sharedInformerFactory` in
/// [`factory.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/informers/factory.go).
pub struct SharedInformerFactory {
    state: Mutex<FactoryState<GroupResource, Arc<dyn AnyInformer>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Serializes `shutdown`, so that all concurrent callers wait.
    stopped: Mutex<()>,
}

/// The kind already has an informer for another Rust type. Use that type, or another kind.
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

/// A type-erased [`SharedIndexInformer`].
trait AnyInformer: Send + Sync {
    fn run(&self, stop: &Latch);
    fn synced(&self) -> Latch;
    fn as_any(&self) -> &dyn Any;
}

impl<O: Object + Send + Sync + 'static> AnyInformer for SharedIndexInformer<O> {
    fn run(&self, stop: &Latch) {
        // An error means that the informer was started by other code, which runs it.
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

    /// The informer of a kind; `make` creates it on the first call. It is `make` that applies the factory's options: it gives
    /// the namespace and the list options to its lister-watcher, and has the rest from [`InformerOptions::of`].
    ///
    /// [`InformerOptions::of`]: super::InformerOptions::of
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

    /// Starts the informers that are not started yet, each in its own thread.
    pub fn start(&self, stop: &Latch) {
        // Lock the threads first: otherwise a concurrent `shutdown` would not wait for them.
        let mut threads = lock(&self.threads);
        let informers = lock(&self.state).start();
        for informer in informers {
            let stop = stop.clone();
            threads.push(spawn("informer", move || informer.run(&stop)));
        }
    }

    /// Waits until every started informer has synced, or `stop` is set. Returns for each kind
    /// whether it has synced.
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

    /// Prevents any further start, and waits until all started informers have ended. The caller has
    /// to set their `stop`, before or in the meantime.
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
