//! The command `stats --missed`, computed from what the hooks of each agent saw.

use std::fs;

use serde_json::{Value, json};

use super::{AGENTS, state};
use crate::binary::{Place, Run};

/// A message that shares no word with the skill that its author needs.
const CALL: &str = "sum up what the bank told us on the phone";

/// A user with two skills, whose messages are kept unless `is_off`.
fn user(is_off: bool) -> Place {
    let place = Place::new();
    let skill = |name: &str, triggers: &str| {
        let text = format!(
            "---\nname: {name}\ndescription: Does {name}.\ntriggers: [{triggers}]\n---\nDo it.\n"
        );
        place.write(&format!("home/.repertoire/skills/{name}/SKILL.md"), text);
    };
    skill("minutes", "write minutes");
    skill("printer", "ship it");
    place.write("home/.repertoire/skills/printer/jam.md", "Open the tray.");
    let keep = if is_off { "" } else { "[routing]\nkeep_messages = true\n" };
    place.write("home/.repertoire/config.toml", keep);
    fs::create_dir_all(place.path().join(".git")).unwrap();
    place
}

fn hook(place: &Place, agent: &str, input: &Value) {
    let args = ["hook", agent, "--deadline", "60"];
    place.run_with(args, input.to_string().as_bytes()).exits(0);
}

/// Sends a message as `agent` does.
fn say(place: &Place, agent: &str, session: &str, text: &str) {
    let cwd = place.path().to_str().unwrap();
    hook(
        place,
        agent,
        &match agent {
            "copilot" => json!({"sessionId": session, "cwd": cwd, "prompt": text}),
            "cursor" => json!({
                "hook_event_name": "beforeSubmitPrompt", "conversation_id": session,
                "workspace_roots": [cwd], "prompt": text,
            }),
            "gemini" => json!({
                "hook_event_name": "BeforeAgent", "session_id": session, "cwd": cwd, "prompt": text,
            }),
            _ => json!({
                "hook_event_name": "UserPromptSubmit", "session_id": session, "cwd": cwd,
                "prompt": text,
            }),
        },
    );
}

/// Loads a skill as the model of `agent` does.
fn load(place: &Place, agent: &str, session: &str, skill: &str) {
    let file = place.path().join(format!("home/.repertoire/skills/{skill}/SKILL.md"));
    let file = file.to_str().unwrap();
    let after = |tool: &str, input: Value| {
        json!({
            "hook_event_name": "PostToolUse", "session_id": session, "cwd": place.path(),
            "tool_name": tool, "tool_input": input,
        })
    };
    hook(
        place,
        agent,
        &match agent {
            "claude-code" | "droid" => after("Skill", json!({"skill": skill})),
            "codex" => after("Bash", json!({"command": format!("sed -n '1,200p' '{file}'")})),
            "gemini" => json!({
                "hook_event_name": "AfterTool", "session_id": session, "cwd": place.path(),
                "tool_name": "activate_skill", "tool_input": {"name": skill},
            }),
            "cursor" => json!({
                "hook_event_name": "postToolUse", "conversation_id": session,
                "workspace_roots": [place.path()], "tool_name": "Read",
                "tool_input": {"file_path": file},
            }),
            "copilot" => json!({
                "sessionId": session, "cwd": place.path(), "toolName": "skill",
                "toolArgs": json!({"skill": skill}).to_string(), "toolResult": {"resultType": "success"},
            }),
            "opencode" => after("skill", json!({"name": skill})),
            "qwen" => after("skill", json!({"skill": skill})),
            agent => panic!("{agent}"),
        },
    );
}

fn missed(place: &Place, more: &[&str]) -> Run {
    place.run([&["stats", "--missed", "--json"], more].concat())
}

/// Formats the messages that were routed wrongly.
fn rows(json: &Value) -> Vec<String> {
    let row = |row: &Value| {
        let of = |key: &str| row[key].to_string().trim_matches('"').to_owned();
        ["skill", "kind", "times", "message"].map(of).join(" ")
    };
    json["messages"].as_array().unwrap().iter().map(row).collect()
}

fn skill_text(place: &Place, skill: &str) -> String {
    let path = format!("home/.repertoire/skills/{skill}/SKILL.md");
    fs::read_to_string(place.path().join(path)).unwrap()
}

