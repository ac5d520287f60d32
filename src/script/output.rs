//! The input and the output of a run.

use std::fmt;

use serde::Serialize;

use super::SandboxLevel;

/// A stream of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The receiver of a script's output.
pub type Listener<'a> = &'a mut dyn FnMut(Stream, &[u8]);

/// The other ends of a run: nothing on standard input, and nobody listening, by default.
///
/// The functions are called on the thread that runs the script, between looks at its limits: one
/// that blocks holds up the limits too.
#[derive(Default)]
pub struct ScriptIo<'a> {
    /// The text that the script reads from its standard input.
    pub stdin: &'a [u8],
    /// Gets the output as it comes, in pieces of any size, up to the limit of the output.
    pub on_output: Option<Listener<'a>>,
    /// Tells whether the run should end; asked about every 20 ms.
    pub is_cancelled: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for ScriptIo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptIo").field("stdin", &self.stdin.len()).finish_non_exhaustive()
    }
}

/// Why the network was closed to a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offline {
    /// The host has no network for scripts.
    Host,
    /// The skill is a project's, and its manifest does not ask for the network.
    NotAsked,
    /// The skill is a project's and asks for it, but the user has not allowed it.
    NotAllowed,
}

impl Offline {
    /// The reason, to follow "the network was closed to it".
    pub fn reason(self) -> &'static str {
        match self {
            Offline::Host => "it is for all scripts here",
            Offline::NotAsked => "the skill does not ask for it, with `rights: {network: true}`",
            Offline::NotAllowed => "the user has not allowed it",
        }
    }
}

/// The outcome of a run. A script that failed or was stopped has one too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScriptOutput {
    /// Its exit code; `None` if a signal ended it.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output. What is not UTF-8 is `U+FFFD`.
    pub stdout: String,
    /// Its standard error, likewise.
    pub stderr: String,
    /// True if it wrote more than is kept, and was killed for it.
    pub truncated: bool,
    /// True if it was stopped since its time was over.
    pub timed_out: bool,
    /// True if it was stopped since the host cancelled it.
    pub cancelled: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The limits that were enforced.
    pub sandbox: SandboxLevel,
    /// Files beside it in `scripts/` that are not trusted, and so were not there for it.
    pub withheld: Vec<String>,
    /// Why the network was closed to it; `None` if it was open.
    pub offline: Option<Offline>,
    /// Why it was stopped or killed, in a sentence; `None` if it ended by itself.
    pub reason: Option<String>,
}

impl ScriptOutput {
    /// Tells whether it ran to its end, and said that it succeeded.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && self.reason.is_none()
    }
}
