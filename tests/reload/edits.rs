//! Every kind of edit, and the refresh after it.

use super::*;

/// An edit, and the result of a refresh after it.
pub(super) const EDITS: &[(&str, &str, Edit)] = &[
    ("nothing", "", |_| {}),
    ("content", "~plain", |place| place.skill("user/plain", "Another one.", "")),
    ("content of the same length and time, by renaming", "~plain", |place| {
        let file = place.path("user/plain/SKILL.md");
        let time = file.metadata().unwrap().modified().unwrap();
        let text = fs::read_to_string(&file).unwrap().replace("Plain one.", "Plain two.");
        place.write("user/plain/new", text);
        let new = place.path("user/plain/new");
        File::options().write(true).open(&new).unwrap().set_modified(time).unwrap();
        fs::rename(new, file).unwrap();
    }),
    ("content of the same length, with the time set back", "~plain", |place| {
        let file = place.path("user/plain/SKILL.md");
        let time = file.metadata().unwrap().modified().unwrap();
        let text = fs::read_to_string(&file).unwrap().replace("Plain one.", "Plain two.");
        fs::write(&file, text).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    }),
    ("content of a time long past", "~plain", |place| {
        place.skill("user/plain", "Of old.", "");
        let file = File::options().write(true).open(place.path("user/plain/SKILL.md")).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1)).unwrap();
    }),
    ("the same content written again", "", |place| {
        place.skill("user/plain", "Plain one.", "triggers: [plain words]");
    }),
    ("other permissions, but readable", "", |place| {
        let mode = Permissions::from_mode(0o600);
        fs::set_permissions(place.path("user/plain/SKILL.md"), mode).unwrap();
    }),
    ("a file deleted", "-plain", |place| {
        fs::remove_file(place.path("user/plain/SKILL.md")).unwrap();
    }),
    ("a directory deleted", "-sven -sven/plan", |place| place.remove("project/sven")),
    ("a directory renamed, of a skill without a name", "+renamed -plain", |place| {
        place.rename("user/plain", "user/renamed");
    }),
    ("a directory renamed, of a skill with a name", "~both", |place| {
        place.rename("project/both", "project/other");
    }),
    ("a new skill", "+new", |place| place.skill("project/a/b/new", "New.", "name: new")),
    ("a new sub-skill", "+sven/new", |place| place.skill("project/sven/new", "New.", "")),
    ("a skill below which there are others goes", "+new -sven -sven/plan", |place| {
        place.skill("project/sven/plan", "Plans.", "name: new");
        fs::remove_file(place.path("project/sven/SKILL.md")).unwrap();
    }),
    ("a skill that others are below", "-plain", |place| {
        place.skill("user", "Above all.", "name: not-allowed-either");
        place.rename("user/plain", "user/x-plain");
    }),
    ("a file in another letter case", "~plain", |place| {
        place.rename("user/plain/SKILL.md", "user/plain/skill.md");
    }),
    ("a file that others hold, too", "", |place| {
        fs::hard_link(place.path("user/plain/SKILL.md"), place.path("elsewhere/hard")).unwrap();
    }),
    ("a link that leads elsewhere", "~linked", |place| {
        fs::remove_file(place.path("project/link")).unwrap();
        symlink(place.path("elsewhere/two"), place.path("project/link")).unwrap();
    }),
    ("what a link leads to", "~linked", |place| {
        place.skill("elsewhere/one", "Edited.", "name: linked");
    }),
    ("what a link leads to goes", "-linked", |place| place.remove("elsewhere/one")),
    ("a missing root is made", "+new", |place| {
        place.skill("missing/later/skills/new", "Late.", "");
    }),
    ("a root is deleted", "~both -plain", |place| {
        place.remove("user");
        // Another skill changes at the same time, which is not part of this edit.
        place.skill("project/both", "Edited.", "name: both");
    }),
    ("a root is deleted and made again", "~both ~plain", |place| {
        place.remove("user");
        place.skill("user/plain", "Made again.", "");
        place.skill("project/both", "Edited.", "name: both");
    }),
    ("what shadowed is gone", "~both", |place| place.remove("project/both")),
    ("what shadowed has another name", "+new ~both", |place| {
        place.skill("project/both", "Of the project.", "name: new");
    }),
    ("a shadow falls", "~plain", |place| place.skill("project/late", "Higher.", "name: plain")),
    ("a skill that is not allowed", "", |place| {
        place.skill("project/hidden", "Still nobody sees it.", "name: not-allowed");
        place.skill("project/another", "Nor this one.", "name: another");
    }),
    ("a program that is required", "~needs", |place| {
        place.write("bin/a-program", "#!/bin/sh\n");
        let mode = Permissions::from_mode(0o755);
        fs::set_permissions(place.path("bin/a-program"), mode).unwrap();
    }),
];

#[test]
fn after_any_edit_a_refresh_is_as_a_fresh_load() {
    let places: Vec<_> = EDITS
        .iter()
        .map(|(what, expected, edit)| {
            let place = Place::new();
            let engine = place.engine();
            (what, expected, edit, place, engine)
        })
        .collect();
    for settled in [false, true] {
        if settled {
            // From now on, every change shows in the times of the files.
            thread::sleep(Duration::from_millis(2100));
        }
        for (what, expected, edit, place, old) in &places {
            let fresh;
            let (place, engine) = if settled {
                (place, old)
            } else {
                fresh = Place::new();
                (&fresh, &fresh.engine())
            };
            engine.refresh().unwrap();
            let before = state(engine);
            edit(place);
            let what = format!("{what}, settled: {settled}");
            assert_eq!(signs(&engine.refresh().unwrap()), **expected, "{what}");
            assert_eq!(state(engine), state(&place.engine()), "{what}");
            assert_eq!(engine.refresh().unwrap(), Refreshed::default(), "{what}, again");
            if expected.is_empty() && !what.starts_with("a skill that is not allowed") {
                assert_eq!(state(engine), before, "{what}");
            }
        }
    }
}
