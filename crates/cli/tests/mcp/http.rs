//! The real binary over HTTP on the loopback interface.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary::{Place, finish};
use crate::{LONG, command, memory, skills, trusted};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub(crate) struct Server {
    child: Child,
    /// The address on which the server listens.
    pub(crate) address: String,
    /// The lines that the server writes to standard error after its start.
    notes: Lines<BufReader<ChildStderr>>,
    /// The directories of a server that no other server uses; removed when it ends.
    kept: Option<(Place, tempfile::TempDir)>,
}

impl Server {
    pub(crate) fn start(args: &[&str], token: Option<&str>) -> (Server, Vec<String>) {
        let skills = skills();
        let place = trusted(skills.path());
        let (mut server, seen) = Server::start_at(&place, skills.path(), args, token);
        server.kept = Some((place, skills));
        (server, seen)
    }

    /// Starts a server in a place that others may use as well.
    pub(crate) fn start_at(
        place: &Place,
        skills: &Path,
        args: &[&str],
        token: Option<&str>,
    ) -> (Server, Vec<String>) {
        Server::start_in(place, skills, args, token, &[])
    }

    /// Starts a server in such a place with these environment variables.
    pub(crate) fn start_in(
        place: &Place,
        skills: &Path,
        args: &[&str],
        token: Option<&str>,
        variables: &[(&str, &str)],
    ) -> (Server, Vec<String>) {
        let http = ["mcp", "--http", "localhost:0", "--source"];
        let mut command = command(place, &http, &[skills]);
        command.args(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.env_remove("REPERTOIRE_MCP_TOKEN");
        command.envs(variables.iter().copied());
        command.envs(token.map(|token| ("REPERTOIRE_MCP_TOKEN", token)));
        let mut child = command.spawn().unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = Vec::new();
        while !seen.last().is_some_and(|line: &String| line.contains("http://")) {
            seen.push(notes.next().unwrap().unwrap());
        }
        let (_, rest) = seen[seen.len() - 1].split_once("http://").unwrap();
        let address = rest.trim_end_matches("/mcp").to_owned();
        let has_own = args.contains(&"--token-file");
        if token.is_none_or(str::is_empty) && !has_own {
            seen.push(notes.next().unwrap().unwrap());
        }
        (Server { child, address, notes, kept: None }, seen)
    }

    /// Kills the server, and returns what it wrote to standard error after its start.
    pub(crate) fn kill(self) -> Vec<String> {
        self.end("-KILL")
    }

    /// Ends the server with a signal, and returns what it wrote to standard error after its start.
    pub(crate) fn end(mut self, signal: &str) -> Vec<String> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        self.notes.by_ref().map_while(Result::ok).collect()
    }

    /// Returns the memory use of the server, in KiB.
    pub(crate) fn memory(&self) -> u64 {
        memory(&self.child)
    }

