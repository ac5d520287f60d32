//! The allocator of this program, for Rust and for `SQLite`: it takes the place of the C library's, counts, and fails
//! once.
#![expect(unsafe_code, reason = "an allocator of the C library is replaced by its own functions")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

static COUNTS: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);
static FAILS: AtomicUsize = AtomicUsize::new(usize::MAX);

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void;
}

fn fails() -> bool {
    COUNTS.load(Ordering::Relaxed)
        && COUNT.fetch_add(1, Ordering::Relaxed) == FAILS.load(Ordering::Relaxed)
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: any size is right.
    if fails() { std::ptr::null_mut() } else { unsafe { __libc_malloc(size) } }
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: any numbers are right.
    if fails() { std::ptr::null_mut() } else { unsafe { __libc_calloc(count, size) } }
}

/// # Safety
///
/// As for `realloc` of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller keeps what the C library asks for.
    if fails() { std::ptr::null_mut() } else { unsafe { __libc_realloc(old, size) } }
}

/// Does `work` with an allocation that fails. Returns also how many there were.
pub(crate) fn failing<T>(point: usize, work: impl FnOnce() -> T) -> (T, usize) {
    FAILS.store(point, Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    let done = work();
    COUNTS.store(false, Ordering::Relaxed);
    (done, COUNT.load(Ordering::Relaxed))
}
