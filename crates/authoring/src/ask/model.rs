//! Models: requests to them, and their replies.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A language model, or whatever answers in its place.
pub trait Model: Sync {
    /// Answers a request.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer, as one line.
    fn answer(&self, request: &Request) -> Result<Reply, String>;
}

/// A conversation so far, and the tools that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Request {
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// The tools.
    pub tools: Vec<Tool>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// The text.
    pub text: String,
    /// The calls of tools in it, if the model wrote it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// Instructions of the host.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool: the answer to one call of the last message of the model, in the order of its calls.
    Tool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// The name.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// The text; may be empty beside calls.
    pub text: String,
    /// The calls of tools. Without any, the reply is the answer.
    pub calls: Vec<Call>,
    /// The tokens that the model counted; `None` if it did not say.
    pub tokens: Option<Usage>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Call {
    /// The name of the tool.
    pub name: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the request.
    pub input: usize,
    /// Tokens of the reply.
    pub output: usize,
}

impl Message {
    /// A message without calls.
    pub(super) fn new(role: Role, text: impl Into<String>) -> Message {
        Message { role, text: text.into(), calls: Vec::new() }
    }
}
