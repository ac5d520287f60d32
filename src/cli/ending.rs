//! Signals that ask this process to end: a script it runs must end first.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Watches for such signals from now on.
#[derive(Debug)]
pub(crate) struct Ending {
    /// The number of the last one, `0` for none.
    got: Arc<AtomicUsize>,
}

impl Ending {
    /// Ctrl-C, a request to end, and a terminal that is gone no longer end the process by
    /// themselves.
    pub(crate) fn watch() -> io::Result<Ending> {
        let got = Arc::new(AtomicUsize::new(0));
        #[cfg(unix)]
        for signal in {
            use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
            [SIGHUP, SIGINT, SIGTERM]
        } {
            let number = signal.unsigned_abs() as usize;
            signal_hook::flag::register_usize(signal, Arc::clone(&got), number)?;
        }
        Ok(Ending { got })
    }

    /// The number of the signal that came.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.got.load(Ordering::Relaxed)).ok().filter(|number| *number != 0)
    }
}
