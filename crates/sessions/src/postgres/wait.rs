//! Waiting for the answers of a server on the calling thread, with a deadline.
//!
//! Another thread drives the connection itself, and a client only talks to that thread through channels.
//! So this works on any thread, including those of an asynchronous runtime, where the runtime's own
//! `block_on` panics.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use crate::server::{Deadline, Problem};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for `work`, until the deadline at most.
pub(super) fn until<T>(
    deadline: Deadline,
    work: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    let mut work = pin!(work);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
        let left = deadline.left();
        if left.is_zero() {
            return Err(Problem::Late);
        }
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn an_answer_of_another_thread_is_waited_for_until_the_deadline() {
        let deadline = |millis| Deadline(Instant::now() + Duration::from_millis(millis));
        let mut is_asked = false;
        let answer = poll_fn(|context| {
            let waker = context.waker().clone();
            if std::mem::replace(&mut is_asked, true) {
                return Poll::Ready(Ok(7));
            }
            thread::spawn(move || waker.wake());
            Poll::Pending
        });
        assert_eq!(until(deadline(60_000), answer).unwrap(), 7);
        let late = until(deadline(20), pending::<Result<(), Problem>>());
        assert!(matches!(late, Err(Problem::Late)), "{late:?}");
    }
}
