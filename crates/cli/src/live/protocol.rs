//! The four protocols of models: reading the request, and writing the answer.

use serde_json::{Value, json};

/// The answer of the model if it is not told to call a tool.
pub(crate) const SENTENCE: &str = "So be it.";

/// The length of the context, in tokens, if no message claims another.
pub(crate) const TOKENS: u64 = 1000;

/// The form of requests and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `OpenAI`'s Responses API.
    Responses,
    /// `OpenAI`'s Chat Completions API.
    Completions,
    /// Anthropic's Messages API.
    Messages,
    /// Google's `generateContent`.
    Contents,
}

/// An answer as one document, and as the events of a stream.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) whole: Value,
    pub(crate) events: Vec<Value>,
}

/// A tool call that the message orders.
#[derive(Debug, PartialEq)]
struct Call {
    tool: String,
    /// The tool's namespace, in protocols that have one.
    namespace: Option<String>,
    arguments: Value,
    kind: Kind,
}

/// The way a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As a function, with JSON.
    Function,
    /// As a custom tool, with a text, in `OpenAI`'s Responses API.
    Custom,
    /// As the search for tools that Codex defers: later requests offer the tools that it finds.
    Search,
}

/// The orders in a conversation.
#[derive(Debug)]
struct Orders {
    call: Option<Call>,
    /// The length of the context that the last message claims, in tokens.
    tokens: Option<u64>,
}

impl Protocol {
    /// Returns the protocol of a request to `path`.
    pub(crate) fn of(path: &str) -> Option<Protocol> {
        match path {
            _ if path.ends_with("/responses") => Some(Protocol::Responses),
            _ if path.ends_with("/chat/completions") => Some(Protocol::Completions),
            _ if path.ends_with("/messages") => Some(Protocol::Messages),
            _ if path.contains("enerateContent") => Some(Protocol::Contents),
            _ => None,
        }
    }

    /// Returns the names of the tools that a request offers.
    pub(crate) fn tools(body: &Value) -> Vec<String> {
        offered(body).into_iter().map(|tool| tool.name).collect()
    }

    /// Returns the length of the context that the last message of `body` claims, in tokens. A
    /// request without tools makes a title, or chooses a model.
    pub(crate) fn claimed(self, body: &Value) -> Option<u64> {
        self.orders(body).tokens.filter(|_| !offered(body).is_empty())
    }

    /// Returns the answer to `body`, which claims a context of `tokens` tokens.
    pub(crate) fn answer(self, body: &Value, tokens: u64) -> Answer {
        let call = self.orders(body).call;
        let call = call.as_ref();
        match self {
            Protocol::Responses => responses(body, call, tokens),
            Protocol::Completions => completions(body, call, tokens),
            Protocol::Messages => messages(body, call, tokens),
            Protocol::Contents => contents(body, call, tokens),
        }
    }

    /// Returns the last call that the user orders and no tool has answered, and the last message's
    /// claim.
    fn orders(self, body: &Value) -> Orders {
        let (items, parts) = match self {
            Protocol::Responses => ("input", "content"),
            Protocol::Completions | Protocol::Messages => ("messages", "content"),
            Protocol::Contents => ("contents", "parts"),
        };
        let mut order = None;
        let mut tokens = None;
        for item in body[items].as_array().into_iter().flatten() {
            let single = [json!({"text": item[parts]})];
            let parts = item[parts].as_array().map_or(&single[..], Vec::as_slice);
            let is_result = |value: &Value| {
                let kind = value["type"].as_str().unwrap_or_default();
                kind.ends_with("call_output")
                    || kind == "tool_result"
                    || value.get("functionResponse").is_some()
            };
            if is_result(item) || item["role"] == "tool" || parts.iter().any(is_result) {
                order = None;
            }
            if item["role"] != "user" {
                continue;
            }
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            order = texts.clone().filter_map(|text| ordered(text, "call")).next_back().or(order);
            // A later message, such as the request for a summary, makes no claim: its context counts
            // as short again.
            tokens = texts.filter_map(|text| ordered(text, "tokens")?.parse().ok()).next_back();
        }
        Orders { call: order.and_then(|order| call(&order, body)), tokens }
    }
}

