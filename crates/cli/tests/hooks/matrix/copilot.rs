//! The rows of Copilot CLI.

use super::{Adds, Body, CLAUDE, LATE, Line, MARKED, Nothing, REPAIRED, SKILL, SUB, check, set_up};

#[test]
fn copilot() {
    const LINE: Adds = Line("call the `skill` tool with `verse`");
    const GITHUB: (&str, &str) = ("p/.github/skills/verse/SKILL.md", SKILL);
    const USER: &str = "home/.copilot/settings.json";
    const POETRY: Adds = Line("call the `skill` tool with");
    const COPIED: (&str, &str) =
        ("home/.copilot/installed-plugins/market/poetry/skills/verse/SKILL.md", SKILL);
    const INSTALLED: (&str, &str) = (
        "home/.copilot/config.json",
        r#"{"installedPlugins": [{"name": "poetry", "marketplace": "market", "enabled": true}]}"#,
    );
    check(
        "copilot",
        &[
            set_up(&[GITHUB], SUB, LINE),
            set_up(&[CLAUDE], SUB, LINE),
            set_up(&[("home/.copilot/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.agents/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "", Body),
            set_up(&[GITHUB, (USER, r#"{"disabledSkills": ["verse"]}"#)], SUB, Nothing),
            // The settings of a repository turn no skill off.
            set_up(
                &[GITHUB, ("p/.github/copilot/settings.json", r#"{"disabledSkills": ["verse"]}"#)],
                SUB,
                LINE,
            ),
            set_up(
                &[("src/verse/SKILL.md", SKILL), (USER, r#"{"skillDirectories": ["HERE/src"]}"#)],
                "",
                LINE,
            ),
            set_up(
                &[
                    ("src/verse/SKILL.md", SKILL),
                    (USER, r#"{"skillDirectories": ["HERE/src/verse"]}"#),
                ],
                "",
                LINE,
            ),
            set_up(&[("p/.github/skills/group/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("p/.github/skills/verse/skill.md", SKILL)], "", Body),
            // It repairs no front matter.
            set_up(&[("p/.github/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.github/skills/verse/SKILL.md", MARKED)], "", LINE),
            set_up(&[("p/.github/skills/verse/SKILL.md", REPAIRED)], "", Body),
            set_up(
                &[GITHUB, ("home/.copilot/config.json", r#"{"disabledSkills": ["verse"]}"#)],
                "",
                LINE,
            ),
            // Names are compared as they are written.
            set_up(&[GITHUB, (USER, r#"{"disabledSkills": ["Verse"]}"#)], "", LINE),
            set_up(&[GITHUB, (USER, r#"{"disabled_skills": ["verse"]}"#)], "", Nothing),
            // Without a repository, all directories above count, up to the home directory, which has no skills
            // for Claude Code.
            set_up(&[("x/.github/skills/verse/SKILL.md", SKILL)], "../x/y", LINE),
            set_up(&[("home/.github/skills/verse/SKILL.md", SKILL)], "../home/x/y", LINE),
            set_up(&[("home/.github/skills/verse/SKILL.md", SKILL)], "../home", LINE),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "../home/x", Body),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "../home", Body),
            set_up(&[(".github/skills/verse/SKILL.md", SKILL)], "../home/x", Nothing),
            // Plugins: copied, without a marketplace, in the place of their marketplace, and not enabled.
            set_up(&[COPIED, INSTALLED], "", POETRY),
            set_up(
                &[COPIED, INSTALLED, (USER, r#"{"enabledPlugins": {"poetry@market": false}}"#)],
                "",
                Nothing,
            ),
            set_up(
                &[COPIED, (USER, r#"{"enabledPlugins": {"poetry@market": true}}"#)],
                "",
                Nothing,
            ),
            set_up(
                &[
                    ("home/.copilot/installed-plugins/_direct/poetry/skills/verse/SKILL.md", SKILL),
                    (
                        "home/.copilot/config.json",
                        "// This file is managed automatically.\n{\"installedPlugins\": [{\"name\": \
                         \"poetry\", \"marketplace\": \"\", \"enabled\": true, \"cache_path\": \
                         \"HERE/home/.copilot/installed-plugins/_direct/poetry\"}]}",
                    ),
                ],
                "",
                POETRY,
            ),
            set_up(
                &[
                    (
                        USER,
                        r#"{"enabledPlugins": {"poetry@market": true}, "extraKnownMarketplaces":
                            {"market": {"source": {"source": "directory", "path": "HERE/market"}}}}"#,
                    ),
                    (
                        "market/.github/plugin/marketplace.json",
                        r#"{"plugins": [{"name": "poetry", "source": "./pl"}]}"#,
                    ),
                    ("market/pl/plugin.json", r#"{"name": "poetry", "skills": "more/"}"#),
                    ("market/pl/more/verse/SKILL.md", SKILL),
                ],
                "",
                POETRY,
            ),
            set_up(&[COPIED], "", Nothing),
        ],
    );
}
