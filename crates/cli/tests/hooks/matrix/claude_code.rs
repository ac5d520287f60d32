//! The rows of Claude Code.

use super::Adds::{Body, Line, Nothing};
use super::{CLAUDE, SKILL, SUB, TOOL, check, set_up};

#[test]
fn claude_code() {
    const PLUGIN: (&str, &str) = (
        "home/.claude/plugins/installed_plugins.json",
        r#"{"version": 2, "plugins": {"poetry@market": [{"installPath": "HERE/poetry"}]}}"#,
    );
    const IN_PLUGIN: (&str, &str) = ("poetry/skills/verse/SKILL.md", SKILL);
    check(
        "claude-code",
        &[
            set_up(&[CLAUDE], "", TOOL),
            set_up(&[CLAUDE], SUB, TOOL),
            set_up(&[("p/.repertoire/skills/verse/SKILL.md", SKILL)], SUB, Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", SKILL)], SUB, Body),
            set_up(&[("p/packages/web/.claude/skills/verse/SKILL.md", SKILL)], SUB, TOOL),
            set_up(&[("p/packages/web/.claude/skills/verse/SKILL.md", SKILL)], "", Nothing),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], SUB, TOOL),
            set_up(
                &[("p/.claude/skills/rhymes/SKILL.md", SKILL)],
                "",
                Line("call the `Skill` tool with `rhymes`"),
            ),
            // Links: of the user to anywhere, and of the project to another source.
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    ("home/.claude/skills/verse", "-> HERE/src/verse"),
                ],
                "",
                TOOL,
            ),
            set_up(
                &[
                    ("p/.agents/skills/verse/SKILL.md", SKILL),
                    ("p/.claude/skills/rhymes", "-> ../../.agents/skills/verse"),
                ],
                SUB,
                Line("call the `Skill` tool with `rhymes`"),
            ),
            set_up(
                &[("src/verse/SKILL.md", SKILL), ("p/.claude/skills/verse", "-> HERE/src/verse")],
                "",
                Nothing,
            ),
            // Plugins.
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    (
                        "home/.claude/settings.json",
                        r#"{"enabledPlugins": {"poetry@market": true}}"#,
                    ),
                ],
                SUB,
                Line("call the `Skill` tool with `poetry:verse`"),
            ),
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    (
                        "home/.claude/settings.json",
                        r#"{"enabledPlugins": {"poetry@market": true}}"#,
                    ),
                    ("p/.claude/settings.json", r#"{"enabledPlugins": {"poetry@market": false}}"#),
                ],
                "",
                Nothing,
            ),
            // Switches, in each of the settings. Those of the root are not read in a subdirectory.
            set_up(
                &[
                    CLAUDE,
                    ("home/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#),
                ],
                SUB,
                Nothing,
            ),
            set_up(
                &[CLAUDE, ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#)],
                "",
                Nothing,
            ),
            set_up(
                &[CLAUDE, ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#)],
                SUB,
                TOOL,
            ),
            set_up(
                &[
                    CLAUDE,
                    (
                        "p/.claude/settings.local.json",
                        r#"{/* mine */ "skillOverrides": {"verse": "user-invocable-only"},}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    CLAUDE,
                    ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "off"}}"#),
                    ("p/.claude/settings.local.json", r#"{"skillOverrides": {"verse": "on"}}"#),
                ],
                "",
                TOOL,
            ),
            set_up(
                &[
                    CLAUDE,
                    ("p/.claude/settings.json", r#"{"skillOverrides": {"verse": "name-only"}}"#),
                ],
                "",
                TOOL,
            ),
            set_up(
                &[
                    CLAUDE,
                    ("p/.claude/settings.json", r#"{"permissions": {"deny": ["Skill(verse)"]}}"#),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    CLAUDE,
                    ("p/.claude/settings.json", r#"{"permissions": {"deny": ["Skill(ver:*)"]}}"#),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    CLAUDE,
                    ("p/.claude/settings.json", r#"{"permissions": {"deny": ["Skill(ver*)"]}}"#),
                ],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, ("p/.claude/settings.json", r#"{"permissions": {"deny": ["Skill"]}}"#)],
                "",
                Nothing,
            ),
        ],
    );
}
