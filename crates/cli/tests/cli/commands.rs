//! Properties of all commands: their groups, their common arguments, and the form of their output.

use serde_json::json;

use super::{assert_contains, ids, keys, place};
use crate::binary::{Place, finish};

/// Creates a place with a skill `gamma` that has a script and a command, but no code of its own.
fn place_with_script() -> Place {
    let place = place();
    let text = "---\nname: gamma\ndescription: d\ntriggers: [gamma]\n---\nDo $ARGUMENTS.\n";
    place.write("skills/gamma/SKILL.md", text);
    place.write("skills/gamma/scripts/hello.sh", "#!/bin/sh\necho \"hello $1\"\n");
    place
}

#[test]
fn the_help_has_five_groups() {
    let place = Place::new();
    let help = place.run(["--help"]).exits(0).stdout;
    let mut rest = help.as_str();
    for (group, commands) in [
        ("Try what there is", ["list", "play"]),
        ("Take skills from elsewhere", ["add", "remove"]),
        ("Write skills", ["new", "stats"]),
        ("Ship code", ["tool", "trust"]),
        ("Connect agents", ["hook", "completions"]),
    ] {
        let (_, after) = rest.split_once(&format!("{group}:\n")).unwrap();
        let (section, after) = after.split_once("\n\n").unwrap();
        for command in commands {
            assert_contains(section, &[&format!("  {command} ")]);
        }
        rest = after;
    }
    assert_contains(
        rest,
        &["Options of every command:", "--source <DIR>", "--version", "Exit codes"],
    );
    for hidden in ["toolset", "complete-ids"] {
        assert!(!help.contains(&format!("  {hidden}")), "{help}");
    }
    assert_eq!(place.run(["-h"]).exits(0).stdout, help);
    // The help of a single command keeps its usual form.
    assert_contains(&place.run(["match", "--help"]).exits(0).stdout, &["Usage: repertoire match"]);
    assert_contains(&place.run(["help", "tool"]).exits(0).stdout, &["inspect", "call"]);
    let mut colored = place.command(["--help", "--color", "always"]);
    colored.env("CLICOLOR_FORCE", "1");
    assert_contains(&finish(colored, b"").stdout, &["\u{1b}[1m\u{1b}[4mTry what there is:"]);
}

#[test]
fn the_words_of_a_message_are_joined_by_one_blank() {
    let place = place();
    let source = ["--source", "skills", "--json"];
    // Options come before `--`, after which `--json` would be a word of the query.
    let json = |args: &[&str]| {
        let args = args.iter().take(1).chain(&source).chain(&args[1..]);
        place.run(args).exits(0).json()
    };
    for (words, whole) in [
        (&["match", "use", "beta", "now"][..], &["match", "use beta now"][..]),
        (
            &["match", "use", "--limit", "3", "beta", "now"],
            &["match", "use beta now", "--limit", "3"],
        ),
        (&["match", "-", "beta"], &["match", "- beta"]),
        (&["match", "use", "--", "--beta"], &["match", "use --beta"]),
        (&["disclose", "use", "beta"], &["disclose", "use beta"]),
        (&["why", "beta", "use", "beta"], &["why", "beta", "use beta"]),
        (&["why", "beta", "a", "b", "--", "-x", "beta"], &["why", "beta", "a b -x beta"]),
        (&["use", "beta", "a", "b"], &["use", "beta", "a b"]),
    ] {
        assert_eq!(json(words), json(whole), "{words:?}");
        assert!(json(words).to_string().contains("beta"), "{words:?}");
    }
    let hit = &json(&["match", "use", "beta"])["matches"][0]["hits"][0];
    assert_eq!((&hit["start"], &hit["end"]), (&json!(4), &json!(8)));
    let mistyped = place.run(["match", "use", "beta", "--exlpain"]).exits(2);
    assert_contains(&mistyped.stderr, &["--exlpain", "--explain"]);
}

