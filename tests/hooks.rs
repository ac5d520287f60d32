//! The hooks of agents: recorded calls and their answers, installation, and all that can go wrong.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/binary.rs"]
mod binary;

use std::fs;
use std::path::{Path, PathBuf};

use binary::{Place, Run, finish};
use serde_json::{Value, json};

const AGENTS: [&str; 6] = ["claude-code", "codex", "gemini", "cursor", "copilot", "opencode"];

/// A project with a skill for messages, one for files, a long one, and one that Claude Code itself
/// reads.
fn place() -> Place {
    let place = Place::new();
    let skill = |dir: &str, front_matter: &str, body: &str| {
        place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\n{body}\n"));
    };
    let skills = ".repertoire/skills";
    skill(
        &format!("{skills}/deploy"),
        "name: deploy\ndescription: Deploys the site.\ntriggers: [deploy]",
        "Run the pipeline. $ARGUMENTS",
    );
    skill(
        &format!("{skills}/styles"),
        "name: styles\ndescription: Writes style sheets.\npaths: ['**/*.css']",
        "No `!important`.",
    );
    skill(
        &format!("{skills}/long"),
        "name: long\ndescription: Knows it all.\ntriggers: [encyclopedia]",
        &"All there is to know. ".repeat(600),
    );
    skill(".claude/skills/native", "name: native\ndescription: d\ntriggers: [native]", "Native.");
    fs::create_dir_all(place.path().join(".git")).unwrap();
    place
}

/// The hook of `agent` with the skills of the project alone.
fn hook(place: &Place, agent: &str, input: &str) -> Run {
    let skills = place.path().join(".repertoire/skills");
    let native = place.path().join(".claude/skills");
    let (native, skills) = (native.to_str().unwrap(), skills.to_str().unwrap());
    let args = ["hook", agent, "--deadline", "60", "--source", native, "--source", skills];
    place.run_with(args, input.as_bytes())
}

fn prompt(session: &str, text: &str) -> String {
    json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text})
        .to_string()
}

fn state(place: &Place, name: &str) -> PathBuf {
    place.path().join("home/.local/state/repertoire").join(name)
}

fn log(place: &Place) -> String {
    fs::read_to_string(state(place, "hook.log")).unwrap_or_default()
}

// Protocols.

#[test]
fn each_recorded_call_has_its_recorded_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    let mut n_calls = 0;
    for agent in AGENTS {
        let calls = fs::read_dir(root.join(agent)).unwrap().map(|file| file.unwrap().path());
        let calls = calls.filter(|path| path.to_str().unwrap().ends_with(".in.json"));
        for path in calls {
            let place = place();
            let here = place.path().to_str().unwrap().to_owned();
            let input = fs::read_to_string(&path).unwrap().replace("PLACE", &here);
            let run = hook(&place, agent, &input).exits(0);
            assert_eq!((run.stderr.as_str(), log(&place)), ("", String::new()), "{path:?}");
            let answer = run.stdout.replace(&here, "PLACE");
            let answer = if answer.is_empty() {
                answer
            } else {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                format!("{answer:#}\n")
            };
            let recorded = PathBuf::from(path.to_str().unwrap().replace(".in.", ".out."));
            if std::env::var_os("REPERTOIRE_RECORD").is_some() {
                fs::write(&recorded, &answer).unwrap();
            }
            assert_eq!(answer, fs::read_to_string(&recorded).unwrap(), "{path:?}");
            n_calls += 1;
        }
    }
    assert!(n_calls >= 40, "{n_calls} calls");
}

#[test]
fn a_skill_is_added_once_until_the_context_lost_it() {
    let place = place();
    let session = |event: &str, source: &str| {
        json!({"hook_event_name": event, "session_id": "s", "source": source}).to_string()
    };
    let css = place.path().join("web/app.css");
    let edit = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Edit",
        "tool_input": {"file_path": css},
    });
    let is_full =
        |input: &str| hook(&place, "claude-code", input).exits(0).stdout.contains("## Skill");
    assert!(is_full(&prompt("s", "deploy it")));
    assert!(!is_full(&prompt("s", "deploy it again")));
    assert!(is_full(&prompt("other", "deploy it")));
    assert!(is_full(&edit.to_string()));
    assert_eq!(hook(&place, "claude-code", &edit.to_string()).exits(0).stdout, "");
    assert!(!is_full(&session("SessionStart", "resume")) && !is_full(&prompt("s", "deploy it")));
    hook(&place, "claude-code", &session("SessionStart", "compact")).exits(0);
    let restored = hook(&place, "claude-code", &prompt("s", "go on")).exits(0).stdout;
    assert!(restored.contains("## Skill: deploy") && restored.contains("## Skill: styles"));
    hook(&place, "claude-code", &session("SessionEnd", "")).exits(0);
    assert!(is_full(&prompt("s", "deploy it")));
    assert_eq!(log(&place), "");
}

