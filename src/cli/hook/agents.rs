//! Where each agent has its settings, and what stands in them to run these hooks.

use std::path::{Path, PathBuf};

use repertoire::integration::hook::HookAgent;
use repertoire::{Error, ErrorCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{BRAND, Common, RoutingArgs};
use crate::setup;

/// So long agents wait for the hook, in seconds: it gives up by itself before that. Codex allows
/// no more at the end of a session.
const PATIENCE: u64 = 3;

/// The plugin through which `OpenCode` runs the hook; `"COMMAND"` stands for its words.
const PLUGIN: &str = include_str!("opencode.js");

/// The settings of a project that are not shared, which Claude Code has.
pub(super) const LOCAL_SETTINGS: &str = "settings.local.json";

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    User,
    Project,
    /// Those of the project that are not shared. Nothing is installed there; some write to it by
    /// hand.
    Local,
}

impl Place {
    /// Where `agent` looks for hooks, from the widest to the narrowest.
    pub(crate) fn of(agent: HookAgent) -> &'static [Place] {
        match agent {
            HookAgent::ClaudeCode => &[Place::User, Place::Project, Place::Local],
            _ => &[Place::User, Place::Project],
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Place::User => "user",
            Place::Project => "project",
            Place::Local => "local",
        }
    }
}

/// What is written.
#[derive(Debug)]
pub(super) enum Form {
    /// Hooks among other settings, in JSON.
    Settings {
        /// A number that a new file begins with.
        version: Option<u64>,
        hooks: Vec<Hook>,
    },
    /// A file of our own.
    File(String),
}

/// An element of the list that an event has.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) event: &'static str,
    pub(super) value: Value,
}

/// The settings file of `agent`.
pub(super) fn file(agent: HookAgent, place: Place, common: &Common) -> Result<PathBuf, Error> {
    let Settings { project, name, .. } = settings(agent)?;
    let name = if place == Place::Local { LOCAL_SETTINGS } else { name };
    let dir = base(agent, place, common)?;
    Ok(match place {
        Place::Project | Place::Local => dir.join(project).join(name),
        Place::User => dir.join(name),
    })
}

/// The directory below which all that is written for `agent` is: the project, or that of the user's
/// settings of the agent.
pub(super) fn base(agent: HookAgent, place: Place, common: &Common) -> Result<PathBuf, Error> {
    match place {
        Place::Project | Place::Local if common.project.is_dir() => Ok(common.project.clone()),
        Place::Project | Place::Local => {
            let message = format!("the project {} is not a directory", common.project.display());
            let help = "name the project's directory with `--project DIR`";
            Err(Error::new(ErrorCode::NotFound, message, help))
        }
        Place::User => {
            let Settings { variable, home, .. } = settings(agent)?;
            user_dir(agent, variable, home).ok_or_else(|| {
                let message = format!("there is no home directory with the settings of {agent}");
                Error::new(ErrorCode::NotFound, message, "set `HOME`, or use `--project`")
            })
        }
    }
}

/// Where an agent has its settings.
struct Settings {
    /// The variable that names the user's directory, if there is one.
    variable: &'static str,
    /// The user's directory, in the home directory.
    home: &'static str,
    /// The directory in a project.
    project: &'static str,
    /// The file in either.
    name: &'static str,
}

fn settings(agent: HookAgent) -> Result<Settings, Error> {
    let (variable, home, project, name) = match agent {
        HookAgent::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude", ".claude", "settings.json"),
        HookAgent::Codex => ("CODEX_HOME", ".codex", ".codex", "hooks.json"),
        HookAgent::Gemini => ("", ".gemini", ".gemini", "settings.json"),
        HookAgent::Cursor => ("", ".cursor", ".cursor", "hooks.json"),
        HookAgent::Copilot => ("COPILOT_HOME", ".copilot", ".github", "hooks/repertoire.json"),
        HookAgent::OpenCode => {
            ("OPENCODE_CONFIG_DIR", ".config/opencode", ".opencode", "plugins/repertoire.js")
        }
        _ => return Err(unknown(agent)),
    };
    Ok(Settings { variable, home, project, name })
}

