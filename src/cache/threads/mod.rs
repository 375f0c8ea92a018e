//! Informers, queues and stores for multithreaded programs.
//!
//! The same parts that run under virtual time, with locks and blocking threads around them. The
//! locks are those of the standard library. A [`Latch`] takes the place of client-go's stop
//! channels and contexts.
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
use crate::listener::REST_AFTER_PANIC;
use crate::rng::Rng;

// What their options are made of.
pub use crate::controller::Generation;
pub use crate::factory::FactoryOptions;
pub use crate::informer::WatchErrorHandler;
pub use crate::listener::PanicPolicy;
pub use crate::lister::GroupResource;

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

/// Jitter that differs between calls and between runs, so that not all clients return to a server
/// at the same time.
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

/// Runs `here`, and each of `others` in its own thread; returns when all have ended.
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

/// Waits until a thread has ended, unless it is the current one.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // The panic was handled where it occurred.
        let _ended = thread.join();
    }
}

/// Runs `work`. If it panics, the policy decides: abort the program, or pause and run it again.
fn guarded(policy: PanicPolicy, clock: &Clock, stop: &Latch, work: impl Fn()) {
    while catch_unwind(AssertUnwindSafe(&work)).is_err() {
        panicked(policy);
        clock::wait_until(clock, clock.now() + REST_AFTER_PANIC, stop);
        // Run it again even after a stop: `work` checks for that, and cleans up.
    }
}

/// Applies the policy after a panic. The panic hook has already reported it.
fn panicked(policy: PanicPolicy) {
    match policy {
        PanicPolicy::Crash => std::process::abort(),
        PanicPolicy::Skip => {}
    }
}
