//! The schedule for polling a source: its interval with random jitter, so that machines and processes
//! that started together do not all ask at once, and with back-off after failures.

use std::time::Duration;

/// The maximum number of times that consecutive failures double the interval: to eight times its length.
const MAX_DOUBLINGS: u32 = 3;

/// The maximum jitter, in permille of the interval.
const SPREAD: u64 = 100;

/// The pause after a source was asked. `roll` is a random number that decides the jitter.
pub(super) fn pause(interval: Duration, failures: u32, roll: u64) -> Duration {
    let permille = 1000 - SPREAD + roll % (2 * SPREAD + 1);
    let permille = u32::try_from(permille).unwrap_or(1000);
    interval.saturating_mul(1 << failures.min(MAX_DOUBLINGS)).saturating_mul(permille) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_deviate_by_a_tenth_and_double_up_to_eight_times() {
        let interval = Duration::from_secs(100);
        for (failures, times) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 8), (u32::MAX, 8)] {
            let pauses = (0..201).map(|roll| pause(interval, failures, roll).as_millis());
            let pauses: std::collections::BTreeSet<_> = pauses.collect();
            assert_eq!(pauses.len(), 201, "each roll has its own");
            assert_eq!(pauses.first(), Some(&(90_000 * times)), "{failures}");
            assert_eq!(pauses.last(), Some(&(110_000 * times)), "{failures}");
        }
    }
}
