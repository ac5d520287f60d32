//! Qwen Code.

use super::{
    Adds, Body, CLAUDE, LATE, Line, MARKED, Nothing, REPAIRED, SKILL, SUB, UNDESCRIBED, UNNAMED,
    check, set_up,
};

#[test]
fn qwen() {
    const LINE: Adds = Line("call the `skill` tool with `verse`");
    const OWN: (&str, &str) = ("p/.qwen/skills/verse/SKILL.md", SKILL);
    const USER: &str = "home/.qwen/settings.json";
    const TRUST: (&str, &str) = ("home/.qwen/trustedFolders.json", r#"{"HERE/p": "DO_NOT_TRUST"}"#);
    const OFF_HERE: (&str, &str) =
        ("p/.qwen/settings.json", r#"{"skills": {"disabled": ["verse"]}}"#);
    const RULES: (&str, &str) = (USER, r#"{"security": {"folderTrust": {"enabled": true}}}"#);
    check(
        "qwen",
        &[
            set_up(&[OWN], "", LINE),
            // It looks in its starting directory only.
            set_up(&[OWN], SUB, Nothing),
            set_up(&[("p/.agents/skills/verse/SKILL.md", SKILL)], SUB, Body),
            set_up(&[CLAUDE], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.qwen/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("home/.agents/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            // The manifest has the name of an extension.
            set_up(
                &[
                    ("home/.qwen/extensions/dir/qwen-extension.json", r#"{"name": "poetry"}"#),
                    ("home/.qwen/extensions/dir/skills/verse/SKILL.md", SKILL),
                ],
                "",
                Line("call the `skill` tool with `poetry:verse`"),
            ),
            set_up(&[("home/.qwen/extensions/poetry/skills/verse/SKILL.md", SKILL)], "", Nothing),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    (USER, r#"{"skills": {"directories": ["HERE/src"]}}"#),
                ],
                SUB,
                LINE,
            ),
            set_up(
                &[("src/verse/SKILL.md", SKILL), ("p/.qwen/skills/verse", "-> HERE/src/verse")],
                "",
                Nothing,
            ),
            set_up(&[OWN, (USER, r#"{"skills": {"disabled": ["Verse"]}}"#)], "", Nothing),
            set_up(&[OWN, (USER, r#"{"skills": {"disabled": ["*"]}}"#)], "", LINE),
            set_up(&[OWN, OFF_HERE], "", Nothing),
            set_up(&[OWN, (USER, r#"{"skills": {"defaultDisabled": ["verse"]}}"#)], "", Nothing),
            set_up(
                &[
                    OWN,
                    (USER, r#"{"skills": {"defaultDisabled": ["verse"], "enabled": ["Verse"]}}"#),
                ],
                "",
                LINE,
            ),
            set_up(&[OWN, (USER, r#"{"skills": {"disabledLevels": ["project"]}}"#)], "", Nothing),
            set_up(&[OWN, (USER, r#"{"skills": {"disabledLevels": ["user"]}}"#)], "", LINE),
            // Rules about folders count once they are turned on; the settings of the project do then not.
            set_up(&[OWN, OFF_HERE, TRUST], "", Nothing),
            set_up(&[OWN, OFF_HERE, TRUST, RULES], "", LINE),
            set_up(&[OWN, (USER, r#"{"permissions": {"deny": ["Skill(verse)"]}}"#)], "", Nothing),
            set_up(&[OWN, (USER, r#"{"permissions": {"deny": ["skill"]}}"#)], "", Nothing),
            set_up(&[OWN, (USER, r#"{"tools": {"exclude": ["skill"]}}"#)], "", Nothing),
            // Skills that it does not list.
            set_up(&[("p/.agents/skills/verse/skill.md", SKILL)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNNAMED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", MARKED)], "", LINE),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNDESCRIBED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", REPAIRED)], "", LINE),
        ],
    );
}
