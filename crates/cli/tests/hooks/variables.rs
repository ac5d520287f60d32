//! Environment variables that start an agent without hooks, skills or the settings of a project.

use std::fs;

use serde_json::json;

use crate::binary::{Place, finish};

const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
const MESSAGE: &str = "a limerick, please";

/// Sets `variable`, in the form `NAME=value`, in the settings file of the agent.
fn set_in_settings(place: &Place, file: &str, variable: &str) {
    let path = place.path().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (name, value) = variable.split_once('=').unwrap();
    settings["env"] = json!({name: value});
    place.write(file, settings.to_string());
}

#[test]
fn a_variable_that_starts_an_agent_without_hooks_is_told() {
    const CLAUDE: &str = "home/.claude/settings.json";
    const QWEN: &str = "home/.qwen/settings.json";
    const OFF: &str = "turns off all hooks (`";
    // The agent, the variable, the file that sets it in place of the environment, and what is told.
    for (agent, variable, file, told) in [
        ("claude-code", "CLAUDE_CODE_RESTRICTED=1", None, Some(OFF)),
        ("claude-code", "CLAUDE_CODE_RESTRICTED=On", None, Some(OFF)),
        ("claude-code", "CLAUDE_CODE_RESTRICTED=0", None, None),
        ("claude-code", "CLAUDE_CODE_RESTRICTED=1", Some(CLAUDE), None),
        ("claude-code", "CLAUDE_CODE_SIMPLE=1", Some(CLAUDE), Some(OFF)),
        ("claude-code", "CLAUDE_CODE_USE_COWORK_PLUGINS=1", None, Some("ignores all of ")),
        ("claude-code", "CLAUDE_CODE_USE_COWORK_PLUGINS=1", Some(CLAUDE), Some("ignores all of ")),
        ("claude-code", "CLAUDE_CODE_DISABLE_ATTACHMENTS=1", None, None),
        ("qwen", "QWEN_CODE_SIMPLE=yes", None, Some(OFF)),
        ("qwen", "QWEN_CODE_SAFE_MODE=1", None, Some(OFF)),
        ("qwen", "QWEN_CODE_SAFE_MODE=no", None, None),
        ("qwen", "QWEN_CODE_SAFE_MODE=1", Some(QWEN), Some(OFF)),
        ("qwen", "QWEN_CODE_SIMPLE=on", Some("home/.qwen/.env"), Some(OFF)),
        ("qwen", "QWEN_CODE_SAFE_MODE=1", Some(".env"), Some(OFF)),
    ] {
        let place = Place::new();
        place.write(".git/HEAD", "");
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        place.run(["hook", "install", agent]).exits(0);
        match file {
            Some(file) if file.contains(".env") => place.write(file, variable),
            Some(file) => set_in_settings(&place, file, variable),
            None => {}
        }
        let run = |args: &[&str]| {
            let mut command = place.command(args);
            command.envs(variable.split_once('=').filter(|_| file.is_none()));
            finish(command, b"")
        };
        let case = format!("{agent} {variable} {file:?}");
        let code = i32::from(told.is_some());
        let doctor = run(&["doctor", "--bundled=off"]);
        let why = run(&["why", "verse", MESSAGE, "--agent", agent]);
        assert_eq!((doctor.code, why.code), (code, code), "{case}: {doctor:?} {why:?}");
        let (name, _) = variable.split_once('=').unwrap();
        let is_told =
            |text: &str| told.is_none_or(|told| text.contains(told) && text.contains(name));
        assert!(is_told(&doctor.stdout) && is_told(&why.stdout), "{case}: {doctor:?} {why:?}");
    }
}

#[test]
fn a_list_that_a_variable_takes_away_is_made_up_for() {
    let place = Place::new();
    place.write(".git/HEAD", "");
    place.write(".claude/skills/verse/SKILL.md", SKILL);
    place.run(["hook", "install", "claude-code"]).exits(0);
    let begin = json!({
        "hook_event_name": "SessionStart", "source": "startup", "session_id": "s",
        "cwd": place.path(),
    });
    for (value, is_added) in [("0", false), ("1", true)] {
        let mut command = place.command(["hook", "claude-code", "--deadline", "60"]);
        command.env("CLAUDE_CODE_DISABLE_ATTACHMENTS", value);
        let answer = finish(command, begin.to_string().as_bytes()).exits(0).stdout;
        assert_eq!(answer.contains("Writes verse."), is_added, "{value}: {answer}");
    }
}
