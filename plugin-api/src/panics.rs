//! Containment of panics: no panic crosses the border.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{ErrorCode, ToolError, ToolResult};

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static LOCATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// True if a panic ends the process; the hook then does not suppress its message.
static ABORTS: AtomicBool = AtomicBool::new(false);

/// Records that panics of this library cannot be caught.
pub(crate) fn announce_aborts() {
    ABORTS.store(true, Ordering::Relaxed);
}

/// Runs the author's code. A panic in it becomes an error that names the file and line.
pub(crate) fn caught<R>(run: impl FnOnce() -> ToolResult<R>) -> ToolResult<R> {
    install_hook();
    let inside = Inside::enter();
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    let result = result.unwrap_or_else(|payload| {
        let message = message(payload.as_ref());
        let location = LOCATION.take();
        dispose(payload);
        let place = location.map_or_else(String::new, |place| format!(" at {place}"));
        Err(ToolError::with_code(ErrorCode::Panicked, format!("panicked{place}: {message}")))
    });
    drop(inside);
    result
}

/// Runs a host's callback. A panic in it must not reach the plugin, so `default` is returned instead.
#[cfg(feature = "host")]
pub(crate) fn guarded<R>(default: impl FnOnce() -> R, run: impl FnOnce() -> R) -> R {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        dispose(payload);
        default()
    })
}

/// Drops the payload of a panic. If that panics too, the second payload is leaked.
fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
        LOCATION.take();
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a value that is not text".to_owned()
    }
}

/// Installs a hook that records where a tool panicked instead of printing it, because the error names
/// the place. Panics elsewhere, such as in a thread that a tool started, go to the previous hook.
fn install_hook() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if DEPTH.try_with(Cell::get).unwrap_or(0) == 0 || ABORTS.load(Ordering::Relaxed) {
                return previous(info);
            }
            let place = info.location().map(|at| format!("{}:{}", at.file(), at.line()));
            let _ = LOCATION.try_with(|location| location.replace(place));
        }));
    });
}

/// A guard that counts the calls of tools on this thread.
struct Inside;

impl Inside {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}
