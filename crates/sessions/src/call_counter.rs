//! Counts of calls, of their failures and of their durations, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The counts of one kind of calls. Durations are counted in `N` buckets: one for each upper bound, and
/// one for longer calls.
#[derive(Debug)]
pub struct CallCounter<const N: usize> {
    failed: AtomicU64,
    micros: AtomicU64,
    took: [AtomicU64; N],
}

impl<const N: usize> Default for CallCounter<N> {
    fn default() -> CallCounter<N> {
        let took = std::array::from_fn(|_| AtomicU64::default());
        CallCounter { failed: AtomicU64::default(), micros: AtomicU64::default(), took }
    }
}

impl<const N: usize> CallCounter<N> {
    /// Counts a call. `bounds` are the upper bounds of the buckets, in microseconds and ascending.
    pub fn note(&self, bounds: &[u64], duration: Duration, has_failed: bool) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let place = bounds.partition_point(|bound| *bound < micros);
        self.took[place].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed);
    }

    /// The number of calls that failed.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// The time of all calls together, in microseconds.
    pub fn micros(&self) -> u64 {
        self.micros.load(Ordering::Relaxed)
    }

    /// The number of calls by duration: at most the first bound, at most the second but more than the
    /// first, and so on.
    pub fn took(&self) -> [u64; N] {
        std::array::from_fn(|place| self.took[place].load(Ordering::Relaxed))
    }
}
