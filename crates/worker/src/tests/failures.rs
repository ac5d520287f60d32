//! The ways in which a plugin can fail. Each is only an error of that call.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::{ErrorCode, FakeHost};
use serde_json::json;

use super::*;

/// Asserts that calling `tool` ends the process in this way and with this output, and that the next
/// call works.
#[track_caller]
fn assert_crash(tool: &str, how: &str, last_output: &str) {
    let fixture = Fixture::failing();
    fixture.fail("noop").unwrap();
    let pid = fixture.pid();
    let error = fixture.fail(tool).unwrap_err();
    let (text, help) = (error.to_string(), error.help());
    let WorkerError::Crashed { how: found, last_output: words, .. } = error else {
        panic!("{text}");
    };
    assert_eq!(found, how);
    assert!(words.contains(last_output), "{words}");
    assert!(text.starts_with("the plugin `/skills/demo/demo.so` crashed: "), "{text}");
    assert!(help.starts_with("the next call starts it again"), "{help}");
    assert_gone(pid);
    assert!(matches!(fixture.worker.state(), WorkerState::Crashed { crashes: 1, .. }));
    assert_eq!(fixture.fail("noop").unwrap(), "");
    assert_ne!(fixture.pid(), pid);
}

#[test]
fn crashes_are_one_calls_error() {
    assert_crash("double_panic", "killed by signal 6 (SIGABRT)", "panic");
    assert_crash("abort", "killed by signal 6 (SIGABRT)", "");
    assert_crash("segfault", "killed by signal 11 (SIGSEGV)", "");
    assert_crash("exit", "exit code 3", "");
    assert_crash("overflow", "killed by signal 6 (SIGABRT)", "stack overflow");
    assert_crash("allocate", "killed by signal 6 (SIGABRT)", "memory allocation");
}

/// Asserts that the error comes from the tool, not from the process, and has this code and text.
#[track_caller]
fn assert_failure(error: WorkerError, code: ErrorCode, text: &str) {
    match error {
        WorkerError::Failed { code: found, message, .. }
        | WorkerError::Create { code: found, message, .. } => {
            assert_eq!(found, code, "{message}");
            assert!(message.contains(text), "{message}");
        }
        error => panic!("{error}"),
    }
}

#[test]
fn panics_and_errors_leave_the_process_alone() {
    let fixture = Fixture::failing();
    fixture.fail("noop").unwrap();
    let pid = fixture.pid();
    assert_failure(fixture.fail("panic").unwrap_err(), ErrorCode::Panicked, "boom 42");
    assert_failure(
        fixture.fail("hostile_panic").unwrap_err(),
        ErrorCode::Panicked,
        "a value that is not text",
    );
    assert_failure(fixture.fail("nothing").unwrap_err(), ErrorCode::UnknownTool, "nothing");
    let describe =
        |class| fixture.worker.describe(class, &json!({}), &FakeHost::new()).unwrap_err();
    assert_failure(
        describe("PanicInCreate"),
        ErrorCode::Panicked,
        "the toolset `PanicInCreate` of `/skills/demo/demo.so` cannot be created: panicked",
    );
    assert_failure(
        describe("Nobody"),
        ErrorCode::UnknownTool,
        "the plugin `/skills/demo/demo.so` has no class `Nobody`",
    );
    let picky = |level: u8| {
        fixture.worker.describe("PickyToolset", &json!({"level": level}), &FakeHost::new())
    };
    assert_failure(picky(0).unwrap_err(), ErrorCode::Failed, "level 0 is not enough");
    assert_eq!(picky(1).unwrap().class, "PickyToolset");
    assert_eq!(fixture.fail("big").unwrap(), "x".repeat(64 << 10));
    assert_eq!(fixture.pid(), pid);
}

#[test]
fn an_endless_call_is_ended_and_others_say_why() {
    let limits = Limits { call_timeout: Duration::from_secs(2), ..short() };
    let fixture =
        Fixture::new(this_program("child_main"), build::of_workspace("failing-toolset"), limits);
    fixture.fail("noop").unwrap();
    let pid = fixture.pid();
    thread::scope(|scope| {
        let first = scope.spawn(|| fixture.fail("endless").unwrap_err());
        thread::sleep(Duration::from_millis(500));
        let second = fixture.fail("endless").unwrap_err();
        // On a busy machine, the later call may be the first to find its time over.
        let (ended, other) = match (first.join().unwrap(), second) {
            (ended @ WorkerError::TimedOut { .. }, other) | (other, ended) => (ended, other),
        };
        assert!(matches!(ended, WorkerError::TimedOut { stopped: false, .. }), "{ended}");
        assert_eq!(
            ended.to_string(),
            "the call to the plugin `/skills/demo/demo.so` did not end within 2.0 s and its \
             process was killed"
        );
        let reason = "its process was ended because another call ran over its time";
        assert!(matches!(&other, WorkerError::Crashed { how, .. } if how == reason), "{other}");
    });
    assert_gone(pid);
    // The host killed the process, so it did not crash.
    assert_eq!(fixture.worker.state(), WorkerState::Idle);
    fixture.fail("noop").unwrap();
}

