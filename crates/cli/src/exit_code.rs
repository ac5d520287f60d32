//! The exit codes of the process.

use std::io;

use crate::failure::UsageError;

/// The exit codes of every subcommand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Success, without findings.
    Done,
    /// A finding or a failure.
    Failure,
    /// The command line is not valid.
    Usage,
    /// A signal with this number asked the process to end. The exit code is 128 plus the number, as
    /// in shells.
    Signal(u8),
}

impl ExitCode {
    /// Returns the exit code for `error`.
    pub(crate) fn of(error: &anyhow::Error) -> ExitCode {
        let is_closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
        if error.is::<UsageError>() {
            ExitCode::Usage
        } else if error.downcast_ref::<io::Error>().is_some_and(is_closed) {
            // The client of a server has closed the pipe. `Output` ignores closed pipes by itself.
            ExitCode::Done
        } else {
            ExitCode::Failure
        }
    }

    /// Returns `Done` if `is_fine`, otherwise `Failure`.
    pub(crate) fn done_if(is_fine: bool) -> ExitCode {
        if is_fine { ExitCode::Done } else { ExitCode::Failure }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> std::process::ExitCode {
        std::process::ExitCode::from(match code {
            ExitCode::Done => 0,
            ExitCode::Failure => 1,
            ExitCode::Usage => 2,
            ExitCode::Signal(number) => 128_u8.saturating_add(number),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::{Error, ErrorCode};

    #[test]
    fn each_kind_of_error_has_its_code() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(ExitCode::of(&pipe.into()), ExitCode::Done);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(ExitCode::of(&full.into()), ExitCode::Failure);
        let unknown = || Error::new(ErrorCode::NotFound, "no skill `x`", "");
        assert_eq!(ExitCode::of(&unknown().into()), ExitCode::Failure);
        assert_eq!(ExitCode::of(&UsageError(unknown()).into()), ExitCode::Usage);
    }
}
