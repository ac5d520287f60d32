//! The entries of settings that run our hook, in each form that an agent reads. Each row was observed with the real
//! agent.

use serde_json::{Value, json};

use crate::binary::{Place, Run};
use crate::set_ups::SKILL;

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
    let mut settings = json!({"hooks": {event: [element]}});
    if agent == "copilot" {
        settings["version"] = json!(1);
    }
    place.write(file, settings.to_string());
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

#[test]
fn an_entry_that_an_agent_does_not_run_is_told_with_its_field() {
    const NOT_LISTED: &str =
        "does not run the hook for `EVENT` in FILE, because the entry is not in a list `hooks`";
    const NO_TYPE: &str =
        "does not run the hook for `EVENT` in FILE, because the entry has no `type`";
    const ROWS: [(&str, &str, &str); 34] = [
        ("claude-code", r#"{"type": "command", "command": "OURS"}"#, NOT_LISTED),
        ("claude-code", r#"{"hooks": {"type": "command", "command": "OURS"}}"#, NOT_LISTED),
        ("claude-code", r#"{"type": "command", "command": "OURS", "hooks": []}"#, NOT_LISTED),
        ("claude-code", r#"{"hooks": [{"command": "OURS"}]}"#, NO_TYPE),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "timeout": "3"}]}"#,
            "`timeout` is `\"3\"`, and must be a number",
        ),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "timeout": 0}]}"#,
            "`timeout` is `0`, and must be a number",
        ),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "timeout": null}]}"#,
            "`timeout` is `null`, and must be",
        ),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "timeout": 0.001}]}"#,
            "gives no time to the hook for",
        ),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "shell": "zsh"}]}"#,
            "must be `bash` or `powershell`",
        ),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "args": "x"}]}"#,
            "`args` is `\"x\"`, and must be a list",
        ),
        ("claude-code", r#"{"hooks": [{OF_TYPE, "once": 1}]}"#, "`once` is `1`"),
        (
            "claude-code",
            r#"{"hooks": [{OF_TYPE, "async": true}]}"#,
            "does not wait for the hook for",
        ),
        ("claude-code", r#"{"hooks": [{OF_TYPE, "if": "Bash(git *)"}]}"#, "`if` is `Bash(git *)`"),
        ("claude-code", r#"{"matcher": 7, "hooks": [{OF_TYPE}]}"#, "`matcher` is `7`"),
        ("codex", r#"{"type": "command", "command": "OURS"}"#, NOT_LISTED),
        ("codex", r#"{"hooks": [{"command": "OURS"}]}"#, "ignores all of FILE"),
        (
            "codex",
            r#"{"hooks": [{OF_TYPE, "timeout": "3"}]}"#,
            "ignores all of FILE because of `invalid type: string \"3\"",
        ),
        ("codex", r#"{"hooks": [{OF_TYPE}, {"command": "date"}]}"#, "missing field 'type'"),
        ("codex", r#"{"hooks": [{OF_TYPE, "async": true}]}"#, "does not wait for"),
        ("gemini", r#"{"type": "command", "command": "OURS"}"#, NOT_LISTED),
        ("gemini", r#"{"hooks": [{"command": "OURS"}]}"#, NO_TYPE),
        ("gemini", r#"{"hooks": [{OF_TYPE, "timeout": 1}]}"#, "`timeout` is `1`, in milliseconds"),
        (
            "gemini",
            r#"{"hooks": [{OF_TYPE, "timeout": "3"}]}"#,
            "`timeout` is `\"3\"`, in milliseconds",
        ),
        ("gemini", r#"{"hooks": [{OF_TYPE, "timeout": 3000000000}]}"#, "gives no time to the hook"),
        ("qwen", r#"{"type": "command", "command": "OURS"}"#, NOT_LISTED),
        ("qwen", r#"{"hooks": [{"command": "OURS"}]}"#, NO_TYPE),
        ("qwen", r#"{"hooks": [{OF_TYPE, "timeout": 0.001}]}"#, "`timeout` is `0.001`, in seconds"),
        ("qwen", r#"{"hooks": [{OF_TYPE, "async": true}]}"#, "does not wait for"),
        (
            "copilot",
            r#"{"command": "OURS", "timeoutSec": "3"}"#,
            "`timeoutSec` is `\"3\"`, and must be",
        ),
        (
            "copilot",
            r#"{"command": "OURS", "timeoutSec": 0.001}"#,
            "`timeoutSec` is `0.001`, in seconds",
        ),
        ("copilot", r#"{"command": "OURS", "bash": 7}"#, "`bash` is `7`, and must be a text"),
        ("copilot", r#"{"command": "OURS", "env": {"A": 1}}"#, "`env` is `{\"A\":1}`"),
        (
            "copilot",
            r#"{"hooks": [{"command": "OURS", "cwd": 7}]}"#,
            "`cwd` is `7`, and must be a text",
        ),
        ("copilot", r#"{"command": "OURS", "hooks": []}"#, NOT_LISTED),
    ];
    for (agent, element, wanted) in ROWS {
        let element = element.replace("OF_TYPE", r#""type": "command", "command": "OURS""#);
        let place = place_with(agent, &element.replace("OURS", &command(agent)));
        told(&place, agent, wanted);
    }
}

#[test]
fn an_entry_that_an_agent_runs_is_not_found_fault_with() {
    const ROWS: [(&str, &str); 12] = [
        ("claude-code", r#"{"hooks": [{OF_TYPE, "timeout": 3, "asyncRewake": true, "if": ""}]}"#),
        (
            "claude-code",
            r#"{"matcher": "x", "hooks": [{OF_TYPE}, {"type": "command"}, {"type": "zzz"}]}"#,
        ),
        ("claude-code", r#"{"hooks": [{OF_TYPE, "continueOnBlock": 7}]}"#),
        (
            "gemini",
            r#"{"matcher": 7, "hooks": [{OF_TYPE, "timeout": "3000", "async": true, "env": 7}]}"#,
        ),
        ("gemini", r#"{"matcher": "x", "hooks": [{OF_TYPE}]}"#),
        ("qwen", r#"{"matcher": 7, "hooks": [{OF_TYPE, "timeout": "3"}]}"#),
        ("qwen", r#"{"hooks": [{OF_TYPE, "timeout": -1, "async": "true"}]}"#),
        ("copilot", r#"{"matcher": 7, "command": "OURS", "async": true, "disabled": true}"#),
        ("copilot", r#"{"matcher": 7, "hooks": [{"command": "OURS", "timeout": 3}]}"#),
        ("copilot", r#"{"url": "http://x", "command": "OURS", "cwd": ""}"#),
        ("copilot", r#"{"command": "true", "hooks": [{"command": "OURS"}]}"#),
        (
            "codex",
            r#"{"matcher": null, "hooks": [{OF_TYPE, "timeout": null}, {"type": "prompt"}]}"#,
        ),
    ];
    for (agent, element) in ROWS {
        let element = element.replace("OF_TYPE", r#""type": "command", "command": "OURS""#);
        let place = place_with(agent, &element.replace("OURS", &command(agent)));
        let told = doctor(&place).stdout;
        assert!(!told.contains("because"), "{agent} {element}: {told}");
        let is_there = told.contains(&format!("{agent} (user): outdated"))
            || told.contains(&format!("{agent} (by hand): yes"))
            || told.contains("until you trust them");
        assert!(is_there, "{agent} {element}: {told}");
    }
}

#[test]
fn a_hook_that_the_user_turned_off_is_told() {
    let command = command("gemini");
    for (field, disabled) in
        [(r#""name": "skills","#, "skills"), (r#""name": "","#, &*command), ("", &*command)]
    {
        let element =
            format!(r#"{{"hooks": [{{{field} "type": "command", "command": "{command}"}}]}}"#);
        let place = place_with("gemini", &element);
        let off = json!({"hooksConfig": {"disabled": [disabled]}});
        place.write(".gemini/settings.json", off.to_string());
        told(&place, "gemini", &format!("`hooksConfig.disabled: [\"{disabled}\"]` in "));
        // The command of a hook with a name is not its name.
        place.write(".gemini/settings.json", r#"{"hooksConfig": {"disabled": ["hook gemini"]}}"#);
        assert!(!doctor(&place).stdout.contains("because"));
    }
}

fn command(agent: &str) -> String {
    format!("{} hook {agent}", env!("CARGO_BIN_EXE_repertoire"))
}

/// Checks that `doctor` and `why` tell `wanted`, in which `FILE` and `EVENT` are those of the agent.
fn told(place: &Place, agent: &str, wanted: &str) {
    let (file, event) = settings(agent);
    let file = place.path().join(file);
    let wanted = wanted.replace("EVENT", event).replace("FILE", file.to_str().unwrap());
    let doctor = doctor(place).exits(1).stdout;
    assert!(doctor.contains(&wanted), "{agent} {wanted}: {doctor}");
    place.write(".repertoire/skills/verse/SKILL.md", SKILL);
    let why = place.run(["why", "verse", "a limerick, please", "--agent", agent]).exits(1);
    assert!(why.stdout.contains(&wanted), "{agent} {wanted}: {} {}", why.stdout, why.stderr);
}
