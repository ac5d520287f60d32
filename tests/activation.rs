//! Activation: what the model's tools and the user's commands reach, and what they answer.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use repertoire::activation::{MountLimits, Risk, Task, TaskSpawner};
use repertoire::catalog::Allowlist;
#[cfg(all(feature = "scripts", target_os = "linux"))]
use repertoire::integration::CallIo;
use repertoire::integration::{HostTools, HostToolsOptions};
use repertoire::session::{Event, SessionState, SkillState};
use repertoire::{
    Activate, Audience, Consent, ConsentPolicy, Context, Engine, EngineBuilder, Envelope, Error,
    ErrorCode, MemoryStore, Session, SessionStore, Source, ToolFormat,
};
use serde_json::{Value, json};

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A directory with these skills: id, more front matter, body.
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

    let commands: Vec<_> =
        engine.commands().into_iter().map(|c| (c.command, c.argument_hint)).collect();
    let hint = Some("[pr]".to_owned());
    let expected = [("/hidden", None), ("/review", hint), ("/sven", None), ("/sven/do_it", None)];
    assert_eq!(commands, expected.map(|(command, hint)| (command.to_owned(), hint)));
}

#[test]
fn an_empty_list_of_tools_permits_none_and_no_list_permits_all() {
    for (front_matter, permitted, json) in [
        ("", true, json!(null)),
        ("allowed-tools:\n", true, json!(null)),
        ("allowed-tools: {Read: true}\n", true, json!(null)),
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
    for n in 0..25 {
        write(dir.path(), &format!("sven/references/{n:02}.md"), "r");
    }
    let engine = builder(&dir).build().unwrap();
    let activation = engine.activate("sven", "", &engine.session("s")).unwrap();
    assert_eq!((activation.files.len(), activation.more_files), (20, 5));
    assert_eq!(activation.files[0], "references/00.md");
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
        "- docs/a.md",
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

#[derive(Debug, Default, Clone)]
struct Spawner(Arc<Mutex<Vec<Task>>>);

impl TaskSpawner for Spawner {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let mut tasks = self.0.lock().unwrap();
        tasks.push(task.clone());
        Ok(format!("task-{}", tasks.len()))
    }
}

#[test]
fn a_forked_skill_becomes_a_task_of_the_host() {
    let dir = skills(&[("big", "context: fork\nagent: worker\nmodel: m\n", "Do $ARGUMENTS well.")]);
    let spawner = Spawner::default();
    let engine = builder(&dir).task_spawner(spawner.clone()).build().unwrap();
    let session = engine.session("s");
    let tools = HostTools::new(&engine, &session);
    let answer =
        serde_json::to_value(tools.call("use_skill", &json!({"skill": "big", "args": "it"})));
    let answer = answer.unwrap();
    assert_eq!(answer["data"]["task_id"], "task-1");
    assert_eq!(answer["data"]["status"], "spawned");
    assert_eq!((&answer["data"]["mode"], &answer["data"]["content"]), (&json!("fork"), &json!("")));
    {
        let tasks = spawner.0.lock().unwrap();
        assert!(tasks[0].prompt.contains("Do it well."), "{tasks:?}");
        assert_eq!(tasks[0].agent.as_deref(), Some("worker"));
        assert_eq!(tasks[0].session, "s");
    }
    // Its instructions are with the task, so they may still be disclosed here.
    assert!(!session.state().unwrap().skills[0].in_context);

    let inline = Activate { inline: true, ..Activate::default() };
    let activation = engine.activate_with("big", "it", &session, &inline).unwrap();
    assert_eq!((activation.mode, activation.content.as_str()), (Context::Inline, "Do it well."));

    let alone = builder(&dir).build().unwrap();
    let session = alone.session("s");
    let error = alone.activate("big", "", &session).unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    assert!(error.message().contains("`big`") && !error.help().is_empty(), "{error:?}");
    assert!(session.state().unwrap().skills.is_empty(), "a failure changes nothing");
}

#[test]
fn consent_is_asked_for_as_the_policy_says() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B")]);
    write(dir.path(), "a/scripts/run.sh", "#!/bin/sh\n");
    for (policy, needed) in [
        (ConsentPolicy::Never, [false, false, false]),
        (ConsentPolicy::FirstUse, [true, false, false]),
        (ConsentPolicy::Always, [true, true, true]),
    ] {
        // The host asks by its own means.
        let engine = builder(&dir).consent(Consent::new(policy)).build().unwrap();
        let session = engine.session("s");
        for (nth, needed) in needed.into_iter().enumerate() {
            let first = engine.activate("a", "", &session);
            if needed {
                assert_eq!(first.unwrap_err().code(), ErrorCode::ConsentRequired, "{policy:?}");
                let request = engine.consent_request("a", &session, Audience::Model).unwrap();
                let risk = if nth == 0 { Risk::Risky } else { Risk::Safe };
                assert_eq!((request.risk, request.description.as_str()), (risk, "Does a."));
                assert!(request.tree.contains("run.sh"), "{}", request.tree);
                session.consent(&request.id).unwrap();
                engine.activate("a", "", &session).unwrap();
            } else {
                first.unwrap();
            }
        }
        let other = engine.session("other").state().unwrap();
        assert!(other.skills.is_empty(), "sessions are isolated");

        // The engine asks.
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let consent = Consent::new(policy).ask(move |request| {
            log.lock().unwrap().push((request.id.to_string(), request.risk));
            request.id == "a"
        });
        let engine = builder(&dir).consent(consent).build().unwrap();
        let session = engine.session("s");
        for _ in needed {
            engine.activate("a", "", &session).unwrap();
        }
        assert_eq!(
            asked.lock().unwrap().len(),
            needed.iter().filter(|n| **n).count(),
            "{policy:?}"
        );
        if policy != ConsentPolicy::Never {
            let before = session.state().unwrap();
            let error = engine.user_message("/b", &session).unwrap_err();
            assert_eq!(error.code(), ErrorCode::ConsentRequired);
            assert_eq!(session.state().unwrap(), before, "a refusal changes nothing");
        }
    }
}

