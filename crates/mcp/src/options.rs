//! The options of an MCP server.

use std::time::Duration;

use repertoire::engine::SessionToolsOptions;

/// The options of an [`McpServer`](super::McpServer).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpOptions {
    /// The options of the tools. By default the tools of all toolsets are listed, since clients request
    /// the list only once.
    pub tools: SessionToolsOptions,
    /// The size limit of the catalog prompt in the server's instructions, in characters; 1600 by
    /// default, since some clients cut instructions at 2 KiB. With 0 the prompt is left out, for agents
    /// that get it from a hook.
    pub instructions_chars: usize,
    /// The interval at which the lists that the client has seen are checked for changes that do not come
    /// from a [`refresh`](repertoire::Engine::refresh), such as a rebuilt plugin; 2 seconds by default. With
    /// `None`, lists are only checked after a refresh.
    pub poll: Option<Duration>,
}

impl Default for McpOptions {
    fn default() -> McpOptions {
        let mut tools = SessionToolsOptions::default();
        tools.all_toolsets = true;
        McpOptions { tools, instructions_chars: 1600, poll: Some(Duration::from_secs(2)) }
    }
}
