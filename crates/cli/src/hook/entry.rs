//! The entries of an agent's settings that run a command: the forms of the command, and the fields because of which
//! the agent does not run it. Each was observed with Claude Code 2.1.332, Gemini CLI 0.61.0, Copilot CLI 1.0.102 and
//! Qwen Code 0.24.4, and read in the source of Codex; of Cursor and Droid, only `command` is known.

use std::iter::once;

use repertoire_agents::{HookAgent, Obstacle};
use serde_json::Value;

use super::agents::is_own_command;
use crate::agent::shell;

/// The least time, in milliseconds, in which a hook can be expected to answer.
const MIN_MILLISECONDS: f64 = 100.0;
/// The greatest delay, in milliseconds, of a timer of Node.js. A longer one ends at once.
const MAX_TIMER: f64 = 2_147_483_647.0;

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

/// The reason why an agent gets no answer of a hook in its settings.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The agent's behaviour, as a verb whose object is the hook.
    pub(super) effect: &'static str,
    /// The field, as a sentence.
    pub(super) cause: String,
}

impl Fault {
    fn not_run(cause: impl Into<String>) -> Fault {
        Fault { effect: "does not run", cause: cause.into() }
    }
}

/// An entry of settings that runs this program.
#[derive(Debug)]
pub(super) struct OwnEntry {
    /// The event of the agent.
    pub(super) event: String,
    /// The entry.
    pub(super) hook: Value,
    /// The element of the event's list that has the entry as one of its `hooks`.
    pub(super) group: Option<Value>,
}

/// Returns the fault because of which `agent` gets no answer of an entry. `off` names the hooks that a setting turns
/// off.
pub(super) fn fault(
    OwnEntry { event, hook, group }: &OwnEntry,
    agent: HookAgent,
    off: &[(String, Obstacle)],
) -> Option<Fault> {
    let group = group.as_ref();

    not_listed(hook, group, agent)
        .or_else(|| wrong_type(hook, group, agent))
        .map(Fault::not_run)
        .or_else(|| not_awaited(hook, agent))
        .or_else(|| too_short(hook, agent))
        .or_else(|| turned_off(hook, event, agent, off).map(Fault::not_run))
}

/// Tells whether `agent` reads hooks only in groups, each of them with a type.
fn has_groups(agent: HookAgent) -> bool {
    use HookAgent::{ClaudeCode, Codex, Gemini, Qwen};
    matches!(agent, ClaudeCode | Codex | Gemini | Qwen)
}

fn not_listed(hook: &Value, group: Option<&Value>, agent: HookAgent) -> Option<String> {
    let is_flat = group.is_none() && has_groups(agent);
    let is_alone = group.is_some_and(|group| !group["hooks"].is_array());
    if is_flat || is_alone || hook.get("hooks").is_some() {
        return Some("the entry is not in a list `hooks`: write `{\"hooks\": [{…}]}`".to_owned());
    }
    without_type(hook, agent)
}

fn without_type(hook: &Value, agent: HookAgent) -> Option<String> {
    let has_none = has_groups(agent) && hook.get("type").is_none();
    has_none.then(|| "the entry has no `type`: add `\"type\": \"command\"`".to_owned())
}

/// Explains why Codex, which reads all hooks of a file or none, rejects the file of this entry.
pub(super) fn rejected(hook: &Value, group: &Value) -> Option<String> {
    without_type(hook, HookAgent::Codex).or_else(|| wrong_type(hook, Some(group), HookAgent::Codex))
}

/// The form of a field's value.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    /// A text that is not empty.
    Command,
    Texts,
    Variables,
    Switch,
    Positive,
    Whole,
    Shell,
}

impl Form {
    fn fits(self, value: &Value) -> bool {
        match self {
            Form::Text => value.is_string(),
            Form::Command => value.as_str().is_some_and(|text| !text.is_empty()),
            Form::Texts => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            Form::Variables => {
                value.as_object().is_some_and(|all| all.values().all(Value::is_string))
            }
            Form::Switch => value.is_boolean(),
            Form::Positive => value.as_f64().is_some_and(|number| number > 0.0),
            Form::Whole => value.as_u64().is_some(),
            Form::Shell => value == "bash" || value == "powershell",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Form::Text => "a text",
            Form::Command => "a text that is not empty",
            Form::Texts => "a list of texts",
            Form::Variables => "an object of texts",
            Form::Switch => "`true` or `false`",
            Form::Positive => "a number above 0",
            Form::Whole => "a whole number",
            Form::Shell => "`bash` or `powershell`",
        }
    }
}

