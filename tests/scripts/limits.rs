//! Each limit stops a script that exceeds it, in time and with its partial output, and leaves no
//! process running.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use repertoire::ErrorCode;
use repertoire::script::{ScriptIo, ScriptLimits, ScriptOutput, Stream};

use super::*;

const SHORT: Duration = Duration::from_millis(1500);

/// Asserts that the script was stopped by its timeout, long before it would have ended.
#[track_caller]
fn assert_timed_out(output: &ScriptOutput) {
    assert!(output.timed_out && !output.truncated && !output.cancelled, "{output:?}");
    assert_eq!(output.reason.as_deref(), Some("it did not end within 1.5 s, and was stopped"));
    assert!(output.duration_ms >= 1500, "{output:?}");
    assert!(Duration::from_millis(output.duration_ms) < LONG, "{output:?}");
}

#[test]
fn time_ends_a_script_and_keeps_what_it_wrote() {
    let place = Place::sh("echo begun; echo why >&2; sleep 60; echo never").limited(|limits| {
        limits.timeout = SHORT;
    });
    let output = place.only(&[]);
    assert_timed_out(&output);
    assert_eq!((&*output.stdout, &*output.stderr), ("begun\n", "why\n"));
    assert_eq!((output.exit_code, output.signal), (None, Some(15)));
}

#[test]
fn a_script_that_ends_when_asked_may_say_so() {
    let text = "trap 'echo bye; exit 3' TERM; echo begun; while :; do sleep 0.02; done";
    let output = Place::sh(text).limited(|limits| limits.timeout = SHORT).only(&[]);
    assert_timed_out(&output);
    assert_eq!((&*output.stdout, output.exit_code), ("begun\nbye\n", Some(3)));
}

#[test]
fn a_script_that_does_not_end_when_asked_is_killed() {
    for text in [
        "trap '' TERM; echo begun; while :; do sleep 0.02; done",
        "trap 'echo no' TERM INT HUP; echo begun; while :; do sleep 0.02; done",
        "trap '' TERM; echo begun; (trap '' TERM; sleep 60) & wait",
        "echo begun; kill -STOP $$; trap '' TERM; while :; do sleep 0.02; done",
    ] {
        let place = Place::sh(text).limited(|limits| {
            limits.timeout = SHORT;
            limits.grace = Duration::from_millis(100);
        });
        let output = place.only(&[]);
        assert_timed_out(&output);
        assert!(output.stdout.starts_with("begun\n"), "{output:?}");
    }
}

#[test]
fn a_script_that_stands_still_is_stopped() {
    let text = "echo begun; kill -STOP $$; sleep 60";
    let output = Place::sh(text).limited(|limits| limits.timeout = SHORT).only(&[]);
    assert_timed_out(&output);
}

#[test]
fn output_is_cut_at_the_limit() {
    for (text, both) in [
        ("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", false),
        ("exec cat /dev/zero", false),
        ("while :; do printf x; done", false),
        ("head -c 15000 /dev/zero; head -c 15000 /dev/zero >&2; sleep 60", true),
        ("trap '' TERM; cat /dev/zero", false),
    ] {
        let place = Place::sh(text).limited(|limits| limits.output_bytes = 20_000);
        let output = place.only(&[]);
        assert!(output.truncated && !output.timed_out, "{text}: {output:?}");
        assert_eq!(output.stdout.len() + output.stderr.len(), 20_000, "{text}");
        assert_eq!(both, !output.stderr.is_empty(), "{text}");
        assert_eq!(
            output.reason.as_deref(),
            Some("it wrote more than 20000 bytes, and was killed")
        );
        assert!(!output.is_success());
    }
}

#[test]
fn output_of_exactly_the_limit_is_whole() {
    let place = Place::sh("head -c 19000 /dev/zero; head -c 1000 /dev/zero >&2");
    let output = place.limited(|limits| limits.output_bytes = 20_000).only(&[]);
    assert!(output.is_success(), "{output:?}");
    assert_eq!((output.stdout.len(), output.stderr.len()), (19_000, 1_000));
    let place = Place::sh("printf x");
    assert!(place.limited(|limits| limits.output_bytes = 0).only(&[]).truncated);
}

