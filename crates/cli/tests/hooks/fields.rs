//! The fields of the input of a hook, in any state that an agent may leave them in: each is missing, `null`,
//! or of a wrong type, and there are others.

use std::fs;
use std::path::Path;

use repertoire_agents::{HookAgent, HookCall};
use serde_json::{Map, Value, json};

use super::{AGENTS, hook, hook_with, log, place};

/// The names of all agents for a session.
const SESSIONS: [&str; 4] = ["session_id", "sessionId", "conversation_id", "sessionID"];
/// The fields that may be a number: the names of a session and of a subagent.
const NAMES: [&str; 6] =
    ["session_id", "sessionId", "conversation_id", "sessionID", "agent_id", "agentId"];
/// The fields of all agents.
const FIELDS: [&str; 20] = [
    "agentId", "agent_id", "conversation_id", "cwd", "hookEventName", "hook_event_name", "model",
    "prompt", "reason", "sessionID", "sessionId", "session_id", "source", "toolArgs", "toolName",
    "tool_input", "tool_name", "transcript_path", "trigger", "workspace_roots",
];

/// Returns the recorded calls of all agents, with their names.
fn recorded() -> Vec<(HookAgent, String, Map<String, Value>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    let mut calls = Vec::new();
    for agent in AGENTS {
        for file in fs::read_dir(root.join(agent)).unwrap() {
            let path = file.unwrap().path();
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".in.json") {
                let call = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                calls.push((agent.parse().unwrap(), name, call));
            }
        }
    }
    assert!(calls.len() >= 60, "{} calls", calls.len());
    calls
}

/// Returns the values of a wrong type for `field`.
fn wrong(field: &str) -> Vec<Value> {
    let mut values = vec![json!(null), json!(true), json!([]), json!([null, [7]])];
    if !NAMES.contains(&field) {
        values.extend([json!(7), json!(7.0), json!(-0.5)]);
    }
    if !["tool_input", "toolArgs"].contains(&field) {
        values.extend([json!({}), json!({"text": "deploy it", "prompt": null})]);
    }
    values
}

#[test]
fn a_field_of_a_hook_that_is_null_or_of_a_wrong_type_counts_as_missing() {
    let mut n_cases = 0;
    for (agent, name, call) in recorded() {
        let read = |call: &Map<String, Value>| {
            HookCall::read(agent, &Value::from(call.clone()).to_string())
                .map_err(|error| error.to_string())
        };
        for field in FIELDS {
            let mut missing = call.clone();
            missing.remove(field);
            let wanted = read(&missing);
            for value in wrong(field) {
                let mut changed = call.clone();
                changed.insert(field.to_owned(), value.clone());
                assert_eq!(read(&changed), wanted, "{name}: {field} = {value}");
                n_cases += 1;
            }
        }
    }
    assert!(n_cases > 9000, "{n_cases} cases");
}

#[test]
fn each_argument_of_a_tool_that_is_null_or_of_a_wrong_type_counts_as_missing() {
    let names = ["file_path", "path", "command", "skill", "name", "by", "input"];
    for (tool, field, text) in [
        ("Edit", "path", "a.css"),
        ("read_file", "file_path", "a/SKILL.md"),
        ("apply_patch", "input", "*** Add File: a.css"),
        ("Skill", "skill", "deploy"),
        ("mcp__repertoire__use_skill", "name", "deploy"),
        ("Bash", "command", "cat a/SKILL.md"),
    ] {
        let read = |arguments: &Value| {
            let call = json!({
                "hook_event_name": "PostToolUse", "session_id": "s", "tool_name": tool,
                "tool_input": arguments,
            });
            HookCall::read(HookAgent::ClaudeCode, &call.to_string()).unwrap()
        };
        let wanted = read(&json!({field: text}));
        let is_read = wanted.skill.is_some() || format!("{:?}", wanted.event).contains("a.css");
        assert!(is_read, "{tool}: {wanted:?}");
        for other in names.iter().filter(|name| **name != field) {
            for value in [json!(null), json!(7), json!(1.5), json!(true), json!([]), json!({})] {
                let arguments = json!({field: text, *other: value});
                assert_eq!(read(&arguments), wanted, "{tool}: {arguments}");
                // Some agents pass on the text of the model.
                assert_eq!(read(&json!(arguments.to_string())), wanted, "{tool}: {arguments}");
            }
        }
    }
}