/// Returns the text between `[[name ` and `]]` of the last such order in `text`.
fn ordered(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once(&format!("[[{name} "))?;
    Some(rest.split_once("]]")?.0.to_owned())
}

/// A tool of a request.
#[derive(Debug)]
struct Tool {
    name: String,
    namespace: Option<String>,
    kind: Kind,
}

/// Returns the tools of a request, whatever its protocol.
fn offered(body: &Value) -> Vec<Tool> {
    let mut tools = Vec::new();
    let later = body["input"].as_array().into_iter().flatten().map(|item| &item["tools"]);
    let lists = [&body["tools"]].into_iter().chain(later).filter_map(Value::as_array);
    for tool in lists.flatten() {
        let namespace = tool["name"].as_str().filter(|_| tool["type"] == "namespace");
        let inner = tool["tools"].as_array().or(tool["functionDeclarations"].as_array());
        let single = std::slice::from_ref(tool);
        for tool in inner.map_or(single, Vec::as_slice) {
            let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
            tools.extend(name.map(|name| Tool {
                name: name.to_owned(),
                namespace: namespace.map(str::to_owned),
                kind: if tool["type"] == "custom" { Kind::Custom } else { Kind::Function },
            }));
        }
    }
    tools
}

/// Resolves an order to a call of the first tool whose name ends with the ordered one. An order
/// contains no quotation marks, since some agents put a backslash before them.
fn call(order: &str, body: &Value) -> Option<Call> {
    let (name, argument) = order.split_once(' ')?;
    let (field, value) = argument.split_once('=')?;
    if let Some(tool) = offered(body).into_iter().find(|tool| tool.name.ends_with(name)) {
        let arguments = json!({field: value});
        return Some(Call {
            tool: tool.name,
            namespace: tool.namespace,
            arguments,
            kind: tool.kind,
        });
    }
    let has = |list: &str, kind: &str| {
        body[list].as_array().is_some_and(|items| items.iter().any(|item| item["type"] == kind))
    };
    let may_search = has("tools", "tool_search") && !has("input", "tool_search_output");
    may_search.then(|| Call {
        tool: "tool_search".to_owned(),
        namespace: None,
        arguments: json!({"query": name}),
        kind: Kind::Search,
    })
}