#[test]
fn a_skill_that_leads_back_to_itself_is_refused_with_the_chain() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B"), ("c", "", "C")]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let tools = HostTools::new(&engine, &session);
    let use_skill =
        |skill: &str, by: &str| tools.call("use_skill", &json!({"skill": skill, "by": by}));
    assert_eq!(tools.call("use_skill", &json!({"skill": "a"})).code(), None);
    assert_eq!(use_skill("b", "a").code(), None);
    assert_eq!(use_skill("c", "b").code(), None);
    let cycle = use_skill("a", "c");
    assert_eq!(cycle.code(), Some(ErrorCode::InvalidParam));
    assert!(message(&cycle).contains("a → b → c → a"), "{cycle:?}");
    assert!(message(&use_skill("b", "b")).contains("b → b"));
    assert_eq!(use_skill("a", "nobody").code(), Some(ErrorCode::InvalidParam));
    // Without a skill that asked for it, it is a new beginning, here and in another session.
    assert_eq!(tools.call("use_skill", &json!({"skill": "a"})).code(), None);
    let other = Activate { by: Some("c".into()), ..Activate::default() };
    engine.activate_with("a", "", &engine.session("other"), &other).unwrap();
}

#[test]
fn what_the_model_may_not_use_is_reached_by_no_tool_under_no_name() {
    let dir = skills(&[
        ("open", "", "o"),
        ("group/secret", "disable-model-invocation: true\n", "CANARY"),
        ("group/filtered", "", "CANARY"),
    ]);
    for id in ["group/secret", "group/filtered"] {
        write(dir.path(), &format!("{id}/notes.md"), "CANARY");
        write(dir.path(), &format!("{id}/scripts/x.sh"), "#!/bin/sh\necho CANARY\n");
    }
    write(dir.path(), "open/x.md", "fine");
    let builder =
        builder(&dir).allow(Allowlist::from_entries(Some(&["open", "group/secret", "secret"])));
    #[cfg(feature = "scripts")]
    let builder = builder.scripts(repertoire::script::ScriptOptions::default());
    let engine = builder.build().unwrap();
    let session = engine.session("s");
    let tools = HostTools::new(&engine, &session);
    let definitions = tools.definitions(ToolFormat::Mcp).to_string();
    assert!(definitions.contains("\"open\"") && !definitions.contains("secret"), "{definitions}");

    let root = dir.path().display();
    for skill in ["secret", "filtered"] {
        let mut names = vec![
            skill.to_owned(),
            format!("/{skill}"),
            format!("${skill}"),
            format!("@{skill}"),
            skill.to_uppercase(),
            format!("group/{skill}"),
            format!("/group/{skill}"),
            format!("group/{skill}/"),
            format!("./group/{skill}"),
            format!("group/{skill}/SKILL.md"),
            format!("open/../group/{skill}"),
            format!("{root}/group/{skill}"),
            format!("{root}/group/{skill}/SKILL.md"),
        ];
        names.push(format!(" {skill}"));
        for name in names {
            for (tool, arguments) in [
                ("use_skill", json!({"skill": name})),
                ("read_skill_file", json!({"skill": name, "path": "notes.md"})),
                ("run_skill_script", json!({"skill": name, "script": "x.sh"})),
            ] {
                let answer = tools.call(tool, &arguments);
                let text = serde_json::to_string(&answer).unwrap();
                assert_eq!(answer.code(), Some(ErrorCode::NotFound), "{tool} {name}: {text}");
                assert!(
                    !text.contains("CANARY") && !text.contains("did you mean `group"),
                    "{text}"
                );
            }
        }
        let found = tools.call("find_skills", &json!({"query": format!("use the {skill} skill")}));
        assert!(!serde_json::to_string(&found).unwrap().contains("Does"), "{found:?}");
        for path in [format!("../group/{skill}/notes.md"), format!("../{skill}/notes.md")] {
            let answer = tools.call("read_skill_file", &json!({"skill": "open", "path": path}));
            assert_eq!(answer.code(), Some(ErrorCode::InvalidParam), "{answer:?}");
        }
    }

    // Once the user activated it, its files are of use; it is still not the model's to activate.
    engine.user_message("/secret", &session).unwrap().unwrap();
    let read = json!({"skill": "secret", "path": "notes.md"});
    assert_eq!(tools.call("read_skill_file", &read).code(), None);
    let refused = tools.call("use_skill", &json!({"skill": "secret"}));
    assert_eq!(refused.code(), Some(ErrorCode::NotFound));
    let elsewhere = HostTools::new(&engine, &engine.session("other"));
    assert_eq!(elsewhere.call("read_skill_file", &read).code(), Some(ErrorCode::NotFound));
}

