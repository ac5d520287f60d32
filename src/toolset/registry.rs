//! The tools of the skills: listed, validated and called by name.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use repertoire_plugin::{Host, ToolOutput, ToolSpec};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Map, Value};

use super::entry::ToolsetEntry;
use super::export::provider_name;
use super::library::{Library, Loader};
use super::worker::WorkerState;
use super::{ToolPolicy, ToolsetOptions};
use crate::catalog::Scope;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::SkillId;
use crate::trust::{Owner, TrustStore};

/// A tool of a skill.
///
/// As JSON it also has the `state` of its library: that of a [`WorkerState`], with the `reason` why
/// it does not run, or `in_process`.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name among all tools: the skill's id, a dot, and its name in the toolset.
    pub name: String,
    /// Its name in the toolset.
    pub short_name: String,
    /// Its description, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// Hints in MCP's words (`readOnlyHint`, …).
    pub annotations: Map<String, Value>,
    /// The class it belongs to.
    pub toolset: String,
    /// The skill it belongs to.
    pub skill: SkillId,
    library: Arc<Library>,
    config: Arc<Value>,
    validator: Arc<jsonschema::Validator>,
    /// True once its skill no longer has it.
    retired: Arc<AtomicBool>,
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.worker_state();
        let reason = state.as_ref().and_then(WorkerState::reason);
        let mut tool = serializer.serialize_struct("Tool", 7 + usize::from(reason.is_some()))?;
        tool.serialize_field("name", &self.name)?;
        tool.serialize_field("description", &self.description)?;
        tool.serialize_field("parameters", &self.parameters)?;
        tool.serialize_field("toolset", &self.toolset)?;
        tool.serialize_field("skill", &self.skill)?;
        tool.serialize_field("annotations", &self.annotations)?;
        tool.serialize_field("state", state.as_ref().map_or("in_process", WorkerState::as_str))?;
        if let Some(reason) = reason {
            tool.serialize_field("reason", &reason)?;
        }
        tool.end()
    }
}

/// A toolset that could not be loaded. The others are not affected.
#[derive(Debug, Clone)]
pub struct ToolFailure {
    /// The skill.
    pub skill: SkillId,
    /// The entry of its manifest.
    pub entry: String,
    /// The reason.
    pub error: Arc<Error>,
}

/// The tools that were loaded, and the toolsets that could not be.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// In the order of skills, entries and toolsets.
    pub tools: Vec<Tool>,
    /// The toolsets that could not be loaded.
    pub failures: Vec<ToolFailure>,
}

impl Tools {
    /// The tool that `name` means: a qualified name, a name as providers have it (see
    /// [`ToolFormat`](crate::ToolFormat)), or the name in its toolset where that is unique.
    ///
    /// Fails with `NOT_FOUND`.
    pub fn find(&self, name: &str) -> Result<&Tool, Error> {
        let unique = |is: &dyn Fn(&Tool) -> bool| {
            let mut found = self.tools.iter().filter(|tool| is(tool));
            found.next().filter(|_| found.next().is_none())
        };
        let tool = unique(&|tool| tool.name == name)
            .or_else(|| unique(&|tool| provider_name(&tool.name) == name))
            .or_else(|| unique(&|tool| tool.short_name == name));
        tool.ok_or_else(|| self.not_found(name))
    }

    fn not_found(&self, name: &str) -> Error {
        let nearest = self
            .tools
            .iter()
            .map(|tool| (strsim::jaro_winkler(name, &tool.name), &tool.name))
            .chain(self.tools.iter().map(|t| (strsim::jaro_winkler(name, &t.short_name), &t.name)))
            .filter(|(similarity, _)| *similarity > 0.8)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let error = |help: &str| Error::new(ErrorCode::NotFound, format!("no tool `{name}`"), help);
        match nearest {
            Some((_, nearest)) => error(&format!("did you mean `{nearest}`?")),
            None => error("call one of the tools that are listed").with_remedy(Remedy::ListTools),
        }
    }
}

impl Tool {
    /// Calls the tool and waits for its end.
    ///
    /// Fails with `INVALID_PARAM` for arguments that do not fit the schema, with the place;
    /// `TIMEOUT` at a deadline; and `EXECUTION_ERROR` for an error that the tool reports, a panic,
    /// or the end of its process. `NOT_FOUND` if a [`refresh`](crate::Engine::refresh) removed or
    /// replaced its skill.
    pub fn call(&self, arguments: &Value, host: &dyn Host) -> Result<ToolOutput, Error> {
        if self.retired.load(Ordering::Relaxed) {
            let message = format!("there is no tool `{}` any more", self.name);
            let help = "its skill was removed or changed; list the tools again";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        self.validate(arguments)?;
        let text = arguments.to_string();
        let Tool { toolset, config, short_name, .. } = self;
        self.library
            .call(toolset, config, short_name, &text, host)
            .map_err(|error| error.reworded(format!("tool `{}`: {}", self.name, error.message())))
    }

    /// The state of its library's process; `None` if it runs in this one.
    pub fn worker_state(&self) -> Option<WorkerState> {
        self.library.worker_state()
    }

    /// Ends the process of its library, if it has one, and forgets its crashes: the next call
    /// starts it anew, also one that was disabled.
    pub fn restart(&self) {
        self.library.restart();
    }

    /// The library it comes from.
    pub fn library_path(&self) -> &std::path::Path {
        &self.library.path
    }

    fn validate(&self, arguments: &Value) -> Result<(), Error> {
        let errors = self.validator.iter_errors(arguments).map(|error| {
            let place = error.instance_path().to_string();
            let place =
                if place.is_empty() { "the arguments".to_owned() } else { format!("`{place}`") };
            format!("{place}: {error}")
        });
        let errors: Vec<String> = errors.take(5).collect();
        if errors.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::InvalidParam,
            format!("arguments of tool `{}` do not fit: {}", self.name, errors.join("; ")),
            format!("the parameters are {}", self.parameters),
        ))
    }
}

