//! Failures of calls through a child process. Messages name the author's file; `help` is the
//! remedy.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use repertoire_plugin::ErrorCode;

/// The most bytes of a plugin's output that a message shows. The end of the output is shown.
const SHOWN_WORDS: usize = 400;

/// The failure of a call through a child process. `file` is the library or the server's program as users know it,
/// `last_output` the end of what it wrote, and `help` the remedy, in a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts of the variants name the fields")]
pub enum WorkerError {
    /// The tool reported an error, or panicked.
    Failed { code: ErrorCode, message: String, help: String },
    /// The arguments do not fit the schema of the tool. `problems` lists the problems in one line.
    Unfit { problems: String },
    /// The toolset that runs has other tools than the host accepts.
    OtherTools,
    /// Making the toolset failed or panicked.
    Create { code: ErrorCode, message: String, help: String },
    /// The library is still being opened, and the host no longer waits for it.
    NotReady { file: PathBuf, after: Duration },
    /// The library was not opened, or its toolset not made, in time. `why` begins with "it".
    Stuck { file: PathBuf, why: String, last_output: String },
    /// The tool did not end in time. `stopped` is true if it stopped when asked; otherwise it was
    /// killed.
    TimedOut { file: PathBuf, after: Duration, stopped: bool },
    /// The host cancelled the call. `stopped` is true if the tool stopped when asked.
    Cancelled { file: PathBuf, stopped: bool },
    /// The process ended during the call.
    Crashed { file: PathBuf, how: String, last_output: String },
    /// The process failed too often. It is tried again after `retry_in`. `why` follows "is disabled".
    Disabled { file: PathBuf, why: String, retry_in: Duration },
    /// The process cannot be started.
    Spawn { file: PathBuf, program: PathBuf, why: String },
    /// The library cannot be opened. The message and the help come from opening it.
    Load { message: String, help: String },
    /// The process sent an invalid message, or a message to it is invalid.
    Protocol { file: PathBuf, message: String },
}

impl fmt::Display for WorkerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { message, .. }
            | Self::Create { message, .. }
            | Self::Load { message, .. } => f.write_str(message),
            Self::OtherTools => f.write_str("the toolset has other tools than were listed"),
            Self::Unfit { problems } => write!(f, "the arguments do not fit: {problems}"),
            Self::NotReady { file, after } => {
                let (file, after) = (file.display(), seconds(*after));
                write!(f, "the plugin `{file}` is still being opened after {after}")
            }
            Self::Stuck { file, why, last_output } => {
                let (file, words) = (file.display(), words(last_output));
                write!(f, "the plugin `{file}` is stuck: {why}, so its process was killed{words}")
            }
            Self::TimedOut { file, after, stopped } => {
                let (file, after) = (file.display(), seconds(*after));
                write!(f, "the call to the plugin `{file}` did not end within {after}")?;
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
            Self::Crashed { file, how, last_output } => {
                write!(f, "the plugin `{}` crashed: {how}{}", file.display(), words(last_output))
            }
            Self::Disabled { file, why, .. } => {
                write!(f, "the plugin `{}` is disabled{why}", file.display())
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
    /// The remedy; empty if the tool's own message says it.
    pub fn help(&self) -> String {
        let help = match self {
            Self::Unfit { .. } | Self::Cancelled { stopped: true, .. } => "",
            Self::OtherTools => "list the tools again",
            Self::Failed { help, .. } | Self::Load { help, .. } => help,
            Self::Create { help, .. } if !help.is_empty() => help,
            Self::Create { code: ErrorCode::InvalidArguments, .. } => {
                "fix the configuration of the class"
            }
            Self::Create { .. } => "fix the toolset, or the configuration of its class",
            Self::NotReady { .. } => "try again in a moment, or wait longer",
            Self::Stuck { .. } => {
                "fix what the library does when it is opened and its class is made, or raise the \
                 limit on loading"
            }
            Self::TimedOut { stopped: true, .. } => "ask for less, or raise the time limit",
            Self::TimedOut { stopped: false, .. } => {
                "let the tool check for cancellation, or raise the time limit"
            }
            Self::Cancelled { stopped: false, .. } => "let the tool check for cancellation",
            Self::Crashed { .. } => {
                "the next call starts it again; if it crashes again, fix the plugin"
            }
            Self::Disabled { retry_in, .. } => {
                let seconds = retry_in.as_secs() + 1;
                return format!(
                    "it is tried again in {seconds} s, and at once when a fixed plugin is copied \
                     to its place"
                );
            }
            Self::Spawn { .. } => {
                "name a program that runs plugins in `HostProgram`, or run them in process"
            }
            Self::Protocol { .. } => {
                "a plugin that writes to a descriptor it did not open does this: fix it; otherwise \
                 name a program in `HostProgram` that calls `worker_main`, of the same version as \
                 this one"
            }
        };
        help.to_owned()
    }
}

impl std::error::Error for WorkerError {}

/// Formats a time as in `2.0 s` and `0.35 s`, rounded up to a hundredth of a second.
pub(super) fn seconds(time: Duration) -> String {
    let hundredths = time.as_nanos().div_ceil(10_000_000);
    let (whole, part) = (hundredths / 100, hundredths % 100);
    if part % 10 == 0 { format!("{whole}.{} s", part / 10) } else { format!("{whole}.{part:02} s") }
}

/// The end of a plugin's output, in one line.
pub(super) fn words(last_output: &str) -> String {
    let mut start = last_output.len().saturating_sub(SHOWN_WORDS);
    while !last_output.is_char_boundary(start) {
        start += 1;
    }
    let lines = last_output[start..].lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" | ");
    if line.is_empty() { line } else { format!("; last output: {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_they_were_set() {
        for (millis, wanted) in
            [(350, "0.35 s"), (349, "0.35 s"), (2000, "2.0 s"), (60_000, "60.0 s"), (5, "0.01 s")]
        {
            assert_eq!(seconds(Duration::from_millis(millis)), wanted);
        }
    }
}
