//! The commands that Claude Code lists like skills, as 2.1.332 was seen to list them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use repertoire_agents::{HookAgent, Start};

const COMMAND: &str = "---\ndescription: Commits.\n---\nCommit $ARGUMENTS.\n";
const SKILL: &str = "---\nname: commit\ndescription: Commits.\n---\nCommit.\n";
const SETTINGS: &str = "p/.claude/settings.json";
const PROJECT: &str = "p/.claude/commands/commit.md";

/// Returns the commands with `files` for a start in `p/sub`, each as `NAME: DESCRIPTION`, with `(off)` if the model
/// cannot call it.
fn commands(agent: HookAgent, files: &[(&str, &str)], options: &[&str]) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let at = |path: &str| place.path().join(path);
    for dir in ["p/.git", "p/sub"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    for (path, text) in files {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text.replace("HERE", place.path().to_str().unwrap())).unwrap();
    }
    let in_sub = files.iter().any(|(path, _)| path.starts_with("p/sub"));
    let start = Start {
        home: Some(at("home")),
        project: at("p"),
        dir: at(if in_sub { "p/sub" } else { "p" }),
        system: at("system"),
        options: options.iter().map(|word| (*word).to_owned()).collect(),
        ..Start::default()
    };
    let state = agent.state(&start);
    let shown = agent.commands(&state).into_iter().map(|command| {
        let off = if command.off.is_some() { " (off)" } else { "" };
        format!("{}: {}{off}", command.name, command.description)
    });
    shown.collect()
}

#[test]
fn files_of_commands_have_names_and_descriptions() {
    for (files, wanted) in [
        (vec![(PROJECT, COMMAND)], vec!["commit: Commits."]),
        (vec![("home/.claude/commands/commit.md", COMMAND)], vec!["commit: Commits."]),
        (vec![("p/.claude/commands/git/commit.md", COMMAND)], vec!["git:commit: Commits."]),
        (vec![("p/.claude/commands/a/b/c.md", COMMAND)], vec!["a:b:c: Commits."]),
        (vec![("p/.claude/commands/commit/SKILL.md", COMMAND)], vec!["commit: Commits."]),
        (vec![("p/.claude/commands/.hidden.md", COMMAND)], vec![".hidden: Commits."]),
        (vec![("p/.claude/commands/x.md", "# Title\n\nText.\n")], vec!["x: Title"]),
        (vec![("p/.claude/commands/x.md", "")], vec!["x: Custom command"]),
        (vec![("p/.claude/commands/x.MD", COMMAND), ("p/.claude/commands/x.txt", "x")], vec![]),
        (
            vec![("p/sub/.claude/commands/x.md", COMMAND), (PROJECT, COMMAND)],
            vec!["commit: Commits.", "x: Commits."],
        ),
        (vec![(".claude/commands/x.md", COMMAND)], vec![]),
        // That of the user wins, and a skill wins over a command.
        (
            vec![(PROJECT, COMMAND), ("home/.claude/commands/commit.md", "Mine.\n")],
            vec!["commit: Mine."],
        ),
        (vec![(PROJECT, COMMAND), ("p/.claude/skills/commit/SKILL.md", SKILL)], vec![]),
        (vec![("p/.agents/commands/x.md", COMMAND)], vec![]),
    ] {
        assert_eq!(commands(HookAgent::ClaudeCode, &files, &[]), wanted, "{files:?}");
        assert!(commands(HookAgent::Codex, &files, &[]).is_empty(), "{files:?}");
    }
}

#[test]
fn commands_of_plugins_and_added_directories_are_listed() {
    let kit = [
        (
            "home/.claude/plugins/installed_plugins.json",
            r#"{"version": 2, "plugins": {"kit@mk": [{"installPath": "HERE/kit"}]}}"#,
        ),
        ("home/.claude/settings.json", r#"{"enabledPlugins": {"kit@mk": true}}"#),
        ("kit/commands/git/commit.md", COMMAND),
    ];
    let found = commands(HookAgent::ClaudeCode, &kit, &[]);
    assert_eq!(found, ["kit:git:commit: Commits."]);
    let added = [("other/.claude/commands/commit.md", COMMAND)];
    assert_eq!(
        commands(HookAgent::ClaudeCode, &added, &["--add-dir", "../other"]),
        ["commit: Commits."]
    );
    assert!(commands(HookAgent::ClaudeCode, &added, &[]).is_empty());
}

#[test]
fn settings_take_commands_away_from_the_model() {
    const DEEP: &str = "p/.claude/commands/git/commit.md";
    let hidden = "---\ndescription: Commits.\ndisable-model-invocation: true\n---\nCommit.\n";
    for (files, options, is_off) in [
        (
            vec![(PROJECT, COMMAND), (SETTINGS, r#"{"skillOverrides": {"commit": "off"}}"#)],
            "",
            true,
        ),
        (vec![(DEEP, COMMAND), (SETTINGS, r#"{"skillOverrides": {"commit": "off"}}"#)], "", false),
        (
            vec![(PROJECT, COMMAND), (SETTINGS, r#"{"skillOverrides": {"commit": "name-only"}}"#)],
            "",
            false,
        ),
        (
            vec![(PROJECT, COMMAND), (SETTINGS, r#"{"permissions": {"deny": ["Skill(commit)"]}}"#)],
            "",
            true,
        ),
        (
            vec![(DEEP, COMMAND), (SETTINGS, r#"{"permissions": {"deny": ["Skill(commit)"]}}"#)],
            "",
            false,
        ),
        (
            vec![(DEEP, COMMAND), (SETTINGS, r#"{"permissions": {"deny": ["Skill(git:*)"]}}"#)],
            "",
            true,
        ),
        (vec![(PROJECT, COMMAND), (SETTINGS, r#"{"permissions": {"deny": ["Skill"]}}"#)], "", true),
        (vec![(PROJECT, hidden)], "", true),
        (vec![(PROJECT, COMMAND)], "--disable-slash-commands", true),
    ] {
        let options: Vec<&str> = options.split_whitespace().collect();
        let found = commands(HookAgent::ClaudeCode, &files, &options);
        assert_eq!(found.len(), 1, "{files:?}");
        assert_eq!(found[0].ends_with("(off)"), is_off, "{files:?} {options:?}: {found:?}");
    }
    let of_project =
        commands(HookAgent::ClaudeCode, &[(PROJECT, COMMAND)], &["--setting-sources", "user"]);
    assert!(of_project.is_empty(), "{of_project:?}");
}
