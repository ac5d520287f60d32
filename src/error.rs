//! Errors: a code, a message, and advice on what to do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic};

/// The code of an error, as it appears in tool envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// An argument or an option is invalid.
    InvalidParam,
    /// There is no such skill, file or tool for this caller.
    NotFound,
    /// The operating system or a policy forbids the operation.
    PermissionDenied,
    /// The user has not agreed to the operation.
    ConsentRequired,
    /// The operation exceeded its time limit.
    Timeout,
    /// The caller cancelled the operation.
    Cancelled,
    /// The request was valid and allowed, but its execution failed.
    ExecutionError,
    /// A fault of the engine or its host, not of the caller.
    InternalError,
}

impl ErrorCode {
    /// The code in upper case, as in tool envelopes.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidParam => "INVALID_PARAM",
            ErrorCode::NotFound => "NOT_FOUND",
            ErrorCode::PermissionDenied => "PERMISSION_DENIED",
            ErrorCode::ConsentRequired => "CONSENT_REQUIRED",
            ErrorCode::Timeout => "TIMEOUT",
            ErrorCode::Cancelled => "CANCELLED",
            ErrorCode::ExecutionError => "EXECUTION_ERROR",
            ErrorCode::InternalError => "INTERNAL_ERROR",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A remedy for an error that the user can apply, but a model cannot or must not.
///
/// Messages and [`Error::help`] may reach a model, so they name neither a program nor a way to
/// approve code. A host words the remedy for its user, with its own commands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Approve the code in this file, after reviewing it.
    Trust(PathBuf),
    /// Approve the code of the skill in this directory, after reviewing the changes.
    TrustSkill(PathBuf),
    /// List the code that is approved.
    ListTrusted,
    /// Let the code in this file run again now, although it was disabled after too many failures.
    Restart(PathBuf),
    /// Fetch the source with this name.
    Fetch {
        /// The name of the source in `config.toml`.
        name: String,
        /// True to fetch exactly the version that the lock file pins, and nothing newer.
        frozen: bool,
    },
    /// Rebuild the program with this feature of the crate enabled.
    Build {
        /// The name of the feature.
        feature: &'static str,
    },
    /// Build the libraries of the skill in this directory from their code.
    BuildToolset(PathBuf),
    /// Run this command in the system's shell.
    Run(String),
    /// List the skills.
    ListSkills,
    /// List the tools.
    ListTools,
    /// Turn on the skill with this id.
    Enable(String),
    /// Take the instructions of the skill into the conversation, instead of spawning a task for it.
    Inline,
}

/// An error of the engine.
///
/// `{}` is one line; `{:#}` adds the advice.
#[derive(Debug, Clone)]
pub struct Error {
    code: ErrorCode,
    message: String,
    help: String,
    remedy: Option<Remedy>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error. The message should name the file or skill; `help` is the advice on what to do.
    pub fn new(code: ErrorCode, message: impl Into<String>, help: impl Into<String>) -> Error {
        Error { code, message: message.into(), help: help.into(), remedy: None, source: None }
    }

    /// Adds a remedy that the user can apply.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Error {
        self.remedy = Some(remedy);
        self
    }

    /// Returns a new error with another message, and the code, the help and the remedy of this one.
    #[must_use]
    pub fn reworded(&self, message: impl Into<String>) -> Error {
        Error {
            code: self.code,
            message: message.into(),
            help: self.help.clone(),
            remedy: self.remedy.clone(),
            source: None,
        }
    }

    /// Sets the cause of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.source = Some(Arc::new(source));
        self
    }

    /// The code, for programs.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The message, for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The advice, in words for any reader, a model included; may be empty.
    pub fn help(&self) -> &str {
        &self.help
    }

    /// The remedy that the user can apply, for hosts that have a command for it. Do not show it to a
    /// model.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }
}

/// Returns the choice named `text`. If there is none, fails with an error that says that `text` is not
/// `what` and lists the names of all choices.
pub fn choose<T: Copy>(
    what: &str,
    text: &str,
    choices: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    choices.iter().copied().find(|choice| name(*choice) == text).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|choice| name(*choice)).collect();
        let help = format!("choose `{}`", names.join("` or `"));
        Error::new(ErrorCode::InvalidParam, format!("`{text}` is not {what}"), help)
    })
}

impl From<&Diagnostic> for Error {
    fn from(diagnostic: &Diagnostic) -> Error {
        let code = match diagnostic.code {
            Code::MissingSource => ErrorCode::NotFound,
            Code::Unreadable | Code::NotAFile => ErrorCode::ExecutionError,
            _ => ErrorCode::InvalidParam,
        };
        Error::new(code, diagnostic.to_string(), diagnostic.help.clone())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        if f.alternate() && !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
