//! Errors: a code, a message, and advice on what to do.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic};

/// The code of an error, as in every tool envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ErrorCode {
    /// An argument or an option has no legal meaning.
    InvalidParam,
    /// There is no such skill, file or tool for this caller.
    NotFound,
    /// The operating system or a policy forbids it.
    PermissionDenied,
    /// The user has not agreed to it.
    ConsentRequired,
    /// It took longer than it may.
    Timeout,
    /// The caller asked for its end.
    Cancelled,
    /// It was understood and allowed, and failed.
    ExecutionError,
    /// A fault of our own.
    InternalError,
}

impl ErrorCode {
    /// The code in the upper case of the envelopes.
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

/// The remedy for an error that a user can apply, and a model cannot or must not.
///
/// Messages and [`Error::help`] may reach a model, so they name neither a program nor a way to
/// approve code. A host words the remedy for its user, with its own commands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Approve the code in this file, after a look at it.
    Trust(PathBuf),
    /// Approve the code of the skill in this directory, after a look at what changed.
    TrustSkill(PathBuf),
    /// List the code that is approved.
    ListTrusted,
    /// Let the code in this file run again at once, though it failed too often.
    Restart(PathBuf),
    /// Fetch the source of this name; `frozen` if exactly what its lock file pins.
    Fetch {
        /// The name of the source in `config.toml`.
        name: String,
        /// True if what is pinned is wanted, and nothing newer.
        frozen: bool,
    },
    /// Build the program with this feature of the crate.
    Build {
        /// The name of the feature.
        feature: &'static str,
    },
    /// Build the libraries of the skill in this directory from their code.
    BuildToolset(PathBuf),
    /// Run this command of the system's shell.
    Run(String),
    /// List the skills.
    ListSkills,
    /// List the tools.
    ListTools,
    /// Turn on the skill with this id.
    Enable(String),
    /// Take the instructions of the skill into the conversation.
    Inline,
    /// Replace the triggers that the file declares.
    ReplaceTriggers,
}

/// An error of the engine.
///
/// `{}` is one line; `{:#}` adds the advice.
#[derive(Debug)]
pub struct Error {
    code: ErrorCode,
    message: String,
    help: String,
    remedy: Option<Remedy>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error with a message that names the file or skill, and advice on what to do.
    pub fn new(code: ErrorCode, message: impl Into<String>, help: impl Into<String>) -> Error {
        Error { code, message: message.into(), help: help.into(), remedy: None, source: None }
    }

    /// The same error, with a remedy for the user.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Error {
        self.remedy = Some(remedy);
        self
    }

    /// An error with the code, the help and the remedy of this one, and another message.
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

    /// The same error, caused by `source`.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        self.source = Some(Box::new(source));
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

    /// The remedy that the user can apply, for hosts that have a command for it. It is not for a
    /// model.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }
}

/// Returns the one of `choices` that is called `text`; or else an error, which says that `text` is
/// not `what` and lists the names of all choices.
pub(crate) fn choose<T: Copy>(
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