/// Tells whether a file of the session store contains `text`.
fn store_holds(place: &Place, text: &str) -> bool {
    let files = fs::read_dir(state(place, "")).unwrap().map(|file| file.unwrap().path());
    let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    files.filter(|path| path.is_file()).any(|path| has(fs::read(path).unwrap()))
}

#[test]
fn a_skill_that_an_agent_loaded_unseen_becomes_an_example_and_is_seen() {
    for agent in AGENTS {
        let place = user(false);
        say(&place, agent, "s", CALL);
        load(&place, agent, "s", "minutes");
        let wanted = format!("minutes not-in-view 1 {CALL}");
        assert_eq!(rows(&missed(&place, &[]).exits(0).json()), [wanted], "{agent}");

        let run = missed(&place, &["--write", "--yes"]).exits(0).json();
        assert_eq!(run["written"][0]["should"], json!([CALL]), "{agent}: {run}");
        assert_eq!(run["refused"], json!([]), "{agent}");
        let text = skill_text(&place, "minutes");
        assert!(text.contains(&format!("examples:\n  should:\n    - \"{CALL}\"\n")), "{text}");
        let shown = place.run(["disclose", CALL, "--json"]).exits(0).json();
        assert_eq!(shown["full"], json!(["minutes"]), "{agent}");
        let left = missed(&place, &["--write", "--yes"]).exits(0).json();
        assert_eq!((&left["settled"], &left["written"]), (&json!(1), &json!([])), "{agent}");
        assert_eq!(skill_text(&place, "minutes"), text, "{agent}: nothing is added twice");
        let check = place.run(["check", "--json"]).exits(0).json();
        let found = check["diagnostics"].as_array().unwrap();
        assert!(found.iter().all(|found| found["severity"] != "error"), "{agent}: {check}");
    }
}

#[test]
fn a_skill_in_full_in_whose_place_another_was_used_becomes_a_counterexample() {
    let place = user(false);
    let message = "ship it to the customers today";
    say(&place, "claude-code", "s", message);
    load(&place, "claude-code", "s", "minutes");
    say(&place, "claude-code", "t", "ship it now, all of it");
    // A file of the skill was read, so it was used.
    say(&place, "claude-code", "u", "ship it on paper");
    let jam = place.path().join("home/.repertoire/skills/printer/jam.md");
    let read = json!({
        "hook_event_name": "PostToolUse", "session_id": "u", "tool_name": "Read",
        "tool_input": {"file_path": jam},
    });
    hook(&place, "claude-code", &read);
    let found = missed(&place, &[]).exits(0).json();
    assert_eq!(
        rows(&found),
        [
            format!("minutes not-in-view 1 {message}"),
            format!("printer not-used 1 {message}"),
            "printer not-used 1 ship it now, all of it".to_owned(),
        ]
    );
    assert_eq!(found["messages"][1]["instead"], json!(["minutes"]));
    let page = place.run(["stats", "--missed"]).exits(0);
    for told in ["not used: ship it to", "no sign of use: ship it now", "used: `minutes`"] {
        assert!(page.stdout.contains(told), "{page:?}");
    }
    assert!(page.stderr.contains("3 messages routed wrongly, of 3 kept"), "{page:?}");

    let run = place.run(["stats", "--missed", "--write", "--yes"]).exits(0);
    assert!(run.stdout.contains(&format!("+     - \"{message}\"")), "{run:?}");
    assert!(run.stderr.contains("1 message left as it is"), "{run:?}");
    let text = skill_text(&place, "printer");
    assert!(text.contains("should_not") && !text.contains("all of it"), "{text}");
    // The trigger still decides, and `check` now says so.
    let check = place.run(["check", "--json"]).exits(1).json();
    assert!(check.to_string().contains("example-routed"), "{check}");
    missed(&place, &["--write", "--yes", "--all"]).exits(0);
    assert!(skill_text(&place, "printer").contains("all of it"));
}