fn user_dir(agent: HookAgent, variable: &str, home: &str) -> Option<PathBuf> {
    let named = if variable.is_empty() { None } else { std::env::var_os(variable) };
    if let Some(dir) = named.map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        return Some(dir);
    }
    if agent == HookAgent::OpenCode {
        return setup::directory("XDG_CONFIG_HOME", ".config").map(|dir| dir.join("opencode"));
    }
    setup::home().map(|dir| dir.join(home))
}

/// What stands in the settings of `agent` for it to run `words`.
pub(super) fn form(agent: HookAgent, words: &[String]) -> Result<Form, Error> {
    let command = shell(words)?;
    let matched = |seconds: u64, matcher: &str| {
        let hook = json!({"type": "command", "command": command, "timeout": seconds});
        match matcher {
            "" => json!({"hooks": [hook]}),
            _ => json!({"matcher": matcher, "hooks": [hook]}),
        }
    };
    let (version, hooks): (_, Vec<(&'static str, Value)>) = match agent {
        HookAgent::ClaudeCode => {
            let tools = "Read|Edit|MultiEdit|Write|NotebookEdit";
            let hooks = [
                ("SessionStart", ""),
                ("UserPromptSubmit", ""),
                ("PostToolUse", tools),
                ("SessionEnd", ""),
            ];
            (None, hooks.map(|(event, tools)| (event, matched(PATIENCE, tools))).into())
        }
        HookAgent::Codex => {
            let hooks = [
                ("SessionStart", ""),
                ("UserPromptSubmit", ""),
                ("PostToolUse", "apply_patch"),
                ("PostCompact", ""),
                ("SessionEnd", ""),
            ];
            (None, hooks.map(|(event, tools)| (event, matched(PATIENCE, tools))).into())
        }
        HookAgent::Gemini => {
            let tools = "read_file|write_file|replace";
            let hooks = [
                ("SessionStart", ""),
                ("BeforeAgent", ""),
                ("AfterTool", tools),
                ("PreCompress", ""),
                ("SessionEnd", ""),
            ];
            // In milliseconds.
            (None, hooks.map(|(event, tools)| (event, matched(PATIENCE * 1000, tools))).into())
        }
        HookAgent::Cursor => {
            let events =
                ["sessionStart", "beforeSubmitPrompt", "postToolUse", "preCompact", "sessionEnd"];
            let hook = |event: &'static str| {
                let mut hook = json!({"command": command, "timeout": PATIENCE});
                if event == "postToolUse" {
                    hook["matcher"] = "Read|Write".into();
                }
                (event, hook)
            };
            (Some(1), events.map(hook).into())
        }
        HookAgent::Copilot => {
            let events =
                ["sessionStart", "userPromptSubmitted", "postToolUse", "preCompact", "sessionEnd"];
            let hook = |event: &'static str| {
                let mut hook =
                    json!({"type": "command", "command": command, "timeoutSec": PATIENCE});
                if event == "postToolUse" {
                    hook["matcher"] = "view|create|edit|str_replace_editor|apply_patch".into();
                }
                (event, hook)
            };
            (Some(1), events.map(hook).into())
        }
        HookAgent::OpenCode => {
            let words = serde_json::to_string(words).map_err(|error| {
                Error::new(ErrorCode::InternalError, format!("cannot quote: {error}"), "")
            })?;
            return Ok(Form::File(PLUGIN.replace("\"COMMAND\"", &words)));
        }
        _ => return Err(unknown(agent)),
    };
    let hooks = hooks.into_iter().map(|(event, value)| Hook { event, value }).collect();
    Ok(Form::Settings { version, hooks })
}

/// The words that a plugin that was written here runs; `None` for any other text.
pub(super) fn plugin_words(text: &str) -> Option<Vec<String>> {
    if PLUGIN.lines().next() != text.lines().next() {
        return None;
    }
    let words = text.lines().find_map(|line| line.strip_prefix("const words = "));
    Some(words.and_then(|words| serde_json::from_str(words).ok()).unwrap_or_default())
}

