//! The rows of Claude Code.

use super::Adds::{Body, Line, Nothing};
use super::{Adds, CLAUDE, SKILL, SUB, TOOL, UNNAMED, WORKTREE, check, set_up};

#[test]
fn claude_code() {
    const PLUGIN: (&str, &str) = (
        "home/.claude/plugins/installed_plugins.json",
        r#"{"version": 2, "plugins": {"poetry@market": [{"installPath": "HERE/poetry"}]}}"#,
    );
    const IN_PLUGIN: (&str, &str) = ("poetry/skills/verse/SKILL.md", SKILL);
    const ENABLED: (&str, &str) =
        ("home/.claude/settings.json", r#"{"enabledPlugins": {"poetry@market": true}}"#);
    const POETRY: Adds = Line("call the `Skill` tool with `poetry:verse`");
    const LOCAL_OFF: (&str, &str) =
        ("p/.claude/settings.local.json", r#"{"skillOverrides": {"verse": "off"}}"#);
    const PACK: (&str, &str) =
        ("home/.claude/skills/pack/.claude-plugin/plugin.json", r#"{"name": "poetry"}"#);
    const IN_PACK: (&str, &str) = ("home/.claude/skills/pack/skills/verse/SKILL.md", SKILL);
    const MARKET: (&str, &str) = (
        "home/.claude/plugins/known_marketplaces.json",
        r#"{"market": {"installLocation": "HERE/poetry"}}"#,
    );
    const CHOSEN: (&str, &str) = (
        "poetry/.claude-plugin/marketplace.json",
        r#"{"plugins": [{"name": "poetry", "source": "./", "skills": ["./skills/verse"]}]}"#,
    );
    const OTHER_CHOSEN: (&str, &str) = (
        "poetry/.claude-plugin/marketplace.json",
        r#"{"plugins": [{"name": "poetry", "source": "./", "skills": ["./skills/prose"]}]}"#,
    );
    const SETTINGS: &str = "home/.claude/settings.json";
    const SIMPLE: &str = "CLAUDE_CODE_SIMPLE";
    const UNNAMED_OTHER: &str = "---\ndescription: Writes prose.\n---\nWrite.\n";
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
                &[PLUGIN, IN_PLUGIN, ENABLED],
                SUB,
                Line("call the `Skill` tool with `poetry:verse`"),
            ),
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    ENABLED,
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
                        r#"{"skillOverrides": {"verse": "user-invocable-only"}}"#,
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
            // `settings.local.json` of the root counts in a subdirectory, and wins over the one there.
            set_up(&[CLAUDE, LOCAL_OFF], SUB, Nothing),
            set_up(
                &[
                    CLAUDE,
                    LOCAL_OFF,
                    (
                        "p/packages/web/.claude/settings.local.json",
                        r#"{"skillOverrides": {"verse": "on"}}"#,
                    ),
                ],
                SUB,
                Nothing,
            ),
            // In a worktree, that of the main checkout does, and so do its skills if there are no others.
            set_up(&[WORKTREE[0], WORKTREE[1], WORKTREE[2], CLAUDE], "../wt", TOOL),
            set_up(
                &[WORKTREE[0], WORKTREE[1], WORKTREE[2], CLAUDE, LOCAL_OFF],
                "../wt/sub",
                Nothing,
            ),
            set_up(
                &[
                    WORKTREE[0],
                    WORKTREE[1],
                    WORKTREE[2],
                    CLAUDE,
                    ("wt/.claude/skills/other/SKILL.md", UNNAMED_OTHER),
                ],
                "../wt",
                Nothing,
            ),
            // A `.git` file that no repository knows leads nowhere.
            set_up(&[WORKTREE[0], CLAUDE], "../wt", Nothing),
            set_up(&[("p/.claude/skills/verse/skill.md", SKILL)], "", Body),
            set_up(&[("p/.claude/skills/verse/SKILL.md", UNNAMED)], "", TOOL),
            // A plugin among the skills of the user, and its switch.
            set_up(&[PACK, IN_PACK], SUB, POETRY),
            set_up(
                &[
                    PACK,
                    IN_PACK,
                    (
                        "home/.claude/settings.json",
                        r#"{"enabledPlugins": {"poetry@skills-dir": false}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            // The marketplace chooses among the skills of a plugin that is the whole of it.
            set_up(&[PLUGIN, ENABLED, IN_PLUGIN, MARKET, CHOSEN], "", POETRY),
            set_up(&[PLUGIN, ENABLED, IN_PLUGIN, MARKET, OTHER_CHOSEN], "", Nothing),
            // A plugin that is one skill, or names single ones.
            set_up(&[PLUGIN, ENABLED, ("poetry/SKILL.md", SKILL)], "", POETRY),
            set_up(
                &[
                    PLUGIN,
                    ENABLED,
                    ("poetry/one/SKILL.md", SKILL),
                    ("poetry/.claude-plugin/plugin.json", r#"{"name": "p", "skills": ["./one"]}"#),
                ],
                "",
                Line("call the `Skill` tool with `p:one`"),
            ),
            // Of two installations, that of the project counts there.
            set_up(
                &[
                    ENABLED,
                    ("new/skills/verse/SKILL.md", SKILL),
                    (
                        PLUGIN.0,
                        r#"{"version": 2, "plugins": {"poetry@market": [
                            {"scope": "user", "installPath": "HERE/old"},
                            {"scope": "project", "projectPath": "HERE/p", "installPath": "HERE/new"}
                        ]}}"#,
                    ),
                ],
                "",
                POETRY,
            ),
            set_up(&[IN_PLUGIN], "", POETRY).with(&[("CLAUDE_CODE_PLUGIN_DIRS", "HERE/poetry")]),
            // Without a repository, all directories above count, also outside of the home directory.
            set_up(&[("x/.claude/skills/verse/SKILL.md", SKILL)], "../x/y/z", TOOL),
            set_up(&[("p/sub/cfg/skills/verse/SKILL.md", SKILL)], "sub", TOOL)
                .with(&[("CLAUDE_CONFIG_DIR", "cfg")]),
            // Variables, also from the settings of the user. Those of a project come too late.
            set_up(&[CLAUDE], "", Nothing).with(&[(SIMPLE, "yes")]),
            set_up(&[CLAUDE, (SETTINGS, r#"{"env": {"CLAUDE_CODE_SIMPLE": "1"}}"#)], "", Nothing),
            set_up(&[CLAUDE, (SETTINGS, r#"{"env": {"CLAUDE_CODE_SIMPLE": "0"}}"#)], "", TOOL)
                .with(&[(SIMPLE, "1")]),
            set_up(
                &[CLAUDE, ("p/.claude/settings.json", r#"{"env": {"CLAUDE_CODE_SIMPLE": "1"}}"#)],
                "",
                TOOL,
            ),
            set_up(
                &[IN_PLUGIN, (SETTINGS, r#"{"env": {"CLAUDE_CODE_PLUGIN_DIRS": "HERE/poetry"}}"#)],
                "",
                POETRY,
            ),
            // It takes the last value of a key that stands twice.
            set_up(
                &[
                    CLAUDE,
                    (
                        SETTINGS,
                        r#"{"skillOverrides": {"verse": "off"}, "skillOverrides": {"prose": "off"}}"#,
                    ),
                ],
                "",
                TOOL,
            ),
            // It ignores all of a file that has a comment or a comma too many.
            set_up(
                &[CLAUDE, (SETTINGS, r#"{/* mine */ "skillOverrides": {"verse": "off"}}"#)],
                "",
                TOOL,
            ),
            set_up(&[CLAUDE, (SETTINGS, r#"{"skillOverrides": {"verse": "off"},}"#)], "", TOOL),
            set_up(
                &[
                    CLAUDE,
                    (
                        "p/.claude/settings.local.json",
                        "{\n// mine\n\"skillOverrides\": {\"verse\": \"off\"}}",
                    ),
                ],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, (SETTINGS, "\u{feff}{\"skillOverrides\": {\"verse\": \"off\"}}")],
                "",
                Nothing,
            ),
            // It ignores all of a file in which one value has a wrong type.
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"verbose": "yes", "skillOverrides": {"verse": "off"}}"#)],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"tui": "big", "skillOverrides": {"verse": "off"}}"#)],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"model": 7, "skillOverrides": {"verse": "off"}}"#)],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"skillOverrides": {"verse": "off", "x": false}}"#)],
                "",
                TOOL,
            ),
            // Names and rules are compared as they are written.
            set_up(&[CLAUDE, (SETTINGS, r#"{"skillOverrides": {"Verse": "off"}}"#)], "", TOOL),
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"permissions": {"deny": ["Skill( verse )"]}}"#)],
                "",
                TOOL,
            ),
            set_up(
                &[CLAUDE, (SETTINGS, r#"{"permissions": {"deny": ["skill(verse)"]}}"#)],
                "",
                TOOL,
            ),
            // A plugin's skill: no override hides it, and a rule about its plain name denies it.
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    (
                        SETTINGS,
                        r#"{"enabledPlugins": {"poetry@market": true},
                            "skillOverrides": {"poetry:verse": "off", "verse": "off"}}"#,
                    ),
                ],
                "",
                POETRY,
            ),
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    (
                        SETTINGS,
                        r#"{"enabledPlugins": {"poetry@market": true},
                            "permissions": {"deny": ["Skill(verse)"]}}"#,
                    ),
                ],
                "",
                Nothing,
            ),
            // Only `true` enables a plugin, and its marketplace has to have it.
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    (SETTINGS, r#"{"enabledPlugins": {"poetry@market": ["^1.0.0"]}}"#),
                ],
                "",
                Nothing,
            ),
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    ENABLED,
                    MARKET,
                    ("poetry/.claude-plugin/marketplace.json", r#"{"plugins": []}"#),
                ],
                "",
                Nothing,
            ),
            // A plugin that is gone from the cache is installed again from its marketplace.
            set_up(
                &[
                    (PLUGIN.0, r#"{"plugins": {"poetry@market": [{"installPath": "HERE/gone"}]}}"#),
                    ENABLED,
                    MARKET,
                    (
                        "poetry/.claude-plugin/marketplace.json",
                        r#"{"plugins": [{"name": "poetry", "source": "./pl"}]}"#,
                    ),
                    ("poetry/pl/skills/verse/SKILL.md", SKILL),
                ],
                "",
                POETRY,
            ),
        ],
    );
}
