//! Tests of the cache: against its specification, against recordings of client-go, and against
//! itself.

mod cache;
mod conformance;
mod faults;
mod threads;
