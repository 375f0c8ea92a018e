//! Informers, queues and stores for programs with threads.
//!
//! The same parts that run under virtual time, with locks around them and threads that wait. Locks
//! are the standard library's. What client-go passes a stop channel or a context for takes a
//! [`Latch`].
//!
//! | here | upstream |
//! |---|---|
//! | [`ThreadSafeStore`] | `thread_safe_store.go` |
//! | [`BlockingQueue`] | `Queue.Pop` |
//! | [`BlockingWorkqueue`] | `util/workqueue` |
//! | [`SharedIndexInformer`] | `shared_informer.go` |
//! | [`Controller`], [`new_informer`] | `controller.go` |
//! | [`SharedInformerFactory`] | `informers/factory.go` |
//!
//! ```
//! use deltascope_cache::controller::Generation;
//! use deltascope_cache::event_handler::ResourceEventHandlerFuncs;
//! use deltascope_cache::lister_watcher::ListerWatcher;
//! use deltascope_cache::object::{Item, Object};
//! use deltascope_cache::threads::{InformerOptions, Latch, SharedIndexInformer, wait_for};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! fn watch<L>(pods: L) -> Result<(), Box<dyn std::error::Error>>
//! where
//!     L: ListerWatcher<Pod> + 'static,
//!     L::Watch: 'static,
//! {
//!     let informer = SharedIndexInformer::new(pods, InformerOptions::new(Generation::Atomic));
//!     let registration = informer.add_event_handler(ResourceEventHandlerFuncs {
//!         add_func: Some(Box::new(|pod: &Item<Pod>| {
//!             let name = pod.as_object().map(|pod| pod.name());
//!             println!("there is {name:?}");
//!         })),
//!         ..ResourceEventHandlerFuncs::default()
//!     })?;
//!     let stop = Latch::new();
//!     let running = informer.spawn(&stop);
//!     if wait_for(&stop, &[registration.has_synced_checker()]) {
//!         println!("all of {}", informer.get_store().len());
//!     }
//!     stop.set();
//!     Ok(running.join().map_err(|_| "it has panicked")??)
//! }
//! ```

mod clock;
mod condvar_mutex;
mod controller;
mod factory;
mod informer;
mod latch;
mod listener;
mod queue;
mod store;
mod sync;
mod unshared;
mod workqueue;

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, JoinHandle};

use crate::backoff::Jitter;
use crate::listener::{PanicPolicy, REST_AFTER_PANIC};

use crate::rng::Rng;

pub use clock::Clock;
pub use controller::InformerOptions;
pub use factory::{FactoryError, SharedInformerFactory};
pub use informer::{
    HandlerOptions, MutatedFunc, Registration, SharedIndexInformer, wait_for_cache_sync,
};
pub use latch::{Latch, wait_for};
pub use queue::{BlockingQueue, KnownObjects, Popped, Unlocks};
pub use store::{StoreReader, ThreadSafeStore};
pub use unshared::{Controller, new_informer};
pub use workqueue::BlockingWorkqueue;

/// Random numbers that differ from one to the next and from run to run, so that not all clients come
/// back to a server at the same moment.
#[derive(Clone)]
pub struct RandomJitter {
    rng: Rng,
}

impl RandomJitter {
    /// Seeded by the operating system.
    #[must_use]
    #[allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the standard library's only source of randomness, and here it is wanted"
    )]
    pub fn new() -> Self {
        Self {
            rng: Rng::new(RandomState::new().hash_one(0)),
        }
    }
}

impl Default for RandomJitter {
    fn default() -> Self {
        Self::new()
    }
}

impl Jitter for RandomJitter {
    fn unit(&mut self) -> f64 {
        self.rng.unit()
    }

    fn boxed_clone(&self) -> Box<dyn Jitter> {
        Box::new(self.clone())
    }
}

// ---- threads

/// Starts a thread.
#[allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "this is where threads are started; without them nothing can be done, and upstream would end here, too"
)]
fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    Builder::new()
        .name(name.into())
        .spawn(work)
        .expect("the operating system gives no more threads: end some, or raise the limit")
}

/// Runs `here`, and each of `others` in a thread of its own; returns when all have.
#[allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "as for `spawn`"
)]
fn in_threads<const N: usize>(others: [(&str, &(dyn Fn() + Sync)); N], here: impl FnOnce()) {
    std::thread::scope(|scope| {
        for (name, work) in others {
            Builder::new()
                .name(name.into())
                .spawn_scoped(scope, work)
                .expect("the operating system gives no more threads: end some, or raise the limit");
        }
        here();
    });
}

fn has_ended(thread: &JoinHandle<()>) -> bool {
    thread.is_finished()
}

/// Waits until a thread has ended, unless it is the one that asks.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // A panic in it was dealt with where it happened.
        let _ended = thread.join();
    }
}

/// Runs `work`; if it panics, by the policy the program ends, or it is tried again after a rest.
fn guarded(policy: PanicPolicy, clock: &Clock, stop: &Latch, work: impl Fn()) {
    while catch_unwind(AssertUnwindSafe(&work)).is_err() {
        panicked(policy);
        clock::wait_until(clock, clock.now() + REST_AFTER_PANIC, stop);
        // Nothing is left to be done but what the stop needs: `work` sees to that.
    }
}

/// What follows from a panic. The panic hook has told about it.
fn panicked(policy: PanicPolicy) {
    match policy {
        PanicPolicy::Crash => std::process::abort(),
        PanicPolicy::Skip => {}
    }
}
