//! Calls to a server. Each has a deadline and a connection of the pool, may be attempted a second time,
//! and fails at once during the pause after a failure.

use std::time::{Duration, Instant};

use super::breaker::Breaker;
use super::pool::{Deadline, Pool};
use super::problem::Problem;
use repertoire::Error;

/// The calls of one store to its server.
#[derive(Debug)]
pub(crate) struct Caller<C> {
    /// The address without its password.
    pub(crate) shown: String,
    timeout: Duration,
    pool: Pool<C>,
    breaker: Breaker,
}

/// The way to connect to one kind of server.
pub(crate) trait Connector {
    /// A connection.
    type Connection;

    /// Connects. Also makes sure that this version can use the stored data, unless each call checks
    /// that.
    fn connect(&self, deadline: Deadline) -> Result<Self::Connection, Problem>;

    /// Tells whether a connection is open, as far as that is known without asking the server.
    fn is_open(connection: &Self::Connection) -> bool;
}

impl<C> Caller<C> {
    pub(crate) fn new(shown: String, options: &crate::ServerOptions) -> Caller<C> {
        let (pool, breaker) = (Pool::new(options.connections), Breaker::default());
        Caller { shown, timeout: options.timeout, pool, breaker }
    }

    /// Runs `work` on a connection. If that was an idle connection, and it broke before anything can
    /// have been written, runs `work` once more on a new connection.
    pub(crate) fn run<T>(
        &self,
        what: &str,
        connector: &impl Connector<Connection = C>,
        work: &dyn Fn(&mut C, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        let deadline = Deadline(Instant::now() + self.timeout);
        self.breaker.check()?;
        let mut is_second = false;
        loop {
            let mut was_idle = false;
            match self.attempt(deadline, connector, &mut was_idle, work) {
                Err(Problem::Broken(_)) if was_idle && !is_second => self.pool.clear(),
                Ok(done) => {
                    self.breaker.succeed();
                    return Ok(done);
                }
                Err(problem) => {
                    let is_away = problem.is_away();
                    let error = problem.into_error(what, &self.shown);
                    return Err(if is_away { self.breaker.fail(error) } else { error });
                }
            }
            is_second = true;
        }
    }

    fn attempt<T, K: Connector<Connection = C>>(
        &self,
        deadline: Deadline,
        connector: &K,
        was_idle: &mut bool,
        work: &dyn Fn(&mut C, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut lease = self.pool.lease(deadline).ok_or(Problem::NoneFree)?;
        let mut connection = match lease.take_idle(K::is_open) {
            Some(connection) => {
                *was_idle = true;
                connection
            }
            None => connector.connect(deadline)?,
        };
        let done = work(&mut connection, deadline)?;
        lease.give_back(connection);
        Ok(done)
    }
}
