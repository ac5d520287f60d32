//! The entries of an agent's settings that run a command, in each form of the command. Each was observed with Claude Code 2.1.332, Gemini CLI 0.61.0, Copilot CLI 1.0.102 and
//! Qwen Code 0.24.4, and read in the source of Codex; of Cursor and Droid, only `command` is known.

use std::iter::once;

use repertoire_agents::HookAgent;
use serde_json::Value;

use super::agents::is_own_command;
use crate::agent::shell;

/// Returns the command line that `agent` runs for `hook`, an entry of its settings; `None` for an entry of another
/// type, such as `http` or `prompt`.
pub(crate) fn command(hook: &Value, agent: HookAgent) -> Option<String> {
    let kind = hook["type"].as_str();
    // Gemini runs the command of a `plugin`, too.
    let is_other = |kind: &str| kind != "command" && (agent, kind) != (HookAgent::Gemini, "plugin");
    if kind.is_some_and(is_other) {
        return None;
    }
    let args = hook["args"].as_array();
    let program = match agent {
        HookAgent::ClaudeCode => hook["command"].as_str().filter(|_| args.is_some()),
        HookAgent::Copilot => hook["exec"].as_str(),
        _ => None,
    };
    if let Some(program) = program {
        let args = args.into_iter().flatten().map(|arg| arg.as_str().map(str::to_owned));
        let words: Option<Vec<String>> = once(Some(program.to_owned())).chain(args).collect();
        return shell(&words?).ok();
    }
    fields_of_commands(agent).iter().find_map(|name| hook[*name].as_str()).map(str::to_owned)
}

/// Tells whether `agent` runs this program's hook for `hook`, an entry of its settings.
pub(crate) fn is_own(hook: &Value, agent: HookAgent) -> bool {
    command(hook, agent).is_some_and(|command| is_own_command(&command, agent))
}

/// Returns the fields in which `agent` looks for a command on this system, the first one first.
fn fields_of_commands(agent: HookAgent) -> &'static [&'static str] {
    match agent {
        HookAgent::Copilot if cfg!(windows) => &["windows", "powershell", "command"],
        HookAgent::Copilot if cfg!(target_os = "macos") => &["osx", "bash", "command"],
        HookAgent::Copilot => &["linux", "bash", "command"],
        HookAgent::Codex if cfg!(windows) => &["commandWindows", "command_windows", "command"],
        _ => &["command"],
    }
}
