//! A client with the SDK in this process, in both lifecycles of the protocol.

use std::time::{Duration, Instant};

use repertoire::{ConsentPolicy, Engine, Source};
use repertoire_mcp::{McpOptions, McpServer};
use rmcp::model::{
    ElicitationAction, ErrorCode, GetPromptRequestParams, PaginatedRequestParams,
    ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ServiceExt};
use serde_json::{Value, json};

use crate::is_alive;
use crate::peer::{Told, code, connect, modern, params, simple, text, until};

#[tokio::test]
async fn tools_are_listed_and_called() {
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        let place = connect(lifecycle, ConsentPolicy::Never, None).await;
        let tools = place.client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let expected = [
            "use_skill", "find_skills", "read_skill_file", "run_skill_script", "hello_greet",
            "hello_divide", "hello_panic", "hello_count",
        ];
        assert_eq!(names, expected);
        let greet = tools[4].annotations.as_ref().unwrap();
        assert_eq!((greet.read_only_hint, greet.idempotent_hint), (Some(true), Some(true)));
        assert_eq!(tools[4].input_schema["required"], json!(["name"]));

        let found = place.call("find_skills", json!({"query": "a pull request"})).await;
        assert!(text(&found).starts_with("- review: "), "{found:?}");
        assert!(text(&found).starts_with("- review: "), "{found:?}");
        let used = place.call("use_skill", json!({"skill": "review", "args": "7"})).await;
        assert!(text(&used).contains("Review 7.") && used.structured_content.is_none());
        // Over this protocol, the server spawns no tasks.
        let forked = place.call("use_skill", json!({"skill": "forked"})).await;
        assert!(text(&forked).contains("Work apart."), "{forked:?}");
        let script = json!({"skill": "slow", "script": "echo.sh", "args": ["a  b", "c"]});
        assert_eq!(text(&place.call("run_skill_script", script).await), "said a  b c");
        let greeted = place.call("hello_greet", json!({"name": "Ada"})).await;
        assert_eq!(text(&greeted), "Hello, Ada!");
        assert_eq!(greeted.structured_content, None);
    }
}

#[tokio::test]
async fn what_a_tool_does_not_do_is_its_answer_and_what_is_no_tool_an_error() {
    let place = simple().await;
    for (tool, arguments, code, message) in [
        ("find_skills", json!({"query": 7}), "INVALID_PARAM", "expected a string"),
        (
            "find_skills",
            json!({"query": "x", "limit": 0}),
            "INVALID_PARAM",
            "a `limit` of at least 1",
        ),
        ("use_skill", json!({"skill": "reviw"}), "NOT_FOUND", "did you mean `review`"),
        ("use_skill", json!({"skill": "user-only"}), "NOT_FOUND", "user-only"),
        ("read_skill_file", json!({"skill": "review", "path": "../x"}), "INVALID_PARAM", "../x"),
        ("hello_greet", json!({"nme": "Ada"}), "INVALID_PARAM", "do not fit"),
        ("hello_divide", json!({"dividend": 1, "divisor": 0}), "EXECUTION_ERROR", "by zero"),
        ("hello_panic", json!({"message": "oh"}), "EXECUTION_ERROR", "oh"),
    ] {
        let result = place.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        assert_eq!(result.structured_content, None, "no tool declares a schema for it");
        assert!(text(&result).starts_with(code) && text(&result).contains(message), "{result:?}");
    }
    for tool in ["no_tool", "hello.grete", ""] {
        let error = place.client.call_tool(params(tool, &json!({}))).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{error:?}");
        assert!(error.to_string().contains(tool), "{error:?}");
        assert!(!error.to_string().contains("repertoire"), "a command is not for models: {error}");
    }
}

#[tokio::test]
async fn without_arguments_the_placeholder_stays_and_is_explained() {
    let place = simple().await;
    let used = place.call("use_skill", json!({"skill": "review"})).await;
    assert!(text(&used).starts_with("$ARGUMENTS stands for what the user asks for."), "{used:?}");
    assert!(text(&used).contains("Review $ARGUMENTS."), "{used:?}");
    let plain = place.call("use_skill", json!({"skill": "sven"})).await;
    assert!(!text(&plain).contains("ARGUMENTS"), "{plain:?}");
}

