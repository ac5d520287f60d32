//! Tool formats: the shapes of tool definitions that providers read.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::error::{Error, choose};

/// The shape of a tool definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFormat {
    /// The Model Context Protocol's `tools/list`.
    Mcp,
    /// `OpenAI`'s `tools` of a chat completion.
    OpenAi,
    /// Anthropic's `tools` of a message.
    Anthropic,
}

impl ToolFormat {
    /// All formats.
    pub const ALL: [ToolFormat; 3] = [ToolFormat::Mcp, ToolFormat::OpenAi, ToolFormat::Anthropic];

    /// The name of the format, as on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolFormat::Mcp => "mcp",
            ToolFormat::OpenAi => "openai",
            ToolFormat::Anthropic => "anthropic",
        }
    }

    /// Returns the definition of a tool in this shape. `name` must be a name that providers accept, and
    /// `parameters` is a JSON Schema. `annotations` are the hints of MCP; other formats leave them out.
    pub fn tool(
        self,
        name: &str,
        description: &str,
        parameters: &Value,
        annotations: &Map<String, Value>,
    ) -> Value {
        match self {
            ToolFormat::Mcp => json!({
                "name": name,
                "description": description,
                "inputSchema": parameters,
                "annotations": annotations,
            }),
            ToolFormat::OpenAi => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": parameters},
            }),
            ToolFormat::Anthropic => {
                json!({"name": name, "description": description, "input_schema": parameters})
            }
        }
    }
}

impl FromStr for ToolFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<ToolFormat, Error> {
        choose("a format of tool lists", text, &ToolFormat::ALL, ToolFormat::as_str)
    }
}
