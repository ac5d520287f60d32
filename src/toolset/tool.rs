//! A tool of a skill, and lists of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use repertoire_plugin::{Host, ToolOutput, ToolSpec, ToolsetDescription};
use repertoire_worker::WorkerState;
use repertoire_worker::schema::{with_integers, without_nulls};
use repertoire_worker::sizes::{TOO_LARGE, check_size};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Map, Value};

use super::descriptions::{Descriptions, Key};
use super::library::{CallFailure, Library};
use super::pins::{Pins, pins, texts, told};
use super::rights::RightsRequest;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::SkillId;
use crate::tool_definition::ToolFormat;
use crate::trust::ContentHash;

/// The longest tool name that model providers accept.
const MAX_NAME: usize = 64;

/// A tool of a skill.
///
/// As JSON, it also has the `state` of its library: a [`WorkerState`] in a word, or `in_process` if the
/// library runs in this process. A library that does not run because of a failure also has the
/// `reason`, and a disabled one `retry_in_seconds`.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The qualified name: the skill's id, a dot, and the name in the toolset.
    pub name: String,
    /// Its name in the toolset.
    pub short_name: String,
    /// Its description, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// Hints in MCP's terms, such as `readOnlyHint`.
    pub annotations: Map<String, Value>,
    /// The class it belongs to.
    pub toolset: String,
    /// The skill it belongs to.
    pub skill: SkillId,
    pub(super) library: Arc<Library>,
    pub(super) config: Arc<Value>,
    pub(super) listing: Arc<Listing>,
}

/// The state that all tools of a listed toolset share.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) key: Key,
    pub(super) description: Arc<ToolsetDescription>,
    pub(super) descriptions: Arc<Descriptions>,
    /// The hashes of the tools in `description`.
    pub(super) pins: Pins,
    /// True once the skill no longer has the toolset.
    pub(super) is_retired: AtomicBool,
    /// True once `description` was compared with the description of the running toolset.
    pub(super) is_compared: AtomicBool,
    /// True if the running toolset turned out to have another description.
    pub(super) is_stale: AtomicBool,
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.worker_state();
        let reason = state.as_ref().and_then(WorkerState::reason);
        let retry_in = match &state {
            Some(WorkerState::Disabled { retry_in, .. }) => Some(retry_in.as_secs() + 1),
            _ => None,
        };
        let n_more = usize::from(reason.is_some()) + usize::from(retry_in.is_some());
        let mut tool = serializer.serialize_struct("Tool", 7 + n_more)?;
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
        if let Some(seconds) = retry_in {
            tool.serialize_field("retry_in_seconds", &seconds)?;
        }
        tool.end()
    }
}

/// A toolset that could not be loaded. The others are not affected.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct Tools {
    /// The tools, in the order of skills, entries and toolsets.
    pub tools: Vec<Tool>,
    /// The toolsets that could not be loaded.
    pub failures: Vec<ToolFailure>,
}

