//! The tools of a session's model: definitions, calls, and functions.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use repertoire_bindings::repertoire::{
    self as engine, CallIo, ErrorCode, SessionTools, ToolFormat, engine::SessionToolsOptions,
};
use serde_json::{Map, Value};

use crate::callbacks::{Raised, is_cancelled};
use crate::envelope::Envelope;
use crate::error::{exception, raise, unlocked_reported};
use crate::json::{Json, from_python};

/// The tools of one session's model: those for skills, and those of the toolsets of each skill
/// whose instructions came into the context. The list only grows within a session.
#[pyclass(frozen, from_py_object, module = "repertoire")]
#[derive(Debug, Clone)]
pub(crate) struct Tools(SessionTools);

impl From<SessionTools> for Tools {
    fn from(tools: SessionTools) -> Tools {
        Tools(tools)
    }
}

/// The host's end of a call.
#[derive(Default)]
struct Host<'py> {
    progress: Option<Bound<'py, PyAny>>,
    cancelled: Option<Bound<'py, PyAny>>,
    timeout: Option<f64>,
}

impl Tools {
    pub(crate) fn with(tools: SessionTools, changes: ToolChanges) -> Tools {
        let mut options = SessionToolsOptions::default();
        options.names_chars = changes.names_chars.unwrap_or(options.names_chars);
        options.read_bytes = changes.read_bytes.unwrap_or(options.read_bytes);
        options.output_bytes = changes.output_bytes.unwrap_or(options.output_bytes);
        options.all_toolsets = changes.all_toolsets.unwrap_or(options.all_toolsets);
        Tools(tools.with_options(options))
    }

    fn answer(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Value,
        host: Host<'_>,
    ) -> PyResult<Envelope> {
        let deadline = host.timeout.map(deadline).transpose()?;
        let (progress, cancelled) =
            (host.progress.map(Bound::unbind), host.cancelled.map(Bound::unbind));
        let raised = Raised::default();
        let watcher = |py: Python<'_>| {
            py.check_signals()?; // Ctrl-C ends the call
            cancelled.as_ref().map_or(Ok(false), |host| is_cancelled(host.bind(py)))
        };
        let is_over = || {
            let asked = Python::try_attach(|py| raised.keep(watcher(py))).flatten();
            raised.is_any() || asked.unwrap_or(true)
        };
        let report = |fraction: f64, step: &str| {
            if let Some(progress) = progress.as_ref().filter(|_| !raised.is_any()) {
                let call = |py: Python<'_>| raised.keep(progress.call1(py, (fraction, step)));
                Python::try_attach(call);
            }
        };
        let envelope = unlocked_reported(py, || {
            let mut io = CallIo::default().cancelled_if(&is_over).progress(&report);
            if let Some(deadline) = deadline {
                io = io.deadline(deadline);
            }
            self.0.call_with(name, &arguments, io)
        })?;
        match raised.take() {
            Some(error) => Err(raise(py, "a callback of the call", error)),
            None => Ok(Envelope::from(envelope)),
        }
    }
}

/// Changes of the options of tools.
#[derive(Debug, Default)]
pub(crate) struct ToolChanges {
    pub(crate) names_chars: Option<usize>,
    pub(crate) read_bytes: Option<usize>,
    pub(crate) output_bytes: Option<usize>,
    pub(crate) all_toolsets: Option<bool>,
}

#[pymethods]
impl Tools {
    /// The definitions of the tools as they are now, in the shape of a provider: `openai`,
    /// `anthropic` or `mcp`. Ask for them before each request to the model.
    #[pyo3(signature = (format = "openai"))]
    fn definitions(&self, py: Python<'_>, format: &str) -> PyResult<Json> {
        let format: ToolFormat = format.parse().map_err(|error| exception(py, &error))?;
        Ok(Json(py.detach(|| self.0.definitions(format))))
    }

    /// Answers a call of a model: the name of a tool, and its arguments as a dictionary or as
    /// JSON text. A failure is an answer, too: it says to the model what to do.
    ///
    /// `progress` gets a fraction and the current step; `cancelled`, an event or a function, ends
    /// the call, and `timeout` does after so many seconds.
    #[pyo3(signature = (name, arguments = None, *, progress = None, cancelled = None, timeout = None))]
    fn call(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: Option<Bound<'_, PyAny>>,
        progress: Option<Bound<'_, PyAny>>,
        cancelled: Option<Bound<'_, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Envelope> {
        let arguments = match read_arguments(arguments)? {
            Ok(arguments) => arguments,
            Err(problem) => return Ok(Envelope::from(engine::Envelope::from(&problem))),
        };
        self.answer(py, name, arguments, Host { progress, cancelled, timeout })
    }

