//! An allocator that counts the allocated and the live bytes.

#![allow(
    unsafe_code,
    reason = "a global allocator cannot be written without; it passes every call on as it is"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The system's allocator with counters.
///
/// It counts the requested bytes, without the overhead of the system's allocator. Go's figures, in
/// contrast, count size classes. It counts only within [`counted`]: the counters cost as much as a
/// small allocation, and more between threads, so no run is both timed and counted.
pub struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);

/// What was allocated while something ran, in bytes.
pub struct Counted {
    /// All of it. A reallocation counts with its whole new size, because it copies.
    pub allocated: u64,
    /// What is left of it.
    pub live: i64,
}

/// Runs something, and counts what it allocates.
pub fn counted<R>(run: impl FnOnce() -> R) -> (R, Counted) {
    ALLOCATED.store(0, Ordering::Relaxed);
    LIVE.store(0, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let result = run();
    COUNTS.store(false, Ordering::Relaxed);
    let counted = Counted {
        allocated: ALLOCATED.load(Ordering::Relaxed),
        live: LIVE.load(Ordering::Relaxed),
    };
    (result, counted)
}

/// Has the system's allocator keep what a run frees, as Go's runtime does. Else glibc gives the end of its heap
/// back to the operating system, and the next run pays 5 to 10 µs for each page of it that it touches
/// anew: more than half of what it costs to add 100,000 objects. glibc keeps twice as much as the largest block
/// that was given back, and counts blocks of at most 32 MB.
pub fn keep_memory() {
    drop(black_box(vec![0_u8; (32 << 20) - (64 << 10)]));
}

fn count(allocated: usize, freed: usize) {
    if COUNTS.load(Ordering::Relaxed) {
        ALLOCATED.fetch_add(allocated as u64, Ordering::Relaxed);
        LIVE.fetch_add(allocated as i64 - freed as i64, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        unsafe { System.realloc(place, layout, size) }
    }
}

/// The time of a run, without that of dropping what it leaves.
#[allow(clippy::disallowed_methods, reason = "a benchmark asks the clock")]
pub fn timed<R>(run: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    let left = run();
    let time = start.elapsed();
    drop(left);
    time
}
