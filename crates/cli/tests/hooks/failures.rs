//! Failures of hooks: bad input, broken stores, and limits of the system.

use std::fs;

use super::{hook, log, place, prompt, run_doctor, state};
use crate::binary::{Place, Run, finish};

#[test]
fn bad_input_ends_well_and_is_logged() {
    /// An input, and a part of the log line for it.
    type Case<'a> = (&'a [u8], &'a str);
    let good = prompt("s", "deploy it");
    let cases: &[Case<'_>] = &[
        (b"", "is not JSON: EOF"),
        (b"deploy it", "is not JSON: expected"),
        (b"[]", "is not a JSON object: invalid type: sequence"),
        (b"{\xff}", "is not JSON: key must be a string"),
        (&good.as_bytes()[..good.len() - 1], "is not JSON: EOF"),
        (b"{\"session_id\": \"s\"}", "unknown event, ``"),
        (b"{\"hook_event_name\": \"Stop\", \"session_id\": \"s\"}", "unknown event, `Stop`"),
    ];
    for (input, wanted) in cases {
        let place = place();
        let args = ["hook", "claude-code", "--deadline", "60"];
        let run = place.run_with(args, input).exits(0);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(wanted), "{run:?}");
        let log = log(&place);
        assert!(log.contains(wanted) && log.lines().count() == 1, "{log}");
        assert!(log.contains("Z claude-code: "), "{log}");
    }
}

#[test]
fn a_source_that_is_gone_is_logged_once() {
    let place = place();
    for session in ["a", "b"] {
        let args = ["hook", "claude-code", "--source", "gone", "--deadline", "60"];
        let run = place.run_with(args, prompt(session, "deploy it").as_bytes()).exits(0);
        assert_eq!(run.stdout, "");
        let log = log(&place);
        assert!(log.contains("[missing-source]") && log.lines().count() == 1, "{log}");
    }
}

#[test]
fn a_command_line_that_is_none_ends_well_and_is_logged() {
    let agent = "claude-code";
    for (wrong, told) in [
        (&["hook", agent, "--deadline", "soon"][..], "--deadline"),
        (&["hook", agent, "--no-such-option"], "--no-such-option"),
        (&["hook", agent, "--color", "red"], "--color"),
        (&["hook", agent, "x"], "x"),
        (&["hook", "--bogus", agent], "--bogus"),
        (&["--bogus", "hook", agent], "--bogus"),
        (&["hook", "--deadline", "abc", agent], "abc"),
        (&["hook", "Claude-Code"], "Claude-Code"),
        (&["hook", "nosuchagent"], "nosuchagent"),
    ] {
        let place = place();
        let run = place.run_with(wrong, prompt("s", "deploy it").as_bytes()).exits(0);
        assert_eq!(run.stdout, "");
        let log = log(&place);
        assert!(log.contains(told) && log.lines().count() == 1, "{log}");
    }
    // Commands for people do report the error.
    Place::new().run(["hook", "install", "--bogus", agent]).exits(2);
    Place::new().run(["hook", "--bogus", "uninstall", agent]).exits(2);
    // Elsewhere, these words do not mean the hook.
    Place::new().run(["match", "hook", "codex", "--bogus"]).exits(2);
}

#[test]
fn an_invalid_variable_changes_nothing_and_is_logged_once() {
    for (variable, value, told) in [
        ("REPERTOIRE_MAX_SKILLS", "x", "`x` is not a number of skills"),
        ("REPERTOIRE_PROMPT_BUDGET", "much", "`much` is not a budget"),
        ("REPERTOIRE_PROMPT_BUDGET", "2%", "a share of a window of unknown size"),
    ] {
        let place = place();
        for _ in 0..2 {
            let args = ["hook", "codex", "--deadline", "60", "--source", ".repertoire/skills"];
            let mut command = place.command(args);
            command.env(variable, value);
            let run = finish(command, prompt("s", "deploy it").as_bytes()).exits(0);
            assert!(run.stdout.contains("deploy"), "{run:?}");
            let log = log(&place);
            assert!(log.contains(&format!("Z codex: `{variable}`: ")), "{log}");
            assert!(log.contains(told) && log.lines().count() == 1, "{log}");
        }
    }
}

#[test]
fn a_store_that_cannot_be_used_ends_well() {
    let place = place();
    fs::create_dir_all(state(&place, "sessions.sqlite")).unwrap();
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert!(log(&place).contains("is not a file"), "{}", log(&place));
    let doctor = run_doctor(&place, 1);
    assert!(doctor["broken"][0].as_str().unwrap().contains("is not a file"), "{doctor}");
}

