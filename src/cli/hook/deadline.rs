//! The time that an answer has.
//!
//! The answer is worked out on the main thread: the memory of any other grows in smaller steps,
//! which tells when a large snapshot is read. Another thread watches the time, and ends the process
//! when it is over. It is not woken before: the process ends with it asleep.

use std::io;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// So long it may take beyond the time to note what an answer shows, where others hold the file.
const NOTING: Duration = Duration::from_secs(5);

/// A time that runs, and what is done in it.
#[derive(Debug, Clone)]
pub(super) struct Deadline(Arc<Mutex<Stage>>);

/// In the order in which they are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// An answer is worked out: nobody is the worse if the process ends.
    Answering,
    /// It is noted what the answer shows, and so it must arrive.
    Noting,
    /// The answer is there.
    Met,
}

impl Deadline {
    /// Lets `time` run from now on. When it is over, `late` is called and the process ends well;
    /// if what the answer shows is being noted then, a few seconds later.
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
            // Held until the end: who would go on now waits for ever.
            if *stage != Stage::Met {
                late();
                process::exit(0);
            }
        })?;
        Ok(deadline)
    }

    /// What the answer shows is noted from here on: were the process ended now, it would be taken
    /// for shown. Does not return if the time is over.
    pub(super) fn note(&self) {
        self.reach(Stage::Noting);
    }

    /// The answer is there: the process is not ended from here on, so that nothing is half written.
    /// Does not return if the time is over.
    pub(super) fn meet(&self) {
        self.reach(Stage::Met);
    }

    /// Goes on to `stage`, never back: what is noted once the answer is there takes no time of it.
    fn reach(&self, reached: Stage) {
        let mut stage = self.stage();
        *stage = reached.max(*stage);
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
