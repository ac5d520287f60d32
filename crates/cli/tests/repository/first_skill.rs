//! The first commands of the page on first steps: from an empty home directory to a skill of one's own that
//! fires in an agent.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../docs/getting-started.md");

/// The commands of the first block of the page.
fn commands() -> Vec<&'static str> {
    let (_, block) = PAGE.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0.lines().collect()
}

/// Runs a line in a shell, as a user with nothing but this program.
fn shell(line: &str, home: &Path, input: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_repertoire")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!("printf %s \"$INPUT\" | ({line})");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("INPUT", input);
    command.env("PATH", format!("{}:{path}", program.display()));
    command.output().unwrap()
}

/// The context that the hook in the settings of Claude Code adds to `message`.
fn context(home: &Path, message: &str) -> String {
    let settings = fs::read(home.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_slice(&settings).unwrap();
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"];
    let call = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "1", "cwd": home, "prompt": message,
    });
    // A debug build on a busy machine needs more time than a release.
    let line = format!("{} --deadline 60", hook.as_str().unwrap());
    let answer = shell(&line, home, &call.to_string());
    assert!(answer.status.success(), "{answer:?}");
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[cfg(unix)]
#[test]
fn six_commands_lead_to_a_skill_that_fires() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    let commands = commands();
    assert!(commands.len() <= 6, "{commands:?}");
    let (install, rest) = commands.split_first().unwrap();
    let (agent, rest) = rest.split_last().unwrap();
    assert_eq!(*install, "cargo install --path crates/cli");
    for line in rest {
        let ran = shell(line, &home, "");
        assert!(ran.status.success(), "{line}: {ran:?}");
        if line.contains(" match ") {
            assert!(
                String::from_utf8_lossy(&ran.stdout).starts_with("1. release-notes"),
                "{ran:?}"
            );
        }
    }
    let message = agent.strip_prefix("claude \"").and_then(|rest| rest.strip_suffix('"')).unwrap();
    let context_of_match = context(&home, message);
    assert!(context_of_match.contains("## Skill: release-notes"), "{context_of_match}");
    assert!(!context(&home, "which day is it?").contains("## Skill"));
}