    /// Posts an `initialize` request, and returns the whole response.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)]) -> String {
        self.post_text(path, headers, &hello().to_string())
    }

    pub(crate) fn post_text(&self, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        self.ask("POST", path, headers, body)
    }

    /// Sends a request, and returns the whole response.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            let _ = write!(head, "Host: {}\r\n", self.address);
        }
        head.push_str("Content-Type: application/json\r\n");
        head.push_str("Accept: application/json, text/event-stream\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns an `initialize` request.
pub(crate) fn hello() -> Value {
    let client = json!({"name": "raw", "version": "1"});
    let version = "2025-06-18";
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// Returns the messages in the events of a response.
pub(crate) fn events(answer: &str) -> Vec<Value> {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

#[test]
fn only_programs_of_this_machine_with_the_token_are_served() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let authorized = ("Authorization", &*bearer);
    let answer = server.post("/mcp", &[authorized]);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("serverInfo"), "{answer}");
    let answer = server.post("/mcp", &[authorized, ("Origin", "http://localhost:3000")]);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for (path, headers, status) in [
        ("/mcp", &[][..], 401),
        ("/mcp", &[("Authorization", "Bearer wrong")], 401),
        ("/mcp", &[("Authorization", TOKEN)], 401),
        ("/", &[authorized], 404),
        ("/mcp", &[authorized, ("Host", "evil.example")], 403),
        ("/mcp", &[authorized, ("Origin", "https://evil.example")], 403),
        ("/mcp", &[authorized, ("Origin", "null")], 403),
    ] {
        let answer = server.post(path, headers);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{headers:?}: {answer}");
        assert!(!answer.contains("serverInfo"), "{answer}");
    }
    // One request names two hosts: a proxy may have used the other one.
    let host = ("Host", &*server.address);
    for (path, headers) in [
        ("/mcp", &[authorized, host, host][..]),
        ("/mcp", &[authorized, host, ("Host", "evil.example")]),
        (&*format!("http://{}/mcp", server.address), &[authorized]),
        ("http://evil.example/mcp", &[authorized, host]),
    ] {
        let answer = server.post(path, headers);
        assert!(answer.starts_with("HTTP/1.1 400"), "{path} {headers:?}: {answer}");
    }
    let answer = server.post_text("/mcp", &[], "{\"jsonrpc\": ");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[test]
fn what_is_no_message_is_answered_as_on_standard_input() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let post = |body: &str| server.post_text("/mcp", &[("Authorization", &bearer)], body);
    let too_long = " ".repeat(16 * 1024 * 1024 + 1);
    for (body, status, code, id) in [
        ("{\"jsonrpc\": ", 400, -32700, json!(null)),
        ("", 400, -32700, json!(null)),
        ("5", 400, -32600, json!(null)),
        ("null", 400, -32600, json!(null)),
        ("[]", 400, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0"}"#, 400, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, 400, -32600, json!(1)),
        (r#"{"id":1,"method":"ping"}"#, 400, -32600, json!(1)),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#, 400, -32602, json!(2)),
        (&too_long, 413, -32600, json!(null)),
    ] {
        let answer = post(body);
        let body = &body[..body.len().min(80)];
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{body}: {answer}");
        assert!(answer.contains("content-type: application/json\r\n"), "{body}: {answer}");
        let (_, message) = answer.split_once("\r\n\r\n").unwrap();
        let message: Value = serde_json::from_str(message).unwrap();
        assert_eq!(
            (&message["error"]["code"], message.get("id")),
            (&json!(code), Some(&id)),
            "{body}: {answer}"
        );
    }
    let unknown = post(r#"{"jsonrpc":"2.0","method":"$/setTrace","params":"x"}"#);
    assert!(unknown.starts_with("HTTP/1.1 202"), "{unknown}");
    // A body just within the limit is read completely.
    let hello = hello().to_string();
    let answer = post(&format!("{hello}{}", " ".repeat(16 * 1024 * 1024 - hello.len())));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("serverInfo"), "{answer}");
}

#[test]
fn a_token_is_made_where_none_is_given() {
    for variable in [None, Some("")] {
        let (server, notes) = Server::start(&[], variable);
        let (_, token) = notes[1].split_once("token of this run is ").unwrap();
        assert_eq!(token.len(), 64);
        let bearer = format!("Bearer {token}");
        let answer = server.post("/mcp", &[("Authorization", &bearer)]);
        assert!(answer.contains("serverInfo"), "{answer}");
    }
}

#[test]
fn other_addresses_without_tokens_and_short_tokens_are_refused() {
    let place = Place::new();
    place.write("token", "short\n");
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let run = place.run(["mcp", "--http", address]).exits(1);
        assert!(run.stderr.contains("can be reached from other machines"), "{run:?}");
    }
    for address in ["localhost", "127.0.0.1", "8765", "localhost:x"] {
        let refused = place.run(["mcp", "--http", address]).exits(2);
        assert!(refused.stderr.contains("such as `127.0.0.1:8765`"), "{}", refused.stderr);
    }
    place.write("empty", "\n");
    place.write("table", format!("[ci]\nkey = '{TOKEN}'\n"));
    place.write("unnamed", format!("{TOKEN} {TOKEN}\n"));
    place.write("unset", "[ci]\ntoken_env = 'REPERTOIRE_NONE'\n");
    place.write("twice", format!("[a]\ntoken = '{TOKEN}'\n[b]\ntoken = '{TOKEN}'\n"));
    for (option, variable, told) in [
        (&["--token-file", "token"][..], "", "token file token: a token of 5 bytes can be guessed"),
        (&["--token-file", "empty"], TOKEN, "token file empty: a token of 0 bytes can be guessed"),
        (&["--token-file", "none"], "", "cannot read the token file none"),
        (&[], "short", "`REPERTOIRE_MCP_TOKEN`: a token of 5 bytes can be guessed"),
        (&["--token-file", "table"], "", "`ci`: `key` is not known"),
        (&["--token-file", "unnamed"], "", "neither one token nor valid TOML"),
        (&["--token-file", "unset"], "", "the variable `REPERTOIRE_NONE` is not set"),
        (&["--token-file", "twice"], "", "two clients have the same token"),
        (&[], " \n", "`REPERTOIRE_MCP_TOKEN`: a token of 0 bytes can be guessed"),
        (
            &[],
            "sixteen bytes or more",
            "`REPERTOIRE_MCP_TOKEN`: a token may contain only ASCII letters",
        ),
    ] {
        let mut command = place.command(["mcp", "--http", "127.0.0.1:0"].iter().chain(option));
        let run = finish(
            {
                command.env("REPERTOIRE_MCP_TOKEN", variable);
                command
            },
            b"",
        )
        .exits(1);
        assert!(run.stderr.contains(told), "{run:?}");
        assert!(!run.stderr.contains("serving") && !run.stderr.contains(TOKEN), "{run:?}");
    }
}

/// Returns the value of a header of a response.
pub(crate) fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let lines = answer.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_once(": ")).find(|(key, _)| *key == name).map(|(_, v)| v)
}

