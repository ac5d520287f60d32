//! The commands `stats` and `check --stats`, computed from what hooks and commands recorded.

use serde_json::{Value, json};

use super::{hook, place, prompt, state};
use crate::binary::{Place, Run};

const SKILLS: [&str; 2] = ["--source", ".repertoire/skills"];

fn stats(place: &Place, more: &[&str]) -> Value {
    place.run([&["stats", "--json"], &SKILLS[..], more].concat()).exits(0).json()
}

/// Formats a row for each skill: its id and status, and how often it fired, was loaded, used and
/// listed.
fn rows(stats: &Value) -> Vec<String> {
    let row = |row: &Value| {
        let of = |key: &str| row[key].to_string().trim_matches('"').to_owned();
        ["id", "status", "fired", "loaded", "used", "listed"].map(of).join(" ")
    };
    stats["skills"].as_array().unwrap().iter().map(row).collect()
}

fn say(place: &Place, session: &str, message: &str) -> Run {
    hook(place, "claude-code", &prompt(session, message)).exits(0)
}

#[test]
fn stats_tell_what_hooks_and_commands_recorded() {
    let place = place();
    let idle = ["deploy", "long", "styles"].map(|id| format!("{id} available 0 0 0 0"));
    let before = place.run(["stats"].iter().chain(&SKILLS)).exits(0);
    assert!(before.stderr.contains("nothing was recorded since 20"), "{before:?}");
    assert!(!state(&place, "sessions.sqlite").exists(), "looking makes nothing");
    assert_eq!(rows(&stats(&place, &[])), idle);

    say(&place, "s", "deploy the site");
    say(&place, "s", "deploy it once more");
    say(&place, "t", "deploy the site");
    // Use an agent that does not read the skills in `.claude` itself.
    hook(&place, "codex", &prompt("u", "list skills")).exits(0);
    let args = ["use", "styles", "--session", "mine"];
    place.run(args.iter().chain(&SKILLS)).exits(0);

    let told = stats(&place, &[]);
    assert_eq!((&told["sessions"], &told["days"]), (&json!(4), &json!(30)));
    let wanted = ["deploy available 2 0 0 2", "styles available 0 1 0 1", "long available 0 0 0 1"];
    let found = rows(&told);
    assert_eq!(found[..3], wanted);
    assert_eq!(found[3..], ["native absent 0 0 0 1"], "of a source that is not named here");
    let last = |place: usize| &told["skills"][place]["last"];
    assert!(last(0).as_str().is_some_and(|day| day.len() == "2026-11-23".len()), "{told}");
    assert_eq!(last(2), &Value::Null);
    assert_eq!(stats(&place, &["--since", "1d"])["skills"], told["skills"]);
    assert_eq!(rows(&stats(&place, &["--brand", "sven"])), idle);

    let page = place.run(["stats"].iter().chain(&SKILLS)).exits(0);
    let lines: Vec<Vec<&str>> =
        page.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["SKILL", "FIRED", "LOADED", "USED", "LISTED", "LAST", "STATUS"]);
    assert_eq!(lines[1][..5], ["deploy", "2", "0", "0", "2"]);
    assert_eq!(lines[3], ["long", "0", "0", "0", "1", "never", "available"]);
    for told in ["4 sessions begun since 20", "1 skill without effect", "absent: not among"] {
        assert!(page.stderr.contains(told), "{page:?}");
    }

    // The tallies keep removed skills, and the counts of ended conversations.
    std::fs::remove_dir_all(place.path().join(".repertoire/skills/deploy")).unwrap();
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s"}).to_string();
    hook(&place, "claude-code", &end).exits(0);
    assert!(rows(&stats(&place, &[])).contains(&"deploy absent 2 0 0 2".to_owned()));

    for wrong in ["0d", "30", "366d", "53w", "99999999999w", "d", ""] {
        let run = place.run(["stats", "--since", wrong]).exits(2);
        assert!(run.stderr.contains("30d"), "{run:?}");
    }
}

#[test]
fn check_names_the_skills_that_conversations_had_no_use_for() {
    let place = place();
    let text = "---\nname: plain\ndescription: Folds napkins.\n---\nFold.\n";
    place.write(".repertoire/skills/plain/SKILL.md", text);
    let unused = |more: &[&str]| -> Vec<String> {
        let args = [&["check", "--json", "--stats"], more].concat();
        let json = place.run(args).exits(0).json();
        let found = json["diagnostics"].as_array().unwrap().iter();
        let found = found.filter(|found| found["code"] == "unused-skill");
        found
            .map(|found| {
                assert_eq!(found["severity"], "note");
                let id = found["message"].as_str().unwrap().split('`').nth(1).unwrap();
                format!("{id}: {}", found["help"].as_str().unwrap())
            })
            .collect()
    };
    assert_eq!(unused(&SKILLS), [""; 0], "nothing was recorded");
    say(&place, "s", "deploy the site");
    let args = ["use", "styles", "--session", "mine"];
    place.run(args.iter().chain(&SKILLS)).exits(0);
    let found = unused(&SKILLS);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("no message held its triggers"), "{found:?}");
    assert!(found[1].contains("declare keywords"), "{found:?}");
    // The command also accepts a path, and reports only the skill at that path.
    assert_eq!(unused(&[".repertoire/skills"]), found);
    assert_eq!(unused(&[".repertoire/skills/long"]), found[..1]);
    assert_eq!(unused(&[".repertoire/skills/deploy"]), [""; 0]);

    say(&place, "u", "list skills");
    let found = unused(&SKILLS);
    assert!(found[0].contains("saw its line once"), "{found:?}");

    let page = place.run(["check", "--stats"].iter().chain(&SKILLS)).exits(0).stdout;
    for told in ["note[unused-skill]", "`long` neither fired", "sessions begun since then: 3"] {
        assert!(page.contains(told), "{page}");
    }
    let plain = place.run(["check"].iter().chain(&SKILLS)).exits(0).stdout;
    assert!(!plain.contains("neither fired"), "{plain}");
    place.run(["check", "--since", "4w"]).exits(2);
    assert_eq!(unused(&[&SKILLS[..], &["--since", "4w"]].concat()), found);
}
