//! Tools: those for skills, and those of toolsets.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::consent::{self, Consented};
use super::progress::with_progress;
use super::{Connection, protocol_error};
use crate::catalog::Audience;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::tool_format::ToolFormat;

impl Connection {
    /// All tools there are. Opens the libraries of plugins.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let tools = self.current_tools();
        self.listed.note_tools(&tools);
        tools
    }

    /// All tools there are, without noting that the client saw them. One whose definition does not
    /// fit the protocol is left out.
    pub(super) fn current_tools(&self) -> Vec<Tool> {
        let Value::Array(definitions) = self.tools.definitions(ToolFormat::Mcp) else {
            return Vec::new();
        };
        let read = definitions.into_iter().map(serde_json::from_value);
        let report =
            |error: &serde_json::Error| tracing::warn!(%error, "a tool has no valid definition");
        read.filter_map(|tool| tool.inspect_err(report).ok()).collect()
    }
}

/// Answers `tools/call`. What the tool did not do is an answer; only a tool that does not exist is
/// an error of the protocol.
pub(super) async fn call(
    connection: &Arc<Connection>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let name = request.name.to_string();
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let call = || call_tool(connection, &name, &arguments, context);
    let answer = call().await?;
    let skill = arguments["skill"].as_str().unwrap_or_default();
    if answer.code() != Some(ErrorCode::ConsentRequired) || skill.is_empty() {
        return Ok(result(answer).into());
    }
    let (skill, responses) = (skill.to_owned(), request.input_responses);
    let answer = match consent::ask(connection, skill, Audience::Model, responses, context).await {
        Ok(Consented::Yes) => call().await?,
        Ok(Consented::NobodyToAsk) => answer,
        Ok(Consented::Pending(pending)) => return Ok((*pending).into()),
        Err(error) => Envelope::from(&error),
    };
    Ok(result(answer).into())
}

async fn call_tool(
    connection: &Arc<Connection>,
    name: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<Envelope, ErrorData> {
    let connection = Arc::clone(connection);
    let (tool, arguments) = (name.to_owned(), arguments.clone());
    let call =
        with_progress(context, name, move |io| connection.tools.call_known(&tool, &arguments, io));
    let answer: Result<Envelope, Error> = call.await;
    answer.map_err(|error| protocol_error(&error))
}

/// An envelope in the protocol's words.
fn result(envelope: Envelope) -> CallToolResult {
    match envelope {
        Envelope::Success { data, text } => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = data.is_object().then_some(data);
            result
        }
        Envelope::Error { error, data } => {
            let code = error.code.as_str();
            let text = ContentBlock::text(format!("{code}: {}", error.message));
            let partial = data.as_ref().map(|data| ContentBlock::text(data.to_string()));
            let mut result = CallToolResult::error([text].into_iter().chain(partial).collect());
            let mut structured = json!({"code": code, "message": error.message});
            if let Some(data) = data {
                structured["data"] = data;
            }
            result.structured_content = Some(structured);
            result
        }
    }
}
