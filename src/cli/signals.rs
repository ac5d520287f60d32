//! Signals that ask this process to end: the programs it runs must end first.

use std::io;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(unix)]
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};

/// Ctrl-C, a request to end, and a terminal that is gone.
#[cfg(unix)]
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Watches for such signals from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The number of the last one, `0` for none.
    got: Arc<AtomicUsize>,
}

/// The signals of a command that fetches.
static FETCHING: OnceLock<Signals> = OnceLock::new();

/// Lets such a signal end the programs that a fetch started, and then the command; a second one ends
/// the process at once.
pub(crate) fn cancel_fetches() -> io::Result<()> {
    #[cfg(unix)]
    {
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in ENDING {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&is_second))?;
            signal_hook::flag::register(signal, Arc::clone(&is_second))?;
        }
    }
    let signals = Signals::watch()?;
    let _ = FETCHING.set(signals);
    Ok(())
}

/// The signal that came since [`cancel_fetches`].
pub(crate) fn cancelled_by() -> Option<u8> {
    FETCHING.get().and_then(Signals::signal)
}

/// Makes a file that grows beyond the limit of the user (`ulimit -f`) an error of the write. Else
/// the system ends the process, and an agent takes that for a veto of its message.
pub(crate) fn survive_limits_of_files() {
    #[cfg(unix)]
    {
        let reached = Arc::new(AtomicBool::new(false));
        // Where it cannot be caught, all is as it would be without.
        if let Err(error) =
            signal_hook::flag::register(signal_hook::consts::signal::SIGXFSZ, reached)
        {
            tracing::debug!(%error, "limits of files end the process");
        }
    }
}

impl Signals {
    /// Such signals no longer end the process by themselves.
    pub(crate) fn watch() -> io::Result<Signals> {
        let got = Arc::new(AtomicUsize::new(0));
        #[cfg(unix)]
        for signal in ENDING {
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