#[test]
fn a_skill_that_changed_in_the_middle_of_a_conversation_is_added_again() {
    let place = place();
    let read = |name: &str| {
        json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": "Read",
            "tool_input": {"file_path": place.path().join(name)},
        })
        .to_string()
    };
    for (skill, input) in [("deploy", prompt("s", "deploy it")), ("styles", read("app.css"))] {
        let added = || hook(&place, "claude-code", &input).exits(0).stdout;
        let file = format!(".repertoire/skills/{skill}/SKILL.md");
        let text = fs::read_to_string(place.path().join(&file)).unwrap();
        assert!(added().contains("## Skill"), "{skill}");
        assert!(!added().contains("## Skill"), "{skill}");
        place.write(&file, format!("{text}\nAnd say so.\n"));
        let changed = added();
        assert!(changed.contains("## Skill") && changed.contains("And say so."), "{changed}");
        assert!(!added().contains("## Skill"), "{skill}");
    }
    assert_eq!(log(&place), "");
}

#[test]
fn the_project_is_found_above_where_the_agent_works() {
    let place = place();
    let deep = place.path().join("web/deep");
    fs::create_dir_all(&deep).unwrap();
    let mut command = place.command(["hook", "claude-code", "--deadline", "60"]);
    command.current_dir(&deep);
    let mut input: Value = serde_json::from_str(&prompt("s", "deploy it")).unwrap();
    input["cwd"] = json!(deep);
    let run = finish(command, input.to_string().as_bytes()).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
}

#[test]
fn a_message_that_begins_with_a_slash_is_an_ordinary_one() {
    let place = place();
    for (message, is_full) in [
        ("/etc/hosts and deploy it", true),
        ("/tmp deploy", true),
        ("/deploy-foo: deploy it", true),
        ("/status", false),
        ("/clear deploy", false),
    ] {
        let run = hook(&place, "claude-code", &prompt(message, message)).exits(0);
        assert_eq!(run.stdout.contains("## Skill: deploy"), is_full, "{message}: {run:?}");
    }
}

#[test]
fn half_a_character_is_read_as_one_that_is_missing() {
    let place = place();
    let cut = prompt("s", "deploy it CUT").replace("CUT", r"\ud83d");
    let run = hook(&place, "claude-code", &cut).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert_eq!(log(&place), "");
}

#[test]
fn everything_sees_the_same_project_from_below_it() {
    let place = place();
    let deep = place.path().join("web/deep");
    fs::create_dir_all(&deep).unwrap();
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.current_dir(&deep);
        finish(command, b"")
    };
    for args in [&["list", "--json"][..], &["why", "deploy", "deploy it", "--json"]] {
        assert!(run(args).exits(0).stdout.contains("deploy/SKILL.md"), "{args:?}");
    }
    let done = run(&["hook", "install", "claude-code", "--project"]).exits(0);
    let settings = place.path().join(".claude/settings.json");
    assert!(settings.exists() && done.stdout.contains(settings.to_str().unwrap()), "{done:?}");
    // A directory that is named is that one.
    let here = run(&["hook", "install", "claude-code", "--project", "."]).exits(0);
    assert!(deep.join(".claude/settings.json").exists(), "{here:?}");
    let written = run(&["match", "x", "--path", "a.css", "--json"]).exits(0).json();
    assert_eq!(written["matches"][0]["hits"][0]["path"], "web/deep/a.css", "{written}");
}

