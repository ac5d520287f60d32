//! The forms of the files with hooks and nothing else. An agent ignores all of such a file if one part has another
//! form. Observed with Codex 0.171.0 and Copilot CLI 1.0.102, by one file for each form.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Obstacle;
use super::settings::text;
use crate::agent::HookAgent;

/// The events of Copilot CLI whose hooks must be a list. It takes any value for others.
const COPILOT_EVENTS: [&str; 7] = [
    "sessionStart", "sessionEnd", "userPromptSubmitted", "preToolUse", "postToolUse", "preCompact",
    "agentStop",
];

/// Returns the fault because of which `agent` ignores all of the file at `path`, if there is one.
pub(super) fn fault_of(agent: HookAgent, path: &Path) -> Option<(PathBuf, Obstacle)> {
    let text = text(path).filter(|text| !text.trim().is_empty())?;
    let fault = match agent {
        HookAgent::Codex => codex(&text),
        HookAgent::Copilot => copilot(&text),
        _ => None,
    };
    // The sentence in which it is told quotes it.
    Some((path.to_owned(), Obstacle::new(fault?.replace('`', "'"), path)))
}

fn codex(text: &str) -> Option<String> {
    serde_json::from_str::<CodexFile>(text).err().map(|error| error.to_string())
}

fn copilot(text: &str) -> Option<String> {
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => return Some(error.to_string()),
    };
    let wrong = |name: &str, is_right: fn(&Value) -> bool| {
        let value = file.pointer(name).filter(|value| !is_right(value))?;
        Some(format!("{}: {value}", name[1..].replace('/', ".")))
    };
    let events = COPILOT_EVENTS.map(|event| format!("/hooks/{event}"));
    wrong("/version", |version| version.as_f64() == Some(1.0))
        .or_else(|| wrong("/disableAllHooks", Value::is_boolean))
        .or_else(|| events.iter().find_map(|event| wrong(event, Value::is_array)))
}

/// A `hooks.json` of Codex.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "its parts are read for their form")]
struct CodexFile {
    description: Option<String>,
    hooks: Option<CodexEvents>,
}

/// The events of Codex. It takes any value for others.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct CodexEvents {
    session_start: Vec<CodexGroup>,
    session_end: Vec<CodexGroup>,
    user_prompt_submit: Vec<CodexGroup>,
    pre_tool_use: Vec<CodexGroup>,
    post_tool_use: Vec<CodexGroup>,
    permission_request: Vec<CodexGroup>,
    pre_compact: Vec<CodexGroup>,
    post_compact: Vec<CodexGroup>,
    subagent_start: Vec<CodexGroup>,
    subagent_stop: Vec<CodexGroup>,
    stop: Vec<CodexGroup>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "its parts are read for their form")]
struct CodexGroup {
    #[serde(default)]
    hooks: Vec<CodexHook>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "its parts are read for their form")]
enum CodexHook {
    Command { command: String, timeout: Option<u64> },
    McpTool(IgnoredAny),
    Prompt(IgnoredAny),
    Agent(IgnoredAny),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_if_each_part_has_its_form() {
        use HookAgent::{Codex, Copilot};
        let group = r#"[{"hooks": [{"type": "command", "command": "x", "more": 1}], "more": 1}]"#;
        let place = tempfile::tempdir().unwrap();
        for (agent, text, fault) in [
            (Codex, format!(r#"{{"hooks": {{"Stop": {group}}}}}"#), None),
            (Codex, r#"{"description": "x", "hooks": {"Other": {}}}"#.to_owned(), None),
            (Codex, r#"{"description": null, "hooks": {"Stop": [{"x": 1}]}}"#.to_owned(), None),
            (
                Codex,
                r#"{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}"#
                    .to_owned(),
                None,
            ),
            (Codex, String::new(), None),
            (Codex, "// x\n{}".to_owned(), Some("expected value")),
            (Codex, "\u{feff}{}".to_owned(), Some("expected value")),
            (Codex, r#"{"hooks": {},}"#.to_owned(), Some("trailing comma")),
            (Codex, r#"{"$schema": "x"}"#.to_owned(), Some("unknown field '$schema'")),
            (Codex, r#"{"version": 1}"#.to_owned(), Some("unknown field 'version'")),
            (Codex, r#"{"description": 7}"#.to_owned(), Some("invalid type")),
            (Codex, r#"{"hooks": {}, "hooks": {}}"#.to_owned(), Some("duplicate field 'hooks'")),
            (Codex, r#"{"hooks": {"Stop": "x"}}"#.to_owned(), Some("invalid type")),
            (
                Codex,
                r#"{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}"#.to_owned(),
                Some("missing field 'command'"),
            ),
            (
                Codex,
                r#"{"hooks": {"Stop": [{"hooks": [{"type": "x"}]}]}}"#.to_owned(),
                Some("unknown variant 'x'"),
            ),
            (
                Copilot,
                r#"{"$schema": "x", "version": 1.0, "hooks": {"other": {}}}"#.to_owned(),
                None,
            ),
            (Copilot, r#"{"hooks": {"preCompact": [{"type": "command"}]}}"#.to_owned(), None),
            (Copilot, r#"{"version": 2}"#.to_owned(), Some("version: 2")),
            (Copilot, r#"{"version": "1"}"#.to_owned(), Some("version: \"1\"")),
            (Copilot, "{ // x\n}".to_owned(), Some("key must be a string")),
            (Copilot, "\u{feff}{}".to_owned(), Some("expected value")),
            (Copilot, r#"{"version": 1,}"#.to_owned(), Some("trailing comma")),
            (
                Copilot,
                r#"{"hooks": {"preCompact": "x"}}"#.to_owned(),
                Some("hooks.preCompact: \"x\""),
            ),
            (Copilot, r#"{"disableAllHooks": "x"}"#.to_owned(), Some("disableAllHooks: \"x\"")),
        ] {
            let path = place.path().join("hooks.json");
            std::fs::write(&path, &text).unwrap();
            let found = fault_of(agent, &path).map(|(_, by)| by.setting);
            assert_eq!(found.is_some(), fault.is_some(), "{agent} {text}: {found:?}");
            let is_it = found.as_deref().unwrap_or_default().contains(fault.unwrap_or_default());
            assert!(is_it, "{agent} {text}: {found:?}");
        }
    }
}
