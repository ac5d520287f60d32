//! Reasons why a call failed, as far as they are handled differently.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::error::{Error, ErrorCode};

#[derive(Debug)]
pub(super) enum Problem {
    /// No connection could be made.
    Unreachable(tokio_postgres::Error),
    /// The connection broke before anything was committed.
    Broken(tokio_postgres::Error),
    /// The connection broke while a transaction was committed: it is not known if it was.
    Unknown(tokio_postgres::Error),
    /// The server did not answer in time.
    Late,
    /// Other calls used all connections until the deadline.
    NoneFree,
    /// The server refused a statement.
    Failed(tokio_postgres::Error),
    /// A value in a table is not what was written.
    Damaged(String),
    /// The tables are not for this version.
    Refused { why: String, help: &'static str },
}

impl From<tokio_postgres::Error> for Problem {
    fn from(error: tokio_postgres::Error) -> Problem {
        if is_broken(&error) { Problem::Broken(error) } else { Problem::Failed(error) }
    }
}

/// Tells whether the connection is gone, or the server about to end it.
fn is_broken(error: &tokio_postgres::Error) -> bool {
    let Some(db) = error.as_db_error() else {
        // Statements and values are constant in their types, so what is left is the connection.
        return error.is_closed()
            || error.source().and_then(|source| source.downcast_ref::<std::io::Error>()).is_some();
    };
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(db.code())
}

impl Problem {
    /// The failure of the statements that a transaction ends with.
    pub(super) fn at_commit(error: tokio_postgres::Error) -> Problem {
        match Problem::from(error) {
            Problem::Broken(error) => Problem::Unknown(error),
            other => other,
        }
    }

    /// Tells whether the next call would most likely fail in the same way, after some time.
    pub(super) fn is_away(&self) -> bool {
        matches!(self, Problem::Unreachable(_) | Problem::Late)
    }

    /// The error for a failed attempt to `what` the store at `address`.
    pub(super) fn into_error(self, what: &str, address: &str) -> Error {
        const AWAY: &str = "start the server, or correct the address of the session store";
        let failed = |why: &str, help: &str| {
            let message = format!("cannot {what} the session store {address}: {why}");
            Error::new(ErrorCode::ExecutionError, message, help)
        };
        let timeout = |why: &str, help: &str| {
            let message = format!("cannot {what} the session store {address}: {why}");
            Error::new(ErrorCode::Timeout, message, help)
        };
        match self {
            Problem::Late => timeout("the server does not answer in time", AWAY),
            Problem::NoneFree => {
                timeout("all connections are in use", "allow more connections, or more time")
            }
            Problem::Damaged(why) => failed(
                &why,
                "end the session; if that does not help, drop the tables `repertoire_*`",
            ),
            Problem::Refused { why, help } => failed(&why, help),
            Problem::Unreachable(error) => {
                failed(&why(&error), help(&error).unwrap_or(AWAY)).with_source(error)
            }
            Problem::Broken(error) => failed(&why(&error), AWAY).with_source(error),
            Problem::Unknown(error) => {
                let why = format!("{}; it may have been written", why(&error));
                failed(&why, AWAY).with_source(error)
            }
            Problem::Failed(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
                timeout("the server did not finish in time", AWAY).with_source(error)
            }
            Problem::Failed(error) => {
                let help = help(&error).unwrap_or("see the log of the server");
                failed(&why(&error), help).with_source(error)
            }
        }
    }
}

/// The reason of the server or of the system, in one line.
fn why(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        return db.message().replace('\n', " ");
    }
    match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// The advice for codes that have one.
fn help(error: &tokio_postgres::Error) -> Option<&'static str> {
    let code = error.code()?;
    let is = |codes: &[SqlState]| codes.contains(code);
    if is(&[SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]) {
        Some("correct the user and the password of its address")
    } else if is(&[SqlState::INVALID_CATALOG_NAME]) {
        Some("create the database, or correct its name")
    } else if is(&[SqlState::INSUFFICIENT_PRIVILEGE]) {
        Some("grant the user the tables `repertoire_*`, or the right to create them")
    } else if is(&[SqlState::READ_ONLY_SQL_TRANSACTION]) {
        Some("name the primary server, or add `target_session_attrs=read-write` to the address")
    } else if is(&[SqlState::TOO_MANY_CONNECTIONS]) {
        Some("allow the server more connections, or the agents fewer")
    } else if is(&[SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN]) {
        Some("another program changed the tables `repertoire_*`: restore them, or drop them all")
    } else {
        None
    }
}
