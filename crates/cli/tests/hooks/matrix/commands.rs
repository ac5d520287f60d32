//! The commands that users write for Claude Code.

use serde_json::json;

use super::{SKILL, Started, run, says, write};
use crate::binary::Place;

#[test]
fn claude_code_answers_its_commands_and_lists_them() {
    const COMMAND: &str = "p/.claude/commands/poems/verse.md";
    let place = Place::new();
    write(&place, "p/.git/HEAD", "");
    write(&place, "p/.repertoire/skills/verse/SKILL.md", SKILL);
    let start = Started { dir: place.path().join("p"), variables: Vec::new() };
    // Without a command of this name, the slash is one for the skill.
    assert!(says(&place, "claude-code", &start, "/verse now").contains("Rhyme it."));
    write(&place, "p/.claude/commands/verse.md", "---\ndescription: Recites.\n---\nRecite.\n");
    write(&place, COMMAND, "Recite $ARGUMENTS.\n");
    for (message, is_added) in [
        ("/verse now", false),
        ("/poems:verse a limerick", false),
        ("/other a limerick", true),
        ("a limerick, please", true),
    ] {
        let context = says(&place, "claude-code", &start, message);
        assert_eq!(context.contains("Rhyme it."), is_added, "{message}: {context}");
    }
    // Another agent knows nothing of these commands.
    assert!(says(&place, "codex", &start, "/verse now").contains("Rhyme it."));

    let list = ["list", "--agent", "claude-code", "--bundled=off"];
    let listed = run(&place, &start, &[&list[..], &["--json"]].concat(), "").json();
    let names: Vec<&str> = listed["commands"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|command| command["native"] == true)
        .filter_map(|command| command["name"].as_str())
        .collect();
    assert_eq!(names, ["poems:verse", "verse"], "{listed:#}");
    let table = run(&place, &start, &list, "").stdout;
    assert!(table.contains("/poems:verse") && table.contains("Recites."), "{table}");
    let listed = run(&place, &start, &["list", "--agent", "codex", "--json"], "").json();
    assert!(listed["commands"].is_null(), "{listed:#}");
}

#[test]
fn the_manifest_of_a_plugin_names_commands() {
    for (manifest, wanted) in [
        (r#"{"name": "kit"}"#, &["kit:usual"][..]),
        (r#"{"name": "kit", "commands": "./more"}"#, &["kit:one"]),
        (
            r#"{"name": "kit", "commands": ["./extra", "./single.md"]}"#,
            &["kit:deep:two", "kit:single"],
        ),
        (r#"{"name": "kit", "commands": ["./commands", "./more"]}"#, &["kit:one", "kit:usual"]),
        (r#"{"name": "kit", "commands": "../more"}"#, &[]),
        (
            r#"{"name": "kit", "commands": {
                "about": {"source": "./single.md", "description": "Tells."},
                "said": {"content": "Say it.", "description": "Tells."}}}"#,
            &["kit:about", "kit:said"],
        ),
    ] {
        let place = Place::new();
        write(&place, "p/.git/HEAD", "");
        for file in ["commands/usual", "more/one", "extra/deep/two", "single"] {
            write(&place, &format!("kit/{file}.md"), "---\ndescription: Is told.\n---\nTell.\n");
        }
        write(&place, "kit/.claude-plugin/plugin.json", manifest);
        write(&place, "home/.claude/settings.json", r#"{"enabledPlugins": {"kit@m": true}}"#);
        let here = place.path().join("kit");
        let installed =
            json!({"version": 2, "plugins": {"kit@m": [{"installPath": here}]}}).to_string();
        write(&place, "home/.claude/plugins/installed_plugins.json", &installed);
        let start = Started { dir: place.path().join("p"), variables: Vec::new() };
        let list = ["list", "--agent", "claude-code", "--bundled=off", "--json"];
        let listed = run(&place, &start, &list, "").json();
        let commands = listed["commands"].as_array().cloned().unwrap_or_default();
        let names: Vec<&str> =
            commands.iter().filter_map(|command| command["name"].as_str()).collect();
        assert_eq!(names, wanted, "{manifest}");
        let is_told = |name: &str| {
            let of_name = commands.iter().find(|command| command["name"] == name);
            of_name.is_some_and(|command| command["description"] == "Tells.")
        };
        assert_eq!(is_told("kit:about"), manifest.contains("about"), "{listed:#}");
    }
}
