//! Why a call through a child process failed. Messages name the author's file and the remedy.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use repertoire_plugin::ErrorCode;

/// How much of a plugin's last words a message shows, in bytes.
const SHOWN_WORDS: usize = 400;

/// Why a call through a child process failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerError {
    /// The tool, or the making of its toolset, said no, or panicked.
    Failed { code: ErrorCode, message: String },
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
    /// The library cannot be opened; the message is that of the opening.
    Load { message: String },
    /// The process sent, or was to be sent, what cannot be.
    Protocol { file: PathBuf, message: String },
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { message, .. } | Self::Load { message } => f.write_str(message),
            Self::TimedOut { file, after, stopped } => {
                let seconds = after.as_secs_f64();
                let file = file.display();
                write!(f, "the call to the plugin `{file}` did not end within {seconds:.1} s")?;
                f.write_str(if *stopped {
                    " and was stopped; ask for less, or raise the time limit"
                } else {
                    " and its process was killed; the tool should check for cancellation, or the \
                     time limit be raised"
                })
            }
            Self::Cancelled { file, stopped } => {
                write!(f, "the call to the plugin `{}` was cancelled", file.display())?;
                if *stopped {
                    return Ok(());
                }
                f.write_str("; the tool did not stop, so its process was killed")
            }
            Self::Crashed { file, how, last_words } => {
                write!(f, "the plugin `{}` crashed: {how}{}", file.display(), words(last_words))?;
                f.write_str("; the next call starts it again")
            }
            Self::Disabled { file, crashes, how, last_words } => {
                let (file, words) = (file.display(), words(last_words));
                write!(f, "the plugin `{file}` is disabled after {crashes} crashes, the last: ")?;
                write!(f, "{how}{words}; repair it, then load it again")
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

impl std::error::Error for WorkerError {}

/// The end of the last words, in one line.
fn words(last_words: &str) -> String {
    let mut start = last_words.len().saturating_sub(SHOWN_WORDS);
    while !last_words.is_char_boundary(start) {
        start += 1;
    }
    let lines = last_words[start..].lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" | ");
    if line.is_empty() { line } else { format!("; last words: {line}") }
}
