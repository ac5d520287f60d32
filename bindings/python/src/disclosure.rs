//! Disclosures and turns: the answers to messages. Fields are converted to Python values when they are
//! read.

use std::sync::OnceLock;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use repertoire_bindings::repertoire::{self as engine, SkillId};

use crate::activation::Activation;
use crate::error::exception;
use crate::matches::{Rejection, Relevant, meta_name};
use crate::record::{Reduced, reduce, represent, to_dict};
use crate::tools::Tools;

/// The decision for one message: the text for the prompt, and the skills that it shows and omits.
///
/// Fields are converted to Python values only when they are read.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Disclosure {
    tier: u8,
    meta: Option<String>,
    full: Vec<SkillId>,
    relevant: Option<Relevant>,
    registry: Vec<SkillId>,
    hidden: usize,
    below_limit: usize,
    /// The engine's rejections, not converted yet; empty in a disclosure restored from a pickle, which
    /// has them in `shown`.
    omitted: Vec<engine::Rejection>,
    shown: OnceLock<Vec<Rejection>>,
    failure: Option<String>,
    text: String,
}

const FIELDS: [&str; 10] = [
    "tier", "meta", "full", "relevant", "registry", "hidden", "below_limit", "omitted", "failure",
    "text",
];

impl From<engine::Disclosure> for Disclosure {
    fn from(disclosure: engine::Disclosure) -> Disclosure {
        Disclosure {
            tier: disclosure.tier as u8,
            meta: disclosure.meta.map(meta_name),
            full: disclosure.full,
            relevant: disclosure.relevant.as_ref().map(Relevant::from),
            registry: disclosure.registry,
            hidden: disclosure.hidden,
            below_limit: disclosure.below_limit,
            omitted: disclosure.omitted,
            shown: OnceLock::new(),
            failure: disclosure.failure,
            text: disclosure.text,
        }
    }
}

fn ids(ids: &[SkillId]) -> Vec<&str> {
    ids.iter().map(SkillId::as_str).collect()
}

#[pymethods]
impl Disclosure {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one for each field")]
    fn new(
        tier: u8,
        meta: Option<String>,
        full: Vec<String>,
        relevant: Option<Relevant>,
        registry: Vec<String>,
        hidden: usize,
        below_limit: usize,
        omitted: Vec<Rejection>,
        failure: Option<String>,
        text: String,
    ) -> Disclosure {
        let ids = |ids: Vec<String>| ids.iter().map(|id| SkillId::new(id)).collect();
        let (full, registry) = (ids(full), ids(registry));
        let (shown, omitted) = (OnceLock::from(omitted), Vec::new());
        Disclosure {
            tier,
            meta,
            full,
            relevant,
            registry,
            hidden,
            below_limit,
            omitted,
            shown,
            failure,
            text,
        }
    }

    /// The highest tier that any skill has in the text: 0 nothing, 1 a count of skills, 2 lines, 3 full
    /// instructions.
    #[getter]
    fn tier(&self) -> u8 {
        self.tier
    }

    /// `registry` or `show_all` if the message asks about the skills themselves.
    #[getter]
    fn meta(&self) -> Option<&str> {
        self.meta.as_deref()
    }

    /// Skills shown in full, best first.
    #[getter]
    fn full(&self) -> Vec<&str> {
        ids(&self.full)
    }

    /// The skill that is shown in full because it is relevant, if any.
    #[getter]
    fn relevant(&self) -> Option<Relevant> {
        self.relevant.clone()
    }

    /// Skills shown as one line each, in the order of the text.
    #[getter]
    fn registry(&self) -> Vec<&str> {
        ids(&self.registry)
    }

    /// The number of skills that are only counted.
    #[getter]
    fn hidden(&self) -> usize {
        self.hidden
    }

    /// The number of skills that rank below the limit; the first of them are in `omitted`.
    #[getter]
    fn below_limit(&self) -> usize {
        self.below_limit
    }

