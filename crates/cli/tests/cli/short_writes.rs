//! Files of state whose write fails at one point after another: what was there before stays, and the command that
//! could not write says so or goes on.
//!
//! The limit on the size of files (`prlimit --fsize`) moves through everything that is written, as `SQLite` tests
//! itself with failing writes (<https://sqlite.org/testing.html>, 3.2).

use std::process::Command;

use serde_json::json;

use super::*;
use crate::binary::Run;
use crate::trust::project;

/// Runs the binary with files of `bytes` bytes at most; exceeding that fails, and ends nothing.
fn limited(place: &Place, bytes: u64, args: &[&str], input: &str) -> Run {
    let command = place.command(args);
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; bytes=$1; shift; exec prlimit --fsize=\"$bytes\" \"$@\"";
    limited.args(["-c", script, "sh", &bytes.to_string()]).arg(command.get_program());
    limited.args(command.get_args()).current_dir(place.path());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    binary::finish(limited, input.as_bytes())
}

#[test]
fn a_trust_store_is_the_old_or_the_new_one_wherever_its_write_fails() {
    let place = project("");
    place.write(
        ".agents/skills/other/SKILL.md",
        "---\nname: other\ndescription: Other.\n---\nBody\n",
    );
    place.write(".agents/skills/other/scripts/other.sh", "#!/bin/sh\necho two\n");
    place.run(["trust", "add", "other", "--yes"]).exits(0);
    let names = || {
        let json = place.run(["trust", "list", "--json"]).exits(0).json();
        let files =
            json["files"].as_array().or_else(|| json["trusted"].as_array()).unwrap().clone();
        let name =
            |file: &Value| file["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        files.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["other.sh"]);
    let (mut failed, mut written) = (0, 0);
    for bytes in (0..6_000).step_by(150) {
        let run = limited(&place, bytes, &["trust", "add", "fetch", "--yes"], "");
        let now = names();
        assert!(now.contains(&"other.sh".to_owned()), "{bytes}: {now:?}");
        if run.code == 0 {
            assert!(now.contains(&"fetch.sh".to_owned()), "{bytes}: {run:?}");
            written += 1;
            place.run(["trust", "remove", "fetch"]).exits(0);
        } else {
            assert!(
                run.stderr.contains("EXECUTION_ERROR") || run.stderr.contains("error"),
                "{run:?}"
            );
            assert_eq!(now, ["other.sh"], "{bytes}: {run:?}");
            failed += 1;
        }
    }
    assert!(failed >= 3 && written >= 3, "{failed} failed, {written} were written");
}

/// More than any file of state has, in bytes.
const ENOUGH: u64 = 100 << 20;

#[test]
fn a_session_keeps_what_it_had_wherever_its_write_fails() {
    let place = Place::new();
    place.write(
        ".agents/skills/alpha/SKILL.md",
        "---\nname: alpha\ndescription: A.\ntriggers: [alpha]\n---\nDo alpha.\n",
    );
    let hook = |bytes: u64, session: &str| {
        let input = json!({"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "use alpha", "cwd": place.path()});
        limited(&place, bytes, &["hook", "claude-code"], &input.to_string()).exits(0)
    };
    assert!(hook(ENOUGH, "kept").stdout.contains("Do alpha."));
    for bytes in (0..80_000).step_by(2_000) {
        // The answer comes whether or not it can be noted.
        assert!(hook(bytes, &format!("s{bytes}")).stdout.contains("Do alpha."), "{bytes}");
        // The session of before still knows that it has the text.
        assert!(!hook(ENOUGH, "kept").stdout.contains("Do alpha."), "{bytes}");
    }
}
