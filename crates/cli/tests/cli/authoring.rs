//! Creation of skills with `new`, and checks with `check`.

use std::path::Path;

use serde_json::{Value, json};

use super::{assert_contains, place};
use crate::binary::{Place, finish};

#[test]
fn a_new_skill_passes_the_check_of_both_profiles() {
    let place = Place::new();
    let run = place.run(["new", "brew-recipes"]).exits(0);
    let path = ".repertoire/skills/brew-recipes/SKILL.md";
    assert_contains(
        &run.stdout,
        &[
            &format!("{path}\n"),
            &format!("repertoire check {path}\n"),
            "repertoire match 'brew recipes' --explain\n",
        ],
    );
    for profile in ["repertoire", "agent-skills"] {
        let run = place.run(["check", path, "--profile", profile, "--json"]).exits(0);
        let findings = run.json()["diagnostics"].as_array().unwrap().clone();
        let codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
        assert!(codes.is_empty(), "{findings:?}");
    }
    let found = place.run(["match", "brew recipes", "--json"]).json();
    assert_eq!(found["matches"][0]["id"], "brew-recipes");

    place.write(path, "mine");
    let run = place.run(["new", "brew-recipes"]).exits(1);
    assert_contains(&run.stderr, &["error[EXECUTION_ERROR]: ", path, "help: "]);
    assert_eq!(std::fs::read_to_string(place.path().join(path)).unwrap(), "mine");

    for name in ["a", "true", "null", "7", "1e3", &"x".repeat(64)] {
        place.run(["new", name, "--dir", "odd names"]).exits(0);
    }
    for profile in ["repertoire", "agent-skills"] {
        let checked = place.run(["check", "odd names", "--profile", profile, "--json"]).exits(0);
        let checked = checked.json();
        // The skills are alike until an author edits them, and their names are everyday words.
        let known = ["generic-trigger", "similar-description", "vague-description"];
        let findings = checked["diagnostics"].as_array().unwrap();
        let is_known = |finding: &Value| known.iter().any(|code| finding["code"] == *code);
        assert!(checked["skills"] == 6 && findings.iter().all(is_known), "{findings:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_new_skill_that_could_not_be_written_leaves_no_file() {
    let place = Place::new();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$0\" new notes", env!("CARGO_BIN_EXE_repertoire")]);
    limited.current_dir(place.path()).env("HOME", place.path().join("home"));
    let run = finish(limited, b"").exits(1);
    assert_contains(&run.stderr, &["cannot write .repertoire/skills/notes/SKILL.md"]);
    let left = std::fs::read_dir(place.path().join(".repertoire/skills/notes")).unwrap();
    assert_eq!(left.count(), 0);
    place.run(["new", "notes"]).exits(0);
}

#[test]
fn check_draws_the_place_of_a_finding_and_counts_all() {
    let place = place();
    place.write("skills/twin/SKILL.md", "---\nname: beta\ndescription: d\ncolour: red\n---\n");
    let text = "---\nname: zeta\ndescription: d\ntriggers:\n  patterns: ['é (b']\n---\n";
    place.write("skills/zeta/SKILL.md", text);
    let run = place.run(["check", "skills", "--notes"]).exits(1);
    assert_contains(
        &run.stdout,
        &[
            "error[invalid-pattern]: ",
            "--> skills/zeta/SKILL.md:5:17\n",
            "5 |   patterns: ['é (b']\n  |                 ^",
            "note[shadowed]: skill `beta` shadowed by skills/twin/SKILL.md\n--> skills/beta/SKILL.md\n",
            "note[unknown-key]: ",
        ],
    );
    assert!(run.stdout.ends_with("\nchecked 4 skills: 1 error, 0 warnings, 2 notes\n"));
    // A file that is named twice is checked once.
    let run = place.run(["check", "skills/zeta", "skills/zeta/SKILL.md", "--json"]).exits(1);
    assert_eq!(run.json()["skills"], 1);
}

#[test]
fn bundled_skills_pass_the_check_of_both_profiles() {
    let skills = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("skills");
    let place = Place::new();
    let check = |profile| {
        let args = ["check", skills.to_str().unwrap(), "--profile", profile, "--json"];
        place.run(args).json()
    };
    assert_eq!(check("repertoire")["diagnostics"], json!([]));
    assert_eq!(check("agent-skills")["diagnostics"], json!([]));
}
