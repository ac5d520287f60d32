//! The tools of a session's model, and the function that answers their calls.

mod pages;
mod parameters;
#[cfg(feature = "toolsets")]
mod plugins;
mod skills;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use repertoire_text::surrogates;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{CallIo, Engine};
use crate::catalog::Audience;
use crate::disclosure::{clean_json, model_text};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::session::Session;
use crate::spans;
use crate::tool_definition::ToolFormat;

/// The options of a session's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionToolsOptions {
    /// The maximum length of all skill ids together in the definition of `use_skill`, in characters;
    /// 4000 by default. If they are longer, the definition does not list them: it accepts any name, and
    /// the model finds skills with `find_skills`.
    pub names_chars: usize,
    /// The maximum size of an answer of `read_skill_file`, in bytes; 64 KiB by default. For a longer
    /// text, the answer has its first lines and says how to read on.
    pub read_bytes: usize,
    /// The maximum size of the output of a script or a toolset's tool in one answer, in bytes; 32 KiB by
    /// default. For a longer output, the answer has its first lines and says how to read on.
    pub output_bytes: usize,
    /// True to list the tools of all toolsets from the beginning, for clients that list tools only once.
    /// False by default: then the engine's `ToolPolicy` decides.
    pub all_toolsets: bool,
}

impl Default for SessionToolsOptions {
    fn default() -> Self {
        SessionToolsOptions {
            names_chars: 4000,
            read_bytes: 64 << 10,
            output_bytes: 32 << 10,
            all_toolsets: false,
        }
    }
}

/// The tools of one session's model, in one list: `use_skill`, `find_skills`, `read_skill_file`,
/// `run_skill_script` (with the feature `scripts`), and the tools of the toolsets of each skill whose
/// instructions came into the context.
///
/// The list only grows within a session, at its end, so that prompt caches survive; ask for it
/// before each request to the model. Cheap to clone.
///
/// ```
/// use repertoire::{Engine, Source, ToolFormat};
/// use serde_json::json;
///
/// let engine = Engine::builder().source(Source::bundled("skills")).build()?;
/// let tools = engine.tools(&engine.session("chat-7"));
///
/// let definitions = tools.definitions(ToolFormat::Anthropic); // for the model's API
/// assert_eq!(definitions[0]["name"], "use_skill");
/// let answer = tools.call("use_skill", &json!({"skill": "commit-message"})); // what it called
/// assert!(serde_json::to_string(&answer)?.starts_with(r#"{"status":"success""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SessionTools {
    pub(super) engine: Engine,
    pub(super) session: Session,
    options: SessionToolsOptions,
}

impl Engine {
    /// The tools of the model in `session`.
    pub fn tools(&self, session: &Session) -> SessionTools {
        let options = SessionToolsOptions::default();
        SessionTools { engine: self.clone(), session: session.tolerant(), options }
    }
}

impl SessionTools {
    /// The name of the tool that loads a skill.
    pub const USE_SKILL: &'static str = "use_skill";