#[tokio::test]
async fn tools_for_skills_are_not_to_be_hidden() {
    let place = simple().await;
    for tool in place.client.list_all_tools().await.unwrap() {
        let meta = tool.meta.map(|meta| meta.0).unwrap_or_default();
        let is_for_skills = !tool.name.starts_with("hello_");
        assert_eq!(meta.get("anthropic/alwaysLoad"), is_for_skills.then_some(&json!(true)));
        let hint = meta.get("anthropic/searchHint").and_then(Value::as_str);
        assert_eq!(hint.is_some_and(|hint| hint.contains("skill")), is_for_skills, "{hint:?}");
    }
}

#[tokio::test]
async fn commands_are_prompts() {
    let place = simple().await;
    let prompts = place.client.list_all_prompts().await.unwrap();
    let names: Vec<&str> = prompts.iter().map(|prompt| &*prompt.name).collect();
    assert_eq!(names, ["forked", "hello", "review", "slow", "sven", "sven/plan", "user_only"]);
    let argument = &prompts[2].arguments.as_ref().unwrap()[0];
    assert_eq!((&*argument.name, argument.description.as_deref()), ("args", Some("[pr]")));

    let get = async |name: &str, arguments: Value| {
        let arguments = arguments.as_object().unwrap().clone();
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        place.client.get_prompt(params).await
    };
    for (name, arguments, said) in [
        ("review", json!({"args": "PR 42"}), "Review PR 42."),
        ("review", json!({"args": null}), "Review ."),
        ("review", json!({"args": {}}), "Review ."),
        ("sven/plan", json!({"args": "it"}), "Plan it."),
        ("user_only", json!({}), "Only users."),
        ("/user-only", json!({"args": 7}), "ARGUMENTS: 7"),
        ("forked", json!({}), "Work apart."),
    ] {
        let prompt = get(name, arguments).await.unwrap();
        let message = serde_json::to_value(&prompt.messages[0]).unwrap();
        assert_eq!(message["role"], "user");
        assert!(message["content"]["text"].as_str().unwrap().contains(said), "{message}");
    }
    for (name, arguments) in [
        ("nothing", json!({})),
        ("review", json!({"args": {"pr": 7}})),
        ("review", json!({"pr": "7"})),
    ] {
        let error = get(name, arguments).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::INVALID_PARAMS, "{error:?}");
    }
}

#[tokio::test]
async fn a_prompt_is_found_by_every_name_that_users_may_type() {
    let dir = tempfile::tempdir().unwrap();
    let skill = dir.path().join("release_notes");
    std::fs::create_dir(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\ndescription: d\n---\nWrite them.\n").unwrap();
    let client = crate::skills::client_of(dir.path()).await;
    for name in ["release_notes", "release-notes", "Release-Notes"] {
        let prompt = client.get_prompt(GetPromptRequestParams::new(name)).await.unwrap();
        let text = serde_json::to_string(&prompt.messages).unwrap();
        assert!(text.contains("Write them."), "{name}: {text}");
    }
}

#[tokio::test]
async fn files_are_resources_and_nothing_else_is() {
    let place = simple().await;
    let resources = place.client.list_all_resources().await.unwrap();
    let uris: Vec<&str> = resources.iter().map(|resource| &*resource.uri).collect();
    for uri in ["skill://review/logo.png", "skill://review/ref/how%20to.md"] {
        assert!(uris.contains(&uri), "{uris:?}");
    }
    assert!(uris.contains(&"skill://sven/plan/steps.md"), "{uris:?}");
    let skill = resources.iter().find(|resource| resource.uri == "skill://review/SKILL.md");
    let described = skill.and_then(|skill| skill.description.as_deref());
    assert_eq!(described, Some("Does review."), "{uris:?}");
    assert!(!uris.iter().any(|uri| uri.contains("user-only")), "{uris:?}");
    let templates = place.client.list_all_resource_templates().await.unwrap();
    assert_eq!(templates[0].uri_template, "skill://{+id}/{+path}");

    let read =
        async |uri: &str| place.client.read_resource(ReadResourceRequestParams::new(uri)).await;
    for (uri, media_type, key, content) in [
        ("skill://review/ref/how%20to.md", "text/markdown", "text", "Look twice.\n"),
        ("skill://sven/plan/steps.md", "text/markdown", "text", "one\ntwo\n"),
        ("skill://sven%2Fplan/steps.md", "text/markdown", "text", "one\ntwo\n"),
        ("skill://review/logo.png", "image/png", "blob", "iVBORwA="),
    ] {
        let contents = serde_json::to_value(&read(uri).await.unwrap().contents[0]).unwrap();
        let expected = json!({"uri": uri, "mimeType": media_type, key: content});
        assert_eq!(contents, expected);
    }
    for (uri, expected) in [
        ("skill://review/none.md", ErrorCode::RESOURCE_NOT_FOUND),
        ("skill://nobody/a.md", ErrorCode::RESOURCE_NOT_FOUND),
        ("skill://user-only/SKILL.md", ErrorCode::RESOURCE_NOT_FOUND),
        ("skill://review/skill.md", ErrorCode::INVALID_PARAMS),
        ("skill://review/../sven/SKILL.md", ErrorCode::INVALID_PARAMS),
        ("skill://review/%2e%2e/sven/SKILL.md", ErrorCode::INVALID_PARAMS),
        ("skill://review//etc/passwd", ErrorCode::INVALID_PARAMS),
        ("file:///etc/passwd", ErrorCode::INVALID_PARAMS),
    ] {
        let error = read(uri).await.unwrap_err();
        assert_eq!(code(&error), expected, "{uri}: {error:?}");
    }
}

#[tokio::test]
async fn long_lists_of_resources_come_in_pages() {
    let dir = tempfile::tempdir().unwrap();
    for skill in 0..5 {
        let files = dir.path().join(format!("s{skill}"));
        std::fs::create_dir(&files).unwrap();
        std::fs::write(files.join("SKILL.md"), "---\ndescription: d\n---\n").unwrap();
        for file in 0..130 {
            std::fs::write(files.join(format!("{file}.txt")), "x").unwrap();
        }
    }
    let engine = Engine::builder().source(Source::user(dir.path())).build().unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(&engine, McpOptions::default());
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await.unwrap() });
    let client = Told::default().serve(ours).await.unwrap();
    let mut lengths = Vec::new();
    let mut cursor = None;
    loop {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = client.list_resources(Some(params)).await.unwrap();
        lengths.push(page.resources.len());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    // Each skill lists its `SKILL.md` and its first hundred files.
    assert_eq!(lengths, [202, 202, 101]);
}

