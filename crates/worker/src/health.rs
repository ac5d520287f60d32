//! The failures of a library's process. They decide when it is disabled, and when it is tried again.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::call::{Cause, Death};
use super::error::words;

/// The number of crashes within [`CRASH_WINDOW`] that disables a library.
const MAX_CRASHES: usize = 3;
const CRASH_WINDOW: Duration = Duration::from_secs(60);
/// The longest time for which a library is disabled.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);

/// The failures of one library. After three crashes within a minute, or after it did not open in time,
/// it is disabled for a pause and then tried again. Each further failure before a call succeeds doubles
/// the pause.
#[derive(Default)]
pub(super) struct Health {
    pub(super) crashes: VecDeque<Instant>,
    /// The last failure.
    pub(super) last: Option<Arc<Death>>,
    /// The end of the pause. It is kept after the pause is over, until a call succeeds.
    paused_until: Option<Instant>,
    n_pauses: u32,
}

impl Health {
    /// Records the end of a process. `pause` is the length of the first pause.
    pub(super) fn note(&mut self, death: &Arc<Death>, pause: Duration) {
        self.last = None;
        let is_stuck = matches!(death.cause, Cause::Stuck(_));
        if !is_stuck
            && !matches!(death.cause, Cause::Crash | Cause::Protocol(_) | Cause::Exceeded(_))
        {
            return;
        }
        self.crashes.retain(|at| death.at.saturating_duration_since(*at) < CRASH_WINDOW);
        self.crashes.push_back(death.at);
        self.last = Some(Arc::clone(death));
        if is_stuck || self.is_recovering() || self.crashes.len() >= MAX_CRASHES {
            let pause = pause.saturating_mul(1 << self.n_pauses.min(20)).min(MAX_PAUSE.max(pause));
            self.n_pauses += 1;
            self.paused_until = death.at.checked_add(pause);
        }
    }

    /// Records a call that succeeded.
    pub(super) fn note_success(&mut self) {
        self.paused_until = None;
        self.n_pauses = 0;
    }

    /// Tells whether the library was disabled and no call has succeeded since.
    pub(super) fn is_recovering(&self) -> bool {
        self.paused_until.is_some()
    }

    /// The time until the library is tried again; `None` if it is not disabled.
    pub(super) fn time_until_retry(&self, now: Instant) -> Option<Duration> {
        let left = self.paused_until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// The reason why the library is disabled, to follow "is disabled".
    pub(super) fn why(&self) -> String {
        let Some(last) = &self.last else { return String::new() };
        let (how, words) = (last.how(), words(&last.last_output));
        match (&last.cause, self.crashes.len()) {
            (Cause::Stuck(_), _) => format!(": {how}{words}"),
            (_, 1) => format!(" after another crash: {how}{words}"),
            (_, n) => format!(" after {n} crashes, the last: {how}{words}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(60);

    type Case<'a> = (&'a [(u64, Cause)], &'a [Option<u64>]);

    fn death(at: Instant, cause: Cause) -> Arc<Death> {
        Arc::new(Death { at, cause, how: "exit code 3".to_owned(), last_output: String::new() })
    }

    /// The pause in seconds after each end `(second, cause)`.
    fn pauses(ends: &[(u64, Cause)]) -> Vec<Option<u64>> {
        let (start, mut health) = (Instant::now(), Health::default());
        let pause = |(second, cause): &(u64, Cause)| {
            let at = start + Duration::from_secs(*second);
            health.note(&death(at, cause.clone()), PAUSE);
            health.time_until_retry(at).map(|left| left.as_secs())
        };
        ends.iter().map(pause).collect()
    }

    #[test]
    fn pauses_follow_failures_and_double() {
        let crash = || Cause::Crash;
        let stuck = || Cause::Stuck("it did not open".to_owned());
        let ended = || Cause::Call { id: 1, reason: "another call" };
        let cases: &[Case] = &[
            (&[(0, crash()), (10, crash()), (20, crash())], &[None, None, Some(60)]),
            (&[(0, crash()), (40, crash()), (90, crash())], &[None, None, None]),
            (&[(0, ended()), (1, ended()), (2, Cause::Closed)], &[None, None, None]),
            (&[(0, stuck()), (60, stuck()), (300, crash())], &[Some(60), Some(120), Some(240)]),
            (&[(0, Cause::Protocol("?".to_owned()))], &[None]),
        ];
        for (ends, wanted) in cases {
            assert_eq!(pauses(ends), *wanted);
        }
        let ends: Vec<_> = (0..20).map(|i| (i * 4000, stuck())).collect();
        assert_eq!(pauses(&ends).last(), Some(&Some(3600)), "an hour at most");
    }

    #[test]
    fn a_call_that_succeeds_ends_the_trial() {
        let (now, mut health) = (Instant::now(), Health::default());
        health.note(&death(now, Cause::Stuck("it did not open".to_owned())), PAUSE);
        assert_eq!(health.why(), ": it did not open");
        let later = now + PAUSE;
        assert!(health.time_until_retry(later).is_none() && health.is_recovering());
        health.note_success();
        assert!(!health.is_recovering());
        health.note(&death(later + PAUSE, Cause::Crash), PAUSE);
        assert!(health.time_until_retry(later + PAUSE).is_none(), "one crash is not three");
    }
}
