//! A session store in a `PostgreSQL` database that many machines share.

mod address;
mod connect;
mod last_read;
mod problem;
mod schema;
mod statements;
mod trails;
mod wait;

use std::fmt;

use tokio_postgres::Client;

use crate::ServerOptions;
use crate::server::{Caller, Deadline, Problem};
use address::Address;
use connect::{Connection, Server};
use last_read::LastRead;
use repertoire::Error;
use repertoire::session::SessionStore;
use repertoire::session::{Day, Tallies};
use repertoire::session::{Event, SessionState, SkillState};

/// A session store in a `PostgreSQL` database (version 12 or later). Any number of machines,
/// processes and threads may use one database.
///
/// - A recorded event is committed. A server that stops loses none, unless its own settings trade
///   that for speed (`synchronous_commit`, `fsync`).
/// - Events of one session are recorded one after the other, events of different sessions in parallel.
/// - Each call has a deadline ([`ServerOptions::timeout`]). A server that is away is an error; it is
///   tried again after a pause of 50 milliseconds, which doubles up to 5 seconds. If a connection
///   breaks during a commit, the call fails, though the event may have been recorded. With
///   [`FallbackStore`](super::FallbackStore), conversations continue in memory after such errors.
/// - The tables `repertoire_store`, `repertoire_session`, `repertoire_tally`, `repertoire_begun` and
///   `repertoire_trail` are created by the first call, in the first schema of the `search_path`, and
///   migrated by later versions, one process at a time. Tables of a newer version or of another
///   program are refused and stay unchanged.
/// - Idle sessions expire by the clock of the server: see [`ServerOptions::keeps`]. About once an
///   hour one process deletes them.
///
/// ```no_run
/// use repertoire::session::Session;
/// use repertoire_sessions::PostgresStore;
/// use std::sync::Arc;
///
/// let store = PostgresStore::open("postgres://agent@db.example/agents?sslmode=require")?;
/// let session = Session::new("chat-7", Arc::new(store));
/// session.record_use(&"git".into())?;
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct PostgresStore {
    server: Server,
    options: ServerOptions,
    caller: Caller<Connection>,
    last_read: LastRead,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("address", &self.caller.shown).finish_non_exhaustive()
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
        let caller = Caller::new(address.shown.clone(), &options);
        let last_read = LastRead::default();
        Ok(PostgresStore { server: Server::new(address)?, options, caller, last_read })
    }

    /// Connects, and creates or migrates the tables, unless that was done before.
    ///
    /// Fails with `EXECUTION_ERROR`, or `TIMEOUT` after [`ServerOptions::timeout`].
    pub fn check(&self) -> Result<(), Error> {
        self.run("open", &async |_, _| Ok(()))
    }

    /// The address of the database, without its password.
    pub fn address(&self) -> &str {
        &self.caller.shown
    }

    fn run<T>(
        &self,
        what: &str,
        work: &impl AsyncFn(&Client, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        self.caller.run(what, &self.server, &|connection, deadline| {
            let done = wait::until(deadline, work(&connection.client, deadline))?;
            if std::mem::take(&mut connection.is_sweep_due) {
                let swept = schema::sweep(&connection.client, self.options.keeps_seconds());
                if let Err(problem) = wait::until(deadline, swept) {
                    tracing::debug!(?problem, "expired sessions were not deleted");
                }
            }
            Ok(done)
        })
    }

    fn write(&self, session: &str, events: &[Event<'_>]) -> Result<Option<SkillState>, Error> {
        let keeps = self.options.keeps_seconds();
        let version = self.last_read.take(session);
        self.run("write", &async |client, deadline| {
            if let Some(version) = version.clone()
                && let Some(before) =
                    statements::replace(client, deadline, keeps, session, version, events).await?
            {
                return Ok(before);
            }
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
        let version =
            self.run("read", &async |client, _| statements::state(client, keeps, session).await)?;
        let Some(version) = version else { return Ok(SessionState::default()) };
        let state = version.state.clone();
        self.last_read.put(session, version);
        Ok(state)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run("write", &async |client, deadline| {
            statements::end(client, deadline, session).await
        })
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.run("read", &async |client, _| statements::tallies(client, since).await)
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.run("write", &async |client, _| trails::extend(client, session, lines).await)
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        let keeps = self.options.keeps_seconds();
        self.run("read", &async |client, _| trails::all(client, keeps).await)
    }
}
