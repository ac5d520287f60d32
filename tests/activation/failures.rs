//! Tool calls of a host's model that fail or are cancelled.

#[cfg(target_os = "linux")]
use repertoire::CallIo;
#[cfg(target_os = "linux")]
use repertoire::script::Stream;
use repertoire::{Consent, ConsentPolicy, Engine, Error, ErrorCode, Source, Task, TaskSpawner};
use serde_json::{Value, json};

use super::{builder, message, skills, write};

/// A task spawner without room for another task.
#[derive(Debug)]
struct Full;

impl TaskSpawner for Full {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let message = format!("no room for a task of `{}`", task.skill);
        Err(Error::new(ErrorCode::ExecutionError, message, "try again later"))
    }
}

#[test]
fn every_code_of_an_error_comes_through_the_dispatcher_with_the_skill_and_a_remedy() {
    use ErrorCode::{
        ConsentRequired, ExecutionError, InternalError, InvalidParam, NotFound, PermissionDenied,
        Timeout,
    };
    use repertoire::script::ScriptOptions;

    let dir = skills(&[
        ("plain", "", "p"),
        ("forked", "context: fork\n", "f"),
        ("asks", "", "a"),
        ("panics", "", "x"),
    ]);
    write(dir.path(), "plain/scripts/slow.sh", "echo started\nsleep 30\n");
    write(dir.path(), "plain/scripts/fails.sh", "echo bad >&2\nexit 3\n");
    let mut options = ScriptOptions::default();
    options.limits.timeout = std::time::Duration::from_millis(500);
    let consent = Consent::new(ConsentPolicy::FirstUse).ask(|request| match request.id.as_str() {
        "panics" => request.description.parse().unwrap(),
        id => id != "asks",
    });
    let builder = builder(&dir).scripts(options).consent(consent).task_spawner(Full);
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
    let tools = engine.tools(&session);
    let untrusting = untrusted.tools(&untrusted.session("s"));
    let script = |skill: &str, script: &str| json!({"skill": skill, "script": script});
    for (tools, tool, arguments, code, words) in [
        (&tools, "use_skill", json!({"skill": 7}), InvalidParam, vec!["use_skill", "object"]),
        (&tools, "use_skill", json!({"skil": "plain"}), InvalidParam, vec!["skil", "expected"]),
        (
            &tools,
            "use_skill",
            json!("plain"),
            InvalidParam,
            vec!["use_skill", "not JSON", "give an object"],
        ),
        (
            &tools,
            "use_skill",
            json!(["plain"]),
            InvalidParam,
            vec!["use_skill", "expected an object"],
        ),
        (
            &tools,
            "find_skills",
            json!({"query": "x", "limit": "y"}),
            InvalidParam,
            vec!["expected a whole number"],
        ),
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
            vec!["risky", "the user has to approve it first"],
        ),
        (&tools, "use_skill", json!({"skill": "asks"}), ConsentRequired, vec!["asks", "user"]),
        (&tools, "use_skill", json!({"skill": "forked"}), ExecutionError, vec!["forked", "later"]),
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
        // Errors for a model explain neither how to approve code nor how to run a program.
        for word in ["repertoire", "trust add", "chmod"] {
            assert!(!message(&answer).contains(word), "{word} in {answer:?}");
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

#[cfg(target_os = "linux")]
#[test]
fn a_host_can_cancel_the_call_of_a_script() {
    let dir = skills(&[("slow", "", "Run it.")]);
    write(dir.path(), "slow/scripts/wait.sh", "#!/bin/sh\necho begun\nsleep 60\n");
    let options = repertoire::script::ScriptOptions::default();
    let engine = builder(&dir).scripts(options).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
    let start = std::time::Instant::now();
    let is_cancelled = || start.elapsed().as_millis() > 200;
    let io = CallIo::default().cancelled_if(&is_cancelled);
    let call = json!({"skill": "slow", "script": "wait.sh"});
    let answer = tools.call_with("run_skill_script", &call, io);
    assert_eq!(answer.code(), Some(ErrorCode::ExecutionError), "{answer:?}");
    assert!(message(&answer).contains("cancelled"), "{answer:?}");
    assert!(start.elapsed().as_secs() < 30, "{answer:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_host_can_follow_the_output_of_a_script() {
    let dir = skills(&[("loud", "", "Run it.")]);
    write(dir.path(), "loud/scripts/say.sh", "#!/bin/sh\necho one\necho two >&2\necho three\n");
    let options = repertoire::script::ScriptOptions::default();
    let engine = builder(&dir).scripts(options).build().unwrap();
    let tools = engine.tools(&engine.session("s"));
    let heard = std::sync::Mutex::new([String::new(), String::new()]);
    let listen = |stream: Stream, written: &[u8]| {
        let place = usize::from(stream == Stream::Stderr);
        heard.lock().unwrap()[place] += std::str::from_utf8(written).unwrap();
    };
    let call = json!({"skill": "loud", "script": "say.sh"});
    let answer = tools.call_with("run_skill_script", &call, CallIo::default().output(&listen));
    assert_eq!(*heard.lock().unwrap(), ["one\nthree\n", "two\n"]);
    assert!(answer.text().contains("three"), "{answer:?}");
}
