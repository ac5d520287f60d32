//! The agents whose hooks are supported, and the differences of their protocols.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use super::call::HookEvent;
use crate::error::{Error, ErrorCode};

/// An agent whose hooks are supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HookAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
    /// GitHub Copilot CLI.
    Copilot,
    /// `OpenCode`, through the plugin that `repertoire hook install opencode` writes.
    OpenCode,
}

impl HookAgent {
    /// All agents.
    pub const ALL: [HookAgent; 6] = [
        HookAgent::ClaudeCode,
        HookAgent::Codex,
        HookAgent::Gemini,
        HookAgent::Cursor,
        HookAgent::Copilot,
        HookAgent::OpenCode,
    ];

    /// The agent's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "claude-code",
            HookAgent::Codex => "codex",
            HookAgent::Gemini => "gemini",
            HookAgent::Cursor => "cursor",
            HookAgent::Copilot => "copilot",
            HookAgent::OpenCode => "opencode",
        }
    }

    /// Tells whether the agent accepts context from its hook `name`, which stands for this `event`.
    pub(super) fn takes_context(self, event: &HookEvent, name: &str) -> bool {
        match event {
            HookEvent::Start { .. } | HookEvent::Catalog | HookEvent::Prompt(_) => true,
            HookEvent::Files(_) => match self {
                HookAgent::ClaudeCode | HookAgent::Codex => {
                    matches!(name, "PreToolUse" | "PostToolUse")
                }
                HookAgent::Gemini => name == "AfterTool",
                HookAgent::Cursor => name == "postToolUse",
                HookAgent::Copilot => !name.eq_ignore_ascii_case("preToolUse"),
                HookAgent::OpenCode => true,
            },
            HookEvent::Compacting | HookEvent::Compacted | HookEvent::Exit | HookEvent::End => {
                false
            }
        }
    }

    /// Wraps `context` in the JSON that the agent expects from its hook `name`.
    pub(super) fn wrap(self, event: &HookEvent, name: &str, context: &str) -> Value {
        match self {
            HookAgent::ClaudeCode | HookAgent::Codex | HookAgent::Gemini => json!({
                "hookSpecificOutput": {"hookEventName": name, "additionalContext": context}
            }),
            HookAgent::Cursor if matches!(event, HookEvent::Prompt(_)) => {
                json!({"continue": true, "additional_context": context})
            }
            HookAgent::Cursor => json!({"additional_context": context}),
            HookAgent::Copilot => json!({"additionalContext": context}),
            HookAgent::OpenCode => json!({"context": context}),
        }
    }
}

impl fmt::Display for HookAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HookAgent {
    type Err = Error;

    fn from_str(name: &str) -> Result<HookAgent, Error> {
        HookAgent::ALL.into_iter().find(|agent| agent.as_str() == name).ok_or_else(|| {
            let names = HookAgent::ALL.map(HookAgent::as_str).join("`, `");
            let message = format!("there are no hooks for an agent `{name}`");
            Error::new(ErrorCode::InvalidParam, message, format!("choose `{names}`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_name() {
        for agent in HookAgent::ALL {
            assert_eq!(agent.as_str().parse::<HookAgent>().unwrap(), agent);
        }
        let error = "emacs".parse::<HookAgent>().unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam);
        assert!(error.help().contains("`claude-code`"), "{error:#}");
    }
}
