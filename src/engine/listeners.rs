//! Listeners to the changes that refreshes find.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::catalog::Refreshed;

type Listener = dyn Fn(&Refreshed) + Send + Sync;

/// A guard that keeps a listener of [`Engine::subscribe`](super::Engine::subscribe) until it is dropped.
#[must_use = "a listener hears nothing more when its subscription is dropped"]
pub struct Subscription(#[expect(dead_code, reason = "it is kept alive")] Arc<Listener>);

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// The listeners to changes.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Vec<Weak<Listener>>>);

impl Listeners {
    pub(super) fn add(
        &self,
        listener: impl Fn(&Refreshed) + Send + Sync + 'static,
    ) -> Subscription {
        let listener: Arc<Listener> = Arc::new(listener);
        let mut listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        Subscription(listener)
    }

    pub(super) fn tell(&self, refreshed: &Refreshed) {
        // Listeners are called without the lock, as a listener may subscribe another one.
        let listeners: Vec<Arc<Listener>> = {
            let listeners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            listeners.iter().filter_map(Weak::upgrade).collect()
        };
        for listener in listeners {
            if catch_unwind(AssertUnwindSafe(|| listener(refreshed))).is_err() {
                tracing::warn!("a listener for changes of skills panicked");
            }
        }
    }
}
