//! Droid.

use super::{
    Adds, Body, CLAUDE, LATE, Line, MARKED, Nothing, REPAIRED, SKILL, SUB, UNDESCRIBED, UNNAMED,
    check, set_up,
};

#[test]
fn droid() {
    const LINE: Adds = Line("call the `Skill` tool with `verse`");
    const OWN: (&str, &str) = ("p/.factory/skills/verse/SKILL.md", SKILL);
    const UPPER: &str =
        "---\nname: Verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
    const DISABLED: &str = "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n\
                            enabled: false\n---\nRhyme it.\n";
    const UNSURE: &str = "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n\
                          enabled: \"no\"\n---\nRhyme it.\n";
    const PLUGIN: (&str, &str) = (
        "home/.factory/plugins/installed_plugins/poetry-market-user-1.json",
        r#"{"pluginId": "poetry@market", "entry": {"installPath": "HERE/poetry"}}"#,
    );
    const IN_PLUGIN: (&str, &str) = ("poetry/skills/verse/SKILL.md", SKILL);
    const ENABLED: (&str, &str) =
        ("home/.factory/settings.json", r#"{"enabledPlugins": {"poetry@market": true}}"#);
    const OFF: &str = r#"{"disabledSkills": ["verse"]}"#;
    check(
        "droid",
        &[
            set_up(&[OWN], "", LINE),
            set_up(&[OWN], SUB, LINE),
            set_up(&[("p/packages/web/.factory/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("p/.factory/skills/group/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("p/.agents/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("p/.agent/skills/verse/SKILL.md", SKILL)], "", LINE),
            set_up(&[("home/.factory/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("home/.agents/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[("home/.agent/skills/verse/SKILL.md", SKILL)], SUB, LINE),
            set_up(&[CLAUDE], "", Body),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "", Body),
            set_up(&[("own/.factory/skills/verse/SKILL.md", SKILL)], "", LINE)
                .with(&[("FACTORY_HOME_OVERRIDE", "HERE/own")]),
            // Plugins: enabled, not so here, and not at all.
            set_up(&[PLUGIN, IN_PLUGIN, ENABLED], SUB, LINE),
            set_up(
                &[
                    PLUGIN,
                    IN_PLUGIN,
                    ENABLED,
                    ("p/.factory/settings.json", r#"{"enabledPlugins": {"poetry@market": false}}"#),
                ],
                SUB,
                Nothing,
            ),
            set_up(&[PLUGIN, IN_PLUGIN], "", Nothing),
            // Skills that it does not list.
            set_up(&[("p/.agents/skills/verse/skill.md", SKILL)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNNAMED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", LATE)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", MARKED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNDESCRIBED)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", REPAIRED)], "", LINE),
            set_up(&[("p/.factory/skills/verse/SKILL.md", UPPER)], "", Body),
            // Switches, in the settings of the user, the project and its directories.
            set_up(&[OWN, ("home/.factory/settings.json", OFF)], SUB, Nothing),
            set_up(&[OWN, ("p/.factory/settings.json", OFF)], SUB, Nothing),
            set_up(&[OWN, ("p/packages/web/.factory/settings.json", OFF)], SUB, Nothing),
            set_up(&[OWN, ("p/.factory/settings.local.json", OFF)], "", Nothing),
            set_up(
                &[OWN, ("p/.factory/settings.json", r#"{"disabledSkills": ["ver*"]}"#)],
                "",
                LINE,
            ),
            set_up(&[OWN, ("home/.factory/settings.local.json", OFF)], "", Nothing),
            // Comments are allowed, but with a comma too many or a byte order mark it ignores all of a file.
            set_up(
                &[OWN, ("p/.factory/settings.json", r#"{/* mine */ "disabledSkills": ["verse"]}"#)],
                "",
                Nothing,
            ),
            set_up(
                &[OWN, ("p/.factory/settings.json", r#"{"disabledSkills": ["verse"],}"#)],
                "",
                LINE,
            ),
            set_up(
                &[OWN, ("p/.factory/settings.json", "\u{feff}{\"disabledSkills\": [\"verse\"]}")],
                "",
                LINE,
            ),
            // A skill may say itself that it is off, also one that it does not look for.
            set_up(&[("p/.factory/skills/verse/SKILL.md", DISABLED)], "", Nothing),
            set_up(&[("p/.claude/skills/verse/SKILL.md", DISABLED)], "", Nothing),
            set_up(&[("p/.factory/skills/verse/SKILL.md", UNSURE)], "", Body),
        ],
    );
}
