//! Options of an engine, of disclosures and of prompts.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use repertoire_bindings::repertoire::skill::Network;
use repertoire_bindings::{
    BudgetValue, ConfigSetting, DisclosureSettings, HowToLoadSetting, LOADED_BY_THE_AGENT,
    MeaningSetting, PromptSettings, ScriptSettings, SourcePlace, SourceSetting, ToolsetSettings,
};
use serde_json::Value;

use crate::json::from_python;
use crate::provider::{PythonFiles, PythonProvider};
use crate::several::{PathText, Several};

/// The host's brand unless it has another one.
pub(crate) const BRAND: &str = "repertoire";

/// A budget: a number of characters, or a text such as `1000t` (tokens) or `2%` (of the context
/// window).
#[derive(Debug, Clone)]
pub(crate) struct Budget(pub(crate) BudgetValue);

impl<'py> FromPyObject<'_, 'py> for Budget {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Budget> {
        if let Ok(text) = value.extract::<String>() {
            return Ok(Budget(BudgetValue::Text(text)));
        }
        let wrong = || {
            PyTypeError::new_err(
                "a budget is a number of characters, or text: `1000t` for tokens, `2%` for a \
                 share of the window, `unlimited`",
            )
        };
        if value.is_instance_of::<PyBool>() {
            return Err(wrong());
        }
        let n = value.extract::<usize>().map_err(|_| wrong())?;
        Ok(Budget(BudgetValue::Characters(n)))
    }
}

/// The ranking by meaning: true, false, or the path of a table or a model.
#[derive(Debug, Clone)]
pub(crate) struct Meaning(pub(crate) MeaningSetting);

impl<'py> FromPyObject<'_, 'py> for Meaning {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Meaning> {
        if value.is_instance_of::<PyBool>() {
            return Ok(Meaning(MeaningSetting::Switch(value.is_truthy()?)));
        }
        let path = value.extract::<PathBuf>().map_err(|_| {
            PyTypeError::new_err("`meaning` is true, false, or the path of a table or a model")
        })?;
        Ok(Meaning(MeaningSetting::Path(path)))
    }
}

fn native(
    roots: Option<Several<PathText>>,
    words: Option<String>,
) -> Option<(Vec<String>, String)> {
    let usual = || LOADED_BY_THE_AGENT.to_owned();
    roots.map(|roots| (roots.texts(), words.unwrap_or_else(usual)))
}

/// The options of disclosures. Options that are not given keep the engine's values.
#[pyclass(frozen, eq, from_py_object, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DisclosureOptions(pub(crate) DisclosureSettings);

#[pymethods]
impl DisclosureOptions {
    #[new]
    #[pyo3(signature = (
        *, format = None, max_skills = None, max_all_skills = None, max_lines = None,
        relevance = None, budget = None, restore = None, context_window = None,
        how_to_load = None, native_roots = None, native_words = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "one for each option")]
    fn new(
        format: Option<String>,
        max_skills: Option<usize>,
        max_all_skills: Option<usize>,
        max_lines: Option<usize>,
        relevance: Option<bool>,
        budget: Option<Budget>,
        restore: Option<Budget>,
        context_window: Option<usize>,
        how_to_load: Option<String>,
        native_roots: Option<Several<PathText>>,
        native_words: Option<String>,
    ) -> DisclosureOptions {
        DisclosureOptions(DisclosureSettings {
            format,
            max_skills,
            max_all_skills,
            max_lines,
            relevance,
            budget: budget.map(|budget| budget.0),
            restore: restore.map(|budget| budget.0),
            context_window,
            how_to_load: how_to_load.as_deref().map(HowToLoadSetting::read),
            native: native(native_roots, native_words),
        })
    }
}

/// The options of the catalog prompt. Options that are not given keep the engine's values.
#[pyclass(frozen, eq, from_py_object, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PromptOptions(pub(crate) PromptSettings);

#[pymethods]
impl PromptOptions {
    #[new]
    #[pyo3(signature = (
        *, format = None, budget = None, context_window = None, locations = None,
        how_to_load = None, native_roots = None, native_words = None
    ))]
    fn new(
        format: Option<String>,
        budget: Option<Budget>,
        context_window: Option<usize>,
        locations: Option<bool>,
        how_to_load: Option<String>,
        native_roots: Option<Several<PathText>>,
        native_words: Option<String>,
    ) -> PromptOptions {
        PromptOptions(PromptSettings {
            format,
            budget: budget.map(|budget| budget.0),
            context_window,
            locations,
            how_to_load: how_to_load.as_deref().map(HowToLoadSetting::read),
            native: native(native_roots, native_words),
        })
    }
}

/// A directory of skills. Where a source is expected, a plain path stands for a source with the scope
/// `project`, whose code runs only once it is trusted.
#[pyclass(frozen, eq, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Source(SourceSetting);

