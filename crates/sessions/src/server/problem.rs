//! The reasons why a call to a server failed, one for each way in which a failure is handled.

use std::error::Error as StdError;
use std::fmt;

use repertoire::{Error, ErrorCode};

#[derive(Debug)]
pub(crate) enum Problem {
    /// No connection could be made.
    Unreachable(Cause),
    /// The connection broke before anything was written.
    Broken(Cause),
    /// The connection broke during a write, and it is unknown whether the write took effect.
    Unknown(Cause),
    /// The server did not answer in time.
    Late,
    /// The server cancelled the statement because its time was up.
    #[cfg(feature = "postgres")]
    GaveUp(Cause),
    /// Other calls used all connections until the deadline.
    NoneFree,
    /// The server refused the call.
    Failed(Cause),
    /// A stored value is not what was written.
    Damaged { why: String, help: &'static str },
    /// The stored data is not for this version.
    Refused { why: String, help: &'static str },
}

/// The error of a client, and what to do about it.
#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) why: String,
    pub(crate) help: Option<&'static str>,
    pub(crate) source: Box<dyn StdError + Send + Sync>,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl StdError for Cause {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

impl Problem {
    /// Converts a problem that occurred during a write: if the connection broke, it is unknown whether
    /// the write took effect.
    pub(crate) fn at_commit(self) -> Problem {
        match self {
            Problem::Broken(cause) => Problem::Unknown(cause),
            other => other,
        }
    }

    /// Tells whether the next call would most likely fail in the same way, after waiting for some time.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Problem::Unreachable(_) | Problem::Late)
    }

    /// Returns the error for a failed attempt to `what` (such as "read") the store at `address`.
    pub(crate) fn into_error(self, what: &str, address: &str) -> Error {
        const AWAY: &str = "start the server, or correct the address of the session store";
        let error = |code, why: &str, help: &str| {
            let message = format!("cannot {what} the session store {address}: {why}");
            Error::new(code, message, help)
        };
        let (timeout, failed) = (ErrorCode::Timeout, ErrorCode::ExecutionError);
        match self {
            Problem::Late => error(timeout, "the server does not answer in time", AWAY),
            #[cfg(feature = "postgres")]
            Problem::GaveUp(cause) => {
                error(timeout, "the server did not finish in time", AWAY).with_source(cause)
            }
            Problem::NoneFree => {
                let help = "allow more connections, or more time";
                error(timeout, "all connections are in use", help)
            }
            Problem::Damaged { why, help } | Problem::Refused { why, help } => {
                error(failed, &why, help)
            }
            Problem::Unreachable(cause) | Problem::Broken(cause) => {
                error(failed, &cause.why, cause.help.unwrap_or(AWAY)).with_source(cause)
            }
            Problem::Unknown(cause) => {
                let why = format!("{}; it may have been written", cause.why);
                error(failed, &why, AWAY).with_source(cause)
            }
            Problem::Failed(cause) => {
                let help = cause.help.unwrap_or("see the log of the server");
                error(failed, &cause.why, help).with_source(cause)
            }
        }
    }
}
