//! The project in which the tests run real agents, and replay their conversations.

use crate::binary::Place;

/// Marker texts to look for in requests. Each occurs in one place of one skill.
pub(crate) const BODY: &str = "BODY-7731";
pub(crate) const NATIVE_BODY: &str = "BODY-3308";
pub(crate) const FILE_BODY: &str = "BODY-5542";

/// Creates a project with one skill for messages and one for files. The directory `own_skills` holds
/// another one, which the agent lists by itself.
pub(crate) fn project(own_skills: &str) -> Place {
    let place = Place::new();
    place.write(
        ".repertoire/skills/release-notes/SKILL.md",
        format!(
            "---\nname: release-notes\ndescription: Writes release notes from what was merged. Use when a version is about to ship.\n\
             triggers: [release notes]\n---\n{BODY}: write them.\n"
        ),
    );
    place.write(
        &format!("{own_skills}/verse/SKILL.md"),
        format!(
            "---\nname: verse\ndescription: Writes verse. Use for poems.\ntriggers: [limerick]\n---\n\
             {NATIVE_BODY}: count.\n"
        ),
    );
    place.write(
        ".repertoire/skills/sheets/SKILL.md",
        format!("---\nname: sheets\ndescription: Writes style sheets.\npaths: ['**/*.css']\n---\n{FILE_BODY}\n"),
    );
    place.write("style.css", "a {}\n");
    place.write("README.md", "# A project\n");
    place
}
