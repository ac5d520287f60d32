//! The deadline of an answer.
//!
//! The answer is computed on the main thread: the heap of any other thread grows in smaller steps,
//! which is measurable when a large snapshot is read. Another thread sleeps until the deadline and
//! then ends the process; it is never woken earlier, as it ends with the process.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The extra time for recording what an answer shows. It is less than the second for which the agent
/// still waits after the deadline.
const NOTING: Duration = Duration::from_millis(500);

/// A running deadline, and the stage reached.
#[derive(Debug, Clone)]
pub(super) struct Deadline(Arc<Mutex<Stage>>);

/// The stages, in the order in which they are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// An answer is being computed: the process may end without harm.
    Answering,
    /// The session records what the answer shows, so the answer must arrive.
    Noting,
    /// The answer is complete.
    Met,
}

impl Deadline {
    /// Starts a deadline of `time`. When it expires, calls `late` and ends the process
    /// successfully; while the session is being recorded, half a second later.
    ///
    /// Fails if no thread can be started.
    pub(super) fn start(
        time: Duration,
        late: impl FnOnce() + Send + 'static,
    ) -> io::Result<Deadline> {
        let deadline = Deadline(Arc::new(Mutex::new(Stage::Answering)));
        let watched = deadline.clone();
        thread::Builder::new().spawn(move || {
            thread::sleep(time);
            let mut stage = watched.stage();
            if *stage == Stage::Noting {
                drop(stage);
                thread::sleep(NOTING);
                stage = watched.stage();
            }
            // The lock is held until the process ends, so that any thread that would continue now
            // waits for ever.
            if *stage != Stage::Met {
                late();
                process::exit(0);
            }
        })?;
        Ok(deadline)
    }

    /// Marks the start of recording what the answer shows. If the process ended after that, text that
    /// did not arrive would count as shown. Does not return if the deadline has expired.
    pub(super) fn note(&self) {
        self.reach(Stage::Noting);
    }

    /// Marks the answer as complete: from here on the process is not ended, so that nothing is half
    /// written. Does not return if the deadline has expired.
    pub(super) fn meet(&self) {
        self.reach(Stage::Met);
    }

    /// Advances to `stage`, never back: recording after the answer is complete has no deadline.
    fn reach(&self, reached: Stage) {
        let mut stage = self.stage();
        *stage = reached.max(*stage);
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
