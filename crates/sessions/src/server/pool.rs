//! A pool of connections to one server.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time after which an idle connection is not used again. A firewall may have dropped it silently,
/// and the server may need its place.
const IDLE: Duration = Duration::from_secs(60);

/// A pool of connections that calls lease, a limited number at once.
#[derive(Debug)]
pub(super) struct Pool<C> {
    state: Mutex<State<C>>,
    freed: Condvar,
}

#[derive(Debug)]
struct State<C> {
    /// The idle connections, the most recently used one last, with the time of their last use.
    idle: Vec<(C, Instant)>,
    n_free: usize,
}

impl<C> Pool<C> {
    /// Creates a pool of at most `connections` connections.
    pub(super) fn new(connections: usize) -> Pool<C> {
        let state = State { idle: Vec::new(), n_free: connections.max(1) };
        Pool { state: Mutex::new(state), freed: Condvar::new() }
    }

    /// Waits for the right to use one connection. Returns `None` if the deadline passes first.
    pub(super) fn lease(&self, deadline: Deadline) -> Option<Lease<'_, C>> {
        let state = self.lock();
        let is_full = |state: &mut State<C>| state.n_free == 0;
        let waited = self.freed.wait_timeout_while(state, deadline.left(), is_full);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.n_free == 0 {
            return None;
        }
        state.n_free -= 1;
        Some(Lease { pool: self })
    }

    /// Closes all idle connections.
    pub(super) fn clear(&self) {
        self.lock().idle.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use one connection.
#[derive(Debug)]
pub(super) struct Lease<'p, C> {
    pool: &'p Pool<C>,
}

impl<C> Lease<'_, C> {
    /// Takes the idle connection that was used last, if there is one that is open.
    pub(super) fn take_idle(&mut self, is_open: impl Fn(&C) -> bool) -> Option<C> {
        let mut state = self.pool.lock();
        state.idle.retain(|(connection, since)| is_open(connection) && since.elapsed() < IDLE);
        state.idle.pop().map(|(connection, _)| connection)
    }

    /// Gives back a connection that has no transaction open.
    pub(super) fn give_back(self, connection: C) {
        self.pool.lock().idle.push((connection, Instant::now()));
    }
}

impl<C> Drop for Lease<'_, C> {
    fn drop(&mut self) {
        self.pool.lock().n_free += 1;
        self.pool.freed.notify_one();
    }
}

/// The time by which a call must end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline(pub(crate) Instant);

impl Deadline {
    /// The time that is left, zero at least.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
