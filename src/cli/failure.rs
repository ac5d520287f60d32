//! Errors that end a command.

use std::fmt;

use repertoire::{Error, ErrorCode};
use serde::Serialize;

/// An error of whoever wrote the command line, rather than of what it is about.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) Error);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UsageError {}

/// What an error says, in the words of the envelopes.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// May be empty.
    pub(crate) help: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        Failure {
            code: error.code().as_str(),
            message: error.message().to_owned(),
            help: error.help().to_owned(),
        }
    }
}

impl From<&anyhow::Error> for Failure {
    fn from(error: &anyhow::Error) -> Failure {
        let usage = error.downcast_ref::<UsageError>().map(|UsageError(error)| error);
        match usage.or_else(|| error.downcast_ref::<Error>()) {
            Some(error) => error.into(),
            None => Failure {
                code: ErrorCode::ExecutionError.as_str(),
                message: format!("{error:#}"),
                help: String::new(),
            },
        }
    }
}
