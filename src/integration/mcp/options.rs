//! The options of a server.

use std::time::Duration;

use crate::engine::SessionToolsOptions;

/// The options of an [`McpServer`](super::McpServer).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpOptions {
    /// The options of the tools. By default those of all toolsets are listed, as clients ask only
    /// once.
    pub tools: SessionToolsOptions,
    /// Room for the catalog prompt in the server's instructions, in characters; 1600 by default,
    /// since some clients cut instructions at 2 KiB; 0 leaves it out, for agents whose hook gives it.
    pub instructions_chars: usize,
    /// The interval at which lists that the client has seen are checked for changes other than
    /// those of a [`refresh`](crate::Engine::refresh), such as a rebuilt plugin; 2 seconds by default.
    /// `None` checks only after a refresh.
    pub poll: Option<Duration>,
}

impl Default for McpOptions {
    fn default() -> McpOptions {
        McpOptions {
            tools: SessionToolsOptions { all_toolsets: true, ..SessionToolsOptions::default() },
            instructions_chars: 1600,
            poll: Some(Duration::from_secs(2)),
        }
    }
}
