//! Sessions. A session is one conversation.

use pyo3::prelude::*;
use repertoire_bindings::repertoire as engine;

use crate::error::{exception, run};
use crate::event::SkillState;

/// One conversation: the skills it used, the instructions in its context, and what its user agreed to.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Session(pub(crate) engine::Session);

#[pymethods]
impl Session {
    /// The session's name in the store.
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    /// Returns the session's history: one state for each skill that took part in it, most recently used
    /// first.
    fn state(&self, py: Python<'_>) -> PyResult<Vec<SkillState>> {
        let state = run(py, || self.0.state())?;
        Ok(state.skills.iter().map(SkillState::from).collect())
    }

    /// Records that a skill is used now. It ranks higher from now on.
    fn record_use(&self, py: Python<'_>, skill: &str) -> PyResult<()> {
        run(py, || self.0.record_use(&skill.into()))
    }

    /// Records that the user agreed to activate a skill.
    fn consent(&self, py: Python<'_>, skill: &str) -> PyResult<()> {
        run(py, || self.0.consent(&skill.into()))
    }

    /// Records that the host compacted the context: its instructions are gone, and the most recent ones
    /// are disclosed again.
    fn compacted(&self, py: Python<'_>) -> PyResult<()> {
        run(py, || self.0.compacted())
    }

    /// Forgets the conversation.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        run(py, || self.0.end())
    }

    /// The exception because of which the session is kept in memory at the moment; `None` if its store has all of it.
    #[getter]
    fn unsaved(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.0.unsaved().map(|error| exception(py, &error).into_value(py).into_any())
    }

    fn __repr__(&self) -> String {
        format!("Session({:?})", self.0.id())
    }
}
