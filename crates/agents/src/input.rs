//! The JSON object that an agent writes to its hook. A field that is `null`, of another type or missing is
//! the same: an agent that writes one differently still gets its answer.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::agent::HookAgent;

/// The fields that are read. Any other may hold whatever the agent likes, such as the output of a tool.
const FIELDS: [&str; 23] = [
    "agentId", "agent_id", "conversation_id", "cwd", "hookEventName", "hook_event_name", "model",
    "prompt", "reason", "sessionID", "sessionId", "session_id", "source", "toolArgs", "toolName",
    "toolResult", "tool_input", "tool_name", "tool_output", "tool_response", "transcript_path",
    "trigger", "workspace_roots",
];

/// The fields whose content is not read: they only tell that the tool has ended.
const RESULTS: [&str; 3] = ["toolResult", "tool_output", "tool_response"];

/// The fields that are read and are not `null`.
#[derive(Debug)]
pub(super) struct Input(BTreeMap<&'static str, Value>);

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Input, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Input;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Input, A::Error> {
                let mut fields = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let known = FIELDS.into_iter().find(|field| *field == name);
                    let value = match known {
                        Some(field) if RESULTS.contains(&field) => {
                            map.next_value::<Option<IgnoredAny>>()?.map(|_| Value::Bool(true))
                        }
                        Some(_) => map.next_value::<Option<Value>>()?,
                        // However deep it is.
                        None => map.next_value::<IgnoredAny>().map(|_| None)?,
                    };
                    if let (Some(field), Some(value)) = (known, value) {
                        fields.insert(field, value);
                    }
                }
                Ok(Input(fields))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl Input {
    /// Returns the first of the fields `names` that is a non-empty text.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        let text = |name: &&str| self.0.get(*name)?.as_str().filter(|text| !text.is_empty());
        names.iter().find_map(text)
    }

    /// Returns the first of the fields `names` that is a name: a non-empty text, or a number.
    pub(super) fn name(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| match self.0.get(*name)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
    }

    /// Returns the first of the workspace's directories.
    pub(super) fn workspace(&self) -> Option<&str> {
        let mut roots = self.0.get("workspace_roots")?.as_array()?.iter();
        roots.find_map(|root| root.as_str().filter(|root| !root.is_empty()))
    }

    /// Infers the event, if the agent does not name it (Copilot does not), from a field that only this event
    /// has. Returns the agent's own name of it.
    pub(super) fn unnamed(&self, agent: HookAgent) -> Option<&'static str> {
        let has = |name| self.0.contains_key(name);
        let is_text = |name| self.0.get(name).is_some_and(Value::is_string);
        let column = match agent {
            HookAgent::Copilot => 0,
            HookAgent::Cursor => 1,
            HookAgent::Gemini => 2,
            HookAgent::ClaudeCode
            | HookAgent::Codex
            | HookAgent::OpenCode
            | HookAgent::Qwen
            | HookAgent::Droid => 3,
        };
        let names = match () {
            () if RESULTS.into_iter().any(has) => {
                ["postToolUse", "postToolUse", "AfterTool", "PostToolUse"]
            }
            () if self.text(&["toolName", "tool_name"]).is_some() => {
                ["preToolUse", "preToolUse", "BeforeTool", "PreToolUse"]
            }
            () if is_text("prompt") => {
                ["userPromptSubmitted", "beforeSubmitPrompt", "BeforeAgent", "UserPromptSubmit"]
            }
            () if is_text("source") => {
                ["sessionStart", "sessionStart", "SessionStart", "SessionStart"]
            }
            () if is_text("trigger") => ["preCompact", "preCompact", "PreCompress", "PreCompact"],
            () if is_text("reason") => ["sessionEnd", "sessionEnd", "SessionEnd", "SessionEnd"],
            () => return None,
        };
        Some(names[column])
    }

    /// Tells whether the ended conversation can be resumed. Most agents report an end whenever they
    /// exit; the `OpenCode` plugin reports one only when a conversation is deleted.
    pub(super) fn is_resumable(&self, agent: HookAgent) -> bool {
        let reason = self.text(&["reason"]);
        agent != HookAgent::OpenCode && !matches!(reason, Some("clear" | "logout" | "deleted"))
    }

    /// Returns the name and the arguments of the tool that was called.
    pub(super) fn tool(&self) -> (&str, &Value) {
        let tool = self.text(&["tool_name", "toolName"]).unwrap_or_default();
        let mut arguments = ["tool_input", "toolArgs"].iter().filter_map(|name| self.0.get(*name));
        // Some agents pass on the text of the model.
        let arguments = arguments.find(|value| value.is_object() || value.is_string());
        (tool, arguments.unwrap_or(&Value::Null))
    }
}