#[test]
fn a_session_is_taken_wherever_there_is_a_conversation() {
    let place = place_with_script();
    let run = |args: &[&str]| {
        let args = args.iter().take(1).chain(&["--source", "skills", "--json"]).chain(&args[1..]);
        place.run(args)
    };
    let first = |args: &[&str]| ids(&run(args).exits(0).json()["matches"])[0].to_owned();
    let full = || {
        let told = run(&["disclose", "do alpha", "--session", "s"]).exits(0).json();
        (told["full"].clone(), told["text"].as_str().unwrap().contains("Body"))
    };
    // Skills that a conversation used rank first in that conversation, and only there.
    let both = ["match", "alpha and beta"];
    assert_eq!(first(&both), "alpha");
    run(&["use", "beta", "--session", "s"]).exits(0);
    let in_session = [&both[..], &["--session", "s"]].concat();
    assert_eq!((first(&in_session), first(&both)), ("beta".into(), "alpha".into()));
    assert_eq!(first(&[&both[..], &["--session", "other"]].concat()), "alpha");

    // The same text is not shown twice, unless the context was compacted in between.
    let above = (json!([]), false);
    assert_eq!(full(), (json!(["alpha"]), true));
    assert_eq!(full(), above);
    let why = ["why", "alpha", "do alpha", "--session", "s"];
    let told = run(&why).exits(1).json();
    assert!(told["reason"].as_str().unwrap().contains("context already"), "{told}");
    run(&["prompt", "--session", "s"]).exits(0);
    assert_eq!(full(), above);
    run(&["prompt", "--session", "s", "--event", "compacted"]).exits(0);
    assert!(full().1);
    run(&["prompt", "--event", "compacted"]).exits(2);
    // What the prompt lists gets no line with a message.
    let text = "---\nname: delta\ndescription: Paints the fences of gardens.\n---\nPaint.\n";
    place.write("skills/delta/SKILL.md", text);
    let lines = |session: &str| {
        let args = ["disclose", "about the gardens", "--session", session];
        run(&args).exits(0).json()["registry"].clone()
    };
    assert_eq!(lines("other"), json!(["delta"]));
    run(&["prompt", "--session", "third"]).exits(0);
    assert_eq!(lines("third"), json!([]));

    // Running a script counts as a use of its skill.
    let in_gamma = ["match", "beta and gamma", "--session", "s"];
    assert_eq!(first(&in_gamma), "beta");
    if cfg!(target_os = "linux") {
        let ran = ["run", "gamma", "hello.sh", "you", "--session", "s"];
        run(&["trust", "add", "--yes", "gamma"]).exits(0);
        assert_eq!(run(&ran).exits(0).json()["data"]["stdout"], "hello you\n");
        assert_eq!(first(&in_gamma), "gamma");
    }
}

#[test]
fn a_command_that_disclose_cannot_activate_is_a_line_in_a_session_as_well() {
    let place = Place::new();
    let skill = "---\nname: forky\ndescription: Long research.\ncontext: fork\n---\nSECRET\n";
    place.write("skills/forky/SKILL.md", skill);
    let hidden = skill
        .replace("forky", "mine")
        .replace("context", "disable-model-invocation: true\ncontext");
    place.write("skills/mine/SKILL.md", hidden);
    for (session, options, line) in [
        ("tasks", &["--tasks"][..], "forky: runs as a task; Long research."),
        ("consent", &["--consent", "first-use"], "forky: needs the user's consent; Long research."),
    ] {
        let disclose = |message: &str, more: &[&str]| {
            let args = [&["disclose", message, "--source", "skills", "--json"], options, more];
            place.run(args.concat()).exits(0).json()
        };
        let in_session = ["--session", session];
        let (alone, told) = (disclose("/forky abc", &[]), disclose("/forky abc", &in_session));
        assert_eq!((&told["registry"], &told["full"]), (&json!(["forky"]), &json!([])), "{told}");
        assert_eq!(told["omitted"], alone["omitted"], "{told}");
        let (alone, told) = (alone["text"].as_str().unwrap(), told["text"].as_str().unwrap());
        assert!(alone.contains(line) && told.contains(line) && !told.contains("SECRET"), "{told}");
        // The model learns that the user asked for a skill of which it may not know.
        let told = disclose("/mine abc", &in_session).to_string();
        assert!(told.contains("asked for a skill by name: skill `mine`"), "{told}");
        assert!(!told.contains("SECRET"), "{told}");
    }
}