#[cfg(all(feature = "scripts", unix))]
#[test]
fn every_code_of_an_error_comes_through_the_dispatcher_with_the_skill_and_a_remedy() {
    use ErrorCode::{
        ConsentRequired, ExecutionError, InternalError, InvalidParam, NotFound, PermissionDenied,
        Timeout,
    };
    use repertoire::script::{ScriptLimits, ScriptOptions};

    let dir = skills(&[
        ("plain", "", "p"),
        ("forked", "context: fork\n", "f"),
        ("asks", "", "a"),
        ("panics", "", "x"),
    ]);
    write(dir.path(), "plain/scripts/slow.sh", "echo started\nsleep 30\n");
    write(dir.path(), "plain/scripts/fails.sh", "echo bad >&2\nexit 3\n");
    let limits =
        ScriptLimits { timeout: std::time::Duration::from_millis(500), ..Default::default() };
    let options = ScriptOptions { limits, ..ScriptOptions::default() };
    let consent = Consent::new(ConsentPolicy::FirstUse).ask(|request| match request.id.as_str() {
        "panics" => request.description.parse().unwrap(),
        id => id != "asks",
    });
    let builder = builder(&dir).scripts(options).consent(consent);
    let engine = builder.source(Source::project(dir.path().join("none"))).build().unwrap();
    let project = skills(&[("risky", "", "r")]);
    write(project.path(), "risky/scripts/x.sh", "echo x\n");
    let untrusted = Engine::builder()
        .source(Source::project(project.path()))
        .scripts(ScriptOptions::default())
        .build()
        .unwrap();

    let session = engine.session("s");
    engine.activate("plain", "", &session).unwrap();
    let tools = HostTools::new(&engine, &session);
    let untrusting = HostTools::new(&untrusted, &untrusted.session("s"));
    let script = |skill: &str, script: &str| json!({"skill": skill, "script": script});
    for (tools, tool, arguments, code, words) in [
        (&tools, "use_skill", json!({"skill": 7}), InvalidParam, vec!["use_skill", "object"]),
        (&tools, "use_skill", json!({"skil": "plain"}), InvalidParam, vec!["skil", "expected"]),
        (&tools, "use_skill", json!("plain"), InvalidParam, vec!["use_skill"]),
        (
            &tools,
            "read_skill_file",
            json!({"skill": "plain", "path": "../x"}),
            InvalidParam,
            vec!["plain"],
        ),
        (
            &tools,
            "use_skill",
            json!({"skill": "plian"}),
            NotFound,
            vec!["plian", "did you mean `plain`"],
        ),
        (&tools, "nothing", json!({}), NotFound, vec!["nothing", "defined"]),
        (&tools, "run_skill_script", script("plain", "no.sh"), NotFound, vec!["plain", "no.sh"]),
        (
            &untrusting,
            "run_skill_script",
            script("risky", "x.sh"),
            PermissionDenied,
            vec!["risky", "repertoire trust add"],
        ),
        (&tools, "use_skill", json!({"skill": "asks"}), ConsentRequired, vec!["asks", "user"]),
        (&tools, "use_skill", json!({"skill": "forked"}), ExecutionError, vec!["forked", "inline"]),
        (
            &tools,
            "run_skill_script",
            script("plain", "slow.sh"),
            Timeout,
            vec!["plain", "slow.sh", "data"],
        ),
        (&tools, "use_skill", json!({"skill": "panics"}), InternalError, vec!["panics", "report"]),
    ] {
        let answer = tools.call(tool, &arguments);
        assert_eq!(answer.code(), Some(code), "{tool} {arguments}: {answer:?}");
        for word in words {
            assert!(message(&answer).contains(word), "{word} in {answer:?}");
        }
        let json = serde_json::to_value(&answer).unwrap();
        assert_eq!(json["status"], "error");
        assert_eq!(json["error"]["code"], code.as_str());
        if code == Timeout {
            assert_eq!(json["data"]["stdout"], "started\n", "{json}");
        }
    }
    let failed = serde_json::to_value(tools.call("run_skill_script", &script("plain", "fails.sh")));
    let failed: Value = failed.unwrap();
    assert_eq!((&failed["status"], &failed["data"]["exit_code"]), (&json!("success"), &json!(3)));
    assert!(failed["text"].as_str().unwrap().contains("bad"), "{failed}");
}

