//! Tools: the hosts' four and those of plugins.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::consent::{self, Consented};
use super::{Connection, blocking, protocol_error};
use crate::catalog::Audience;
use crate::envelope::Envelope;
use crate::error::{Error, ErrorCode};
use crate::integration::host_tools::{CallIo, NAMES};
use crate::tool_format::ToolFormat;

impl Connection {
    /// All tools there are. Opens the libraries of plugins.
    pub(super) fn tools(&self) -> Vec<Tool> {
        let tools = self.current_tools();
        self.listed.note_tools(&tools);
        tools
    }

    /// All tools there are, without noting that the client saw them.
    pub(super) fn current_tools(&self) -> Vec<Tool> {
        let tools = read(self.host_tools.definitions(ToolFormat::Mcp));
        #[cfg(feature = "toolsets")]
        let tools = tools.into_iter().chain(self.plugin_tools()).collect();
        tools
    }

    /// The tools of plugins that can be called by the names they have here.
    #[cfg(feature = "toolsets")]
    fn plugin_tools(&self) -> impl Iterator<Item = Tool> {
        let tools = self.engine.all_tools();
        for failure in &tools.failures {
            let (skill, error) = (&failure.skill, &failure.error);
            tracing::warn!(%skill, %error, "a toolset could not be loaded");
        }
        read(tools.to_json(ToolFormat::Mcp)).into_iter().filter(move |tool| {
            let name = &*tool.name;
            let is_distinct = !NAMES.contains(&name) && tools.find(name).is_ok();
            if !is_distinct {
                tracing::warn!(tool = name, "left out: another tool has this name");
            }
            is_distinct
        })
    }

    fn call_host_tool(
        &self,
        tool: &str,
        arguments: &Value,
        is_cancelled: impl Fn() -> bool,
    ) -> Envelope {
        self.host_tools.call_with(tool, arguments, CallIo { is_cancelled: Some(&is_cancelled) })
    }
}

/// Definitions in the shape of the protocol. One that does not fit it is left out.
fn read(definitions: Value) -> Vec<Tool> {
    let Value::Array(definitions) = definitions else { return Vec::new() };
    let read = definitions.into_iter().map(serde_json::from_value);
    let report =
        |error: &serde_json::Error| tracing::warn!(%error, "a tool has no valid definition");
    read.filter_map(|tool| tool.inspect_err(report).ok()).collect()
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
    if !NAMES.contains(&&*name) {
        #[cfg(feature = "toolsets")]
        return call_plugin_tool(connection, name, arguments, context).await.map(Into::into);
        #[cfg(not(feature = "toolsets"))]
        return Err(protocol_error(&Error::new(
            ErrorCode::NotFound,
            format!("there is no tool `{name}`"),
            "see `tools/list`",
        )));
    }
    let answer = call_host_tool(connection, &name, &arguments, context).await;
    if answer.code() != Some(ErrorCode::ConsentRequired) {
        return Ok(result(answer).into());
    }
    let skill = arguments["skill"].as_str().unwrap_or_default().to_owned();
    let responses = request.input_responses;
    let answer = match consent::ask(connection, skill, Audience::Model, responses, context).await {
        Ok(Consented::Yes) => call_host_tool(connection, &name, &arguments, context).await,
        Ok(Consented::NobodyToAsk) => answer,
        Ok(Consented::Pending(pending)) => return Ok((*pending).into()),
        Err(error) => Envelope::from(&error),
    };
    Ok(result(answer).into())
}

async fn call_host_tool(
    connection: &Arc<Connection>,
    name: &str,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Envelope {
    let connection = Arc::clone(connection);
    let (tool, arguments, cancelled) = (name.to_owned(), arguments.clone(), context.ct.clone());
    let call = move || connection.call_host_tool(&tool, &arguments, || cancelled.is_cancelled());
    blocking(name, call).await.unwrap_or_else(|error| Envelope::from(&error))
}

#[cfg(feature = "toolsets")]
async fn call_plugin_tool(
    connection: &Arc<Connection>,
    name: String,
    arguments: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let (find, wanted) = (Arc::clone(connection), name.clone());
    let found = blocking(&name, move || {
        let tools = find.engine.all_tools();
        tools.find(&wanted).cloned().map_err(|error| {
            // That the tool is missing may only follow from what happened to its library.
            let failures = tools
                .failures
                .iter()
                .filter(|failure| plain(&wanted).starts_with(&plain(failure.skill.as_str())));
            let why: Vec<String> = failures.map(|failure| failure.error.to_string()).collect();
            if why.is_empty() {
                return error;
            }
            Error::new(error.code(), error.message(), format!("not loaded: {}", why.join("; ")))
        })
    });
    let tool = found.await.and_then(|found| found).map_err(|error| protocol_error(&error))?;
    let answer =
        super::progress::with_progress(context, &name, move |host| tool.call(&arguments, host));
    Ok(match answer.await {
        Ok(output) => {
            // Some clients show their model only what is structured.
            let title = &output.title;
            let data =
                json!({"output": output.output, "title": title, "metadata": output.metadata});
            result(Envelope::success(&data, output.output.clone()))
        }
        Err(error) => result(Envelope::from(&error)),
    })
}

/// A name without what names of tools and ids of skills differ in.
#[cfg(feature = "toolsets")]
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
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
