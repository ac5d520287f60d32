//! An MCP server in a skill that says what a test wrote into files beside it: its tools, and its answers.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{self, Place, Run};

/// The skill of the server.
pub(crate) const SKILL: &str = "skills/told";

/// A server that reads its tools and the lines of its answers from files. `ID` stands for the id of the
/// request.
const SERVER: &str = r#"#!/usr/bin/python3
import json, os, sys, time

def said(name):
    try:
        return open(os.path.join("PLACE", name)).read()
    except FileNotFoundError:
        return ""

def print_raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()

def send(message):
    print_raw(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

print_raw(said("greeting"))
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    lines = said(method.replace("/", "-")) if method else ""
    if lines == "close":
        os.close(1)
        time.sleep(600)
    elif lines:
        print_raw(lines.replace("ID", str(message["id"])))
    elif method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": params["protocolVersion"],
              "capabilities": {"tools": {}}, "serverInfo": {"name": "told", "version": "1"}}})
    elif method == "tools/list":
        send({"id": message["id"], "result": {"tools": json.loads(said("tools.json"))}})
    elif method == "tools/call":
        send({"id": message["id"], "result": {"content": [{"type": "text", "text": said("text") or "done"}]}})
"#;

/// A tool as a server describes it.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

/// Creates a place with the server as a skill of a project; `None` without Python.
pub(crate) fn place(tools: &Value) -> Option<Place> {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`");
        return None;
    }
    let place = Place::new();
    let said = place.path().canonicalize().unwrap().join("said");
    let rights = json!({"read": [said]});
    let head = json!({"name": "told", "description": "Tells.",
        "toolsets": [{"class": "tools/server.py:mcp", "rights": rights}]});
    place.write("skills/told/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    let server = SERVER.replace("PLACE", said.to_str().unwrap());
    place.write("skills/told/tools/server.py", server);
    say(&place, "tools.json", &tools.to_string());
    Some(place)
}

/// Sets what the server says: its `tools.json`, its `text`, its `greeting`, or its lines for a method.
pub(crate) fn say(place: &Place, name: &str, text: &str) {
    place.write(&format!("said/{name}"), text);
}

pub(crate) fn run(place: &Place, args: &[&str]) -> Run {
    let mut command = place.command(args);
    command.args(["--source", "skills"]);
    binary::finish(command, b"")
}

/// Trusts the server.
pub(crate) fn trust(place: &Place) -> Run {
    run(place, &["trust", "add", SKILL, "--yes"]).exits(0)
}

pub(crate) fn call(place: &Place, name: &str) -> Value {
    run(place, &["tool", "call", name, "{}", "--json"]).json()
}
