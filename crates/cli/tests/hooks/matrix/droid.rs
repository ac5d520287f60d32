//! Droid.

use super::{Adds, Body, CLAUDE, Line, Nothing, SKILL, SUB, UNNAMED, check, set_up};

#[test]
fn droid() {
    const LINE: Adds = Line("call the `Skill` tool with `verse`");
    const OWN: (&str, &str) = ("p/.factory/skills/verse/SKILL.md", SKILL);
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
            set_up(&[CLAUDE], "", Body),
            set_up(&[("home/.claude/skills/verse/SKILL.md", SKILL)], "", Body),
            set_up(&[("own/.factory/skills/verse/SKILL.md", SKILL)], "", LINE)
                .with(&[("FACTORY_HOME_OVERRIDE", "HERE/own")]),
            // Skills that it does not list.
            set_up(&[("p/.agents/skills/verse/skill.md", SKILL)], "", Body),
            set_up(&[("p/.agents/skills/verse/SKILL.md", UNNAMED)], "", Body),
            // Switches, in the settings of the user, the project and its directories.
            set_up(&[OWN, ("home/.factory/settings.json", OFF)], SUB, Nothing),
            set_up(&[OWN, ("p/.factory/settings.json", OFF)], SUB, Nothing),
            set_up(&[OWN, ("p/packages/web/.factory/settings.json", OFF)], SUB, Nothing),
        ],
    );
}
