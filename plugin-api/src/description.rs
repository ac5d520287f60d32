//! What a toolset says about itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a toolset says about itself: its tools, and what they are for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolsetDescription {
    /// The name of the class.
    #[serde(default)]
    pub class: String,
    /// What the toolset is for; may be empty.
    #[serde(default)]
    pub description: String,
    /// The tools, in the order of the source.
    pub tools: Vec<ToolSpec>,
}

/// What a model has to know of a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// The JSON Schema of the arguments: an object.
    pub parameters: Value,
    /// Hints for the host, in MCP's words (`readOnlyHint`, `idempotentHint`, …).
    #[serde(default)]
    pub annotations: Map<String, Value>,
}
