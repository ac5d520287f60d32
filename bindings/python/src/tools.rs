//! The tools of a session's model: definitions, calls, and functions.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use repertoire_bindings::repertoire::{
    self as engine, CallIo, ErrorCode, SessionTools, ToolFormat, engine::SessionToolsOptions,
};
use serde_json::Value;

use crate::callbacks::{Raised, is_cancelled};
use crate::envelope::Envelope;
use crate::error::{exception, raise, run, unlocked_reported};
use crate::json::{Json, from_python};

/// The tools for the model of one session: those for skills, and the toolsets of each skill whose
/// instructions entered the context. The list only grows within a session.
#[pyclass(frozen, from_py_object, module = "repertoire")]
#[derive(Debug, Clone)]
pub(crate) struct Tools(SessionTools);

impl From<SessionTools> for Tools {
    fn from(tools: SessionTools) -> Tools {
        Tools(tools)
    }
}

/// The host's side of a call: its callbacks and its time limit.
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

/// Changes to the options of tools.
#[derive(Debug, Default)]
pub(crate) struct ToolChanges {
    pub(crate) names_chars: Option<usize>,
    pub(crate) read_bytes: Option<usize>,
    pub(crate) output_bytes: Option<usize>,
    pub(crate) all_toolsets: Option<bool>,
}

#[pymethods]
impl Tools {
    /// Returns the current tool definitions in the format of a provider: `openai`, `anthropic` or
    /// `mcp`. Call it before each request to the model, as the list may grow.
    #[pyo3(signature = (format = "openai"))]
    fn definitions(&self, py: Python<'_>, format: Option<&str>) -> PyResult<Json> {
        let format = format.unwrap_or("openai");
        let format: ToolFormat = format.parse().map_err(|error| exception(py, &error))?;
        Ok(Json(py.detach(|| self.0.definitions(format))))
    }

    /// Answers a tool call of the model. `arguments` is a dictionary or JSON text. A failure is
    /// returned as an envelope, too: its message tells the model what to do.
    ///
    /// `progress` receives a fraction and the current step. `cancelled`, an event or a function, ends
    /// the call once it is set or returns true. `timeout` ends the call after that many seconds.
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
        let arguments = arguments.map_or(Ok(Value::Null), |given| from_python(&given))?;
        self.answer(py, name, arguments, Host { progress, cancelled, timeout })
    }

    /// Answers a tool call, as `call` does, without blocking the event loop. Cancelling the task ends
    /// the call.
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

    /// Tells that a task of this session has ended: with its `result`, or with the reason why it failed.
    /// Returns the answer to put into the conversation.
    #[pyo3(signature = (task_id, result, *, failed = false))]
    fn finish(
        &self,
        py: Python<'_>,
        task_id: &str,
        result: &str,
        failed: Option<bool>,
    ) -> PyResult<Envelope> {
        let ended = if failed == Some(true) { Err(result) } else { Ok(result) };
        run(py, || self.0.finish(task_id, ended)).map(Envelope::from)
    }

    fn __repr__(&self) -> String {
        format!("Tools(session={:?})", self.0.session().id())
    }

    /// Returns the tools as functions, each with a name, a description and a JSON Schema of its
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

/// A tool as a function: call it with keyword arguments.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Tool {
    /// The tool's name, in a form that providers accept.
    #[pyo3(get)]
    name: String,
    /// The tool's description, for the model.
    #[pyo3(get)]
    description: String,
    parameters: Value,
    annotations: Value,
    tools: Tools,
}

#[pymethods]
impl Tool {
    /// The JSON Schema of the tool's arguments.
    #[getter]
    fn parameters(&self) -> Json {
        Json(self.parameters.clone())
    }

    /// Hints with MCP's names, such as `readOnlyHint`.
    #[getter]
    fn annotations(&self) -> Json {
        Json(self.annotations.clone())
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// Calls the tool and returns its data. Raises the exception for the error's code if it fails.
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

    /// Calls the tool and returns its envelope, which may hold an error.
    #[pyo3(signature = (**arguments))]
    fn envelope(
        &self,
        py: Python<'_>,
        arguments: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Envelope> {
        let arguments = arguments.map_or(Ok(Value::Null), |given| from_python(given.as_any()))?;
        self.tools.answer(py, &self.name, arguments, Host::default())
    }

    fn __repr__(&self) -> String {
        format!("Tool({})", self.name)
    }
}

/// Returns the error code with this name.
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

/// Calls a method in a thread, through `asyncio.to_thread`.
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
