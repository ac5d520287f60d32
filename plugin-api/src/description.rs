//! The description of a toolset.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ToolError, ToolResult};

/// The longest tool name that all providers accept.
const MAX_TOOL_NAME: usize = 64;

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
    /// The tools, in the order of the source code.
    pub tools: Vec<ToolSpec>,
}

impl ToolsetDescription {
    /// Rejects two tools with the same name, names that providers refuse, and parameters that are not
    /// an object.
    pub(crate) fn check(&self) -> ToolResult<()> {
        let mut names = BTreeSet::new();
        for spec in &self.tools {
            let name = &spec.name;
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            if name.is_empty() || name.len() > MAX_TOOL_NAME || !name.bytes().all(is_plain) {
                return Err(ToolError::new(format!(
                    "the tool name {name:?} is not 1 to {MAX_TOOL_NAME} of A-Z a-z 0-9 _ -"
                )));
            }
            if !names.insert(name) {
                return Err(ToolError::new(format!("two tools are named `{name}`")));
            }
            if spec.parameters["type"] != "object" {
                return Err(ToolError::new(format!(
                    "the arguments of the tool `{name}` are not an object with named fields"
                )));
            }
        }
        Ok(())
    }
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
