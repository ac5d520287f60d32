//! Failures of a host's callbacks, carried around the engine to the call that caused them.
//!
//! Some callbacks, such as a token counter, cannot return an error to the engine. A binding notes the
//! failure on the thread of the call, lets the callback return a harmless value, and raises the failure
//! once the engine has returned.

use std::any::Any;
use std::cell::RefCell;

thread_local! {
    static FAILURE: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

/// Runs `call`. Returns its result, and the first failure that was [noted](note) on this thread while
/// it ran. Calls nest: a callback may call the engine again.
pub fn catch<T, E: 'static>(call: impl FnOnce() -> T) -> (T, Option<E>) {
    let outer = FAILURE.take();
    let result = call();
    let failure = FAILURE.replace(outer);
    (result, failure.and_then(|failure| failure.downcast().ok()).map(|failure| *failure))
}

/// Notes the failure of a callback. If a failure is noted already, keeps that one, as it may have
/// caused this one.
pub fn note<E: 'static>(failure: E) {
    FAILURE.with_borrow_mut(|noted| {
        noted.get_or_insert_with(|| Box::new(failure));
    });
}

/// Tells whether a callback has failed since the innermost [`catch`] on this thread began.
pub fn is_pending() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_of_a_call_is_caught_by_that_call() {
        let ((), outer) = catch::<_, &str>(|| {
            assert!(!is_pending());
            let (seven, inner) = catch::<_, &str>(|| {
                note("first");
                note("second");
                7
            });
            assert_eq!((seven, inner), (7, Some("first")));
            assert!(!is_pending());
            note("third");
            assert!(is_pending());
        });
        assert_eq!(outer, Some("third"));
        assert!(!is_pending());
        assert_eq!(catch::<_, &str>(|| 1), (1, None));
    }
}
