//! Failures of calls through a child process. Messages name the author's file; `help` is the
//! remedy.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use repertoire_plugin::ErrorCode;

/// The longest end of a plugin's output that a message shows, in bytes.
const SHOWN_WORDS: usize = 400;

/// The failure of a call through a child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerError {
    /// The tool reported an error, or panicked.
    Failed { code: ErrorCode, message: String },
    /// The making of its toolset reported an error, or panicked.
    Create { code: ErrorCode, message: String },
    /// The tool did not end in time; `stopped` if it stopped when asked, else it was killed.
    TimedOut { file: PathBuf, after: Duration, stopped: bool },
    /// The host cancelled the call; `stopped` if the tool stopped when asked.
    Cancelled { file: PathBuf, stopped: bool },
    /// The process ended during the call.
    Crashed { file: PathBuf, how: String, last_words: String },
    /// The process ended too often.
    Disabled { file: PathBuf, crashes: usize, how: String, last_words: String },
    /// The process cannot be started.
    Spawn { file: PathBuf, program: PathBuf, why: String },
    /// The library cannot be opened; message and help are those of the opening.
    Load { message: String, help: String },
    /// An invalid message from the process, or to it.
    Protocol { file: PathBuf, message: String },
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { message, .. }
            | Self::Create { message, .. }
            | Self::Load { message, .. } => f.write_str(message),
            Self::TimedOut { file, after, stopped } => {
                let seconds = after.as_secs_f64();
                let file = file.display();
                write!(f, "the call to the plugin `{file}` did not end within {seconds:.1} s")?;
                f.write_str(if *stopped {
                    " and was stopped"
                } else {
                    " and its process was killed"
                })
            }
            Self::Cancelled { file, stopped } => {
                write!(f, "the call to the plugin `{}` was cancelled", file.display())?;
                if *stopped {
                    return Ok(());
                }
                f.write_str(" and did not stop, so its process was killed")
            }
            Self::Crashed { file, how, last_words } => {
                write!(f, "the plugin `{}` crashed: {how}{}", file.display(), words(last_words))
            }
            Self::Disabled { file, crashes, how, last_words } => {
                let (file, words) = (file.display(), words(last_words));
                write!(f, "the plugin `{file}` is disabled after {crashes} crashes, the last: ")?;
                write!(f, "{how}{words}")
            }
            Self::Spawn { file, program, why } => {
                let (file, program) = (file.display(), program.display());
                write!(f, "cannot start `{program}` for the plugin `{file}`: {why}")
            }
            Self::Protocol { file, message } => {
                let file = file.display();
                write!(f, "cannot talk to the process of the plugin `{file}`: {message}")
            }
        }
    }
}

impl WorkerError {
    /// The remedy; empty where the tool's own message says it.
    pub(crate) fn help(&self) -> &str {
        match self {
            Self::Failed { .. } | Self::Cancelled { stopped: true, .. } => "",
            Self::Load { help, .. } => help,
            Self::Create { code: ErrorCode::InvalidArguments, .. } => {
                "mend the configuration of the class"
            }
            Self::Create { .. } => "mend the toolset, or the configuration of its class",
            Self::TimedOut { stopped: true, .. } => "ask for less, or raise the time limit",
            Self::TimedOut { stopped: false, .. } => {
                "let the tool check for cancellation, or raise the time limit"
            }
            Self::Cancelled { stopped: false, .. } => "let the tool check for cancellation",
            Self::Crashed { .. } => {
                "the next call starts it again; if it crashes again, mend the plugin"
            }
            Self::Disabled { .. } => {
                "mend the plugin and copy it to its place again; `Tool::restart` starts it as it is"
            }
            Self::Spawn { .. } => {
                "name a program that runs plugins in `HostProgram`, or run them in process"
            }
            Self::Protocol { .. } => {
                "name a program in `HostProgram` that calls `worker_main`, of the same version as \
                 this one; if it does, answers of the tool may be too large"
            }
        }
    }
}

impl std::error::Error for WorkerError {}

/// The end of the last words, in one line.
pub(super) fn words(last_words: &str) -> String {
    let mut start = last_words.len().saturating_sub(SHOWN_WORDS);
    while !last_words.is_char_boundary(start) {
        start += 1;
    }
    let lines = last_words[start..].lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" | ");
    if line.is_empty() { line } else { format!("; last words: {line}") }
}
