//! Measures the time of calls over HTTP and standard streams, and the memory that remains in use. Run
//! it by hand: `cargo test --release --locked --test mcp -- --ignored figures --nocapture
//! --test-threads 1`

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::LONG;
use crate::http::{Server, TOKEN, header, hello};
use crate::support::say;
use crate::wire;

/// A session on a connection that stays open.
struct Client {
    stream: TcpStream,
    address: String,
    session: String,
}

impl Client {
    fn connect(server: &Server) -> Client {
        let stream = TcpStream::connect(&server.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let (address, session) = (server.address.clone(), String::new());
        let mut client = Client { stream, address, session };
        let answer = client.post(&hello().to_string());
        header(&answer, "mcp-session-id").unwrap().clone_into(&mut client.session);
        let known = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        client.post(&known.to_string());
        client
    }

    fn post(&mut self, body: &str) -> String {
        let session = if self.session.is_empty() {
            String::new()
        } else {
            format!("Mcp-Session-Id: {}\r\n", self.session)
        };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n{session}\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).unwrap();
        let (mut answer, mut part) = (Vec::new(), [0; 16 * 1024]);
        // A chunked answer ends with an empty chunk; here, any other answer has no body.
        let is_whole = |answer: &[u8]| {
            let text = String::from_utf8_lossy(answer);
            let is_chunked = text.contains("chunked");
            if is_chunked { text.ends_with("0\r\n\r\n") } else { text.ends_with("\r\n\r\n") }
        };
        while !is_whole(&answer) {
            let n_bytes = self.stream.read(&mut part).unwrap();
            assert!(n_bytes > 0, "{}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..n_bytes]);
        }
        String::from_utf8(answer).unwrap()
    }

    /// Calls one of the tools, as a model would; each `id` the next one. Returns the time.
    fn call(&mut self, id: usize) -> Duration {
        let calls = calls();
        let params = &calls[id % calls.len()];
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let request = request.to_string();
        let began = Instant::now();
        let answer = self.post(&request);
        let took = began.elapsed();
        assert!(
            answer.starts_with("HTTP/1.1 200") && !answer.contains("isError\":true"),
            "{answer}"
        );
        took
    }
}

/// Returns tool calls that a model might make.
fn calls() -> [Value; 3] {
    [
        json!({"name": "find_skills", "arguments": {"query": "review a pull request"}}),
        json!({"name": "use_skill", "arguments": {"skill": "review", "args": "7"}}),
        json!({"name": "read_skill_file", "arguments": {"skill": "review", "path": "ref/how to.md"}}),
    ]
}

/// Reports the memory after 1,000 calls, and then after each 20,000. Fails if it grew by more than a
/// tenth.
fn memory_of_a_hundred_thousand(mut call: impl FnMut(usize), memory: impl Fn() -> u64) {
    let mut seen = Vec::new();
    for id in 0..100_000 {
        call(id);
        if id == 999 || id % 20_000 == 19_999 {
            seen.push(memory());
        }
    }
    say(&format!("memory after 1,000 calls, then each 20,000: {seen:?} KiB"));
    assert!(seen[seen.len() - 1] * 10 <= seen[0] * 11, "{seen:?} KiB");
}

#[test]
#[ignore = "takes minutes, and measures what depends on the machine"]
fn figures_of_calls_over_http() {
    let (server, _) = Server::start(&[], Some(TOKEN));
    let mut client = Client::connect(&server);
    let mut times: Vec<Duration> = (0..10_000).map(|id| client.call(id)).collect();
    times.sort_unstable();
    let (p50, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    say(&format!("10,000 calls over HTTP: p50 {p50:?}, p99 {p99:?}"));

    assert!(p50 < Duration::from_millis(1), "{p50:?}");
    let (server, _) = Server::start(&[], Some(TOKEN));
    let mut client = Client::connect(&server);
    memory_of_a_hundred_thousand(
        |id| {
            client.call(id);
        },
        || server.memory(),
    );
}

#[test]
#[ignore = "takes minutes, and measures what depends on the machine"]
fn figures_of_calls_over_standard_streams() {
    let server = RefCell::new(wire::Server::started());
    let calls = calls();
    let call = |id: usize| {
        let params = &calls[id % calls.len()];
        let answer = server.borrow_mut().ask(id as u64 + 1, "tools/call", params);
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    };
    let began = Instant::now();
    (0..10_000).for_each(call);
    say(&format!("10,000 calls over standard streams: {:?} each", began.elapsed() / 10_000));
    memory_of_a_hundred_thousand(call, || server.borrow().memory());
}
