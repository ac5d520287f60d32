//! The commands `use` and `run`, and scripts in the output of `show` and `trust`.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::binary::{Place, finish};

/// Creates a place with several skills: among them one with a script, one for tasks, and one for the
/// user only.
pub(super) fn place() -> Place {
    let place = Place::new();
    for (id, fields, body) in [
        (
            "review",
            "argument-hint: '[pr]'\nallowed-tools: Read\n",
            "Review `$0` with $ARGUMENTS.\n",
        ),
        ("review/deep", "", "Deep.\n"),
        ("forked", "context: fork\n", "Work on $ARGUMENTS.\n"),
        ("mine", "disable-model-invocation: true\n", "Mine.\n"),
        ("models", "user-invocable: false\n", "Models.\n"),
        ("declared", "scripts: [tools/go.sh, tools/env.sh]\n", "Go.\n"),
    ] {
        let name = id.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{fields}---\n{body}");
        place.write(&format!("skills/{id}/SKILL.md"), text);
    }
    place.write("skills/review/scripts/echo.sh", "# Prints what it gets.\n# Use it so.\necho \"$#:$1:$2\"\necho oops >&2\ncat\nexit \"${3:-0}\"\n");
    place.write("skills/review/scripts/slow.sh", "echo begun\nsleep 60\n");
    place.write("skills/review/scripts/write.sh", "echo x > \"$1\"\n");
    place.write("skills/review/references/a.md", "a");
    place.write("skills/declared/tools/go.sh", "echo gone\n");
    place.write("skills/declared/tools/env.sh", "echo \"${SET_HERE-none}\"\n");
    place
}

pub(super) const SOURCE: [&str; 2] = ["--source", "skills"];

#[test]
fn a_skill_is_used_with_its_arguments() {
    let place = place();
    let used =
        place.run(["use", "--source", "skills", "--json", "review", "PR", "42"]).exits(0).json();
    assert_eq!(used["status"], "success");
    let data = &used["data"];
    assert_eq!(data["content"], "Review `PR` with PR 42.\n");
    assert_eq!((&data["id"], &data["mode"]), (&json!("review"), &json!("inline")));
    assert_eq!(data["sub_skills"], json!([{"id": "review/deep", "brief": "Does deep."}]));
    assert_eq!(data["files"][0], "references/a.md");
    assert_eq!(data["allowed_tools"], json!(["Read"]));
    assert!(data["base_dir"].as_str().unwrap().ends_with("/skills/review"), "{data}");
    assert_eq!(
        used["text"],
        place.run(["use", "--source", "skills", "review", "PR", "42"]).exits(0).stdout.trim_end()
    );

    // On the command line, the operator may use skills of either audience.
    for (id, content) in [("mine", "Mine.\n"), ("models", "Models.\n"), ("review/deep", "Deep.\n")]
    {
        let used = place.run(["use", "--json", id].iter().chain(&SOURCE)).exits(0).json();
        assert_eq!(used["data"]["content"], content);
        // A word that begins with a slash may also be a path.
        let source = place.path().join("skills");
        let [path, source] = [source.join(id), source].map(|it| it.display().to_string());
        let used = place.run(["use", "--json", &path, "--source", &source]).exits(0).json();
        assert_eq!(used["data"]["content"], content);
    }
    let xml =
        place.run(["use", "--xml", "--source", "skills", "review", "--", "-x <y>"]).exits(0).stdout;
    assert!(xml.starts_with("<skill_content command=\"/review\" name=\"review\">"), "{xml}");
    assert!(xml.contains("<![CDATA[\nReview `-x` with -x <y>."), "{xml}");
}

#[test]
fn a_slash_command_may_be_an_id_with_blanks() {
    let place = Place::new();
    for id in ["my", "My Skill"] {
        let text = format!("---\ndescription: Does a thing.\n---\n{id}: $ARGUMENTS\n");
        place.write(&format!("skills/{id}/SKILL.md"), text);
    }
    for (id, content) in [
        ("/My Skill", "My Skill: x y\n"),
        ("My Skill", "My Skill: x y\n"),
        ("/my", "my: x y\n"),
        ("/my skill", "My Skill: x y\n"),
        ("/my other", "my: other x y\n"),
    ] {
        let used = place.run(["use", "--json", id, "x", "y"].iter().chain(&SOURCE)).exits(0);
        assert_eq!(used.json()["data"]["content"], content, "{id}");
    }
}