#[test]
fn a_store_that_stays_locked_is_waited_for_within_the_deadline() {
    let place = place();
    let ask = |session| {
        let args = ["hook", "claude-code", "--deadline", "6", "--source", ".repertoire/skills"];
        place.run_with(args, prompt(session, "deploy it").as_bytes()).exits(0)
    };
    ask("s");
    let store = rusqlite::Connection::open(state(&place, "sessions.sqlite")).unwrap();
    store.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let start = std::time::Instant::now();
    let run = ask("t");
    // The store alone would be waited for half a minute.
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{run:?}");
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert!(log(&place).contains("database is locked"), "{}", log(&place));
}

/// The commands that answer for a session, each with a part of its answer.
const WITH_SESSION: [(&[&str], &str); 5] = [
    (&["disclose", "deploy it"], "## Skill: deploy"),
    (&["use", "deploy"], "Base directory: "),
    (&["prompt"], "- deploy: "),
    (&["match", "deploy it"], "deploy"),
    (&["why", "deploy", "deploy it"], "fires"),
];

#[test]
fn no_command_fails_without_the_state_of_its_session() {
    let place = place();
    // Returns the number of times that the command says that it answers from memory.
    let n_told = |(args, part): (&[&str], &str), session: &str| {
        let of_session = ["--session", session, "--source", ".repertoire/skills"];
        let start = std::time::Instant::now();
        let run = place.run([args, &of_session].concat()).exits(0);
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{args:?}: {run:?}");
        assert!(run.stdout.contains(part), "{args:?}: {run:?}");
        run.stderr.matches("answering without the memory of sessions").count()
    };
    fs::create_dir_all(state(&place, "sessions.sqlite")).unwrap();
    for command in WITH_SESSION {
        assert_eq!(n_told(command, "s"), 1, "{command:?}");
    }
    fs::remove_dir(state(&place, "sessions.sqlite")).unwrap();
    // Creates the store.
    assert_eq!(n_told(WITH_SESSION[0], "before"), 0);
    let store = rusqlite::Connection::open(state(&place, "sessions.sqlite")).unwrap();
    store.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for command in WITH_SESSION {
        // Each in a session of its own, as a locked store can still be read. Two commands only read.
        let n_told = n_told(command, command.0[0]);
        assert_eq!(n_told, usize::from(!["match", "why"].contains(&command.0[0])), "{command:?}");
    }
}

#[test]
fn counts_are_shown_where_they_cannot_be_written() {
    let place = place();
    let source = ["--source", ".repertoire/skills"];
    let stats = || place.run(["stats", "--json"].iter().chain(&source)).exits(0).json();
    place.run(["disclose", "deploy it", "--session", "s"].iter().chain(&source)).exits(0);
    let wanted = stats();
    assert_eq!(wanted["skills"][0]["fired"], 1, "{wanted}");
    // Whoever opens the store for writing needs this file.
    fs::remove_file(state(&place, "sessions.sqlite.lock")).unwrap();
    fs::create_dir(state(&place, "sessions.sqlite.lock")).unwrap();
    assert_eq!(stats(), wanted);
}

