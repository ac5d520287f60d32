//! The protocol of hooks: the calls that agents make, and the answers.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{AGENTS, hook, log, place, prompt};
use crate::binary::finish;

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
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "clear"});
    hook(&place, "claude-code", &end.to_string()).exits(0);
    assert!(is_full(&prompt("s", "deploy it")));
    assert_eq!(log(&place), "");
}

/// Claude Code tells no hook that the user went back; its record of the conversation shows it.
#[test]
fn a_skill_of_a_part_that_was_rewound_is_added_again() {
    let place = place();
    let record = place.path().join("home/record.jsonl");
    let ask = |message: &str| {
        let mut input: Value = serde_json::from_str(&prompt("s", message)).unwrap();
        input["transcript_path"] = json!(record);
        hook(&place, "claude-code", &input.to_string()).exits(0).stdout
    };
    let row = |uuid: &str, parent: Option<&str>, text: &str| {
        json!({"parentUuid": parent, "isSidechain": false, "message": text, "uuid": uuid})
            .to_string()
            + "\n"
    };
    let body = ask("deploy it");
    assert!(body.contains("## Skill: deploy"), "{body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let mut rows = row("a", None, "hello") + &row("b", Some("a"), context);
    fs::write(&record, &rows).unwrap();
    assert!(!ask("deploy it again").contains("## Skill: deploy"));
    rows += "{\"type\":\"last-prompt\",\"leafUuid\":\"a\",\"explicit\":true}\n";
    fs::write(&record, &rows).unwrap();
    // What was rewound does not come back by itself.
    assert!(!ask("thanks").contains("## Skill: deploy"));
    assert!(ask("deploy it, please").contains("## Skill: deploy"));
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
fn the_project_that_the_agent_names_counts_wherever_it_works() {
    let place = place();
    let elsewhere = tempfile::tempdir().unwrap();
    let shows = |agent: &str, variable: &str, n: usize| {
        let mut command = place.command(["hook", agent, "--deadline", "60"]);
        command.current_dir(elsewhere.path()).env(variable, place.path());
        let mut input: Value =
            serde_json::from_str(&prompt(&format!("{agent} {n}"), "deploy it")).unwrap();
        input["cwd"] = json!(elsewhere.path());
        let run = finish(command, input.to_string().as_bytes()).exits(0);
        run.stdout.contains("## Skill: deploy")
    };
    assert!(shows("claude-code", "CLAUDE_PROJECT_DIR", 1));
    // Codex may run in a terminal of another agent, which names a project of its own.
    assert!(!shows("codex", "CLAUDE_PROJECT_DIR", 2));
}

#[test]
fn the_directory_that_an_agent_was_started_in_belongs_to_its_project() {
    let place = place();
    let deep = place.path().join("web/deep");
    fs::create_dir_all(&deep).unwrap();
    for (agent, variable) in [
        ("claude-code", "CLAUDE_PROJECT_DIR"),
        ("gemini", "GEMINI_PROJECT_DIR"),
        ("cursor", "CURSOR_PROJECT_DIR"),
        ("codex", "CLAUDE_PROJECT_DIR"),
    ] {
        for (cwd, started) in [("web/deep", "web"), ("web", "web"), ("", "web"), ("web", "")] {
            let [cwd, started] = [cwd, started].map(|dir| place.path().join(dir));
            let mut command = place.command(["hook", agent, "--deadline", "60"]);
            command.current_dir(&cwd).env(variable, &started);
            let session = format!("{agent} {} {}", cwd.display(), started.display());
            let mut input: Value = serde_json::from_str(&prompt(&session, "deploy it")).unwrap();
            input["cwd"] = json!(cwd);
            let run = finish(command, input.to_string().as_bytes()).exits(0);
            assert!(run.stdout.contains("## Skill: deploy"), "{session}: {run:?}");
        }
    }
}

#[test]
fn the_answer_does_not_wait_for_the_end_of_the_input() {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    let place = place();
    let mut command = place.command(["hook", "claude-code", "--deadline", "60"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The pipe stays open until the hook has ended.
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(prompt("s", "deploy it").as_bytes()).unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert!(answer.contains("## Skill: deploy") && child.wait().unwrap().success(), "{answer}");
    drop(pipe);
}

#[test]
fn skills_of_the_package_an_agent_works_in_win_over_those_of_the_project() {
    let place = place();
    let skill = |dir: &str, body: &str| {
        let front_matter = "name: deploy\ndescription: Deploys.\ntriggers: [deploy]";
        place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\n{body}\n"));
    };
    skill("packages/api/.agents/skills/deploy", "Deploy the API.");
    skill("packages/.github/skills/deploy", "Deploy all packages.");
    skill("packages/web/.agents/skills/deploy", "Deploy the web.");
    for (cwd, wanted) in [
        ("packages/api", "Deploy the API."),
        ("packages/api/src/deep", "Deploy the API."),
        ("packages", "Deploy all packages."),
        ("packages/other", "Deploy all packages."),
        ("docs", "Run the pipeline."),
    ] {
        let cwd = place.path().join(cwd);
        fs::create_dir_all(&cwd).unwrap();
        let mut input: Value = serde_json::from_str(&prompt(wanted, "deploy it")).unwrap();
        input["cwd"] = json!(cwd);
        input["session_id"] = json!(cwd);
        let root = place.path().to_str().unwrap();
        for project in [&[][..], &["--project", root]] {
            let args = ["hook", "claude-code", "--deadline", "60"];
            // Use another conversation each time.
            input["session_id"] = json!(format!("{} {project:?}", cwd.display()));
            let args = args.iter().chain(project);
            let run = place.run_with(args, input.to_string().as_bytes()).exits(0);
            assert!(run.stdout.contains(wanted), "{}: {run:?}", cwd.display());
        }
    }
    assert_eq!(log(&place), "");
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
fn a_command_whose_skill_cannot_run_as_it_is_declared_is_no_reason_for_silence() {
    let place = place();
    let skill = |name: &str, field: &str| {
        let text = format!("---\nname: {name}\ndescription: d\n{field}\n---\nDo $ARGUMENTS.\n");
        place.write(&format!(".repertoire/skills/{name}/SKILL.md"), text);
    };
    skill("needs", "requires_bins: [no-such-program]");
    let added =
        |message: &str| hook(&place, "claude-code", &prompt(message, message)).exits(0).stdout;
    let needs = added("/needs to deploy");
    assert!(needs.contains("`needs`") && needs.contains("no-such-program"), "{needs}");
    assert!(needs.contains("## Skill: deploy"), "the rest is a message like any other: {needs}");
    assert!(added("/needs").contains("no-such-program"));
    assert_eq!(log(&place), "");
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
    // A directory given as an option takes precedence.
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
        assert!(log(&place).contains(&format!("`{cwd}` is not a directory")), "{}", log(&place));
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
    let told = log(&place);
    assert!(told.contains("cannot write the answer") && told.contains("; see that"), "{told}");
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("## Skill: deploy"), "{run:?}");
}

#[test]
fn options_of_matching_matter_to_a_hook() {
    let place = place();
    let text = "---\nname: garden\ndescription: d\ntriggers: {verbs: [mow]}\n---\nMow it.\n";
    place.write(".repertoire/skills/garden/SKILL.md", text);
    let skills = place.path().join(".repertoire/skills");
    let args = ["hook", "claude-code", "--deadline", "60", "--source", skills.to_str().unwrap()];
    let said = |option: &[&str]| {
        let args = args.iter().chain(option);
        let prompt = prompt(&format!("s{}", option.len()), "we are mowing here");
        place.run_with(args, prompt.as_bytes()).exits(0).stdout
    };
    assert!(!said(&[]).contains("## Skill: garden"));
    assert!(said(&["--inflect"]).contains("## Skill: garden"));
}

#[test]
fn a_skill_that_runs_as_a_task_is_handed_to_a_subagent() {
    let place = place();
    let text = "---\nname: apart\ndescription: Digs.\ntriggers: [dig it up]\ncontext: fork\n\
        agent: explorer\n---\nSECRET $ARGUMENTS.\n";
    place.write(".repertoire/skills/apart/SKILL.md", text);
    let file = place.path().join(".repertoire/skills/apart/SKILL.md").display().to_string();
    for agent in ["claude-code", "codex"] {
        for (session, message) in [("line", "please dig it up"), ("command", "/apart the deploy")] {
            let session = format!("{agent}-{session}");
            let told = hook(&place, agent, &prompt(&session, message)).exits(0).stdout;
            assert!(!told.contains("SECRET"), "{agent}: {told}");
            assert!(told.contains("subagent") && told.contains(&file), "{agent}: {told}");
            // What was never in the context is not referred to.
            let again = hook(&place, agent, &prompt(&session, "/apart now")).exits(0).stdout;
            assert!(again.contains("`explorer`") && again.contains(&file), "{agent}: {again}");
        }
    }
}
