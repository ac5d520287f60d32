//! A circuit breaker: after a server could not be reached, calls fail at once for a moment.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use repertoire::Error;

/// The first pause after a failure; each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Remembers the last failure to reach a server. Otherwise each call of a turn, which makes at least
/// two, would wait for its deadline again.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<Option<Failure>>);

#[derive(Debug)]
struct Failure {
    error: Error,
    pause: Duration,
    until: Instant,
}

impl Breaker {
    /// Fails with the error of the last attempt while the pause after it lasts.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match &*self.lock() {
            Some(failure) if Instant::now() < failure.until => {
                Err(failure.error.reworded(failure.error.message()))
            }
            _ => Ok(()),
        }
    }

    /// Notes that the server answered.
    pub(crate) fn succeed(&self) {
        *self.lock() = None;
    }

    /// Notes that the server could not be reached, and returns the error.
    pub(crate) fn fail(&self, error: Error) -> Error {
        let mut failure = self.lock();
        let now = Instant::now();
        let pause = match &*failure {
            // This call began before the pause did, and does not lengthen it: calls on many threads may
            // fail at the same time.
            Some(before) if now < before.until => return error,
            Some(before) => (before.pause * 2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        let kept = error.reworded(error.message());
        *failure = Some(Failure { error: kept, pause, until: now + pause });
        error
    }

    fn lock(&self) -> MutexGuard<'_, Option<Failure>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;
    use repertoire::ErrorCode;

    #[test]
    fn calls_fail_at_once_until_the_pause_has_passed_or_the_server_answered() {
        let breaker = Breaker::default();
        let error = || Error::new(ErrorCode::Timeout, "away", "start it");
        breaker.check().unwrap();
        breaker.fail(error());
        let again = breaker.check().unwrap_err();
        assert_eq!(
            (again.code(), again.message(), again.help()),
            (ErrorCode::Timeout, "away", "start it")
        );
        for _ in 0..9 {
            breaker.fail(error());
        }
        sleep(FIRST_PAUSE);
        breaker.check().unwrap();
        breaker.fail(error());
        sleep(FIRST_PAUSE);
        breaker.check().unwrap_err();
        breaker.succeed();
        breaker.check().unwrap();
    }
}
