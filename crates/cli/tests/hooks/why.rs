//! The command `why`: explanations of why skills are shown or not.

use std::fs;

use serde_json::{Value, json};

use super::{AGENTS, place, prompt};
use crate::binary::{Place, finish};

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
    for n in 0..4 {
        skill(&format!("crowd{n}"), "triggers: [crowd]");
    }
    skill(
        "long",
        &format!("triggers: [encyclopedia]\nmetadata:\n  x: y\n---\n{}", "word ".repeat(40_000)),
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
    let told = near["reason"].as_str().unwrap();
    assert!(told.starts_with("none of its triggers is in the message"), "{near}");
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
        ("scribe", "a commit message, press release", &[][..], "exclude", "remove that exclude"),
        ("crowd3", "crowd", &[], "below the limit", "REPERTOIRE_MAX_SKILLS"),
        ("long", "encyclopedia", &[], "over budget", "shorter"),
        ("plain", "anything", &["--by-relevance"], "declares no triggers", "keywords"),
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

    // The command reports an unknown session.
    let strange = ["why", "scribe", "a commit message", "--source", "skills", "--session"];
    for unknown in ["claude-code:nobody", "foo", "claude-code:"] {
        let run = place.run([&strange[..], &[unknown]].concat()).exits(0);
        let told = format!("the conversation `{unknown}` is unknown; that of a hook is");
        assert!(run.stderr.contains(&told), "{run:?}");
    }

    let args = ["why", "scribe", "explain these commits", "--source", "skills"];
    let page = place.run(args).exits(1).stdout;
    assert!(page.starts_with("scribe does not fire: none of its triggers"), "{page}");
    assert!(page.lines().count() < 12, "{page}");
}

#[test]
fn without_an_agent_the_room_is_that_of_disclose() {
    let place = Place::new();
    let body = "word ".repeat(4_000);
    let text = format!("---\nname: long\ndescription: d\ntriggers: [encyclopedia]\n---\n{body}");
    place.write("skills/long/SKILL.md", text);
    let source = ["--source", "skills", "--json"];
    let disclosed = place.run(["disclose", "encyclopedia"].iter().chain(&source)).exits(0).json();
    assert_eq!(disclosed["full"], json!(["long"]));
    let why = ["why", "long", "encyclopedia"];
    assert_eq!(place.run(why.iter().chain(&source)).exits(0).json()["fires"], true);
    place.run(["hook", "install", "claude-code", "--source", "skills"]).exits(0);
    let agent = ["--agent", "claude-code"];
    let of_hook = place.run(why.iter().chain(&source).chain(&agent)).exits(1).json();
    assert_eq!(of_hook["code"], "over-budget", "{of_hook}");
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
    skill("apart", "context: fork");
    skill("needs", "requires_bins: [no-such-program]");
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
        ("apart", "/apart foo", "3", "is its command"),
        ("needs", "/needs zebra stripes", "3", "not available"),
        ("sk-0", "/needs zebra stripes", "3", "are added"),
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

/// Settings by which Gemini CLI trusts all folders.
const TRUSTING: &str = r#"{"security": {"folderTrust": {"enabled": false}}}"#;

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
    place.write("home/.gemini/settings.json", TRUSTING);
    // Codex and Copilot run no hook of a project that nobody trusted.
    for agent in AGENTS.into_iter().filter(|agent| !["codex", "copilot"].contains(agent)) {
        let missing = why(&["--agent", agent], 1);
        assert_eq!(missing["error"]["message"], format!("{agent} has no hook here"));
        let options = ["hook", "install", agent, "--project", ".", "--source", "elsewhere"];
        place.run(options.iter().chain(&["--inflect"])).exits(0);
        assert_eq!(why(&["--agent", agent], 0)["fires"], true, "{agent}");
        assert_eq!(why(&[], 1)["error"]["code"], "NOT_FOUND", "{agent}");
        // Options on the command line take precedence over those of the installed hook.
        place.write("other/deploy/SKILL.md", text.replace("[deploy]", "[ship]"));
        assert_eq!(why(&["--agent", agent, "--source", "other"], 1)["fires"], false, "{agent}");
    }
    let path = place.path().join(".claude/settings.json");
    let settings = fs::read_to_string(&path).unwrap();
    fs::write(&path, settings.replace("--inflect", "--inflict")).unwrap();
    let broken = why(&["--agent", "claude-code"], 1);
    let message = broken["error"]["message"].as_str().unwrap();
    assert!(message.contains("settings.json is not a command line"), "{broken}");
    place.run(["why", "deploy", "deploy it", "--agent", "emacs"]).exits(2);
}

