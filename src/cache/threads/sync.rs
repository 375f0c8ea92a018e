//! What threads share. The models in `tests/models.rs` put others in the place of these, whose every
//! interleaving a scheduler chooses.

pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
pub(crate) use std::thread::JoinHandle;
