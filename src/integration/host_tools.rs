//! The tools that a host gives its model, and the one function that answers them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::parameters::{self, FindSkills, ReadSkillFile, UseSkill};
use crate::activation::{Content, ReadOptions};
use crate::catalog::Audience;
use crate::engine::{Activate, Engine};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::matcher::Query;
use crate::session::Session;
use crate::tool_format::ToolFormat;

/// How many skills `find_skills` answers with, unless it is told.
const FOUND: usize = 5;

/// How the hosts' tools are made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostToolsOptions {
    /// Room for the ids of skills in the definition of `use_skill`, in characters; 4000 by
    /// default. If they do not fit, any name is taken, and the model finds them with
    /// `find_skills`.
    pub names_chars: usize,
    /// The most that `read_skill_file` answers with, in bytes; 64 KiB by default. Of a longer text
    /// the first lines are given, and how to read on.
    pub read_bytes: usize,
    /// Whether skills with `context: fork` give their instructions to the conversation, for hosts
    /// that spawn no tasks; off by default.
    pub inline: bool,
}

impl Default for HostToolsOptions {
    fn default() -> Self {
        HostToolsOptions { names_chars: 4000, read_bytes: 64 << 10, inline: false }
    }
}

/// The other end of a call: nobody who would cancel it, by default.
#[derive(Default, Clone, Copy)]
pub struct CallIo<'a> {
    /// Whether the call should end; a script is stopped within 20 ms or so. The other tools end by
    /// themselves before it matters.
    pub is_cancelled: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for CallIo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_cancellable = self.is_cancelled.is_some();
        f.debug_struct("CallIo").field("is_cancellable", &is_cancellable).finish()
    }
}

/// `use_skill`, `find_skills`, `read_skill_file` and, with the feature `scripts`,
/// `run_skill_script`, for one session.
///
/// ```
/// use repertoire::integration::HostTools;
/// use repertoire::{Engine, Source, ToolFormat};
/// use serde_json::json;
///
/// let engine = Engine::builder().source(Source::bundled("skills")).build()?;
/// let tools = HostTools::new(&engine, &engine.session("chat-7"));
///
/// let definitions = tools.definitions(ToolFormat::Anthropic); // for the model's API
/// assert_eq!(definitions[0]["name"], "use_skill");
/// let answer = tools.call("use_skill", &json!({"skill": "commit-message"})); // what it called
/// assert!(serde_json::to_string(&answer)?.starts_with(r#"{"status":"success""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct HostTools {
    engine: Engine,
    session: Session,
    options: HostToolsOptions,
}

impl HostTools {
    /// The tools of `engine` for `session`.
    pub fn new(engine: &Engine, session: &Session) -> HostTools {
        HostTools::with(engine, session, HostToolsOptions::default())
    }

    /// The tools of `engine` for `session`, made with these options.
    pub fn with(engine: &Engine, session: &Session, options: HostToolsOptions) -> HostTools {
        HostTools { engine: engine.clone(), session: session.clone(), options }
    }

    /// The definitions of the tools, as a list in the shape of a provider.
    pub fn definitions(&self, format: ToolFormat) -> Value {
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
        let always = [
            define("use_skill", &description, &use_skill, !self.engine.spawns_tasks()),
            define("find_skills", FIND_SKILLS, &parameters::find_skills(), true),
            define("read_skill_file", READ_SKILL_FILE, &parameters::read_skill_file(), true),
        ];
        #[cfg(not(feature = "scripts"))]
        let scripts: Option<Value> = None;
        #[cfg(feature = "scripts")]
        let scripts = self.engine.runs_scripts().then(|| {
            let parameters = parameters::run_skill_script();
            define("run_skill_script", RUN_SKILL_SCRIPT, &parameters, false)
        });
        always.into_iter().chain(scripts).collect()
    }

    /// Answers a call of a model: the name of a tool and its arguments, an object. It never panics,
    /// also where a callback of the host does.
    pub fn call(&self, tool: &str, arguments: &Value) -> Envelope {
        self.call_with(tool, arguments, CallIo::default())
    }

    /// Answers a call that can be cancelled. A script that was stopped for it is an
    /// `EXECUTION_ERROR` with the output there is.
    pub fn call_with(&self, tool: &str, arguments: &Value, io: CallIo<'_>) -> Envelope {
        let call = AssertUnwindSafe(|| self.dispatch(tool, arguments, io));
        let answer = catch_unwind(call).unwrap_or_else(|_| {
            let message = format!("the tool `{tool}` panicked");
            let help = "go on without it, and report this to the host's author";
            Err(Error::new(ErrorCode::InternalError, message, help))
        });
        answer.unwrap_or_else(|error| Envelope::from(&error))
    }

