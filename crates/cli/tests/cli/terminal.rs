//! Output on a terminal: colour, control characters, progress, the log, and a reader that closes the
//! pipe.

use std::process::Stdio;

use super::{assert_contains, ids, place, write_skill};
use crate::binary::{Place, Run, finish};

#[test]
fn no_progress_is_shown_where_standard_error_is_no_terminal() {
    let place = Place::new();
    // Reading this many skills takes longer than the delay before progress is shown.
    for i in 0..4_000 {
        write_skill(&place, &format!("skills/skill-{i}"));
    }
    let listed = place.run(["list", "--no-cache", "--source", "skills"]);
    assert_eq!(listed.stderr, "");
    assert!(listed.stdout.contains("skill-3999"));
}

#[test]
fn text_for_people_is_plain_unless_colour_is_asked_for() {
    let place = place();
    place.write("skills/zeta/SKILL.md", "---\nname: zeta\n");
    let commands: [&[&str]; 7] = [
        &["list"],
        &["match", "alpha", "--explain"],
        &["disclose", "alpha", "-v"],
        &["prompt"],
        &["show", "alpha"],
        &["show", "nobody"],
        &["check"],
    ];
    for args in commands {
        let args = || args.iter().copied().chain(["--source", "skills"]);
        let mut command = place.command(args());
        command.env("NO_COLOR", "1");
        for run in
            [place.run(args()), finish(command, b""), place.run(args().chain(["--color", "never"]))]
        {
            let Run { stdout, stderr, .. } = &run;
            assert!(!stdout.contains('\x1b') && !stderr.contains('\x1b'), "{run:?}");
        }
    }
    let run = place.run(["list", "--color", "always", "--source", "skills"]);
    assert_contains(&run.stdout, &["\x1b["]);
    assert_contains(&run.stderr, &["\x1b["]);
}

#[test]
fn controls_in_the_text_of_others_never_reach_a_terminal() {
    let place = Place::new();
    let evil = r"x\e[31m \u202E \u009B \a \x7f";
    place.write(
        "skills/evil/SKILL.md",
        format!(
            "---\nname: \"evil {evil}\"\ndescription: \"Does {evil}.\"\n\"key {evil}\": 1\n\
             triggers: {{keywords: [\"word {evil}\"], patterns: [\"(\\e\\u202E\"]}}\n---\n"
        ),
    );
    let raw = "---\nname: raw\ndescription: d\nversion: \u{9b}31m \u{202e}\n---\n";
    place.write("skills/raw/SKILL.md", raw);
    #[cfg(unix)]
    place.write("skills/\x1b[31m\u{202e}/SKILL.md", raw.replace("name: raw\n", ""));
    let query = "word x\x1b[31m \u{202e} \u{9b} \x07 \x7f";
    let commands: [&[&str]; 7] = [
        &["list"],
        &["match", query, "--explain"],
        &["show", "evil"],
        &["show", "\x1b[31m"],
        &["check"],
        &["check", "\x1b[31m"],
        &["list", "--project", "\x1b[31m\u{202e}"],
    ];
    for args in commands {
        let run = place.run(args.iter().copied().chain(["--source", "skills"]));
        for c in run.stdout.chars().chain(run.stderr.chars()) {
            let is_safe = (!c.is_control() || c == '\n') && !"\u{202e}\u{feff}".contains(c);
            assert!(is_safe, "{c:?} in {run:?}");
        }
    }
    let listed = place.run(["list", "--json", "--source", "skills"]).exits(0).json();
    let texts: Vec<&str> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["description"].as_str().unwrap())
        .collect();
    assert_contains(&texts.concat(), &["\x1b", "\u{202e}"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure_and_hides_none() {
    let place = Place::new();
    for n in 0..500 {
        write_skill(&place, &format!("skills/skill-{n}"));
    }
    place.write("bad/alpha/SKILL.md", "---\nname: alpha\n---\n");
    for (args, code) in [
        (&["list", "--json", "--source", "skills"][..], 0),
        (&["check", "bad"], 1),
        (&["check", "bad", "--json"], 1),
        (&["why", "skill-1", "nothing", "--json", "--source", "skills"], 1),
    ] {
        let mut command = place.command(args);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    }
}

#[test]
fn the_log_goes_to_standard_error() {
    let place = place();
    let run = place.run(["match", "alpha", "-vv", "--json", "--source", "skills"]).exits(0);
    assert_eq!(ids(&run.json()["matches"]), ["alpha"]);
}
