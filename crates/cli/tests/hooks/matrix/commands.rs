//! The commands that users write for Claude Code.

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