#[tokio::test]
async fn progress_comes_in_order_before_the_answer() {
    let place = simple().await;
    let call = place.begin("hello_count", json!({"to": 4, "pause": 50})).await;
    call.await_response().await.unwrap();
    until("progress", || place.told.progress.lock().unwrap().len() == 4).await;
    let progress = place.told.progress.lock().unwrap().clone();
    let expected = [(0.25, "1 of 4"), (0.5, "2 of 4"), (0.75, "3 of 4"), (1.0, "4 of 4")];
    assert_eq!(progress, expected.map(|(fraction, message)| (fraction, message.to_owned())));
}

#[tokio::test]
async fn progress_is_told_ten_times_a_second_at_most() {
    let place = simple().await;
    let call = place.begin("hello_count", json!({"to": 300, "pause": 10})).await;
    let began = Instant::now();
    call.await_response().await.unwrap();
    let n_seconds = usize::try_from(began.elapsed().as_secs()).unwrap();
    let progress = place.told.progress.lock().unwrap().clone();
    // The call takes three seconds or more, and each report is newer than the one before it.
    assert!(progress.len() >= 20 && progress.len() <= (n_seconds + 1) * 10, "{progress:?}");
    assert!(progress.is_sorted_by(|a, b| a.0 < b.0), "{progress:?}");
}

#[tokio::test]
async fn a_cancelled_call_ends_and_others_are_answered_meanwhile() {
    let place = simple().await;
    // In a plugin: an hour of counting.
    let call = place.begin("hello_count", json!({"to": 36_000, "pause": 100})).await;
    until("progress", || !place.told.progress.lock().unwrap().is_empty()).await;
    assert!(!place.call("find_skills", json!({"query": "x"})).await.content.is_empty());
    call.cancel(None).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let told = place.told.progress.lock().unwrap().len();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(place.told.progress.lock().unwrap().len(), told, "it still counts");

    // In a script: a minute of sleep.
    let script = json!({"skill": "slow", "script": "wait.sh", "args": ["60.000017"]});
    let call = place.begin("run_skill_script", script).await;
    until("the script", || is_alive("60.000017")).await;
    call.cancel(None).await.unwrap();
    until("its end", || !is_alive("60.000017")).await;
    assert!(!place.call("find_skills", json!({"query": "x"})).await.content.is_empty());
}

