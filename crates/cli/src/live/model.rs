//! A fake model on the loopback that speaks the four protocols of these agents and records the
//! requests. It answers with a sentence, or obeys orders in the message: `[[call TOOL
//! FIELD=VALUE]]` calls a tool once, `[[tokens N]]` claims once that the context has this length.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Value, json};

use super::protocol::{Answer, Protocol, TOKENS};

/// The server; it ends with the process.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    asked: Arc<Mutex<Asked>>,
}

/// The recorded requests.
#[derive(Debug, Default)]
struct Asked {
    requests: Vec<Value>,
    /// The context lengths claimed so far. Each is claimed only once: an agent that shortens a
    /// conversation may send the message with the order again, and would never finish.
    claims: BTreeSet<u64>,
}

impl Model {
    /// Starts the server on any free port.
    pub(crate) fn start() -> io::Result<Model> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Asked::default()));
        let shared = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let asked = Arc::clone(&shared);
                thread::spawn(move || serve(&stream, &asked));
            }
        });
        Ok(Model { address, asked })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        lock(&self.asked).requests.clone()
    }

    /// Returns the last request, after the first `n_before`, in which an agent sent `message`;
    /// other requests make a title, or choose a model.
    pub(crate) fn request(&self, n_before: usize, message: &str) -> Option<Value> {
        let quoted = json!(message).to_string();
        let quoted = quoted.trim_matches('"').to_owned();
        let is_of_agent = |request: &Value| {
            let has_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
            has_tools && request.to_string().contains(&quoted)
        };
        self.requests().into_iter().skip(n_before).rfind(is_of_agent)
    }
}

fn lock(asked: &Mutex<Asked>) -> MutexGuard<'_, Asked> {
    asked.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers the requests of one connection, until it ends.
fn serve(stream: &TcpStream, asked: &Mutex<Asked>) {
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = read(&mut reader) {
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let (kind, text) = answer(&path, &body, &mut lock(asked).claims);
        if body.is_object() {
            lock(asked).requests.push(body);
        }
        let mut stream = stream;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}", text.len());
        if write!(stream, "{head}\r\n\r\n{text}").is_err() {
            return;
        }
    }
}

/// Reads the path and the body of a request; `None` when the connection ends.
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

/// Returns the content type and the text of an answer.
fn answer(path: &str, body: &Value, claims: &mut BTreeSet<u64>) -> (&'static str, String) {
    let path = path.split('?').next().unwrap_or_default();
    let Some(protocol) = Protocol::of(path) else {
        let other = match path {
            _ if path.ends_with("/count_tokens") => json!({"input_tokens": 1000}),
            _ if path.contains(":countTokens") => json!({"totalTokens": 1000}),
            _ => json!({"object": "list", "data": [], "models": []}),
        };
        return ("application/json", other.to_string());
    };
    let tokens = protocol.claimed(body).filter(|claimed| claims.insert(*claimed));
    let Answer { whole, events } = protocol.answer(body, tokens.unwrap_or(TOKENS));
    let is_streamed = body["stream"] == true || path.contains(":stream");
    if !is_streamed {
        return ("application/json", whole.to_string());
    }
    let event = |event: &Value| {
        let name = event["type"].as_str().map(|name| format!("event: {name}\n"));
        format!("{}data: {event}\n\n", name.unwrap_or_default())
    };
    ("text/event-stream", events.iter().map(event).collect())
}
