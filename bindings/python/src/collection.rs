//! The engine as a collection of skills, which changes with its sources.

use std::sync::Mutex;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};
use repertoire_bindings::audience;
use repertoire_bindings::repertoire::WatchOptions;
use repertoire_bindings::repertoire::catalog::{Allowlist, Entry};

use crate::catalog::{Diagnostic, Refreshed};
use crate::engine::Engine;
use crate::error::{exception, run};
use crate::guard::{Subscription, Watch};
use crate::several::Several;
use crate::skill::Skill;
use crate::tools::in_thread;

#[pymethods]
impl Engine {
    /// Returns the skills of the catalog, in the order of ids. With an `audience` (`model` or `user`),
    /// returns only the skills that it can use.
    #[pyo3(signature = (audience = None))]
    fn skills(&self, py: Python<'_>, audience: Option<&str>) -> PyResult<Vec<Skill>> {
        let catalog = self.0.catalog();
        let Some(audience) = audience else {
            return Ok(catalog.entries().map(Skill::of).collect());
        };
        let audience = self::audience(audience).map_err(|error| exception(py, &error))?;
        Ok(catalog.listed(audience).map(Skill::of).collect())
    }

    /// Returns the skill that `name` refers to, whatever its status. `name` is an id, a path, or a
    /// unique name.
    fn skill(&self, py: Python<'_>, name: &str) -> PyResult<Skill> {
        let catalog = self.0.catalog();
        catalog.find_any(name).map(Skill::of).map_err(|error| exception(py, &error))
    }

    /// Returns the problems found in skill files and sources.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.0.diagnostics().iter().map(Diagnostic::from).collect()
    }

    /// Applies changes in the sources since they were last read.
    fn refresh(&self, py: Python<'_>) -> PyResult<Refreshed> {
        run(py, || self.0.refresh()).map(|refreshed| Refreshed::from(&refreshed))
    }

    /// Applies changes, as `refresh` does, without blocking the event loop.
    fn arefresh<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        in_thread(slf.as_any(), "refresh", &PyTuple::empty(slf.py()), None)
    }

    /// Calls `listener` with the changes after each refresh that found some, until the subscription is
    /// closed. An exception in the listener goes to `sys.unraisablehook`.
    fn subscribe(&self, listener: Py<PyAny>) -> Subscription {
        let subscription = self.0.subscribe(move |refreshed| {
            let refreshed = Refreshed::from(refreshed);
            Python::try_attach(|py| {
                if let Err(error) = listener.call1(py, (refreshed,)) {
                    error.write_unraisable(py, Some(listener.bind(py)));
                }
            });
        });
        Subscription(Mutex::new(Some(subscription)))
    }

    /// Refreshes the engine automatically whenever its sources change, until the watch is closed.
    fn watch(&self, py: Python<'_>) -> PyResult<Watch> {
        let watch = run(py, || self.0.watch(WatchOptions::default()))?;
        Ok(Watch(Mutex::new(Some(watch))))
    }

    /// Returns the engine of a role, for which only the skills of `allow` exist. It shares catalog,
    /// indexes, sessions, callbacks and the watch with this engine.
    #[pyo3(signature = (allow = None))]
    fn view(&self, py: Python<'_>, allow: Option<Several<String>>) -> Engine {
        let allowlist = Allowlist::from_entries(allow.as_ref().map(|allow| &allow.0[..]));
        Engine(py.detach(|| self.0.view(allowlist)))
    }

    fn __len__(&self) -> usize {
        self.0.catalog().entries().count()
    }

    /// Returns an iterator over the skills of the catalog, in the order of ids.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.skills(py, None)?)?.try_iter()
    }

    /// Tells whether the catalog has a skill: a `Skill`, or any form of its name.
    fn __contains__(&self, skill: &Bound<'_, PyAny>) -> bool {
        let id = skill.cast::<Skill>().map(|skill| skill.get().id().to_owned());
        let name = id.or_else(|_| skill.extract::<String>());
        name.is_ok_and(|name| self.0.catalog().find_any(&name).is_ok())
    }

    /// Returns the skill that `name` refers to. Raises `KeyError` if there is none.
    fn __getitem__(&self, name: &str) -> PyResult<Skill> {
        let catalog = self.0.catalog();
        let found = catalog.find_any(name).map(Skill::of);
        found.map_err(|error| PyKeyError::new_err(format!("{}: {}", error.message(), error.help())))
    }

    fn __repr__(&self) -> String {
        format!("Engine({} skills)", self.__len__())
    }

    /// Returns the skills as a table, for notebooks.
    fn _repr_markdown_(&self) -> String {
        let catalog = self.0.catalog();
        let cell = |text: &str| text.replace('|', "\\|");
        let row = |entry: &Entry| {
            let (status, brief) = (entry.status.as_str(), cell(entry.skill.brief()));
            format!("\n| {} | {status} | {brief} |", cell(entry.id.as_str()))
        };
        let rows: String = catalog.entries().map(row).collect();
        format!("| skill | status | description |\n|---|---|---|{rows}")
    }
}
