//! Skills: the content of a `SKILL.md`, and the status in a catalog.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use repertoire_bindings::repertoire::{self as engine, catalog::Entry};
use repertoire_bindings::{refusal, status_of, triggers_of};

use crate::catalog::Diagnostic;
use crate::error::{exception, run};
use crate::options::BRAND;
use crate::record::{Reduced, to_dict};

/// A skill: the content of a `SKILL.md` and, if the skill is in a catalog, its status there.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Skill {
    /// The skill's id in its catalog; the skill's name if it is in no catalog.
    #[pyo3(get)]
    id: String,
    /// `bundled`, `user`, `project` or `memory`.
    #[pyo3(get)]
    scope: String,
    /// `available`, `unavailable`, `shadowed` or `disabled`.
    #[pyo3(get)]
    status: String,
    /// The reason why the model cannot use the skill; `None` if it can.
    #[pyo3(get)]
    reason: Option<String>,
    content: Arc<engine::Skill>,
}

impl Skill {
    pub(crate) fn of(entry: &Entry) -> Skill {
        let facts = status_of(entry);
        Skill {
            id: entry.id.to_string(),
            scope: facts.scope,
            status: facts.status,
            reason: facts.reason,
            content: Arc::clone(&entry.skill),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    fn alone(skill: engine::Skill, scope: &str) -> Skill {
        Skill {
            id: skill.name().to_owned(),
            scope: scope.to_owned(),
            status: "available".to_owned(),
            reason: None,
            content: Arc::new(skill),
        }
    }
}

/// The fields that `Skill.to_dict` returns.
const FIELDS: [&str; 11] = [
    "id", "name", "description", "brief", "scope", "status", "reason", "triggers", "toolsets",
    "path", "dir",
];

/// Returns the content of a skill as this version of the engine reads it.
fn pickled(skill: &engine::Skill) -> PyResult<Vec<u8>> {
    postcard::to_stdvec(skill).map_err(|error| not_pickled(&error))
}

fn not_pickled(error: &postcard::Error) -> PyErr {
    PyValueError::new_err(format!("a skill cannot be pickled: {error}"))
}

/// Returns the exception for a text that cannot be a skill.
fn refused(py: Python<'_>, found: &[engine::Diagnostic]) -> PyErr {
    exception(py, &refusal(found))
}

#[pymethods]
impl Skill {
    /// Parses the text of a `SKILL.md`, which must have a `name`.
    #[staticmethod]
    #[pyo3(signature = (text, brand = "repertoire"))]
    fn parse(py: Python<'_>, text: &str, brand: Option<&str>) -> PyResult<Skill> {
        let brand = brand.unwrap_or(BRAND);
        let skill = py.detach(|| engine::Skill::parse(text, brand));
        skill.map(|skill| Skill::alone(skill, "memory")).map_err(|found| refused(py, &found))
    }

    /// Reads a `SKILL.md`.
    #[staticmethod]
    #[pyo3(signature = (path, brand = "repertoire"))]
    fn load(py: Python<'_>, path: PathBuf, brand: Option<&str>) -> PyResult<Skill> {
        let brand = brand.unwrap_or(BRAND);
        let skill = py.detach(|| engine::Skill::load(&path, brand));
        skill.map(|skill| Skill::alone(skill, "user")).map_err(|found| refused(py, &found))
    }

    /// The name in the front matter, or else the name of the directory.
    #[getter]
    fn name(&self) -> &str {
        self.content.name()
    }

    /// The skill's description: what it does, and when to use it.
    #[getter]
    fn description(&self) -> &str {
        self.content.description()
    }

    /// The skill's description in one line.
    #[getter]
    fn brief(&self) -> &str {
        self.content.brief()
    }

    /// The instructions: the text after the front matter. It is read on first use.
    #[getter]
    fn body(&self, py: Python<'_>) -> PyResult<String> {
        run(py, || self.content.body().map(str::to_owned))
    }

    /// The triggers by kind: `keywords`, `verbs`, `patterns`, `exclude` and `paths`.
    #[getter]
    fn triggers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let triggers = PyDict::new(py);
        for (kind, texts) in triggers_of(self.content.triggers()) {
            triggers.set_item(kind, texts)?;
        }
        Ok(triggers)
    }

    /// The `path:Class` entries of the skill's toolsets.
    #[getter]
    fn toolsets(&self) -> Vec<&str> {
        let toolsets = &self.content.manifest().toolsets;
        toolsets.iter().map(|toolset| toolset.value.as_str()).collect()
    }

    /// The path of the skill's `SKILL.md`; `None` for a skill in memory.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        self.content.path().map(std::path::Path::to_owned)
    }

    /// The skill's directory; `None` for a skill in memory.
    #[getter]
    fn dir(&self) -> Option<PathBuf> {
        self.content.dir().map(std::path::Path::to_owned)
    }

    /// The findings about the skill's file.
    #[getter]
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.content.diagnostics().iter().map(Diagnostic::from).collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Skill>() else { return false };
        let (a, b) = (self, other.get());
        let place = |of: &Skill| (of.content.path().map(ToOwned::to_owned), of.status.clone());
        let is_same =
            || pickled(&a.content).is_ok_and(|own| pickled(&b.content).is_ok_and(|b| b == own));
        (&a.id, &a.scope, &a.reason, place(a)) == (&b.id, &b.scope, &b.reason, place(b))
            && is_same()
    }

    fn __hash__(&self) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one((&self.id, &self.scope))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let (py, skill) = (slf.py(), slf.get());
        let content = PyBytes::new(py, &pickled(&skill.content)?);
        let fields = (&skill.id, &skill.scope, &skill.status, &skill.reason, content);
        Ok((slf.get_type().getattr("_restore")?, fields.into_pyobject(py)?))
    }

    /// Returns the skill that was pickled, by this version of the package.
    #[staticmethod]
    fn _restore(
        id: String,
        scope: String,
        status: String,
        reason: Option<String>,
        content: &[u8],
    ) -> PyResult<Skill> {
        let content = postcard::from_bytes(content).map_err(|error| not_pickled(&error))?;
        Ok(Skill { id, scope, status, reason, content: Arc::new(content) })
    }

    /// Returns the fields as a dictionary of plain values that can be written as JSON.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(slf.as_any(), &FIELDS)
    }

    /// Returns the skill's name, description and instructions, for notebooks.
    fn _repr_markdown_(&self, py: Python<'_>) -> PyResult<String> {
        let body = self.body(py)?;
        Ok(format!("### {}\n\n{}\n\n{body}", self.id, self.description()))
    }

    fn __repr__(&self) -> String {
        format!("Skill(id={:?}, scope={:?}, status={:?})", self.id, self.scope, self.status)
    }
}
