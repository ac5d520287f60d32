//! MCP servers in skills, started by the real binary: tools, trust, limits and failures.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use repertoire::toolset::{
    FilesystemLevel, HostProgram, NetworkLevel, ToolsetOptions, WorkerState,
};
use repertoire::{CallIo, Engine, Source};
use serde_json::{Value, json};

use crate::binary::{self, Place, Run};
use crate::probes;

/// A server without the SDK, which imports a module next to it.
const SERVER: &str = r#"
import json, os, socket, subprocess, sys, time
import words

def tool(name, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": "Does " + name + ".", "inputSchema": schema}

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
TOOLS = [tool("shout", text=TEXT), tool("read", path=TEXT), tool("connect", path=TEXT),
         tool("wait", seconds=NUMBER), tool("fail"), tool("end"), tool("about"),
         tool("probe", aim=TEXT)]

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

def answer(name, arguments, token):
    if name == "shout":
        return words.shout(arguments["text"])
    if name == "read":
        return open(arguments["path"]).read()
    if name == "connect":
        socket.socket(socket.AF_UNIX).connect(arguments["path"])
    if name == "wait":
        for step in range(1, 11):
            time.sleep(arguments["seconds"] / 10)
            send({"method": "notifications/progress",
                  "params": {"progressToken": token, "progress": step, "total": 10}})
        return "waited"
    if name == "end":
        sys.exit("that was it")
    if name == "about":
        return json.dumps({"args": sys.argv[1:], "mode": os.environ.get("MODE"), "cwd": os.getcwd(),
                           "home": os.environ["HOME"], "beside": sorted(os.listdir(os.path.dirname(__file__)))})
    if name == "probe":
        program = os.path.join(os.path.dirname(__file__), "probes.py")
        return subprocess.run([sys.executable, program, arguments["aim"]], capture_output=True, text=True).stdout
    raise ValueError("no such row")

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "initialize":
        send({"id": message["id"], "result": {"protocolVersion": params["protocolVersion"],
              "capabilities": {"tools": {}}, "serverInfo": {"name": "words", "version": "1"}}})
    elif method == "tools/list":
        at = int(params.get("cursor") or 0)
        result = {"tools": TOOLS[at:at + 4]}
        if at + 4 < len(TOOLS):
            result["nextCursor"] = str(at + 4)
        send({"id": message["id"], "result": result})
    elif method == "tools/call":
        try:
            token = params.get("_meta", {}).get("progressToken")
            content, failed = answer(params["name"], params.get("arguments", {}), token), False
        except Exception as error:
            content, failed = f"{type(error).__name__}: {error}", True
        send({"id": message["id"],
              "result": {"content": [{"type": "text", "text": content}], "isError": failed}})
"#;

const MODULE: &str = "def shout(text):\n    return text.upper() + \"!\"\n";

/// Creates a place with the server in the project skill `words`; `None` without Python.
fn place() -> Option<Place> {
    if !Path::new("/usr/bin/python3").exists() {
        eprintln!("SKIPPED: there is no `/usr/bin/python3`");
        return None;
    }
    let place = Place::new();
    let head =
        json!({"name": "words", "description": "Words.", "toolsets": ["tools/server.py:mcp"]});
    place.write("skills/words/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write("skills/words/tools/server.py", format!("#!/usr/bin/python3\n{SERVER}"));
    place.write("skills/words/tools/words.py", MODULE);
    Some(place)
}

fn trusted_place() -> Option<Place> {
    let place = place()?;
    run(&place, &["trust", "add", "--yes", "skills/words"]).exits(0);
    Some(place)
}

fn run(place: &Place, args: &[&str]) -> Run {
    let mut command = place.command(args);
    command.args(["--source", "skills"]);
    // State and copies stay in the place, below its `HOME`.
    command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
    binary::finish(command, b"")
}

fn call(place: &Place, options: &[&str], tool: &str, arguments: &Value) -> Value {
    let arguments = arguments.to_string();
    run(place, &[&["tool", "call", tool, &arguments, "--json"], options].concat()).json()
}

fn message(answer: &Value) -> (&str, &str) {
    let error = &answer["error"];
    (error["code"].as_str().unwrap(), error["message"].as_str().unwrap())
}

#[test]
fn the_tools_of_a_server_are_listed_and_called_like_those_of_a_library() {
    let Some(place) = trusted_place() else { return };
    let tools = run(&place, &["tool", "list", "--json"]).exits(0).json();
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let all = ["shout", "read", "connect", "wait", "fail", "end", "about", "probe"];
    assert_eq!(names, all.map(|name| format!("words.{name}")));
    let answer = call(&place, &[], "words.shout", &json!({"text": "hello"}));
    assert_eq!(answer["text"], "HELLO!", "{answer}");
    // The arguments are checked before the server sees them.
    let refused = call(&place, &[], "words.shout", &json!({"text": 7}));
    assert_eq!(message(&refused).0, "INVALID_PARAM", "{refused}");
    let failed = call(&place, &[], "words.fail", &json!({}));
    assert_eq!(message(&failed).0, "EXECUTION_ERROR");
    assert!(message(&failed).1.contains("ValueError: no such row"), "{failed}");
}

/// A server in JavaScript, without the SDK.
const NODE_SERVER: &str = r#"#!/usr/bin/env node
import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const tool = { name: "shout", description: "Shouts.", inputSchema: { type: "object" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "js", version: "1" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") {
    send({ id, result: { tools: [tool] } });
  } else if (method === "tools/call") {
    send({ id, result: { content: [{ type: "text", text: params.arguments.text.toUpperCase() }] } });
  }
});
"#;

#[test]
fn a_server_in_javascript_runs_in_the_sandbox() {
    if !Path::new("/usr/bin/node").exists() {
        return eprintln!("SKIPPED: there is no `/usr/bin/node`");
    }
    let place = Place::new();
    let head = json!({"name": "js", "description": "Words.", "toolsets": ["tools/server.mjs:mcp"]});
    place.write("skills/js/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write("skills/js/tools/server.mjs", NODE_SERVER);
    run(&place, &["trust", "add", "--yes", "skills/js"]).exits(0);
    let answer = call(&place, &[], "js.shout", &json!({"text": "hello"}));
    assert_eq!(answer["text"], "HELLO", "{answer}");
}

#[test]
fn a_server_runs_once_it_is_trusted_and_with_the_files_that_were() {
    let Some(place) = place() else { return };
    let untrusted = run(&place, &["tool", "list", "--json"]);
    assert!(untrusted.stderr.contains("is not trusted"), "{untrusted:?}");
    run(&place, &["trust", "add", "--yes", "skills/words"]).exits(0);
    // An untrusted file next to the server is not visible to it, and a changed file stops it.
    let new = "skills/words/tools/json.py";
    place.write(new, "raise SystemExit('taken over')");
    run(&place, &["trust", "add", "--yes", "skills/words/tools/server.py"]).exits(0);
    let about = call(&place, &[], "words.about", &json!({}));
    let about: Value = serde_json::from_str(about["text"].as_str().unwrap()).unwrap();
    assert_eq!(about["beside"], json!(["server.py", "words.py"]));
    place.write("skills/words/tools/words.py", MODULE.replace('!', "?"));
    let changed = call(&place, &[], "words.shout", &json!({"text": "a"}));
    assert_eq!(message(&changed).0, "PERMISSION_DENIED", "{changed}");
    assert!(message(&changed).1.contains("words.py has changed since"), "{changed}");
    run(&place, &["trust", "add", "--yes", "skills/words/tools/words.py"]).exits(0);
    assert_eq!(call(&place, &[], "words.shout", &json!({"text": "a"}))["text"], "A?");
}

#[test]
fn a_server_is_refused_after_a_file_of_its_skill_changed() {
    let Some(place) = place() else { return };
    place.write("skills/words/data/a.txt", "one");
    let beside = place.path().join("skills/words/data/a.txt");
    let module = place.path().join("skills/words/tools/words.py");
    let trust = || run(&place, &["trust", "add", "--yes", "skills/words"]).exits(0);
    let shout = || call(&place, &[], "words.shout", &json!({"text": "a"}));
    let assert_refused = |file: &str| {
        let refused = shout();
        assert_eq!(message(&refused).0, "PERMISSION_DENIED", "{refused}");
        assert!(message(&refused).1.contains(file), "{refused}");
        let help = refused["error"]["help"].as_str().unwrap();
        assert!(help.contains("`repertoire trust diff "), "{refused}");
        assert!(help.contains("`repertoire trust add "), "{refused}");
    };
    trust();
    assert_eq!(shout()["text"], "A!");
    place.write("skills/words/data/a.txt", "two");
    assert_refused("`data/a.txt` (changed)");
    trust();
    assert_eq!(shout()["text"], "A!");
    fs::remove_file(beside).unwrap();
    assert_refused("`data/a.txt` (removed)");
    trust();
    // A file next to the program itself.
    place.write("skills/words/tools/json.py", "raise SystemExit('taken over')");
    assert_refused("`tools/json.py` (added)");
    fs::remove_file(place.path().join("skills/words/tools/json.py")).unwrap();
    assert_eq!(shout()["text"], "A!");
    fs::remove_file(module).unwrap();
    assert_refused("`tools/words.py` (removed)");
}

#[test]
fn a_server_has_no_more_rights_than_a_library() {
    let Some(place) = trusted_place() else { return };
    let secret = place.path().join("secret.txt");
    fs::write(&secret, "key").unwrap();
    let outside = call(&place, &[], "words.read", &json!({"path": secret}));
    assert!(message(&outside).1.contains("Permission denied"), "{outside}");
    let skill = place.path().join("skills/words/SKILL.md");
    let inside = call(&place, &[], "words.read", &json!({"path": skill}));
    assert!(inside["text"].as_str().unwrap().contains("Body"), "{inside}");
    let socket = place.path().join("skills/words/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let connected = call(&place, &[], "words.connect", &json!({"path": socket}));
    let (_, told) = message(&connected);
    assert!(told.contains("PermissionError") || told.contains("OSError"), "{connected}");
    let about = call(&place, &[], "words.about", &json!({}));
    let about: Value = serde_json::from_str(about["text"].as_str().unwrap()).unwrap();
    // The server sees copies of the trusted files.
    let here = Path::new(about["cwd"].as_str().unwrap());
    assert!(here.extension().is_some_and(|extension| extension == "skill"), "{about}");
    assert_ne!(about["home"], json!(place.path().join("home")));
}

#[test]
fn limits_and_ends_of_a_server_are_told() {
    let Some(place) = trusted_place() else { return };
    let late = call(&place, &["--timeout", "0.3"], "words.wait", &json!({"seconds": 30}));
    assert_eq!(message(&late).0, "TIMEOUT", "{late}");
    let ended = call(&place, &[], "words.end", &json!({}));
    assert_eq!(message(&ended).0, "EXECUTION_ERROR");
    for part in ["that was it", "the MCP server ended: exit code 1"] {
        assert!(message(&ended).1.contains(part), "{part}: {ended}");
    }
    place.write("skills/words/tools/words.py", "raise RuntimeError('broken module')\n");
    run(&place, &["trust", "add", "--yes", "skills/words"]).exits(0);
    let broken = run(&place, &["tool", "list", "--json"]);
    assert!(broken.stderr.contains("broken module"), "{broken:?}");
}

#[test]
fn a_program_that_does_not_speak_the_protocol_is_told_from_a_server_that_prints_a_line() {
    let Some(place) = place() else { return };
    let write = |program: &str| {
        place.write("skills/words/tools/server.py", format!("#!/usr/bin/python3\n{program}"));
        run(&place, &["trust", "add", "skills/words", "--yes"]);
    };
    write("import time\nprint('Hello!', flush=True)\ntime.sleep(600)\n");
    let began = Instant::now();
    let told = run(&place, &["tool", "list"]).exits(1).stderr;
    let why = "tools/server.py: it does not begin as an MCP server: it prints `Hello!`";
    assert!(told.contains(why), "{told}");
    assert!(told.contains("help: let it print messages of the protocol only"), "{told}");
    // Faster than the ten seconds that a server has for an answer.
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());

    write(&format!("print('Hello!', flush=True)\n{SERVER}"));
    assert_eq!(call(&place, &[], "words.shout", &json!({"text": "a"}))["text"], "A!");

    place.write("home/.repertoire/config.toml", "[toolsets.\"words:mcp\"]\nload_timeout = 0.5\n");
    write("import time\ntime.sleep(600)\n");
    let told = run(&place, &["tool", "list"]).exits(1).stderr;
    assert!(told.contains("it did not answer as an MCP server within 0.5 s"), "{told}");
}

#[test]
fn a_new_server_is_a_tool_after_the_printed_commands() {
    if place().is_none() {
        return;
    }
    let place = Place::new();
    let args = ["tool", "new", "2nd-hello", "--lang", "python", "--dir", "skills", "--json"];
    let written = place.run(args).exits(0).json();
    assert_eq!(written["class"], "mcp");
    assert_eq!(written["next"].as_array().unwrap().len(), 2, "{written}");
    run(&place, &["check", "skills/2nd-hello"]).exits(0);
    run(&place, &["trust", "add", "--yes", "skills/2nd-hello"]).exits(0);
    let answer = call(&place, &[], "2nd-hello.greet", &json!({"name": "Ada", "times": 2}));
    assert_eq!(answer["text"], "Hello, Ada!\nHello, Ada!", "{answer}");
    let refused = call(&place, &[], "2nd-hello.greet", &json!({}));
    assert_eq!(message(&refused).0, "INVALID_PARAM", "{refused}");
    place.run(["tool", "new", "x", "--lang", "python", "--plugin-path", "."]).exits(2);
}

#[test]
fn a_new_server_answers_everything_that_a_client_may_send() {
    let Some(place) = place() else { return };
    place.run(["tool", "new", "hello", "--lang", "python", "--dir", "new"]).exits(0);
    let mut command = std::process::Command::new("/usr/bin/python3");
    command.arg(place.path().join("new/hello/tools/server.py"));
    let sent = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}).to_string(),
        "no JSON".to_owned(),
        "[]".to_owned(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        json!({"jsonrpc": "2.0", "id": 2, "method": "initialize",
            "params": {"protocolVersion": "2099-01-01"}})
        .to_string(),
        json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}).to_string(),
    ];
    let run = binary::finish(command, sent.join("\n").as_bytes()).exits(0);
    let answers: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |n: usize| (&answers[n]["id"], &answers[n]["error"]["code"]);
    assert_eq!(told(0), (&json!(1), &json!(-32601)));
    assert_eq!([told(1), told(2)], [(&Value::Null, &json!(-32700)); 2]);
    assert_eq!(answers[3]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!((answers.len(), &answers[4]["result"]), (5, &json!({})));
}

