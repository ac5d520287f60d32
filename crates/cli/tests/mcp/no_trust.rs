//! A server whose list of trusted code cannot be read answers with texts, and runs nothing.

use std::fs;

use serde_json::{Value, json};

use crate::binary::{self, Place};
use crate::{command, skills};

/// A name, the preparation of a place, the directory of state, and whether the server tells of it.
type Case<'c> = (&'c str, &'c dyn Fn(&Place), Option<&'c str>, bool);

/// Calls tools of a server in their order. Returns its answers, and standard error.
fn calls(place: &Place, state: Option<&str>, calls: &[(&str, Value)]) -> (Vec<Value>, String) {
    let skills = skills();
    let mut server = command(place, &["mcp", "--source"], &[skills.path()]);
    if let Some(state) = state {
        server.env("XDG_STATE_HOME", state);
    }
    let client = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    lines.extend((1..).zip(calls).map(|(id, (tool, arguments))| {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }));
    let input = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
    let run = binary::finish(server, input.as_bytes());
    let mut answers: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    answers.retain(|answer| answer["id"].as_u64().is_some_and(|id| id > 0));
    answers.sort_by_key(|answer| answer["id"].as_u64());
    (answers, run.stderr)
}

#[test]
fn a_list_of_trusted_code_that_cannot_be_read_costs_no_text_and_runs_no_code() {
    let file = "home/.local/state/repertoire/trust.json";
    let damaged = |place: &Place| place.write(file, "not JSON");
    let newer = |place: &Place| place.write(file, r#"{"version": 99, "files": []}"#);
    let directory = |place: &Place| fs::create_dir_all(place.path().join(file)).unwrap();
    let cases: [Case<'_>; 4] = [
        ("damaged", &damaged, None, true),
        ("of a newer version", &newer, None, true),
        ("a directory", &directory, None, true),
        // There cannot be a list, so nothing was trusted or refused.
        ("below a device", &|_| (), Some("/dev/null"), false),
    ];
    for (name, prepare, state, is_told) in cases {
        let place = Place::new();
        prepare(&place);
        let wanted = [
            ("use_skill", json!({"skill": "review", "args": "PR 7"})),
            ("run_skill_script", json!({"skill": "slow", "script": "echo.sh"})),
        ];
        let (answers, stderr) = calls(&place, state, &wanted);
        assert_eq!(answers.len(), 2, "{name}: {stderr}");
        let text = answers[0]["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.contains("Review PR 7."), "{name}: {answers:?}");
        assert_eq!(answers[1]["result"]["isError"], true, "{name}: {answers:?}");
        assert_eq!(stderr.contains("no code of skills runs: "), is_told, "{name}: {stderr}");
    }
}