#[test]
fn arguments_are_bounded() {
    let place = Place::sh("echo $#");
    let many: Vec<&str> = vec!["a"; 101];
    let long = "x".repeat(4097);
    let refused: [(&[&str], &str); 4] = [
        (&many, "101 arguments, where 100 are allowed"),
        (&[&long], "its arguments have 4097 bytes, where 4096 are allowed"),
        (&[&long[..4000], &long[..97]], "its arguments have 4097 bytes, where 4096 are allowed"),
        (&["a", "b\0c"], "argument 2 has a NUL byte"),
    ];
    for (args, why) in refused {
        let error = place.run("a.sh", args).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam);
        let expected = format!("cannot run the script `scripts/a.sh` of the skill `tried`: {why}");
        assert_eq!(error.message(), expected);
    }
    assert_eq!(place.only(&many[..100]).stdout, "100\n");
    assert_eq!(place.only(&[&long[..4000], &long[..96]]).stdout, "2\n");
}

#[test]
fn processor_time_is_bounded() {
    let place = Place::sh("echo begun; while :; do :; done");
    let output = place.limited(|limits| limits.cpu_seconds = Some(1)).only(&[]);
    assert_eq!(output.stdout, "begun\n");
    let reason = "killed by signal 24 (SIGXCPU): it used up its processor time";
    assert_eq!(output.reason.as_deref(), Some(reason), "{output:?}");
}

#[test]
fn memory_is_bounded() {
    if !has("python3") {
        return;
    }
    let text = "print(len(bytearray(300 << 20)))";
    for set in [
        |limits: &mut ScriptLimits| limits.memory = Some(100 << 20),
        |limits: &mut ScriptLimits| limits.address_space = Some(100 << 20),
    ] {
        let output = Place::py(text).limited(set).only(&[]);
        assert!(output.stderr.contains("MemoryError"), "{output:?}");
        assert_eq!(output.exit_code, Some(1));
    }
    assert!(Place::py(text).only(&[]).is_success());
}

#[test]
fn memory_of_what_a_script_starts_is_bounded() {
    if !has("python3") {
        return;
    }
    // Processes that start at once, perhaps before the limits apply.
    let text = "for i in 1 2 3; do python3 -c 'x = bytearray(300 << 20); print(1)' & done; wait";
    let output = Place::sh(text).limited(|limits| limits.memory = Some(100 << 20)).only(&[]);
    assert_eq!(output.stderr.matches("MemoryError").count(), 3, "{output:?}");
}

#[test]
fn files_are_bounded() {
    let place = Place::sh("echo begun; head -c 5000 /dev/zero > $TMPDIR/big; echo $?")
        .limited(|limits| limits.file_bytes = Some(1000));
    let output = place.only(&[]);
    assert!(
        output.stdout.starts_with("begun\n") && !output.stdout.ends_with("\n0\n"),
        "{output:?}"
    );
    assert!(Place::sh("head -c 5000 /dev/zero > $TMPDIR/big").only(&[]).is_success());
}

#[test]
fn processes_are_bounded() {
    if is_superuser() || !has("python3") {
        support::say("SKIPPED: the system does not bound the processes of the superuser");
        return;
    }
    let text = "import os\nfor i in range(50): os.fork() or os._exit(0)";
    let output = Place::py(text).limited(|limits| limits.processes = Some(1)).only(&[]);
    assert!(output.stderr.contains("BlockingIOError"), "{output:?}");
}

#[test]
fn many_processes_end_with_their_script() {
    let many = "i=0; while [ $i -lt 60 ]; do (trap '' TERM; sleep 60) & i=$((i+1)); done; echo all";
    let output = Place::sh(many).only(&[]);
    assert!(output.is_success(), "{output:?}");
    let place = Place::sh(&format!("{many}; trap '' TERM; wait")).limited(|limits| {
        limits.timeout = Duration::from_secs(6);
        limits.grace = Duration::from_millis(100);
    });
    let output = place.only(&[]);
    assert!(output.timed_out && output.stdout == "all\n", "{output:?}");
    // Each process starts the next one, and ends.
    let chain = "[ $# -gt 90 ] && exec sleep 60; sh \"$0\" x \"$@\" & [ $# -gt 0 ] || sleep 1";
    Place::sh(chain).only(&[]);
}