#[test]
fn three_crashes_disable_until_reset() {
    let fixture = Fixture::failing();
    for _ in 0..3 {
        assert!(matches!(fixture.fail("exit").unwrap_err(), WorkerError::Crashed { .. }));
    }
    let error = fixture.fail("noop").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the plugin `/skills/demo/demo.so` is disabled after 3 crashes, the last: exit code 3; \
         last output: running 1 test",
        "the words are the test harness's"
    );
    assert!(
        matches!(fixture.worker.state(), WorkerState::Disabled { how, .. } if how == "exit code 3")
    );
    fixture.worker.reset();
    assert_eq!(fixture.worker.state(), WorkerState::Idle);
    fixture.fail("noop").unwrap();
}

#[test]
fn a_library_that_cannot_be_opened_is_named_and_is_no_crash() {
    let fixture = Fixture::new(this_program("child_main"), "/etc/ld.so.cache".into(), short());
    for _ in 0..4 {
        let error = fixture.worker.describe("Any", &json!({}), &FakeHost::new()).unwrap_err();
        let WorkerError::Load { message, help } = error else { panic!("{error}") };
        assert!(message.contains("`/skills/demo/demo.so`"), "{message}");
        assert!(!message.contains("ld.so.cache"), "{message}");
        assert!(help.starts_with("build or copy it again"), "{help}");
    }
    assert_eq!(fixture.worker.state(), WorkerState::Idle);
}

#[test]
fn a_program_that_is_not_there_or_not_ours_is_an_error() {
    let program = |program: &str, args: &[&str]| {
        let args = args.iter().map(OsString::from).collect();
        let program = HostProgram { program: program.into(), args };
        let fixture = Fixture::new(program, build::of_workspace("calls-toolset"), short());
        fixture.greet("Ada").unwrap_err()
    };
    let error = program("/no/such/program", &[]);
    assert!(
        error
            .to_string()
            .starts_with("cannot start `/no/such/program` for the plugin `/skills/demo/demo.so`: "),
        "{error}"
    );
    let error = program("/bin/sh", &["-c", "echo not me >&2; exit 4"]);
    let crash = matches!(&error, WorkerError::Crashed { how, last_output, .. }
        if how == "exit code 4" && last_output == "not me");
    assert!(crash, "{error}");
    // The child's answer is not a frame.
    let error = program("/bin/sh", &["-c", "head -c 100 /dev/zero >&0; sleep 10"]);
    assert!(matches!(error, WorkerError::Protocol { .. }), "{error}");
}

#[test]
fn what_a_plugin_starts_ends_with_it() {
    let fixture = Fixture::prober(short());
    fixture.probe("env", &json!({})).unwrap();
    let pid = fixture.pid();
    assert!(fixture.probe("escape", &json!({})).unwrap_err().to_string().contains("not permitted"));
    fixture.probe("start_and", &json!({"name": "exit"})).unwrap_err();
    assert_gone(pid);
}

/// A process whose first thread ends looks like one that has ended.
const LEFT_BY_ITS_FIRST_THREAD: &str = "command -v python3 >/dev/null || exit 0
python3 -c 'import ctypes, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
ctypes.CDLL(None).pthread_exit(None)' >/dev/null 2>&1 & sleep 0.5";

#[test]
fn what_a_call_starts_ends_with_it() {
    let fixture = Fixture::prober(short());
    fixture.probe("start", &json!({})).unwrap();
    let pid = fixture.pid();
    // Nothing is waited for: it is gone when the answer is there.
    assert_eq!(group(pid), [pid]);
    for command in [
        "sleep 1000 >/dev/null 2>&1 &",
        "(sleep 1000 >/dev/null 2>&1 &)",
        "(trap '' TERM HUP; for i in 1 2 3; do sleep 1000 >/dev/null 2>&1 & done) &",
        "sh -c 'while :; do sleep 0.01; done' >/dev/null 2>&1 &",
        LEFT_BY_ITS_FIRST_THREAD,
    ] {
        fixture.probe("run", &json!({"name": command})).unwrap();
        assert_eq!(group(pid), [pid], "{command}");
    }
    // Calls at the same time keep what they need until the last of them ends.
    thread::scope(|scope| {
        let long = || fixture.probe("run", &json!({"name": "sleep 1; echo done"})).unwrap();
        let long = scope.spawn(long);
        thread::sleep(Duration::from_millis(300));
        fixture.probe("start", &json!({})).unwrap();
        assert_eq!(long.join().unwrap(), "done\n");
    });
    assert_eq!(group(pid), [pid]);
    assert_eq!(fixture.pid(), pid);
}

