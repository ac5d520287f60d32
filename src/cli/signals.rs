//! Signals that ask this process to end: a script it runs must end first.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Watches for such signals from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The number of the last one, `0` for none.
    got: Arc<AtomicUsize>,
}

/// Makes a file that grows beyond the limit of the user (`ulimit -f`) an error of the write. Else
/// the system ends the process, and an agent takes that for a veto of its message.
pub(crate) fn survive_limits_of_files() {
    #[cfg(unix)]
    {
        let reached = Arc::new(std::sync::atomic::AtomicBool::new(false));
        // Where it cannot be caught, all is as it would be without.
        if let Err(error) =
            signal_hook::flag::register(signal_hook::consts::signal::SIGXFSZ, reached)
        {
            tracing::debug!(%error, "limits of files end the process");
        }
    }
}

impl Signals {
    /// Ctrl-C, a request to end, and a terminal that is gone no longer end the process by
    /// themselves.
    pub(crate) fn watch() -> io::Result<Signals> {
        let got = Arc::new(AtomicUsize::new(0));
        #[cfg(unix)]
        for signal in {
            use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
            [SIGHUP, SIGINT, SIGTERM]
        } {
            let number = signal.unsigned_abs() as usize;
            signal_hook::flag::register_usize(signal, Arc::clone(&got), number)?;
        }
        Ok(Signals { got })
    }

    /// The number of the signal that came.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.got.load(Ordering::Relaxed)).ok().filter(|number| *number != 0)
    }
}
