//! A session store in an `SQLite` file that many processes share.

mod checksum;
mod file;
mod problem;
mod rows;
mod set_aside;
mod signature;
mod tallies;
mod trails;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use file::{Check, Opened};
use problem::{Problem, patiently};
use repertoire::Error;
use repertoire::session::SessionStore;
use repertoire::session::{Day, Tallies, last_forgotten};
use repertoire::session::{Event, SessionState, SkillState};
use rows::Written;
pub use set_aside::SetAside;

/// A session store in an `SQLite` database. Any number of processes and threads may use one file; a
/// recorded event is visible to all of them and outlives the process that recorded it.
///
/// - A killed process loses at most the event it was recording. A loss of power may lose the last
///   events, but the file stays sound.
/// - A damaged store is not fatal: whenever damage is noticed, the file is renamed to
///   `NAME.damaged-SECONDS` (since 1970) with a warning, and a new store is created; see
///   [`SqliteStore::open_telling`].
/// - A file that is not a session store, or a link to another directory, is an error. It is neither
///   changed nor renamed.
/// - Beside the file lie `NAME-wal`, `NAME-shm` and an empty `NAME.lock`.
/// - A directory or disk that cannot be written is an error, never a store that silently forgets.
///   The engine still answers when its store cannot be read, as if the conversation had just begun.
/// - Idle conversations expire: see [`SqliteStore::KEEPS`]. A clock that is behind does not expire any.
///   The trails of kept messages expire with them, and are overwritten when they are deleted.
///   Daily counts of how often conversations met each skill are kept for [a year](Tallies::KEPT_DAYS).
///
/// ```
/// use repertoire::session::Session;
/// use repertoire_sessions::SqliteStore;
/// use std::sync::Arc;
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("acme/sessions.db");
/// let session = Session::new("chat-7", Arc::new(SqliteStore::open(&path)?));
/// session.record_use(&"git".into())?;
///
/// // Another process, or tomorrow:
/// let session = Session::new("chat-7", Arc::new(SqliteStore::open(&path)?));
/// assert_eq!(session.state()?.recent().collect::<Vec<_>>(), ["git"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SqliteStore {
    path: PathBuf,
    /// The longest time to wait for another process that holds the file.
    wait: Duration,
    inner: Mutex<Inner>,
}

/// The start of 2020, in seconds since 1970, years before the first version of this program. A clock
/// that shows an earlier time was never set.
const EARLIEST: i64 = 1_577_836_800;

struct Inner {
    /// `None` after the store turned out to be damaged and no new one could be created.
    opened: Option<Opened>,
    /// True after another process held the file for the whole time. Until it is free again, each call
    /// makes one attempt, in which `SQLite` waits for a part of that time.
    is_held: bool,
    set_aside: Vec<PathBuf>,
    tell: Box<dyn Fn(&SetAside) + Send>,
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// The age, 30 days, after which an idle session is forgotten when a store is opened.
    pub const KEEPS: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// The time, 30 seconds, for which a call waits for another process that keeps the file locked.
    pub const WAITS: Duration = Duration::from_secs(30);

    /// Opens the store at `path`. If it does not exist, creates it and its directory, accessible to the
    /// current user only.
    ///
    /// Fails with `EXECUTION_ERROR` if the store cannot be created or opened, was written by a
    /// newer Repertoire or by another program, or stays locked for [`SqliteStore::WAITS`].
    pub fn open(path: impl AsRef<Path>) -> Result<SqliteStore, Error> {
        SqliteStore::open_telling(path, |_| {})
    }

    /// Opens a store as [`SqliteStore::open`] does, and calls `tell` for each damaged file that is
    /// set aside, now or later, on the thread that noticed the damage. `tell` must not use the
    /// store.
    pub fn open_telling(
        path: impl AsRef<Path>,
        tell: impl Fn(&SetAside) + Send + 'static,
    ) -> Result<SqliteStore, Error> {
        SqliteStore::open_waiting(path, Self::WAITS, tell)
    }

    /// Opens a store as [`SqliteStore::open_telling`] does, and waits for at most `wait`, instead of
    /// [`SqliteStore::WAITS`], while another process keeps the file locked. After one call has waited in
    /// vain, the others wait for at most a sixth of that until the file is free again.
    pub fn open_waiting(
        path: impl AsRef<Path>,
        wait: Duration,
        tell: impl Fn(&SetAside) + Send + 'static,
    ) -> Result<SqliteStore, Error> {
        let path = file::place(path.as_ref())?;
        let (set_aside, tell) = (Vec::new(), Box::new(tell));
        let inner = Mutex::new(Inner { opened: None, is_held: false, set_aside, tell });
        let store = SqliteStore { path, wait, inner };
        let (oldest, newest) = (before(Self::KEEPS), after(Self::KEEPS));
        let has_outside = |connection: &mut Connection| {
            Ok(rows::has_outside(connection, oldest, newest)?
                || trails::has_outside(connection, oldest, newest)?)
        };
        if store.run("read", has_outside)? {
            store.forget_older_than(Self::KEEPS)?;
        }
        let day = last_forgotten(Day::today());
        if store.run("read", |connection| Ok(tallies::has_until(connection, day)?))? {
            store.run("write", |connection| Ok(tallies::forget_until(connection, day)?))?;
        }
        Ok(store)
    }

