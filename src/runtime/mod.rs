//! What drives the cache.

pub mod rng;
