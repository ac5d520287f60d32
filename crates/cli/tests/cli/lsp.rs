//! The language server for authors, asked by a client that speaks the protocol over standard streams, and
//! by Neovim.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::binary::Place;

/// A file with a value that is not valid YAML, and an everyday keyword.
const FAULTY: &str =
    "---\nname: notes\ndescription: Notes: of releases\ntriggers: [code]\n---\nWrite notes.\n";
const GOOD: &str = "---\nname: notes\ndescription: Drafts release notes.\nallowed-tools: Re\n\
                    examples:\n  should: [draft the release notes]\ntriggers: [release notes]\n---\nWrite.\n";

/// A client and the server it started.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    n_requests: u64,
}

impl Client {
    /// Starts the server, and opens a skill with `text`.
    fn open(place: &Place, text: &str) -> (Client, Value) {
        let mut command = place.command(["lsp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let path = place.path().join("skills/my%20notes/SKILL.md");
        let uri = format!("file://{}", path.display());
        let output = BufReader::new(output);
        let mut client = Client { server, input, output, uri, n_requests: 0 };
        let can = client.ask("initialize", &json!({"capabilities": {}, "processId": null}));
        assert_eq!(can["capabilities"]["hoverProvider"], true, "{can}");
        client.tell("initialized", &json!({}));
        let item = json!({"uri": client.uri, "languageId": "markdown", "version": 1, "text": text});
        client.tell("textDocument/didOpen", &json!({"textDocument": item}));
        let found = client.read();
        (client, found["params"]["diagnostics"].clone())
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.n_requests += 1;
        let id = self.n_requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        if answer["error"].is_null() { answer["result"].clone() } else { answer["error"].clone() }
    }

    fn ask_at(&mut self, method: &str, line: u64, character: u64) -> Value {
        let uri = self.uri.clone();
        let position = json!({"line": line, "character": character});
        let range = json!({"start": position, "end": position});
        let document = json!({"uri": uri});
        self.ask(method, &json!({"textDocument": document, "position": position, "range": range}))
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(n) => length = n.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn close(mut self) {
        assert_eq!(self.ask("shutdown", &Value::Null), Value::Null);
        self.tell("exit", &Value::Null);
        assert!(self.server.wait().unwrap().success());
    }
}

fn codes(found: &Value) -> Vec<&str> {
    found.as_array().unwrap().iter().map(|of| of["code"].as_str().unwrap()).collect()
}

fn labels(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|of| of["label"].as_str().unwrap()).collect()
}

#[test]
fn findings_come_while_a_text_is_written_and_go_when_it_is_right() {
    let place = Place::new();
    let (mut client, found) = Client::open(&place, FAULTY);
    assert!(codes(&found).contains(&"repaired-yaml"), "{found}");
    let generic = found.as_array().unwrap().iter().find(|of| of["code"] == "generic-trigger");
    let generic = generic.unwrap_or_else(|| panic!("{found}"));
    assert_eq!(generic["range"]["start"], json!({"line": 3, "character": 11}));
    let fixes = client.ask_at("textDocument/codeAction", 2, 0);
    assert_eq!(client.ask_at("textDocument/codeAction", 0, 0), json!([]));
    let edit = &fixes[0]["edit"]["changes"][&client.uri][0];
    assert_eq!(edit["range"]["start"]["line"], 2, "{fixes}");
    assert!(edit["newText"].as_str().unwrap().contains("'Notes: of releases'"), "{fixes}");

    let item = json!({"uri": client.uri, "version": 2});
    let changed = json!({"textDocument": item, "contentChanges": [{"text": GOOD}]});
    client.tell("textDocument/didChange", &changed);
    let found = client.read()["params"]["diagnostics"].clone();
    let left = codes(&found);
    assert!(!left.contains(&"generic-trigger") && !left.contains(&"repaired-yaml"), "{found}");
    assert_eq!(client.ask_at("textDocument/codeAction", 2, 0), json!([]));
    let item = json!({"uri": client.uri});
    client.tell("textDocument/didClose", &json!({"textDocument": item}));
    assert_eq!(client.read()["params"]["diagnostics"], json!([]));
    client.close();
}

#[test]
fn fields_tools_and_ids_are_completed() {
    let place = Place::new();
    place.write("home/.repertoire/skills/other/SKILL.md", "---\ndescription: Other.\n---\nX\n");
    let text =
        "---\nname: notes\nde\nallowed-tools: \nrequires_skills: \ntriggers:\n  k\n---\nBody\n";
    let (mut client, _) = Client::open(&place, text);
    for (line, character, wanted) in
        [(2, 2, "description"), (3, 15, "Read"), (4, 17, "other"), (6, 3, "keywords")]
    {
        let items = client.ask_at("textDocument/completion", line, character);
        assert!(labels(&items).contains(&wanted), "{wanted}: {items}");
    }
    let fields = client.ask_at("textDocument/completion", 6, 3);
    assert!(!labels(&fields).contains(&"description"), "{fields}");
    assert_eq!(client.ask_at("textDocument/completion", 8, 2), json!([]));
    client.close();
}

#[test]
fn the_messages_that_bring_the_skill_are_shown_over_its_front_matter() {
    let place = Place::new();
    let (mut client, _) = Client::open(&place, GOOD);
    let told = client.ask_at("textDocument/hover", 1, 2).to_string();
    for message in ["draft the release notes", "release notes", "use the notes skill"] {
        assert!(told.contains(&format!("- {message}")), "{message}: {told}");
    }
    assert!(!told.contains("not in full"), "{told}");
    assert_eq!(client.ask_at("textDocument/hover", 8, 1), Value::Null);
    // What the server does not know is an answer, not its end.
    assert_eq!(client.ask_at("textDocument/rename", 1, 1)["code"], -32601);
    client.close();
}

#[test]
fn neovim_shows_the_findings() {
    let nvim = std::env::var("NVIM_PROGRAM").unwrap_or_else(|_| "nvim".to_owned());
    if Command::new(&nvim).arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no Neovim (`nvim`, or `NVIM_PROGRAM`)");
        return;
    }
    let place = Place::new();
    place.write("skills/notes/SKILL.md", FAULTY);
    place.write("init.lua", include_str!("../fixtures/lsp.lua"));
    let mut command = Command::new(nvim);
    command.args(["--headless", "--clean", "-u", "init.lua", "skills/notes/SKILL.md"]);
    command.current_dir(place.path()).env("HOME", place.path().join("home"));
    command.env("REPERTOIRE", env!("CARGO_BIN_EXE_repertoire"));
    let ran = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    for wanted in ["generic-trigger", "repaired-yaml", "hover: Messages that bring"] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
}