/// Names of sessions and subagents are told apart, however they are written.
#[test]
fn a_number_names_a_session_as_a_text_does() {
    let session = |call: Value| {
        let mut call = call;
        call["hook_event_name"] = json!("SessionEnd");
        HookCall::read(HookAgent::Codex, &call.to_string()).unwrap().session
    };
    for field in SESSIONS {
        for (value, wanted) in [
            (json!("7"), Some("codex:7")),
            (json!(7), Some("codex:7")),
            (json!(1.5), Some("codex:1.5")),
            (json!(18_446_744_073_709_551_615_u64), Some("codex:18446744073709551615")),
            (json!(""), None),
        ] {
            assert_eq!(session(json!({field: value})).as_deref(), wanted, "{field}");
        }
    }
    assert_eq!(session(json!({"session_id": 7, "agent_id": 8})).as_deref(), Some("codex:7:8"));
}

/// Returns the inputs that mean the same as `call`, each with what is special about it.
fn same(call: &Map<String, Value>) -> Vec<(&'static str, Vec<u8>)> {
    let mut nulls = call.clone();
    let others = FIELDS.into_iter().filter(|field| !call.contains_key(*field));
    nulls.extend(others.map(|field| (field.to_owned(), Value::Null)));
    let text = Value::from(call.clone()).to_string();
    let pretty = serde_json::to_string_pretty(call).unwrap();
    let (_, fields) = text.split_once('{').unwrap();
    let deep = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    // Where an event has no name, the output of a tool is one.
    let output = if call.contains_key("hook_event_name") { "tool_response" } else { "output" };
    let cut = format!("{{\"{output}\":\"CUT\",\"x\":\"\\ud83d\",{fields}");
    let (before, after) = cut.split_once("CUT").unwrap();
    vec![
        ("nulls", Value::from(nulls).to_string().into_bytes()),
        ("a byte order mark", format!("\u{feff}{text}").into_bytes()),
        ("CRLF", pretty.replace('\n', "\r\n").into_bytes()),
        ("blanks before it", format!("\r\n \t{text}").into_bytes()),
        ("bytes after it", format!("{text}\r\n\0garbage {{\"prompt\":").into_bytes()),
        ("a second value", format!("{text}{text}").into_bytes()),
        ("unknown fields", format!("{{\"x\":{{\"prompt\":7}},\"y\":[null],{fields}").into_bytes()),
        ("deep fields", format!("{{\"x\":{0},\"{output}\":{0},{fields}", deep(2000)).into_bytes()),
        ("a huge number", format!("{{\"x\":1e999,\"y\":-1e-999,{fields}").into_bytes()),
        ("cut characters", [before.as_bytes(), b"\xe4\xbd", after.as_bytes()].concat()),
    ]
}

#[test]
fn an_input_that_is_written_differently_has_the_answer_of_the_recorded_one() {
    // One call of each agent for each kind of event that adds something.
    let adds = |name: &str| {
        ["prompt.in", "user-prompt-submitted", "before-agent.in", "before-submit"]
            .iter()
            .any(|kind| name.contains(kind))
            || name.contains("post-tool-use.in")
            || name.contains("after-tool")
    };
    let mut n_answers = 0;
    for (agent, name, call) in recorded().into_iter().filter(|(_, name, _)| adds(name)) {
        let place = place();
        let here = place.path().to_str().unwrap();
        let filled = Value::from(call).to_string().replace("PLACE", here);
        let call: Map<String, Value> = serde_json::from_str(&filled).unwrap();
        let field = SESSIONS.into_iter().find(|field| call.contains_key(*field)).unwrap();
        let answer = |session: &str, input: &[u8]| {
            // A session of its own for each: its name is the only thing that differs.
            let input: Vec<u8> = replace(input, b"THE-SESSION", session.as_bytes());
            let run = hook_with(&place, agent.as_str(), &input).exits(0);
            assert_eq!(run.stderr, "", "{name}: {session}");
            run.stdout
        };
        let mut call = call;
        call.insert(field.to_owned(), json!("THE-SESSION"));
        let wanted = answer("plain", Value::from(call.clone()).to_string().as_bytes());
        assert!(wanted.contains("## Skill: "), "{name}: {wanted}");
        for (what, input) in same(&call) {
            assert_eq!(answer(what, &input), wanted, "{name}: {what}");
            n_answers += 1;
        }
        assert_eq!(log(&place), "", "{name}");
        for value in [json!(null), json!(""), json!([7]), json!(false)] {
            call.insert(field.to_owned(), value.clone());
            let run = hook(&place, agent.as_str(), &Value::from(call.clone()).to_string()).exits(0);
            assert_eq!(
                run.stdout, wanted,
                "{name}: {value}: nothing is remembered, nothing is lost"
            );
            assert_eq!(log(&place).lines().count(), 1, "it is said once: {}", log(&place));
        }
    }
    assert!(n_answers >= 150, "{n_answers} answers");
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = text.windows(from.len()).position(|part| part == from);
    at.map_or(text.to_vec(), |at| [&text[..at], to, &text[at + from.len()..]].concat())
}
