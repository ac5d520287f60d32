//! Folders in which an agent does not start without a terminal, as nobody has trusted them yet.

use crate::binary::Place;

const SKILL: &str =
    "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme it.\n";
const MESSAGE: &str = "a limerick, please";

#[test]
fn a_folder_that_nobody_trusted_is_told_for_runs_without_a_terminal() {
    const TOLD: &str =
        "Gemini CLI does not trust this folder yet, and `gemini -p` does not start here";
    const TRUST: &str = "home/.gemini/trustedFolders.json";
    const OFF: &str = r#"{"security": {"folderTrust": {"enabled": false}}}"#;
    for (options, file, is_broken, is_told) in [
        (&["--project"][..], None, true, true),
        (&["--project"], Some((TRUST, r#"{"HERE": "TRUST_FOLDER"}"#)), false, false),
        (&["--project"], Some((TRUST, r#"{"HERE/x": "TRUST_PARENT"}"#)), false, false),
        (&["--project"], Some((TRUST, r#"{"HERE/x": "TRUST_FOLDER"}"#)), true, true),
        (&["--project"], Some(("home/.gemini/settings.json", OFF)), false, false),
        // The hooks of the user run in other folders.
        (&[], None, false, true),
        (&[], Some((TRUST, r#"{"HERE": "TRUST_FOLDER"}"#)), false, false),
    ] {
        let place = Place::new();
        place.write(".git/HEAD", "");
        place.write(".repertoire/skills/verse/SKILL.md", SKILL);
        place.run([&["hook", "install", "gemini"], options].concat()).exits(0);
        if let Some((path, text)) = file {
            let here = place.path().canonicalize().unwrap();
            place.write(path, text.replace("HERE", here.to_str().unwrap()));
        }
        let why = place.run(["why", "verse", MESSAGE, "--agent", "gemini"]);
        let doctor = place.run(["doctor", "--bundled=off"]);
        let case = format!("{options:?} {file:?}: {why:?} {doctor:?}");
        assert_eq!((why.code, doctor.code), (is_broken.into(), is_broken.into()), "{case}");
        assert_eq!(why.stdout.contains(TOLD), is_broken, "{case}");
        assert_eq!(doctor.stdout.contains(TOLD), is_told, "{case}");
    }
}