#[test]
fn an_address_that_is_of_no_store_costs_no_answer() {
    let place = place();
    for address in ["foo://x", "redis://127.0.0.1:1/", "/no/address", "postgres://"] {
        for (args, part) in WITH_SESSION {
            let of_session = ["--session", "s", "--source", ".repertoire/skills"];
            let mut command = place.command([args, &of_session].concat());
            command.env("REPERTOIRE_SESSIONS", address);
            let run = finish(command, b"").exits(0);
            assert!(run.stdout.contains(part), "{address} {args:?}: {run:?}");
            let told = run.stderr.matches("answering without the memory of sessions").count();
            assert_eq!(told, 1, "{address} {args:?}: {run:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_script_of_the_user_runs_where_no_state_can_be() {
    let place = place();
    let skill = "home/.agents/skills/tidy";
    place.write(&format!("{skill}/SKILL.md"), "---\nname: tidy\ndescription: d\n---\n");
    place.write(&format!("{skill}/scripts/go.sh"), "echo tidied\n");
    place.write("home/.local", "a file");
    for args in [&["run", "tidy", "go.sh"][..], &["run", "--session", "s", "tidy", "go.sh"]] {
        assert_eq!(place.run(args).exits(0).stdout, "tidied\n", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_the_log_has_a_remedy() {
    let place = place();
    fs::create_dir_all(state(&place, "")).unwrap();
    std::os::unix::fs::symlink("/dev/full", state(&place, "hook.log")).unwrap();
    let run = hook(&place, "claude-code", "no JSON").exits(0);
    let wanted = format!("cannot write {}: No space left", state(&place, "hook.log").display());
    assert!(run.stderr.contains(&wanted), "{run:?}");
    let remedy = "; make room on its disk, or set `XDG_STATE_HOME` to another directory\n";
    assert!(run.stderr.ends_with(remedy), "{run:?}");
}

#[test]
fn no_home_and_no_log_end_well() {
    let place = place();
    place.write("home/.local", "a file");
    let run = hook(&place, "codex", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert!(run.stderr.contains("hook.log"), "{run:?}");
}

#[test]
fn a_damaged_store_is_replaced_and_told_of_and_the_answer_is_right() {
    let damage = |place: &Place| {
        hook(place, "claude-code", &prompt("s", "deploy it")).exits(0);
        let store = state(place, "sessions.sqlite");
        let bytes = fs::read(&store).unwrap();
        fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
        fs::remove_file(state(place, "sessions.sqlite-wal")).unwrap();
    };
    let place = place();
    damage(&place);
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    let aside = |doctor: &serde_json::Value| {
        let aside = doctor["state"]["set_aside"].as_array().unwrap().clone();
        assert_eq!(aside.len(), 1, "{doctor}");
        aside[0].as_str().unwrap().to_owned()
    };
    let kept_as = aside(&run_doctor(&place, 0));
    // The journals of a store are not stores themselves.
    for journal in ["-wal", "-shm"] {
        fs::write(format!("{kept_as}{journal}"), "").unwrap();
    }
    assert_eq!(aside(&run_doctor(&place, 0)), kept_as);
    for told in [&run.stderr, &log(&place)] {
        assert!(told.contains("was damaged") && told.contains(".damaged-"), "{told}");
    }
}

#[test]
fn a_file_of_another_kind_is_left_alone_and_told_of() {
    let place = place();
    let file = "home/.local/state/repertoire/sessions.sqlite";
    place.write(file, "noise ".repeat(1000));
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert!(log(&place).contains("a file of another kind"), "{}", log(&place));
    assert_eq!(fs::read_to_string(place.path().join(file)).unwrap(), "noise ".repeat(1000));
}

/// Checks that pipes in place of state files do not block a hook.
#[cfg(unix)]
#[test]
fn pipes_in_place_of_files_of_state_end_well() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    for name in ["hook.log", "prepare.lock", "sessions.sqlite", "sessions.sqlite.lock"] {
        let place = place();
        fs::create_dir_all(state(&place, "")).unwrap();
        mknodat(CWD, state(&place, name), FileType::Fifo, Mode::RWXU, 0).unwrap();
        // If the hook waited for another end of the pipe, it would only stop at this deadline.
        let start = std::time::Instant::now();
        let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
        assert!(run.stdout.contains("## Skill: deploy"), "{name}: {run:?}");
        hook(&place, "claude-code", "no JSON").exits(0);
        assert!(start.elapsed() < std::time::Duration::from_secs(50), "{name}: it waited");
    }
}

#[cfg(unix)]
#[test]
fn a_limit_of_files_ends_well() {
    use std::io::Write as _;
    let place = place();
    let child = place.command(["hook", "claude-code"]);
    let program = child.get_program().to_str().unwrap().to_owned();
    // The shell sets the limit, in blocks; it is smaller than a store.
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 4; exec \"$0\" \"$@\"", &program]).args(child.get_args());
    for (name, value) in child.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    limited.current_dir(child.get_current_dir().unwrap());
    limited.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = limited.spawn().unwrap();
    child.stdin.take().unwrap().write_all(prompt("s", "deploy it").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("## Skill: deploy"), "{output:?}");
}

#[test]
fn a_hook_that_takes_too_long_ends_well() {
    let place = place();
    // Standard input that never ends.
    let mut child = place
        .command(["hook", "claude-code", "--deadline", "0.2"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(log(&place).contains("no answer within 0.2 s (TIMEOUT)"), "{}", log(&place));
}

#[test]
fn thirty_two_hooks_at_once_lose_nothing() {
    let place = place();
    let answers: Vec<Run> = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..32)
            .map(|n| {
                let place = &place;
                scope.spawn(move || {
                    hook(place, "claude-code", &prompt(&format!("s{n}"), "deploy it"))
                })
            })
            .collect();
        hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
    });
    for answer in &answers {
        assert_eq!((answer.code, answer.stderr.as_str()), (0, ""));
        assert_eq!(answer.stdout, answers[0].stdout);
    }
    assert!(answers[0].stdout.contains("## Skill: deploy"));
    assert_eq!(log(&place), "");
    let store = repertoire_sessions::SqliteStore::open(state(&place, "sessions.sqlite")).unwrap();
    for n in 0..32 {
        use repertoire::session::SessionStore as _;
        let known = store.state(&format!("claude-code:s{n}")).unwrap();
        assert_eq!((known.skills.len(), known.skills[0].uses), (1, 1), "session {n}");
    }
}
