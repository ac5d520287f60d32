//! The result of a tool.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The result of a tool: the text for the model, and data that a host may show or use as well.
///
/// ```
/// use repertoire_plugin::ToolOutput;
///
/// let output = ToolOutput::text("3 files changed").title("Diff").meta("files", 3);
/// assert_eq!(output.output, "3 files changed");
/// assert_eq!(output.metadata["files"], 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// A short line for the user; may be empty.
    pub title: String,
    /// Facts for programs; the model sees them only if a host shows them.
    pub metadata: Map<String, Value>,
    /// The text the model reads.
    pub output: String,
}

impl ToolOutput {
    /// Creates a result of text, without title and metadata.
    pub fn text(output: impl Into<String>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    /// Creates a result of JSON, indented for the model to read.
    pub fn json(value: &Value) -> Self {
        Self::text(format!("{value:#}"))
    }

    /// Sets the short line for the user.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a fact for programs; a later value replaces an earlier one of the same key.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }
}

impl From<String> for ToolOutput {
    fn from(output: String) -> Self {
        Self::text(output)
    }
}

impl From<&str> for ToolOutput {
    fn from(output: &str) -> Self {
        Self::text(output)
    }
}

/// Takes a JSON string as its text, and writes every other value as indented JSON.
impl From<Value> for ToolOutput {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Self::text(text),
            value => Self::json(&value),
        }
    }
}