/// The toolsets of a catalog, loaded when they are first asked for.
#[derive(Debug)]
pub(crate) struct Toolsets {
    loader: Loader,
    policy: ToolPolicy,
    config: Map<String, Value>,
    project_config: Map<String, Value>,
    /// The described toolsets and their libraries, by skill and entry.
    described: Mutex<HashMap<(SkillId, String), Described>>,
}

#[derive(Debug, Clone)]
struct Described {
    library: Arc<Library>,
    tools: Vec<Tool>,
    retired: Arc<AtomicBool>,
}

impl Toolsets {
    pub(crate) fn new(options: ToolsetOptions, trust: Arc<TrustStore>) -> Toolsets {
        let (policy, config) = (options.policy, options.config.clone());
        let project_config = options.project_config.clone();
        Toolsets {
            loader: Loader::new(options, trust),
            policy,
            config,
            project_config,
            described: Mutex::default(),
        }
    }

    pub(crate) fn policy(&self) -> ToolPolicy {
        self.policy
    }

    /// Loads the `entries` of each skill. One that fails does not stop another.
    pub(crate) fn tools<'a>(&self, skills: impl Iterator<Item = (Owner, Vec<&'a str>)>) -> Tools {
        let mut all = Tools::default();
        for (owner, entries) in skills {
            let mut names = BTreeMap::new();
            for entry in entries {
                match self.tools_of(&owner, entry, &mut names) {
                    Ok(tools) => all.tools.extend(tools),
                    Err(error) => {
                        let entry = entry.to_owned();
                        let skill = owner.id.clone();
                        all.failures.push(ToolFailure { skill, entry, error: Arc::new(error) });
                    }
                }
            }
        }
        all
    }

    /// Keeps the tools of `skills`, each with its entries: all other tools can no longer be called.
    pub(crate) fn retain<'a>(&self, skills: impl Iterator<Item = (Owner, Vec<&'a str>)>) {
        let live: HashMap<SkillId, (PathBuf, Vec<&str>)> =
            skills.map(|(owner, entries)| (owner.id, (owner.dir, entries))).collect();
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        described.retain(|(skill, entry), known| {
            let is_live = live.get(skill).is_some_and(|(dir, entries)| {
                *dir == known.library.skill_dir && entries.contains(&entry.as_str())
            });
            known.retired.store(!is_live, Ordering::Relaxed);
            is_live
        });
        self.loader.retain(|dir| live.values().any(|(live, _)| live == dir));
    }

    /// The tools of one entry. `names` are those of the skill so far, with their classes.
    fn tools_of(
        &self,
        owner: &Owner,
        entry: &str,
        names: &mut BTreeMap<String, String>,
    ) -> Result<Vec<Tool>, Error> {
        let parsed: ToolsetEntry = entry.parse()?;
        let library = self.loader.library(owner, &parsed)?;
        let key = (owner.id.clone(), entry.to_owned());
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        let known = described.get(&key).filter(|d| Arc::ptr_eq(&d.library, &library)).cloned();
        let tools = if let Some(known) = known {
            known.tools
        } else {
            let retired = Arc::default();
            let tools = self.describe(owner, &parsed, &library, &retired)?;
            described.insert(key, Described { library, tools: tools.clone(), retired });
            tools
        };
        for tool in &tools {
            let class = tool.toolset.clone();
            if let Some(other) = names.insert(tool.short_name.clone(), class) {
                return Err(Error::new(
                    ErrorCode::InvalidParam,
                    format!(
                        "toolset `{entry}` has a tool `{}`, and so has `{other}`",
                        tool.short_name
                    ),
                    "rename one of them; the names of one skill's tools are distinct",
                ));
            }
        }
        Ok(tools)
    }

    fn describe(
        &self,
        owner: &Owner,
        entry: &ToolsetEntry,
        library: &Arc<Library>,
        retired: &Arc<AtomicBool>,
    ) -> Result<Vec<Tool>, Error> {
        let class = entry.class();
        let qualified = format!("{}:{class}", owner.id);
        let of_project = (owner.scope == Scope::Project).then_some(&self.project_config);
        let mut configs = of_project.into_iter().chain([&self.config]);
        let config =
            configs.find_map(|configs| configs.get(&qualified).or_else(|| configs.get(class)));
        let config = Arc::new(config.cloned().unwrap_or_else(|| Value::Object(Map::new())));
        let description = library.describe(class, &config)?;
        let tool = |spec: ToolSpec| {
            let ToolSpec { name: short_name, description, parameters, annotations, .. } = spec;
            let validator = jsonschema::validator_for(&parameters).map_err(|error| {
                Error::new(
                    ErrorCode::ExecutionError,
                    format!("tool `{short_name}` of `{entry}` has no valid schema: {error}"),
                    "mend the schema in the plugin",
                )
            })?;
            Ok(Tool {
                name: format!("{}.{short_name}", owner.id),
                short_name,
                description,
                parameters,
                annotations,
                toolset: class.to_owned(),
                skill: owner.id.clone(),
                library: Arc::clone(library),
                config: Arc::clone(&config),
                validator: Arc::new(validator),
                retired: Arc::clone(retired),
            })
        };
        description.tools.into_iter().map(tool).collect()
    }
}
