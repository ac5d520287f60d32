//! Signals that ask this process to end: the programs it runs must end first.

use std::io;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

#[cfg(unix)]
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};

/// The signals that ask to end: for a closed terminal, for Ctrl-C, and as a request to terminate.
#[cfg(unix)]
const ENDING: [i32; 3] = [SIGHUP, SIGINT, SIGTERM];

/// Records the signals that ask this process to end, from [`Signals::watch`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    /// The number of the last signal, `0` for none.
    got: Arc<AtomicUsize>,
}

/// The signals recorded while a command fetches.
static FETCHING: OnceLock<Signals> = OnceLock::new();

/// Handles the signals that ask to end: the first stops the programs that a fetch started, and then
/// the command; a second ends the process at once.
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

/// Lets `last` happen when a signal asks this process to end, which ends as by itself then.
pub(crate) fn before_the_end(last: impl Fn() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut signals = signal_hook::iterator::Signals::new(ENDING)?;
        std::thread::Builder::new().spawn(move || {
            for signal in &mut signals {
                last();
                // Ends the process; if it cannot, the next signal is waited for.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        })?;
    }
    #[cfg(not(unix))]
    drop(last);
    Ok(())
}

/// Returns the last signal since [`cancel_fetches`] was called.
pub(crate) fn cancelled_by() -> Option<u8> {
    FETCHING.get().and_then(Signals::signal)
}

/// Makes a write fail with an error if the file would exceed the user's limit (`ulimit -f`).
/// Otherwise the system would end the process, and an agent would take that for a veto of the user's
/// message.
pub(crate) fn ignore_file_size_signal() {
    #[cfg(unix)]
    ignore(signal_hook::consts::signal::SIGXFSZ);
}

/// Leaves Ctrl-C to a program that this one waits for, such as a pager, which uses it itself.
pub(crate) fn leave_interrupts_to_child() {
    #[cfg(unix)]
    ignore(SIGINT);
}

/// Catches a signal, and does nothing then. Programs that are started get the signal as before.
#[cfg(unix)]
fn ignore(signal: i32) {
    // If it cannot be caught, it ends the process, as before.
    if let Err(error) = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))) {
        tracing::debug!(%error, signal, "the signal ends the process");
    }
}

impl Signals {
    /// Starts to record signals that ask to end. From then on, they do not end the process by
    /// themselves.
    pub(crate) fn watch() -> io::Result<Signals> {
        let got = Arc::new(AtomicUsize::new(0));
        #[cfg(unix)]
        for signal in ENDING {
            let number = signal.unsigned_abs() as usize;
            signal_hook::flag::register_usize(signal, Arc::clone(&got), number)?;
        }
        Ok(Signals { got })
    }

    /// Returns the number of the last recorded signal.
    pub(crate) fn signal(&self) -> Option<u8> {
        u8::try_from(self.got.load(Ordering::Relaxed)).ok().filter(|number| *number != 0)
    }
}
