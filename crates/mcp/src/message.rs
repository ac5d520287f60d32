//! Parses messages, and creates the error for text that is not a message.
//!
//! The SDK's transports drop unreadable text, or answer it in plain text. Then a client that made a
//! mistake waits for ever, or cannot tell what is wrong. JSON-RPC 2.0 (section 5.1) requires an answer:
//! `-32700` for invalid JSON, `-32600` for an invalid request, with the id of the request if it can be
//! read.

use std::borrow::Cow;

use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage};
use serde::Serialize;
use serde_json::Value;

use repertoire::disclosure::model_text;
use repertoire_text::surrogates::without_halves;

/// The size limit of a message, in bytes. A longer message is answered as an invalid request.
pub(super) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// An error as a JSON-RPC message; its id is `null` if the id of the request is unknown.
#[derive(Debug, Serialize)]
pub(super) struct Refusal {
    jsonrpc: &'static str,
    id: Option<RequestId>,
    error: ErrorData,
}

impl Refusal {
    pub(super) fn new(code: ErrorCode, why: &str, id: Option<RequestId>) -> Refusal {
        let why = model_text(why).into_owned();
        Refusal { jsonrpc: "2.0", id, error: ErrorData::new(code, why, None) }
    }

    /// The error for a message that is longer than [`MAX_MESSAGE`].
    pub(super) fn too_long() -> Refusal {
        let why = format!("a message of more than {MAX_MESSAGE} bytes is not read");
        Refusal::new(ErrorCode::INVALID_REQUEST, &why, None)
    }

    pub(super) fn why(&self) -> &str {
        &self.error.message
    }
}

/// Returns `text` with `U+FFFD` in place of halves of surrogate pairs, or `None` if it has none. The SDK
/// would refuse them, so this is done before anything parses the text.
pub(super) fn repaired(text: &[u8]) -> Option<Vec<u8>> {
    match std::str::from_utf8(text).map(without_halves) {
        Ok(Cow::Owned(whole)) => Some(whole.into_bytes()),
        _ => None,
    }
}

/// Parses `text`. Returns `None` for an unknown notification.
pub(super) fn read(text: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    let error = match serde_json::from_slice(text) {
        Ok(message) => return check_params(&message, text).map(|()| Some(message)),
        Err(error) => error,
    };
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => {
            let why = format!("this is not JSON: {error}");
            return Err(Refusal::new(ErrorCode::PARSE_ERROR, &why, None));
        }
    };
    if is_notification(&value) {
        tracing::debug!(%error, "a notification that is not known");
        return Ok(None);
    }
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let why = match value.get("id") {
        _ if value.is_array() => "batches are not supported: send one message at a time".to_owned(),
        Some(_) if id.is_none() => "an id is a text, or a whole number of 64 bits".to_owned(),
        _ => format!("this is not a valid request: {error}"),
    };
    Err(Refusal::new(ErrorCode::INVALID_REQUEST, &why, id))
}

/// Refuses parameters that do not fit where the SDK would not say so: it would answer a list as though
/// there were no parameters, and take `initialize` for a request before the handshake.
fn check_params(message: &RxJsonRpcMessage<RoleServer>, text: &[u8]) -> Result<(), Refusal> {
    let JsonRpcMessage::Request(request) = message else { return Ok(()) };
    let is_read = match &request.request {
        ClientRequest::ListPromptsRequest(list) => list.params.is_some(),
        ClientRequest::ListResourcesRequest(list) => list.params.is_some(),
        ClientRequest::ListResourceTemplatesRequest(list) => list.params.is_some(),
        ClientRequest::ListSkillsRequest(list) => list.params.is_some(),
        ClientRequest::ListToolsRequest(list) => list.params.is_some(),
        ClientRequest::CustomRequest(custom) => custom.method != "initialize",
        // The SDK would repeat this address in its error, whatever characters it has.
        ClientRequest::GetSkillRequest(get) => model_text(&get.params.uri) == get.params.uri,
        _ => true,
    };
    let method = request.request.method();
    let has_params = || {
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        value.get("params").is_some_and(|params| !params.is_null())
    };
    if is_read || method != "initialize" && !has_params() {
        return Ok(());
    }
    Err(Refusal::new(ErrorCode::INVALID_PARAMS, &misfit(method), Some(request.id.clone())))
}

/// The message of the error for parameters that do not fit `method`.
pub(super) fn misfit(method: &str) -> String {
    format!("the parameters of `{method}` do not fit")
}

/// Tells whether a message is a notification: a client that waits for an answer has sent an id, even if
/// the id is invalid.
fn is_notification(value: &Value) -> bool {
    value.get("id").is_none()
        && value.get("jsonrpc").is_some_and(|version| version == "2.0")
        && value.get("method").is_some_and(Value::is_string)
}