#[test]
fn the_names_of_skills_are_listed_while_there_is_room() {
    let dir = skills(&[
        ("one", "", "1"),
        ("two", "", "2"),
        ("off", "disable-model-invocation: true\n", ""),
    ]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let schema = |names_chars: usize| {
        let options = HostToolsOptions { names_chars, ..HostToolsOptions::default() };
        HostTools::with(&engine, &session, options).definitions(ToolFormat::OpenAi)[0]["function"]
            .clone()
    };
    let enumerated = schema(6);
    assert_eq!(enumerated["parameters"]["properties"]["skill"]["enum"], json!(["one", "two"]));
    let counted = schema(5);
    assert_eq!(counted["parameters"]["properties"]["skill"].get("enum"), None);
    assert!(counted["description"].as_str().unwrap().contains("2 skills"), "{counted}");
}

#[test]
fn long_files_are_read_in_parts() {
    let dir = skills(&[("plain", "", "p")]);
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}\n")).collect();
    let lines = lines.concat();
    write(dir.path(), "plain/long.txt", &lines);
    let engine = builder(&dir).build().unwrap();
    let options = HostToolsOptions { read_bytes: 100, ..HostToolsOptions::default() };
    let tools = HostTools::with(&engine, &engine.session("s"), options);
    let mut offset = 1;
    let mut read = String::new();
    for _ in 0..100 {
        let mut arguments = json!({"skill": "plain", "path": "long.txt"});
        if offset > 1 {
            arguments["offset"] = offset.into();
        }
        let answer = serde_json::to_value(tools.call("read_skill_file", &arguments)).unwrap();
        let data = &answer["data"];
        read += data["content"].as_str().unwrap();
        offset = data["first_line"].as_u64().unwrap() + data["lines"].as_u64().unwrap();
        let is_end = offset > data["total_lines"].as_u64().unwrap();
        let says_next = answer["text"].as_str().unwrap().contains(&format!("offset {offset}"));
        assert_eq!(says_next, !is_end, "{answer}");
        if is_end {
            break;
        }
    }
    assert_eq!(read, lines);
}