#[test]
fn what_a_child_takes_altogether_is_bounded() {
    let limits = |change: fn(&mut Limits)| {
        let mut limits = Limits { call_timeout: Duration::from_secs(30), ..short() };
        change(&mut limits);
        limits
    };
    // Eleven times twice as many: 2,048 processes, if nobody ends them.
    let multiply = "f() { [ $1 = 0 ] || { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 100; }; f 11";
    let cases: [(Limits, &str, &str); 6] = [
        (
            limits(|limits| limits.group_processes = Some(100)),
            multiply,
            "it ran more than 100 processes and threads at once",
        ),
        (
            limits(|limits| limits.group_processes = Some(40)),
            "for i in $(seq 60); do sleep 100 & done; wait",
            "it ran more than 40 processes and threads at once",
        ),
        (
            limits(|limits| limits.scratch_bytes = Some(2_000_000)),
            "for i in $(seq 40); do head -c 200000 /dev/zero >$TMPDIR/$i; done; sleep 100",
            "it took more than 2000000 bytes for temporary files",
        ),
        (
            limits(|limits| limits.address_space = Some(256 << 20)),
            "for i in 1 2 3; do python3 -c 'import time; x = bytearray(120 << 20); time.sleep(100)' & done; wait",
            "it took more than 268435456 bytes of memory altogether",
        ),
        (
            limits(|limits| limits.address_space = Some(256 << 20)),
            "python3 -c 'import socket, time
kept = [socket.socketpair() for _ in range(400)]
time.sleep(100)'",
            "it took more than 268435456 bytes of memory altogether",
        ),
        (
            limits(|limits| limits.address_space = Some(256 << 20)),
            "python3 -c 'import mmap, os, time
for i in range(3):
    if not os.fork():
        m = mmap.mmap(-1, 120 << 20); m.write(bytes(120 << 20)); time.sleep(100)
time.sleep(100)'",
            "it took more than 268435456 bytes of memory altogether",
        ),
    ];
    for (limits, command, expected) in cases {
        if command.contains("python3") && !std::path::Path::new("/usr/bin/python3").exists() {
            println!("SKIPPED: no `python3` on this machine");
            continue;
        }
        let fixture = Fixture::prober(limits);
        let began = Instant::now();
        let error = fixture.probe("run", &json!({"name": command})).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::what_a_child_takes_altogether_is_bounded");
    probes::again_as_another(&name, |text| println!("{text}"));
}

/// Not a test: a host with an endless call, which another test kills.
#[test]
#[ignore = "started by another test"]
fn host_main() {
    if std::env::args().any(|argument| argument == MARK) {
        let fixture = Fixture::prober(Limits::default());
        fixture.probe("env", &json!({})).unwrap();
        println!("child {} ", fixture.pid());
        let _ = fixture.probe("start_and", &json!({"name": "stay"}));
    }
}

#[test]
fn a_killed_host_leaves_no_process() {
    let program = this_program("failures::host_main");
    let temporary = tempfile::tempdir().unwrap();
    let mut host = Command::new(&program.program)
        .args(&program.args)
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let output = std::io::BufReader::new(host.stdout.take().unwrap());
    let line = std::io::BufRead::lines(output)
        .map(Result::unwrap)
        .find(|line| line.contains("child "))
        .unwrap();
    let pid = line.split("child ").nth(1).unwrap().trim().parse::<u32>().unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    while group(pid).len() < 2 {
        assert!(Instant::now() < patience, "the child starts nothing");
        thread::sleep(Duration::from_millis(5));
    }
    let killed = Instant::now();
    host.kill().unwrap();
    host.wait().unwrap();
    assert_gone(pid);
    println!("gone {:?} after the host", killed.elapsed());

    // The next host removes the directories that the killed one left.
    let left = || {
        let entries = std::fs::read_dir(temporary.path()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("repertoire-")).collect::<Vec<_>>()
    };
    let by_the_killed = left();
    assert_eq!(by_the_killed.len(), 1, "the scratch directory of its child");
    let next = Command::new(&program.program)
        .args(&program.args)
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut next = next.unwrap();
    let output = std::io::BufReader::new(next.stdout.take().unwrap());
    let mut lines = std::io::BufRead::lines(output).map(Result::unwrap);
    assert!(lines.any(|line| line.contains("child ")));
    assert!(!left().contains(&by_the_killed[0]));
    assert_eq!(left().len(), 1, "its own");
    next.kill().unwrap();
    next.wait().unwrap();
}

#[test]
fn a_plugin_that_keeps_printing_is_bounded() {
    let fixture = Fixture::failing();
    for _ in 0..1000 {
        fixture.fail("print").unwrap();
    }
    let error = fixture.fail("exit").unwrap_err();
    let WorkerError::Crashed { last_output, .. } = error else { panic!("{error}") };
    assert!(last_output.len() <= 4096 && last_output.ends_with("last words of a plugin"));
}
