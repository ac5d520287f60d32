//! The description of a toolset.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The description of a toolset: its tools, and their purpose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolsetDescription {
    /// The name of the class.
    #[serde(default)]
    pub class: String,
    /// The purpose of the toolset; may be empty.
    #[serde(default)]
    pub description: String,
    /// The tools, in the order of the source.
    pub tools: Vec<ToolSpec>,
}

/// The description of a tool for a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// The purpose of the tool, in words for the model.
    pub description: String,
    /// The JSON Schema of the arguments: an object.
    pub parameters: Value,
    /// Hints for the host, in MCP's words (`readOnlyHint`, `idempotentHint`, …).
    #[serde(default)]
    pub annotations: Map<String, Value>,
}
