//! Converts errors of the client into problems, by the way in which they are handled.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::server::{Cause, Problem};

impl From<tokio_postgres::Error> for Problem {
    fn from(error: tokio_postgres::Error) -> Problem {
        let is_canceled = error.code() == Some(&SqlState::QUERY_CANCELED);
        let is_broken = is_broken(&error);
        let cause = cause(error);
        match (is_broken, is_canceled) {
            (true, _) => Problem::Broken(cause),
            (false, true) => Problem::GaveUp(cause),
            (false, false) => Problem::Failed(cause),
        }
    }
}

/// Returns the failure to connect.
pub(super) fn unreachable(error: tokio_postgres::Error) -> Problem {
    Problem::Unreachable(cause(error))
}

/// Returns the failure of the statements that a transaction ends with.
pub(super) fn at_commit(error: tokio_postgres::Error) -> Problem {
    Problem::from(error).at_commit()
}

/// Tells whether the connection is gone, or the server about to end it.
fn is_broken(error: &tokio_postgres::Error) -> bool {
    let Some(db) = error.as_db_error() else {
        // Statements and the types of their values are constant, so only the connection can have failed.
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

fn cause(error: tokio_postgres::Error) -> Cause {
    Cause { why: why(&error), help: help(&error), source: Box::new(error) }
}

/// Returns the reason that the server or the system gives, on one line.
fn why(error: &tokio_postgres::Error) -> String {
    if let Some(db) = error.as_db_error() {
        return db.message().replace('\n', " ");
    }
    match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    }
}

/// Returns the help for an error, if there is any.
fn help(error: &tokio_postgres::Error) -> Option<&'static str> {
    // Only the message shows that an error is of this kind.
    if error.to_string().starts_with("error performing TLS handshake") {
        return Some(
            "let the server offer TLS with a certificate that is trusted here, or name its root with \
             `sslrootcert`",
        );
    }
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
