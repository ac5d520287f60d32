//! The settings files of each agent, and the entries in them that run this program's hooks.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser as _;
use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use serde_json::{Map, Value, json};

use crate::agent::{self, LOCAL_SETTINGS, Place, Settings, common_options};
use crate::agent::{is_own_program, program, shell, split};
use crate::args::{Cli, Command, Common, HookOptions};
use crate::setup;

/// The minimum time, in seconds, that agents wait for the hook, which gives up earlier. Codex allows
/// no more at the end of a session.
const MIN_AGENT_TIMEOUT: u64 = 3;

/// The plugin that runs the hook in `OpenCode`; `"COMMAND"` stands for the words of the command,
/// and `"TIMEOUT_MS"` for the milliseconds that it may take.
const PLUGIN: &str = include_str!("opencode.js");

/// The form of an entry.
#[derive(Debug)]
pub(super) enum Form {
    /// Hooks among other settings, in JSON.
    Settings {
        /// The version number that a new file begins with.
        version: Option<u64>,
        hooks: Vec<Hook>,
    },
    /// A file that contains only this program's plugin.
    File(String),
}

/// An element of an event's list of hooks.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) event: &'static str,
    pub(super) value: Value,
}

/// Returns the settings file of `agent` in which hooks are installed, or would be, and the directory above all that is
/// made for it: the project, or the directory above that of the user's settings for the agent.
pub(super) fn file(
    agent: HookAgent,
    place: Place,
    common: &Common,
) -> Result<(PathBuf, PathBuf), Error> {
    let Settings { project_dir, hooks, .. } = Settings::of(agent)?;
    let name = if place == Place::Local { LOCAL_SETTINGS } else { hooks };
    Ok(match place {
        Place::Project | Place::Local => {
            let base = setup::project_dir(common)?.to_owned();
            (base.join(project_dir).join(name), base)
        }
        Place::System => {
            let state = agent.state(&setup::start(common));
            let file = state.managed_settings(agent).ok_or_else(|| agent::unknown(agent))?;
            (file.clone(), file.parent().unwrap_or(&file).to_owned())
        }
        Place::ByHand | Place::Plugin => return Err(agent::unknown(agent)),
        Place::User => {
            let base = agent::user_dir(agent, common)?;
            (base.join(name), base.parent().unwrap_or(&base).to_owned())
        }
    })
}

/// Returns the entry with which `agent` runs `words`, the command line of the hook.
pub(super) fn form(agent: HookAgent, words: &[String]) -> Result<Form, Error> {
    let patience = patience(words);
    if agent == HookAgent::OpenCode {
        let words = serde_json::to_string(words).map_err(|error| {
            Error::new(ErrorCode::InternalError, format!("cannot quote: {error}"), "")
        })?;
        let patience = patience.saturating_mul(1000).to_string();
        let plugin = PLUGIN.replace("\"TIMEOUT_MS\"", &patience);
        return Ok(Form::File(plugin.replace("\"COMMAND\"", &words)));
    }
    let command = shell(words)?;
    let events = events(agent).ok_or_else(|| agent::unknown(agent))?;
    let hook = |&(event, tools): &(&'static str, &str)| {
        // Nobody waits for the end of a session.
        let is_end = event.eq_ignore_ascii_case("SessionEnd");
        let patience = if is_end { MIN_AGENT_TIMEOUT } else { patience };
        Hook { event, value: hook_value(agent, &command, tools, patience) }
    };
    let version = matches!(agent, HookAgent::Cursor | HookAgent::Copilot).then_some(1);
    Ok(Form::Settings { version, hooks: events.iter().map(hook).collect() })
}

/// Returns the events for which `agent` runs its hook, each with a pattern for the names of tools,
/// which may be empty; `None` for an agent without such settings.
fn events(agent: HookAgent) -> Option<&'static [(&'static str, &'static str)]> {
    Some(match agent {
        HookAgent::ClaudeCode => &[
            ("SessionStart", ""),
            ("SubagentStart", ""),
            ("UserPromptSubmit", ""),
            ("PostToolUse", "Read|Edit|MultiEdit|Write|NotebookEdit|Skill"),
            ("SessionEnd", ""),
        ],
        HookAgent::Codex => &[
            ("SessionStart", ""),
            ("SubagentStart", ""),
            ("UserPromptSubmit", ""),
            ("PostToolUse", "apply_patch|Bash"),
            ("PostCompact", ""),
            ("SessionEnd", ""),
        ],
        HookAgent::Gemini => &[
            ("SessionStart", ""),
            ("BeforeAgent", ""),
            ("AfterTool", "read_file|write_file|replace|activate_skill"),
            ("PreCompress", ""),
            ("SessionEnd", ""),
        ],
        HookAgent::Cursor => &[
            ("sessionStart", ""),
            ("beforeSubmitPrompt", ""),
            ("postToolUse", "Read|Write"),
            ("preCompact", ""),
            ("sessionEnd", ""),
        ],
        HookAgent::Copilot => &[
            ("sessionStart", ""),
            ("userPromptSubmitted", ""),
            ("postToolUse", "view|create|edit|str_replace_editor|apply_patch|skill"),
            ("preCompact", ""),
            ("sessionEnd", ""),
        ],
        HookAgent::Qwen => &[
            ("SessionStart", ""),
            ("SubagentStart", ""),
            ("UserPromptSubmit", ""),
            ("PostToolUse", "read_file|write_file|edit|notebook_edit|skill"),
            ("SessionEnd", ""),
        ],
        HookAgent::Droid => &[
            ("SessionStart", ""),
            ("UserPromptSubmit", ""),
            ("PostToolUse", "Read|Edit|MultiEdit|Create|ApplyPatch|Skill"),
            ("SessionEnd", ""),
        ],
        _ => return None,
    })
}

