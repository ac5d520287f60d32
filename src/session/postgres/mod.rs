//! A session store in a `PostgreSQL` database that many machines share.

mod address;
mod connect;
mod pool;
mod problem;
mod schema;
mod statements;
mod wait;

use std::fmt;
use std::time::Instant;

use tokio_postgres::Client;

use super::server::{Breaker, ServerOptions};
use super::state::{Event, SessionState, SkillState};
use super::store::SessionStore;
use super::tally::{Day, Tallies};
use crate::error::Error;
use address::Address;
use pool::Pool;
use problem::Problem;
use wait::Deadline;

/// A session store in a `PostgreSQL` database (version 12 or later). Any number of machines,
/// processes and threads may use one database.
///
/// - A recorded event is committed. A server that stops loses none, unless its own settings trade
///   that for speed (`synchronous_commit`, `fsync`).
/// - Events of one session are recorded one after the other, those of different sessions side by
///   side.
/// - Each call has a deadline ([`ServerOptions::timeout`]). A server that is away is an error; it is
///   tried again after a pause of 50 milliseconds, which doubles up to 5 seconds. If a connection
///   breaks during a commit, the call fails, though the event may have been recorded.
///   [`FallbackStore`](super::FallbackStore) turns such errors into answers without memory.
/// - The tables `repertoire_store`, `repertoire_session`, `repertoire_tally` and
///   `repertoire_begun` are created by the first call, in the first schema of the `search_path`, and
///   migrated by later versions, one process at a time. Tables of a newer version or of another
///   program are refused and stay unchanged.
/// - Idle sessions expire by the clock of the server: see [`ServerOptions::keeps`]. About once an
///   hour one process deletes them.
///
/// ```no_run
/// use repertoire::session::{PostgresStore, Session};
/// use std::sync::Arc;
///
/// let store = PostgresStore::open("postgres://agent@db.example/agents?sslmode=require")?;
/// let session = Session::new("chat-7", Arc::new(store));
/// session.record_use(&"git".into())?;
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct PostgresStore {
    address: Address,
    options: ServerOptions,
    pool: Pool,
    breaker: Breaker,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("address", &self.address.shown)
            .finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Creates a store in the database at `url`, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with
    /// the usual options. Connects with the first call.
    ///
    /// Fails with `INVALID_PARAM` if `url` is not such an address, with `NOT_FOUND` if a file that
    /// it names cannot be read. No error and no log holds the password.
    pub fn open(url: &str) -> Result<PostgresStore, Error> {
        PostgresStore::open_with(url, ServerOptions::default())
    }

    /// Creates a store as [`PostgresStore::open`] does, with these options.
    pub fn open_with(url: &str, options: ServerOptions) -> Result<PostgresStore, Error> {
        let address = Address::parse(url, &options)?;
        let pool = Pool::new(options.connections.max(1))?;
        Ok(PostgresStore { address, options, pool, breaker: Breaker::default() })
    }

    /// Connects, and creates or migrates the tables, unless that was done before.
    ///
    /// Fails with `EXECUTION_ERROR`, or `TIMEOUT` after [`ServerOptions::timeout`].
    pub fn check(&self) -> Result<(), Error> {
        self.run("open", &async |_, _| Ok(()))
    }

    /// The address of the database, without its password.
    pub fn address(&self) -> &str {
        &self.address.shown
    }

    /// Runs `work` on a connection, and once more on a new one if the connection had been idle, was
    /// broken, and nothing can have been committed.
    fn run<T>(
        &self,
        what: &str,
        work: &impl AsyncFn(&mut Client, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        let deadline = Deadline(Instant::now() + self.options.timeout);
        self.breaker.check()?;
        let mut is_second = false;
        loop {
            let mut is_idle = false;
            let done = self.attempt(deadline, &mut is_idle, work);
            match done {
                Err(Problem::Broken(_)) if is_idle && !is_second => self.pool.clear(),
                Ok(done) => {
                    self.breaker.succeed();
                    return Ok(done);
                }
                Err(problem) => {
                    let is_away = problem.is_away();
                    let error = problem.into_error(what, &self.address.shown);
                    return Err(if is_away { self.breaker.fail(error) } else { error });
                }
            }
            is_second = true;
        }
    }

    fn attempt<T>(
        &self,
        deadline: Deadline,
        is_idle: &mut bool,
        work: &impl AsyncFn(&mut Client, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut lease = self.pool.lease(deadline)?;
        let mut is_sweep_due = false;
        let mut client = if let Some(client) = lease.take_idle() {
            *is_idle = true;
            client
        } else {
            let mut client = connect::connect(self.pool.runtime(), &self.address, deadline)?;
            is_sweep_due = wait::until(deadline, schema::prepare(&mut client))?;
            client
        };
        let done = wait::until(deadline, work(&mut client, deadline))?;
        if is_sweep_due {
            let keeps = self.options.keeps_seconds();
            if let Err(problem) = wait::until(deadline, schema::sweep(&client, keeps)) {
                tracing::debug!(?problem, "expired sessions were not deleted");
                return Ok(done);
            }
        }
        lease.give_back(client);
        Ok(done)
    }

    fn write(&self, session: &str, events: &[Event<'_>]) -> Result<Option<SkillState>, Error> {
        let keeps = self.options.keeps_seconds();
        self.run("write", &async |client, deadline| {
            statements::record(client, deadline, keeps, session, events).await
        })
    }
}

impl SessionStore for PostgresStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.write(session, &[*event])
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.write(session, events).map(drop)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        let keeps = self.options.keeps_seconds();
        self.run("read", &async |client, _| statements::state(client, keeps, session).await)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run("write", &async |client, deadline| {
            statements::end(client, deadline, session).await
        })
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.run("read", &async |client, _| statements::tallies(client, since).await)
    }
}
