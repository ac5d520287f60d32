//! Clients with many open streams leave room for others.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::binary::Place;
use crate::http::{Server, TOKEN, header, hello};
use crate::shared::Client;
use crate::{LONG, skills, trusted};

const OTHER: &str = "fedcba9876543210fedcba9876543210";

/// Starts a session of a client. Returns its id.
fn begin(server: &Server, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    let answer = server.post_text("/mcp", &[("Authorization", &bearer)], &hello().to_string());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    header(&answer, "mcp-session-id").unwrap().to_owned()
}

/// Opens a stream of notifications in a session of its own, and waits for the head of its answer.
fn open_stream(server: &Server, token: &str) -> TcpStream {
    let session = begin(server, token);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let address = &server.address;
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    )
    .unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    stream
}

/// Tells whether the server has closed a stream.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            }
        }
    }
}

/// Starts a server with two clients, in which the code of skills is trusted.
fn server_for_two() -> (Server, Place, tempfile::TempDir) {
    let skills = skills();
    let place = trusted(skills.path());
    place.write("tokens.toml", format!("[a]\ntoken = \"{TOKEN}\"\n\n[b]\ntoken = \"{OTHER}\"\n"));
    let file = place.path().join("tokens.toml");
    let args = ["--token-file", file.to_str().unwrap()];
    let (server, _) = Server::start_at(&place, skills.path(), &args, None);
    (server, place, skills)
}

/// A client that opens more sessions than there may be ends no call, neither of others nor of its own.
#[test]
fn a_client_with_too_many_sessions_ends_no_running_call() {
    let (server, place, _skills) = server_for_two();
    let arguments = |mark: &str| {
        let mark = place.path().join(mark);
        json!({"skill": "slow", "script": "scripts/until.sh", "args": [mark]})
    };
    let clients = [TOKEN, OTHER].map(|token| Client::begin(&server, token));
    let idle = Client::begin(&server, TOKEN);
    idle.call(&server, "use_skill", &json!({"skill": "sven"}));
    std::thread::scope(|scope| {
        let calls = clients.each_ref().map(|client| {
            scope.spawn(|| client.call(&server, "run_skill_script", &arguments("done")))
        });
        // The calls are running.
        std::thread::sleep(Duration::from_millis(500));
        (0..140).for_each(|_| drop(begin(&server, TOKEN)));
        place.write("done", "");
        for call in calls {
            let said = call.join().unwrap();
            assert_eq!(said, "[no output]");
        }
    });
    let metrics =
        server.ask("GET", "/metrics", &[("Authorization", &format!("Bearer {TOKEN}"))], "");
    assert!(metrics.contains("repertoire_open_sessions 128\n"), "{metrics}");
    // A session that went is opened again, with what it was shown.
    let again = idle.call(&server, "use_skill", &json!({"skill": "sven"}));
    assert!(again.contains("are in this conversation already"), "{again}");
}

/// A token with as many streams as there may be connections shuts out nobody.
#[test]
fn a_client_with_too_many_streams_loses_its_oldest_and_shuts_out_nobody() {
    let (server, _place, _skills) = server_for_two();
    let mut greedy: Vec<TcpStream> = (0..125).map(|_| open_stream(&server, TOKEN)).collect();
    let began = Instant::now();
    let health = server.ask("GET", "/health", &[], "");
    assert!(health.starts_with("HTTP/1.1 200") && health.ends_with("alive\n"), "{health}");
    let mut others: Vec<TcpStream> = (0..10).map(|_| open_stream(&server, OTHER)).collect();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert!(others.iter_mut().all(|stream| !is_closed(stream)), "the other client keeps its own");
    let closed: Vec<bool> = greedy.iter_mut().map(is_closed).collect();
    let n_closed = closed.iter().filter(|closed| **closed).count();
    // Of 128 connections, 16 are kept for requests.
    assert_eq!(n_closed, 125 + 10 - 112, "{closed:?}");
    assert!(closed[..n_closed].iter().all(|closed| *closed), "the oldest: {closed:?}");
    // A client that asks without end costs only itself.
    begin(&server, TOKEN);
    assert!(others.iter_mut().all(|stream| !is_closed(stream)));
}
