//! client-go's `tools/cache`, in its words.
//!
//! Everything here is plain data with `&mut self` methods: there is no lock, clock, random number,
//! thread or I/O in this folder. Time is an argument, and every mutation states its [`fact::Fact`]
//! to a [`trace::Trace`]; with `()` as the trace that costs nothing.

pub mod delta;
pub mod delta_fifo;
pub mod error;
pub mod fact;
pub mod fifo;
pub mod index;
pub mod key;
pub mod key_func;
pub mod object;
pub mod order;
pub mod queue;
pub mod real_fifo;
pub mod step;
pub mod store;
pub mod trace;
