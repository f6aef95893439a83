//! The allocator of this binary: the system's, counted.

#![allow(unsafe_code, reason = "an allocator cannot be written without it; it only counts")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

static COUNT: AtomicU64 = AtomicU64::new(0);
static ASIDE: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

// SAFETY: every call is the system allocator's, with the arguments that came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(old, layout) }
    }
}

/// Returns the allocations so far, those set aside left out.
pub(crate) fn counted() -> u64 {
    COUNT.load(Relaxed).saturating_sub(ASIDE.load(Relaxed))
}

/// Runs work that does not count: an agent's own work inside a kernel's step. Sound only while no
/// other thread allocates.
pub(crate) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let before = COUNT.load(Relaxed);
    let done = work();
    ASIDE.fetch_add(COUNT.load(Relaxed).saturating_sub(before), Relaxed);
    done
}