#[test]
fn no_file_has_the_text_of_a_message_unless_the_user_asks_for_it() {
    let place = user(true);
    say(&place, "claude-code", "s", CALL);
    load(&place, "claude-code", "s", "minutes");
    say(&place, "claude-code", "s", "write minutes");
    assert!(store_holds(&place, "minutes"), "the session is recorded");
    assert!(!store_holds(&place, "the bank"));
    let run = missed(&place, &[]).exits(0);
    assert_eq!(run.json()["kept"], 0);
    assert!(run.stderr.contains("keep_messages = true"), "{run:?}");

    // A project cannot turn it on.
    place.write(".repertoire/config.toml", "[routing]\nkeep_messages = true\n");
    say(&place, "claude-code", "s", CALL);
    assert!(!store_holds(&place, "the bank"));
    let config = place.run(["check", "--json"]).exits(0).json();
    assert!(config.to_string().contains("refused-setting"), "{config}");

    // It can turn it off.
    let on = "[routing]\nkeep_messages = true\n";
    place.write("home/.repertoire/config.toml", on);
    place.write(".repertoire/config.toml", "[routing]\nkeep_messages = false\n");
    say(&place, "claude-code", "s", CALL);
    assert!(!store_holds(&place, "the bank"));
    fs::remove_file(place.path().join(".repertoire/config.toml")).unwrap();
    say(&place, "claude-code", "s", CALL);
    assert!(store_holds(&place, "the bank"));
    let key = format!("log in with AKIA{}", "QWERTZUIOP123456");
    say(&place, "claude-code", "s", &key);
    assert!(!store_holds(&place, "AKIA"), "a key is not kept");
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s", "reason": "clear"});
    hook(&place, "claude-code", &end);
    assert!(!store_holds(&place, "the bank"), "the text is gone with its session");
}

#[test]
fn commands_with_a_session_count_as_well() {
    let place = user(false);
    place.run(["disclose", CALL, "--session", "mine"]).exits(0);
    place.run(["use", "minutes", "--session", "mine"]).exits(0);
    assert_eq!(
        rows(&missed(&place, &[]).exits(0).json()),
        [format!("minutes not-in-view 1 {CALL}")]
    );
}

#[test]
fn what_is_not_the_users_to_change_is_refused_with_the_reason() {
    let place = user(false);
    let file = place.path().join("home/.repertoire/skills/minutes/SKILL.md");
    let load_both = |session: &str| {
        for message in [CALL, &"what the bank told us on the phone was long ".repeat(8)] {
            say(&place, "claude-code", session, message);
            load(&place, "claude-code", session, "minutes");
        }
    };
    load_both("s");
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions.clone()).unwrap();
    let run = missed(&place, &["--write", "--yes"]).exits(1).json();
    assert!(run["refused"][0]["reason"].as_str().unwrap().contains("is read-only"), "{run}");
    assert_eq!(run["written"], json!([]));
    #[expect(clippy::permissions_set_readonly_false, reason = "a file of this test")]
    permissions.set_readonly(false);
    fs::set_permissions(&file, permissions).unwrap();
    let run = missed(&place, &["--write", "--yes"]).exits(1).json();
    assert!(run["refused"][0]["reason"].as_str().unwrap().contains("is too long"), "{run}");
    assert_eq!(run["written"][0]["should"], json!([CALL]));

    // The same skills, fetched from elsewhere.
    let place = user(false);
    let elsewhere = place.path().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::rename(place.path().join("home/.repertoire/skills"), elsewhere.join("skills")).unwrap();
    place.run(["add", elsewhere.to_str().unwrap()]).exits(0);
    say(&place, "claude-code", "s", CALL);
    load(&place, "claude-code", "s", "minutes");
    let run = missed(&place, &["--write", "--yes"]).exits(1).json();
    assert!(run["refused"][0]["reason"].as_str().unwrap().contains("was fetched from"), "{run}");
    for wrong in [&["--write"][..], &["--missed", "--all"], &["--missed", "--yes"]] {
        place.run([&["stats"], wrong].concat()).exits(2);
    }
}

#[test]
fn a_query_to_the_mcp_server_stands_for_the_message_that_it_does_not_see() {
    let place = user(false);
    let call = |id: u8, tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    });
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    // The server answers the calls of one connection at the same time.
    let find = call(1, "find_skills", json!({"query": CALL}));
    let load = call(2, "use_skill", json!({"skill": "minutes"}));
    let serve = |place: &Place, session: &[&str]| {
        for call in [&find, &load] {
            let input = format!("{hello}\n{ready}\n{call}\n");
            place.run_with([&["mcp"], session].concat(), input.as_bytes()).exits(0);
        }
    };
    serve(&place, &["--session", "mine"]);
    assert_eq!(
        rows(&missed(&place, &[]).exits(0).json()),
        [format!("minutes not-in-view 1 {CALL}")]
    );
    // Without a name, the session ends with the connection.
    let place = user(false);
    serve(&place, &[]);
    assert_eq!(missed(&place, &[]).exits(0).json()["kept"], 0);
}