#[test]
fn a_skill_is_named_by_any_path_that_leads_to_it() {
    let place = Place::new();
    for dir in [".repertoire/skills/own", "more/other"] {
        place.write(&format!("{dir}/SKILL.md"), "---\ndescription: Does a thing.\n---\nB.\n");
    }
    place.write(".git/HEAD", "");
    place.write("sub/x", "");
    let root = place.path().canonicalize().unwrap();
    let [own, more, other] = [".repertoire/skills/own", "more", "more/other"]
        .map(|it| root.join(it).display().to_string());
    let file = format!("{own}/SKILL.md");
    for (here, args) in [
        ("", ["show", &own].to_vec()),
        ("", ["show", &file].to_vec()),
        ("sub", ["show", "../.repertoire/skills/own"].to_vec()),
        ("", ["show", "--source", "more", &other].to_vec()),
        ("", ["show", "--source", "more", "./more/other"].to_vec()),
        ("", ["show", "--source", &more, "more/other"].to_vec()),
        ("", ["use", &own].to_vec()),
        ("sub", ["use", "--source", &more, "../more/other/SKILL.md"].to_vec()),
        ("sub", ["why", "../.repertoire/skills/own", "x"].to_vec()),
    ] {
        let mut command = place.command(&args);
        command.current_dir(root.join(here));
        let run = finish(command, b"");
        assert!(run.stderr.is_empty() && !run.stdout.is_empty(), "{here}: {args:?}: {run:?}");
    }
    place.write(".repertoire/skills/own/SKILL.md", "---\nname: [\n");
    let rejected = place.run(["show", &own]).exits(1);
    assert!(rejected.stderr.contains("was rejected"), "{rejected:?}");
}

#[test]
fn what_cannot_be_used_says_why() {
    let place = place();
    for (args, code, words) in [
        (vec!["use", "reveiw"], "NOT_FOUND", vec!["reveiw", "review"]),
        (vec!["use", "mine", "--allow", "review"], "NOT_FOUND", vec!["mine"]),
        (
            vec!["use", "/models"],
            "NOT_FOUND",
            vec!["`models`", "only the model may", "user-invocable"],
        ),
        (vec!["use", "/reveiw"], "NOT_FOUND", vec!["`/reveiw`", "review"]),
        (vec!["use", "forked", "x"], "EXECUTION_ERROR", vec!["forked", "inline"]),
        (vec!["run", "review", "nothing.sh"], "NOT_FOUND", vec!["review", "nothing.sh"]),
        (vec!["run", "review", "../mine/SKILL.md"], "INVALID_PARAM", vec!["review"]),
        (
            vec!["run", "review", "echo.sh"],
            "PERMISSION_DENIED",
            vec!["echo.sh", "repertoire trust add"],
        ),
        (vec!["show", "review", "nothing.sh"], "NOT_FOUND", vec!["nothing.sh", "scripts/echo.sh"]),
    ] {
        let run = place.run(args.iter().chain(&["--json"]).chain(&SOURCE)).exits(1);
        let answer = run.json();
        assert_eq!(
            (&answer["status"], &answer["error"]["code"]),
            (&json!("error"), &json!(code)),
            "{args:?}"
        );
        let told = format!("{} {}", answer["error"]["message"], answer["error"]["help"]);
        for word in words {
            assert!(told.contains(word), "{word} in {told}");
        }
    }
    let inline = ["use", "--inline", "--json", "forked", "x"];
    let used = place.run(inline.iter().chain(&SOURCE)).exits(0).json();
    assert_eq!(used["data"]["content"], "Work on x.\n");
}

#[test]
fn a_skill_that_nobody_can_use_says_so_everywhere() {
    for field in ["disable-model-invocation", "user_invocable_only"] {
        let place = Place::new();
        let fields = format!("triggers: [off]\n{field}: true\nuser-invocable: false");
        let text = format!("---\nname: off\ndescription: Off.\n{fields}\n---\nOff.\n");
        place.write("skills/off/SKILL.md", text);
        for (args, code) in [
            (&["list"][..], 0),
            (&["list", "--json"], 0),
            (&["show", "off"], 0),
            (&["doctor"], 0),
            (&["why", "off", "/off x"], 1),
            (&["why", "off", "off"], 1),
            (&["use", "off"], 1),
            (&["use", "/off"], 1),
        ] {
            let run = place.run(args.iter().chain(&SOURCE)).exits(code);
            let told = format!("{}{}", run.stdout, run.stderr);
            for word in ["nobody can use it", "`user-invocable`", "`disable-model-invocation`"] {
                assert!(told.contains(word), "{args:?} does not say {word}: {told}");
            }
            assert!(!told.contains("type `/off`") && !told.contains("`repertoire list`"), "{told}");
        }
        let found = place.run(["check", "--json"].iter().chain(&SOURCE)).exits(0).json();
        let found = &found["diagnostics"][0];
        let told = (&found["code"], &found["severity"], &found["line"]);
        assert_eq!(told, (&json!("for-nobody"), &json!("warning"), &json!(6)), "{found}");
    }
}

