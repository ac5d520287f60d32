//! A pool of connections, and the thread that drives them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_postgres::Client;

use super::problem::Problem;
use super::wait::Deadline;
use crate::error::{Error, ErrorCode};

/// The time after which an idle connection is not used again: a firewall may have dropped it
/// silently, and the server may need its place.
const IDLE: Duration = Duration::from_secs(60);

/// Connections that calls lease, a bounded number at once.
#[derive(Debug)]
pub(super) struct Pool {
    state: Mutex<State>,
    freed: Condvar,
    runtime: Handle,
    /// Ends the thread when the pool is dropped.
    _stop: oneshot::Sender<()>,
}

#[derive(Debug)]
struct State {
    /// The last used one last.
    idle: Vec<(Client, Instant)>,
    n_free: usize,
}

impl Pool {
    /// Creates a pool of at most `connections` connections, and starts its thread.
    pub(super) fn new(connections: usize) -> Result<Pool, Error> {
        let failed = |error: std::io::Error| {
            let message = format!("cannot start the thread of a session store: {error}");
            Error::new(ErrorCode::ExecutionError, message, "close other programs")
                .with_source(error)
        };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let drive = move || {
            // An error, too, says that the pool is gone.
            let _ = runtime.block_on(stopped);
        };
        thread::Builder::new()
            .name("repertoire-postgres".to_owned())
            .spawn(drive)
            .map_err(failed)?;
        Ok(Pool {
            state: Mutex::new(State { idle: Vec::new(), n_free: connections }),
            freed: Condvar::new(),
            runtime: handle,
            _stop: stop,
        })
    }

    /// The runtime of the thread that drives the connections.
    pub(super) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    /// Waits for the right to use one connection.
    pub(super) fn lease(&self, deadline: Deadline) -> Result<Lease<'_>, Problem> {
        let state = self.lock();
        let is_full = |state: &mut State| state.n_free == 0;
        let (mut state, _) = self
            .freed
            .wait_timeout_while(state, deadline.left(), is_full)
            .unwrap_or_else(PoisonError::into_inner);
        if state.n_free == 0 {
            return Err(Problem::NoneFree);
        }
        state.n_free -= 1;
        Ok(Lease { pool: self })
    }

    /// Closes all idle connections.
    pub(super) fn clear(&self) {
        self.lock().idle.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to use one connection.
#[derive(Debug)]
pub(super) struct Lease<'p> {
    pool: &'p Pool,
}

impl Lease<'_> {
    /// Takes the idle connection that was used last, if there is one.
    pub(super) fn take_idle(&mut self) -> Option<Client> {
        let mut state = self.pool.lock();
        state.idle.retain(|(client, since)| !client.is_closed() && since.elapsed() < IDLE);
        state.idle.pop().map(|(client, _)| client)
    }

    /// Gives back a connection that has no transaction open.
    pub(super) fn give_back(self, client: Client) {
        self.pool.lock().idle.push((client, Instant::now()));
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.pool.lock().n_free += 1;
        self.pool.freed.notify_one();
    }
}
