//! The unshared informer: the process loop calls its only handler.

use std::time::Duration;

use crate::error::Error;
use crate::event_handler::ResourceEventHandler;
use crate::fact::Rv;
use crate::informer::WatchErrorHandler;
use crate::lister_watcher::ListerWatcher;
use crate::object::Object;
use crate::process::Process;
use crate::queue::ProcessOutcome;

use super::controller::{AnyListerWatcher, Engine, InformerOptions, Sink};
use super::latch::Latch;
use super::listener::Handler;
use super::store::ThreadSafeStore;
use super::sync::Arc;

/// Runs a reflector and a process loop.
///
/// Upstream: `Controller` in
/// [`controller.go`](https://github.com/kubernetes/client-go/blob/v0.36.3/tools/cache/controller.go).
pub struct Controller<O> {
    engine: Arc<Engine<O>>,
    sink: Direct<O>,
    running: std::sync::atomic::AtomicBool,
}

struct Direct<O> {
    handler: Handler<O>,
    synced: Latch,
}

/// Returns a store and the controller that keeps it up to date. The process loop calls the handler
/// after each write to the store; up to 1.35 the queue is locked meanwhile.
///
/// Upstream: `NewInformer`, `NewIndexerInformer`, `NewTransformingInformer`.
pub fn new_informer<O, L>(
    lister_watcher: L,
    handler: impl ResourceEventHandler<O> + Send + Sync + 'static,
    watch_error_handler: Option<WatchErrorHandler>,
    options: &InformerOptions<O>,
) -> (Arc<ThreadSafeStore<O>>, Controller<O>)
where
    O: Object + Send + Sync + 'static,
    L: ListerWatcher<O> + 'static,
    L::Watch: 'static,
{
    let store = Arc::new(ThreadSafeStore::new(options.config.store()));
    let lister_watcher: Arc<dyn AnyListerWatcher<O>> = Arc::new(lister_watcher);
    let engine = Engine::new(
        options,
        options.config.clone(),
        &store,
        &lister_watcher,
        watch_error_handler,
    );
    let controller = Controller {
        engine: Arc::new(engine),
        sink: Direct {
            handler: Box::new(handler),
            synced: Latch::new(),
        },
        running: std::sync::atomic::AtomicBool::new(false),
    };
    (store, controller)
}

impl<O: Object + Send + Sync + 'static> Controller<O> {
    /// Runs until `stop` is set.
    ///
    /// # Errors
    /// [`Error::InformerRunTwice`].
    pub fn run(&self, stop: &Latch) -> Result<(), Error> {
        if self.running.swap(true, std::sync::atomic::Ordering::AcqRel) {
            return Err(Error::InformerRunTwice);
        }
        self.engine.run(stop, &self.sink);
        Ok(())
    }

    /// Whether the initial list was popped. Waits for the queue's lock.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.engine.has_synced()
    }

    /// A latch that is set once the initial list was processed.
    #[must_use]
    pub fn has_synced_checker(&self) -> Latch {
        self.sink.synced.clone()
    }

    /// The version of the last list, event or bookmark; empty before the first.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> Rv {
        self.engine.last_sync_resource_version()
    }
}

impl<O: Object + Send + Sync> Sink<O> for Direct<O> {
    fn process(&self, store: &ThreadSafeStore<O>, process: &mut Process<O>) -> ProcessOutcome {
        loop {
            // The store's lock is released before the handler is called.
            let next = process.next_notification(&mut store.write(), &mut ());
            match next {
                Ok(notification) => notification.deliver(&*self.handler),
                Err(outcome) => return outcome,
            }
        }
    }

    fn flush(&self) {}

    fn synced(&self) {
        self.synced.set();
    }

    /// The only handler always takes part: the user requested the period.
    fn should_resync(&self, _now: Duration) -> bool {
        true
    }
}
