//! A session store in Redis or Valkey that many machines share.

mod problem;
mod script;

use std::collections::BTreeMap;
use std::fmt;

use ::redis::{Client, Connection, ConnectionLike, ErrorKind};

use super::server::{
    Caller, Connector, Deadline, Parameters, Problem, ServerOptions, decode, encode, key,
};
use super::state::{Event, SessionState, SkillState};
use super::store::SessionStore;
use super::tally::{Counts, Day, Tallies, last_forgotten};
use crate::error::{Error, ErrorCode};
use crate::skill::SkillId;
use problem::problem;
use script::{Scripts, Written};

/// The version of what is stored.
const VERSION: &str = "1";
/// The key of the version.
const VERSION_KEY: &str = "repertoire:version";
/// The prefix of the keys of sessions.
const SESSION: &str = "repertoire:session:";
/// The prefix of the keys of tallies; the number of the day follows.
const TALLY: &str = "repertoire:tally:";

/// A session store in `Redis` (version 6 or later) or `Valkey`. Any number of machines, processes and
/// threads may use one database of a server. Clusters are not supported.
///
/// - A recorded event is as durable as the server's settings make it: with `appendonly yes` it
///   survives the end of the server, with `appendfsync always` a loss of power, too. Without
///   `appendonly`, and with a `maxmemory-policy` other than `noeviction`, the server may forget.
/// - Events of one session are recorded one after the other: a script compares the session with what
///   was read, and writes it.
/// - Each call has a deadline, and a server that is away is tried again, as with
///   [`ServerOptions::timeout`]. If a connection breaks while something is written, the call fails,
///   though the event may have been recorded. [`FallbackStore`](super::FallbackStore) turns such
///   errors into answers without memory.
/// - All keys begin with `repertoire:`. Values of a newer version or of another program are refused and
///   stay unchanged.
/// - The server itself expires idle sessions: see [`ServerOptions::keeps`].
///
/// ```no_run
/// use repertoire::session::{RedisStore, Session};
/// use std::sync::Arc;
///
/// let store = RedisStore::open("rediss://agent@redis.example/0")?;
/// let session = Session::new("chat-7", Arc::new(store));
/// session.record_use(&"git".into())?;
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct RedisStore {
    server: Server,
    options: ServerOptions,
    caller: Caller<Connection>,
    scripts: Scripts,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("address", &self.caller.shown).finish_non_exhaustive()
    }
}

impl RedisStore {
    /// Creates a store in the database at `url`, `redis://USER:PASSWORD@HOST:PORT/NUMBER`, with the
    /// usual options; `rediss://` for TLS. Connects with the first call.
    ///
    /// Fails with `INVALID_PARAM` if `url` is not such an address, with `NOT_FOUND` if a file that
    /// it names cannot be read. No error and no log holds the password.
    pub fn open(url: &str) -> Result<RedisStore, Error> {
        RedisStore::open_with(url, ServerOptions::default())
    }

    /// Creates a store as [`RedisStore::open`] does, with these options.
    pub fn open_with(url: &str, options: ServerOptions) -> Result<RedisStore, Error> {
        let server = Server(client(url)?);
        let info = server.0.get_connection_info();
        let settings = info.redis_settings();
        let user = settings.username().map(|user| format!("{user}@")).unwrap_or_default();
        let shown = format!("redis://{user}{}/{}", info.addr(), settings.db());
        let caller = Caller::new(shown, &options);
        Ok(RedisStore { server, options, caller, scripts: Scripts::new() })
    }

    /// Connects, and checks the version of what is stored.
    ///
    /// Fails with `EXECUTION_ERROR`, or `TIMEOUT` after [`ServerOptions::timeout`].
    pub fn check(&self) -> Result<(), Error> {
        self.state("").map(drop)
    }

    /// The address of the database, without its password.
    pub fn address(&self) -> &str {
        &self.caller.shown
    }

