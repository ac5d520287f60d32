//! The bundled skills: messages for the situations that their descriptions name, and near misses.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::Place;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the report for the prompts of `file` with the bundled skills.
fn report(file: &str) -> Value {
    let prompts: PathBuf = package().join("tests/fixtures/eval/bundled").join(file);
    let skills = package().join("../../skills");
    let args = ["eval", prompts.to_str().unwrap(), "--source", skills.to_str().unwrap(), "--json"];
    Place::new().run(args).exits(0).json()
}

/// Counts four kinds of messages, in this order: those that should fire, those for which the right
/// skill fired, near misses, and near misses for which any skill fired.
fn count(report: &Value) -> [usize; 4] {
    let mut counts = [0; 4];
    for result in report["results"].as_array().unwrap() {
        let fired = result["fired"].as_array().unwrap();
        let wanted = result["expected"].as_array().unwrap();
        let (all, hit) = if wanted.is_empty() { (2, 3) } else { (0, 1) };
        counts[all] += 1;
        let is_hit = match wanted.first() {
            Some(wanted) => fired.iter().any(|found| found["id"] == *wanted),
            None => !fired.is_empty(),
        };
        counts[hit] += usize::from(is_hit);
    }
    counts
}

/// Checks prompts that were written after the skills, and for which nothing has been changed since.
#[test]
fn held_back_messages_fire_and_near_misses_do_not() {
    let report = report("held_back.jsonl");
    let [wanted, fired, misses, false_fires] = count(&report);
    assert_eq!((wanted, misses), (30, 30));
    assert!(fired >= 27, "{fired} of 30 fire: {report}");
    // The table of meanings makes a word of a near miss enough; by words alone, none fires.
    assert!(false_fires <= 1, "{false_fires} of 30 fire wrongly: {report}");
}

/// Checks messages that were written from the names of the skills alone, before their triggers were seen:
/// at least as good as the figures of `docs/routing.md`.
#[test]
fn messages_of_people_who_never_saw_the_triggers_are_routed_no_worse_than_measured() {
    let report = report("unseen.jsonl");
    let results = report["results"].as_array().unwrap();
    let n_with = |is_it: &dyn Fn(&Value) -> bool| results.iter().filter(|of| is_it(of)).count();
    let is_wanted = |of: &Value| of["expected"] != serde_json::json!([]);
    assert_eq!((n_with(&is_wanted), n_with(&|of| !is_wanted(of))), (60, 60));
    let figure = |name: &str| report[name].as_f64().unwrap();
    let n_of_60 = |name: &str| (figure(name) * 60.0).round();
    assert!(n_of_60("recall") >= 43.0, "{}", figure("recall"));
    assert!(n_of_60("in_view") >= 57.0, "{}", figure("in_view"));
    let is_wrong =
        |of: &Value| of["fired"].as_array().unwrap().iter().any(|f| f["is_wrong"] == true);
    assert!(n_with(&|of| is_wanted(of) && is_wrong(of)) <= 1, "{report}");
    assert_eq!(n_with(&|of| !is_wanted(of) && is_wrong(of)), 0, "{report}");
    assert!(n_of_60("lines_for_none") <= 38.0, "{}", figure("lines_for_none"));
}

#[test]
fn the_messages_that_triggers_were_written_for_fire() {
    let report = report("tuned.jsonl");
    let [wanted, fired, _, false_fires] = count(&report);
    assert_eq!(fired, wanted, "{report}");
    // As above.
    assert!(false_fires <= 3, "{false_fires} fire wrongly: {report}");
}

/// Checks that a skill requested by name is shown alone, because such a message is not about writing
/// skills.
#[test]
fn a_skill_asked_for_by_name_does_not_bring_the_one_about_writing_skills() {
    let skills = package().join("../../skills");
    for (message, wanted) in [
        ("use the code-review skill", &["code-review"][..]),
        ("please run the regex-helper skill on this", &["regex-helper"]),
        ("can you find the commit-message skill?", &["commit-message"]),
        ("claude never uses my deploy skill", &["skill-authoring"]),
        ("it doesn't load my new skill", &["skill-authoring"]),
    ] {
        let args = ["disclose", message, "--source", skills.to_str().unwrap(), "--json"];
        let full = Place::new().run(args).exits(0).json()["full"].clone();
        assert_eq!(full, serde_json::json!(wanted), "{message}");
    }
}

#[test]
fn five_skills_are_bundled() {
    let skills = package().join("../../skills");
    let listed = Place::new().run(["list", "--json", "--source", skills.to_str().unwrap()]);
    let listed = listed.exits(0).json();
    let ids = listed["skills"].as_array().unwrap().iter().map(|skill| skill["id"].clone());
    let ids: Vec<Value> = ids.collect();
    let bundled =
        ["code-review", "commit-message", "regex-helper", "skill-authoring", "sql-query-tuning"];
    assert_eq!(ids, bundled);
}
