//! The start script of `examples/fleet`, with skills from a real S3 server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::binary::Place;
use crate::object_store::{Store, variables};
use crate::ports::free_port;
use crate::repository::skill;
use crate::server::SECRET;
use crate::signals::wait_until;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server that the script has started.
struct Started {
    process: Child,
    port: u16,
}

impl Started {
    /// Runs the script for a machine whose files are in `place`, and waits until the server answers.
    fn start(place: &Place, store: u16) -> Started {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let bin = Path::new(env!("CARGO_BIN_EXE_repertoire")).parent().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let port = free_port();
        place.write("token", TOKEN);
        let mut command = Command::new("sh");
        command.arg(root.join("examples/fleet/start.sh")).arg(format!("--http=127.0.0.1:{port}"));
        command.args(["--token-file=token", "--offline"]).current_dir(place.path());
        command.env("HOME", place.path().join("home")).env("PATH", path);
        command.envs(variables(store, SECRET));
        let process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Started { process, port };
        wait_until("it serves", || server.get("/health").ends_with("alive\n"));
        server
    }

    fn get(&self, path: &str) -> String {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return String::new();
        };
        let head = "Host: localhost\r\nConnection: close\r\nAuthorization: Bearer";
        write!(stream, "GET {path} HTTP/1.1\r\n{head} {TOKEN}\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn assert_serves(&self, n_skills: usize) {
        let metrics = self.get("/metrics");
        let line = format!("repertoire_skills{{client=\"default\"}} {n_skills}\n");
        assert!(metrics.contains(&line), "{metrics}");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The script has replaced itself by the server, so this ends the server.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_server_serves_what_was_published_and_starts_again_without_the_store() {
    let (Some(mut store), place) = (Store::start(), Place::new()) else { return };
    fs::create_dir(store.path("../catalog")).unwrap();
    let publish = || store.run(&place, &["push", "./skills", "s3://catalog/skills.tar.gz"]);
    place.write("skills/hello/SKILL.md", skill("hello", "", "Say hello.\n"));
    publish().exits(0);
    Started::start(&place, store.server.port).assert_serves(1);

    place.write("skills/bye/SKILL.md", skill("bye", "", "Say goodbye.\n"));
    publish().exits(0);
    Started::start(&place, store.server.port).assert_serves(2);

    let gone = store.server.port;
    store.server.stop();
    Started::start(&place, gone).assert_serves(2);
}
