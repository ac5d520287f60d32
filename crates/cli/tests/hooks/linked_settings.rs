//! Settings of a project behind links: those of elsewhere are not changed.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::binary::Place;

#[test]
fn settings_of_a_project_are_not_changed_behind_a_link_that_leaves_it() {
    for (dir, words) in [
        (".claude", ["hook", "claude-code"]),
        (".codex", ["hook", "codex"]),
        (".gemini", ["hook", "gemini"]),
        (".cursor", ["hook", "cursor"]),
        (".github", ["hook", "copilot"]),
        (".opencode", ["hook", "opencode"]),
        (".qwen", ["hook", "qwen"]),
        (".factory", ["hook", "droid"]),
        (".codex", ["mcp", "codex"]),
        (".gemini", ["mcp", "gemini"]),
        (".cursor", ["mcp", "cursor"]),
        (".qwen", ["mcp", "qwen"]),
        (".factory", ["mcp", "droid"]),
        (".vscode", ["mcp", "vscode"]),
    ] {
        let [what, agent] = words;
        let place = Place::new();
        fs::create_dir_all(place.path().join("home/settings")).unwrap();
        fs::create_dir_all(place.path().join("p/inside")).unwrap();
        let link = place.path().join("p").join(dir);
        symlink("../home/settings", &link).unwrap();
        for action in ["install", "uninstall"] {
            let run = place.run([what, action, agent, "--project", "p"]).exits(1);
            assert!(run.stderr.contains("leaves the project"), "{run:?}");
        }
        let settings = place.path().join("home/settings");
        assert_eq!(fs::read_dir(settings).unwrap().count(), 0, "{words:?}");
        fs::remove_file(&link).unwrap();
        symlink("inside", &link).unwrap();
        place.run([what, "install", agent, "--project", "p"]).exits(0);
        assert!(fs::read_dir(place.path().join("p/inside")).unwrap().count() > 0, "{words:?}");
    }
}
