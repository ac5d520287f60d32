//! Sessions: one conversation each.

use pyo3::prelude::*;
use repertoire_bindings::repertoire as engine;

use crate::error::run;
use crate::event::SkillState;

/// One conversation: which skills it used, which instructions stand in its context, and what its
/// user agreed to.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Session(pub(crate) engine::Session);

#[pymethods]
impl Session {
    /// Its name in the store.
    #[getter]
    fn id(&self) -> &str {
        self.0.id()
    }

    /// Its history, a state for each skill it had to do with, the last used first.
    fn state(&self, py: Python<'_>) -> PyResult<Vec<SkillState>> {
        let state = run(py, || self.0.state())?;
        Ok(state.skills.iter().map(SkillState::from).collect())
    }

    /// Notes that a skill was used, now: it ranks higher from here on.
    fn record_use(&self, py: Python<'_>, skill: &str) -> PyResult<()> {
        run(py, || self.0.record_use(&skill.into()))
    }

    /// Notes that the user agreed to the activation of a skill.
    fn consent(&self, py: Python<'_>, skill: &str) -> PyResult<()> {
        run(py, || self.0.consent(&skill.into()))
    }

    /// Notes that the host made its context shorter: instructions that stood in it are gone, and
    /// the most recent ones are disclosed again.
    fn compacted(&self, py: Python<'_>) -> PyResult<()> {
        run(py, || self.0.compacted())
    }

    /// Forgets the conversation.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        run(py, || self.0.end())
    }

    fn __repr__(&self) -> String {
        format!("Session({:?})", self.0.id())
    }
}