#[pymethods]
impl Source {
    #[new]
    #[pyo3(signature = (
        path, scope = None, *, optional = false, links_outside = false, name = None, alias = None
    ))]
    fn new(
        path: &Bound<'_, PyAny>,
        scope: Option<String>,
        optional: Option<bool>,
        links_outside: Option<bool>,
        name: Option<String>,
        alias: Option<String>,
    ) -> PyResult<Source> {
        let place = setting_of(path, name)?;
        let optional = optional.unwrap_or_default();
        let links_outside = links_outside.unwrap_or_default();
        let scope = scope.unwrap_or_else(|| place.scope.clone());
        Ok(Source(SourceSetting { scope, optional, links_outside, alias, ..place }))
    }

    /// The directory; `None` for a provider.
    #[getter]
    fn path(&self) -> Option<PathBuf> {
        match &self.0.place {
            SourcePlace::Directory(path) => Some(path.clone()),
            SourcePlace::Provider(..) => None,
        }
    }

    /// The scope: `bundled`, `user` or `project`; `memory` for a provider that has no other.
    #[getter]
    fn scope(&self) -> &str {
        &self.0.scope
    }

    /// The prefix of the ids of its skills; `None` if they have none.
    #[getter]
    fn alias(&self) -> Option<&str> {
        self.0.alias.as_deref()
    }

    fn __repr__(&self) -> String {
        let place = match &self.0.place {
            SourcePlace::Directory(path) => path.display().to_string(),
            SourcePlace::Provider(name, _) => format!("{name}:"),
        };
        format!("Source({place}, {})", self.0.scope)
    }
}

/// The setting for a path, for an object with `list` and `read`, or for a dictionary of files.
fn setting_of(value: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<SourceSetting> {
    if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(SourceSetting::bare(path));
    }
    let kind = value.get_type();
    let named = |usual: String| name.unwrap_or(usual);
    if let Ok(files) = value.cast::<PyDict>() {
        let files = PythonFiles(files.clone().unbind());
        return Ok(SourceSetting::provided(named("memory".to_owned()), Arc::new(files)));
    }
    if value.hasattr("list")? && value.hasattr("read")? {
        let provider = PythonProvider(value.clone().unbind());
        return Ok(SourceSetting::provided(named(kind.name()?.to_string()), Arc::new(provider)));
    }
    let wrong = format!(
        "a source is a path, a `Source`, a `dict` of files, or an object with `list` and `read`, not {kind}"
    );
    Err(PyTypeError::new_err(wrong))
}

/// A `Source`, or what stands for one.
#[derive(Debug)]
pub(crate) struct AnySource(pub(crate) SourceSetting);

impl<'py> FromPyObject<'_, 'py> for AnySource {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<AnySource> {
        if let Ok(source) = value.cast::<Source>() {
            return Ok(AnySource(source.get().0.clone()));
        }
        setting_of(&value.to_owned(), None).map(AnySource)
    }
}

/// The directories in which a host's `config.toml` and standard sources are found.
#[pyclass(frozen, eq, from_py_object, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config(pub(crate) ConfigSetting);

#[pymethods]
impl Config {
    #[new]
    #[pyo3(signature = (project, *, home = None, working_dir = None, brand = "repertoire"))]
    fn new(
        project: PathBuf,
        home: Option<PathBuf>,
        working_dir: Option<PathBuf>,
        brand: Option<&str>,
    ) -> Config {
        let brand = brand.unwrap_or(BRAND).to_owned();
        Config(ConfigSetting { project, home, working_dir, brand })
    }
}

/// Options for loading toolsets.
#[pyclass(frozen, eq, from_py_object, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolsetOptions(pub(crate) ToolsetSettings);

#[pymethods]
impl ToolsetOptions {
    #[new]
    #[pyo3(signature = (
        *, in_process = false, policy = None, cache = None, config = None, call_timeout = None,
        network = None, write = Several::default()
    ))]
    fn new(
        in_process: Option<bool>,
        policy: Option<String>,
        cache: Option<PathBuf>,
        config: Option<Bound<'_, PyDict>>,
        call_timeout: Option<f64>,
        network: Option<Bound<'_, PyAny>>,
        write: Several<PathBuf>,
    ) -> PyResult<ToolsetOptions> {
        let config = config.map(|config| from_python(config.as_any())).transpose()?;
        let config = match config {
            Some(Value::Object(config)) => config,
            _ => serde_json::Map::new(),
        };
        let write = write.0;
        let in_process = in_process.unwrap_or_default();
        let network = network.map(|network| network_of(&network)).transpose()?;
        let settings =
            ToolsetSettings { in_process, policy, cache, config, call_timeout, network, write };
        Ok(ToolsetOptions(settings))
    }
}

/// Reads a part of the network: a `bool`, or a sequence of addresses.
fn network_of(value: &Bound<'_, PyAny>) -> PyResult<Network> {
    serde_json::from_value(from_python(value)?)
        .map_err(|error| PyValueError::new_err(format!("`network`: {error}")))
}

/// Options for running scripts.
#[pyclass(frozen, eq, from_py_object, module = "repertoire")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScriptOptions(pub(crate) ScriptSettings);

#[pymethods]
impl ScriptOptions {
    #[new]
    #[pyo3(signature = (
        *, timeout = None, output_bytes = None, env = Several::default(), write = Several::default(),
        hidden = Several::default(), network = None
    ))]
    fn new(
        timeout: Option<f64>,
        output_bytes: Option<usize>,
        env: Several<String>,
        write: Several<PathBuf>,
        hidden: Several<PathBuf>,
        network: Option<bool>,
    ) -> ScriptOptions {
        let (env, write, hidden) = (env.0, write.0, hidden.0);
        ScriptOptions(ScriptSettings { timeout, output_bytes, env, write, hidden, network })
    }
}

/// Options, or `True` for the defaults, or `False` to switch the feature off.
#[derive(Debug, FromPyObject)]
pub(crate) enum Switch<T> {
    On(bool),
    With(T),
}

impl<T> Switch<T> {
    /// Returns the options, or `None` if the feature is off.
    pub(crate) fn options(self, usual: impl FnOnce() -> T) -> Option<T> {
        match self {
            Switch::On(on) => on.then(usual),
            Switch::With(options) => Some(options),
        }
    }
}
