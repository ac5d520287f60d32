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

/// The input of a run, and the functions that observe it. By default, standard input is empty, and
/// nobody observes.
///
/// The functions are called on the thread that runs the script, between checks of its limits. A
/// function that blocks delays the limits, too.
#[derive(Default)]
pub struct ScriptIo<'a> {
    /// The text that the script reads from its standard input.
    pub stdin: &'a [u8],
    /// Receives the output as it comes, in pieces of any size, up to the limit of the output.
    pub on_output: Option<Listener<'a>>,
    /// Tells whether the run should end; called about every 20 ms.
    pub is_cancelled: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for ScriptIo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptIo").field("stdin", &self.stdin.len()).finish_non_exhaustive()
    }
}

/// The reason why the network was closed to a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Offline {
    /// The host does not allow scripts to use the network.
    Host,
    /// The skill belongs to a project, and its manifest does not ask for the network.
    NotAsked,
    /// The skill belongs to a project and asks for the network, but the user has not allowed it.
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

/// The outcome of a run, even of one that failed or was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ScriptOutput {
    /// The exit code; `None` if a signal ended the script.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended the script; `None` if it exited.
    pub signal: Option<i32>,
    /// Its standard output. Bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub stdout: String,
    /// Its standard error. Bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub stderr: String,
    /// True if the script wrote more than the limit, and was killed for it.
    pub truncated: bool,
    /// True if the script was stopped because its time was over.
    pub timed_out: bool,
    /// True if the script was stopped because the host cancelled the run.
    pub cancelled: bool,
    /// The duration of the run, in milliseconds.
    pub duration_ms: u64,
    /// The limits that were enforced.
    pub sandbox: SandboxLevel,
    /// Other files in `scripts/` or declared as scripts that are not trusted, and so were not available.
    pub withheld: Vec<String>,
    /// The reason why the network was closed to the script; `None` if it was open.
    pub offline: Option<Offline>,
    /// The reason why the script was stopped or killed, in a sentence; `None` if it ended by itself.
    pub reason: Option<String>,
}

impl ScriptOutput {
    /// Tells whether the script ran to its end and exited with code 0.
    pub fn is_success(&self) -> bool {
        self.exit_code == Some(0) && self.reason.is_none()
    }
}
