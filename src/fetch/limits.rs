//! Limits of fetching: a source is written by others, and may be hostile.

use std::time::{Duration, Instant};

use crate::error::{Error, ErrorCode};

/// The limits of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchLimits {
    /// Entries of a whole source that are looked at; 200,000 by default.
    pub entries: usize,
    /// Files of the skills that are taken; 10,000 by default.
    pub files: usize,
    /// Bytes of one file; 16 MiB by default.
    pub file_bytes: u64,
    /// Bytes of all files that are taken; 128 MiB by default.
    pub total_bytes: u64,
    /// Bytes that are received or unpacked to get there; 512 MiB by default.
    pub transfer_bytes: u64,
    /// The time of all steps together; two minutes by default.
    pub time: Duration,
}

impl Default for FetchLimits {
    fn default() -> FetchLimits {
        FetchLimits {
            entries: 200_000,
            files: 10_000,
            file_bytes: 16 << 20,
            total_bytes: 128 << 20,
            transfer_bytes: 512 << 20,
            time: Duration::from_secs(120),
        }
    }
}

/// The instant by which a fetch must be over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    end: Instant,
    time: Duration,
}

impl Deadline {
    pub(super) fn after(time: Duration) -> Deadline {
        let now = Instant::now();
        Deadline { end: now.checked_add(time).unwrap_or(now), time }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// The time that is left; zero once it is over.
    #[cfg(any(feature = "object-store", feature = "oci", feature = "mcp-source"))]
    pub(super) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// The error of a source that took too long.
    pub(super) fn error(&self, source: &str) -> Error {
        let message = format!("{source} took longer than {} s", self.time.as_secs_f64());
        Error::new(ErrorCode::Timeout, message, "try again later")
    }

    pub(super) fn check(&self, source: &str) -> Result<(), Error> {
        if self.is_over() { Err(self.error(source)) } else { Ok(()) }
    }
}

/// The error of a source that is larger than a limit.
pub(super) fn too_large(source: &str, what: &str, limit: u64) -> Error {
    let message = format!("{source} has more than {limit} {what}");
    let help = "take a part of it: name a directory, or a smaller source";
    Error::new(ErrorCode::InvalidParam, message, help)
}

/// The error of a source that tries to write where it must not, or holds a special file.
pub(super) fn refused(source: &str, path: &str, why: &str) -> Error {
    let message = format!("{source} is refused: `{}` {why}", path.escape_debug());
    Error::new(ErrorCode::PermissionDenied, message, "tell its author; nothing was taken from it")
}
