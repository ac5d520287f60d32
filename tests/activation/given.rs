//! Arguments of the model's tools in the forms in which models, frameworks and hosts write them.

use repertoire::{Envelope, ErrorCode, SessionTools};
use serde_json::{Value, json};

use super::{builder, message, skills, write};

/// Calls a tool in a session of its own; returns the text of the answer.
fn answer(tools: impl Fn() -> SessionTools, tool: &str, arguments: &Value) -> (Envelope, String) {
    let answer = tools().call(tool, arguments);
    let text = answer.text().into_owned();
    (answer, text)
}

#[test]
fn null_is_as_good_as_no_argument() {
    let dir = skills(&[("review", "", "Review $ARGUMENTS."), ("deploy", "", "d")]);
    write(dir.path(), "review/notes.md", "one\ntwo\n");
    write(dir.path(), "review/scripts/say.sh", "#!/bin/sh\ncat\necho \"$# $*\"\n");
    let builder = builder(&dir);
    #[cfg(feature = "scripts")]
    let builder = builder.scripts(repertoire::script::ScriptOptions::default());
    let engine = builder.build().unwrap();
    let session = std::sync::atomic::AtomicUsize::new(0);
    let tools = || {
        let n = session.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        engine.tools(&engine.session(&format!("chat-{n}")))
    };
    let optional: [(&str, Value, &[&str]); 4] = [
        ("use_skill", json!({"skill": "review"}), &["args", "by"]),
        ("find_skills", json!({"query": "review it"}), &["limit"]),
        ("read_skill_file", json!({"skill": "review", "path": "notes.md"}), &["offset", "limit"]),
        ("run_skill_script", json!({"skill": "review", "script": "say.sh"}), &["args", "stdin"]),
    ];
    for (tool, required, names) in optional {
        if tool == "run_skill_script" && !cfg!(all(feature = "scripts", unix)) {
            continue;
        }
        let definitions = tools().definitions(repertoire::ToolFormat::Mcp);
        let definitions = definitions.as_array().unwrap();
        let schema = &definitions.iter().find(|of| of["name"] == tool).unwrap()["inputSchema"];
        // The table is complete: each parameter is required, or is in it.
        let n_parameters = required.as_object().unwrap().len() + names.len();
        assert_eq!(schema["properties"].as_object().unwrap().len(), n_parameters, "{tool}");

        let (plain, wanted) = answer(tools, tool, &required);
        assert_eq!(plain.code(), None, "{tool}: {wanted}");
        let mut filled = required.clone();
        for name in names {
            filled[*name] = Value::Null;
            let mut one = required.clone();
            one[*name] = Value::Null;
            assert_eq!(answer(tools, tool, &one).1, wanted, "{tool} {one}");
        }
        assert_eq!(answer(tools, tool, &filled).1, wanted, "{tool} {filled}");
        filled["timeout"] = Value::Null;
        assert_eq!(answer(tools, tool, &filled).1, wanted, "an argument of another tool: {tool}");
        // The whole as JSON text, which is the form of some providers.
        assert_eq!(answer(tools, tool, &json!(filled.to_string())).1, wanted, "{tool}");
        for name in required.as_object().unwrap().keys() {
            let mut lacking = required.clone();
            lacking[name] = Value::Null;
            let (refused, text) = answer(tools, tool, &lacking);
            assert_eq!(refused.code(), Some(ErrorCode::InvalidParam), "{tool} {lacking}: {text}");
        }
    }
}