    /// The names of the built-in tools, which do not depend on toolsets; `run_skill_script` needs the feature
    /// `scripts`.
    pub const NAMES: [&'static str; 4] =
        [Self::USE_SKILL, "find_skills", "read_skill_file", "run_skill_script"];

    /// The session whose tools these are, in the form in which a failing store costs no answer
    /// ([`Session::tolerant`]).
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sets the options of the tools.
    #[must_use]
    pub fn with_options(mut self, options: SessionToolsOptions) -> SessionTools {
        self.options = options;
        self
    }

    /// The current definitions of the tools, as a list in the format of a provider. Opens the libraries
    /// of toolsets when they are first needed. A library that cannot be loaded is left out, with a
    /// warning in the log.
    pub fn definitions(&self, format: ToolFormat) -> Value {
        let skills = self.skill_definitions(format);
        #[cfg(feature = "toolsets")]
        let skills = skills.into_iter().chain(self.plugin_definitions(format));
        let mut definitions = skills.into_iter().collect();
        clean_json(&mut definitions);
        definitions
    }

    /// Answers a model's call of the tool named `tool`. `arguments` is an object, or the JSON text of one, as some
    /// providers pass it on; `null` and an empty text stand for no arguments. Never panics, not even if a callback
    /// of the host does.
    pub fn call(&self, tool: &str, arguments: &Value) -> Envelope {
        self.call_with(tool, arguments, CallIo::default())
    }

    /// Answers a model's call, which the host can cancel and which reports its progress. If a script was
    /// stopped, the answer is an `EXECUTION_ERROR` with the script's output so far.
    pub fn call_with(&self, tool: &str, arguments: &Value, io: CallIo<'_>) -> Envelope {
        self.call_known(tool, arguments, io).unwrap_or_else(|error| Envelope::from(&error))
    }

    /// Answers a call as [`SessionTools::call_with`] does, but fails with `NOT_FOUND` if there is no
    /// such tool.
    pub fn call_known(
        &self,
        tool: &str,
        arguments: &Value,
        io: CallIo<'_>,
    ) -> Result<Envelope, Error> {
        // Any other name is that of a toolset's tool, or of no tool at all.
        let known = Self::NAMES.into_iter().find(|known| *known == tool);
        let span = spans::tool(known.unwrap_or("toolset"));
        let call = || {
            let arguments = match read_arguments(tool, arguments) {
                Ok(arguments) => arguments,
                Err(error) => return Ok(Envelope::from(&error)),
            };
            self.dispatch(tool, &arguments, io)
        };
        let call = AssertUnwindSafe(|| spans::within(&span, call));
        let answer = catch_unwind(call).unwrap_or_else(|_| {
            let message = format!("the tool `{tool}` panicked");
            let help = "go on without it, and report this to the host's author";
            Ok(Envelope::from(&Error::new(ErrorCode::InternalError, message, help)))
        })?;
        let answer = cleaned(answer);
        match &answer {
            Envelope::Success { text, .. } => {
                span.record("answer.bytes", spans::int(text.len()));
            }
            Envelope::Error { error, .. } => spans::fail(&span, error.code),
        }
        Ok(answer)
    }

    fn dispatch(&self, tool: &str, arguments: &Value, io: CallIo<'_>) -> Result<Envelope, Error> {
        let answer = match tool {
            Self::USE_SKILL => read(tool, arguments).and_then(|call| self.use_skill(call)),
            "find_skills" => read(tool, arguments).and_then(|call| self.find_skills(&call)),
            "read_skill_file" => read(tool, arguments).and_then(|call| self.read_skill_file(&call)),
            #[cfg(feature = "scripts")]
            "run_skill_script" => {
                read(tool, arguments).and_then(|call| self.run_skill_script(&call, io))
            }
            _ => return self.call_plugin(tool, arguments, io),
        };
        Ok(answer.unwrap_or_else(|error| Envelope::from(&error)))
    }

    #[cfg(not(feature = "toolsets"))]
    #[expect(clippy::unused_self, reason = "the same call as with toolsets")]
    fn call_plugin(&self, tool: &str, _: &Value, _: CallIo<'_>) -> Result<Envelope, Error> {
        Err(no_tool(tool))
    }

    /// The definitions of the built-in tools.
    fn skill_definitions(&self, format: ToolFormat) -> Vec<Value> {
        let catalog = self.engine.catalog();
        let ids: Vec<&str> =
            catalog.listed(Audience::Model).map(|entry| entry.id.as_str()).collect();
        let n_chars: usize = ids.iter().map(|id| id.chars().count()).sum();
        let names = (n_chars <= self.options.names_chars).then_some(&ids[..]);
        let define = |name: &str, description: &str, parameters: &Value, is_read_only: bool| {
            let mut annotations = Map::new();
            annotations.insert("readOnlyHint".to_owned(), is_read_only.into());
            format.tool(name, description, parameters, &annotations)
        };
        let description = if names.is_some() {
            USE_SKILL.to_owned()
        } else {
            let n_skills = ids.len();
            format!("{USE_SKILL} There are {n_skills} skills: `find_skills` finds them.")
        };
        let use_skill = parameters::use_skill(names);
        let is_read_only = !self.engine.spawns_tasks();
        #[cfg_attr(not(feature = "scripts"), expect(unused_mut, reason = "one more with scripts"))]
        let mut definitions = vec![
            define(Self::USE_SKILL, &description, &use_skill, is_read_only),
            define("find_skills", FIND_SKILLS, &parameters::find_skills(), true),
            define("read_skill_file", READ_SKILL_FILE, &parameters::read_skill_file(), true),
        ];
        #[cfg(feature = "scripts")]
        if self.engine.runs_scripts() {
            let parameters = parameters::run_skill_script();
            definitions.push(define("run_skill_script", RUN_SKILL_SCRIPT, &parameters, false));
        }
        definitions
    }
}

const USE_SKILL: &str = "Loads a skill: instructions for a kind of task, with files and scripts \
                         that help. Use it before you begin a task that a skill is for.";
const FIND_SKILLS: &str = "Finds skills for a task.";
const READ_SKILL_FILE: &str = "Reads a file that comes with a skill.";
#[cfg(feature = "scripts")]
const RUN_SKILL_SCRIPT: &str = "Runs a script that comes with a skill, in the skill's directory.";

/// Returns an answer as a model may read it: files, outputs and errors have texts of others.
fn cleaned(mut answer: Envelope) -> Envelope {
    let (text, data) = match &mut answer {
        Envelope::Success { text, data } => (text, Some(data)),
        Envelope::Error { error, data } => (&mut error.message, data.as_mut()),
    };
    if let Cow::Owned(clean) = model_text(text) {
        *text = clean;
    }
    if let Some(data) = data {
        clean_json(data);
    }
    answer
}

/// The error for a call of a tool that does not exist.
fn no_tool(tool: &str) -> Error {
    let message = format!("there is no tool `{tool}`");
    Error::new(ErrorCode::NotFound, message, "call one of the defined tools")
}

/// Returns the arguments of a call that are written as JSON text, or not at all, as a value.
fn read_arguments<'a>(tool: &str, arguments: &'a Value) -> Result<Cow<'a, Value>, Error> {
    let read = match arguments {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => surrogates::parse(text).map_err(|error| {
            let message = format!("the arguments of `{tool}` are not JSON: {error}");
            let help = "give an object as the tool's definition describes it";
            Error::new(ErrorCode::InvalidParam, message, help)
        })?,
        Value::Null => Value::Null,
        arguments => return Ok(Cow::Borrowed(arguments)),
    };
    Ok(Cow::Owned(if read.is_null() { Value::Object(Map::new()) } else { read }))
}

/// Parses the arguments of a tool. One that the tool does not have may be `null`, as clients fill in all that they
/// know.
fn read<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, Error> {
    let given = T::deserialize(arguments).or_else(|error| {
        let Value::Object(all) = arguments else { return Err(error) };
        let given = all.iter().filter(|(_, value)| !value.is_null());
        let given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        T::deserialize(Value::Object(given)).map_err(|_| error)
    });
    given.map_err(|error| {
        // A model knows the terms of JSON, not those of Rust.
        let why = error.to_string().replace("expected usize", "expected a whole number from 0");
        Error::new(
            ErrorCode::InvalidParam,
            format!("the arguments of `{tool}` do not fit: {why}"),
            "give an object as the tool's definition describes it",
        )
    })
}