    fn run<T>(
        &self,
        what: &str,
        work: &dyn Fn(&mut Connection, Deadline) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        self.caller.run(what, &self.server, work)
    }

    fn write(&self, session: &str, events: &[Event<'_>]) -> Result<Option<SkillState>, Error> {
        self.run("write", &|connection, deadline| {
            loop {
                let known = read(connection, deadline, session)?;
                let mut state = decoded(session, known.as_deref())?;
                let mut before = None;
                for event in events {
                    before = state.apply(event);
                }
                let record = encode(&state).map_err(|error| damaged(error.to_string()))?;
                limit(connection, deadline)?;
                let keeps = self.options.keeps_seconds();
                let counts = fields(events);
                let written = self.scripts.write(
                    connection,
                    session,
                    known.as_deref(),
                    &record,
                    keeps,
                    &counts,
                );
                match written.map_err(|error| problem(&error).at_commit())? {
                    Written::Done => return Ok(before),
                    // Another process was faster: what it wrote is read, and the events applied to that.
                    Written::Changed => {}
                    Written::Version(version) => return Err(newer(&version)),
                }
            }
        })
    }
}

/// The server that connections are made to.
#[derive(Debug)]
struct Server(Client);

impl Connector for Server {
    type Connection = Connection;

    fn connect(&self, deadline: Deadline) -> Result<Connection, Problem> {
        let left = deadline.left();
        if left.is_zero() {
            return Err(Problem::Late);
        }
        let connected = self.0.get_connection_with_timeout(left);
        connected.map_err(|error| match problem(&error) {
            Problem::Broken(cause) | Problem::Failed(cause) => Problem::Unreachable(cause),
            other => other,
        })
    }

