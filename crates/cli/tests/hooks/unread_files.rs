//! Files of which an agent reads nothing because of what is in them.

use std::fs;

use serde_json::Value;

use crate::binary::Place;

const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
const MESSAGE: &str = "a limerick, please";

/// A change of a file of hooks.
enum Change {
    /// A text before all else.
    Before(&'static str),
    /// A key at the top with its value, in JSON.
    Key(&'static str, &'static str),
}
use Change::{Before, Key};

impl Change {
    fn apply(&self, text: &str) -> String {
        match self {
            Before(before) => format!("{before}{text}"),
            Key(key, value) => {
                let mut file: Value = serde_json::from_str(text).unwrap();
                file[*key] = serde_json::from_str(value).unwrap();
                file.to_string()
            }
        }
    }
}

#[test]
fn a_file_of_hooks_that_the_agent_cannot_read_is_told_and_not_written_to() {
    const CODEX: &str = "home/.codex/hooks.json";
    const COPILOT: &str = "home/.copilot/hooks/repertoire.json";
    const CLAUDE: &str = "home/.claude/settings.json";
    for (agent, options, file, change, told) in [
        ("codex", &[][..], CODEX, Before("// x\n"), Some("expected value at line 1")),
        ("codex", &[], CODEX, Before("\u{feff}"), Some("expected value at line 1")),
        ("codex", &[], CODEX, Key("$schema", "\"x\""), Some("unknown field '$schema'")),
        ("codex", &[], CODEX, Key("version", "1"), Some("unknown field 'version'")),
        ("codex", &[], CODEX, Key("description", "\"x\""), None),
        ("codex", &["--project"], ".codex/hooks.json", Key("version", "1"), Some("unknown field")),
        ("copilot", &[], COPILOT, Before("// x\n"), Some("expected value at line 1")),
        ("copilot", &[], COPILOT, Key("version", "2"), Some("`version: 2`")),
        ("copilot", &[], COPILOT, Key("$schema", "\"x\""), None),
        (
            "copilot",
            &["--project"],
            ".github/hooks/repertoire.json",
            Key("version", "2"),
            Some("`version: 2`"),
        ),
        ("claude-code", &[], CLAUDE, Before("// x\n"), Some("expected value at line 1")),
        ("claude-code", &[], CLAUDE, Key("cleanupPeriodDays", "0"), Some("`cleanupPeriodDays: 0`")),
        ("claude-code", &[], CLAUDE, Key("cleanupPeriodDays", "1"), None),
    ] {
        let place = Place::new();
        place.write(".git/HEAD", "");
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        let install = [&["hook", "install", agent], options].concat();
        place.run(&install).exits(0);
        let path = place.path().join(file);
        let text = change.apply(&fs::read_to_string(&path).unwrap());
        fs::write(&path, &text).unwrap();
        let why = place.run(["why", "verse", MESSAGE, "--agent", agent]);
        let doctor = place.run(["doctor", "--bundled=off"]);
        let again = place.run(&install);
        let case = format!("{agent} {file} {text}: {why:?} {doctor:?} {again:?}");
        let is_told = |text: &str| {
            let name = file.rsplit('/').next().unwrap();
            told.is_some_and(|told| {
                text.contains("ignores all of ") && text.contains(name) && text.contains(told)
            })
        };
        let all = [&why.stdout, &doctor.stdout, &again.stderr].map(|text| is_told(text));
        assert_eq!(all, [told.is_some(); 3], "{case}");
        if told.is_some() {
            assert_eq!((why.code, doctor.code), (1, 1), "{case}");
            assert!(again.code == 0 && fs::read_to_string(&path).unwrap() == text, "{case}");
        }
    }
}
