//! Models behind an address that speaks `OpenAI`'s chat completions, on this machine.

use std::io;
use std::time::Duration;

use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request as HttpRequest, Response, StatusCode, Uri};
use http_body_util::LengthLimitError;
use hyper::body::Bytes;
use repertoire_authoring::ask::{Call, Model, Reply, Request, Role, Usage, without_thoughts};
use serde::Deserialize;
use serde_json::{Value, json};

use super::program::message_of;
use crate::http::exchange;

/// The maximum length of an answer, in bytes.
const LONGEST_ANSWER: usize = 4 << 20;

/// A server of models.
pub(super) struct Address {
    /// The address of its `chat/completions`.
    pub(super) uri: Uri,
    pub(super) model: String,
    pub(super) limit: Duration,
}

/// The number of times that a request is sent again to a server that is busy.
const RETRIES: u32 = 4;
/// The time before a request is sent again for the first time, unless the server tells it; doubled each time.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest time of a pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The parts of an answer that are read.
#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Value,
    tool_calls: Option<Vec<ToolCall>>,
    /// The form of calls before `tool_calls`.
    function_call: Option<Function>,
}

#[derive(Deserialize)]
struct ToolCall {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    /// JSON as text; some servers send it as it is.
    #[serde(default)]
    arguments: Value,
}

impl Address {
    /// The address below which a server on this machine has its API, such as `http://localhost:11434/v1`. `None` if
    /// it is elsewhere, or not an address.
    pub(super) fn uri(text: &str) -> Option<Uri> {
        let uri: Uri = format!("{}/chat/completions", text.trim_end_matches('/')).parse().ok()?;
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let is_here = host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        (is_here && uri.scheme_str() == Some("http")).then_some(uri)
    }

    /// Sends a request, again if the server is busy, and returns the body of the answer.
    fn send(&self, body: &Value) -> Result<Bytes, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let answers = async {
            let mut pause = PAUSE;
            for _ in 0..RETRIES {
                let answer = self.exchange(body).await?;
                if !is_busy(answer.status()) {
                    return Ok(answer);
                }
                tokio::time::sleep(told_pause(&answer).unwrap_or(pause).min(LONGEST_PAUSE)).await;
                pause *= 2;
            }
            self.exchange(body).await
        };
        let answer = runtime
            .map_err(|error| error.to_string())?
            .block_on(async { tokio::time::timeout(self.limit, answers).await });
        let answer = answer.map_err(|_| {
            format!("{} did not answer within {} s", self.uri, self.limit.as_secs())
        })??;
        let (head, body) = answer.into_parts();
        match error_in(&body) {
            Some(told) if !head.status.is_success() => {
                Err(format!("{} answers {}: {told}", self.uri, head.status))
            }
            Some(told) => Err(format!("{} answers with an error: {told}", self.uri)),
            None if head.status.is_success() => Ok(body),
            None => Err(format!("{} answers {}: {}", self.uri, head.status, beginning(&body))),
        }
    }

    async fn exchange(&self, body: &Value) -> Result<Response<Bytes>, String> {
        let request = HttpRequest::builder().method(Method::POST).uri(self.uri.clone());
        let request =
            request.header(CONTENT_TYPE, "application/json").body(Bytes::from(body.to_string()));
        let request = request.map_err(|error| error.to_string())?;
        exchange(request, LONGEST_ANSWER).await.map_err(|error| {
            if error.is::<io::Error>() {
                format!("{} cannot be reached: {error}", self.uri)
            } else if error.is::<LengthLimitError>() {
                format!("{} answers with more than {} MiB", self.uri, LONGEST_ANSWER >> 20)
            } else {
                format!("{} does not answer to the end: {error}", self.uri)
            }
        })
    }
}

/// Tells whether a server asks to be asked again later.
fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE
}

/// The time that a busy server asks to wait, if it says so in seconds.
fn told_pause(answer: &Response<Bytes>) -> Option<Duration> {
    let seconds = answer.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The text of the error in an answer.
fn error_in(body: &Bytes) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let error = answer.get("error").filter(|error| !error.is_null())?;
    Some(message_of(error))
}

fn beginning(body: &Bytes) -> String {
    String::from_utf8_lossy(body).chars().take(200).collect()
}

impl Model for Address {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let body = self.send(&body_of(request, &self.model))?;
        let answer: Answer = serde_json::from_slice(&body).map_err(|error| {
            format!("{} answers with no chat completion: {error}: {}", self.uri, beginning(&body))
        })?;
        let choice = answer.choices.into_iter().next().ok_or("the answer has no choice")?;
        let Said { content, tool_calls, function_call } = choice.message;
        let functions = tool_calls.unwrap_or_default().into_iter().map(|call| call.function);
        let calls: Vec<Call> = functions.chain(function_call).map(Function::call).collect();
        let text = without_thoughts(&text_of(&content)).to_owned();
        if text.is_empty() && calls.is_empty() {
            let why = choice.finish_reason.map(|reason| format!(" (finish_reason: {reason})"));
            return Err(format!("{} answers without a text{}", self.uri, why.unwrap_or_default()));
        }
        Ok(Reply { text, calls, tokens: usage_of(&answer.usage) })
    }
}

impl Function {
    fn call(self) -> Call {
        let arguments = match self.arguments {
            Value::String(text) if text.trim().is_empty() => json!({}),
            // Broken ones are shown to the model as it wrote them.
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            Value::Null => json!({}),
            object => object,
        };
        Call { name: self.name, arguments }
    }
}

/// The text of a content: a string, or parts of which some are texts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// The numbers of tokens, if the server counts both.
fn usage_of(usage: &Value) -> Option<Usage> {
    let number = |key: &str| usage.get(key)?.as_u64()?.try_into().ok();
    Some(Usage { input: number("prompt_tokens")?, output: number("completion_tokens")? })
}

/// A request in the form of the API. The calls are numbered through, and each answer names the next one.
fn body_of(request: &Request, model: &str) -> Value {
    let (mut n_calls, mut n_answers) = (0, 0);
    let mut messages = Vec::new();
    for message in &request.messages {
        messages.push(match message.role {
            Role::Tool => {
                n_answers += 1;
                json!({"role": "tool", "tool_call_id": format!("call_{n_answers}"), "content": message.text})
            }
            role if message.calls.is_empty() => json!({"role": role, "content": message.text}),
            role => {
                let calls = message.calls.iter().map(|call| {
                    n_calls += 1;
                    let arguments = match &call.arguments {
                        Value::String(text) => text.clone(),
                        object => object.to_string(),
                    };
                    let function = json!({"name": call.name, "arguments": arguments});
                    json!({"id": format!("call_{n_calls}"), "type": "function", "function": function})
                });
                let calls: Vec<Value> = calls.collect();
                json!({"role": role, "content": message.text, "tool_calls": calls})
            }
        });
    }
    let mut body = json!({"model": model, "messages": messages});
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| json!({"type": "function", "function": tool}));
        body["tools"] = tools.collect();
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_on_this_machine_are_asked() {
        for (text, is_here) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.1:8080/v1/", true),
            ("http://[::1]:1/v1", true),
            ("https://localhost/v1", false),
            ("http://api.example.com/v1", false),
            ("http://localhost.example.com/v1", false),
            ("llm -m x", false),
            ("", false),
        ] {
            assert_eq!(Address::uri(text).is_some(), is_here, "{text}");
        }
        let uri = Address::uri("http://127.0.0.1:8080/v1/").unwrap();
        assert_eq!(uri.to_string(), "http://127.0.0.1:8080/v1/chat/completions");
    }
}