#[test]
fn why_refuses_an_invalid_variable_where_disclose_does_and_tells_of_it_for_a_hook() {
    let place = place();
    let why = |more: &[&str]| {
        let args = ["why", "deploy", "deploy it", "--source", ".repertoire/skills"];
        let mut command = place.command(args.iter().chain(more));
        command.env("REPERTOIRE_MAX_SKILLS", "x");
        finish(command, b"")
    };
    let told = "`REPERTOIRE_MAX_SKILLS`: `x` is not a number of skills";
    let refused = why(&[]).exits(2);
    assert!(refused.stderr.contains(told), "{refused:?}");
    place.write("home/.gemini/settings.json", TRUSTING);
    place.run(["hook", "install", "gemini", "--project"]).exits(0);
    let answered = why(&["--agent", "gemini"]).exits(0);
    assert!(answered.stderr.contains(told), "{answered:?}");
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
    skill("lost", "description: d\n- note\ntriggers: {patterns: ['\\d+ items']}");
    skill("part", "description: d\ntriggers: {keywords: [yak], patterns: ['items(']}");
    skill("tabs", "\tdescription: d\ntriggers:\n\tkeywords: [a]");
    place.write("skills/empty/SKILL.md", "---\nname: empty\n\tdescription: d\n---\n");
    let why = |id: &str, message: &str| {
        let args = ["why", id, "-", "--json", "--source", "skills"];
        place.run_with(args, message.as_bytes()).exits(1).json()
    };
    let hidden = |n: usize, what: &str| format!("{}{what}{}", "x ".repeat(n), " x".repeat(n));
    // The first 128 KiB end within the second word of the phrase.
    let cut_word = format!(" zebra stripesome {}", "y".repeat(100));
    for (id, message, reason) in [
        ("stripes", hidden(200_000, "zebra stripes"), "first and last 128 KiB"),
        ("stripes", hidden(65_529, &cut_word), "first and last 128 KiB"),
        ("number", hidden(40_000, "zebra 7"), "patterns see the first and last 32 KiB"),
        ("stripes", hidden(10, "zebra"), "is in the message"),
        ("lost", "7 items".to_owned(), "could not be read"),
        ("tabs", "a".to_owned(), "could not be read"),
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
    let rejected = why("empty", "a");
    let error = &rejected["error"];
    assert!(error["message"].as_str().unwrap().contains("empty/SKILL.md:3:1: error"), "{rejected}");
    assert_eq!(error["help"], "indent with blanks, not with tabs");

    for command in ["match", "disclose"] {
        let message = hidden(200_000, "zebra stripes");
        let args = [command, "-", "--source", "skills"];
        let run = place.run_with(args, message.as_bytes()).exits(0);
        assert!(run.stderr.contains("see only its first and last 128 KiB"), "{command}");
    }
}

#[test]
fn why_and_disclose_agree_on_what_is_shown() {
    let place = Place::new();
    for (name, description) in [
        (
            "invoice-writer",
            "Writes invoices for freelance clients in euros.\ntriggers: {exclude: [paris]}",
        ),
        ("release-notes", "Summarises merged changes for a changelog."),
        ("tax-report", "Prepares yearly reports of income."),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nBody\n");
        place.write(&format!("skills/{name}/SKILL.md"), text);
    }
    let message = "write an invoice for my freelance client";
    for (message, option, reason) in [
        (message, "--by-relevance=1,0.5,2", "most relevant skill, by the words `"),
        (message, "--by-relevance=90,0.5,2", "lacks: a score of"),
        (message, "--inflect", "most relevant skill, by the words `"),
        ("no /invoice-writer please", "--inflect", "names it only to deny it"),
        ("a client in paris", "--inflect", "vetoed by its exclude `paris`"),
        (message, "--by-relevance=off", "declares no triggers"),
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
fn a_conversation_tells_what_its_model_has_and_what_a_message_adds() {
    let place = place();
    place.run(["hook", "install", "claude-code"]).exits(0);
    let say = |name: &str, text: &str| {
        let args = ["hook", "claude-code", "--deadline", "60"];
        let call = json!({"hook_event_name": name, "session_id": "7", "prompt": text});
        place.run_with(args, call.to_string().as_bytes()).exits(0)
    };
    let record = |message: &str| {
        let args = ["why", message, "--agent", "claude-code", "--session", "7", "--json"];
        place.run(args).exits(0).json()
    };
    let line = |record: &Value, id: &str| {
        let skills = record["skills"].as_array().unwrap();
        let line = skills.iter().find(|line| line["id"] == id).cloned();
        let line = line.unwrap_or_else(|| panic!("{id}: {record}"));
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        [text("has"), text("adds"), text("reason")]
    };
    say("SessionStart", "");
    let before = record("deploy it");
    assert_eq!(before["session"], "claude-code:7");
    assert_eq!(line(&before, "deploy")[..2], ["line", "full"]);
    assert_eq!(line(&before, "styles")[0], "line");

    say("UserPromptSubmit", "deploy it");
    let [has, _, reason] = line(&record("deploy it"), "deploy");
    assert_eq!(has, "full");
    assert!(reason.contains("in the context already"), "{reason}");
    let [has, adds, reason] = line(&record("native things"), "native");
    assert_eq!([&*has, &*adds], ["nothing", "line"]);
    assert!(reason.contains("the agent has it by itself"), "{reason}");

    let compacted = json!({"hook_event_name": "PreCompact", "session_id": "7"}).to_string();
    place.run_with(["hook", "claude-code"], compacted.as_bytes()).exits(0);
    assert_eq!(line(&record("thanks"), "deploy")[..2], ["lost", "full"]);
    let args = ["why", "thanks", "--agent", "claude-code", "--session", "claude-code:7"];
    let page = place.run(args).exits(0).stdout;
    assert!(page.starts_with("the model of claude-code:7 has\n"), "{page}");
    assert!(page.contains("  deploy lost when the context was shortened\n"), "{page}");

    let missing = place.run(["why", "deploy it"]).exits(2);
    assert!(missing.stderr.contains("the message is missing"), "{missing:?}");
}

#[test]
fn doctor_names_skills_whose_command_an_agent_has_taken() {
    let place = Place::new();
    place.write(
        ".repertoire/skills/release-notes/SKILL.md",
        "---\nname: release-notes\ndescription: Writes notes.\ntriggers: [notes]\n---\nBody.\n",
    );
    let notes = || {
        let doctor = place.run(["doctor", "--json", "--bundled=off"]).exits(0).json();
        doctor["notes"].to_string()
    };
    let told = "`/release-notes` is a command of its own in Claude Code";
    assert!(!notes().contains(told), "{}", notes());
    place.run(["hook", "install", "claude-code"]).exits(0);
    assert!(notes().contains(told), "{}", notes());
    let check = place.run(["check", "--json", ".repertoire/skills"]).exits(0).stdout;
    assert!(check.contains(r#""taken-command""#) && check.contains("Claude Code"), "{check}");
}
