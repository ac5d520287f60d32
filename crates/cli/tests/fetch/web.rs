//! A web server on the loopback interface whose answers a test writes byte by byte.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that runs for as long as the test.
pub(crate) struct Web {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Web {
    /// Starts a server that calls `answer` for each request, with the lines of the request in lower
    /// case.
    pub(crate) fn start(
        answer: impl Fn(&str, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answer, seen) = (Arc::new(answer), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let lines: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let request = lines.join("\n").to_lowercase();
                seen.lock().unwrap().push(request.clone());
                // A client may hang up once it has read enough.
                std::thread::spawn(move || answer(&request, &mut stream));
            }
        });
        Web { port, requests }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    pub(crate) fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// Answers with a status, headers and a body.
pub(crate) fn answer(
    stream: &mut TcpStream,
    status: &str,
    headers: &str,
    body: &[u8],
) -> std::io::Result<()> {
    let n_bytes = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {n_bytes}\r\n{headers}\r\n");
    stream.write_all(head.replace("\n\r\n", "\nConnection: close\r\n\r\n").as_bytes())?;
    stream.write_all(body)
}
