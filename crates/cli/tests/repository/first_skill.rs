//! The first commands of the README and of the page on first steps: from an empty home directory to a skill of
//! one's own that fires in an agent.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../docs/getting-started.md");
const README: &str = include_str!("../../../../README.md");

/// The commands of the first block of shell commands of a page.
fn commands(page: &str) -> Vec<&str> {
    let (_, block) = page.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0.lines().collect()
}

/// Runs a line in a shell, as a user with nothing but this program.
fn shell(line: &str, home: &Path, input: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_repertoire")).parent().unwrap();
    let script = format!("printf %s \"$INPUT\" | ({line}\n)");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("INPUT", input);
    // Agents that happen to be on this machine are not found.
    command.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
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
    let commands = commands(PAGE);
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

#[cfg(unix)]
#[test]
fn the_first_screen_of_the_readme_ends_with_a_skill_of_the_users_own_that_fires() {
    const SCREEN: usize = 50;
    let home = tempfile::tempdir().unwrap();
    let home = home.path().canonicalize().unwrap();
    fs::create_dir(home.join(".claude")).unwrap();
    let commands = commands(README);
    let last = commands.last().unwrap();
    assert!(README.lines().position(|line| line == *last).unwrap() < SCREEN);
    let (install, rest) = commands.split_first().unwrap();
    assert_eq!(*install, "cargo install --path crates/cli");
    for line in rest {
        let ran = shell(line, &home, "");
        assert!(ran.status.success(), "{line}: {ran:?}");
        // A comment says what is printed first.
        if let Some((_, printed)) = line.split_once(" # ").filter(|_| line == last) {
            assert!(String::from_utf8_lossy(&ran.stdout).starts_with(printed), "{ran:?}");
        }
    }
    assert!(context(&home, "the release notes, please").contains("## Skill: release-notes"));
    assert!(!context(&home, "notes of the meeting").contains("## Skill"));
    assert!(shell("repertoire init --undo", &home, "").status.success());
    assert!(!home.join(".claude/settings.json").exists());
}