#[cfg(unix)]
#[test]
fn a_trusted_script_runs_and_tells_how_it_ended() {
    let place = place();
    place.run(["trust", "add", "--yes", "review", "declared"].iter().chain(&SOURCE)).exits(0);
    let run = |args: &[&str]| place.run(args.iter().chain(&SOURCE));

    let answer = run(&["run", "--json", "review", "echo.sh", "$(x) *", "; y"]).exits(0).json();
    assert_eq!(answer["status"], "success");
    let data = &answer["data"];
    assert_eq!((&data["stdout"], &data["stderr"]), (&json!("2:$(x) *:; y\n"), &json!("oops\n")));
    let fields = ["exit_code", "truncated", "timed_out"].map(|field| data[field].clone());
    assert_eq!(fields, [json!(0), json!(false), json!(false)]);
    assert!(data["duration_ms"].is_u64());

    let plain = run(&["run", "review", "scripts/echo.sh", "a", "b", "3"]).exits(1);
    assert_eq!(plain.stdout, "3:a:b\n");
    // If a script fails, it may have needed the network, which its skill did not ask for.
    let (own, note) = plain.stderr.split_once('\n').unwrap();
    assert_eq!(own, "oops");
    assert!(note.starts_with("the network was closed to it"), "{note}");
    let piped =
        place.run_with(["run", "--stdin", "review", "echo.sh"].iter().chain(&SOURCE), b"in");
    assert_eq!(piped.exits(0).stdout, "0::\nin");
    assert_eq!(run(&["run", "declared", "tools/go.sh"]).exits(0).stdout, "gone\n");

    let slow = run(&["run", "--json", "--timeout", "0.5", "review", "slow.sh"]).exits(1).json();
    assert_eq!(slow["error"]["code"], "TIMEOUT");
    assert_eq!(
        (&slow["data"]["timed_out"], &slow["data"]["stdout"]),
        (&json!(true), &json!("begun\n"))
    );

    // The script gets the named environment variables. An unknown name is an error.
    let env = |name: &str| {
        let args = ["run", "--json", "--env", name, "declared", "tools/env.sh"];
        finish(
            {
                let mut command = place.command(args.iter().chain(&SOURCE));
                command.env("SET_HERE", "yes").env_remove("NOT_HERE");
                command
            },
            b"",
        )
    };
    let passed = env("SET_HERE").exits(0);
    assert_eq!((&passed.json()["data"]["stdout"], &*passed.stderr), (&json!("yes\n"), ""));
    let unset = env("NOT_HERE").exits(0);
    assert_eq!(unset.json()["data"]["stdout"], "none\n");
    assert!(unset.stderr.contains("`NOT_HERE` is not set"), "{unset:?}");
    for (name, told) in [
        ("SET_HERE=no", "write the name alone, `--env SET_HERE`"),
        ("=no", "write the name of a variable"),
        ("", "write the name of a variable"),
        ("A-B", "letters, digits and `_`"),
        ("1A", "no digit first"),
        ("Ä", "letters, digits and `_`"),
    ] {
        let refused = env(name).exits(2);
        assert!(refused.stderr.contains(told), "{name}: {refused:?}");
    }

    // A changed script does not run, although it was trusted before.
    place.write("skills/review/scripts/echo.sh", "echo changed\n");
    let refused = run(&["run", "--json", "review", "echo.sh"]).exits(1).json();
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED");
    assert!(refused["error"]["message"].as_str().unwrap().contains("changed"), "{refused}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_script_writes_where_it_is_allowed_to() {
    let place = place();
    place.run(["trust", "add", "--yes", "review"].iter().chain(&SOURCE)).exits(0);
    place.write("work/keep", "");
    let file = place.path().join("work/made");
    let file = file.to_str().unwrap();
    let answer =
        place.run(["run", "--json", "review", "write.sh", file].iter().chain(&SOURCE)).json();
    if answer["data"]["sandbox"]["filesystem"] == "none" {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return;
    }
    assert_ne!(answer["data"]["exit_code"], 0, "{answer}");
    assert!(!std::path::Path::new(file).exists());
    let allowed = ["run", "--write", "work", "review", "write.sh", file];
    place.run(allowed.iter().chain(&SOURCE)).exits(0);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "x\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_script_neither_reads_nor_locks_what_the_program_records() {
    let place = place();
    let home = place.path().join("home"); // of a skill of the user's own, not of a project's
    let script = format!(
        "cd '{}'\nfor file in .local/state/repertoire/* .local/share/repertoire/*/.lock \
         $(find .cache -type f); do\n  [ -f \"$file\" ] && ( : <\"$file\" ) 2>&- && echo \"open: $file\"\n\
         done\ncat notes\n",
        home.display()
    );
    place.write("home/notes", "read\n");
    place.write("home/.local/share/repertoire/skills/.lock", "");
    place.write("home/.cache/repertoire/plugins/.lock", "");
    place.write("home/.repertoire/skills/own/SKILL.md", "---\nname: own\n---\nx\n");
    place.write("skills/review/scripts/lock.sh", &script);
    place.write("home/.repertoire/skills/own/scripts/lock.sh", &script);
    place.run(["trust", "add", "review", "--yes"].iter().chain(&SOURCE)).exits(0);
    assert!(home.join(".local/state/repertoire/trust.json").exists());
    for (id, source, expected) in [("review", &SOURCE[..], ""), ("own", &[], "read\n")] {
        let answer = place.run(["run", "--json", id, "lock.sh"].iter().chain(source)).json();
        if answer["data"]["sandbox"]["filesystem"] == "none" {
            return eprintln!("SKIPPED: this kernel has no Landlock");
        }
        assert_eq!(answer["data"]["stdout"], expected, "{answer}");
    }
}

#[test]
fn scripts_are_shown_with_what_they_say_of_themselves() {
    let place = place();
    let shown = place.run(["show", "--json", "review"].iter().chain(&SOURCE)).exits(0).json();
    let paths: Vec<_> = shown["scripts"].as_array().unwrap().iter().map(|s| &s["path"]).collect();
    assert_eq!(paths, ["scripts/echo.sh", "scripts/slow.sh", "scripts/write.sh"]);
    let one =
        place.run(["show", "--json", "review", "echo.sh"].iter().chain(&SOURCE)).exits(0).json();
    assert_eq!(one["help"], "Prints what it gets.\nUse it so.");
    let text =
        place.run(["show", "review", "scripts/echo.sh"].iter().chain(&SOURCE)).exits(0).stdout;
    assert!(text.contains("Use it so."), "{text}");
    let list = place.run(["show", "review"].iter().chain(&SOURCE)).exits(0).stdout;
    assert!(list.contains("scripts/echo.sh  Prints what it gets."), "{list}");
}

#[test]
fn a_named_session_remembers_what_was_used() {
    let place = place();
    let risk = |session: &[&str]| {
        let args = ["use", "--json", "review"];
        let used = place.run(args.iter().chain(session).chain(&SOURCE)).exits(0).json();
        used["data"]["risk"].clone()
    };
    assert_eq!(risk(&["--session", "a"]), "risky");
    assert_eq!(risk(&["--session", "a"]), "safe");
    assert_eq!(risk(&["--session", "b"]), "risky");
    assert_eq!((risk(&[]), risk(&[])), (json!("risky"), json!("risky")));
}

/// Tells whether a process with this number exists.
#[cfg(target_os = "linux")]
fn is_alive(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Starts a script that sleeps, with its temporary files in `scratch/`. Returns the run, and the
/// script's process number.
#[cfg(target_os = "linux")]
fn sleeping(place: &Place) -> (std::process::Child, String) {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    place.write("skills/review/scripts/number.sh", "echo $$\nsleep 60\n");
    place.run(["trust", "add", "--yes", "review"].iter().chain(&SOURCE)).exits(0);
    let args = ["run", "review", "number.sh"];
    let mut command = place.command(args.iter().chain(&SOURCE));
    command.env("TMPDIR", place.path().join("scratch")).stderr(Stdio::null());
    let mut run = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut script = String::new();
    BufReader::new(run.stdout.take().unwrap()).read_line(&mut script).unwrap();
    let script = script.trim().to_owned();
    assert!(is_alive(&script));
    (run, script)
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_script_first() {
    let place = place();
    place.write("scratch/keep", "");
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let (mut run, script) = sleeping(&place);
        let kill = format!("kill -{signal} {}", run.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(run.wait().unwrap().code(), Some(code), "{signal}");
        assert!(!is_alive(&script), "{signal}");
        let left = std::fs::read_dir(place.path().join("scratch")).unwrap();
        assert_eq!(left.count(), 1, "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_script_does_not_outlive_a_host_that_is_killed() {
    let place = place();
    place.write("scratch/keep", "");
    let (mut run, script) = sleeping(&place);
    run.kill().unwrap();
    run.wait().unwrap();
    let patience = Instant::now() + Duration::from_secs(10);
    while is_alive(&script) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_alive(&script));
}
