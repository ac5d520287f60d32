//! Errors that end a command.

use std::fmt;

use repertoire::{Error, ErrorCode, Remedy};
use serde::Serialize;

use crate::shell::quoted;

/// An error in the command line itself, not in what the command works on.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) Error);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for UsageError {}

/// An error with the fields that it has in an envelope.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The help, which may be empty.
    pub(crate) help: String,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Failure {
        Failure {
            code: error.code().as_str(),
            message: error.message().to_owned(),
            help: help(error),
        }
    }
}

/// Returns the help for an error: the command that remedies it, if there is one, otherwise the
/// error's own help.
pub(crate) fn help(error: &Error) -> String {
    error.remedy().and_then(command).unwrap_or_else(|| error.help().to_owned())
}

fn command(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::Trust(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let path = quoted(&path.to_string_lossy());
            format!("to accept it, run `repertoire trust add {path}`")
        }
        Remedy::TrustSkill(dir) => {
            let dir = quoted(&dir.to_string_lossy());
            format!(
                "to see what changed, run `repertoire trust diff {dir}`; to accept it, run \
                 `repertoire trust add {dir}`"
            )
        }
        Remedy::Restart(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let path = quoted(&path.to_string_lossy());
            format!("to have it tried again at once, run `repertoire trust add {path}`")
        }
        Remedy::ListTrusted => "see `repertoire trust list`".to_owned(),
        Remedy::Fetch { name, frozen } => {
            let frozen = if *frozen { " --frozen" } else { "" };
            format!("run `repertoire update {name}{frozen}`")
        }
        Remedy::Build { feature } => {
            format!(
                "in a checkout, run `cargo install --path crates/cli --features {feature}`, or take a \
                 released binary, which has all features"
            )
        }
        Remedy::BuildToolset(dir) => {
            let dir = quoted(&dir.to_string_lossy());
            format!(
                "build it with `repertoire tool build {dir}`, with `--code DIR` if its code is \
                 elsewhere"
            )
        }
        Remedy::Run(command) => format!("to repair it, run `{command}`"),
        Remedy::ListSkills => "`repertoire list` shows the available skills".to_owned(),
        Remedy::ListTools => "`repertoire tool list` shows the available tools".to_owned(),
        Remedy::Enable(id) => format!("turn it on with `--enable {id}`"),
        Remedy::Inline => "take the instructions as they are with `use --inline`".to_owned(),
        _ => return None,
    })
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