#[test]
fn a_session_ends_when_its_client_says_so_and_goes_on_after_many_others() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let begin = || {
        let answer = server.post("/mcp", &[("Authorization", &bearer)]);
        header(&answer, "mcp-session-id").unwrap().to_owned()
    };
    let request = |method: &str, session: &str, body: &str| {
        let headers = [("Authorization", &*bearer), ("Mcp-Session-Id", session)];
        server.ask(method, "/mcp", &headers, body)
    };
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let is_alive = |session: &str| {
        let answer = request("POST", session, &ping);
        match &answer[..12] {
            "HTTP/1.1 200" => true,
            "HTTP/1.1 404" => false,
            _ => panic!("{answer}"),
        }
    };
    let first = begin();
    request("POST", &first, &initialized);
    assert!(is_alive(&first));
    let answer = request("DELETE", &first, "");
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert!(!is_alive(&first));

    let [kept, idle] = [begin(), begin()];
    for session in [&kept, &idle] {
        request("POST", session, &initialized);
        assert!(is_alive(session));
    }
    for _ in 0..127 {
        begin();
        assert!(is_alive(&kept));
    }
    // The server had dropped this session, and restores it.
    assert!(is_alive(&kept) && is_alive(&idle));
    // Sessions that have ended do not count towards the limit.
    for _ in 0..130 {
        let ended = begin();
        assert!(request("DELETE", &ended, "").starts_with("HTTP/1.1 204"));
    }
    assert!(is_alive(&kept));
}

#[test]
fn requests_that_are_half_sent_keep_out_nobody() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let bearer = format!("Bearer {TOKEN}");
    let authorized = [("Authorization", &*bearer)];
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\n\
         Content-Type: application/json\r\nContent-Length: 1000\r\n",
        server.address
    );
    for half in [String::new(), head.clone(), format!("{head}\r\n{{")] {
        let open: Vec<TcpStream> = (0..200)
            .map(|_| {
                let mut stream = TcpStream::connect(&server.address).unwrap();
                // The server may have closed this connection in favour of a newer one.
                let _ = stream.write_all(half.as_bytes());
                stream
            })
            .collect();
        let began = Instant::now();
        let answer = server.post("/mcp", &authorized);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        drop(open);
    }
}

#[test]
fn an_answer_is_sent_at_once() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let body = hello().to_string();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    // If small packets were delayed until the last one is acknowledged, each would take 40 ms. On a busy machine, some
    // take longer without that.
    let mut fastest = LONG;
    for _ in 0..300 {
        let began = Instant::now();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        )
        .unwrap();
        let (mut answer, mut part) = (Vec::new(), [0; 4096]);
        // A response ends with an empty chunk.
        while !answer.ends_with(b"0\r\n\r\n") {
            let n_bytes = stream.read(&mut part).unwrap();
            assert!(n_bytes > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..n_bytes]);
        }
        fastest = fastest.min(began.elapsed());
        if fastest < Duration::from_millis(30) {
            break;
        }
    }
    assert!(fastest < Duration::from_millis(30), "{fastest:?}");
}