    fn is_open(connection: &Connection) -> bool {
        ConnectionLike::is_open(connection)
    }
}

/// Reads a URL. No part of a malformed one is repeated in the error: any could be a password.
fn client(url: &str) -> Result<Client, Error> {
    const FORM: &str = "write `redis://USER:PASSWORD@HOST:PORT/NUMBER`, or `rediss://` for TLS, with \
         `%`-escapes for special characters of the password";
    let invalid = |why: &str, help: &str| {
        let message = format!("the address of the session store {why}");
        Error::new(ErrorCode::InvalidParam, message, help)
    };
    let is_tls = url.starts_with("rediss://");
    if !is_tls && !url.starts_with("redis://") {
        return Err(invalid("does not begin with `redis://`", FORM));
    }
    if is_tls && !cfg!(feature = "tls") {
        return Err(invalid("needs TLS, which this build lacks", "build with the feature `tls`"));
    }
    let parameters = Parameters::take(url);
    if parameters.sslmode.is_some() || parameters.sslrootcert.is_some() && !is_tls {
        return Err(invalid(
            "has a parameter of TLS, but is not of TLS",
            "begin it with `rediss://`",
        ));
    }
    let not_redis = |_| invalid("is not an address of Redis", FORM);
    #[cfg(feature = "tls")]
    if let Some(path) = parameters.sslrootcert.filter(|_| is_tls) {
        let root_cert = std::fs::read(&path).map_err(|error| {
            let message =
                format!("cannot check the certificate of the session store: {path}: {error}");
            Error::new(ErrorCode::NotFound, message, "name a PEM file of certificates")
        })?;
        let certificates =
            ::redis::TlsCertificates { client_tls: None, root_cert: Some(root_cert) };
        return Client::build_with_tls(&*parameters.url, certificates).map_err(not_redis);
    }
    Client::open(parameters.url).map_err(not_redis)
}

/// Sets the time for the next answer of the server.
fn limit(connection: &Connection, deadline: Deadline) -> Result<(), Problem> {
    let left = deadline.left();
    if left.is_zero() {
        return Err(Problem::Late);
    }
    let set = connection
        .set_read_timeout(Some(left))
        .and_then(|()| connection.set_write_timeout(Some(left)));
    set.map_err(|error| problem(&error))
}

/// Returns the record of `session`, if there is one.
fn read(
    connection: &mut Connection,
    deadline: Deadline,
    session: &str,
) -> Result<Option<String>, Problem> {
    limit(connection, deadline)?;
    let (version, record): (Option<String>, Option<String>) = ::redis::pipe()
        .get(VERSION_KEY)
        .get(format!("{SESSION}{}", key(session)))
        .query(connection)
        .map_err(|error| match error.kind() {
            ErrorKind::UnexpectedReturnType => damaged("its row is not text".to_owned()),
            _ => problem(&error),
        })?;
    match version {
        Some(version) if version != VERSION => Err(newer(&version)),
        _ => Ok(record),
    }
}

fn decoded(session: &str, record: Option<&str>) -> Result<SessionState, Problem> {
    record.map_or_else(
        || Ok(SessionState::default()),
        |record| {
            decode(record).map_err(|error| {
                damaged(format!("the value of the session `{session}` cannot be read: {error}"))
            })
        },
    )
}

fn damaged(why: String) -> Problem {
    Problem::Damaged {
        why,
        help: "end the session; if that does not help, delete the keys `repertoire:*`",
    }
}

fn newer(version: &str) -> Problem {
    let version = version.escape_debug();
    let why = format!("it was made by a newer Repertoire (its version {version}, ours {VERSION})");
    Problem::Refused { why, help: "update Repertoire, or name another database" }
}

impl SessionStore for RedisStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.write(session, &[*event])
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.write(session, events).map(drop)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.run("read", &|connection, deadline| {
            let record = read(connection, deadline, session)?;
            decoded(session, record.as_deref())
        })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run("write", &|connection, deadline| {
            limit(connection, deadline)?;
            match self.scripts.end(connection, session) {
                Ok(Written::Version(version)) => Err(newer(&version)),
                done => done.map(drop).map_err(|error| problem(&error).at_commit()),
            }
        })
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        // The clock of the server may be a day ahead.
        let today = Day::today().number() + 1;
        let first = since.number().max(last_forgotten(Day::today()).number());
        self.run("read", &|connection, deadline| {
            read(connection, deadline, "")?;
            let mut pipe = ::redis::pipe();
            for day in first..=today {
                pipe.hgetall(format!("{TALLY}{day}"));
            }
            let days: Vec<BTreeMap<String, u64>> =
                pipe.query(connection).map_err(|error| problem(&error))?;
            let mut tallies = Tallies::default();
            for (day, fields) in (first..=today).zip(days) {
                add(&mut tallies, Day::of_number(day), &fields);
            }
            Ok(tallies)
        })
    }
}

/// The field of sessions that began; other fields are a letter and a skill.
const BEGUN: &str = "";

/// Returns the fields of a day that `events` count in, and by how much.
fn fields(events: &[Event<'_>]) -> BTreeMap<String, u64> {
    let mut fields = BTreeMap::new();
    for event in events {
        let (counts, Some(skill)) = (Counts::of(event), event.skill()) else { continue };
        let columns =
            [('f', counts.fired), ('l', counts.loaded), ('u', counts.used), ('i', counts.listed)];
        for (letter, n) in columns.into_iter().filter(|(_, n)| *n > 0) {
            *fields.entry(format!("{letter}{skill}")).or_default() += n;
        }
    }
    fields
}

/// Adds the fields of a day.
fn add(tallies: &mut Tallies, day: Day, fields: &BTreeMap<String, u64>) {
    for (field, n) in fields {
        let mut counts = Counts::default();
        let count = match field.chars().next() {
            None => {
                tallies.sessions += n;
                continue;
            }
            Some('f') => &mut counts.fired,
            Some('l') => &mut counts.loaded,
            Some('u') => &mut counts.used,
            Some('i') => &mut counts.listed,
            Some(_) => continue,
        };
        *count = *n;
        tallies.add(day, &SkillId::new(&field[1..]), counts);
    }
}
