//! The communication between a running tool call and its host.

use std::fmt;
use std::time::Instant;

#[cfg(feature = "scripts")]
use crate::script::Stream;
#[cfg(feature = "toolsets")]
use crate::toolset::RightsRequest;

/// The host's end of a tool call: cancellation, a deadline and progress. By default the call cannot be
/// cancelled, has no deadline, and its progress is dropped.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use repertoire::CallIo;
///
/// let cancelled = AtomicBool::new(false);
/// let is_cancelled = || cancelled.load(Ordering::Relaxed);
/// let report = |fraction: f64, step: &str| eprintln!("{:.0} % {step}", fraction * 100.0);
/// let io = CallIo::default().cancelled_if(&is_cancelled).progress(&report);
/// # let _ = io;
/// ```
#[derive(Default, Clone, Copy)]
pub struct CallIo<'a> {
    is_cancelled: Option<&'a (dyn Fn() -> bool + Sync)>,
    deadline: Option<Instant>,
    progress: Option<&'a Report<'a>>,
    #[cfg(feature = "scripts")]
    pub(super) output: Option<&'a Listen<'a>>,
    #[cfg(feature = "toolsets")]
    pub(super) refusal: Option<&'a (dyn Fn(&RightsRequest) + Sync)>,
}

/// A callback that takes the progress of a tool, from 0 to 1, and its current step.
type Report<'a> = dyn Fn(f64, &str) + Sync + 'a;

/// A callback that takes what a script writes.
#[cfg(feature = "scripts")]
type Listen<'a> = dyn Fn(Stream, &[u8]) + Sync + 'a;

impl<'a> CallIo<'a> {
    /// Ends the call soon after `is_cancelled` returns true: a script within about 20 ms, a toolset as
    /// soon as its code checks. The other tools are too fast to need it.
    #[must_use]
    pub fn cancelled_if(mut self, is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> CallIo<'a> {
        self.is_cancelled = Some(is_cancelled);
        self
    }

    /// Ends the call at `deadline`.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> CallIo<'a> {
        self.deadline = Some(deadline);
        self
    }

    /// Calls `report` with the progress of a tool, from 0 to 1, and its current step.
    #[must_use]
    pub fn progress(mut self, report: &'a (dyn Fn(f64, &str) + Sync)) -> CallIo<'a> {
        self.progress = Some(report);
        self
    }

    /// Calls `output` with what a script writes, as it comes: in pieces of any size, up to the limit of its
    /// output. The answer has the whole output once more.
    #[cfg(feature = "scripts")]
    #[must_use]
    pub fn output(mut self, output: &'a (dyn Fn(Stream, &[u8]) + Sync)) -> CallIo<'a> {
        self.output = Some(output);
        self
    }

    /// Calls `refusal` if the sandbox refuses something to a tool of a toolset, and the tool's skill
    /// asks for rights that it was not granted. A host may then ask its user, grant the rights, and
    /// repeat the call.
    #[cfg(feature = "toolsets")]
    #[must_use]
    pub fn refusal(mut self, refusal: &'a (dyn Fn(&RightsRequest) + Sync)) -> CallIo<'a> {
        self.refusal = Some(refusal);
        self
    }

    /// Tells whether the call should end because it was cancelled or its deadline has passed.
    #[cfg(feature = "scripts")]
    pub(super) fn is_over(&self) -> bool {
        self.is_cancelled.is_some_and(|is_cancelled| is_cancelled())
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl fmt::Debug for CallIo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallIo")
            .field("is_cancellable", &self.is_cancelled.is_some())
            .field("deadline", &self.deadline)
            .field("has_progress", &self.progress.is_some())
            .finish()
    }
}

#[cfg(feature = "toolsets")]
impl repertoire_plugin::Host for CallIo<'_> {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.is_some_and(|is_cancelled| is_cancelled())
    }

    fn progress(&self, fraction: f64, message: &str) {
        if let Some(report) = self.progress {
            report(fraction, message);
        }
    }

    fn log(&self, level: repertoire_plugin::LogLevel, message: &str) {
        tracing::debug!(?level, message, "log of a plugin");
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}
