//! Servers of our own on the loopback, whose answers are written by a test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

/// Answers every request with the bytes for its target, which is decoded; with 404 if there are none.
/// Returns the port.
pub(crate) fn serve(
    answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static,
    headers: &'static str,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client may hang up once it has seen enough.
            let _ = respond(&stream.unwrap(), &answer, headers);
        }
    });
    port
}

fn respond(
    mut stream: &TcpStream,
    answer: &impl Fn(&str) -> Option<Vec<u8>>,
    headers: &str,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().unwrap_or(Ok(String::new()))?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let target = request.split(' ').nth(1).unwrap_or_default();
    let target = percent_encoding::percent_decode_str(target).decode_utf8_lossy();
    let body = answer(&target);
    let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
    let body = body.unwrap_or_default();
    let n_bytes = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {n_bytes}\r\n{headers}Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(if request.starts_with("HEAD") { b"" } else { &body })
}
