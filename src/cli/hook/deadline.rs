//! The time that an answer has.
//!
//! The answer is worked out on the main thread: the memory of any other grows in smaller steps,
//! which tells when a large snapshot is read. Another thread watches the time, and ends the process
//! when it is over.

use std::io;
use std::process;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A time that runs.
pub(super) struct Deadline(Arc<Watched>);

#[derive(Default)]
struct Watched {
    is_met: Mutex<bool>,
    changed: Condvar,
}

impl Deadline {
    /// Lets `time` run from now on. When it is over, `late` is called and the process ends well.
    ///
    /// Fails if no thread can be started.
    pub(super) fn start(
        time: Duration,
        late: impl FnOnce() + Send + 'static,
    ) -> io::Result<Deadline> {
        let watched = Arc::new(Watched::default());
        let watching = Arc::clone(&watched);
        thread::Builder::new().spawn(move || {
            let is_met = watching.is_met.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = watching.changed.wait_timeout_while(is_met, time, |is_met| !*is_met);
            // Held until the end: who would meet the deadline now waits for ever.
            let (is_met, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if !*is_met {
                late();
                process::exit(0);
            }
        })?;
        Ok(Deadline(watched))
    }

    /// The answer is there: the process is not ended from here on, so that nothing is half written.
    /// Does not return if the time is over.
    pub(super) fn meet(self) {
        *self.0.is_met.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}
