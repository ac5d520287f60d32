//! A small reverse proxy. Each request goes to the servers in turn; if no complete answer comes, it is
//! sent again to another server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The header that tells an agent that its request was sent more than once.
pub(crate) const AGAIN: &str = "x-sent-again";

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
}

struct State {
    backends: Vec<SocketAddr>,
    requests: AtomicUsize,
    retries: AtomicUsize,
}

impl Proxy {
    pub(crate) fn start(backends: Vec<SocketAddr>) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, retries) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let state = Arc::new(State { backends, requests, retries });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (state, stream) = (Arc::clone(&shared), stream.unwrap());
                // If the agent is gone, it needs no answer.
                thread::spawn(move || state.pass(stream).ok());
            }
        });
        Proxy { address, state }
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn retries(&self) -> usize {
        self.state.retries.load(Ordering::Relaxed)
    }
}

impl State {
    /// Forwards one request, and the answer to it.
    fn pass(&self, mut agent: TcpStream) -> std::io::Result<()> {
        let request = whole_request(&agent)?;
        let mut is_again = false;
        for _ in 0..2 * self.backends.len() {
            let turn = self.requests.fetch_add(1, Ordering::Relaxed);
            let backend = self.backends[turn % self.backends.len()];
            match ask(backend, &request) {
                Asked::Answer(answer) => {
                    let answer = String::from_utf8_lossy(&answer);
                    let (status, rest) = answer.split_once("\r\n").unwrap();
                    let again = if is_again { format!("{AGAIN}: 1\r\n") } else { String::new() };
                    return write!(agent, "{status}\r\n{again}{rest}");
                }
                Asked::Refused => {}
                Asked::Broken => is_again = true,
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
        }
        write!(agent, "HTTP/1.1 502 Bad Gateway\r\n\r\n")
    }
}

enum Asked {
    Answer(Vec<u8>),
    /// The server never saw the request.
    Refused,
    /// The server may have seen the request.
    Broken,
}

fn ask(backend: SocketAddr, request: &[u8]) -> Asked {
    let Ok(mut stream) = TcpStream::connect(backend) else { return Asked::Refused };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut answer = Vec::new();
    let asked = stream.write_all(request).and_then(|()| stream.read_to_end(&mut answer));
    if asked.is_ok() && is_whole(&answer) { Asked::Answer(answer) } else { Asked::Broken }
}

/// Tells whether an answer is complete.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    match head.lines().find_map(|line| line.strip_prefix("content-length: ")) {
        Some(length) => body.len() == length.trim().parse::<usize>().unwrap(),
        None => body.ends_with("0\r\n\r\n"),
    }
}

fn whole_request(agent: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut reader = BufReader::new(agent);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        request += &line;
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok([request.into_bytes(), body].concat())
}
