//! `repertoire lsp`: a language server for authors of skills, over standard input and output. It reports
//! findings with fixes, completes fields, tools and ids, and shows the messages that bring a skill.

mod completion;
mod findings;
mod hover;
mod position;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_server::{Connection, Message, Notification, Request, Response};
use percent_encoding::percent_decode_str;
use repertoire::catalog::is_skill_file;
use serde_json::{Value as Json, json};

use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::setup;

/// The error code of the protocol for a request that the server does not know.
const METHOD_NOT_FOUND: i32 = -32601;

pub(crate) fn run(common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    out.note_to_typist(
        "an editor starts this server, and speaks the Language Server Protocol to it; Ctrl-C ends it",
    );
    let (connection, threads) = Connection::stdio();
    connection.initialize(json!({
        // 1: the editor sends the whole text with each change.
        "textDocumentSync": {"openClose": true, "change": 1},
        "completionProvider": {"triggerCharacters": [":", " ", "-"]},
        "hoverProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
    }))?;
    let mut server = Server { common, ids: ids(common), texts: BTreeMap::new() };
    for message in &connection.receiver {
        let answer = match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    break;
                }
                Some(server.answer(&request).into())
            }
            Message::Notification(told) => server.hear(&told).map(Message::from),
            Message::Response(_) => None,
        };
        if let Some(answer) = answer {
            connection.sender.send(answer)?;
        }
    }
    // The thread that writes ends once nobody can send to it.
    drop(connection);
    threads.join()?;
    Ok(ExitCode::Done)
}

/// Returns the ids of all skills here; none if they cannot be read.
fn ids(common: &Common) -> Vec<String> {
    let engine = setup::engine(common, |builder| builder);
    let ids = |engine: repertoire::Engine| {
        engine.catalog().entries().map(|entry| entry.id.to_string()).collect()
    };
    engine.map(ids).unwrap_or_default()
}

struct Server<'c> {
    common: &'c Common,
    /// The ids of all skills.
    ids: Vec<String>,
    /// The open skill files, by their URI.
    texts: BTreeMap<String, String>,
}

impl Server<'_> {
    fn answer(&self, Request { id, method, params }: &Request) -> Response {
        let text = params["textDocument"]["uri"].as_str().and_then(|uri| self.texts.get(uri));
        let at = |text: &str| position::offset(text, &params["position"]);
        let result = match (method.as_str(), text) {
            ("textDocument/completion", Some(text)) => completion::items(text, at(text), &self.ids),
            ("textDocument/hover", Some(text)) => hover::of(text, at(text), &self.common.brand),
            ("textDocument/codeAction", Some(text)) => {
                let [start, end] = ["start", "end"].map(|of| &params["range"][of]);
                let asked = position::offset(text, start)..position::offset(text, end);
                findings::fixes(&params["textDocument"]["uri"], text, &asked)
            }
            ("textDocument/completion" | "textDocument/codeAction", None) => json!([]),
            ("textDocument/hover", None) => Json::Null,
            _ => {
                let message = format!("`{method}` is not supported");
                return Response::new_err(id.clone(), METHOD_NOT_FOUND, message);
            }
        };
        Response::new_ok(id.clone(), result)
    }

    /// Takes up a text of the editor, and returns the findings about it.
    fn hear(&mut self, Notification { method, params }: &Notification) -> Option<Notification> {
        let uri = params["textDocument"]["uri"].as_str()?;
        let path = path_of(uri).filter(|path| path.file_name().is_some_and(is_skill_file))?;
        let text = match method.as_str() {
            "textDocument/didOpen" => params["textDocument"]["text"].as_str()?,
            "textDocument/didChange" => {
                params["contentChanges"].as_array()?.last()?["text"].as_str()?
            }
            "textDocument/didClose" => {
                self.texts.remove(uri);
                return Some(publish(uri, &json!([])));
            }
            _ => return None,
        };
        let found = findings::of(&path, text, &self.common.brand);
        self.texts.insert(uri.to_owned(), text.to_owned());
        Some(publish(uri, &found))
    }
}

fn publish(uri: &str, found: &Json) -> Notification {
    let params = json!({"uri": uri, "diagnostics": found});
    Notification::new("textDocument/publishDiagnostics".to_owned(), params)
}

/// Returns the path that a `file:` URI names.
fn path_of(uri: &str) -> Option<PathBuf> {
    let path = percent_decode_str(uri.strip_prefix("file://")?).decode_utf8().ok()?;
    // On Windows, a slash comes before the drive.
    let path = if cfg!(windows) { path.trim_start_matches('/') } else { &*path };
    Some(Path::new(path).to_owned())
}