#[tokio::test]
async fn consent_to_a_script_lets_it_run() {
    use ElicitationAction::{Accept, Decline};
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        for (policy, says, questions, is_error) in [
            (ConsentPolicy::FirstUse, Some(Accept), 1, false),
            (ConsentPolicy::Always, Some(Accept), 2, false),
            (ConsentPolicy::FirstUse, Some(Decline), 2, true),
            (ConsentPolicy::FirstUse, None, 0, true),
        ] {
            let place = connect(lifecycle.clone(), policy, says.clone()).await;
            let call = json!({"skill": "slow", "script": "wait.sh", "args": ["0.01"]});
            for _ in 0..2 {
                let ran = place.call("run_skill_script", call.clone()).await;
                assert_eq!(ran.is_error, Some(is_error), "{policy:?} {says:?}: {ran:?}");
            }
            let asked = place.told.questions.lock().unwrap().len();
            assert_eq!(asked, questions, "{policy:?} {says:?}");
        }
    }
}

#[tokio::test]
async fn users_are_asked_for_their_consent() {
    use ElicitationAction::{Accept, Cancel, Decline};
    for lifecycle in [ClientLifecycleMode::Initialize, modern()] {
        for (policy, says, questions, is_error) in [
            (ConsentPolicy::Never, Some(Decline), 0, false),
            (ConsentPolicy::FirstUse, Some(Accept), 1, false),
            (ConsentPolicy::Always, Some(Accept), 2, false),
            (ConsentPolicy::FirstUse, Some(Decline), 2, true),
            (ConsentPolicy::FirstUse, Some(Cancel), 2, true),
            (ConsentPolicy::FirstUse, None, 0, true),
        ] {
            let place = connect(lifecycle.clone(), policy, says.clone()).await;
            for _ in 0..2 {
                let used = place.call("use_skill", json!({"skill": "review"})).await;
                assert_eq!(used.is_error, Some(is_error), "{policy:?} {says:?}: {used:?}");
                if is_error {
                    assert!(text(&used).starts_with("CONSENT_REQUIRED: "), "{used:?}");
                }
            }
            let asked = place.told.questions.lock().unwrap().clone();
            assert_eq!(asked.len(), questions, "{policy:?} {says:?}: {asked:?}");
            for question in asked {
                assert!(
                    question.contains("`review`") && question.contains("how to.md"),
                    "{question}"
                );
            }
        }
    }
    // A prompt asks for consent in the same way.
    let place = connect(modern(), ConsentPolicy::FirstUse, Some(Decline)).await;
    let error = place.client.get_prompt(GetPromptRequestParams::new("review")).await.unwrap_err();
    assert!(error.to_string().contains("did not agree"), "{error:?}");
    let place = connect(modern(), ConsentPolicy::FirstUse, Some(Accept)).await;
    place.client.get_prompt(GetPromptRequestParams::new("review")).await.unwrap();
}

#[tokio::test]
async fn long_outputs_come_in_pages() {
    let place = simple().await;
    let script = "#!/bin/sh\nseq 1 20000\necho oh >&2\nexit 3\n";
    std::fs::write(place.dir.path().join("slow/scripts/long.sh"), script).unwrap();
    let call = json!({"skill": "slow", "script": "long.sh"});
    let answer = place.call("run_skill_script", call).await;
    let first = text(&answer);
    assert!(first.len() < 40_000, "{}", first.len());
    // The first page already ends with standard error and the exit code.
    assert!(first.ends_with("[standard error]\noh\n[exit code 3]"), "{first}");
    let (_, told) = first.split_once("[lines 1 to ").unwrap();
    let (_, told) = told.split_once("path `").unwrap();
    let (name, told) = told.split_once("`, offset ").unwrap();
    let mut offset: usize = told.split_once(']').unwrap().0.parse().unwrap();
    let mut read: String = first.split_inclusive('\n').take(offset - 1).collect();
    loop {
        let call = json!({"skill": "slow", "path": name, "offset": offset});
        let page = place.call("read_skill_file", call).await;
        assert_ne!(page.is_error, Some(true), "{page:?}");
        let page = text(&page);
        let Some((lines, told)) = page.rsplit_once("\n[20000 lines; read on from offset ") else {
            read.push_str(page);
            break;
        };
        read.push_str(lines);
        offset = told.trim_end_matches(']').parse().unwrap();
    }
    let numbers: Vec<String> = (1..=20_000).map(|n| n.to_string()).collect();
    assert_eq!(read, numbers.join("\n") + "\n");
    for (path, offset, code) in [
        (name, 20_001, "INVALID_PARAM"),
        ("output:0123456789abcdef", 1, "NOT_FOUND"),
        ("output:x", 1, "NOT_FOUND"),
    ] {
        let call = json!({"skill": "slow", "path": path, "offset": offset});
        let answer = place.call("read_skill_file", call).await;
        assert!(text(&answer).starts_with(code), "{path}: {answer:?}");
    }
}
