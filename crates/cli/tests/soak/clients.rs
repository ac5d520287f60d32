//! MCP clients that stall while other clients are served: they send half of a message, read nothing, or
//! disconnect in the middle of a call.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Run;
use crate::binary::Place;
use crate::tally::{Dice, Tally};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The time limit for an answer, on a machine that is busy with other faults.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of calls from a client that does not read the answers.
const CALLS: u64 = 300;

struct Server {
    child: Child,
    address: String,
    /// Kept open, because the server writes log lines into it.
    _notes: BufReader<std::process::ChildStderr>,
}

impl Server {
    fn start(place: &Place) -> Server {
        let args = ["mcp", "--http", "127.0.0.1:0", "--source", "skills"];
        let mut command = place.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.env("REPERTOIRE_MCP_TOKEN", TOKEN).spawn().unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        notes.read_line(&mut first).unwrap();
        let (_, rest) = first.split_once("http://").unwrap();
        Server { child, address: rest.trim().trim_end_matches("/mcp").to_owned(), _notes: notes }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Returns a complete `initialize` request.
    fn request(&self) -> String {
        let body = hello().to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
    }

    /// Sends a request like a client that does not stall, and checks the answer.
    fn answers(&self) -> Result<(), String> {
        let start = Instant::now();
        let mut stream = self.connect();
        stream.write_all(self.request().as_bytes()).map_err(|error| error.to_string())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
        let is_answer = answer.starts_with("HTTP/1.1 200") && answer.contains("serverInfo");
        if is_answer && start.elapsed() < PATIENCE { Ok(()) } else { Err(format!("{answer:?}")) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Value {
    let client = json!({"name": "stalls", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// Lets clients stall over HTTP and over standard streams.
pub(crate) fn stalled(run: Run) -> Vec<Tally> {
    let place = Place::new();
    place.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: Brews.\n---\nPour.\n");
    let mut http = Tally::new("MCP clients that stall over HTTP", "answers to others");
    let mut streams =
        Tally::new("MCP clients that stall on standard streams", "answers once they read");
    let mut dice = run.dice();
    let server = Server::start(&place);
    // The newest stalled clients stay connected while others are answered.
    let mut stalling: Vec<TcpStream> = Vec::new();
    while run.goes_on() {
        for _ in 0..8 {
            stalling.push(stall(&server, &mut dice));
        }
        let answered = server.answers();
        http.holds(answered.is_ok(), || format!("{answered:?}"));
        for _ in 0..8 {
            http.fault(answered.clone());
        }
        stalling.drain(..stalling.len().saturating_sub(64));
        let (outcome, n_answers) = stall_on_streams(&place, &mut dice);
        streams.fault(outcome);
        streams.found(n_answers, 0, String::new);
    }
    vec![http, streams]
}

/// Opens a connection whose client stops at some point.
fn stall(server: &Server, dice: &mut Dice) -> TcpStream {
    let mut stream = server.connect();
    let request = server.request();
    let part = match dice.below(4) {
        0 => "",
        1 => &request[..dice.position(request.len())],
        // The body is announced, but not sent completely.
        2 => &request[..request.len() - 1],
        // The whole request is sent, but the answer is not read.
        _ => &request,
    };
    // The server may have closed the connection.
    let _ = stream.write_all(part.as_bytes());
    stream
}

/// Starts a server on standard streams whose client does not read for a while, or disconnects within a
/// line. Returns the number of answers that the client got.
fn stall_on_streams(place: &Place, dice: &mut Dice) -> (Result<(), String>, u64) {
    let mut command = place.command(["mcp", "--source", "skills"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let stdout = child.stdout.take().unwrap();
    let goes_within_a_line = dice.below(3) == 0;
    let pause = Duration::from_millis(dice.below(200));
    let writer = std::thread::spawn(move || -> std::io::Result<()> {
        let call = json!({"name": "use_skill", "arguments": {"skill": "tea"}});
        writeln!(
            stdin,
            "{}\n{}",
            hello(),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
        )?;
        for id in 1..=CALLS {
            let request =
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
            writeln!(stdin, "{request}")?;
        }
        if goes_within_a_line { write!(stdin, "{{\"jsonrpc\": \"2.0\", \"id\":") } else { Ok(()) }
    });
    std::thread::sleep(pause);
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let answers = lines.filter(|line| line.contains("\"result\"")).count() as u64;
    let written = writer.join().unwrap().map_err(|error| error.to_string());
    let outcome = written.and_then(|()| ended(&mut child)).and_then(|()| {
        if answers == CALLS + 1 { Ok(()) } else { Err(format!("{answers} answers")) }
    });
    let _ = child.kill();
    let _ = child.wait();
    (outcome, answers)
}

/// Waits for the end of a server whose client is gone.
fn ended(child: &mut Child) -> Result<(), String> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(status.to_string()),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the server stays when its client is gone".to_owned())
}