#[test]
fn a_working_directory_that_is_none_is_that_of_the_hook() {
    for cwd in ["/no/such/directory", "web"] {
        let place = place();
        let mut input: Value = serde_json::from_str(&prompt("s", "deploy it")).unwrap();
        input["cwd"] = json!(cwd);
        let args = ["hook", "claude-code", "--deadline", "60"];
        let run = place.run_with(args, input.to_string().as_bytes()).exits(0);
        assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
        assert!(log(&place).contains(&format!("`{cwd}` is no directory")), "{}", log(&place));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_could_not_be_delivered_is_added_again() {
    let place = place();
    let mut child = place
        .command(["hook", "claude-code", "--deadline", "60"])
        .stdin(std::process::Stdio::piped())
        .stdout(fs::File::options().write(true).open("/dev/full").unwrap())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        prompt("s", "deploy it").as_bytes(),
    )
    .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(log(&place).contains("cannot write the answer"), "{}", log(&place));
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
}

// What goes wrong.

#[test]
fn bad_input_ends_well_and_is_logged() {
    /// Input, what the log says.
    type Case<'a> = (&'a [u8], &'a str);
    let good = prompt("s", "deploy it");
    let cases: &[Case<'_>] = &[
        (b"", "is no JSON"),
        (b"deploy it", "is no JSON"),
        (b"[]", "is no JSON object"),
        (b"\xff\xfe{}", "is not UTF-8 from byte 0"),
        (&good.as_bytes()[..good.len() - 1], "is no JSON"),
        (
            b"{\"hook_event_name\": \"UserPromptSubmit\", \"prompt\": \"x\"}",
            "does not name the session",
        ),
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
    // People are told.
    Place::new().run(["hook", "install", "--bogus", agent]).exits(2);
    Place::new().run(["hook", "--bogus", "uninstall", agent]).exits(2);
    // These words elsewhere are not the hook.
    Place::new().run(["match", "hook", "codex"]).exits(2);
}

#[test]
fn options_of_matching_matter_to_a_hook() {
    let place = place();
    let skills = place.path().join(".repertoire/skills");
    let args = ["hook", "claude-code", "--deadline", "60", "--source", skills.to_str().unwrap()];
    let said = |option: &[&str]| {
        let args = args.iter().chain(option);
        let prompt = prompt(&format!("s{}", option.len()), "see `deploy` here");
        place.run_with(args, prompt.as_bytes()).exits(0).stdout
    };
    assert!(said(&[]).contains("## Skill: deploy"));
    assert!(!said(&["--mask-quoted"]).contains("## Skill: deploy"));
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
fn no_home_and_no_log_end_well() {
    let place = place();
    place.write("home/.local", "a file");
    let run = hook(&place, "codex", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    assert!(run.stderr.contains("hook.log"), "{run:?}");
}

#[test]
fn a_damaged_store_is_replaced_and_the_answer_is_right() {
    let place = place();
    place.write("home/.local/state/repertoire/sessions.sqlite", "noise ".repeat(1000));
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
    let doctor = run_doctor(&place, 0);
    assert_eq!(doctor["state"]["set_aside"].as_array().unwrap().len(), 1, "{doctor}");
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
    let store = repertoire::session::SqliteStore::open(state(&place, "sessions.sqlite")).unwrap();
    for n in 0..32 {
        use repertoire::SessionStore as _;
        let known = store.state(&format!("claude-code:s{n}")).unwrap();
        assert_eq!((known.skills.len(), known.skills[0].uses), (1, 1), "session {n}");
    }
}

// Installation.

/// The settings file of an agent in a project.
fn settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "gemini" => ".gemini/settings.json",
        "cursor" => ".cursor/hooks.json",
        "copilot" => ".github/hooks/repertoire.json",
        _ => ".opencode/plugins/repertoire.js",
    }
}

fn install(place: &Place, agent: &str) -> Run {
    place.run(["hook", "install", agent, "--project"])
}

fn uninstall(place: &Place, agent: &str) -> Run {
    place.run(["hook", "uninstall", agent, "--project"])
}

#[test]
fn every_agent_is_set_up_once_and_left_without_a_trace() {
    for agent in AGENTS {
        let place = Place::new();
        let path = place.path().join(settings(agent));
        let rehearsal = place.run(["hook", "install", agent, "--project", "--dry-run"]);
        let rehearsal = rehearsal.exits(0).stdout;
        assert!(
            rehearsal.contains("+++ ") && rehearsal.contains("would be changed"),
            "{rehearsal}"
        );
        assert!(!path.exists());
        install(&place, agent).exits(0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(env!("CARGO_BIN_EXE_repertoire")), "{text}");
        let again = install(&place, agent).exits(0);
        assert!(again.stdout.contains("needs no change"), "{again:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let doctor = run_doctor(&place, 0);
        let known = doctor["agents"].as_array().unwrap().iter().find(|known| {
            known["agent"] == agent && known["place"] == "project" && known["hooks"] == "yes"
        });
        assert!(known.is_some(), "{doctor}");
        uninstall(&place, agent).exits(0);
        assert!(!path.exists(), "{agent}");
        assert!(uninstall(&place, agent).exits(0).stdout.contains("needs no change"));
    }
}

#[test]
fn settings_of_others_stay_byte_for_byte() {
    let cases = [
        ("empty", ""),
        ("an empty object", "{}"),
        ("comments", "// mine\n{\n  /* a */ \"model\": \"x\", // b\n}\n// end\n"),
        ("odd indentation", "{\n\t \"a\" : [1,\n2],\n       \"b\":{}\n}"),
        ("tabs", "{\n\t\"model\": \"x\"\n}\n"),
        ("one line", r#"{"model":"x","env":{"A":"1"}}"#),
        ("CRLF", "{\r\n    \"model\": \"x\"\r\n}\r\n"),
        ("a byte order mark", "\u{feff}{\n  \"model\": \"x\"\n}\n"),
        ("empty containers", "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n"),
        (
            "hooks of others",
            "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\"hooks\": [{\"type\": \
             \"command\", \"command\": \"beep\"}]} // keep\n    ],\n    \"Stop\": []\n  }\n}\n",
        ),
    ];
    for (name, before) in cases {
        for agent in ["claude-code", "codex", "gemini"] {
            let place = Place::new();
            let path = place.path().join(settings(agent));
            place.write(settings(agent), before);
            let done = install(&place, agent).exits(0);
            assert!(done.stdout.contains("repertoire-backup"), "{name}: {done:?}");
            let with = fs::read_to_string(&path).unwrap();
            assert!(!with.replace("\r\n", "").contains('\n') || name != "CRLF", "{with:?}");
            let comments = before.lines().filter_map(|line| Some(&line[line.find("//")?..]));
            for comment in comments {
                assert!(with.contains(comment), "{name}: {with}");
            }
            // Exactly what was there.
            uninstall(&place, agent).exits(0);
            assert_eq!(fs::read_to_string(&path).unwrap(), before, "{name}");
            assert!(!path.with_extension("json.repertoire-backup").exists());
            // And somebody's change in between stays, too.
            install(&place, agent).exits(0);
            let changed = format!("{}\n// later\n", fs::read_to_string(&path).unwrap());
            fs::write(&path, changed).unwrap();
            uninstall(&place, agent).exits(0);
            let after = fs::read_to_string(&path).unwrap();
            assert!(after.ends_with("\n// later\n") && !after.contains("hook claude"), "{after}");
            let keeps = ["model", "beep", "// keep", "/* a */", "SessionStart"];
            for kept in keeps.iter().filter(|kept| before.contains(*kept)) {
                assert!(after.contains(kept), "{name}: `{kept}` in {after}");
            }
        }
    }
}

#[test]
fn a_hook_of_another_version_is_replaced() {
    let place = Place::new();
    let old = "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          \
               {\"type\": \"command\", \"command\": \"beep\"},\n          {\"type\": \"command\", \
               \"command\": \"/old/repertoire hook claude-code\"}\n        ]\n      }\n    ]\n  }\n}\n";
    place.write(".claude/settings.json", old);
    let doctor = run_doctor(&place, 1);
    let broken = doctor["broken"][0].as_str().unwrap();
    assert!(broken.contains("runs `/old/repertoire`, which is no program"), "{doctor}");
    install(&place, "claude-code").exits(0);
    let new = fs::read_to_string(place.path().join(".claude/settings.json")).unwrap();
    assert!(new.contains("beep") && !new.contains("/old/"), "{new}");
    let new: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(new["hooks"]["UserPromptSubmit"].as_array().unwrap().len(), 2, "{new}");
}

#[test]
fn settings_that_cannot_be_understood_are_not_touched() {
    for (before, wanted) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "settings.json:2:9 is no JSON"),
        ("{\"hooks\": {", "settings.json:1:11 is no JSON"),
        ("[]", "is no JSON object"),
        ("{\"hooks\": []}", "has `hooks` that are no object"),
        ("{\"hooks\": {\"Stop\": {}}}", "hooks of `Stop` that are no list"),
        ("{\"hooks\": null}", "has `hooks` that are no object"),
    ] {
        let place = Place::new();
        place.write(".claude/settings.json", before);
        for run in [install(&place, "claude-code"), uninstall(&place, "claude-code")] {
            let run = run.exits(1);
            assert!(run.stderr.contains(wanted), "{before}: {run:?}");
        }
        let path = place.path().join(".claude/settings.json");
        assert_eq!(fs::read_to_string(path).unwrap(), before);
        let doctor = run_doctor(&place, 1);
        assert!(doctor["broken"][0].as_str().unwrap().contains(wanted), "{doctor}");
    }
    let place = Place::new();
    place.write(".opencode/plugins/repertoire.js", "export default 1\n");
    let run = install(&place, "opencode").exits(1);
    assert!(run.stderr.contains("was not written by this program"), "{run:?}");
}

#[test]
fn what_stands_in_the_place_of_our_list_is_not_replaced() {
    for value in ["\"mine\"", "null", "true", "7"] {
        let place = Place::new();
        let before = format!("{{\"hooks\": {{\"SessionStart\": {value}}}}}");
        place.write(".claude/settings.json", &before);
        let run = install(&place, "claude-code").exits(1);
        assert!(run.stderr.contains("hooks of `SessionStart` that are no list"), "{run:?}");
        let path = place.path().join(".claude/settings.json");
        assert_eq!(fs::read_to_string(path).unwrap(), before);
    }
}

#[cfg(unix)]
#[test]
fn settings_that_are_no_file_are_not_read() {
    let place = Place::new();
    let dir = place.path().join(".claude");
    fs::create_dir_all(&dir).unwrap();
    // Where it would be read, that does not end.
    let made = std::process::Command::new("mkfifo").arg(dir.join("settings.json")).status();
    if made.is_ok_and(|made| made.success()) {
        let run = install(&place, "claude-code").exits(1);
        assert!(run.stderr.contains("settings.json is not a file"), "{run:?}");
    }
}

#[test]
fn the_doctor_sees_hooks_that_cannot_work_and_those_that_work_twice() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    let twice = place.run(["hook", "install", "claude-code"]).exits(0);
    assert!(twice.stderr.contains("answers each message twice"), "{twice:?}");
    let doctor = run_doctor(&place, 0);
    assert!(doctor["notes"][0].as_str().unwrap().contains("answers each message twice"));
    assert!(place.run(["doctor", "--source", "no-skills"]).stdout.contains("each message twice"));

    let path = place.path().join(".claude/settings.json");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(&path, settings.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    let doctor = run_doctor(&place, 1);
    assert!(doctor["broken"][0].as_str().unwrap().contains("`disableAllHooks`"), "{doctor}");

    let place = Place::new();
    place.write("home/.local", "a file");
    place.write("home/.cache", "a file");
    let doctor = run_doctor(&place, 1);
    let broken = doctor["broken"].to_string();
    for dir in [".local", ".cache"] {
        assert!(broken.contains(&format!("home/{dir} is not a directory")), "{doctor}");
    }
}

#[test]
fn the_doctor_sees_hooks_in_the_local_settings_of_a_project() {
    let place = Place::new();
    install(&place, "claude-code").exits(0);
    let shared = place.path().join(".claude/settings.json");
    let local = place.path().join(".claude/settings.local.json");
    fs::rename(&shared, &local).unwrap();
    let known = |hooks: &str| {
        let doctor = run_doctor(&place, i32::from(hooks == "in vain"));
        let agents = doctor["agents"].as_array().unwrap().iter();
        let mut agents = agents.filter(|known| known["hooks"] != "no");
        let only = agents.next().unwrap().clone();
        assert_eq!((&only["place"], &only["hooks"]), (&json!("local"), &json!(hooks)), "{doctor}");
        assert_eq!(agents.next(), None, "{doctor}");
        assert!(only["detail"].as_str().unwrap().contains("settings.local.json"), "{doctor}");
    };
    known("yes");
    // By hand, and not for all events.
    let command = format!("{} hook claude-code --inflect", env!("CARGO_BIN_EXE_repertoire"));
    let hook = json!({"hooks": [{"type": "command", "command": command}]});
    let by_hand = json!({"hooks": {"UserPromptSubmit": [hook]}}).to_string();
    fs::write(&local, &by_hand).unwrap();
    known("yes");
    fs::write(&local, by_hand.replacen('{', "{\"disableAllHooks\": true,", 1)).unwrap();
    known("in vain");
    fs::write(&local, &by_hand).unwrap();

    let twice = install(&place, "claude-code").exits(0);
    let wanted = "for this project and for you in this project (`settings.local.json`), and answers \
                  each message twice";
    assert!(twice.stderr.contains(wanted), "{twice:?}");
    assert!(run_doctor(&place, 0)["notes"][0].as_str().unwrap().contains(wanted));
    uninstall(&place, "claude-code").exits(0);
    assert_eq!(fs::read_to_string(&local).unwrap(), by_hand);
}

#[cfg(unix)]
#[test]
fn links_are_followed_rights_kept_and_read_only_files_refused() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let place = Place::new();
    place.write("dotfiles/claude.json", "{}\n");
    let real = place.path().join("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(place.path().join(".claude")).unwrap();
    symlink("../dotfiles/claude.json", place.path().join(".claude/settings.json")).unwrap();
    install(&place, "claude-code").exits(0);
    assert!(place.path().join(".claude/settings.json").is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hook claude-code"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    uninstall(&place, "claude-code").exits(0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");

    fs::set_permissions(&real, fs::Permissions::from_mode(0o440)).unwrap();
    let run = install(&place, "claude-code").exits(1);
    assert!(run.stderr.contains("error[PERMISSION_DENIED]") && run.stderr.contains("read-only"));
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn options_that_matter_are_in_the_command_and_places_exclude_each_other() {
    let place = Place::new();
    place.write("my skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    let args = ["hook", "install", "codex", "--brand", "acme", "--source", "my skills", "--json"];
    let args = args.iter().chain(&["--mask-quoted", "--by-relevance=2,1,3"]);
    let done = place.run(args).exits(0).json();
    assert_eq!((&done["place"], &done["changed"]), (&json!("user"), &json!(true)));
    let text = fs::read_to_string(place.path().join("home/.codex/hooks.json")).unwrap();
    assert!(text.contains("hook codex --brand acme --source '"), "{text}");
    assert!(text.contains("my skills' --mask-quoted '--by-relevance=2,1,3'"), "{text}");
    let both = ["hook", "install", "codex", "--user", "--project", "."];
    place.run(both).exits(2);
    place.run(["hook", "install", "emacs"]).exits(2);
    place.run(["hook"]).exits(2);
}

// Why, and the doctor.

fn run_doctor(place: &Place, code: i32) -> Value {
    let source = place.path().join("no-skills");
    fs::create_dir_all(&source).unwrap();
    let args = ["doctor", "--json", "--source", "no-skills"];
    place.run(args).exits(code).json()
}

#[test]
fn why_says_what_stood_in_the_way() {
    let place = Place::new();
    let skill = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\nBody.\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("scribe", "triggers:\n  keywords: [commit message]\n  exclude: [press release]");
    skill("needy", "triggers: [needy]\nrequires_bins: [no-such-program]");
    skill("quiet", "triggers: [quiet]\ndisable-model-invocation: true");
    skill("plain", "license: MIT");
    skill("vague", "triggers: [test]");
    for n in 0..4 {
        skill(&format!("crowd{n}"), "triggers: [crowd]");
    }
    skill(
        "long",
        &format!("triggers: [encyclopedia]\nmetadata:\n  x: y\n---\n{}", "word ".repeat(4000)),
    );
    let why = |id: &str, query: &str, more: &[&str], code: i32| {
        let args = [&["why", id, query, "--json", "--source", "skills"], more].concat();
        place.run(args).exits(code).json()
    };
    let reason =
        |id: &str, query: &str| why(id, query, &[], 1)["reason"].as_str().unwrap().to_owned();

    let fires = why("scribe", "write a commit message", &[], 0);
    assert_eq!((&fires["fires"], &fires["rank"]), (&json!(true), &json!(1)));
    let veto = why("scribe", "a commit message for the press release", &[], 1);
    assert_eq!(veto["reason"], "vetoed by its exclude `press release`");
    assert_eq!(veto["veto"], json!({"exclude": "press release", "start": 25, "end": 38}));
    let near = why("scribe", "explain these commits", &[], 1);
    assert_eq!(near["reason"], "none of its triggers is in the message");
    assert_eq!(near["near"][0]["trigger"], "commit message");
    assert_eq!(near["near"][0]["similar"], "commits");
    let help = near["help"].as_str().unwrap();
    assert!(help.contains("`commits`") && !help.contains("--inflect"), "{near}");
    assert!(reason("needy", "needy").contains("no-such-program"));
    assert!(reason("quiet", "quiet").contains("disable-model-invocation"));
    assert!(reason("plain", "anything").contains("declares no triggers"));
    assert!(reason("crowd3", "crowd").contains("below the limit of 3 skills"));
    assert!(reason("long", "encyclopedia").contains("over budget"));
    assert!(reason("scribe", " ").contains("blank"));
    let filtered = why("scribe", "commit message", &["--allow", "plain"], 1);
    assert!(filtered["reason"].as_str().unwrap().contains("allowlist"), "{filtered}");
    let help = |id: &str, query: &str, more: &[&str]| {
        let told = why(id, query, more, 1);
        (told["reason"].as_str().unwrap().to_owned(), told["help"].as_str().unwrap().to_owned())
    };
    for (id, query, more, reason, against) in [
        ("scribe", "a commit message, press release", &[][..], "exclude", "take that exclude out"),
        ("scribe", "the `commit message` flag", &["--mask-quoted"], "quoted", "--mask-quoted"),
        (
            "vague",
            "this is a test",
            &["--hint-generic-words"],
            "generic word",
            "--hint-generic-words",
        ),
        ("crowd3", "crowd", &[], "below the limit", "REPERTOIRE_MAX_SKILLS"),
        ("long", "encyclopedia", &[], "over budget", "shorter"),
        ("plain", "anything", &["--by-relevance"], "relevance is not sure", "keywords"),
    ] {
        let told = help(id, query, more);
        assert!(told.0.contains(reason) && told.1.contains(against), "{id}: {told:?}");
    }
    let unknown = why("scrbe", "commit message", &[], 1);
    assert_eq!(unknown["error"]["help"], "did you mean `scribe`?");

    let args = ["hook", "claude-code", "--deadline", "60", "--source", "skills"];
    place.run_with(args, prompt("s", "write a commit message").as_bytes()).exits(0);
    let above = why("scribe", "another commit message", &["--session", "claude-code:s"], 1);
    assert!(above["reason"].as_str().unwrap().contains("context already"), "{above}");
    assert!(above["help"].as_str().unwrap().contains("nothing is wrong"), "{above}");

    // What the store does not know is told; what is no conversation is refused.
    let strange = ["why", "scribe", "a commit message", "--source", "skills", "--session"];
    let run = place.run([&strange[..], &["claude-code:nobody"]].concat()).exits(0);
    assert!(run.stderr.contains("nothing is known of the conversation `claude-code:nobody`"));
    for wrong in ["foo", "foo:1", "claude-code:"] {
        let run = place.run([&strange[..], &[wrong]].concat()).exits(2);
        assert!(run.stderr.contains("write `AGENT:ID`"), "{run:?}");
    }

    let args = ["why", "scribe", "explain these commits", "--source", "skills"];
    let page = place.run(args).exits(1).stdout;
    assert!(page.starts_with("scribe does not fire: none of its triggers"), "{page}");
    assert!(page.lines().count() < 12, "{page}");
}

#[test]
fn why_knows_what_the_hook_does_with_commands_and_the_environment() {
    let place = Place::new();
    let skill = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\nBody.\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("hidden-one", "triggers: [zebra stripes]\ndisable-model-invocation: true");
    skill("nocmd", "user-invocable: false");
    for n in 0..5 {
        skill(&format!("sk-{n}"), "triggers: [zebra stripes]");
    }
    let sources = ["--source", "skills"];
    for (id, message, max_skills, reason) in [
        ("hidden-one", "/hidden-one foo", "3", "is its command"),
        ("sk-0", "/hidden-one zebra stripes", "3", "command of the skill `hidden-one`"),
        ("sk-0", "/etc/hosts has zebra stripes", "3", "are added"),
        ("sk-0", "/zebra", "3", "left to the agent"),
        ("nocmd", "/nocmd foo", "3", ""),
        ("sk-4", "zebra stripes", "3", "below the limit of 3"),
        ("sk-4", "zebra stripes", "10", "are added"),
        ("sk-4", "zebra stripes", "4", "below the limit of 4"),
    ] {
        let mut command = place.command(["why", id, message, "--json"].iter().chain(&sources));
        command.env("REPERTOIRE_MAX_SKILLS", max_skills);
        let why = finish(command, b"").json();
        let args = ["hook", "claude-code", "--deadline", "60"];
        let mut command = place.command(args.iter().chain(&sources));
        command.env("REPERTOIRE_MAX_SKILLS", max_skills);
        let session = format!("{id}{message}{max_skills}");
        let hook = finish(command, prompt(&session, message).as_bytes()).exits(0);
        let is_added =
            ["## Skill: ", "skills/"].iter().any(|at| hook.stdout.contains(&format!("{at}{id}")));
        assert_eq!(why["fires"], json!(is_added), "{id}: {message}: {why} {hook:?}");
        assert!(why["reason"].as_str().unwrap().contains(reason), "{id}: {message}: {why}");
    }
}

#[test]
fn why_takes_the_options_of_the_hook_of_an_agent() {
    let place = Place::new();
    let text =
        "---\nname: deploy\ndescription: Deploys.\ntriggers: {verbs: [deploy]}\n---\nBody.\n";
    place.write("elsewhere/deploy/SKILL.md", text);
    let why = |more: &[&str], code: i32| {
        let args = [&["why", "deploy", "he deployed it", "--json"], more].concat();
        place.run(args).exits(code).json()
    };
    for agent in AGENTS {
        let missing = why(&["--agent", agent], 1);
        assert_eq!(missing["error"]["message"], format!("{agent} has no hook here"));
        let options = ["hook", "install", agent, "--project", ".", "--source", "elsewhere"];
        place.run(options.iter().chain(&["--inflect"])).exits(0);
        assert_eq!(why(&["--agent", agent], 0)["fires"], true, "{agent}");
        assert_eq!(why(&[], 1)["error"]["code"], "NOT_FOUND", "{agent}");
        // What is asked for counts before what the hook has.
        place.write("other/deploy/SKILL.md", text.replace("[deploy]", "[ship]"));
        assert_eq!(why(&["--agent", agent, "--source", "other"], 1)["fires"], false, "{agent}");
    }
    let path = place.path().join(".claude/settings.json");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(&path, settings.replace("--inflect", "--inflict")).unwrap();
    let broken = why(&["--agent", "claude-code"], 1);
    let message = broken["error"]["message"].as_str().unwrap();
    assert!(message.contains("settings.json is no command line"), "{broken}");
    place.run(["why", "deploy", "deploy it", "--agent", "emacs"]).exits(2);
}

#[test]
fn why_knows_what_is_not_looked_at_and_what_was_refused() {
    let place = Place::new();
    let skill = |name: &str, front_matter: &str| {
        let text = format!("---\nname: {name}\n{front_matter}\n---\nBody.\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    };
    skill("stripes", "description: d\ntriggers: [zebra stripes]");
    skill("number", "description: d\ntriggers: {patterns: ['zebra \\d+']}");
    skill("lost", "description: d\ntriggers: {patterns: [\"\\d+ items\"]}");
    skill("part", "description: d\ntriggers: {keywords: [yak], patterns: ['items(']}");
    skill("tabs", "\tdescription: d\ntriggers:\n\tkeywords: [a]");
    let why = |id: &str, message: &str| {
        let args = ["why", id, "-", "--json", "--source", "skills"];
        place.run_with(args, message.as_bytes()).exits(1).json()
    };
    let hidden = |n: usize, what: &str| format!("{}{what}{}", "x ".repeat(n), " x".repeat(n));
    // The first 128 KiB end in the middle of its second word.
    let cut_word = format!(" zebra stripesome {}", "y".repeat(100));
    for (id, message, reason) in [
        ("stripes", hidden(200_000, "zebra stripes"), "first and last 128 KiB"),
        ("stripes", hidden(65_529, &cut_word), "first and last 128 KiB"),
        ("number", hidden(40_000, "zebra 7"), "patterns see the first and last 32 KiB"),
        ("stripes", hidden(10, "zebra"), "is in the message"),
        ("lost", "7 items".to_owned(), "could not be read"),
        ("part", "items".to_owned(), "were not refused"),
    ] {
        let told = why(id, &message);
        assert!(told["reason"].as_str().unwrap().contains(reason), "{told}");
        let is_near =
            told["near"].as_array().unwrap().iter().any(|near| near["missing"] == json!([]));
        assert!(!is_near, "{told}");
    }
    let part = why("part", "items");
    assert!(part["refused"][0]["message"].as_str().unwrap().contains("`items(`"), "{part}");
    let page = place.run(["why", "part", "items", "--source", "skills"]).exits(1).stdout;
    assert!(page.contains("error[invalid-pattern]"), "{page}");
    assert!(why("lost", "7 items")["help"].as_str().unwrap().contains("single quotes"));
    let rejected = why("tabs", "a");
    let error = &rejected["error"];
    assert!(error["message"].as_str().unwrap().contains("tabs/SKILL.md:3:1: error"), "{rejected}");
    assert_eq!(error["help"], "indent with blanks, not with tabs");

    for command in ["match", "disclose"] {
        let message = hidden(200_000, "zebra stripes");
        let args = [command, "-", "--source", "skills"];
        let run = place.run_with(args, message.as_bytes()).exits(0);
        assert!(run.stderr.contains("only the first and last 128 KiB are looked at"), "{command}");
    }
}

#[test]
fn why_and_disclose_agree_on_what_is_shown() {
    let place = Place::new();
    for (name, description) in [
        ("invoice-writer", "Writes invoices for freelance clients in euros."),
        ("release-notes", "Summarises merged changes for a changelog."),
        ("tax-report", "Prepares yearly reports of income."),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nBody\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    let message = "write an invoice for my freelance client";
    for (message, option, reason) in [
        (message, "--by-relevance=1,0.5,2", "most relevant skill, by the words `"),
        (message, "--by-relevance=90,0.5,2", "relevance is not sure"),
        (message, "--inflect", "declares no triggers"),
        ("show all skills", "--inflect", "asks to see all skills"),
    ] {
        let common = [option, "--source", "skills", "--json"];
        let shown = place.run([&["disclose", message], &common[..]].concat()).exits(0).json();
        let is_shown = shown["full"].as_array().unwrap().contains(&json!("invoice-writer"));
        let args = [&["why", "invoice-writer", message], &common[..]].concat();
        let told = place.run(args).exits(i32::from(!is_shown)).json();
        assert_eq!(told["fires"], json!(is_shown), "{told}");
        assert!(told["reason"].as_str().unwrap().contains(reason), "{told}");
    }
}

#[test]
fn the_doctor_tells_what_is_there_and_what_is_broken() {
    let place = Place::new();
    place.write("low/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    place.write("high/a/SKILL.md", "---\nname: a\ndescription: d\n---\n");
    place.write(
        "high/b/SKILL.md",
        "---\nname: b\ndescription: d\ntoolsets: ['toolsets/none:None']\n---\n",
    );
    let args = ["doctor", "--json", "--source", "low", "--source", "high"];
    let well = place.run(args).exits(0).json();
    assert_eq!(well["sources"][1]["skills"], 2);
    assert_eq!(well["unused"][0]["status"], "shadowed");
    assert_eq!(well["code"][0]["skill"], "b");
    assert_eq!(well["broken"], json!([]));
    assert!(!state(&place, "sessions.sqlite").exists(), "looking made a store");

    place.write("high/c/SKILL.md", "");
    place.write("home/.local/state/repertoire/trust.json", "noise");
    hook(&place, "claude-code", "bad").exits(0);
    let ill = place.run(args).exits(1).json();
    assert_eq!(ill["broken"].as_array().unwrap().len(), 2, "{ill}");
    let line = ill["state"]["last_log_lines"][0].as_str().unwrap();
    assert!(line.contains("is no JSON"), "{ill}");
    let page = place.run(["doctor"]).stdout;
    for heading in ["Skills", "Hooks", "State", "Tools and scripts"] {
        assert!(page.contains(heading), "{page}");
    }
}