/// Returns the event of `agent` for a message of the user; `None` for an agent without such settings.
pub(super) fn message_event(agent: HookAgent) -> Option<&'static str> {
    events(agent)?.iter().map(|(event, _)| *event).find(|event| is_message_event(event, agent))
}

/// Tells whether `event` is one of the names that `agent` has for a message of the user.
pub(super) fn is_message_event(event: &str, agent: HookAgent) -> bool {
    match agent {
        HookAgent::Gemini => event == "BeforeAgent",
        HookAgent::Cursor => event == "beforeSubmitPrompt",
        HookAgent::Copilot => matches!(event, "userPromptSubmitted" | "UserPromptSubmit"),
        _ => event == "UserPromptSubmit",
    }
}

/// Returns the seconds that an agent waits for the hook that runs `words`: one more than its
/// deadline, and at least `MIN_AGENT_TIMEOUT`.
fn patience(words: &[String]) -> u64 {
    let deadline = match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Hook(args), .. }) => args.deadline,
        _ => Duration::ZERO,
    };
    let whole = deadline.as_secs().saturating_add(u64::from(deadline.subsec_nanos() > 0));
    whole.saturating_add(1).max(MIN_AGENT_TIMEOUT)
}

/// Returns the settings of one hook of `agent`, which waits `patience` seconds for it.
fn hook_value(agent: HookAgent, command: &str, tools: &str, patience: u64) -> Value {
    let mut hook = match agent {
        HookAgent::Cursor => json!({"command": command, "timeout": patience}),
        HookAgent::Copilot => {
            json!({"type": "command", "command": command, "timeoutSec": patience})
        }
        _ => {
            let counts_milliseconds = matches!(agent, HookAgent::Gemini | HookAgent::Qwen);
            let timeout =
                if counts_milliseconds { patience.saturating_mul(1000) } else { patience };
            json!({"hooks": [{"type": "command", "command": command, "timeout": timeout}]})
        }
    };
    if !tools.is_empty() {
        hook["matcher"] = tools.into();
    }
    hook
}

/// Returns the command line, as words, that the plugin in `text` runs; `None` if the text is not a
/// plugin of this program.
pub(crate) fn plugin_words(text: &str) -> Option<Vec<String>> {
    if PLUGIN.lines().next() != text.lines().next() {
        return None;
    }
    let words = text.lines().find_map(|line| line.strip_prefix("const words = "));
    Some(words.and_then(|words| serde_json::from_str(words).ok()).unwrap_or_default())
}

/// Returns the words that run the hook of `agent`, without options.
pub(super) fn plain_words(agent: HookAgent) -> Result<Vec<String>, Error> {
    Ok(vec![program()?, "hook".to_owned(), agent.as_str().to_owned()])
}

/// Returns the words that run the hook of `agent`, with the options of this command line that apply
/// to it.
pub(super) fn words(
    agent: HookAgent,
    HookOptions { deadline, routing }: &HookOptions,
    common: &Common,
) -> Result<Vec<String>, Error> {
    let mut words = plain_words(agent)?;
    words.extend(common_options(common));
    words.extend(routing.words());
    if let Some(deadline) = deadline {
        words.extend(["--deadline".to_owned(), deadline.as_secs_f64().to_string()]);
    }
    Ok(words)
}

/// Returns the hooks of `agent` for a package, with the options of this command line.
pub(crate) fn package(
    agent: HookAgent,
    options: &HookOptions,
    common: &Common,
) -> Result<Value, Error> {
    let mut words = words(agent, options, common)?;
    words.push("--with-server".to_owned());
    let Form::Settings { version, hooks } = form(agent, &words)? else {
        let message = format!("{agent} takes no package with hooks");
        return Err(Error::new(ErrorCode::InvalidParam, message, "use `repertoire hook install`"));
    };
    let events = hooks.into_iter().map(|hook| (hook.event.to_owned(), json!([hook.value])));
    let mut package = json!({"hooks": events.collect::<Map<_, _>>()});
    if let Some(version) = version {
        package["version"] = version.into();
    }
    Ok(package)
}

/// Returns the words of a command, without the variables that may stand before the program.
pub(super) fn words_of(command: &str) -> Vec<String> {
    let is_variable = |word: &String| {
        let name = word.split_once('=').map(|(name, _)| name).unwrap_or_default();
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    split(command).into_iter().skip_while(is_variable).collect()
}

/// Tells whether `command`, found in an agent's settings, runs this program's hook for `agent`.
pub(crate) fn is_own_command(command: &str, agent: HookAgent) -> bool {
    let words = words_of(command);
    let runs_hook = words.windows(2).any(|pair| pair[0] == "hook" && pair[1] == agent.as_str());
    runs_hook && words.first().is_some_and(|program| is_own_program(program))
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
            ("REPERTOIRE_MAX_SKILLS=3 A='b c' repertoire hook claude-code", true),
            ("A=1 /opt/other hook claude-code", false),
            ("a/b=1 repertoire hook claude-code", false),
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
