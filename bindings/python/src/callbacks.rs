//! Callbacks of the host: Python functions and objects behind the engine's traits.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use repertoire_bindings::EventRecord;
use repertoire_bindings::repertoire::disclosure::{BytesPerToken, TokenCounter};
use repertoire_bindings::repertoire::session::{
    Event, SessionState as State, SessionStore, SkillState as EngineSkillState,
};
use repertoire_bindings::repertoire::toolset::{Approval, TrustRequest as EngineTrustRequest};
use repertoire_bindings::repertoire::{
    ConsentRequest as EngineConsentRequest, Error, Phase, Progress, Task as EngineTask, TaskSpawner,
};

use crate::activation::{ConsentRequest, Task, TrustRequest};
use crate::error::{callback, fallible_callback, reported_callback};
use crate::event::{Event as EventOfHost, SkillState};

/// A Python function.
#[derive(Debug)]
pub(crate) struct Function(pub(crate) Py<PyAny>);

impl TokenCounter for Function {
    fn count(&self, text: &str) -> usize {
        let count = |py: Python<'_>| self.0.call1(py, (text,))?.extract(py);
        // If the callback fails, the result of the call is dropped, so any estimate will do.
        callback("the token counter", count).unwrap_or_else(|| BytesPerToken::default().count(text))
    }
}

impl TaskSpawner for Function {
    fn spawn(&self, task: &EngineTask) -> Result<String, Error> {
        let task = Task::from(task);
        fallible_callback("the task spawner", |py| self.0.call1(py, (task,))?.extract(py))
    }
}

/// An object with the methods of a session store. While it fails, the engine answers from memory, and only what a
/// host asks a session itself raises the exception.
#[derive(Debug)]
pub(crate) struct PythonStore(pub(crate) Py<PyAny>);

/// The name of the store in error messages.
const STORE: &str = "the session store";

impl SessionStore for PythonStore {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<EngineSkillState>, Error> {
        let event = EventOfHost::from(EventRecord::from(event));
        let before = reported_callback(STORE, |py| {
            let before = self.0.call_method1(py, "record", (session, event))?;
            before.extract::<Option<SkillState>>(py).map_err(PyErr::from)
        })?;
        Ok(before.map(|state| state.to_engine()))
    }

    fn record_all(&self, session: &str, events: &[Event<'_>]) -> Result<(), Error> {
        let has_own = Python::try_attach(|py| self.0.bind(py).hasattr("record_all").ok()).flatten();
        if has_own != Some(true) {
            return events.iter().try_for_each(|event| self.record(session, event).map(drop));
        }
        let events: Vec<EventOfHost> =
            events.iter().map(|event| EventRecord::from(event).into()).collect();
        reported_callback(STORE, |py| {
            self.0.call_method1(py, "record_all", (session, events)).map(drop)
        })
    }

    fn state(&self, session: &str) -> Result<State, Error> {
        let skills = reported_callback(STORE, |py| {
            let skills = self.0.call_method1(py, "state", (session,))?;
            skills.extract::<Vec<SkillState>>(py)
        })?;
        Ok(State { skills: skills.iter().map(SkillState::to_engine).collect() })
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        reported_callback(STORE, |py| self.0.call_method1(py, "end", (session,)).map(drop))
    }
}

/// Wraps the callback that asks for consent.
pub(crate) fn ask_consent(
    ask: Py<PyAny>,
) -> Box<dyn Fn(&EngineConsentRequest) -> bool + Send + Sync> {
    Box::new(move |request| {
        let request = ConsentRequest::from(request);
        let asked =
            callback("the callback for consent", |py| yes_or_no(&ask.bind(py).call1((request,))?));
        asked.flatten().unwrap_or(false)
    })
}

/// Wraps the callback that approves code. `None` and an exception do not answer.
pub(crate) fn approval(ask: Py<PyAny>) -> Approval {
    Approval::new(move |request: &EngineTrustRequest| {
        let request = TrustRequest::from(request);
        let asked =
            callback("the callback for approval", |py| yes_or_no(&ask.bind(py).call1((request,))?));
        asked.flatten()
    })
}

/// Returns the answer to a question; `None` for `None`. Anything but a `bool` is an exception: the coroutine of an
/// `async` function and the text `"no"` are true in Python, and no yes.
fn yes_or_no(answer: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if answer.is_none() {
        return Ok(None);
    }
    let wrong = |_| {
        let kind =
            answer.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("the answer to a question must be a bool, not of type {kind}"))
    };
    answer.extract().map(Some).map_err(wrong)
}

/// The first exception of callbacks that may run on any thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the value of `result`. If it is an exception, returns `None`, and keeps the exception if
    /// it is the first.
    pub(crate) fn keep<T>(&self, result: PyResult<T>) -> Option<T> {
        let error = match result {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        None
    }

    pub(crate) fn is_any(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Wraps the callback that receives the progress of building: phase, steps done, and total steps.
pub(crate) fn progress(report: Py<PyAny>, raised: Raised) -> Box<dyn Fn(Progress) + Send + Sync> {
    Box::new(move |at: Progress| {
        let phase = match at.phase {
            Phase::Reading => "reading",
            Phase::Compiling => "compiling",
            _ => "indexing",
        };
        if !raised.is_any() {
            let call = |py: Python<'_>| {
                raised.keep(report.call1(py, (phase, at.done, at.total)).map(drop))
            };
            Python::try_attach(call);
        }
    })
}

/// Tells whether the host has cancelled. `host` is an object with `is_set`, such as `threading.Event`,
/// or a function.
pub(crate) fn is_cancelled(host: &Bound<'_, PyAny>) -> PyResult<bool> {
    match host.getattr_opt("is_set")? {
        Some(is_set) => is_set.call0()?.is_truthy(),
        None => host.call0()?.is_truthy(),
    }
}

/// The session store of the host: a file, or an object.
pub(crate) enum Store {
    File(PathBuf),
    Object(Py<PyAny>),
}

impl Store {
    /// Returns the file, or the object.
    pub(crate) fn parts(self) -> (Option<PathBuf>, Option<Py<PyAny>>) {
        match self {
            Store::File(file) => (Some(file), None),
            Store::Object(object) => (None, Some(object)),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Store {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Store> {
        if value.hasattr("record")? && value.hasattr("state")? {
            refuse_coroutines(&value)?;
            return Ok(Store::Object(value.to_owned().unbind()));
        }
        value.extract::<PathBuf>().map(Store::File).map_err(|_| {
            PyTypeError::new_err(
                "a session store is the path of a file, the URL of a database, or an object with \
                 `record`, `state` and `end`",
            )
        })
    }
}

/// Fails if a method of a session store is an `async` function: the engine cannot await it, and would take each call for
/// a failure of the store.
fn refuse_coroutines(store: &Bound<'_, PyAny>) -> PyResult<()> {
    let is_coroutine = store.py().import("inspect")?.getattr("iscoroutinefunction")?;
    for name in ["record", "record_all", "state", "end"] {
        if let Some(method) = store.getattr_opt(name)?
            && is_coroutine.call1((method,))?.is_truthy()?
        {
            let message = format!("`{name}` of a session store must not be an `async` function");
            return Err(PyTypeError::new_err(message));
        }
    }
    Ok(())
}
