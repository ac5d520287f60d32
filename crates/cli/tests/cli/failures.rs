//! Bad input, and its effect on other skills.

use serde_json::json;

use super::{assert_contains, assert_lacks, ids, keys, place, write_skill};
use crate::binary::{Place, finish};

/// Asserts that the valid skills of [`place`] work, whatever is wrong with the others.
fn assert_neighbours_work(place: &Place) {
    let listed = place.run(["list", "--json", "--source", "skills"]).json();
    assert!(ids(&listed["skills"]).starts_with(&["alpha", "beta"]), "{listed}");
    let found = place.run(["match", "--json", "--source", "skills", "alpha and beta"]).json();
    assert_eq!(ids(&found["matches"]), ["alpha", "beta"]);
}

#[test]
fn a_bad_skill_file_is_reported_with_its_path_and_harms_no_neighbour() {
    /// A name, a function that creates the bad input, the expected code, and the file for which the
    /// code is reported.
    type Case = (&'static str, fn(&Place), &'static str, &'static str);
    let cases: &[Case] = &[
        (
            "a directory named SKILL.md",
            |place| {
                std::fs::create_dir_all(place.path().join("skills/zeta/SKILL.md")).unwrap();
            },
            "not-a-file",
            "skills/zeta/SKILL.md",
        ),
        (
            "invalid UTF-8",
            |place| {
                place.write("skills/zeta/SKILL.md", b"---\nname: zeta\ndescription: \xff\n---\n");
            },
            "not-utf8",
            "skills/zeta/SKILL.md:3:14",
        ),
        (
            "10 MB",
            |place| {
                let body = "x".repeat(10_000_000);
                place.write("skills/zeta/SKILL.md", format!("---\ndescription: d\n---\n{body}"));
            },
            "body-too-large",
            "skills/zeta/SKILL.md",
        ),
        (
            "an empty file",
            |place| place.write("skills/zeta/SKILL.md", ""),
            "empty-file",
            "skills/zeta/SKILL.md",
        ),
        (
            "a broken pattern",
            |place| {
                let text = "---\nname: zeta\ndescription: d\ntriggers:\n  patterns: ['a(b']\n---\n";
                place.write("skills/zeta/SKILL.md", text);
            },
            "invalid-pattern",
            "skills/zeta/SKILL.md:5:16",
        ),
    ];
    for (name, make, code, reported) in cases {
        let place = place();
        make(&place);
        let title = format!("{reported}: error[{code}]: ");
        let listed = place.run(["list", "--source", "skills"]).exits(0);
        assert_contains(&listed.stderr, &[&title, "\n  help: "]);
        assert!(!listed.stdout.contains(code), "{name}: findings are not data");
        let checked = place.run(["check", "skills"]).exits(1);
        let path = reported.split(':').next().unwrap();
        assert_contains(&checked.stdout, &[&format!("error[{code}]: "), path, "help: "]);
        assert_eq!(checked.stderr, "");
        assert_neighbours_work(&place);
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_reported_and_harms_no_neighbour() {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    let place = place();
    write_skill(&place, "skills/zeta");
    let path = place.path().join("skills/zeta/SKILL.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::read(&path).is_ok() {
        // Do not print with a macro, whose output the harness captures.
        let _ = writeln!(std::io::stderr(), "SKIPPED: this user may read every file");
        return;
    }
    let listed = place.run(["list", "--source", "skills"]).exits(0);
    assert_contains(&listed.stderr, &["skills/zeta/SKILL.md: error[unreadable]: ", "help: "]);
    place.run(["check", "skills"]).exits(1);
    assert_neighbours_work(&place);
}

#[cfg(unix)]
#[test]
fn links_that_loop_break_or_leave_are_reported_and_harm_no_neighbour() {
    for (target, code) in
        [("../../skills", "link-loop"), ("nowhere", "link-broken"), ("/", "link-outside")]
    {
        let place = place();
        std::fs::create_dir_all(place.path().join("skills/zeta")).unwrap();
        std::os::unix::fs::symlink(target, place.path().join("skills/zeta/link")).unwrap();
        let listed = place.run(["list", "--source", "skills"]).exits(0);
        let title = format!("skills/zeta/link: warning[{code}]: ");
        assert_contains(&listed.stderr, &[&title, "help: "]);
        place.run(["check", "skills"]).exits(0);
        assert_neighbours_work(&place);
    }
}

#[test]
fn a_missing_source_is_a_failure_and_the_other_sources_still_work() {
    let place = place();
    place.write("file", "no directory");
    let both = |missing, command: &[&str]| {
        let sources = ["--source", missing, "--source", "skills"];
        place.run(command.iter().copied().chain(sources)).exits(1)
    };
    for missing in ["nowhere", "file"] {
        let title = format!("{missing}: error[missing-source]: ");
        for (command, shown) in [
            (&["list"][..], "beta"),
            (&["match", "beta"], "1. beta"),
            (&["disclose", "beta"], "## Skill: beta"),
            (&["prompt"], "- beta: Does beta."),
            (&["show", "beta"], "description: Does beta."),
        ] {
            let run = both(missing, command);
            assert_contains(&run.stderr, &[&title, "help: "]);
            assert_contains(&run.stdout, &[shown]);
        }
        assert_contains(&both(missing, &["check"]).stdout, &["error[missing-source]: ", missing]);
        let listed = both(missing, &["list", "--json"]);
        assert_eq!(listed.stderr, "", "the diagnostics are in the JSON");
        assert_eq!(listed.json()["diagnostics"][0]["code"], "missing-source");
    }
    let run = place.run(["check", "nowhere"]).exits(1);
    assert_contains(&run.stdout, &["error[missing-source]: ", "nowhere", "checked 0 skills"]);
    let run = place.run(["list", "--project", "nowhere"]).exits(1);
    assert_contains(&run.stderr, &["error[NOT_FOUND]: ", "nowhere", "help: "]);
}

#[test]
fn a_command_line_without_a_meaning_exits_with_2() {
    for (args, parts) in [
        (&["list", "--sorce", "x"][..], &["--sorce", "--source"][..]),
        (&["lst"], &["lst", "list"]),
        (&["match"], &["QUERY"]),
        (&["match", "x", "--limit", "many"], &["many", "--limit"]),
        (&["disclose", "x", "--format", "toml"], &["toml", "markdown"]),
        (&["disclose", "x", "--budget", "x"], &["`x` is not a budget", "4000"]),
        (&["disclose", "x", "--budget", "2%"], &["`2%`", "--window"]),
        (&["prompt", "--budget", "2%"], &["`2%`", "--window"]),
        (&["new", "My Skill"], &["`My Skill`", "`my-skill`"]),
        (&["new", "../x"], &["`../x`", "`x`"]),
    ] {
        let place = place();
        let run = place.run(args).exits(2);
        assert_eq!(run.stdout, "", "{args:?}");
        assert_contains(&run.stderr, parts);
        let run = place.run(args.iter().copied().chain(["--json"])).exits(2);
        let error = run.json();
        assert_eq!(keys(&error), ["error", "status"], "{args:?}");
        assert_eq!(
            (&error["status"], &error["error"]["code"]),
            (&json!("error"), &json!("INVALID_PARAM"))
        );
        assert_contains(error["error"]["message"].as_str().unwrap(), &parts[..1]);
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    place().run(["disclose", "x", "--budget", "2%", "--window", "9000"]).exits(0);
}

#[test]
fn an_unknown_skill_is_not_found_and_the_nearest_is_named() {
    let place = place();
    let run = place.run(["show", "alhpa", "--source", "skills"]).exits(1);
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr, "error[NOT_FOUND]: no skill `alhpa`\nhelp: did you mean `alpha`?\n");
    let run = place.run(["show", "alhpa", "--source", "skills", "--json"]).exits(1);
    let error = json!({
        "code": "NOT_FOUND",
        "message": "no skill `alhpa`",
        "help": "did you mean `alpha`?",
    });
    assert_eq!(run.json(), json!({"status": "error", "error": error}));
    assert_eq!(run.stderr, "error[NOT_FOUND]: no skill `alhpa`\n");
}

#[test]
fn bundled_skills_that_cannot_be_written_are_not_missing_in_silence() {
    let place = place();
    place.write("file", "");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("XDG_DATA_HOME", place.path().join("file"));
        finish(command, b"").exits(0)
    };
    let told = run(&["list"]).stderr;
    assert_contains(&told, &["bundled skills are left out", "`XDG_DATA_HOME`", "`--bundled=off`"]);
    assert_lacks(&run(&["list", "--bundled=off"]).stderr, &["left out"]);
    assert_lacks(&run(&["list", "--source", "skills"]).stderr, &["left out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_named() {
    let place = place();
    for args in [&["list"][..], &["disclose", "alpha"], &["match", "alpha", "--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = place.command(args.iter().chain(&["--source", "skills"]));
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_contains(&told, &["cannot write to standard output: No space left on device"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn bytes_that_are_no_text_are_refused_with_a_remedy() {
    use std::os::unix::ffi::OsStringExt as _;

    let place = place();
    for command in ["add", "disclose", "show"] {
        let words = [command.into(), std::ffi::OsString::from_vec(b"caf\xe9".to_vec())];
        let run = finish(place.command(words), b"").exits(2);
        assert_contains(&run.stderr, &["invalid UTF-8", "tip: ", "`.`"]);
    }
}