fn responses(body: &Value, call: Option<&Call>, tokens: u64) -> Answer {
    let mut item = match call {
        None => json!({
            "type": "message", "id": "msg", "role": "assistant",
            "content": [{"type": "output_text", "text": SENTENCE, "annotations": []}],
        }),
        Some(Call { tool, arguments, kind, .. }) => match kind {
            Kind::Function => json!({
                "type": "function_call", "id": "fc", "call_id": "call", "name": tool,
                "arguments": arguments.to_string(),
            }),
            Kind::Custom => json!({
                "type": "custom_tool_call", "id": "ctc", "call_id": "call", "name": tool,
                "input": arguments["input"],
            }),
            Kind::Search => json!({
                "type": "tool_search_call", "id": "tsc", "call_id": "search",
                "execution": "client", "arguments": arguments,
            }),
        },
    };
    item["status"] = "completed".into();
    if let Some(namespace) = call.and_then(|call| call.namespace.as_ref()) {
        item["namespace"] = namespace.clone().into();
    }
    let usage = json!({
        "input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 5,
    });
    let whole = json!({
        "id": "resp", "object": "response", "created_at": 0, "status": "completed",
        "model": body["model"], "output": [item], "usage": usage,
    });
    let events = vec![
        json!({"type": "response.created", "response": {"id": "resp", "status": "in_progress"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": whole}),
    ];
    Answer { whole, events }
}

fn completions(body: &Value, call: Option<&Call>, tokens: u64) -> Answer {
    let (message, reason) = match call {
        None => (json!({"role": "assistant", "content": SENTENCE}), "stop"),
        Some(Call { tool, arguments, .. }) => {
            let function = json!({"name": tool, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": "call", "type": "function", "function": function});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage =
        json!({"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5});
    let of = |object: &str, choices: Value| {
        json!({"id": "chat", "created": 0, "model": body["model"], "object": object,
               "choices": choices, "usage": usage})
    };
    let choice = json!([{"index": 0, "message": message, "finish_reason": reason}]);
    let delta = |delta: &Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let chunk = |choices| of("chat.completion.chunk", choices);
    let events = vec![chunk(delta(&message, Value::Null)), chunk(delta(&json!({}), json!(reason)))];
    Answer { whole: of("chat.completion", choice), events }
}

fn messages(body: &Value, call: Option<&Call>, tokens: u64) -> Answer {
    let usage = json!({"input_tokens": tokens, "output_tokens": 5});
    let of = |content: Value, reason: Value| {
        json!({"id": "msg", "type": "message", "role": "assistant", "model": body["model"],
               "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage})
    };
    let (block, begun, delta, reason) = match call {
        None => (
            json!({"type": "text", "text": SENTENCE}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": SENTENCE}),
            "end_turn",
        ),
        Some(Call { tool, arguments, .. }) => {
            let id = format!("toolu_{}", body["messages"].as_array().map_or(0, Vec::len));
            (
                json!({"type": "tool_use", "id": id, "name": tool, "input": arguments}),
                json!({"type": "tool_use", "id": id, "name": tool, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": arguments.to_string()}),
                "tool_use",
            )
        }
    };
    let end = json!({"stop_reason": reason, "stop_sequence": null});
    let events = vec![
        json!({"type": "message_start", "message": of(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": begun}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    Answer { whole: of(json!([block]), json!(reason)), events }
}

/// Returns an answer of Google's `generateContent`. If JSON is requested, the answer is the choice of
/// a model.
fn contents(body: &Value, call: Option<&Call>, tokens: u64) -> Answer {
    let is_json = body["generationConfig"]["responseMimeType"] == "application/json";
    let choice = json!({"reasoning": "x", "model_choice": "flash", "complexity_reasoning": "x",
                        "complexity_score": 1, "next_speaker": "user"});
    let part = match call {
        Some(Call { tool, arguments, .. }) => {
            json!({"functionCall": {"name": tool, "args": arguments}})
        }
        None if is_json => json!({"text": choice.to_string()}),
        None => json!({"text": SENTENCE}),
    };
    let content = json!({"role": "model", "parts": [part]});
    let usage = json!({
        "promptTokenCount": tokens, "candidatesTokenCount": 5, "totalTokenCount": tokens + 5,
    });
    let whole = json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage, "modelVersion": "one",
    });
    Answer { events: vec![whole.clone()], whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_obeyed_once_in_every_protocol() {
        let order = "go [[call read path=a]] on [[tokens 7]]";
        let asked = json!({"role": "user", "content": order, "parts": [{"text": order}]});
        for (protocol, field, tools, result) in [
            (
                Protocol::Responses,
                "input",
                json!([{"type": "function", "name": "x_read"}]),
                json!({"type": "function_call_output", "output": "a"}),
            ),
            (
                Protocol::Completions,
                "messages",
                json!([{"type": "function", "function": {"name": "x_read"}}]),
                json!({"role": "tool", "content": "a"}),
            ),
            (
                Protocol::Messages,
                "messages",
                json!([{"name": "x_read"}]),
                json!({"role": "user", "content": [{"type": "tool_result"}]}),
            ),
            (
                Protocol::Contents,
                "contents",
                json!([{"functionDeclarations": [{"name": "x_read"}]}]),
                json!({"role": "user", "parts": [{"functionResponse": {}}]}),
            ),
        ] {
            let body = |items: Value| json!({field: items, "tools": tools});
            let orders = protocol.orders(&body(json!([asked])));
            assert_eq!(orders.tokens, Some(7), "{protocol:?}");
            let call = orders.call.unwrap();
            assert_eq!((&*call.tool, call.arguments), ("x_read", json!({"path": "a"})));
            let answered = protocol.orders(&body(json!([asked, result])));
            assert_eq!(answered.call, None, "{protocol:?}");
            assert_eq!(Protocol::tools(&body(json!([]))), ["x_read"]);
        }
    }
}
