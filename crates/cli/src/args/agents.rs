//! The agents that a command line can name, for each kind of installation.

use std::fmt;
use std::str::FromStr;

use repertoire_agents::HookAgent;

use super::values::one_of;

/// The agents that accept packages.
pub(super) const PACKAGE_AGENTS: [HookAgent; 5] = [
    HookAgent::ClaudeCode,
    HookAgent::Codex,
    HookAgent::Gemini,
    HookAgent::Copilot,
    HookAgent::Qwen,
];

/// An agent that reads MCP servers from a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum McpAgent {
    /// An agent that has hooks as well.
    Hooked(HookAgent),
    VsCode,
}

impl McpAgent {
    /// Iterates over all agents that read MCP servers from a settings file.
    pub(crate) fn all() -> impl Iterator<Item = McpAgent> {
        HookAgent::ALL.into_iter().map(McpAgent::Hooked).chain([McpAgent::VsCode])
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            McpAgent::Hooked(agent) => agent.as_str(),
            McpAgent::VsCode => "vscode",
        }
    }

    /// The agent's name in texts for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            McpAgent::Hooked(agent) => agent.title(),
            McpAgent::VsCode => "VS Code",
        }
    }
}

impl fmt::Display for McpAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for McpAgent {
    type Err = String;

    fn from_str(name: &str) -> Result<McpAgent, String> {
        let found = McpAgent::all().find(|agent| agent.as_str() == name);
        found.ok_or_else(|| format!("there is no agent `{name}`"))
    }
}

/// Parses an agent with supported hooks.
pub(super) fn hook_agents() -> impl clap::builder::TypedValueParser<Value = HookAgent> {
    one_of::<HookAgent>(HookAgent::ALL.map(HookAgent::as_str))
}
