//! The cache against its specification, its recordings and itself.

mod cache;
mod conformance;
mod faults;
mod threads;
