//! The engine's errors and the failures of callbacks, as Python exceptions.

use std::fmt;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use repertoire_bindings::repertoire::{Error, ErrorCode, Remedy};
use repertoire_bindings::{catch, note};

/// An exception that a callback raised.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The name of the callback, for messages.
    what: &'static str,
    error: PyErr,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.what, self.error)
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// Returns the exception to raise: a `CallbackError` caused by the original one. If the original
    /// ends the program, as `KeyboardInterrupt` does, it is returned unchanged.
    fn into_exception(self, py: Python<'_>) -> PyErr {
        let Failure { what, error } = self;
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let message = format!("{what} failed: {error}");
        let help = "the exception of the callback is the cause of this one";
        let raised = new_exception(
            py,
            "CallbackError",
            (ErrorCode::ExecutionError.as_str(), message, help, None),
        );
        raised.set_cause(py, Some(error));
        raised
    }
}

/// Runs a callback with the interpreter attached. If it raises, notes the failure for the running
/// engine call on this thread, and returns `None`.
pub(crate) fn callback<T>(
    what: &'static str,
    run: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Option<T> {
    // An interpreter that is shutting down accepts no more calls.
    Python::try_attach(|py| {
        run(py).inspect_err(|error| note(Failure { what, error: error.clone_ref(py) })).ok()
    })
    .flatten()
}

/// Runs a callback that can return an error to the engine; otherwise like [`callback`].
pub(crate) fn fallible_callback<T>(
    what: &'static str,
    run: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Result<T, Error> {
    callback(what, |py| {
        run(py).map(Ok).or_else(|error| {
            let known = error.value(py).getattr("code").and_then(|code| code.extract::<String>());
            let is_ordinary = error.is_instance_of::<PyException>(py);
            let failure = Failure { what, error };
            let message = failure.to_string();
            let source = Failure { what, error: failure.error.clone_ref(py) };
            note(failure);
            let code = match known.as_deref() {
                Ok("PERMISSION_DENIED") if is_ordinary => ErrorCode::PermissionDenied,
                Ok("TIMEOUT") if is_ordinary => ErrorCode::Timeout,
                _ => ErrorCode::ExecutionError,
            };
            Ok(Err(Error::new(code, message, "see to the host's callback").with_source(source)))
        })
    })
    .unwrap_or_else(|| {
        let message = format!("{what} cannot be called, as the interpreter ends");
        Err(Error::new(ErrorCode::ExecutionError, message, ""))
    })
}

/// Runs a callback whose exceptions the engine reports in its own way, such as a finding. An exception that ends
/// the program, as `KeyboardInterrupt` does, ends the running call as well.
pub(crate) fn reported_callback<T>(
    what: &'static str,
    run: impl FnOnce(Python<'_>) -> PyResult<T>,
) -> Result<T, Error> {
    let (result, failure) = catch::<_, Failure>(|| fallible_callback(what, run));
    if let Some(failure) = failure {
        let ends = Python::try_attach(|py| !failure.error.is_instance_of::<PyException>(py));
        if ends == Some(true) {
            note(failure);
        }
    }
    result
}

/// Runs engine code without the interpreter's lock. A failure of a callback on this thread takes
/// precedence over the result.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    match unlocked(py, call)? {
        Ok(value) => Ok(value),
        Err(error) => Err(exception(py, &error)),
    }
}

/// Runs engine code that cannot fail; otherwise like [`run`].
pub(crate) fn unlocked<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (result, failure) = py.detach(|| catch::<T, Failure>(call));
    match failure {
        Some(failure) => Err(failure.into_exception(py)),
        None => Ok(result),
    }
}

/// Runs engine code as [`unlocked`] does, but ignores ordinary exceptions of callbacks, because the
/// result reports them.
pub(crate) fn unlocked_reported<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (result, failure) = py.detach(|| catch::<T, Failure>(call));
    match failure {
        Some(Failure { error, .. }) if !error.is_instance_of::<PyException>(py) => Err(error),
        _ => Ok(result),
    }
}

/// Returns the exception for a callback's failure that happened on another thread during this call.
pub(crate) fn raise(py: Python<'_>, what: &'static str, error: PyErr) -> PyErr {
    Failure { what, error }.into_exception(py)
}

/// Converts an error of the engine to the exception class for its code; one that a callback caused, to a
/// `CallbackError` with its exception as the cause.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let source = std::error::Error::source(error);
    if let Some(Failure { what, error }) = source.and_then(|source| source.downcast_ref()) {
        return raise(py, what, error.clone_ref(py));
    }
    let class = match error.code() {
        ErrorCode::InvalidParam => "InvalidParamError",
        ErrorCode::NotFound => "NotFoundError",
        ErrorCode::PermissionDenied => "PermissionDeniedError",
        ErrorCode::ConsentRequired => "ConsentRequiredError",
        ErrorCode::Timeout => "TimedOutError",
        ErrorCode::ExecutionError => "ExecutionError",
        _ => "InternalError",
    };
    let remedy = error.remedy().map(remedy);
    let (message, help) = (error.message().to_owned(), error.help());
    new_exception(py, class, (error.code().as_str(), message, help, remedy))
}

/// Returns the kind of a remedy, and its object.
fn remedy(remedy: &Remedy) -> (&'static str, Option<String>) {
    match remedy {
        Remedy::Trust(path) => ("trust", Some(path.display().to_string())),
        Remedy::TrustSkill(dir) => ("trust-skill", Some(dir.display().to_string())),
        Remedy::ListTrusted => ("list-trusted", None),
        Remedy::Run(command) => ("run", Some(command.clone())),
        Remedy::ListSkills => ("list-skills", None),
        Remedy::ListTools => ("list-tools", None),
        Remedy::Enable(skill) => ("enable", Some(skill.clone())),
        Remedy::Inline => ("inline", None),
        _ => ("other", None),
    }
}

type Arguments<'a> = (&'a str, String, &'a str, Option<(&'static str, Option<String>)>);

/// Creates an exception of a class in `repertoire._errors`.
fn new_exception(py: Python<'_>, class: &str, arguments: Arguments<'_>) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || Ok(py.import("repertoire._errors")?.unbind()));
    let made = module.and_then(|module: &Py<PyModule>| {
        let class = module.bind(py).getattr(class)?.cast_into::<PyType>()?;
        class.call1(arguments)
    });
    made.map_or_else(|error| error, PyErr::from_value)
}
