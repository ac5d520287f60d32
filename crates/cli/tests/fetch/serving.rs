//! Sources that a running `repertoire mcp` refreshes, and a hook does not.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::binary::Place;
use crate::repository::{Daemon, Repository};
use crate::signals::{PATIENCE, end, scratch, wait_until};

/// A place with the source `team`, which is refreshed every minute and provides `deploy` from a git
/// server.
struct World {
    place: Place,
    repository: Repository,
    daemon: Daemon,
}

impl World {
    fn new() -> World {
        let (place, repository) = (Place::new(), Repository::with_deploy());
        let daemon = Daemon::start(repository.path().parent().unwrap());
        place.run(["add", &daemon.url("repo"), "--name", "team"]).exits(0);
        let config = place.path().join("home/.repertoire/config.toml");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(&config, text + "refresh = \"1m\"\n").unwrap();
        World { place, repository, daemon }
    }

    /// Returns the place as if the source was last asked long ago, and a server that never answers.
    fn overdue(self) -> (Place, TcpListener) {
        age(&self.place);
        (self.place, self.daemon.into_silent())
    }
}

fn state_file(place: &Place) -> PathBuf {
    let files = walkdir::WalkDir::new(place.path().join("home/.local/share/repertoire"));
    let mut files = files.into_iter().map(|entry| entry.unwrap().into_path());
    files.find(|file| file.ends_with("team.json")).unwrap()
}

/// Sets the time at which the source was last asked to 1970.
fn age(place: &Place) {
    let file = state_file(place);
    let mut state: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    state["checked"] = 1.into();
    fs::write(&file, state.to_string()).unwrap();
}

fn serve(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(["mcp"].iter().chain(args));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_running_server_takes_up_a_commit_and_says_so() {
    let World { place, repository, daemon } = World::new();
    place.run(["trust", "add", "deploy", "--yes"]).exits(0);
    repository.skill("skills/deploy", "deploy", "Deploy it anew.\n");
    repository.write("skills/deploy/scripts/go.sh", "echo changed\n");
    let commit = repository.commit();
    age(&place);
    let server = serve(&place, &[]);
    let lock = place.path().join("home/.repertoire/skills.lock");
    wait_until("the source is updated", || fs::read_to_string(&lock).unwrap().contains(&commit));
    // The log line is printed a moment later.
    let doctor = || place.run(["doctor"]).stdout;
    wait_until("the answer is noted", || doctor().contains("servers ask it every 1 min; asked"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("`team` was updated to {}: 1 change", &commit[..12])), "{told}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("Deploy it anew."));
    let untrusted = place.run(["run", "deploy", "go.sh"]).exits(1).stderr;
    assert!(untrusted.contains("has changed since it was trusted"), "{untrusted}");
    drop(daemon);
}

#[test]
fn a_server_that_ends_ends_its_fetch_at_once() {
    let http = &["--http", "127.0.0.1:0"][..];
    for (signal, args) in [(None, &[][..]), (Some(Signal::INT), http), (Some(Signal::TERM), &[])] {
        let (place, listener) = World::new().overdue();
        let mut server = serve(&place, args);
        let (mut git, _) = listener.accept().unwrap();
        let start = std::time::Instant::now();
        if let Some(signal) = signal {
            assert!(end(server, signal).is_some());
        } else {
            drop(server.stdin.take());
            wait_until("the server ends", || server.try_wait().unwrap().is_some());
        }
        assert!(start.elapsed().as_secs() < 10, "{signal:?}: {:?}", start.elapsed());
        git.set_read_timeout(Some(PATIENCE)).unwrap();
        git.read_to_end(&mut Vec::new()).unwrap_or_else(|e| panic!("git goes on: {signal:?}: {e}"));
        let left = scratch(&place);
        assert!(left.is_empty(), "{signal:?}: {left:?}");
        // A cancelled fetch is not a problem of its source.
        let listed = place.run(["list", "--json"]).exits(0).json();
        assert_eq!(listed["diagnostics"], serde_json::json!([]), "{listed}");
    }
}

#[test]
fn of_two_servers_one_asks() {
    let (place, listener) = World::new().overdue();
    let (one, other) = (serve(&place, &[]), serve(&place, &[]));
    let first = listener.accept().unwrap();
    // Both servers answer their clients, so both have had the time to ask for updates.
    for mut server in [one, other] {
        let mut stdin = server.stdin.take().unwrap();
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        writeln!(stdin, "{request}").unwrap();
        let mut answer = [0; 16];
        server.stdout.take().unwrap().read_exact(&mut answer).unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        let second = listener.accept();
        assert_eq!(second.unwrap_err().kind(), ErrorKind::WouldBlock);
        end(server, Signal::KILL);
        // Either the first server still holds the lock, or it has ended and left the source to no one.
    }
    drop(first);
}

#[test]
fn a_hook_and_a_server_that_is_frozen_fetch_nothing() {
    let (place, listener) = World::new().overdue();
    listener.set_nonblocking(true).unwrap();
    let is_asked = || listener.accept().is_ok();
    let event = r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"deploy it"}"#;
    let args = ["hook", "claude-code", "--deadline", "60"];
    let run = place.run_with(args, event.as_bytes()).exits(0);
    assert!(run.stdout.contains("Deploy it with care."), "{run:?}");
    place.run(["list"]).exits(0);
    assert!(!is_asked(), "nothing but a server asks");
    for args in [&["mcp", "--frozen"][..], &["mcp", "--refresh", "off"]] {
        place.run_with(args, b"");
        let mut server = serve(&place, &args[1..]);
        std::thread::sleep(std::time::Duration::from_millis(500));
        assert!(!is_asked(), "{args:?}");
        server.kill().unwrap();
        server.wait().unwrap();
    }
    let server = serve(&place, &[]);
    wait_until("the server asks", is_asked);
    end(server, Signal::TERM);
}