#[test]
fn nothing_leaves_the_group() {
    let place = Place::sh("setsid sleep 60 & nohup sleep 60 & sleep 60 & echo done");
    let output = place.only(&[]);
    assert!(output.sandbox.contained, "{output:?}");
    assert_eq!(output.stdout, "done\n");
    assert!(Duration::from_millis(output.duration_ms) < LONG);
    if !has("python3") {
        return;
    }
    let daemon = r#"
import os, time
def refused(call, *args):
    try:
        call(*args)
        print("left by", call.__name__, flush=True)
    except PermissionError:
        print("refused", call.__name__, flush=True)
refused(os.setsid)
refused(os.setpgrp)
refused(os.setpgid, 0, os.getpid())
child = os.fork()
if child == 0:
    refused(os.setsid)
    if os.fork() == 0:
        refused(os.setpgrp)
        time.sleep(60)
    os._exit(0)
refused(os.setpgid, child, child)
time.sleep(0.3)
"#;
    let output = Place::py(daemon).only(&[]);
    assert_eq!(output.exit_code, Some(0), "{output:?}");
    assert_eq!(output.stdout.matches("refused").count(), 6, "{output:?}");
    assert!(!output.stdout.contains("left"), "{output:?}");
}

#[test]
fn a_host_that_is_given_orphans_buries_them() {
    rustix::process::set_child_subreaper(Some(rustix::process::Pid::INIT)).unwrap();
    let ours = || {
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let stats = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        let dead = format!(" (sleep) Z {} ", std::process::id());
        stats.filter(|stat| stat.contains(&dead)).count()
    };
    let output = Place::sh("(sleep 60 &); (sleep 60 &); sleep 0.2").only(&[]);
    assert!(output.is_success(), "{output:?}");
    // Dead processes of other tests stay only for a moment.
    let patience = Instant::now() + LONG;
    while ours() > 0 {
        assert!(Instant::now() < patience);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn closed_pipes_do_not_hide_a_script() {
    let place = Place::sh("echo begun; exec >&- 2>&- <&-; sleep 60");
    let output = place.limited(|limits| limits.timeout = SHORT).only(&[]);
    assert_timed_out(&output);
    assert_eq!(output.stdout, "begun\n");
    let output = Place::sh("exec >&- 2>&-; sleep 0.1; exit 7").only(&[]);
    assert_eq!((output.exit_code, output.reason), (Some(7), None));
}

#[test]
fn pipes_that_stay_open_do_not_hold_up_the_end() {
    let output = Place::sh("(trap '' TERM HUP; sleep 60) & echo done; exit 4").only(&[]);
    assert_eq!((&*output.stdout, output.exit_code), ("done\n", Some(4)));
    assert!(Duration::from_millis(output.duration_ms) < LONG, "{output:?}");
}

#[test]
fn a_host_can_cancel() {
    let place = Place::sh("echo begun; sleep 60");
    let begun = Cell::new(false);
    let io = ScriptIo {
        on_output: Some(&mut |_, _| begun.set(true)),
        is_cancelled: Some(&|| begun.get()),
        ..ScriptIo::default()
    };
    let output = place.run_with("a.sh", &[], io).unwrap();
    assert!(output.cancelled && !output.timed_out, "{output:?}");
    assert_eq!((&*output.stdout, output.reason.as_deref()), ("begun\n", Some("it was cancelled")));
    assert!(Duration::from_millis(output.duration_ms) < LONG, "{output:?}");
}

#[test]
fn output_comes_while_the_script_runs_and_in_order() {
    let place =
        Place::sh("for i in 1 2 3; do echo out$i; sleep 0.1; echo err$i >&2; sleep 0.1; done");
    let mut seen: Vec<(Stream, String)> = Vec::new();
    let mut alive = 0;
    let mut on_output = |stream, bytes: &[u8]| {
        // This also proves that the check after each run can find processes.
        alive += usize::from(!place.alive().is_empty());
        seen.push((stream, String::from_utf8(bytes.to_vec()).unwrap()));
    };
    let io = ScriptIo { on_output: Some(&mut on_output), ..ScriptIo::default() };
    let output = place.run_with("a.sh", &[], io).unwrap();
    let expected: Vec<_> = (1..=3)
        .flat_map(|i| {
            [(Stream::Stdout, format!("out{i}\n")), (Stream::Stderr, format!("err{i}\n"))]
        })
        .collect();
    assert_eq!(seen, expected);
    assert!(alive >= 5, "{alive}");
    assert_eq!((&*output.stdout, &*output.stderr), ("out1\nout2\nout3\n", "err1\nerr2\nerr3\n"));
}

#[test]
fn a_host_that_panics_leaves_nothing_alive() {
    let place = Place::sh("echo begun; sleep 60");
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let io = ScriptIo { on_output: Some(&mut |_, _| panic!("host")), ..ScriptIo::default() };
        place.scripts().run::<&str>(&place.owner, "a.sh", &[], io)
    }));
    assert!(panicked.is_err());
    assert_eq!(place.alive(), Vec::<String>::new());
}

