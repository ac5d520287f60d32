//! MCP tools: those for skills, and those of toolsets.

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, MetaObject,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tracing::Span;

use super::Connection;
use super::blocking::protocol_error;
use super::consent::Answer;
use super::consent::{self, Consented};
use super::progress::with_progress;
use super::rights;
use repertoire::Envelope;
use repertoire::ToolFormat;
use repertoire::catalog::Audience;
use repertoire::engine::SessionTools;
use repertoire::toolset::RightsRequest;
use repertoire::{Error, ErrorCode};

impl Connection {
    /// Returns all tools. Opens the libraries of plugins.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let tools = self.current_tools();
        self.listed.record_tools(&tools);
        tools
    }

    /// Returns all tools, without recording that the client saw them. A tool whose definition does
    /// not fit the protocol is left out.
    pub(super) fn current_tools(&self) -> Vec<Tool> {
        let Value::Array(definitions) = self.tools.definitions(ToolFormat::Mcp) else {
            return Vec::new();
        };
        let read = definitions.into_iter().map(serde_json::from_value);
        let report =
            |error: &serde_json::Error| tracing::warn!(%error, "a tool has no valid definition");
        let with_hints = |tool: Tool| {
            let meta = hints(&tool);
            if let Some(meta) = meta { tool.with_meta(meta) } else { tool }
        };
        read.filter_map(|tool| tool.inspect_err(report).ok()).map(with_hints).collect()
    }
}

/// Answers `tools/call`, and counts the call. A tool that fails still gives a result; only an unknown
/// tool is a protocol error.
pub(super) async fn call(
    connection: &Arc<Connection>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (name, began) = (request.name.clone(), Instant::now());
    let answered = answer(connection, request, context).await;
    let has_failed = match &answered {
        Ok(CallToolResponse::Complete(result)) => result.is_error == Some(true),
        Ok(_) => false,
        Err(_) => true,
    };
    if let Some(metrics) = &connection.metrics {
        metrics.note_call(&name, began.elapsed(), has_failed);
    }
    if has_failed && answered.is_ok() {
        let span = Span::current();
        span.record("error.type", "tool_error");
        span.record("otel.status_code", "ERROR");
    }
    answered
}

/// Answers a call. If it needs consent or rights, asks the client's user.
async fn answer(
    connection: &Arc<Connection>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let name = request.name.to_string();
    let arguments = Value::Object(request.arguments.unwrap_or_default());
    let call = || call_tool(connection, &name, &arguments, context);
    let Called { answer, .. } = match call().await? {
        Called { answer, refusal: Some(refusal) } => {
            match rights::ask(connection, &refusal, request.input_responses.clone(), context).await
            {
                Ok(Some(Answer::Yes)) => call().await?,
                Ok(Some(Answer::Pending(pending))) => return Ok((*pending).into()),
                Ok(Some(Answer::No | Answer::Dismissed) | None) => Called { answer, refusal: None },
                Err(error) => Called { answer: Envelope::from(&error), refusal: None },
            }
        }
        called => called,
    };
    let skill = arguments["skill"].as_str().unwrap_or_default();
    if answer.code() != Some(ErrorCode::ConsentRequired) || skill.is_empty() {
        return Ok(result(&answer).into());
    }
    let (skill, responses) = (skill.to_owned(), request.input_responses);
    let answer = match consent::ask(connection, skill, Audience::Model, responses, context).await {
        Ok(Consented::Yes) => call().await?.answer,
        Ok(Consented::NobodyToAsk) => answer,
        Ok(Consented::Pending(pending)) => return Ok((*pending).into()),
        Err(error) => Envelope::from(&error),
    };
    Ok(result(&answer).into())
}

/// The outcome of a call.
struct Called {
    answer: Envelope,
    /// The rights that the call lacked, if the sandbox refused something.
    refusal: Option<RightsRequest>,
}

async fn call_tool(
    connection: &Arc<Connection>,
    name: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<Called, ErrorData> {
    let (tool, arguments) = (name.to_owned(), arguments.clone());
    let closing = Arc::clone(&connection.closing);
    let connection = Arc::clone(connection);
    let call = with_progress(&closing, context, name, move |io| {
        let refusal = Mutex::new(None);
        let note = |request: &RightsRequest| {
            *refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(request.clone());
        };
        let answer = connection.tools.call_known(&tool, &arguments, io.refusal(&note))?;
        let refusal = refusal.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Called { answer, refusal })
    });
    let called: Result<Called, Error> = call.await;
    called.map_err(|error| protocol_error(&error))
}

/// Converts an envelope to a result that has only text. Some clients show the model `structuredContent`
/// instead of the text, or both. It is meant for tools with an `outputSchema`, which none of these tools
/// has.
fn result(envelope: &Envelope) -> CallToolResult {
    let content = vec![ContentBlock::text(envelope.text().into_owned())];
    match envelope {
        Envelope::Success { .. } => CallToolResult::success(content),
        Envelope::Error { .. } => CallToolResult::error(content),
    }
}

/// Returns hints for Claude Code: keep the tools for skills out of its tool search, and find them by
/// these words. Tools of plugins get no hints, since the search finds them by their descriptions.
fn hints(tool: &Tool) -> Option<MetaObject> {
    let words = match &*tool.name {
        SessionTools::USE_SKILL => "load the instructions of a skill before a task",
        "find_skills" => "find skills, instructions for a kind of task",
        "read_skill_file" => "read a file, reference or asset of a skill",
        "run_skill_script" => "run a script of a skill",
        _ => return None,
    };
    let hints = json!({"anthropic/alwaysLoad": true, "anthropic/searchHint": words});
    hints.as_object().cloned().map(MetaObject)
}
