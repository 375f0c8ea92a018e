//! client-go's `tools/cache`, with its names.
//!
//! Everything here except `threads` is plain data with `&mut self` methods: no locks, clocks,
//! threads or I/O. Time is an argument. Every mutation reports its [`fact::Fact`] to a
//! [`trace::Trace`]; with `()` as the trace, this costs nothing.
//!
//! The modules, in the order in which an object passes through them:
//!
//! | module | what | upstream |
//! |---|---|---|
//! | [`object`], [`key`], [`key_func`] | cached objects and their keys | `store.go` |
//! | [`delta`] | changes of an object | `delta_fifo.go` |
//! | [`queue`] | the interface of all queues; Pop in two halves | `fifo.go` |
//! | [`fifo`] | the newest object of each key | `fifo.go` |
//! | [`delta_fifo`] | all changes, per key | `delta_fifo.go` |
//! | [`real_fifo`] | all changes, in arrival order | `the_real_fifo.go` |
//! | [`store`], [`index`] | the processed objects and their indices | `store.go`, `thread_safe_store.go`, `index.go` |
//! | [`controller`], [`process`] | the four generations; processing popped items into the store | `controller.go` |
//! | [`processor`], [`listener`], [`event_handler`] | distribution of notifications to handlers | `shared_informer.go`, `controller.go` |
//! | [`informer`], [`mutation_detector`] | a shared informer's bookkeeping | `shared_informer.go`, `mutation_detector.go` |
//! | [`lister`], [`selector`] | read access to the store | `listers.go` |
//! | [`factory`] | which informers exist, and which run | `informers/factory.go` |
//! | [`workqueue`] | keys that wait for a worker | `util/workqueue` |
//! | [`lister_watcher`] | requests to an API server, and its responses | `listwatch.go` |
//! | [`reflector`] | lists and watches, and fills a queue with the results | `reflector.go` |
//! | [`backoff`] | how long to wait before the next attempt | `wait.Backoff` of apimachinery |
//! | [`order`] | the visible order where client-go iterates over maps | |
//! | `interner`, `chunked_vec`, `store_order`, `postings`, `chunked_queue` | data structures behind stores and queues | |
//! | [`error`] | errors, with client-go's texts | |
//! | [`fact`], [`step`], [`trace`] | how all of this is reported | |
//! | `threads` (natively) | informers, queues and stores for programs with threads | `shared_informer.go` and others |
//! | [`async_pop`] | queues whose Pop is awaited, for the browser | |
//! | [`rng`], [`map`], [`sorted`], [`few`] | reproducible random numbers; maps by insertion, small sorted ones; lists of usually one | |
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
pub mod few;
pub mod fifo;
pub mod index;
pub mod informer;
mod interner;
pub mod key;
pub mod key_func;
pub mod listener;
pub mod lister;
pub mod lister_watcher;
pub mod map;
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

/// Compiles and runs README.md's example as a doc test.
#[cfg(doctest)]
#[doc = include_str!("README.md")]
struct Readme;
