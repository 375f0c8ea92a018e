//! An allocator that counts the allocated and the live bytes.

#![allow(
    unsafe_code,
    reason = "a global allocator cannot be written without; it passes every call on as it is"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The system's allocator with counters.
///
/// It counts the requested bytes, without the overhead of the system's allocator. Go's figures, in
/// contrast, count size classes.
pub struct Counting;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI64 = AtomicI64::new(0);

/// All bytes ever allocated. A reallocation counts with its whole new size, because it copies.
pub fn allocated() -> u64 {
    ALLOCATED.load(Ordering::Relaxed)
}

/// The bytes currently allocated.
pub fn live() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

fn count(size: usize) {
    ALLOCATED.fetch_add(size as u64, Ordering::Relaxed);
    LIVE.fetch_add(size as i64, Ordering::Relaxed);
}

// SAFETY: every call is passed to the system's allocator with unchanged arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
}
