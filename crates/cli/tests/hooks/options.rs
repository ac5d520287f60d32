//! Options of an agent's command line, which the hook reads from the process above it.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::binary::{Place, finish};

const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";

/// Runs `args` below a process that has the name of an agent, and its options.
fn below(place: &Place, agent: &str, options: &str, args: &[&str], input: &str) -> String {
    let program = place.command(args);
    let mut command = Command::new("bash");
    let script = format!(
        "exec -a {agent} bash -c '\"$PROGRAM\" \"${{@:$#-{}}}\"; true' {options} \"$@\"",
        args.len() - 1
    );
    command.args(["-c", &script, "bash"]).args(args);
    command.env("PROGRAM", program.get_program()).current_dir(place.path());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    finish(command, input.as_bytes()).exits(0).stdout
}

#[test]
fn a_hook_knows_the_options_with_which_its_agent_was_started() {
    let tool = "call the `Skill` tool with `verse`";
    let (claude, codex, copilot) = (".claude/skills", ".agents/skills", ".github/skills");
    for (name, skills, agent, options, wanted) in [
        ("claude-code", claude, "claude", "-p hi", Some(tool)),
        ("claude-code", claude, "claude", "--disable-slash-commands", None),
        ("claude-code", claude, "claude", "--disallowedTools Skill", None),
        ("claude-code", "other/.claude/skills", "claude", "--add-dir other", Some(tool)),
        ("claude-code", "other/.claude/skills", "claude", "-p hi", None),
        // Only Claude Code and Copilot CLI look for skills in directories that an option adds.
        ("copilot", "other/.github/skills", "copilot", "--add-dir other", Some("with `verse`")),
        ("copilot", "other/.agents/skills", "copilot", "--add-dir other", None),
        ("codex", "other/.agents/skills", "codex", "--add-dir other", None),
        ("gemini", "other/.gemini/skills", "gemini", "--include-directories other", None),
        ("qwen", "other/.qwen/skills", "qwen", "--include-directories other", None),
        // The options of another program are not those of the agent.
        ("claude-code", claude, "codex", "--disable-slash-commands", Some(tool)),
        ("codex", codex, "codex", "-c skills.include_instructions=false", None),
        ("codex", codex, "codex", "exec", Some("use this skill: read ")),
        ("copilot", copilot, "copilot", "--excluded-tools skill", None),
        ("copilot", copilot, "copilot", "-p hi", Some("call the `skill` tool with `verse`")),
    ] {
        let place = Place::new();
        fs::create_dir_all(place.path().join(".git")).unwrap();
        place.write(&format!("{skills}/verse/SKILL.md"), SKILL);
        let event = if name == "gemini" { "BeforeAgent" } else { "UserPromptSubmit" };
        let input = json!({
            "hook_event_name": event, "session_id": "s", "cwd": place.path(),
            "prompt": "a limerick, please",
        });
        let hook = ["hook", name, "--deadline", "60"];
        let answer = below(&place, agent, options, &hook, &input.to_string());
        let case = format!("{agent} {options}: {answer}");
        match wanted {
            Some(words) => assert!(answer.contains(words), "{case}"),
            None => assert!(!answer.contains("verse"), "{case}"),
        }
    }
}

#[test]
fn the_doctor_knows_the_options_that_take_hooks_or_the_server_away() {
    const SERVER: &str = "does not show its tools to the model because of `";
    const HOOKS: &str = "the command line turns off all hooks (`";
    for (name, agent, options, told) in [
        ("claude-code", "claude", "-p hi", None),
        ("claude-code", "claude", "--bare", Some((HOOKS, "--bare"))),
        ("claude-code", "claude", "--safe-mode", Some((HOOKS, "--safe-mode"))),
        ("claude-code", "claude", "--restricted", Some((HOOKS, "--restricted"))),
        (
            "claude-code",
            "claude",
            "--managed-settings '{\"disableAllHooks\": true}'",
            Some((HOOKS, "disableAllHooks")),
        ),
        ("claude-code", "claude", "--strict-mcp-config", Some((SERVER, "--strict-mcp-config"))),
        (
            "claude-code",
            "claude",
            "--setting-sources project",
            Some(("ignores all of ", "`--setting-sources project` in the command line")),
        ),
        ("codex", "codex", "exec --disable hooks", Some((HOOKS, "features.hooks = false"))),
        ("codex", "codex", "exec --ignore-user-config", Some((SERVER, "--ignore-user-config"))),
        ("gemini", "gemini", "--allowed-mcp-server-names x", Some((SERVER, "--allowed-mcp"))),
        ("qwen", "qwen", "--allowed-mcp-server-names x", Some((SERVER, "--allowed-mcp"))),
        ("qwen", "qwen", "--safe-mode", Some((HOOKS, "--safe-mode"))),
        ("copilot", "copilot", "--disable-mcp-server repertoire", Some((SERVER, "--disable-mcp"))),
        ("copilot", "copilot", "--disable-builtin-mcps", None),
        ("opencode", "opencode", "run --pure", Some((HOOKS, "--pure"))),
        ("droid", "droid", "exec --only-tools Read", Some((SERVER, "--only-tools Read"))),
    ] {
        let place = Place::new();
        fs::create_dir_all(place.path().join(".git")).unwrap();
        for what in ["hook", "mcp"] {
            place.run([what, "install", name]).exits(0);
        }
        let doctor = below(&place, agent, options, &["doctor", "--bundled=off"], "");
        let about = |line: &&str| {
            line.contains(HOOKS) || line.contains(SERVER) || line.contains("ignores all")
        };
        let found: Vec<&str> = doctor.lines().filter(about).collect();
        match told {
            None => assert_eq!(found, Vec::<&str>::new(), "{agent} {options}"),
            Some((what, option)) => assert!(
                found.iter().any(|line| line.contains(what) && line.contains(option)),
                "{agent} {options}: {doctor}"
            ),
        }
    }
}
