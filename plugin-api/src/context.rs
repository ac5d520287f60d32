//! The context of a running call: a tool's access to its host.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ErrorCode, ToolError, ToolResult};

/// The host, as a running tool sees it.
///
/// Hosts and [`FakeHost`](crate::FakeHost) implement this trait; authors use [`ToolContext`]. All
/// methods have a default, so that a host implements only what it supports.
pub trait Host: Send + Sync {
    /// Returns true if the call should end soon.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Reports the progress of the call, from 0 to 1, and its current step.
    fn progress(&self, fraction: f64, message: &str) {
        let _ = (fraction, message);
    }

    /// Writes a line to the host's log.
    fn log(&self, level: LogLevel, message: &str) {
        let _ = (level, message);
    }

    /// Returns the time at which the host gives up waiting, if there is one.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Returns the directory of the skill that the toolset belongs to. A path that is not UTF-8 does
    /// not reach a plugin.
    fn skill_dir(&self) -> Option<&Path> {
        None
    }

    /// Answers any other request, by name. This is how hosts gain abilities without a new ABI. Methods
    /// that begin with `repertoire/` are reserved.
    fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        let _ = params;
        Err(ToolError::new(format!("this host does not support the request `{method}`")))
    }
}

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LogLevel {
    /// Something failed.
    Error = 1,
    /// Something is odd.
    Warn = 2,
    /// Normal events.
    Info = 3,
    /// Details for a developer of the toolset.
    Debug = 4,
    /// Everything.
    Trace = 5,
}

impl LogLevel {
    /// Returns the level with this number at the border; an unknown number gives `Trace`.
    #[cfg(feature = "host")]
    pub(crate) fn from_number(number: u8) -> Self {
        match number {
            1 => Self::Error,
            2 => Self::Warn,
            3 => Self::Info,
            4 => Self::Debug,
            _ => Self::Trace,
        }
    }
}

/// The context of a running call, a tool's access to its host: the parameter of type
/// `&ToolContext`.
///
/// ```
/// use repertoire_plugin::{FakeHost, ToolContext, ToolResult};
///
/// fn count(to: u32, cx: &ToolContext) -> ToolResult<u32> {
///     for number in 0..to {
///         cx.check()?; // ends the tool if the host asks for it
///         cx.progress(f64::from(number) / f64::from(to), "counting");
///     }
///     Ok(to)
/// }
///
/// let host = FakeHost::new();
/// assert_eq!(count(3, &host.context()).unwrap(), 3);
/// assert_eq!(host.progress_reports().len(), 3);
/// ```
#[derive(Clone, Copy)]
pub struct ToolContext<'h> {
    host: &'h dyn Host,
}

impl<'h> ToolContext<'h> {
    /// Creates the context of a call for this host.
    pub fn new(host: &'h dyn Host) -> Self {
        Self { host }
    }

    /// Tells whether the host wants the tool to stop.
    pub fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }

    /// Returns an error, which ends the tool by `?`, if the host wants it to stop or the deadline has
    /// passed.
    ///
    /// Nothing else can stop a tool that runs in the host's process, so call this in every loop.
    pub fn check(&self) -> ToolResult<()> {
        if self.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        match self.deadline() {
            Some(deadline) if Instant::now() >= deadline => {
                Err(ToolError::with_code(ErrorCode::DeadlineExceeded, "the deadline is over"))
            }
            _ => Ok(()),
        }
    }

    /// Reports the tool's progress, from 0 to 1, and its current step.
    pub fn progress(&self, fraction: f64, message: impl AsRef<str>) {
        let fraction = if fraction.is_nan() { 0.0 } else { fraction.clamp(0.0, 1.0) };
        self.host.progress(fraction, message.as_ref());
    }

    /// Writes a line to the host's log. Use it instead of printing: printed output may be lost, or may
    /// break a protocol on the host's standard output.
    pub fn log(&self, level: LogLevel, message: impl AsRef<str>) {
        self.host.log(level, message.as_ref());
    }

    /// Returns the time at which the host gives up waiting, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.host.deadline()
    }

    /// Returns the time left until the deadline; zero if it has passed.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns the directory of the skill that the toolset belongs to.
    pub fn skill_dir(&self) -> ToolResult<&'h Path> {
        self.host.skill_dir().ok_or_else(|| ToolError::new("the host names no skill directory"))
    }

    /// Sends the host any other request, by name; a host that does not know the request returns an
    /// error.
    pub fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        self.host.request(method, params)
    }
}
