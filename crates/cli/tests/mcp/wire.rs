//! The real binary on standard input and output, line by line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::Place;
use crate::{LONG, command, is_alive, memory, skills, trusted};

/// A running server on standard streams.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    _place: Place,
    pub(crate) skills: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::start_with(None)
    }

    fn start_with(refresh: Option<&str>) -> Server {
        let skills = skills();
        let place = trusted(skills.path());
        let mut command = command(&place, &["mcp", "--source"], &[skills.path()]);
        command.envs(refresh.map(|refresh| ("REPERTOIRE_REFRESH", refresh)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Server { child, stdin, lines, _place: place, skills }
    }

    pub(crate) fn started() -> Server {
        Server::start().initialized()
    }

    /// Completes the handshake.
    fn initialized(mut self) -> Server {
        let version = "2025-06-18";
        let server = &mut self;
        let client = json!({"name": "raw", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = server.ask(0, "initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "repertoire");
        server.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self
    }

    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn send(&mut self, id: u64, method: &str, params: &Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&request.to_string());
    }

    /// Returns the next line, which must be a message of the protocol.
    pub(crate) fn read(&self) -> Value {
        let line = self.lines.recv_timeout(LONG).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    pub(crate) fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(id, method, params);
        let answer = self.read();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Returns the memory use of the server, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        memory(&self.child)
    }

    fn wait(&mut self) -> i32 {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(start.elapsed() < LONG, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server has ended, or the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn whatever_a_client_writes_is_answered_as_the_specification_says() {
    let mut server = Server::started();
    for (id, method, params, code) in [
        (1, "bogus/method", json!({}), -32601),
        (2, "tools/call", json!({"name": "no_tool", "arguments": {}}), -32602),
        (3, "prompts/get", json!({"name": "no_prompt"}), -32602),
        (4, "resources/read", json!({"uri": "skill://nobody/x"}), -32002),
        (5, "resources/read", json!({"uri": "x"}), -32602),
        (11, "tools/call", json!({"nme": "find_skills"}), -32602),
        (12, "tools/call", json!({"name": "find_skills", "arguments": 7}), -32602),
    ] {
        let answer = server.ask(id, method, &params);
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let answer =
        server.ask(6, "tools/call", &json!({"name": "find_skills", "arguments": {"q": 1}}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");

    // Each line that is not a message gets an error (JSON-RPC 2.0, section 5.1), with the line's id if
    // it has one.
    let too_long = format!("\"{}\"", "x".repeat(16 * 1024 * 1024));
    for (line, code, id) in [
        ("this is no json", -32700, json!(null)),
        ("{\"jsonrpc\": \"2.0\", \"id\": 7", -32700, json!(null)),
        ("\u{0}", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"ping"} x"#, -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":9,"method":"ping","x":"\ud83d}"#, -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":9,"metod":"a\ud83d"}"#, -32600, json!(9)),
        ("{}", -32600, json!(null)),
        ("[]", -32600, json!(null)),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, -32600, json!(null)),
        ("7", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":9,"metod":"ping"}"#, -32600, json!(9)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":"x"}"#, -32600, json!("a")),
        (r#"{"id":9,"method":"ping"}"#, -32600, json!(9)),
        (r#"{"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{}}"#, -32600, json!(null)),
        (&too_long, -32600, json!(null)),
    ] {
        server.write(line);
        let answer = server.read();
        let line = &line[..line.len().min(80)];
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{line}: {answer}"
        );
        assert!(answer.as_object().unwrap().contains_key("id"), "{line}: {answer}");
    }
    // Half a character, from a text that was cut, is read as U+FFFD.
    server.write(r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\ud83d"}}"#);
    assert_eq!(server.read(), json!({"jsonrpc": "2.0", "id": 8, "result": {}}));
    // A blank line and an unknown notification get no answer.
    server.write("");
    server.write(r#"{"jsonrpc":"2.0","method":"$/setTrace","params":"x"}"#);
    for list in ["tools", "prompts", "resources", "resources/templates", "skills"] {
        let method = format!("{list}/list");
        for cursor in [json!("made up"), json!(7)] {
            let answer = server.ask(7, &method, &json!({"cursor": cursor}));
            assert_eq!(answer["error"]["code"], -32602, "{list}: {answer}");
        }
        for params in [json!(null), json!({}), json!({"cursor": null, "_meta": {}})] {
            assert!(server.ask(7, &method, &params)["result"].is_object(), "{list}: {params}");
        }
    }
    assert_eq!(server.ask(10, "ping", &json!({}))["result"], json!({}));
    drop(server.stdin.take());
    assert_eq!(server.wait(), 0);
}

#[test]
fn the_last_line_is_answered_though_the_client_has_closed_its_side() {
    let (place, skills) = (Place::new(), tempfile::tempdir().unwrap());
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let handshake =
        format!("{hello}\n{}\n", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for _ in 0..20 {
        for before in ["", &handshake] {
            let command = command(&place, &["mcp", "--source"], &[skills.path()]);
            let run = crate::binary::finish(command, format!("{before}no json\n").as_bytes());
            let last = run.stdout.lines().last().unwrap_or_default();
            let answer: Value = serde_json::from_str(last).unwrap_or_default();
            assert_eq!((run.code, &answer["error"]["code"]), (0, &json!(-32700)), "{run:?}");
        }
    }
}

#[test]
fn a_request_before_the_handshake_is_refused() {
    let mut server = Server::start();
    let answer = server.ask(1, "tools/list", &json!({}));
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    assert_eq!(server.ask(2, "ping", &json!({}))["result"], json!({}));
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": client});
    for misfit in [json!({}), json!({"protocolVersion": "2025-06-18", "capabilities": {}})] {
        let answer = server.ask(3, "initialize", &misfit);
        let error = json!({"code": -32602, "message": "the parameters of `initialize` do not fit"});
        assert_eq!(answer["error"], error);
    }
    // For an unknown version, the server offers one that both sides may know.
    assert_eq!(server.ask(3, "initialize", &params)["result"]["protocolVersion"], "2025-11-25");
    drop(server.stdin.take());
    assert_eq!(server.wait(), 0);
}

#[test]
fn the_list_of_skills_can_be_left_to_a_hook() {
    let place = Place::new();
    place.write(
        ".repertoire/skills/tea/SKILL.md",
        "---\nname: tea\ndescription: Brews.\n---\nPour.\n",
    );
    let client = json!({"name": "raw", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    for (args, has_list) in [(&["mcp"][..], true), (&["mcp", "--no-list"], false)] {
        let run = place.run_with(args, format!("{hello}\n").as_bytes()).exits(0);
        let answer: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
        let instructions = answer["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("call `use_skill`"), "{instructions}");
        assert_eq!(instructions.contains("- tea: Brews."), has_list, "{instructions}");
    }
}

#[test]
fn a_client_that_goes_takes_the_server_with_it() {
    // The client disconnects before its first message.
    let mut server = Server::start();
    drop(server.stdin.take());
    assert_eq!(server.wait(), 0);

    // The client disconnects during a script, and during a tool.
    for (tool, arguments) in [
        ("run_skill_script", json!({"skill": "slow", "script": "wait.sh", "args": ["60.000023"]})),
        ("hello_count", json!({"to": 36_000, "pause": 100})),
    ] {
        // It closes its side, or a signal ends the server while the client keeps its side open.
        for signal in [None, Some("-TERM"), Some("-INT")] {
            let mut server = Server::started();
            server.send(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
            std::thread::sleep(Duration::from_millis(300));
            let start = Instant::now();
            match signal {
                None => drop(server.stdin.take()),
                Some(signal) => {
                    let pid = server.child.id().to_string();
                    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
                }
            }
            server.wait();
            assert!(start.elapsed() < Duration::from_secs(30), "{tool}: {:?}", start.elapsed());
            assert!(!is_alive("60.000023"), "the script goes on after {signal:?}");
        }
    }
}

#[test]
fn calls_go_on_after_the_client_has_closed_its_side_as_long_as_some_end() {
    let mut server = Server::started();
    let flag = |step| server.skills.path().join(format!("end-{step}"));
    let flags: Vec<String> = (0..8).map(|step| flag(step).to_str().unwrap().to_owned()).collect();
    // Each script ends when it is told to; the last one never ends.
    let scripts = flags.iter().map(|flag| ("until.sh", &**flag));
    let scripts: Vec<(&str, &str)> = scripts.chain([("wait.sh", "60.000029")]).collect();
    for (id, (script, arg)) in (1..).zip(&scripts) {
        let script = json!({"skill": "slow", "script": script, "args": [arg]});
        server.send(id, "tools/call", &json!({"name": "run_skill_script", "arguments": script}));
    }
    let start = Instant::now();
    while !scripts.iter().all(|(_, arg)| is_alive(arg)) {
        assert!(start.elapsed() < LONG, "the scripts do not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(server.stdin.take());
    for (id, flag) in (1..).zip(&flags) {
        std::thread::sleep(Duration::from_millis(250));
        std::fs::write(flag, "").unwrap();
        let answer = server.read();
        assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(id), &json!(false)));
    }
    let end = Instant::now();
    assert_eq!(server.read()["result"]["isError"], true);
    server.wait();
    assert!(end.elapsed() < Duration::from_secs(30), "{:?}", end.elapsed());
    assert!(!is_alive("60.000029"), "the last script goes on");
}

#[test]
fn ten_thousand_calls_take_no_memory() {
    let mut server = Server::started();
    let calls = [
        json!({"name": "find_skills", "arguments": {"query": "review a pull request"}}),
        json!({"name": "use_skill", "arguments": {"skill": "review", "args": "7"}}),
        json!({"name": "read_skill_file", "arguments": {"skill": "review", "path": "ref/how to.md"}}),
        json!({"name": "no_tool", "arguments": {}}),
    ];
    // One-time allocations are done after the first thousand calls. The number of threads with memory
    // of their own varies, so the memory may grow at times, but with a leak it would grow all the time.
    let mut after = Vec::new();
    for id in 1..=11_000 {
        server.ask(id, "tools/call", &calls[id as usize % calls.len()]);
        if id % 2_500 == 1_000 {
            after.push(server.memory());
        }
    }
    crate::support::say(&format!("memory, each 2,500 calls: {after:?} KiB"));
    let growth = after.windows(2).map(|window| window[1].saturating_sub(window[0]));
    assert!(growth.min().unwrap() < 1_024, "{after:?} KiB");
    assert!(after[4] < after[0] + 8 * 1_024, "{after:?} KiB");
}

#[test]
fn skills_that_come_and_go_are_told_of_and_listed() {
    for refresh in [None, Some("watch"), Some("1")] {
        let mut server = Server::start_with(refresh).initialized();
        let list = |server: &mut Server, id| {
            ["tools", "prompts", "resources"]
                .map(|what| server.ask(id, &format!("{what}/list"), &json!({})).to_string())
        };
        let before = list(&mut server, 1);
        let dir = server.skills.path().join("novel");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("notes.md"), "Notes.").unwrap();
        std::fs::write(dir.join("SKILL.md"), "---\ndescription: New.\n---\nDo it.\n").unwrap();
        for is_there in [true, false] {
            let mut told: Vec<String> =
                (0..3).map(|_| server.read()["method"].as_str().unwrap().to_owned()).collect();
            told.sort();
            let expected = ["prompts", "resources", "tools"]
                .map(|what| format!("notifications/{what}/list_changed"));
            assert_eq!(told, expected, "{refresh:?}");
            let use_it = json!({"name": "use_skill", "arguments": {"skill": "novel"}});
            let used = server.ask(2, "tools/call", &use_it);
            assert_eq!(used["result"]["isError"], !is_there, "{used}");
            let now = list(&mut server, 3);
            assert!(now.iter().all(|list| list.contains("novel") == is_there), "{now:?}");
            if is_there {
                std::fs::remove_dir_all(&dir).unwrap();
            } else {
                assert_eq!(now.map(|list| list.replace("\"id\":3", "\"id\":1")), before);
            }
        }
    }
}

#[test]
fn a_refresh_that_is_none_is_wrong_usage() {
    let skills = skills();
    let place = Place::new();
    for value in ["0", "-1", "1.5", "never", "99999999999999999999"] {
        let mut command = command(&place, &["mcp", "--source"], &[skills.path()]);
        command.env("REPERTOIRE_REFRESH", value);
        let run = crate::binary::finish(command, b"");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{value}: {run:?}");
        assert!(run.stderr.contains("`watch`, `off`, or a whole number"), "{value}: {run:?}");
        assert!(run.stderr.contains("for 'REPERTOIRE_REFRESH'"), "{value}: {run:?}");
    }
    for value in ["", "off", "watch", "30"] {
        let mut command = command(&place, &["mcp", "--source"], &[skills.path()]);
        command.env("REPERTOIRE_REFRESH", value);
        assert_eq!(crate::binary::finish(command, b"").code, 0, "{value}");
    }
}

#[test]
fn what_comes_before_the_handshake_and_needs_no_answer_is_ignored() {
    let mut server = Server::start();
    for early in [
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
    ] {
        server.write(early);
        assert_eq!(server.ask(9, "ping", &json!({}))["result"], json!({}));
    }
    let mut server = server.initialized();
    let tools = server.ask(10, "tools/list", &json!({}));
    assert!(tools["result"]["tools"].is_array(), "{tools}");
}
