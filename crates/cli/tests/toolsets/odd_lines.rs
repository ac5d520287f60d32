//! Lines of MCP servers that are odd and still messages, and lines that are not: read alike from a server of
//! tools, from a server of skills that is a program, and from one over HTTP.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::json;

use crate::binary::{Place, Run};

/// A server of a tool and of a skill. It answers the calls that matter with the line that it finds in a file
/// beside it, in which `ID` and `RESULT` stand for the id of the request and for the result.
const SERVER: &str = r#"
import base64, hashlib, http.server, json, os, sys

BESIDE = os.path.dirname(os.path.abspath(__file__))
LINE = open(os.path.join(BESIDE, "line.txt"), "rb").read()
SKILL = "---\nname: odd\ndescription: Does odd things.\n---\nThe body.\n"

def result(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "serverInfo": {"name": "odd", "version": "1"},
                "capabilities": {"tools": {}, "resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}}}
    if method == "tools/list":
        return {"tools": [{"name": "say", "description": "Says.", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": "said"}]}
    if method == "skills/list":
        digest = "sha256:" + hashlib.sha256(SKILL.encode()).hexdigest()
        return {"ttlMs": 0, "skills": [{"uri": "skill://odd/SKILL.md", "frontmatter": {"name": "odd", "description": "Does odd things."},
                "resources": [{"uri": "skill://odd/SKILL.md", "digest": digest, "size": len(SKILL)}]}]}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": SKILL}]}

def answer(message):
    method, id = message.get("method"), message.get("id")
    if id is None:
        return b""
    found = result(method, message.get("params") or {})
    if found is None:
        return json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}).encode()
    if method in ("tools/call", "skills/list"):
        return LINE.replace(b"ID", json.dumps(id).encode()).replace(b"RESULT", json.dumps(found).encode()[1:-1])
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": found}).encode()

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_POST(self):
        said = answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200 if said else 202)
        if self.server.events and said:
            self.send_header("content-type", "text/event-stream")
            said = b"".join(b"data: " + line + b"\n\n" for line in said.splitlines())
        else:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def do_GET(self): self.send_error(405)
    def do_DELETE(self): self.send_error(405)

if sys.argv[1:2] == ["http"]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.events = sys.argv[2] == "events"
    print(server.server_port, flush=True)
    server.serve_forever()
for line in sys.stdin:
    said = answer(json.loads(line))
    if said:
        sys.stdout.buffer.write(said + b"\n")
        sys.stdout.buffer.flush()
"#;

/// Lines that are read, in spite of what is odd about them.
const MESSAGES: [(&str, &[u8]); 6] = [
    ("as usual", br#"{"jsonrpc": "2.0", "id": ID, "result": {RESULT}}"#),
    ("a byte order mark", b"\xef\xbb\xbf{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {RESULT}}"),
    (
        "half of a surrogate pair",
        br#"{"jsonrpc": "2.0", "id": ID, "result": {RESULT, "_meta": {"a": "\ud83d"}}}"#,
    ),
    ("blanks", b"  \t{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {RESULT}}  \r"),
    ("unknown fields", br#"{"jsonrpc": "2.0", "id": ID, "x": 1, "result": {RESULT, "y": 2}}"#),
    ("the result first", br#"{"result": {RESULT}, "id": ID, "jsonrpc": "2.0"}"#),
];

/// Lines before the answer that need no answer and end nothing.
const BEFORE: [(&str, &[u8]); 3] = [
    ("an unknown notification", br#"{"jsonrpc": "2.0", "method": "notifications/odd"}"#),
    (
        "an unknown notification with half of a surrogate pair",
        br#"{"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": "\udc00"}}"#,
    ),
    ("an empty line", b" \t\r"),
];

/// Lines that are not messages, and what the error shows of them.
const STRAYS: [(&str, &[u8], &str); 9] = [
    ("words", b"Segmentation fault", "`Segmentation fault`"),
    ("invisible characters", "\u{1b}[2J\u{202e}".as_bytes(), "`\\u{1b}[2J\\u{202e}`"),
    ("no UTF-8", b"\xff\xfe", "`\u{fffd}\u{fffd}`"),
    ("a line that is cut", br#"{"jsonrpc": "2.0", "id": ID, "resu"#, "`{\\\"jsonrpc\\\""),
    ("no version", br#"{"id": ID, "result": {RESULT}}"#, "`{\\\"id\\\""),
    ("no result", br#"{"jsonrpc": "2.0", "id": ID}"#, "`{\\\"jsonrpc\\\""),
    ("an id that is a text", br#"{"jsonrpc": "2.0", "id": "ID", "result": {RESULT}}"#, "`{\\\"j"),
    ("an id of no request", br#"{"jsonrpc": "2.0", "id": 99, "result": {RESULT}}"#, "`{\\\"j"),
    ("a batch", br#"[{"jsonrpc": "2.0", "id": ID, "result": {RESULT}}]"#, "`[{\\\"j"),
];

/// The channel through which a server is read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Tool,
    Source,
    Http(&'static str),
}

/// A server over HTTP.
struct Http(Child, String);

impl Http {
    fn start(place: &Place, kind: &str) -> Http {
        let mut server = std::process::Command::new("/usr/bin/python3");
        server.arg(place.path().join("skills/odd/server.py")).args(["http", kind]);
        let mut child = server.stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Http(child, format!("mcp+http://127.0.0.1:{}/mcp", port.trim()))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Lets a server answer with `line`, and asks it.
fn ask(way: Way, line: &[u8]) -> Run {
    let place = Place::new();
    let head = json!({"name": "odd", "description": "Odd.", "toolsets": ["server.py:mcp"]});
    place.write("skills/odd/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write("skills/odd/server.py", format!("#!/usr/bin/python3\n{SERVER}"));
    place.write("skills/odd/line.txt", line);
    match way {
        Way::Tool => {
            place.run(["trust", "add", "--yes", "skills/odd", "--source", "skills"]).exits(0);
            place.run(["tool", "call", "odd.say", "{}", "--source", "skills"])
        }
        Way::Source => {
            let server = place.path().join("skills/odd/server.py");
            let add = ["add", "mcp:", "--name", "far", "--", "/usr/bin/python3"];
            place.run(add.into_iter().chain([server.to_str().unwrap()]))
        }
        Way::Http(kind) => {
            let server = Http::start(&place, kind);
            place.run(["add", &server.1, "--name", "far"])
        }
    }
}

#[test]
fn every_client_reads_the_same_lines_of_a_server() {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`");
        return;
    }
    let ways = [Way::Tool, Way::Source, Way::Http("json"), Way::Http("events")];
    let usual = MESSAGES[0].1;
    let mut wrong = Vec::new();
    for way in ways {
        // An answer over HTTP that is JSON has no lines, and is one message.
        let before = BEFORE.iter().filter(|_| way != Way::Http("json"));
        let before = before.map(|(name, line)| (*name, [line, &b"\n"[..], usual].concat()));
        let messages = MESSAGES.iter().map(|(name, line)| (*name, line.to_vec()));
        for (name, line) in messages.chain(before) {
            let run = ask(way, &line);
            if run.code != 0 {
                wrong.push(format!("{way:?}, {name}: {run:?}"));
            }
        }
        for (name, line, shown) in STRAYS {
            let run = ask(way, line);
            let told = format!("{}{}", run.stdout, run.stderr);
            if run.code != 1
                || !told.contains(&shown.replace("\\\"", "\"")) && !told.contains(shown)
            {
                wrong.push(format!("{way:?}, {name}: {run:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n\n"));
}
