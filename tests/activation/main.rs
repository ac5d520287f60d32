//! Activation: the skills that the model's tools and the user's commands reach, and their answers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod consent;
mod dispatcher;
#[cfg(all(feature = "scripts", unix))]
mod failing_stores;
mod failures;
mod given;
mod required;
mod sessions;

use std::fs;
use std::path::Path;

use repertoire::catalog::Audience;
use repertoire::{Activate, Engine, EngineBuilder, Envelope, ErrorCode, Source};
use serde_json::json;

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a directory with these skills: id, further front matter, body.
fn skills(skills: &[(&str, &str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (id, fields, body) in skills {
        let name = id.rsplit('/').next().unwrap();
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{fields}---\n{body}");
        write(dir.path(), &format!("{id}/SKILL.md"), &text);
    }
    dir
}

fn builder(dir: &tempfile::TempDir) -> EngineBuilder {
    Engine::builder().source(Source::user(dir.path()))
}

fn message(envelope: &Envelope) -> &str {
    match envelope {
        Envelope::Error { error, .. } => &error.message,
        Envelope::Success { text, .. } => text,
    }
}

#[test]
fn what_nobody_sees_is_in_no_form_of_an_activation() {
    let dir = skills(&[
        ("seen", "", "Do\u{e0041}\u{e0042} $ARGUMENTS\u{202e} well\u{200b}.\n"),
        ("seen/below", "brief_description: Be\u{200b}low.\n", "b"),
    ]);
    let engine = builder(&dir).build().unwrap();
    let activation = engine.activate("seen", "a\u{200b}b", &engine.session("s")).unwrap();
    // The caller's arguments are inserted unchanged.
    assert_eq!(activation.content, "Do a\u{200b}b well.\n");
    assert_eq!(activation.sub_skills[0].brief, "Below.");
    let json = serde_json::to_string(&activation).unwrap();
    let unseen = ['\u{e0041}', '\u{e0042}', '\u{202e}'];
    assert!(!json.contains(unseen) && !activation.to_text().contains(unseen), "{json}");
}

#[test]
fn a_command_activates_what_its_name_does_and_other_messages_are_left_alone() {
    let dir = skills(&[
        ("review", "argument-hint: '[pr]'\n", "Review `$0`."),
        ("sven", "", "s"),
        ("sven/do-it", "", "Do $ARGUMENTS"),
        ("hidden", "disable-model-invocation: true\n", "h"),
        ("model-only", "user-invocable: false\n", "m"),
        ("broken", "requires_bins: [no-such-program-anywhere]\n", "b"),
    ]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    for (typed, id, content) in [
        ("/review 7", "review", "Review `7`."),
        (" /review  7  ", "review", "Review `7`."),
        ("/sven/do-it now  or\nlater", "sven/do-it", "Do now  or\nlater"),
        ("/sven/do_it now", "sven/do-it", "Do now"),
        ("/do-it x", "sven/do-it", "Do x"),
        ("/hidden", "hidden", "h"),
    ] {
        let activation = engine.user_message(typed, &session).unwrap().unwrap();
        assert_eq!((activation.id.as_str(), activation.content.as_str()), (id, content), "{typed}");
    }
    for message in [
        "",
        "/",
        "/ review",
        "review",
        "see /review 7",
        "/unknown x",
        "/model-only",
        "/usr/bin/env is missing",
        "//review",
        &format!("{}/review", dir.path().display()),
    ] {
        assert_eq!(engine.user_message(message, &session).unwrap(), None, "{message}");
    }
    let error = engine.user_message("/broken", &session).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(error.message().contains("no-such-program-anywhere"), "{error}");
    let user = Activate { audience: Audience::User, ..Activate::default() };
    let error = engine.activate_with("model-only", "", &session, &user).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert_eq!(
        error.message(),
        "only the model may use skill `model-only` (`user-invocable: false`)"
    );

    let commands: Vec<_> =
        engine.commands().into_iter().map(|c| (c.command, c.argument_hint)).collect();
    let hint = Some("[pr]".to_owned());
    let expected = [("/hidden", None), ("/review", hint), ("/sven", None), ("/sven/do_it", None)];
    assert_eq!(commands, expected.map(|(command, hint)| (command.to_owned(), hint)));
}

#[test]
fn every_listed_command_activates_its_skill() {
    let dir = skills(&[
        ("one", "", "1"),
        ("a-b", "", "2"),
        ("c-d", "requires_bins: [no-such-program-anywhere]\n", "3"),
    ]);
    for (place, name) in
        [("x", "a_b"), ("y", "My Skill"), ("z", "my-skill"), ("w", "C D"), ("v", "Über/x y")]
    {
        let text = format!("---\nname: '{name}'\ndescription: d\n---\n{name}");
        write(dir.path(), &format!("{place}/SKILL.md"), &text);
    }
    write(dir.path(), "My Dir/SKILL.md", "---\nname: 'Not An Id'\ndescription: d\n---\n");
    write(dir.path(), "my-dir/SKILL.md", "---\ndescription: d\n---\n");
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let commands = engine.commands();
    assert_eq!(commands.len(), 9, "{commands:?}");
    for command in commands {
        let typed = command.command.to_uppercase().to_lowercase();
        for typed in [command.command.clone(), typed, format!("{}/ args", command.command)] {
            let activation = engine.user_message(&typed, &session).unwrap();
            let id = activation.unwrap_or_else(|| unreachable!("{typed} is no command")).id;
            assert_eq!(id, command.id, "{typed}");
        }
    }
}

#[test]
fn an_activation_says_all_that_comes_with_the_skill() {
    let dir = skills(&[
        (
            "sven",
            "allowed-tools: Read Bash(git:*)\nmodel: big\nagent: planner\nknowledge: [docs/a.md]\n",
            "Plan <it> & go.\n",
        ),
        ("sven/plan", "", "p"),
        ("sven/plan/deep", "", "d"),
        ("sven/secret", "disable-model-invocation: true\n", "x"),
    ]);
    write(dir.path(), "sven/docs/a.md", "Intro.\n\n# The *Plan*\n");
    for n in 0..24 {
        write(dir.path(), &format!("sven/references/{n:02}.md"), "r");
    }
    let engine = builder(&dir).build().unwrap();
    let activation = engine.activate("sven", "", &engine.session("s")).unwrap();
    assert_eq!((activation.files.len(), activation.more_files), (20, 5));
    assert_eq!(activation.files[..2], ["docs/a.md", "references/00.md"]);
    assert_eq!(
        activation.sub_skills.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(),
        ["sven/plan"]
    );
    assert_eq!(
        (activation.model.as_deref(), activation.agent.as_deref()),
        (Some("big"), Some("planner"))
    );
    for (tool, permitted) in
        [("Read", true), ("Bash(git log)", true), ("Bash(git log; rm x)", false), ("Write", false)]
    {
        assert_eq!(activation.permits(tool), permitted, "{tool}");
    }

    let text = activation.to_text();
    assert!(text.starts_with("Base directory: /"), "{text}");
    for part in [
        "Plan <it> & go.",
        "- references/00.md",
        "[5 more]",
        "- sven/plan: Does plan.",
        "- docs/a.md (The *Plan*)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let xml = activation.to_xml();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let root = document.root_element();
    assert_eq!(
        (root.tag_name().name(), root.attribute("command")),
        ("skill_content", Some("/sven"))
    );
    let child = |name: &str| root.children().find(|node| node.has_tag_name(name)).unwrap();
    assert_eq!(child("instructions").text(), Some("\nPlan <it> & go.\n"));
    assert_eq!(child("files").attribute("more"), Some("5"));
    let sub = child("sub_skills").first_element_child().unwrap();
    assert_eq!((sub.attribute("id"), sub.text()), (Some("sven/plan"), Some("Does plan.")));
    let json = serde_json::to_value(&activation).unwrap();
    assert_eq!(json["mode"], "inline");
    assert_eq!(json["sub_skills"], json!([{"id": "sven/plan", "brief": "Does plan."}]));
}

#[test]
fn an_empty_list_of_tools_permits_none_and_no_list_permits_all() {
    for (front_matter, permitted, json) in [
        ("", true, json!(null)),
        ("allowed-tools:\n", true, json!(null)),
        ("allowed-tools: {Read: true}\n", false, json!([])),
        ("allowed-tools: []\n", false, json!([])),
        ("allowed-tools: ''\n", false, json!([])),
        ("allowed-tools: [{Read: true}]\n", false, json!([])),
    ] {
        let dir = skills(&[("a", front_matter, "Do it.\n")]);
        let engine = builder(&dir).build().unwrap();
        let activation = engine.activate("a", "", &engine.session("s")).unwrap();
        assert_eq!(activation.permits("Read"), permitted, "{front_matter}");
        assert_eq!(
            serde_json::to_value(&activation).unwrap()["allowed_tools"],
            json,
            "{front_matter}"
        );
    }
}

#[test]
fn hints_name_the_sub_skills_that_a_model_can_use_whoever_activates() {
    let dir = skills(&[
        ("top", "disable-model-invocation: true\n", "t"),
        ("top/for-models", "user-invocable: false\n", "m"),
        ("top/for-users", "disable-model-invocation: true\n", "u"),
    ]);
    let engine = builder(&dir).build().unwrap();
    let activation = engine.user_message("/top", &engine.session("s")).unwrap().unwrap();
    let hints: Vec<_> = activation.sub_skills.iter().map(|sub| sub.id.as_str()).collect();
    assert_eq!(hints, ["top/for-models"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_is_no_text_is_no_obstacle() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir_all(&odd).unwrap();
    fs::write(odd.join("SKILL.md"), "---\nname: odd\ndescription: d\n---\nOdd").unwrap();
    let engine = builder(&dir).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
    let answer = serde_json::to_value(tools.call("use_skill", &json!({"skill": "odd"}))).unwrap();
    assert_eq!((&answer["status"], &answer["data"]["content"]), (&json!("success"), &json!("Odd")));
    assert!(answer["data"]["base_dir"].as_str().unwrap().ends_with("odd\u{fffd}"), "{answer}");
}

#[test]
fn arguments_that_would_make_too_much_are_refused() {
    let body = "$0 $ARGUMENTS\n".repeat(100_000);
    let dir = skills(&[("much", "", &body)]);
    let engine = builder(&dir).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
    let answer = tools.call("use_skill", &json!({"skill": "much", "args": "x".repeat(100_000)}));
    assert_eq!(answer.code(), Some(ErrorCode::InvalidParam));
    assert!(message(&answer).contains("`much`"), "{}", message(&answer));
}

#[test]
fn documents_for_further_reading_come_with_their_titles() {
    let dir = skills(&[
        (
            "skills/p2p",
            "knowledge: [docs/own.md, net.md, plain.md, none.md, ../secret.md]\n",
            "Do it.",
        ),
        ("skills/group/sub", "sven: {knowledge: net.md}\n", "Do it."),
    ]);
    write(dir.path(), "skills/p2p/docs/own.md", "---\nx: 1\n---\n\n# Own <b>\u{200b} notes\n");
    write(dir.path(), "knowledge/net.md", "# P2P Networking\n## More\n");
    write(dir.path(), "knowledge/plain.md", "No heading.\n");
    write(dir.path(), "secret.md", "# Secret\n");
    let source = Source::project(dir.path().join("skills"));
    let engine = Engine::builder().source(source).brand("sven").build().unwrap();
    let session = engine.session("s");
    let activation = engine.activate("p2p", "", &session).unwrap();
    let shared = |name: &str| dir.path().join("knowledge").join(name).display().to_string();
    let (net, plain) = (shared("net.md"), shared("plain.md"));
    let found: Vec<(&str, Option<&str>)> =
        activation.knowledge.iter().map(|of| (&*of.path, of.title.as_deref())).collect();
    let wanted = [
        ("docs/own.md", Some("Own <b> notes")),
        (&*net, Some("P2P Networking")),
        (&*plain, None),
        ("none.md", None),
        ("../secret.md", None),
    ];
    assert_eq!(found, wanted);
    let text = activation.to_text();
    assert!(text.contains("- docs/own.md (Own <b> notes)\n"), "{text}");
    assert!(text.contains(&format!("- {net} (P2P Networking)\n- {plain}\n- none.md")), "{text}");
    let xml = activation.to_xml();
    let document = roxmltree::Document::parse(&xml).unwrap();
    let first = document.descendants().find(|node| node.has_tag_name("document")).unwrap();
    assert_eq!(
        (first.attribute("title"), first.text()),
        (Some("Own <b> notes"), Some("docs/own.md"))
    );
    let below = engine
        .activate("group/sub", "", &session)
        .or_else(|_| engine.activate("sub", "", &session));
    assert_eq!(below.unwrap().knowledge[0].title.as_deref(), Some("P2P Networking"));
}
