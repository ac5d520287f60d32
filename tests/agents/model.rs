//! A model on the loopback that speaks the four protocols of these agents, answers everything with
//! the same sentence, and keeps what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

const ANSWER: &str = "So be it.";

/// The server; it ends with the process.
pub(crate) struct Model {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    pub(crate) fn start() -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || serve(&stream, &kept));
            }
        });
        Model { address, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// Answers the requests of one connection, until it ends.
fn serve(stream: &TcpStream, kept: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = read(&mut reader) {
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (kind, text) = answer(&path, &body);
        if body.is_object() {
            kept.lock().unwrap().push(body);
        }
        let mut stream = stream;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}", text.len());
        if write!(stream, "{head}\r\n\r\n{text}").is_err() {
            return;
        }
    }
}

/// The path and the body of a request; `None` where the connection ends.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n_bytes| *n_bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match &*name.to_ascii_lowercase() {
            "content-length" => length = value.trim().parse().ok()?,
            "transfer-encoding" => is_chunked = value.contains("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    while is_chunked {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = u64::from_str_radix(size.trim(), 16).ok()?;
        reader.by_ref().take(size).read_to_end(&mut body).ok()?;
        reader.read_line(&mut String::new()).ok()?;
        is_chunked = size > 0;
    }
    reader.by_ref().take(length).read_to_end(&mut body).ok()?;
    Some((path, body))
}

/// The content type and the text of an answer.
fn answer(path: &str, body: &Value) -> (&'static str, String) {
    let path = path.split('?').next().unwrap_or_default();
    let is_streamed = body["stream"] == true || path.contains(":stream");
    let (whole, events) = match path {
        _ if path.ends_with("/responses") => responses(body),
        _ if path.ends_with("/chat/completions") => completions(body),
        _ if path.ends_with("/count_tokens") => (json!({"input_tokens": 1000}), Vec::new()),
        _ if path.ends_with("/messages") => messages(body),
        _ if path.contains("enerateContent") => generated(body),
        _ if path.contains(":countTokens") => (json!({"totalTokens": 1000}), Vec::new()),
        _ => (json!({"object": "list", "data": [], "models": []}), Vec::new()),
    };
    if !is_streamed {
        return ("application/json", whole.to_string());
    }
    let event = |event: &Value| {
        let name = event["type"].as_str().map(|name| format!("event: {name}\n"));
        format!("{}data: {event}\n\n", name.unwrap_or_default())
    };
    ("text/event-stream", events.iter().map(event).collect())
}

/// The protocol `responses`.
fn responses(body: &Value) -> (Value, Vec<Value>) {
    let content = json!({"type": "output_text", "text": ANSWER, "annotations": []});
    let item = json!({
        "type": "message", "id": "msg", "role": "assistant", "status": "completed",
        "content": [content],
    });
    let usage = json!({
        "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 1005,
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
    (whole, events)
}

/// The protocol `chat/completions`.
fn completions(body: &Value) -> (Value, Vec<Value>) {
    let message = json!({"role": "assistant", "content": ANSWER});
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 5, "total_tokens": 1005});
    let of = |object: &str, choices: Value| {
        json!({"id": "chat", "created": 0, "model": body["model"], "object": object,
               "choices": choices, "usage": usage})
    };
    let choice = json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
    let delta = |delta: &Value, reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let chunk = |choices| of("chat.completion.chunk", choices);
    let events = vec![chunk(delta(&message, Value::Null)), chunk(delta(&json!({}), json!("stop")))];
    (of("chat.completion", choice), events)
}

/// Anthropic's messages.
fn messages(body: &Value) -> (Value, Vec<Value>) {
    let usage = json!({"input_tokens": 1000, "output_tokens": 5});
    let of = |content: Value, reason: Value| {
        json!({"id": "msg", "type": "message", "role": "assistant", "model": body["model"],
               "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage})
    };
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": ANSWER});
    let end = json!({"stop_reason": "end_turn", "stop_sequence": null});
    let events = vec![
        json!({"type": "message_start", "message": of(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    (of(json!([{"type": "text", "text": ANSWER}]), json!("end_turn")), events)
}

/// Google's `generateContent`; where JSON is asked for, the choice of a model.
fn generated(body: &Value) -> (Value, Vec<Value>) {
    let is_json = body["generationConfig"]["responseMimeType"] == "application/json";
    let choice = json!({"reasoning": "x", "model_choice": "flash", "complexity_reasoning": "x",
                        "complexity_score": 1, "next_speaker": "user"});
    let text = if is_json { choice.to_string() } else { ANSWER.to_owned() };
    let content = json!({"role": "model", "parts": [{"text": text}]});
    let usage =
        json!({"promptTokenCount": 1000, "candidatesTokenCount": 5, "totalTokenCount": 1005});
    let whole = json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": usage, "modelVersion": "one",
    });
    (whole.clone(), vec![whole])
}