impl Tools {
    /// Returns the tools as a JSON list in the format of a model provider. Names are adapted to what
    /// providers accept: at most 64 letters, digits, `_` and `-`. [`Tools::find`] understands these
    /// names, too.
    pub fn to_json(&self, format: ToolFormat) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let name = tool.provider_name();
            format.tool(&name, &tool.description, &tool.parameters, &tool.annotations)
        });
        tools.collect()
    }

    /// Returns the tool that `name` means: a qualified name, a name as sent to providers (see
    /// [`ToolFormat`](crate::ToolFormat)), or the name in its toolset if no other tool has it.
    ///
    /// Fails with `NOT_FOUND` if there is no such tool, or more than one.
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
        let is_meant = |tool: &&Tool| tool.short_name == name || tool.is_exactly(name);
        let meant = self.tools.iter().filter(is_meant).map(|tool| format!("`{}`", tool.name));
        let meant: Vec<String> = meant.collect();
        if meant.len() > 1 {
            let message = format!("{} tools have the name `{name}`", meant.len());
            let help = format!("call one of {}", meant.join(", "));
            return Error::new(ErrorCode::NotFound, message, help);
        }
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
    /// The name under which providers get the tool, see [`Tools::to_json`].
    pub fn provider_name(&self) -> String {
        provider_name(&self.name)
    }

    /// Calls the tool and waits for its end.
    ///
    /// Fails with `INVALID_PARAM` if the arguments do not fit the schema (the message says where),
    /// `TIMEOUT` at a deadline, `CANCELLED` if the host cancelled the call, `EXECUTION_ERROR` if the
    /// tool reports an error, panics, or its process ends, and `NOT_FOUND` if a
    /// [`refresh`](crate::Engine::refresh) removed or replaced the skill.
    pub fn call(&self, arguments: &Value, host: &dyn Host) -> Result<ToolOutput, Error> {
        if self.listing.is_retired.load(Ordering::Relaxed) {
            let message = format!("there is no tool `{}` any more", self.name);
            let help = "its skill was removed or changed; list the tools again";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        let Tool { name, toolset, config, short_name, .. } = self;
        let arguments = without_nulls(arguments.clone(), &self.parameters);
        let arguments = with_integers(arguments, &self.parameters);
        let output = self.library.call(
            toolset,
            config,
            short_name,
            &arguments,
            &|made| self.accept(made),
            host,
        );
        self.compare();
        output.map_err(|failure| match failure {
            CallFailure::Unfit(problems) => Error::new(
                ErrorCode::InvalidParam,
                format!("arguments of tool `{name}` do not fit: {problems}"),
                format!("the parameters are {}", self.parameters),
            ),
            CallFailure::Failed(error) => {
                error.reworded(format!("tool `{name}`: {}", error.message()))
            }
        })
    }

    /// Fails if the toolset that runs has other tools than the user trusted, or too many.
    fn accept(&self, made: &ToolsetDescription) -> Result<(), Error> {
        if *made == *self.listing.description {
            return Ok(());
        }
        check_size(made).map_err(|why| Error::new(ErrorCode::ExecutionError, why, TOO_LARGE))?;
        self.library.check_pins(&self.toolset, &pins(made))
    }

    /// Updates the cached description if the running toolset has another one than was listed.
    fn compare(&self) {
        let listing = &*self.listing;
        if listing.is_compared.load(Ordering::Relaxed) {
            return;
        }
        let Some(made) = self.library.made(&self.toolset, &self.config) else { return };
        if made != *listing.description {
            if self.accept(&made).is_ok() {
                listing.descriptions.put(&listing.key, made);
            } else {
                listing.descriptions.forget(&listing.key);
            }
            listing.is_stale.store(true, Ordering::Relaxed);
        }
        listing.is_compared.store(true, Ordering::Relaxed);
    }

    /// Returns the texts of the tool as the toolset wrote them, before they were cleaned for a model: first
    /// the description, with an empty place, then those of the schema and the annotations, each with its
    /// place as a JSON pointer. Escape them before you show them: they may have control characters.
    pub fn written_texts(&self) -> Vec<(String, String)> {
        self.written().map(texts).unwrap_or_default()
    }

    /// Returns what a model is told of the tool as the toolset wrote it: its description, its parameters
    /// and its annotations. The hash of its text is recorded when the tool is trusted.
    pub fn written_definition(&self) -> Value {
        self.written().map(told).unwrap_or_default()
    }

    fn written(&self) -> Option<&ToolSpec> {
        let tools = &self.listing.description.tools;
        tools.iter().find(|tool| tool.name == self.short_name)
    }

    /// Returns the parts of the schema that arguments are not checked against, as phrases: keywords that
    /// the check does not know, patterns with look-around, and references to other schemas.
    pub fn unchecked(&self) -> Vec<String> {
        repertoire_worker::schema::unchecked(&self.parameters).into_iter().collect()
    }

    /// Returns the question to ask the user after a call of this tool failed with `error`. Returns
    /// `None` unless the tool reported the error itself, and the skill asks for more rights than it has.
    pub fn rights_request(&self, error: &Error) -> Option<RightsRequest> {
        let Library { rights, path, trust, .. } = &*self.library;
        rights.request(error, &self.skill, path, trust)
    }

    /// The state of the library's process; `None` if the library runs in this process.
    pub fn worker_state(&self) -> Option<WorkerState> {
        self.library.worker_state()
    }

    /// Ends the library's process, if it has one, and forgets its failures. The next call starts a new
    /// process, even if the library was disabled.
    pub fn restart(&self) {
        self.library.restart();
    }

    /// Tells whether `name` is the tool's qualified name, or its name for providers.
    pub(super) fn is_exactly(&self, name: &str) -> bool {
        self.name == name || provider_name(&self.name) == name
    }

    /// The path of the library that the tool comes from.
    pub fn library_path(&self) -> &std::path::Path {
        &self.library.path
    }
}

/// Adapts `name` to what providers accept. Of a name that is too long, the end is kept, since it says
/// most, and put after the beginning of the name's hash.
fn provider_name(name: &str) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let plain: String = name.chars().map(fit).collect();
    if plain.len() <= MAX_NAME {
        return plain;
    }
    let hash = ContentHash::of(name.as_bytes());
    let end = &plain[plain.len() - (MAX_NAME - 9)..];
    format!("{}_{end}", &hash.as_str()[..8])
}

#[cfg(test)]
mod tests {
    use super::provider_name;

    #[test]
    fn names_fit_providers_and_stay_distinct() {
        assert_eq!(provider_name("hello-extended.greet"), "hello-extended_greet");
        assert_eq!(provider_name("sven/plan.do it"), "sven_plan_do_it");
        let long = |c: char| provider_name(&format!("{}.greet", c.to_string().repeat(90)));
        assert_eq!((long('a').len(), long('b').len()), (64, 64));
        assert_ne!(long('a'), long('b'));
        assert!(long('é').is_ascii() && long('a').ends_with("a_greet"));
    }
}
