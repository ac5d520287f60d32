//! Toolsets as the child process serves them, from a library or an MCP server.

use repertoire_plugin::host::{CreateError, Toolset};
use repertoire_plugin::{ErrorCode, Host, ToolOutput, ToolsetDescription};
use serde_json::Value;

use super::protocol::Failure;

/// A toolset of a library or of an MCP server.
pub(super) trait Serving: Send + Sync {
    /// Returns the description of its tools.
    fn describe(&self) -> &ToolsetDescription;

    /// Calls a tool with the JSON text of its arguments, and waits for its end.
    fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> Result<ToolOutput, Failure>;
}

impl Serving for Toolset {
    fn describe(&self) -> &ToolsetDescription {
        Toolset::describe(self)
    }

    fn call(&self, tool: &str, arguments: &str, host: &dyn Host) -> Result<ToolOutput, Failure> {
        let answer = Toolset::call(self, tool, arguments, host);
        answer.map_err(|error| Failure::new(error.code, error.message))
    }
}

/// Makes a toolset of a class and a configuration, from the library or server that was opened.
pub(super) type Classes =
    Box<dyn Fn(&str, &Value) -> Result<Box<dyn Serving>, Failure> + Send + Sync>;

/// Converts the result of making a toolset of a library.
pub(super) fn made(toolset: Result<Toolset, CreateError>) -> Result<Box<dyn Serving>, Failure> {
    let toolset = toolset.map_err(|error| {
        let code = match &error {
            CreateError::NoClass { .. } => ErrorCode::UnknownTool,
            CreateError::Create { code, .. } => *code,
            _ => ErrorCode::Failed,
        };
        Failure { help: error.help(), ..Failure::new(code, error.to_string()) }
    })?;
    Ok(Box::new(toolset))
}
