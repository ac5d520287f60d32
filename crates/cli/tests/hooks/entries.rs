//! The entries of settings that run our hook, in each form that an agent reads. Each row was observed with the real
//! agent.

use serde_json::{Value, json};

use crate::binary::{Place, Run};

/// A file in which each agent reads hooks that people wrote by hand, and its event of a message.
fn settings(agent: &str) -> (&'static str, &'static str) {
    match agent {
        "claude-code" => ("home/.claude/settings.json", "UserPromptSubmit"),
        "codex" => ("home/.codex/hooks.json", "UserPromptSubmit"),
        "gemini" => ("home/.gemini/settings.json", "BeforeAgent"),
        "qwen" => ("home/.qwen/settings.json", "UserPromptSubmit"),
        "copilot" => ("home/.copilot/hooks/mine.json", "userPromptSubmitted"),
        other => panic!("no settings of {other}"),
    }
}

fn place_with(agent: &str, element: &str) -> Place {
    let place = Place::new();
    let element: Value = serde_json::from_str(element).unwrap();
    let (file, event) = settings(agent);
    place.write(file, json!({"version": 1, "hooks": {event: [element]}}).to_string());
    place
}

fn doctor(place: &Place) -> Run {
    place.run(["doctor", "--bundled=off"])
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_is_found_in_each_form_that_an_agent_reads() {
    const ROWS: [(&str, &str, bool); 21] = [
        (
            "claude-code",
            r#"{"hooks": [{"type": "command", "command": "repertoire hook claude-code"}]}"#,
            true,
        ),
        (
            "claude-code",
            r#"{"hooks": [{"type": "command", "command": "repertoire", "args": ["hook", "claude-code"]}]}"#,
            true,
        ),
        // It looks for a program of this name.
        (
            "claude-code",
            r#"{"hooks": [{"type": "command", "command": "repertoire hook claude-code", "args": []}]}"#,
            false,
        ),
        (
            "claude-code",
            r#"{"hooks": [{"type": "prompt", "command": "repertoire hook claude-code"}]}"#,
            false,
        ),
        ("claude-code", r#"{"hooks": [{"bash": "repertoire hook claude-code"}]}"#, false),
        ("gemini", r#"{"hooks": [{"type": "plugin", "command": "repertoire hook gemini"}]}"#, true),
        (
            "gemini",
            r#"{"hooks": [{"type": "runtime", "command": "repertoire hook gemini"}]}"#,
            false,
        ),
        ("qwen", r#"{"hooks": [{"type": "http", "command": "repertoire hook qwen"}]}"#, false),
        (
            "qwen",
            r#"{"hooks": [{"type": "command", "command": "repertoire", "args": ["hook", "qwen"]}]}"#,
            false,
        ),
        ("copilot", r#"{"command": "repertoire hook copilot"}"#, true),
        ("copilot", r#"{"bash": "repertoire hook copilot"}"#, true),
        (
            "copilot",
            r#"{"bash": "repertoire hook copilot", "powershell": "x", "command": "true"}"#,
            true,
        ),
        ("copilot", r#"{"linux": "repertoire hook copilot", "bash": "true"}"#, true),
        ("copilot", r#"{"exec": "repertoire", "args": ["hook", "copilot"]}"#, true),
        ("copilot", r#"{"hooks": [{"bash": "repertoire hook copilot"}]}"#, true),
        ("copilot", r#"{"bash": "true", "command": "repertoire hook copilot"}"#, false),
        ("copilot", r#"{"linux": "true", "bash": "repertoire hook copilot"}"#, false),
        ("copilot", r#"{"powershell": "repertoire hook copilot"}"#, false),
        ("copilot", r#"{"osx": "repertoire hook copilot"}"#, false),
        ("copilot", r#"{"command": "repertoire", "args": ["hook", "copilot"]}"#, false),
        ("copilot", r#"{"type": "prompt", "command": "repertoire hook copilot"}"#, false),
    ];
    for (agent, element, is_found) in ROWS {
        let element =
            element.replace("\"repertoire", &format!("\"{}", env!("CARGO_BIN_EXE_repertoire")));
        let place = place_with(agent, &element);
        let told = doctor(&place).stdout;
        let is_told = told.lines().any(|line| line.contains(agent) && !line.contains(": no"));
        assert_eq!(is_told, is_found, "{agent} {element}: {told}");
        let why = place.run(["why", "x", "y", "--agent", agent]);
        assert_eq!(!why.stderr.contains("has no hook here"), is_found, "{agent} {element}");
    }
}

#[test]
fn copilot_gets_no_second_hook() {
    const TWO: &str = "its model gets the answer of one hook only: instructions would be lost";
    let command = format!("{} hook copilot", env!("CARGO_BIN_EXE_repertoire"));
    for entry in [json!({"bash": command}), json!({"command": command})] {
        let place = place_with("copilot", &entry.to_string());
        let told = place.run(["hook", "install", "copilot"]).stderr;
        let file = place.path().join(settings("copilot").0);
        assert!(told.contains(&format!("hooks in {} already", file.display())), "{told}");
        assert!(told.contains(TWO), "{told}");
        assert!(!place.path().join("home/.copilot/hooks/repertoire.json").exists(), "{told}");
        // Where both are, as after an earlier version, they are told.
        std::fs::rename(&file, place.path().join("mine")).unwrap();
        place.run(["hook", "install", "copilot"]).exits(0);
        std::fs::rename(place.path().join("mine"), &file).unwrap();
        let wanted = "answers each message twice, of which its model gets only one, so that instructions are lost";
        assert!(doctor(&place).stdout.contains(wanted));
        let again = place.run(["hook", "install", "copilot"]).exits(0).stderr;
        assert!(again.contains(wanted), "{again}");
    }
    let place = Place::new();
    place.run(["hook", "install", "copilot"]).exits(0);
    let told = place.run(["hook", "install", "copilot", "--project"]).stderr;
    assert!(told.contains("hooks for the user already") && told.contains(TWO), "{told}");
}
