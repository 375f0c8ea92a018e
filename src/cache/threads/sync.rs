//! Synchronization primitives. The models in `tests/models.rs` replace these by ones for which a
//! scheduler explores every interleaving.

pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
pub(crate) use std::thread::JoinHandle;
