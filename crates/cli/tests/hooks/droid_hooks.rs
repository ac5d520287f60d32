//! The files by which Droid runs our hooks or does not, as `doctor` tells it. Each row was observed with 0.215.0.

use crate::binary::{Place, finish};

const OFF: &str = r#"{"hooksDisabled": true}"#;
const ON: &str = r#"{"hooksDisabled": false}"#;
const SETTINGS_OFF: &str = r#"{"hooks": {"hooksDisabled": true}}"#;
const SETTINGS_ON: &str = r#"{"hooks": {"hooksDisabled": false}}"#;
const OTHERS: &str = r#"{"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}"#;
const STOP: &str = r#"{"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}"#;
const OFF_BY: &str = "turns off all hooks (`hooksDisabled: true`)";

#[test]
fn doctor_knows_the_files_by_which_droid_runs_no_hooks() {
    for (files, told) in [
        (&[][..], None),
        (&[("p/.factory/settings.json", SETTINGS_OFF)], Some(OFF_BY)),
        (&[("p/.factory/settings.local.json", SETTINGS_OFF)], None),
        (&[("home/.factory/settings.local.json", SETTINGS_OFF)], None),
        (&[("home/.factory/hooks.json", OFF)], Some(OFF_BY)),
        (&[("p/.factory/hooks.json", OFF)], Some(OFF_BY)),
        (&[("home/.factory/hooks.json", OFF), ("p/.factory/settings.json", SETTINGS_ON)], None),
        (
            &[("home/.factory/hooks.json", ON), ("p/.factory/settings.json", SETTINGS_OFF)],
            Some(OFF_BY),
        ),
        (
            &[("p/.factory/hooks.json", OFF), ("p/.factory/settings.json", SETTINGS_ON)],
            Some(OFF_BY),
        ),
        (&[("p/.factory/hooks.json", ON), ("p/.factory/settings.json", SETTINGS_OFF)], None),
        (&[("home/.factory/hooks.json", STOP)], None),
        (
            &[("home/.factory/hooks.json", OTHERS)],
            Some("/home/.factory/hooks.json for `SessionStart` in place of those in "),
        ),
        (&[("p/.factory/hooks.json", OTHERS)], None),
    ] {
        let place = Place::new();
        place.write("p/.git/HEAD", "");
        let run = |args: &[&str]| {
            let mut command = place.command(args);
            command.current_dir(place.path().join("p"));
            finish(command, b"")
        };
        run(&["hook", "install", "droid"]).exits(0);
        for (path, text) in files {
            place.write(path, text);
        }
        let doctor = run(&["doctor", "--bundled=off", "--json"]);
        let broken = doctor.json()["broken"].to_string();
        match told {
            Some(told) => assert!(broken.contains(told), "{files:?}: {broken}"),
            None => assert_eq!(broken, "[]", "{files:?}"),
        }
    }
}