    #[cfg_attr(
        not(feature = "scripts"),
        expect(unused_variables, reason = "only scripts run long enough to be cancelled")
    )]
    fn dispatch(&self, tool: &str, arguments: &Value, io: CallIo<'_>) -> Result<Envelope, Error> {
        match tool {
            "use_skill" => self.use_skill(read(tool, arguments)?),
            "find_skills" => self.find_skills(&read(tool, arguments)?),
            "read_skill_file" => self.read_skill_file(&read(tool, arguments)?),
            #[cfg(feature = "scripts")]
            "run_skill_script" => self.run_skill_script(&read(tool, arguments)?, io),
            _ => {
                let message = format!("there is no tool `{tool}`");
                let help = "call one of those that are defined";
                Err(Error::new(ErrorCode::NotFound, message, help))
            }
        }
    }

    fn use_skill(&self, call: UseSkill) -> Result<Envelope, Error> {
        let by = call.by.map(Into::into);
        let how = Activate { by, inline: self.options.inline, ..Activate::default() };
        let activation = self.engine.activate_with(&call.skill, &call.args, &self.session, &how)?;
        Ok(Envelope::success(&activation, activation.to_text()))
    }

    fn find_skills(&self, call: &FindSkills) -> Result<Envelope, Error> {
        let limit = call.limit.unwrap_or(FOUND);
        if limit == 0 {
            let help = format!("give a `limit` from 1, or none for {FOUND}");
            return Err(Error::new(ErrorCode::InvalidParam, "a `limit` of 0 finds nothing", help));
        }
        let query = Query::new(&call.query).session(self.session.id());
        let found = self.engine.find_skills(query, limit);
        let lines = found.iter().map(|skill| format!("- {}: {}", skill.id, skill.brief));
        let lines: Vec<String> = lines.collect();
        let text = if lines.is_empty() { "No skill fits.".to_owned() } else { lines.join("\n") };
        Ok(Envelope::success(&json!({"skills": found}), text))
    }

    fn read_skill_file(&self, call: &ReadSkillFile) -> Result<Envelope, Error> {
        let read = |offset| {
            let options =
                ReadOptions { max_bytes: self.options.read_bytes, offset, limit: call.limit };
            self.engine.read_resource(&call.skill, &call.path, &self.session, &options)
        };
        let mut resource = read(call.offset);
        let is_too_long = |error: &Error| error.code() == ErrorCode::ExecutionError;
        if call.offset.is_none() && resource.as_ref().is_err_and(is_too_long) {
            // A text that is too long is given in parts, rather than refused.
            let part = read(Some(1));
            let is_binary = |error: &Error| error.code() == ErrorCode::InvalidParam;
            resource = if part.as_ref().is_err_and(is_binary) { resource } else { part };
        }
        let resource = resource?;
        let text = match &resource.content {
            Content::Text { text, first_line, lines, total_lines }
                if first_line + lines <= *total_lines =>
            {
                let next = first_line + lines;
                format!("{text}\n[{total_lines} lines; read on from offset {next}]")
            }
            Content::Text { text, .. } => text.clone(),
            Content::Base64(_) => {
                format!("{}: {} of {} bytes", resource.path, resource.media_type, resource.size)
            }
        };
        Ok(Envelope::success(&resource, text))
    }

    #[cfg(feature = "scripts")]
    fn run_skill_script(
        &self,
        call: &parameters::RunSkillScript,
        io: CallIo<'_>,
    ) -> Result<Envelope, Error> {
        let io = crate::script::ScriptIo {
            stdin: call.stdin.as_bytes(),
            is_cancelled: io.is_cancelled,
            ..Default::default()
        };
        let output =
            self.engine.run_script(&call.skill, &call.script, &call.args, &self.session, io)?;
        Ok(output.to_envelope(&call.skill, &call.script))
    }
}

/// The names of the hosts' tools.
#[cfg(feature = "mcp")]
pub(super) const NAMES: [&str; 4] =
    ["find_skills", "read_skill_file", "run_skill_script", "use_skill"];

const USE_SKILL: &str = "Loads a skill: instructions for a kind of task, with files and scripts \
                         that help. Use it before you begin a task that a skill is for.";
const FIND_SKILLS: &str = "Finds skills for a task.";
const READ_SKILL_FILE: &str = "Reads a file that comes with a skill.";
#[cfg(feature = "scripts")]
const RUN_SKILL_SCRIPT: &str = "Runs a script that comes with a skill, in the skill's directory.";

/// The arguments of a tool.
fn read<T: DeserializeOwned>(tool: &str, arguments: &Value) -> Result<T, Error> {
    T::deserialize(arguments).map_err(|error| {
        Error::new(
            ErrorCode::InvalidParam,
            format!("the arguments of `{tool}` do not fit: {error}"),
            "give an object as the tool's definition describes it",
        )
    })
}