#[test]
fn who_asked_for_a_skill_is_no_way_to_ask_which_skills_there_are() {
    let dir =
        skills(&[("review", "", "r"), ("secret-deploy", "disable-model-invocation: true\n", "")]);
    let engine = builder(&dir).build().unwrap();
    let tools = HostTools::new(&engine, &engine.session("s"));
    let answer = |by: &str| {
        let answer = tools.call("use_skill", &json!({"skill": "review", "by": by}));
        (answer.code(), message(&answer).replace(by, "it"))
    };
    let unknown = answer("nobody-at-all");
    assert_eq!(unknown.0, Some(ErrorCode::InvalidParam));
    for by in ["secret-deploy", "secret-deplo", "Secret-Deploy"] {
        assert_eq!(answer(by), unknown, "{by}");
    }
}

#[test]
fn files_and_scripts_wait_for_consent_too() {
    let dir = skills(&[("a", "", "A")]);
    write(dir.path(), "a/notes.md", "notes");
    let consent = Consent::new(ConsentPolicy::FirstUse);
    let engine = builder(&dir).consent(consent).build().unwrap();
    let session = engine.session("s");
    let tools = HostTools::new(&engine, &session);
    let read = || tools.call("read_skill_file", &json!({"skill": "a", "path": "notes.md"}));
    assert_eq!(read().code(), Some(ErrorCode::ConsentRequired));
    assert!(message(&read()).contains("`a`") && message(&read()).contains("use_skill"));
    let target = tempfile::tempdir().unwrap();
    let mounted = engine.mount("a", target.path(), &session, &MountLimits::default());
    assert_eq!(mounted.unwrap_err().code(), ErrorCode::ConsentRequired);
    session.consent(&"a".into()).unwrap();
    engine.activate("a", "", &session).unwrap();
    assert_eq!(read().code(), None);
    engine.mount("a", target.path(), &session, &MountLimits::default()).unwrap();
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

/// A store that is full from some time on.
#[derive(Debug, Default)]
struct Full(MemoryStore, AtomicBool);

impl SessionStore for Full {
    fn record(&self, session: &str, event: &Event<'_>) -> Result<Option<SkillState>, Error> {
        if self.1.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorCode::ExecutionError, "the disk is full", "make room"));
        }
        self.0.record(session, event)
    }

    fn state(&self, session: &str) -> Result<SessionState, Error> {
        self.0.state(session)
    }

    fn end(&self, session: &str) -> Result<(), Error> {
        self.0.end(session)
    }
}