    /// Skills that relate to the message but are shown in less detail than possible, or not at all,
    /// with the reasons.
    #[getter]
    fn omitted(&self) -> Vec<Rejection> {
        self.shown.get_or_init(|| self.omitted.iter().map(Rejection::from).collect()).clone()
    }

    /// The failure of the program that `routing.retriever` names, if it failed: skills were ranked by
    /// words alone.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The text for the prompt; may be empty.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("tier", "full", "text")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Disclosure>() else { return false };
        let other = other.get();
        self.tier == other.tier
            && self.meta == other.meta
            && self.full == other.full
            && self.relevant == other.relevant
            && self.registry == other.registry
            && (self.hidden, self.below_limit) == (other.hidden, other.below_limit)
            && self.omitted() == other.omitted()
            && self.failure == other.failure
            && self.text == other.text
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    /// Returns the text, for notebooks.
    fn _repr_markdown_(&self) -> &str {
        &self.text
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        represent(slf.as_any(), &FIELDS)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf.as_any(), &FIELDS)
    }

    /// Returns the fields as a dictionary of plain values that can be written as JSON.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(slf.as_any(), &FIELDS)
    }
}

/// The answer to one message of a conversation.
#[pyclass(frozen, module = "repertoire")]
#[derive(Debug)]
pub(crate) struct Turn {
    /// The text to put into the context together with the message; may be empty.
    #[pyo3(get)]
    text: String,
    /// The skills that were disclosed and omitted; for a command, the command's skill.
    #[pyo3(get)]
    disclosure: Py<Disclosure>,
    /// The skill that the message activated, if the message is a command such as `/review PR 42`.
    #[pyo3(get)]
    activation: Option<Activation>,
    /// The error, if the message is a command whose skill could not be activated.
    #[pyo3(get)]
    refused: Option<Py<PyAny>>,
    /// The error of the session's store, if because of it this answer comes from memory, or is kept in memory only.
    #[pyo3(get)]
    unsaved: Option<Py<PyAny>>,
    tools: Option<Tools>,
}

impl Turn {
    pub(crate) fn of(py: Python<'_>, turn: engine::Turn) -> PyResult<Turn> {
        let engine::Turn { text, disclosure, activation, refused, unsaved, tools, .. } = turn;
        let raised = |error| exception(py, &error).into_value(py).into_any();
        Ok(Turn {
            text,
            disclosure: Py::new(py, Disclosure::from(disclosure))?,
            activation: activation.map(Activation::from),
            refused: refused.map(raised),
            unsaved: unsaved.map(raised),
            tools: Some(Tools::from(tools)),
        })
    }
}

const TURN_FIELDS: [&str; 5] = ["text", "disclosure", "activation", "refused", "unsaved"];

#[pymethods]
impl Turn {
    #[new]
    #[pyo3(signature = (text, disclosure, activation, refused, unsaved = None))]
    fn new(
        text: String,
        disclosure: Py<Disclosure>,
        activation: Option<Activation>,
        refused: Option<Py<PyAny>>,
        unsaved: Option<Py<PyAny>>,
    ) -> Turn {
        Turn { text, disclosure, activation, refused, unsaved, tools: None }
    }

    /// The model's tools. The list is always up to date: skills that are loaded later add their tools.
    /// A turn restored from a pickle has no tools; use `engine.tools(session)` instead.
    #[getter]
    fn tools(&self, py: Python<'_>) -> PyResult<Tools> {
        self.tools.clone().ok_or_else(|| {
            let (message, help) = ("a turn that was pickled has no tools", "use `engine.tools`");
            let code = engine::ErrorCode::NotFound;
            exception(py, &engine::Error::new(code, message, help))
        })
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    /// Returns the text, for notebooks.
    fn _repr_markdown_(&self) -> &str {
        &self.text
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Turn>() else { return Ok(false) };
        Turn::to_dict(slf)?.eq(Turn::to_dict(other)?)
    }

    /// Returns the fields as a dictionary of plain values that can be written as JSON.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(slf.as_any(), &TURN_FIELDS)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        represent(slf.as_any(), &TURN_FIELDS)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf.as_any(), &TURN_FIELDS)
    }
}
