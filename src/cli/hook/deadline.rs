//! The time that an answer has.
//!
//! The answer is worked out on the main thread: the memory of any other grows in smaller steps,
//! which tells when a large snapshot is read. Another thread watches the time, and ends the process
//! when it is over. It is not woken before: the process ends with it asleep.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A time that runs, and whether it is met.
pub(super) struct Deadline(Arc<Mutex<bool>>);

impl Deadline {
    /// Lets `time` run from now on. When it is over, `late` is called and the process ends well.
    ///
    /// Fails if no thread can be started.
    pub(super) fn start(
        time: Duration,
        late: impl FnOnce() + Send + 'static,
    ) -> io::Result<Deadline> {
        let watched = Arc::new(Mutex::new(false));
        let watching = Arc::clone(&watched);
        thread::Builder::new().spawn(move || {
            thread::sleep(time);
            // Held until the end: who would meet the deadline now waits for ever.
            let is_met = watching.lock().unwrap_or_else(PoisonError::into_inner);
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
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}