/// A field of an entry, and the form that its agent demands.
type Field = (&'static str, Form);

const OF_CLAUDE_CODE: &[Field] = &[
    ("type", Form::Text),
    ("args", Form::Texts),
    ("timeout", Form::Positive),
    ("shell", Form::Shell),
    ("async", Form::Switch),
    ("asyncRewake", Form::Switch),
    ("once", Form::Switch),
    ("statusMessage", Form::Text),
    ("if", Form::Text),
];
const OF_CODEX: &[Field] = &[
    ("type", Form::Text),
    ("timeout", Form::Whole),
    ("async", Form::Switch),
    ("statusMessage", Form::Text),
];
const OF_COPILOT: &[Field] = &[
    ("type", Form::Text),
    ("command", Form::Command),
    ("bash", Form::Command),
    ("powershell", Form::Command),
    ("linux", Form::Command),
    ("osx", Form::Command),
    ("windows", Form::Command),
    ("exec", Form::Command),
    ("args", Form::Texts),
    ("timeoutSec", Form::Positive),
    ("timeout", Form::Positive),
    ("cwd", Form::Text),
    ("env", Form::Variables),
];
const OF_GEMINI: &[Field] = &[("type", Form::Text)];

/// The fields of Copilot that cannot be beside `exec`.
const BESIDE_EXEC: [&str; 3] = ["bash", "powershell", "command"];

fn wrong_type(hook: &Value, group: Option<&Value>, agent: HookAgent) -> Option<String> {
    let (of_entry, of_group): (&[Field], &[Field]) = match agent {
        HookAgent::ClaudeCode => (OF_CLAUDE_CODE, &[("matcher", Form::Text)]),
        HookAgent::Codex => (OF_CODEX, &[("matcher", Form::Text)]),
        HookAgent::Copilot => (OF_COPILOT, &[]),
        HookAgent::Gemini | HookAgent::Qwen => (OF_GEMINI, &[]),
        _ => return None,
    };
    let of_entry = of_entry.iter().map(|field| (hook, field));
    let of_group =
        group.into_iter().flat_map(|group| of_group.iter().map(move |field| (group, field)));
    for (object, (name, form)) in of_entry.chain(of_group) {
        // Codex reads `null` as no value.
        let value = object.get(name).filter(|value| agent != HookAgent::Codex || !value.is_null());
        if let Some(value) = value.filter(|value| !form.fits(value)) {
            return Some(format!("`{name}` is `{value}`, and must be {}", form.expected()));
        }
    }
    let is_exec = agent == HookAgent::Copilot && hook.get("exec").is_some();
    let beside = BESIDE_EXEC.into_iter().find(|name| is_exec && hook.get(name).is_some())?;
    Some(format!("`{beside}` is beside `exec`: leave one of them out"))
}

/// Returns a fault if `agent` runs the hook in the background.
fn not_awaited(hook: &Value, agent: HookAgent) -> Option<Fault> {
    use HookAgent::{ClaudeCode, Codex, Qwen};
    let is_async = matches!(agent, ClaudeCode | Codex | Qwen) && hook["async"] == true;
    is_async.then(|| Fault {
        effect: "does not wait for",
        cause: "`async` is `true`: take it out".to_owned(),
    })
}

/// Returns a fault if the time that `agent` waits for the hook is too short for an answer.
fn too_short(hook: &Value, agent: HookAgent) -> Option<Fault> {
    let name = match agent {
        HookAgent::Copilot if hook.get("timeoutSec").is_some() => "timeoutSec",
        HookAgent::Codex | HookAgent::Cursor | HookAgent::Droid => return None,
        _ => "timeout",
    };
    let value = hook.get(name).filter(|value| !value.is_null())?;
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    let milliseconds = match (agent, number) {
        (HookAgent::Gemini, Some(number)) if number <= MAX_TIMER => number,
        (HookAgent::Gemini, _) => 1.0,
        // Qwen takes other values for no timeout, and great ones for milliseconds.
        (HookAgent::Qwen, Some(number)) if number <= 0.0 => return None,
        (HookAgent::Qwen, Some(number)) if number >= 1000.0 => number,
        (_, Some(number)) => number * 1000.0,
        (_, None) => return None,
    };
    let unit = if agent == HookAgent::Gemini { "milliseconds" } else { "seconds" };
    (milliseconds < MIN_MILLISECONDS).then(|| Fault {
        effect: "gives no time to",
        cause: format!("`{name}` is `{value}`, in {unit}"),
    })
}

/// Returns the condition or the setting because of which `agent` leaves the hook out.
fn turned_off(
    hook: &Value,
    event: &str,
    agent: HookAgent,
    off: &[(String, Obstacle)],
) -> Option<String> {
    // A condition is about the call of a tool.
    let has_conditions = agent == HookAgent::ClaudeCode && !event.contains("Tool");
    let condition = hook["if"].as_str().filter(|text| has_conditions && !text.is_empty());
    if let Some(condition) = condition {
        return Some(format!("`if` is `{condition}`, which `{event}` never meets: take it out"));
    }
    // A hook without a name is disabled by its command.
    let name = hook["name"].as_str().filter(|name| !name.is_empty());
    let name = name.or_else(|| hook["command"].as_str())?;
    let (_, by) = off.iter().find(|(disabled, _)| disabled == name)?;
    Some(format!("`{}` in {} turns it off", by.setting, by.file.display()))
}