#[test]
fn arguments_have_the_types_that_models_write() {
    let dir = skills(&[("review", "", "Review $ARGUMENTS.")]);
    let lines: Vec<String> = (1..=9).map(|n| format!("line {n}\n")).collect();
    write(dir.path(), "review/notes.md", &lines.concat());
    let engine = builder(&dir).build().unwrap();
    let tools = || engine.tools(&engine.session("s"));
    for (args, wanted) in [
        (json!("PR 42"), "PR 42"),
        (json!(42), "42"),
        (json!(-1.5), "-1.5"),
        (json!(true), "true"),
        (json!(["PR", 42]), "PR 42"),
        (json!("für 日本 🙂"), "für 日本 🙂"),
        (json!("C:\\a b\r\n"), "C:\\a b\r\n"),
    ] {
        let (_, text) = answer(tools, "use_skill", &json!({"skill": "review", "args": args}));
        assert!(text.contains(&format!("Review {wanted}.")), "{args}: {text}");
    }
    let (none, text) = answer(tools, "use_skill", &json!({"skill": "review", "args": {}}));
    assert!(none.code().is_none() && text.contains("already"), "as without arguments: {text}");
    for args in [json!({"pr": 42}), json!([["PR", 42]]), json!([null]), json!([{}])] {
        let call = json!({"skill": "review", "args": args});
        let (refused, text) = answer(tools, "use_skill", &call);
        assert_eq!(refused.code(), Some(ErrorCode::InvalidParam), "{args}: {text}");
        assert!(text.contains("expected a text"), "{text}");
    }
    let read = |offset: Value| {
        let call = json!({"skill": "review", "path": "notes.md", "offset": offset, "limit": "1"});
        answer(tools, "read_skill_file", &call).1
    };
    for offset in [json!(3), json!(3.0), json!("3"), json!(" 3 "), json!("3.0")] {
        let text = read(offset.clone());
        assert!(text.starts_with("line 3\n"), "{offset}: {text}");
    }
    for offset in [json!(""), json!(null)] {
        let text = read(offset.clone());
        assert!(text.starts_with("line 1\n"), "{offset}: {text}");
    }
    for offset in [json!(2.5), json!(-1), json!("three"), json!([3]), json!(true), json!("NaN")] {
        let text = read(offset.clone());
        assert!(text.contains("expected a whole number from 0"), "{offset}: {text}");
    }
    for (whole, code) in [
        (json!(null), Some(ErrorCode::InvalidParam)),
        (json!(""), Some(ErrorCode::InvalidParam)),
        (json!("review"), Some(ErrorCode::InvalidParam)),
        (json!(["review"]), Some(ErrorCode::InvalidParam)),
        (json!(r#"{"skill": "review", "args": "\ud83d half"}"#), None),
        (json!({"skill": "review", "by": ""}), None),
    ] {
        let answer = tools().call("use_skill", &whole);
        assert_eq!(answer.code(), code, "{whole}: {}", message(&answer));
    }
}

#[cfg(all(feature = "scripts", unix))]
#[test]
fn arguments_of_scripts_have_the_types_that_models_write() {
    let dir = skills(&[("review", "", "R")]);
    write(
        dir.path(),
        "review/scripts/say.sh",
        "#!/bin/sh\nfor a in \"$@\"; do echo \"<$a>\"; done\n",
    );
    let builder = builder(&dir).scripts(repertoire::script::ScriptOptions::default());
    let engine = builder.build().unwrap();
    let tools = || engine.tools(&engine.session("s"));
    let call = |args: &Value| {
        answer(
            tools,
            "run_skill_script",
            &json!({"skill": "review", "script": "say.sh", "args": args}),
        )
    };
    for (args, wanted) in [
        (json!(["a b", 1, true]), "<a b>\n<1>\n<true>"),
        (json!(r#"["a b", 1]"#), "<a b>\n<1>"),
        (json!("--all 'a b'"), "<--all>\n<a b>"),
        (json!("#42"), "<#42>"),
        (json!("it's"), "<it's>"),
    ] {
        let (_, text) = call(&args);
        assert!(text.contains(wanted), "{args}: {text}");
    }
    for args in [json!([]), json!({}), json!(""), json!("[]"), json!(null)] {
        let (done, text) = call(&args);
        assert!(done.code().is_none() && !text.contains('<'), "{args}: {text}");
    }
    for args in [json!({"a": 1}), json!([["a"]]), json!([null]), json!([{}]), json!(7)] {
        assert_eq!(call(&args).0.code(), Some(ErrorCode::InvalidParam), "{args}");
    }
}
