//! Signals that end a command during a fetch: no programs and no files are left behind.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::binary::Place;
use crate::repository::Repository;

/// The longest time that any step here may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn wait_until(what: &str, mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done() {
        assert!(Instant::now() < end, "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn start(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Sends a signal, and returns the exit code.
pub(crate) fn end(mut child: Child, signal: Signal) -> Option<i32> {
    kill_process(Pid::from_child(&child), signal).unwrap();
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("it goes on after {signal:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn scratch(place: &Place) -> Vec<fs::DirEntry> {
    let entries = fs::read_dir(place.path().join("home/.cache/repertoire/fetch/scratch"));
    entries.into_iter().flatten().map(Result::unwrap).collect()
}

#[test]
fn a_signal_ends_the_program_of_a_server_with_its_children() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let place = Place::new();
        let pids = place.path().join("pids");
        let script =
            "sleep 312 & echo $! > \"$0.new\"; echo $$ >> \"$0.new\"; mv \"$0.new\" \"$0\"; wait";
        let pids_arg = pids.to_str().unwrap();
        let args = ["add", "mcp:", "--name", "a", "--", "sh", "-c", script, pids_arg];
        let child = start(&place, &args);
        wait_until("the program runs", || pids.exists());
        assert_eq!(end(child, signal), Some(code));
        for pid in fs::read_to_string(&pids).unwrap().lines() {
            let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
            wait_until("its processes are gone", || is_gone(pid));
        }
        assert!(!place.path().join("home/.repertoire/config.toml").exists());
    }
}

/// Tells whether a process has ended, even if its parent has not waited for it.
fn is_gone(pid: Pid) -> bool {
    let stat =
        fs::read_to_string(Path::new("/proc").join(pid.as_raw_pid().to_string()).join("stat"));
    test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn a_signal_ends_git_and_removes_what_it_wrote() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    place.run(["add", &repository.url(), "--name", "good"]).exits(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("git://127.0.0.1:{}/x.git", listener.local_addr().unwrap().port());
    let config = place.path().join("home/.repertoire/config.toml");
    let text = fs::read_to_string(&config).unwrap().replace(&repository.url(), &silent);
    fs::write(&config, text).unwrap();
    for args in [
        &["add", &silent, "--name", "new"][..],
        &["update", "good"],
        &["outdated", "good"],
        &["push", &silent, "x.tar.gz"],
    ] {
        let child = start(&place, args);
        let (mut git, _) = listener.accept().unwrap();
        assert_eq!(end(child, Signal::TERM), Some(143), "{args:?}");
        git.set_read_timeout(Some(PATIENCE)).unwrap();
        git.read_to_end(&mut Vec::new()).unwrap_or_else(|e| panic!("git goes on: {args:?}: {e}"));
        let left = scratch(&place);
        assert!(left.is_empty(), "{args:?}: {left:?}");
    }
    // An interrupted update is not a problem of its source.
    let listed = place.run(["list", "--json"]).exits(0).json();
    assert_eq!(listed["diagnostics"], serde_json::json!([]), "{listed}");
}

#[test]
fn a_signal_ends_a_command_that_waits_for_another_one() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    place.run(["add", &repository.url(), "--name", "good"]).exits(0);
    let copies = place.path().join("home/.local/share/repertoire/skills");
    let lock = fs::File::options().write(true).open(copies.join(".lock")).unwrap();
    lock.lock().unwrap();
    for args in [&["remove", "good"][..], &["update", "good"]] {
        let mut child = start(&place, args);
        std::thread::sleep(Duration::from_secs(1));
        assert!(child.try_wait().unwrap().is_none(), "{args:?} does not wait");
        assert_eq!(end(child, Signal::TERM), Some(143), "{args:?}");
    }
    drop(lock);
    place.run(["remove", "good"]).exits(0);
}

#[test]
fn the_next_command_removes_what_a_killed_one_wrote() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("git://127.0.0.1:{}/x.git", listener.local_addr().unwrap().port());
    let (killed, alive) = (start(&place, &["add", &silent]), start(&place, &["add", &silent]));
    let (_one, _two) = (listener.accept().unwrap(), listener.accept().unwrap());
    assert_eq!(scratch(&place).len(), 2);
    end(killed, Signal::KILL);
    place.run(["add", &repository.url()]).exits(0);
    assert_eq!(scratch(&place).len(), 1, "that of the other one stays");
    end(alive, Signal::INT);
    assert!(scratch(&place).is_empty());
}