/// The words that run the hook of `agent`, without options.
pub(super) fn plain_words(agent: HookAgent) -> Result<Vec<String>, Error> {
    Ok(vec![program()?, "hook".to_owned(), agent.as_str().to_owned()])
}

/// The words that run the hook of `agent`, with the options of this command line that matter to it.
pub(super) fn words(
    agent: HookAgent,
    routing: &RoutingArgs,
    common: &Common,
) -> Result<Vec<String>, Error> {
    let mut words = plain_words(agent)?;
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if common.brand != BRAND {
        option("--brand", &common.brand);
    }
    for source in &common.sources {
        let source = std::path::absolute(source).unwrap_or_else(|_| source.clone());
        option("--source", &source.to_string_lossy());
    }
    for id in &common.allow {
        option("--allow", id);
    }
    for id in &common.enable {
        option("--enable", id);
    }
    words.extend(common.bundled.map(|is_on| {
        let whether = if is_on { "on" } else { "off" };
        format!("--bundled={whether}")
    }));
    words.extend(routing.words());
    Ok(words)
}

/// This program: by its name, if that is what runs, else by its path.
fn program() -> Result<String, Error> {
    let program = std::env::current_exe().map_err(|error| {
        let message = format!("cannot find this program: {error}");
        Error::new(ErrorCode::ExecutionError, message, "run it by its absolute path")
    })?;
    let real = |path: &Path| path.canonicalize().ok();
    let found = which::which("repertoire").ok();
    if found.is_some_and(|found| real(&found) == real(&program)) {
        return Ok("repertoire".to_owned());
    }
    program.into_os_string().into_string().map_err(|path| {
        let message = format!("the path of this program is not UTF-8: {}", path.display());
        Error::new(ErrorCode::ExecutionError, message, "install it somewhere else")
    })
}

/// Whether `command` of somebody's settings runs the hook of `agent`.
pub(super) fn is_own_command(command: &str, agent: HookAgent) -> bool {
    let words = split(command);
    let runs_hook = words.windows(2).any(|pair| pair[0] == "hook" && pair[1] == agent.as_str());
    let program = words.first().map(Path::new);
    let is_ours = |program: &Path| {
        program.file_stem().is_some_and(|stem| stem == "repertoire")
            || std::env::current_exe().is_ok_and(|own| own == program)
    };
    runs_hook && program.is_some_and(is_ours)
}

#[cfg(not(windows))]
fn shell(words: &[String]) -> Result<String, Error> {
    shlex::try_join(words.iter().map(String::as_str)).map_err(|error| {
        let message = format!("cannot write the command for a shell: {error}");
        Error::new(ErrorCode::InvalidParam, message, "use names without control characters")
    })
}

#[cfg(not(windows))]
pub(super) fn split(command: &str) -> Vec<String> {
    shlex::split(command).unwrap_or_default()
}

/// In double quotes, as `cmd` and `PowerShell` both have it; a path cannot hold one.
#[cfg(windows)]
fn shell(words: &[String]) -> Result<String, Error> {
    let quote = |word: &String| {
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "-_./\\:".contains(c));
        if is_plain { word.clone() } else { format!("\"{word}\"") }
    };
    Ok(words.iter().map(quote).collect::<Vec<_>>().join(" "))
}

#[cfg(windows)]
pub(super) fn split(command: &str) -> Vec<String> {
    shlex::split(&command.replace('\\', "/")).unwrap_or_default()
}

fn unknown(agent: HookAgent) -> Error {
    let message = format!("it is not known where {agent} has its settings");
    Error::new(ErrorCode::InternalError, message, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_ours_by_its_program_and_its_words() {
        let agent = HookAgent::ClaudeCode;
        for (command, wanted) in [
            ("repertoire hook claude-code", true),
            ("'/opt/my tools/repertoire' hook claude-code --brand acme", true),
            ("/opt/repertoire hook codex", false),
            ("/opt/other hook claude-code", false),
            ("echo repertoire hook claude-code", false),
            ("repertoire hook 'claude-code", false),
            ("", false),
        ] {
            assert_eq!(is_own_command(command, agent), wanted, "{command}");
        }
    }
}
