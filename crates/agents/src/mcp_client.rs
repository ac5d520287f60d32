//! The names by which the MCP clients of agents introduce themselves.

use super::HookAgent;

impl HookAgent {
    /// Returns the agent whose MCP client introduces itself by this name (`clientInfo.name`).
    ///
    /// ```
    /// use repertoire_agents::HookAgent;
    ///
    /// assert_eq!(HookAgent::of_mcp_client("claude-code"), Some(HookAgent::ClaudeCode));
    /// assert_eq!(HookAgent::of_mcp_client("Visual Studio Code"), None);
    /// ```
    pub fn of_mcp_client(name: &str) -> Option<HookAgent> {
        HookAgent::ALL.into_iter().find(|agent| name.starts_with(agent.client_name()))
    }

    /// The beginning of the name. Some agents add the name of the server. The names are from the programs, but for
    /// those of Cursor and Copilot, which were not seen there.
    fn client_name(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "claude-code",
            HookAgent::Codex => "codex-mcp-client",
            HookAgent::Gemini => "gemini-cli-mcp-client",
            HookAgent::Cursor => "cursor",
            HookAgent::Copilot => "github-copilot",
            HookAgent::OpenCode => "opencode",
            HookAgent::Qwen => "qwen-cli-mcp-client",
            HookAgent::Droid => "factory-cli-mcp-client",
        }
    }
}
