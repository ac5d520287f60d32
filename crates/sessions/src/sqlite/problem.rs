//! The reasons why a statement failed, one for each way in which a failure is handled.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::ErrorCode as Sql;

use repertoire::{Error, ErrorCode};

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) enum Problem {
    /// Another process holds the file.
    Busy(String),
    /// The content of the file is not what was written.
    Damaged(String),
    /// `SQLite` or the system reported another failure.
    Failed(rusqlite::Error),
    /// We refuse to use the file.
    Refused(Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Problem {
        use rusqlite::Error as E;
        match (&error, error.sqlite_error_code()) {
            // `SQLite` reports this without calling the busy handler where waiting could deadlock: while
            // the journal mode is switched, and while another process recovers the file.
            (_, Some(Sql::DatabaseBusy | Sql::DatabaseLocked)) => Problem::Busy(error.to_string()),
            // A value is too big only if its length was damaged.
            (_, Some(Sql::DatabaseCorrupt | Sql::NotADatabase | Sql::TooBig))
            // Our statements are constant, so one that does not fit the tables shows that the
            // tables are damaged.
            | (
                E::FromSqlConversionFailure(..)
                | E::InvalidColumnType(..)
                | E::Utf8Error(..)
                | E::SqlInputError { .. },
                _,
            ) => Problem::Damaged(error.to_string()),
            (E::SqliteFailure(failure, _), _) if is_of_other_values(failure.extended_code) => {
                Problem::Damaged(error.to_string())
            }
            (E::SqliteFailure(_, Some(why)), _) if is_of_other_tables(why) => {
                Problem::Damaged(error.to_string())
            }
            _ => Problem::Failed(error),
        }
    }
}

/// Tells whether `why`, a message of `SQLite`, says that a statement does not fit the tables. The error
/// code alone stands for many other errors, too.
fn is_of_other_tables(why: &str) -> bool {
    ["no such ", "duplicate column name"].iter().any(|start| why.starts_with(start))
        || why.contains(" has no column named ")
}

/// Tells whether a constraint failed that our statements always keep: a stored value that they depend on
/// is not what was written.
fn is_of_other_values(extended_code: i32) -> bool {
    use rusqlite::ffi;
    [
        ffi::SQLITE_CONSTRAINT_NOTNULL,
        ffi::SQLITE_CONSTRAINT_DATATYPE,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        ffi::SQLITE_CONSTRAINT_UNIQUE,
        ffi::SQLITE_CONSTRAINT_ROWID,
    ]
    .contains(&extended_code)
}

impl Problem {
    /// The error for a failed attempt to `what` the store at `path`.
    pub(super) fn into_error(self, what: &str, path: &Path) -> Error {
        let failed = |why: &dyn std::fmt::Display, help: &str| {
            let message = format!("cannot {what} the session store {}: {why}", path.display());
            Error::new(ErrorCode::ExecutionError, message, help)
        };
        match self {
            Problem::Refused(error) => error,
            Problem::Busy(why) => failed(&why, "end the process that keeps it locked"),
            Problem::Damaged(why) => failed(&why, "move the file away; a new one is created"),
            Problem::Failed(error) => {
                let help = match error.sqlite_error_code() {
                    Some(Sql::DiskFull) => "make room on its disk",
                    Some(Sql::ReadOnly | Sql::CannotOpen | Sql::PermissionDenied) => {
                        "make the file and its directory writable, or name another file"
                    }
                    _ => "name another file, or move this one away",
                };
                failed(&error, help).with_source(error)
            }
        }
    }
}

/// Runs `work`, and repeats it while another process holds the file, for at most `wait`.
pub(super) fn patiently<T>(
    wait: Duration,
    mut work: impl FnMut() -> Result<T, Problem>,
) -> Result<T, Problem> {
    let start = Instant::now();
    loop {
        match work() {
            Err(Problem::Busy(_)) if start.elapsed() < wait => thread::sleep(PAUSE),
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_our_statements_never_write_are_damage() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let sql = "CREATE TABLE t (a INTEGER NOT NULL, b INTEGER PRIMARY KEY) STRICT;
            CREATE TABLE u (a); CREATE TRIGGER refuse BEFORE INSERT ON u
            BEGIN SELECT RAISE(ABORT, 'refused'); END; INSERT INTO t VALUES (1, 1)";
        connection.execute_batch(sql).unwrap();
        for (sql, is_damage) in [
            ("INSERT INTO t VALUES (NULL, 2)", true),
            ("INSERT INTO t VALUES ('x', 2)", true),
            ("INSERT INTO t VALUES (1, 1)", true),
            ("SELECT zeroblob(2000000000)", true),
            ("INSERT INTO u VALUES (1)", false),
        ] {
            let error = connection.execute_batch(sql).unwrap_err();
            let problem = Problem::from(error);
            assert_eq!(matches!(problem, Problem::Damaged(_)), is_damage, "{sql}: {problem:?}");
        }
    }
}
