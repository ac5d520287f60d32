//! Servers on the loopback interface: programs that a test starts, and our own servers with prepared
//! answers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The password of the servers. No file and no message may contain it.
pub(crate) const SECRET: &str = "s3cret-of-ann";

/// A server program, which ends on drop.
pub(crate) struct Server {
    pub(crate) port: u16,
    process: Child,
}

impl Server {
    /// Starts a program that listens on `port`, and waits until it does.
    pub(crate) fn start<S: AsRef<std::ffi::OsStr>>(
        program: PathBuf,
        args: impl IntoIterator<Item = S>,
        port: u16,
    ) -> Server {
        // The shell ends the program when this process is gone, in whatever way it ended.
        let mut command = Command::new("sh");
        command.args(["-c", r#""$@" & read -r _; kill -KILL $!; wait $!"#, "sh"]);
        command.arg(program).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "the server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Server { port, process }
    }

    /// Ends the program.
    pub(crate) fn stop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reports that a program is missing, so that a test is skipped; fails if `CI` is set.
pub(crate) fn skip(program: &str) {
    assert!(std::env::var_os("CI").is_none(), "there is no `{program}`");
    let line = format!("SKIPPED: there is no `{program}`; `.ci/run` installs it\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Asserts that no file below a directory contains the password.
pub(crate) fn assert_no_secret(dir: &std::path::Path) {
    let mut n_files = 0;
    for entry in walkdir::WalkDir::new(dir).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            let content = std::fs::read(entry.path()).unwrap();
            let is_held = content.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
            assert!(!is_held, "{} holds the secret", entry.path().display());
            n_files += 1;
        }
    }
    assert!(n_files > 3, "{n_files} files were read");
}

/// Starts a server that answers every request with the bytes for its decoded target, or with 404 if
/// there are none. Returns the port.
pub(crate) fn serve(
    answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static,
    headers: &'static str,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // A client may hang up once it has read enough.
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