    /// As `call`, without blocking the event loop. Cancelling the task ends the call.
    #[pyo3(signature = (name, arguments = None, *, progress = None, timeout = None))]
    fn acall<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        arguments: Option<Bound<'py, PyAny>>,
        progress: Option<Bound<'py, PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("repertoire._async")?;
        module.call_method1("call_tool", (slf, name, arguments, progress, timeout))
    }

    /// The tools as functions, each with a name, a description and a JSON Schema of its
    /// parameters, for frameworks that take functions.
    fn functions(slf: &Bound<'_, Self>) -> Vec<Tool> {
        let tools = slf.get();
        let definitions = slf.py().detach(|| tools.0.definitions(ToolFormat::Mcp));
        let read = |definition: Value| {
            let text = |key: &str| definition[key].as_str().unwrap_or_default().to_owned();
            Tool {
                name: text("name"),
                description: text("description"),
                parameters: definition["inputSchema"].clone(),
                annotations: definition["annotations"].clone(),
                tools: tools.clone(),
            }
        };
        match definitions {
            Value::Array(definitions) => definitions.into_iter().map(read).collect(),
            _ => Vec::new(),
        }
    }
}

fn deadline(seconds: f64) -> PyResult<Instant> {
    let time = Duration::try_from_secs_f64(seconds).ok();
    let deadline = time.and_then(|time| Instant::now().checked_add(time));
    deadline.ok_or_else(|| PyValueError::new_err(format!("timeout: {seconds} is not a time")))
}

/// The arguments of a call; an error in the terms of the engine if they are text that is not JSON,
/// as models write at times.
fn read_arguments(arguments: Option<Bound<'_, PyAny>>) -> PyResult<Result<Value, engine::Error>> {
    let Some(arguments) = arguments else { return Ok(Ok(Value::Object(Map::new()))) };
    let Ok(text) = arguments.extract::<String>() else { return from_python(&arguments).map(Ok) };
    if text.trim().is_empty() {
        return Ok(Ok(Value::Object(Map::new())));
    }
    Ok(serde_json::from_str(&text).map_err(|error| {
        let message = format!("the arguments are not JSON: {error}");
        let help = "give an object as the tool's definition describes it";
        engine::Error::new(ErrorCode::InvalidParam, message, help)
    }))
}

/// A tool as a function: call it with keyword arguments.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Tool {
    /// Its name, as providers take it.
    #[pyo3(get)]
    name: String,
    /// Its description, for the model.
    #[pyo3(get)]
    description: String,
    parameters: Value,
    annotations: Value,
    tools: Tools,
}

#[pymethods]
impl Tool {
    /// The JSON Schema of its arguments.
    #[getter]
    fn parameters(&self) -> Json {
        Json(self.parameters.clone())
    }

    /// Hints in MCP's words, such as `readOnlyHint`.
    #[getter]
    fn annotations(&self) -> Json {
        Json(self.annotations.clone())
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// Calls the tool, and returns its data. Raises the error of its code if it fails.
    #[pyo3(signature = (**arguments))]
    fn __call__(&self, py: Python<'_>, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Json> {
        let envelope = self.envelope(py, arguments)?;
        match envelope.error {
            None => Ok(envelope.data),
            Some(fault) => {
                let error = engine::Error::new(code(&fault.code), fault.message, "");
                Err(exception(py, &error))
            }
        }
    }

    /// Calls the tool, and returns its answer, which may be an error.
    #[pyo3(signature = (**arguments))]
    fn envelope(
        &self,
        py: Python<'_>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Envelope> {
        let arguments = match arguments {
            Some(arguments) => from_python(arguments.as_any())?,
            None => Value::Object(Map::new()),
        };
        self.tools.answer(py, &self.name, arguments, Host::default())
    }

    fn __repr__(&self) -> String {
        format!("Tool({})", self.name)
    }
}

/// The code with this name.
fn code(name: &str) -> ErrorCode {
    let codes = [
        ErrorCode::InvalidParam,
        ErrorCode::NotFound,
        ErrorCode::PermissionDenied,
        ErrorCode::ConsentRequired,
        ErrorCode::Timeout,
        ErrorCode::ExecutionError,
    ];
    codes.into_iter().find(|code| code.as_str() == name).unwrap_or(ErrorCode::InternalError)
}

/// Calls a method in a thread of its own, for an event loop to wait for.
pub(crate) fn in_thread<'py>(
    object: &Bound<'py, PyAny>,
    method: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let method = object.getattr(method)?;
    let args = PyTuple::new(py, [method])?.as_sequence().concat(args.as_sequence())?.to_tuple()?;
    py.import("asyncio")?.call_method("to_thread", args, kwargs)
}
