//! The rows of `OpenCode`.

use super::{
    Adds, Body, CLAUDE, LATE, Line, MARKED, Nothing, REPAIRED, SKILL, SUB, UNDESCRIBED, UNNAMED,
    check, set_up,
};

#[test]
fn opencode() {
    const LINE: Adds = Line("call the `skill` tool with `verse`");
    const OWN: (&str, &str) = ("p/.opencode/skills/verse/SKILL.md", SKILL);
    const NO_VERSE: &str =
        "---\ndescription: Builds.\npermission:\n  skill:\n    verse: deny\n---\nBuild.\n";
    check(
        "opencode",
        &[
            set_up(&[OWN], SUB, LINE),
            set_up(&[CLAUDE], SUB, LINE),
            set_up(&[("home/.config/opencode/skill/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(
                &[OWN, ("p/opencode.json", r#"{"permission": {"skill": {"verse": "deny"}}}"#)],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.jsonc",
                        r#"{"permission": {"skill": {"*": "deny", "v*": "allow"}}} // x"#,
                    ),
                ],
                "",
                LINE,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.json",
                        r#"{"permission": {"skill": {"v*": "allow", "ver*": "deny"}}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    ("home/.config/opencode/opencode.json", r#"{"permission": {"skill": "deny"}}"#),
                ],
                SUB,
                Nothing,
            ),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    ("p/opencode.json", r#"{"skills": {"paths": ["../src"]}}"#),
                ],
                "",
                LINE,
            ),
            // Variables.
            set_up(&[CLAUDE], "", Body).with(&[("OPENCODE_DISABLE_CLAUDE_CODE", "1")]),
            set_up(&[OWN], SUB, Nothing).with(&[("OPENCODE_DISABLE_PROJECT_CONFIG", "1")]),
            set_up(&[CLAUDE], SUB, LINE).with(&[("OPENCODE_DISABLE_PROJECT_CONFIG", "true")]),
            set_up(&[OWN], "", Nothing).with(&[(
                "OPENCODE_CONFIG_CONTENT",
                r#"{"permission": {"skill": {"verse": "deny"}}}"#,
            )]),
            set_up(&[OWN], "", Nothing)
                .with(&[("OPENCODE_PERMISSION", r#"{"skill": {"verse": "deny"}}"#)]),
            // Rules about all tools; the last that matches decides.
            set_up(&[OWN, ("p/opencode.json", r#"{"permission": "deny"}"#)], SUB, Nothing),
            set_up(&[OWN, ("p/opencode.json", r#"{"permission": {"*": "deny"}}"#)], "", Nothing),
            set_up(
                &[OWN, ("p/opencode.json", r#"{"permission": {"skill": "allow", "*": "deny"}}"#)],
                "",
                Nothing,
            ),
            set_up(
                &[OWN, ("p/opencode.json", r#"{"permission": {"*": "deny", "skill": "allow"}}"#)],
                "",
                LINE,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "home/.config/opencode/opencode.json",
                        r#"{"permission": {"skill": {"*": "deny"}}}"#,
                    ),
                    ("p/opencode.json", r#"{"permission": {"skill": {"verse": "allow"}}}"#),
                ],
                "",
                LINE,
            ),
            // Patterns of tools.
            set_up(&[OWN, ("p/opencode.json", r#"{"permission": {"sk*": "deny"}}"#)], "", Nothing),
            set_up(&[OWN, ("p/opencode.json", r#"{"tools": {"*": false}}"#)], "", Nothing),
            set_up(
                &[OWN, ("p/opencode.json", r#"{"tools": {"*": false, "skill": true}}"#)],
                "",
                LINE,
            ),
            // Rules of the agent that is in use.
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.json",
                        r#"{"mode": {"build": {"permission": {"skill": {"verse": "deny"}}}}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.json",
                        r#"{"default_agent": "plan", "agent": {"plan": {"tools": {"skill": false}}}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    OWN,
                    (
                        "p/opencode.json",
                        r#"{"default_agent": "plan", "agent": {"build": {"tools": {"skill": false}}}}"#,
                    ),
                ],
                "",
                LINE,
            ),
            // The file of an agent has rules, too.
            set_up(&[OWN, ("p/.opencode/agent/build.md", NO_VERSE)], "", Nothing),
            set_up(&[OWN, ("home/.config/opencode/agents/build.md", NO_VERSE)], "", Nothing),
            set_up(&[OWN, ("p/.opencode/agent/plan.md", NO_VERSE)], "", LINE),
            // Without a repository, all directories above count, with their settings.
            set_up(&[("x/.opencode/skills/verse/SKILL.md", SKILL)], "../x/y", LINE),
            set_up(
                &[
                    ("x/.agents/skills/verse/SKILL.md", SKILL),
                    ("x/opencode.json", r#"{"permission": {"skill": "deny"}}"#),
                ],
                "../x/y",
                Nothing,
            ),
            // Skills that it does not list.
            set_up(&[("p/.opencode/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.opencode/skills/verse/SKILL.md", MARKED)], "", LINE),
            set_up(&[("p/.opencode/skills/verse/SKILL.md", UNNAMED)], "", Body),
            set_up(&[("p/.opencode/skills/verse/SKILL.md", UNDESCRIBED)], "", Body),
            set_up(&[("p/.opencode/skills/verse/SKILL.md", REPAIRED)], "", LINE),
        ],
    );
}