#[test]
fn runs_do_not_disturb_each_other() {
    let place = Place::sh("echo $1; sleep $2; echo $1");
    let began = Instant::now();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|i| {
                let place = &place;
                scope.spawn(move || {
                    let (name, time) = (i.to_string(), if i % 2 == 0 { "0.1" } else { "1" });
                    let ran = place.scripts().run(
                        &place.owner,
                        "a.sh",
                        &[&*name, time],
                        ScriptIo::default(),
                    );
                    (i, ran.unwrap())
                })
            })
            .collect();
        for run in runs {
            let (i, output) = run.join().unwrap();
            assert!(output.is_success(), "{output:?}");
            assert_eq!(output.stdout, format!("{i}\n{i}\n"));
        }
    });
    assert!(began.elapsed() < LONG);
    assert_eq!(place.alive(), Vec::<String>::new());
}

#[test]
fn a_run_that_was_killed_is_no_success_for_a_model() {
    for (text, code, words) in [
        ("while :; do echo yyyyyyyyyyyyyyyyy; done", "EXECUTION_ERROR", "more than 20000 bytes"),
        ("echo begun; kill -KILL $$", "EXECUTION_ERROR", "killed by signal 9 (SIGKILL)"),
        ("echo begun; sleep 60", "TIMEOUT", "did not end within 1.5 s"),
    ] {
        let place = Place::sh(text).limited(|limits| {
            limits.output_bytes = 20_000;
            limits.timeout = if code == "TIMEOUT" { SHORT } else { LONG };
        });
        let answer = place.only(&[]).to_envelope("tried", "a.sh");
        let answer = serde_json::to_value(&answer).unwrap();
        assert_eq!((&answer["status"], &answer["error"]["code"]), (&"error".into(), &code.into()));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("`a.sh` of the skill `tried`"), "{message}");
        assert!(message.contains(words), "{message}");
        assert!(!answer["data"]["stdout"].as_str().unwrap().is_empty(), "{answer}");
    }
    let answer = Place::sh("exit 3").only(&[]).to_envelope("tried", "a.sh");
    let answer = serde_json::to_value(&answer).unwrap();
    assert_eq!((&answer["status"], &answer["text"]), (&"success".into(), &"[exit code 3]".into()));
}

/// Limits that keep a script from taking what all programs of the user share: a processor for itself alone, timers
/// and signals that wait, and descriptors.
#[test]
fn what_programs_of_the_user_share_is_not_a_scripts_to_take() {
    let output = Place::sh("cat /proc/self/limits").only(&[]);
    for (name, most) in [
        ("Max realtime priority", 0),
        ("Max nice priority", 0),
        ("Max core file size", 0),
        ("Max pending signals", 4096),
        ("Max open files", 4096),
    ] {
        let line = output.stdout.lines().find_map(|line| line.strip_prefix(name));
        let numbers = line.unwrap_or_else(|| panic!("{name}: {output:?}")).split_whitespace();
        // The soft and the hard limit.
        let limits: Vec<u64> = numbers.take(2).map(|word| word.parse().unwrap()).collect();
        assert!(limits.iter().all(|limit| *limit <= most), "{name}: {limits:?}");
    }
}
