//! Converts the errors of plugins and their processes into the crate's [`Error`].

use std::path::Path;

use repertoire_plugin::ErrorCode as PluginCode;
use repertoire_plugin::host::{CreateError, OpenError};
use repertoire_worker::WorkerError;

use crate::error::{Error, ErrorCode, Remedy};

pub(super) fn open_error(error: OpenError) -> Error {
    Error::new(ErrorCode::ExecutionError, error.to_string(), error.help()).with_source(error)
}

pub(super) fn create_error(error: CreateError) -> Error {
    let code = match &error {
        CreateError::NoClass { .. } => ErrorCode::NotFound,
        CreateError::Create { code, .. } => ours(*code),
        _ => ErrorCode::ExecutionError,
    };
    Error::new(code, error.to_string(), error.help()).with_source(error)
}

/// The error for a class that the library at `path` does not have; it has `classes`.
pub(super) fn no_class(path: &Path, class: &str, classes: &[String]) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("{} has no class `{class}`", path.display()),
        format!("it has {}; fix the entry, or export the class", classes.join(", ")),
    )
}

/// Converts the failure of a call through the process of the library at `path`.
pub(super) fn worker_error(error: WorkerError, path: &Path) -> Error {
    let code = match &error {
        WorkerError::Failed { code, message, .. } => return call_error(*code, message, path),
        WorkerError::Create { code, .. } => ours(*code),
        WorkerError::Unfit { .. } => ErrorCode::InvalidParam,
        WorkerError::TimedOut { .. } | WorkerError::Stuck { .. } | WorkerError::NotReady { .. } => {
            ErrorCode::Timeout
        }
        WorkerError::Cancelled { .. } => ErrorCode::Cancelled,
        _ => ErrorCode::ExecutionError,
    };
    let is_disabled = matches!(error, WorkerError::Disabled { .. });
    let error = Error::new(code, error.to_string(), error.help()).with_source(error);
    if is_disabled { error.with_remedy(Remedy::Restart(path.to_owned())) } else { error }
}

/// Converts the error of a tool of the library at `path`.
pub(super) fn call_error(code: PluginCode, message: &str, path: &Path) -> Error {
    let help = match code {
        PluginCode::Panicked => {
            format!("that is a mistake in the plugin {}: fix it and build it again", path.display())
        }
        // The tool's own message says what to do.
        _ => String::new(),
    };
    Error::new(ours(code), message, help)
}

fn ours(code: PluginCode) -> ErrorCode {
    match code {
        PluginCode::InvalidArguments => ErrorCode::InvalidParam,
        PluginCode::UnknownTool => ErrorCode::NotFound,
        PluginCode::DeadlineExceeded => ErrorCode::Timeout,
        PluginCode::Cancelled => ErrorCode::Cancelled,
        _ => ErrorCode::ExecutionError,
    }
}
