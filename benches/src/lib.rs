//! The benchmarks' workloads, for the native benchmarks in `benches/` and, compiled to wasm, for
//! `tests/browser/bench.mjs`.

#[cfg(not(target_arch = "wasm32"))]
pub mod counting;
#[cfg(not(target_arch = "wasm32"))]
pub mod informer;
#[cfg(target_arch = "wasm32")]
pub mod one_thread;
#[cfg(target_arch = "wasm32")]
mod page;
pub mod workload;