#[test]
fn a_server_is_configured_by_the_user() {
    let Some(place) = trusted_place() else { return };
    place.write(
        "home/.repertoire/config.toml",
        "[toolsets.\"words:mcp\".config]\nargs = [\"--fast\"]\nenv = {MODE = \"test\"}\n",
    );
    let about = call(&place, &[], "words.about", &json!({}));
    let about: Value = serde_json::from_str(about["text"].as_str().unwrap()).unwrap();
    assert_eq!((&about["args"], &about["mode"]), (&json!(["--fast"]), &json!("test")));
}

#[test]
fn no_probe_gets_through() {
    let say = |text: &str| eprintln!("{text}");
    let Some(place) = place() else { return };
    place.write("skills/words/tools/probes.py", probes::PROGRAM);
    let program = env!("CARGO_BIN_EXE_repertoire").into();
    let program = HostProgram { program, args: vec!["toolset-host".into()] };
    let engine = Engine::builder()
        .source(Source::user(place.path().join("skills")))
        .toolsets(ToolsetOptions::in_processes_of(program))
        .build()
        .unwrap();
    let tools = engine.all_tools();
    let probe = tools.find("probe").unwrap_or_else(|error| panic!("{error:#}: {tools:?}"));
    let outside = probes::Outside::new();
    let aim =
        json!({"aim": outside.aim(&repertoire::script::allowed_calls(), true, true).to_string()});
    let printed = probe.call(&aim, &CallIo::default()).unwrap().output;
    let Some(WorkerState::Running { sandbox: Some(level), .. }) = probe.worker_state() else {
        panic!("not running");
    };
    if level.filesystem != FilesystemLevel::Full || level.network != NetworkLevel::All {
        return say("SKIPPED: this kernel has not all of Landlock and seccomp");
    }
    outside.assert_shut(&printed);
    probes::again_as_another("servers::no_probe_gets_through", say);
}
