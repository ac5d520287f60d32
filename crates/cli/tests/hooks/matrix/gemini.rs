//! The rows of Gemini CLI.

use super::{
    Adds, Body, LATE, Line, MARKED, Nothing, REPAIRED, SKILL, SUB, UNDESCRIBED, UNNAMED, check,
    set_up,
};

#[test]
fn gemini() {
    const LINE: Adds = Line("call `activate_skill` with `verse`");
    const SHARED: (&str, &str) = ("p/.agents/skills/verse/SKILL.md", SKILL);
    const USER: &str = "home/.gemini/settings.json";
    const TRUST: &str = "home/.gemini/trustedFolders.json";
    const EXTENSION: (&str, &str) =
        ("home/.gemini/extensions/poetry/gemini-extension.json", r#"{"name": "poetry"}"#);
    const IN_EXTENSION: (&str, &str) =
        ("home/.gemini/extensions/poetry/skills/verse/SKILL.md", SKILL);
    check(
        "gemini",
        &[
            set_up(&[SHARED], "", LINE),
            // It looks only in the directory that it is started in.
            set_up(&[SHARED], SUB, Body),
            set_up(&[("p/packages/web/.gemini/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("home/.gemini/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    ("home/.gemini/skills/verse", "-> HERE/src/verse"),
                ],
                SUB,
                LINE,
            ),
            set_up(&[EXTENSION, IN_EXTENSION], "", Line("`activate_skill`")),
            set_up(&[IN_EXTENSION], "", Nothing),
            set_up(
                &[
                    EXTENSION,
                    IN_EXTENSION,
                    (
                        "home/.gemini/extensions/extension-enablement.json",
                        r#"{"poetry": {"overrides": ["!HERE/p/*"]}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            // The manifest has the name of the extension, which may be linked.
            set_up(
                &[
                    ("home/.gemini/extensions/dir/gemini-extension.json", r#"{"name": "poetry"}"#),
                    ("home/.gemini/extensions/dir/skills/verse/SKILL.md", SKILL),
                    (
                        "home/.gemini/extensions/extension-enablement.json",
                        r#"{"poetry": {"overrides": ["!HERE/p/*"]}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    ("src/poetry/gemini-extension.json", r#"{"name": "poetry"}"#),
                    ("src/poetry/skills/verse/SKILL.md", SKILL),
                    (
                        "home/.gemini/extensions/poetry/.gemini-extension-install.json",
                        r#"{"source": "HERE/src/poetry", "type": "link"}"#,
                    ),
                ],
                SUB,
                Line("`activate_skill`"),
            ),
            set_up(&[SHARED, (USER, r#"{"skills": {"disabled": ["Verse"]}}"#)], "", Nothing),
            set_up(&[SHARED, (USER, r#"{"skills": {"disabled": ["ver*"]}}"#)], "", LINE),
            set_up(&[SHARED, (USER, r#"{"skills": {"enabled": false}}"#)], "", Nothing),
            set_up(
                &[SHARED, ("p/.gemini/settings.json", r#"{"skills": {"disabled": ["verse"]}}"#)],
                "",
                Nothing,
            ),
            set_up(&[SHARED, (TRUST, r#"{"HERE/p": "TRUST_FOLDER"}"#)], "", LINE),
            set_up(&[SHARED, (TRUST, r#"{"HERE/p": "DO_NOT_TRUST"}"#)], "", Nothing),
            // Skills that it does not list.
            set_up(&[("p/.gemini/skills/verse/skill.md", SKILL)], "", Body),
            set_up(&[("p/.gemini/skills/verse/SKILL.md", UNNAMED)], "", Body),
            set_up(&[("p/.gemini/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.gemini/skills/verse/SKILL.md", MARKED)], "", Body),
            set_up(&[("p/.gemini/skills/verse/SKILL.md", UNDESCRIBED)], "", Body),
            set_up(&[("p/.gemini/skills/verse/SKILL.md", REPAIRED)], "", LINE),
            // Without its tool, it loads none.
            set_up(&[SHARED, (USER, r#"{"tools": {"exclude": ["activate_skill"]}}"#)], "", Nothing),
            set_up(
                &[SHARED, (USER, r#"{"tools": {"exclude": ["ActivateSkillTool"]}}"#)],
                "",
                Nothing,
            ),
            set_up(&[SHARED, (USER, r#"{"tools": {"exclude": ["*"]}}"#)], "", Nothing),
            set_up(&[SHARED, (USER, r#"{"tools": {"exclude": ["activate_*"]}}"#)], "", LINE),
            set_up(&[SHARED, (USER, r#"{"tools": {"core": ["read_file"]}}"#)], "", Nothing),
            set_up(&[SHARED, (USER, r#"{"tools": {"core": []}}"#)], "", Nothing),
            set_up(&[SHARED, (USER, r#"{"tools": {"core": ["ActivateSkillTool"]}}"#)], "", Nothing),
            set_up(
                &[SHARED, (USER, r#"{"tools": {"core": ["read_file", "activate_skill"]}}"#)],
                "",
                LINE,
            ),
        ],
    );
}
