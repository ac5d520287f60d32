//! Models behind an address that speaks `OpenAI`'s chat completions, on this machine.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{Method, Request as HttpRequest, Uri};
use hyper::body::Bytes;
use repertoire_authoring::ask::{Call, Model, Reply, Request, Role, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

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

/// The parts of an answer that are read.
#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    /// JSON as text; some servers send it as it is.
    arguments: Value,
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: usize,
    completion_tokens: usize,
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

    fn send(&self, body: &Value) -> Result<Bytes, String> {
        let request = HttpRequest::builder().method(Method::POST).uri(self.uri.clone());
        let request =
            request.header(CONTENT_TYPE, "application/json").body(Bytes::from(body.to_string()));
        let request = request.map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let answer = runtime.map_err(|error| error.to_string())?.block_on(async {
            tokio::time::timeout(self.limit, exchange(request, LONGEST_ANSWER)).await
        });
        let answer = answer.map_err(|_| {
            format!("{} did not answer within {} s", self.uri, self.limit.as_secs())
        })?;
        let answer = answer.map_err(|error| format!("{} cannot be reached: {error}", self.uri))?;
        if answer.status().is_success() {
            return Ok(answer.into_body());
        }
        let told: String = String::from_utf8_lossy(answer.body()).chars().take(200).collect();
        Err(format!("{} answers {}: {told}", self.uri, answer.status()))
    }
}

impl Model for Address {
    fn answer(&self, request: &Request) -> Result<Reply, String> {
        let body = self.send(&body_of(request, &self.model))?;
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| format!("{} answers with no chat completion: {error}", self.uri))?;
        let said = answer.choices.into_iter().next().ok_or("the answer has no choice")?.message;
        let calls = said.tool_calls.unwrap_or_default().into_iter().map(|call| Call {
            name: call.function.name,
            arguments: match call.function.arguments {
                Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
                object => object,
            },
        });
        let usage = |counted: Counted| Usage {
            input: counted.prompt_tokens,
            output: counted.completion_tokens,
        };
        let tokens = answer.usage.map(usage);
        Ok(Reply { text: said.content.unwrap_or_default(), calls: calls.collect(), tokens })
    }
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
                    let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
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