#[test]
fn a_store_that_fails_loses_no_deed_and_a_failed_deed_leaves_no_trace() {
    let dir = skills(&[("big", "context: fork\n", "b"), ("small", "", "s")]);
    let store = Arc::new(Full::default());
    let session = Session::new("s", Arc::clone(&store) as Arc<dyn SessionStore>);
    let spawner = Spawner::default();
    let engine = builder(&dir).task_spawner(spawner.clone()).build().unwrap();
    store.1.store(true, Ordering::Relaxed);
    assert!(engine.activate("big", "", &session).unwrap().task.is_some(), "the task runs");
    assert_eq!(spawner.0.lock().unwrap().len(), 1);
    assert_eq!(
        engine.activate("small", "", &session).unwrap_err().code(),
        ErrorCode::ExecutionError
    );
    store.1.store(false, Ordering::Relaxed);

    for (policy, asks) in [(ConsentPolicy::FirstUse, true), (ConsentPolicy::Always, false)] {
        let consent = Consent::new(policy);
        let consent = if asks { consent.ask(|_| true) } else { consent };
        let engine = builder(&dir).consent(consent).build().unwrap();
        let session = engine.session("s");
        if !asks {
            session.consent(&"big".into()).unwrap();
        }
        let before = session.state().unwrap();
        assert!(engine.activate("big", "", &session).is_err(), "nobody spawns tasks");
        let after = session.state().unwrap();
        let consented = |state: &SessionState| state.of(&"big".into()).is_some_and(|s| s.consented);
        assert_eq!(consented(&after), consented(&before), "{policy:?}");
    }
}

#[test]
fn a_consent_for_one_activation_serves_one_however_many_ask_at_once() {
    let dir = skills(&[("a", "", "A")]);
    let engine = builder(&dir).consent(Consent::new(ConsentPolicy::Always)).build().unwrap();
    for round in 0..50 {
        let session = engine.session(&format!("s{round}"));
        session.consent(&"a".into()).unwrap();
        let activate = || engine.activate("a", "", &session).is_ok();
        let served = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(activate)).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>()
        });
        assert_eq!(served, 1);
    }
}

#[test]
fn after_its_context_is_lost_a_skill_may_be_activated_again() {
    let dir = skills(&[("a", "", "A"), ("b", "", "B")]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let by = |by: &'static str| Activate { by: Some(by.into()), ..Activate::default() };
    engine.activate("a", "", &session).unwrap();
    engine.activate_with("b", "", &session, &by("a")).unwrap();
    assert!(engine.activate_with("a", "", &session, &by("b")).is_err());
    session.compacted().unwrap();
    engine.activate_with("a", "", &session, &by("b")).unwrap();
}

#[test]
fn arguments_that_would_make_too_much_are_refused() {
    let body = "$0 $ARGUMENTS\n".repeat(100_000);
    let dir = skills(&[("much", "", &body)]);
    let engine = builder(&dir).build().unwrap();
    let tools = HostTools::new(&engine, &engine.session("s"));
    let answer = tools.call("use_skill", &json!({"skill": "much", "args": "x".repeat(100_000)}));
    assert_eq!(answer.code(), Some(ErrorCode::InvalidParam));
    assert!(message(&answer).contains("`much`"), "{}", message(&answer));
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
    let tools = HostTools::new(&engine, &engine.session("s"));
    let answer = serde_json::to_value(tools.call("use_skill", &json!({"skill": "odd"}))).unwrap();
    assert_eq!((&answer["status"], &answer["data"]["content"]), (&json!("success"), &json!("Odd")));
    assert!(answer["data"]["base_dir"].as_str().unwrap().ends_with("odd\u{fffd}"), "{answer}");
}

#[cfg(all(feature = "scripts", target_os = "linux"))]
#[test]
fn a_host_can_cancel_the_call_of_a_script() {
    let dir = skills(&[("slow", "", "Run it.")]);
    write(dir.path(), "slow/scripts/wait.sh", "#!/bin/sh\necho begun\nsleep 60\n");
    let options = repertoire::script::ScriptOptions::default();
    let engine = builder(&dir).scripts(options).build().unwrap();
    let tools = HostTools::new(&engine, &engine.session("s"));
    let start = std::time::Instant::now();
    let is_cancelled = || start.elapsed().as_millis() > 200;
    let io = CallIo { is_cancelled: Some(&is_cancelled) };
    let call = json!({"skill": "slow", "script": "wait.sh"});
    let answer = tools.call_with("run_skill_script", &call, io);
    assert_eq!(answer.code(), Some(ErrorCode::ExecutionError), "{answer:?}");
    assert!(message(&answer).contains("cancelled"), "{answer:?}");
    assert!(start.elapsed().as_secs() < 30, "{answer:?}");
}
