//! client-go's `tools/cache`, in its words.
//!
//! Everything here but `threads` is plain data with `&mut self` methods: there is no lock, clock,
//! thread or I/O. Time is an argument, and every mutation states its [`fact::Fact`]
//! to a [`trace::Trace`]; with `()` as the trace that costs nothing.
//!
//! The way of an object, and the modules along it:
//!
//! | module | what | upstream |
//! |---|---|---|
//! | [`object`], [`key`], [`key_func`] | what is cached, and under which key | `store.go` |
//! | [`delta`] | what happened to it | `delta_fifo.go` |
//! | [`queue`] | what all queues have in common; Pop in two halves | `fifo.go` |
//! | [`fifo`] | the newest object of each key | `fifo.go` |
//! | [`delta_fifo`] | all changes of each key | `delta_fifo.go` |
//! | [`real_fifo`] | all changes, in their order | `the_real_fifo.go` |
//! | [`store`], [`index`] | what has been processed, and the ways to find it | `store.go`, `thread_safe_store.go`, `index.go` |
//! | [`controller`], [`process`] | the four generations; from the queue into the store | `controller.go` |
//! | [`processor`], [`listener`], [`event_handler`] | who is told what | `shared_informer.go`, `controller.go` |
//! | [`informer`], [`mutation_detector`] | a shared informer's bookkeeping | `shared_informer.go`, `mutation_detector.go` |
//! | [`lister`], [`selector`] | what a program that only reads sees of the store | `listers.go` |
//! | [`factory`] | which informers there are, and which run | `informers/factory.go` |
//! | [`workqueue`] | keys that wait for a worker | `util/workqueue` |
//! | [`lister_watcher`] | what is asked of an API server, and what comes back | `listwatch.go` |
//! | [`reflector`] | lists and watches, and fills a queue with what comes | `reflector.go` |
//! | [`backoff`] | how long to wait before the next attempt | `wait.Backoff` of apimachinery |
//! | [`order`] | the visible order of what upstream keeps in maps | |
//! | `interner`, `chunked_vec`, `store_order`, `postings`, `chunked_queue` | what stores and queues are made of inside | |
//! | [`error`] | what can go wrong, with upstream's texts | |
//! | [`fact`], [`step`], [`trace`] | what is told about all this | |
//! | `threads` (natively) | informers, queues and stores for programs with threads | `shared_informer.go` and others |
//! | [`async_pop`] | queues whose Pop is awaited, for the browser | |
//! | [`rng`] | random numbers that can be repeated | |
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use deltascope_cache::delta::DeltaType;
//! use deltascope_cache::delta_fifo::{DeltaFifo, DeltaFifoOptions};
//! use deltascope_cache::key_func::meta_namespace_key_func;
//! use deltascope_cache::object::Item;
//! use deltascope_cache::queue::{ProcessOutcome, Queue};
//! use deltascope_cache::store::new_store;
//! use k8s_openapi::api::core::v1::Pod;
//!
//! let mut pod = Pod::default();
//! pod.metadata.namespace = Some("default".into());
//! pod.metadata.name = Some("web-0".into());
//!
//! let mut queue = DeltaFifo::new(DeltaFifoOptions::new(Arc::new(meta_namespace_key_func)));
//! let mut store = new_store(Arc::new(meta_namespace_key_func));
//! queue.add(Item::object(pod), &mut ())?;
//! queue.pop(
//!     |popping| {
//!         for delta in &popping.taken.deltas {
//!             let item = delta.object.clone();
//!             let end = match delta.delta_type {
//!                 DeltaType::Deleted => store.delete(&item, &mut ()),
//!                 _ => store.add(item, &mut ()),
//!             };
//!             if let Err(error) = end {
//!                 return ProcessOutcome::Failed(error.to_string().into());
//!             }
//!         }
//!         ProcessOutcome::Done
//!     },
//!     || Duration::ZERO,
//!     &mut (),
//! )?;
//! assert!(store.get_by_key("default/web-0").is_some());
//! # Ok::<(), deltascope_cache::error::Error>(())
//! ```

pub mod async_pop;
pub mod backoff;
mod chunked_queue;
mod chunked_vec;
pub mod controller;
pub mod delta;
pub mod delta_fifo;
pub mod error;
pub mod event_handler;
pub mod fact;
pub mod factory;
pub mod fifo;
pub mod index;
pub mod informer;
mod interner;
pub mod key;
pub mod key_func;
pub mod listener;
pub mod lister;
pub mod lister_watcher;
pub mod mutation_detector;
pub mod object;
pub mod order;
mod postings;
pub mod process;
pub mod processor;
pub mod queue;
mod quote;
pub mod real_fifo;
pub mod reflector;
pub mod rng;
pub mod selector;
pub mod sorted;
pub mod step;
pub mod store;
mod store_order;
#[cfg(not(target_arch = "wasm32"))]
pub mod threads;
pub mod trace;
pub mod workqueue;

/// README.md's example is compiled and run with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
struct Readme;