#[test]
fn instructions_have_one_way_to_ask_for_xml() {
    let place = place();
    let use_beta = |more: &[&str]| {
        let args = ["use", "beta", "--source", "skills"];
        place.run(args.iter().chain(more))
    };
    let xml = use_beta(&["--format", "xml"]).exits(0).stdout;
    assert!(xml.starts_with("<skill_content"), "{xml}");
    assert_eq!(use_beta(&["--xml"]).exits(0).stdout, xml);
    assert_eq!(use_beta(&["--format", "markdown"]).exits(0).stdout, use_beta(&[]).stdout);
    use_beta(&["--format", "html"]).exits(2);
    use_beta(&["--format", "xml", "--xml"]).exits(2);
    let help = place.run(["use", "--help"]).exits(0).stdout;
    assert!(help.contains("--format") && !help.contains("--xml"), "{help}");
}

#[test]
fn json_is_an_object_with_named_lists() {
    let place = place_with_script();
    place.write("prompts.json", r#"[{"query": "use beta", "expected_skill": "beta"}]"#);
    for (args, wanted) in [
        (&["list"][..], &["diagnostics", "skills"][..]),
        (&["list", "--commands"], &["commands"]),
        (&["match", "use beta"], &["matches", "meta", "rejected"]),
        (&["disclose", "use beta"], &["full", "registry", "omitted", "text", "tier"]),
        (&["prompt"], &["included", "omitted", "shortened", "text"]),
        (&["why", "beta", "use beta"], &["fires", "near", "reason"]),
        (&["show", "beta"], &["files", "scripts"]),
        (&["show", "gamma", "hello.sh"], &["path"]),
        (&["use", "beta"], &["data", "status", "text"]),
        (&["check", "skills"], &["diagnostics", "skills"]),
        (&["check", "skills", "--stats"], &["diagnostics", "skills"]),
        (&["eval", "prompts.json"], &["cases", "confusions", "per_skill"]),
        (&["stats"], &["days", "sessions", "since", "skills"]),
        (&["new", "delta", "--dir", "drafts"], &["id", "next", "path"]),
        (&["tool", "new", "epsilon", "--dir", "drafts"], &["class", "id", "next", "paths"]),
        (&["tool", "list"], &["tools"]),
        (&["trust", "add", "--yes", "gamma"], &["trusted"]),
        (&["trust", "list"], &["store", "trusted"]),
        (&["trust", "remove", "gamma"], &["removed"]),
        (&["hook", "install", "claude-code", "--project", "."], &["agent", "path"]),
        (&["doctor"], &["agents", "broken", "sources"]),
        (&["completions", "bash"], &["script", "shell"]),
    ] {
        let run = place.run(args.iter().chain(&["--json", "--source", "skills"]));
        assert!(run.code < 2, "{args:?}: {run:?}");
        let json = run.json();
        assert!(json.is_object(), "{args:?}: {json}");
        let keys = keys(&json);
        assert!(wanted.iter().all(|key| keys.contains(key)), "{args:?}: {keys:?}");
    }
}

#[test]
fn tool_has_what_toolset_had() {
    let place = Place::new();
    for (command, name) in [("tool", "one"), ("toolset", "two")] {
        let written =
            place.run([command, "new", name, "--dir", "skills", "--json"]).exits(0).json();
        assert_eq!(written["id"], name);
        assert!(place.path().join(format!("skills/{name}-toolset/src/lib.rs")).exists());
        let missing = place.run([command, "inspect", "no.so", "--json"]).exits(1).json();
        assert_eq!(missing["error"]["code"], "NOT_FOUND");
    }
}
