//! The system's loader alone, and an MCP server over standard streams: what a host would use instead.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::{ARGUMENTS, DirectTool as _, Greet, Silent, library_name, middle, report, row, time};

/// The argument that makes this program an MCP server.
pub(crate) const SERVER: &str = "mcp-server";

/// Serves `greet` as an MCP server over standard streams does, and nothing more.
pub(crate) fn serve() {
    let greet = Greet { greeting: "Hello".to_owned() };
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let result = match request["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "greeter", "version": "1"},
            }),
            "tools/call" => {
                let arguments = request["params"]["arguments"].to_string();
                let greeted = greet.call(&arguments, &Silent).unwrap();
                json!({"content": [{"type": "text", "text": greeted.output}], "isError": false})
            }
            method => panic!("`{method}` is not asked for here"),
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        writeln!(answers, "{answer}").unwrap();
        answers.flush().unwrap();
    }
}

/// A client that does no more than it must.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Client {
        let mut server = Command::new(std::env::current_exe().unwrap())
            .arg(SERVER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = server.stdin.take().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = Client { server, input, output };
        client.ask("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn greet(&mut self) -> Value {
        let arguments: Value = ARGUMENTS.parse().unwrap();
        self.ask("tools/call", &json!({"name": "greet", "arguments": arguments}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Measures the start of an MCP server, and the system's loader.
pub(crate) fn loads(hello: &[u8]) {
    let place = tempfile::tempdir().unwrap();
    let mut number = 0_u32;
    let load = |_| {
        number += 1;
        let path = place.path().join(format!("{number}-{}", library_name()));
        std::fs::write(&path, [hello, &number.to_le_bytes()].concat()).unwrap();
        let begin = Instant::now();
        let library = repertoire_plugin::host::Library::open(path).unwrap();
        let loaded = begin.elapsed();
        drop(library);
        loaded
    };
    let loaded = middle((0..100).map(load).collect());
    row("load: the system's loader, and the layouts compared", &time(loaded));
    let start = |_| {
        let begin = Instant::now();
        drop(Client::start());
        begin.elapsed()
    };
    let started = middle((0..100).map(start).collect());
    row("load: an MCP server over standard streams, its process started and ended", &time(started));
}

/// Measures a call of an MCP server.
pub(crate) fn calls() {
    let mut client = Client::start();
    assert_eq!(client.greet()["result"]["content"][0]["text"], "Hello, Ada!\nHello, Ada!");
    let client = std::cell::RefCell::new(client);
    report("call: an MCP server over standard streams", || drop(client.borrow_mut().greet()));
}
