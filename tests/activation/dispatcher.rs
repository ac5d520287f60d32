//! The tools for a host's model: the skills that they reach, and their answers.

use repertoire::catalog::Allowlist;
use repertoire::engine::SessionToolsOptions;
use repertoire::{ErrorCode, ToolFormat};
use serde_json::json;

use super::{builder, message, skills, write};

#[test]
fn the_text_of_an_answer_has_the_instructions_once() {
    let body = "Read the change twice.\n".repeat(200);
    let dir = skills(&[("review", "", &body)]);
    let engine = builder(&dir).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
    let answer = tools.call("use_skill", &json!({"skill": "review"}));
    let n_bytes = answer.text().len();
    assert!((body.len()..body.len() + 200).contains(&n_bytes), "{n_bytes} of {}", body.len());
    assert!(serde_json::to_string(&answer).unwrap().len() > 2 * body.len());
    let missing = tools.call("read_skill_file", &json!({"skill": "review", "path": "x.md"}));
    assert!(missing.text().starts_with("NOT_FOUND: file `x.md`"), "{missing:?}");
}

#[test]
fn a_prompt_says_how_to_load_and_is_remembered_by_its_session() {
    let dir = skills(&[("review", "", "o"), ("deploy", "", "o")]);
    let engine = builder(&dir).build().unwrap();
    let (told, other) = (engine.session("told"), engine.session("other"));
    let prompt = engine.session_prompt(&told);
    assert_eq!(prompt.included, ["deploy", "review"]);
    assert!(prompt.text.contains("`use_skill`"), "{}", prompt.text);
    assert_eq!(engine.prompt().text, prompt.text);
    let lines = |session| engine.turn("what is the weather?", session).run().unwrap().text;
    assert_eq!(lines(&told), "[2 skills available]");
    assert!(lines(&other).contains("- review"), "{}", lines(&other));
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
    let tools = engine.tools(&session);
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

    // After the user activated the skill, its files are readable, but the model still must not activate
    // it.
    engine.user_message("/secret", &session).unwrap().unwrap();
    let read = json!({"skill": "secret", "path": "notes.md"});
    assert_eq!(tools.call("read_skill_file", &read).code(), None);
    let refused = tools.call("use_skill", &json!({"skill": "secret"}));
    assert_eq!(refused.code(), Some(ErrorCode::NotFound));
    let elsewhere = engine.tools(&engine.session("other"));
    assert_eq!(elsewhere.call("read_skill_file", &read).code(), Some(ErrorCode::NotFound));
}

#[test]
fn who_asked_for_a_skill_is_no_way_to_ask_which_skills_there_are() {
    let dir =
        skills(&[("review", "", "r"), ("secret-deploy", "disable-model-invocation: true\n", "")]);
    let engine = builder(&dir).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
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
fn the_names_of_skills_are_listed_while_there_is_room() {
    let dir = skills(&[
        ("one", "", "1"),
        ("two", "", "2"),
        ("off", "disable-model-invocation: true\n", ""),
    ]);
    let engine = builder(&dir).build().unwrap();
    let session = engine.session("s");
    let schema = |names_chars: usize| {
        let mut options = SessionToolsOptions::default();
        options.names_chars = names_chars;
        engine.tools(&session).with_options(options).definitions(ToolFormat::OpenAi)[0]["function"]
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
    let mut options = SessionToolsOptions::default();
    options.read_bytes = 100;
    let tools = engine.tools(&engine.session("s")).with_options(options);
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
