//! A session store in Redis or Valkey that many machines share.

mod connect;
mod problem;
mod script;

use std::collections::BTreeMap;
use std::fmt;

use ::redis::{Connection, ErrorKind};

use crate::ServerOptions;
use crate::server::{Caller, Deadline, Problem, decode, encode, key};
use connect::{Server, ask, limit};
use problem::problem;
use repertoire::Error;
use repertoire::session::SessionStore;
use repertoire::session::{Counts, Day, Tallies, last_forgotten};
use repertoire::session::{Event, SessionState, SkillState};
use repertoire::skill::SkillId;
use script::{Scripts, Written};

/// The version of the stored data.
const VERSION: &str = "1";
/// The key that holds the version.
const VERSION_KEY: &str = "repertoire:version";
/// The prefix of the keys of sessions.
const SESSION: &str = "repertoire:session:";
/// The prefix of the keys of trails.
const TRAIL: &str = "repertoire:trail:";
/// The key of the index of trails: the sessions that have one, by the time when it was last extended.
const TRAILS: &str = "repertoire:trails";
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
/// - Each call has a deadline ([`ServerOptions::timeout`]). A server that is away is an error; it is
///   tried again after a pause of 50 milliseconds, which doubles up to 5 seconds. If a connection breaks
///   during a write, the call fails, though the event may have been recorded. With
///   [`FallbackStore`](super::FallbackStore), conversations continue in memory after such errors.
/// - All keys begin with `repertoire:`. Values of a newer version or of another program are refused and
///   stay unchanged.
/// - The server itself expires idle sessions: see [`ServerOptions::keeps`].
///
/// ```no_run
/// use repertoire::session::Session;
/// use repertoire_sessions::RedisStore;
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
        let server = Server::at(url)?;
        let caller = Caller::new(server.shown(), &options);
        Ok(RedisStore { server, options, caller, scripts: Scripts::new() })
    }

    /// Connects, and checks the version of the stored data.
    ///
    /// Fails with `EXECUTION_ERROR`, or `TIMEOUT` after [`ServerOptions::timeout`].
    pub fn check(&self) -> Result<(), Error> {
        self.state("").map(drop)
    }

    /// The address of the database, without its password.
    pub fn address(&self) -> &str {
        &self.caller.shown
    }

    fn write(&self, session: &str, events: &[Event<'_>]) -> Result<Option<SkillState>, Error> {
        self.caller.run("write", &self.server, &|connection, deadline| {
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
                    // Another process wrote the session first: read it again, and apply the events to
                    // that.
                    Written::Changed => {}
                    Written::Version(version) => return Err(newer(&version)),
                }
            }
        })
    }
}

/// Returns the record of `session`, if there is one.
fn read(
    connection: &mut Connection,
    deadline: Deadline,
    session: &str,
) -> Result<Option<String>, Problem> {
    let mut get = ::redis::pipe();
    get.get(VERSION_KEY).get(format!("{SESSION}{}", key(session)));
    let answer = ask::<(Option<String>, Option<String>)>(connection, deadline, &get)?;
    let (version, record) = answer.map_err(|error| match error.kind() {
        ErrorKind::UnexpectedReturnType => damaged("its row is not text".to_owned()),
        _ => problem(&error),
    })?;
    match version {
        Some(version) if version != VERSION => Err(newer(&version)),
        _ => Ok(record),
    }
}

fn decoded(session: &str, record: Option<&str>) -> Result<SessionState, Problem> {
    let Some(record) = record else { return Ok(SessionState::default()) };
    decode(record).map_err(|error| {
        damaged(format!("the value of the session `{session}` cannot be read: {error}"))
    })
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
        self.caller.run("read", &self.server, &|connection, deadline| {
            let record = read(connection, deadline, session)?;
            decoded(session, record.as_deref())
        })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.caller.run("write", &self.server, &|connection, deadline| {
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
        self.caller.run("read", &self.server, &|connection, deadline| {
            read(connection, deadline, "")?;
            let mut pipe = ::redis::pipe();
            for day in first..=today {
                pipe.hgetall(format!("{TALLY}{day}"));
            }
            let days = ask::<Vec<BTreeMap<String, u64>>>(connection, deadline, &pipe)?;
            let days = days.map_err(|error| problem(&error))?;
            let mut tallies = Tallies::default();
            for (day, fields) in (first..=today).zip(days) {
                add(&mut tallies, Day::of_number(day), &fields);
            }
            Ok(tallies)
        })
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.caller.run("write", &self.server, &|connection, deadline| {
            limit(connection, deadline)?;
            let keeps = self.options.keeps_seconds();
            match self.scripts.extend(connection, session, lines, keeps) {
                Ok(Written::Version(version)) => Err(newer(&version)),
                done => done.map(drop).map_err(|error| problem(&error).at_commit()),
            }
        })
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.caller.run("read", &self.server, &|connection, deadline| {
            read(connection, deadline, "")?;
            let mut index = ::redis::pipe();
            index.zrange(TRAILS, 0, -1);
            let (ids,) = ask::<(Vec<String>,)>(connection, deadline, &index)?
                .map_err(|error| problem(&error))?;
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let mut pipe = ::redis::pipe();
            for id in &ids {
                pipe.lrange(format!("{TRAIL}{id}"), 0, -1);
            }
            let trails = ask::<Vec<Vec<String>>>(connection, deadline, &pipe)?;
            // The trail of a session that expired is empty.
            trails.map_err(|error| problem(&error))
        })
    }
}

/// The field that counts the sessions that began. The name of any other field is a letter and a skill.
const BEGUN: &str = "";

/// Returns the fields of a day that `events` increase, and by how much.
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

/// Adds the fields of a day to `tallies`.
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
