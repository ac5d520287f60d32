//! Limits of fetching: a source is written by others, and may be hostile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use repertoire::{Error, ErrorCode};

/// The time between two looks at a deadline.
pub(super) const INTERVAL: Duration = Duration::from_millis(50);

/// The limits of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchLimits {
    /// The number of entries in the whole source; 200,000 by default.
    pub entries: usize,
    /// The number of files in the skills that are taken; 10,000 by default.
    pub files: usize,
    /// Bytes of one file; 16 MiB by default.
    pub file_bytes: u64,
    /// Bytes of all files that are taken; 128 MiB by default.
    pub total_bytes: u64,
    /// The bytes that may be downloaded or unpacked to get these files; 512 MiB by default.
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

/// The instant by which a fetch must be over. The fetch may be cancelled earlier.
#[derive(Debug, Clone)]
pub(super) struct Deadline {
    end: Instant,
    time: Duration,
    is_cancelled: fn() -> bool,
    /// A flag that cancels the fetch once it is set.
    flag: Option<Arc<AtomicBool>>,
}

impl Deadline {
    pub(super) fn after(
        time: Duration,
        is_cancelled: fn() -> bool,
        flag: Option<Arc<AtomicBool>>,
    ) -> Deadline {
        let now = Instant::now();
        let end = now.checked_add(time).unwrap_or(now);
        Deadline { end, time, is_cancelled, flag }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        (self.is_cancelled)() || self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_cancelled() || Instant::now() >= self.end
    }

    /// The time that is left; zero once it has passed or the fetch was cancelled.
    #[cfg(any(
        feature = "archive-https",
        feature = "object-store",
        feature = "oci",
        feature = "mcp-source"
    ))]
    pub(super) fn left(&self) -> Duration {
        if self.is_over() {
            return Duration::ZERO;
        }
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits for `work`. Returns `None` once the deadline is over. Must be called within a runtime with
    /// timers.
    #[cfg(any(
        feature = "archive-https",
        feature = "object-store",
        feature = "oci",
        feature = "mcp-source"
    ))]
    pub(super) async fn limit<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        loop {
            let step = self.left().min(INTERVAL);
            match tokio::time::timeout(step, work.as_mut()).await {
                Ok(result) => return Some(result),
                Err(_) if self.is_over() => return None,
                Err(_) => {}
            }
        }
    }

    /// The error for a source, or for other work, that took too long or was cancelled.
    pub(super) fn error(&self, source: &str) -> Error {
        if self.is_cancelled() {
            let message = format!("{source}: cancelled");
            return Error::new(ErrorCode::Cancelled, message, "");
        }
        let message = format!("{source} took longer than {} s", self.time.as_secs_f64());
        Error::new(ErrorCode::Timeout, message, "try again later")
    }

    pub(super) fn check(&self, source: &str) -> Result<(), Error> {
        if self.is_over() { Err(self.error(source)) } else { Ok(()) }
    }
}

/// The error for a source that exceeds a limit.
pub(super) fn too_large(source: &str, what: &str, limit: u64) -> Error {
    let message = format!("{source} has more than {limit} {what}");
    let help = "take a part of it: name a directory, or a smaller source";
    Error::new(ErrorCode::InvalidParam, message, help)
}

/// The error for a source with a hostile or unsupported entry, such as a path that leaves it or a
/// device.
pub(super) fn refused(source: &str, path: &str, why: &str) -> Error {
    let message = format!("{source} is refused: `{}` {why}", path.escape_debug());
    Error::new(ErrorCode::PermissionDenied, message, "tell its author; nothing was fetched from it")
}
