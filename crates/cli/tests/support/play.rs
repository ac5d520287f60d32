//! A client of a running `repertoire play`, over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::binary::Place;

/// A running `repertoire play` server.
pub(crate) struct Play {
    pub(crate) place: Place,
    pub(crate) child: Child,
    /// The address: `127.0.0.1:PORT`.
    pub(crate) host: String,
    /// The root path: `/TOKEN/`.
    pub(crate) root: String,
}

impl Play {
    /// Starts a server for the skills of `place`, with `options`.
    pub(crate) fn start(place: Place, options: &[&str]) -> Play {
        let args = ["play", "--http", "127.0.0.1:0", "--source", "skills", "--json"];
        let args = [&args[..], options].concat();
        let mut command = place.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut told = String::new();
        while !told.contains('}') {
            assert_ne!(lines.read_line(&mut told).unwrap(), 0, "{told}");
        }
        let told: Value = serde_json::from_str(&told).unwrap();
        let url = told["url"].as_str().unwrap().strip_prefix("http://").unwrap();
        let (host, root) = url.split_at(url.find('/').unwrap());
        Play { place, child, host: host.to_owned(), root: root.to_owned() }
    }

    /// Sends a request for `path`. Returns the status, head and body of the response.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> (u16, String, String) {
        self.request_with(method, path, &format!("Host: {}\r\n", self.host), body)
    }

    /// Sends a request for `path` with `lines` in its head.
    pub(crate) fn request_with(
        &self,
        method: &str,
        path: &str,
        lines: &str,
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let n_bytes = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{lines}Connection: close\r\nContent-Length: {n_bytes}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server may refuse a request for its length before reading all of it.
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    pub(crate) fn ask(&self, question: &Value) -> Value {
        let path = format!("{}ask", self.root);
        let (status, _, body) = self.request("POST", &path, &question.to_string());
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