    /// Opens the store at `path` for reading alone: where it cannot be written, what was recorded can still be read.
    /// Recording fails, and damage is not repaired.
    ///
    /// Fails with `EXECUTION_ERROR` if there is no store of this version, or it cannot be read.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<SqliteStore, Error> {
        let path = file::absolute(path.as_ref())?;
        let opened = Some(file::open_read_only(&path)?);
        let (set_aside, tell) = (Vec::new(), Box::new(|_: &SetAside| {}));
        let inner = Mutex::new(Inner { opened, is_held: false, set_aside, tell });
        Ok(SqliteStore { path, wait: Duration::ZERO, inner })
    }

    /// Returns the paths of the damaged files that this store set aside, the oldest first.
    pub fn set_aside(&self) -> Vec<PathBuf> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).set_aside.clone()
    }

    /// Forgets the sessions without an event in the last `age`, by the system clock, and returns
    /// their number.
    ///
    /// Fails with `EXECUTION_ERROR` if the store cannot be written.
    pub fn forget_older_than(&self, age: Duration) -> Result<usize, Error> {
        self.run("write", |connection| {
            let transaction = rows::write(connection)?;
            // A clock that was never set cannot tell which recorded times are wrong.
            if now() > EARLIEST {
                rows::correct_times(&transaction, EARLIEST..after(Self::KEEPS), now())?;
            }
            let n_forgotten = rows::forget_older(&transaction, before(age))?;
            let newest = after(Self::KEEPS);
            let has_texts = trails::forget_outside(&transaction, before(age), newest)?;
            transaction.commit()?;
            if has_texts {
                file::empty_journal(connection);
            }
            Ok(n_forgotten)
        })
    }

    /// Records `events`, and returns the earlier state of the skill of the last one.
    fn write(&self, session: &str, events: &[Event<'_>]) -> Result<Option<SkillState>, Error> {
        self.run("write", |connection| {
            let transaction = rows::write(connection)?;
            let today = touch(&transaction, session)?;
            let (mut before, mut written) = (None, Written::new());
            for event in events {
                before = rows::apply(&transaction, session, event, &mut written)?;
                tallies::count(&transaction, today, event)?;
            }
            rows::check(&transaction, session, &written)?;
            transaction.commit()?;
            Ok(before)
        })
    }

    /// Runs `work` with the database, and again after a damaged database was checked or replaced. A file
    /// that passes every check but still fails `work` as damaged is set aside too.
    fn run<T>(
        &self,
        what: &str,
        mut work: impl FnMut(&mut Connection) -> Result<T, Problem>,
    ) -> Result<T, Error> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = if inner.is_held { Duration::ZERO } else { self.wait };
        let mut work = |opened: &mut Opened| patiently(wait, || work(&mut opened.connection));
        let mut done = work(inner.opened(&self.path, Check::Quick, self.wait)?);
        for is_checked in [false, true] {
            if !matches!(done, Err(Problem::Damaged(_))) {
                break;
            }
            let mut check = Check::Thorough;
            if let Some(damaged) = inner.opened.take() {
                if is_checked {
                    check = damaged.condemned();
                }
                damaged.close_unchanged();
            }
            done = work(inner.opened(&self.path, check, self.wait)?);
        }
        inner.is_held = match &done {
            Err(Problem::Busy(_)) => true,
            // A read can succeed while another process holds the file for writing.
            Ok(_) if what == "read" => inner.is_held,
            _ => false,
        };
        done.map_err(|problem| problem.into_error(what, &self.path))
    }
}

impl Inner {
    /// Returns the database at `path`; opens it with this check if it is not open, and waits for other
    /// processes for at most `wait` at each step.
    fn opened(&mut self, path: &Path, check: Check, wait: Duration) -> Result<&mut Opened, Error> {
        let current = self.opened.take().filter(|opened| !opened.is_replaced(path));
        let opened = if let Some(opened) = current {
            opened
        } else {
            let (opened, set_aside) = file::open(path, check, wait)?;
            if let Some(set_aside) = set_aside {
                (self.tell)(&set_aside);
                self.set_aside.push(set_aside.kept_as);
            }
            opened
        };
        Ok(self.opened.insert(opened))
    }
}

impl SessionStore for SqliteStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        self.write(session, &[*event])
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        self.write(session, events).map(drop)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        let skills = self.run("read", |connection| Ok(rows::all(connection, session)?))?;
        Ok(SessionState { skills })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.run("write", |connection| {
            let transaction = rows::write(connection)?;
            rows::end(&transaction, session)?;
            let has_texts = trails::end(&transaction, session)?;
            transaction.commit()?;
            if has_texts {
                file::empty_journal(connection);
            }
            Ok(())
        })
    }

    fn tallies(&self, since: Day) -> Result<Tallies, Error> {
        self.run("read", |connection| Ok(tallies::since(connection, since)?))
    }

    fn extend_trail(&self, session: &str, lines: &[String]) -> Result<(), Error> {
        self.run("write", |connection| {
            let transaction = rows::write(connection)?;
            trails::extend(&transaction, session, now(), lines)?;
            Ok(transaction.commit()?)
        })
    }

    fn trails(&self) -> Result<Vec<Vec<String>>, Error> {
        self.run("read", |connection| Ok(trails::all(connection)?))
    }
}

/// Records that `session` is active now, and returns the current day.
fn touch(connection: &Connection, session: &str) -> rusqlite::Result<Day> {
    let (now, today) = (now(), Day::today());
    if rows::touch(connection, session, now)? {
        tallies::begin_session(connection, today)?;
    }
    Ok(today)
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// The time `age` ago, in seconds since 1970.
fn before(age: Duration) -> i64 {
    now().saturating_sub(i64::try_from(age.as_secs()).unwrap_or(i64::MAX))
}

/// The time in `age`, in seconds since 1970.
fn after(age: Duration) -> i64 {
    now().saturating_add(i64::try_from(age.as_secs()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests;
