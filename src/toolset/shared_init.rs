//! A value that one thread makes while others wait for it, each within its own limits.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use repertoire_worker::locked;

/// The interval at which a waiting thread checks whether it should give up.
const TICK: Duration = Duration::from_millis(20);

/// A value that is made when it is first needed. No lock is held while it is made.
#[derive(Debug)]
pub(super) struct SharedInit<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
enum State<T> {
    Missing,
    BeingMade,
    Made(T),
}

impl<T> Default for SharedInit<T> {
    fn default() -> Self {
        SharedInit { state: Mutex::new(State::Missing), changed: Condvar::new() }
    }
}

impl<T: Clone> SharedInit<T> {
    /// Returns the value, and makes it with `make` if no other thread does. Waits for another thread
    /// only while `may_wait` succeeds. After a failure, the next caller tries again.
    pub(super) fn get_or_init<E>(
        &self,
        may_wait: impl Fn() -> Result<(), E>,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let mut state = locked(&self.state);
            match &*state {
                State::Made(value) => return Ok(value.clone()),
                State::Missing => {
                    *state = State::BeingMade;
                    break;
                }
                State::BeingMade => drop(self.changed.wait_timeout(state, TICK)),
            }
            may_wait()?;
        }
        // Let another thread try even after a panic.
        let mut ending = Ending { making: self, value: None };
        let value = make()?;
        ending.value = Some(value.clone());
        Ok(value)
    }
}

struct Ending<'a, T> {
    making: &'a SharedInit<T>,
    value: Option<T>,
}

impl<T> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        let mut state = locked(&self.making.state);
        *state = self.value.take().map_or(State::Missing, State::Made);
        drop(state);
        self.making.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn one_thread_makes_and_the_others_wait_as_long_as_they_may() {
        let making = SharedInit::default();
        let (begun, has_begun) = channel();
        let (go_on, may_go_on) = channel::<()>();
        let may_go_on = Mutex::new(may_go_on);
        thread::scope(|scope| {
            scope.spawn(|| {
                making.get_or_init(
                    || Ok::<_, ()>(()),
                    || {
                        begun.send(()).unwrap();
                        may_go_on.lock().unwrap().recv().map_err(drop)?;
                        Ok(1)
                    },
                )
            });
            has_begun.recv().unwrap();
            let impatient = making.get_or_init(|| Err("too long"), || Ok(2));
            assert_eq!(impatient, Err("too long"));
            go_on.send(()).unwrap();
            let patient = making.get_or_init(|| Ok::<_, ()>(()), || Ok(3));
            assert_eq!(patient, Ok(1));
        });
    }

    #[test]
    fn after_a_failure_or_a_panic_the_next_one_makes_it() {
        let making = SharedInit::default();
        let wait = || Ok::<_, &str>(());
        assert_eq!(making.get_or_init(wait, || Err("failed")), Err::<i32, _>("failed"));
        let panicking =
            std::panic::AssertUnwindSafe(|| making.get_or_init(wait, || panic!("boom")));
        assert!(std::panic::catch_unwind(panicking).is_err());
        assert_eq!(making.get_or_init(wait, || Ok(4)), Ok(4));
    }
}
