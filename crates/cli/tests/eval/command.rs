//! The command `eval`: thresholds, omitted prompts, its JSON, and its page.

use serde_json::json;

use super::rows;
use crate::binary::{Place, Run};

/// Creates a place with the skills of [`engine`] and the prompts of [`rows`].
fn place() -> Place {
    let place = Place::new();
    for (name, triggers) in
        [("deploy", "deploy"), ("review", "review"), ("notes", "notes, review it")]
    {
        let text = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{triggers}]");
        place.write(&format!("skills/{name}/SKILL.md"), format!("---\n{text}\n---\nBody\n"));
    }
    let text: String = rows().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    place.write("cases.jsonl", text);
    place
}

fn eval(place: &Place, args: &[&str]) -> Run {
    let common = ["eval", "cases.jsonl", "--source", "skills"];
    place.run(common.iter().chain(args).copied())
}

#[test]
fn limits_set_the_exit_code() {
    let place = place();
    for (args, code, said) in [
        (&["--min-precision", "0.6", "--min-recall", "0.8", "--min-f1", "0.7"][..], 0, ""),
        (&["--min-top1", "0.5", "--min-top3", "0.75", "--max-false-fire", "0.34"], 0, ""),
        (&["--min-precision", "0.7"], 1, "precision is 66.7 %, the limit is 70.0 %"),
        (&["--min-recall", "0.9"], 1, "recall"),
        (&["--min-in-view", "0.75"], 0, ""),
        (&["--min-in-view", "0.8"], 1, "in_view is 75.0 %, the limit is 80.0 %"),
        (&["--min-f1", "0.9"], 1, "f1"),
        (&["--min-top1", "0.6"], 1, "top1"),
        (&["--min-top3", "0.8"], 1, "top3"),
        (&["--max-false-fire", "0.3"], 1, "false_fire is 33.3 %, the limit is 30.0 %"),
        (&["--min-top1", "50"], 2, "a share from 0 to 1"),
    ] {
        let run = eval(&place, args).exits(code);
        assert!(run.stderr.contains(said), "{args:?}: {run:?}");
    }
    place.write("cases.jsonl", "{\"query\": \"deploy\", \"expected\": \"deploy\"}\n");
    let run = eval(&place, &["--max-false-fire", "0.5"]).exits(1);
    assert!(run.stderr.contains("false_fire is undefined"), "{run:?}");
}

#[test]
fn what_is_left_out_is_told_and_is_a_finding() {
    let place = place();
    place.write(
        "cases.jsonl",
        "{\"query\": \"deploy\", \"expected\": \"deploy\"}\nnonsense\n{\"query\": \"a\", \"expected\": \"reviwe\"}\n",
    );
    let run = eval(&place, &["--json"]).exits(1);
    let report = run.json();
    assert_eq!((&report["cases"], &report["recall"]), (&json!(1), &json!(1.0)));
    let problems = report["problems"].as_array().unwrap();
    assert_eq!((&problems[0]["line"], &problems[1]["line"]), (&json!(2), &json!(3)));
    assert!(run.stderr.contains("cases.jsonl:2: left out: not valid JSON"), "{run:?}");
    assert!(problems[1]["message"].as_str().unwrap().contains("review"), "{problems:?}");
    for (args, help) in [
        (&["eval", "no.json"][..], "name a file of prompts"),
        (&["eval", "cases.jsonl", "--baseline", "no.json"], "name a report that"),
    ] {
        let run = place.run(args).exits(1);
        assert!(run.stderr.contains("cannot read no.json") && run.stderr.contains(help), "{run:?}");
    }
}

#[test]
fn each_prompt_is_repeated_with_a_paste_before_and_after_it() {
    let place = place();
    // The paste holds the keyword of `notes`, so it fires for every prompt, which does not count where
    // only `deploy` is forbidden.
    place.write("paste.txt", "read my notes\n");
    let alone = eval(&place, &["--json"]).exits(0).json();
    let report = eval(&place, &["--paste", "paste.txt", "--json"]).exits(0).json();
    let pasted = &report["pasted"];
    assert_eq!((&pasted["file"], &pasted["cases"]), (&json!("paste.txt"), &json!(14)));
    assert_eq!(pasted["false_fire"], json!(2.0 / 3.0));
    for name in ["precision", "recall", "in_view", "f1", "top1", "top3", "lines_for_none"] {
        assert!(!pasted[name].is_null(), "{name}: {pasted}");
        assert_eq!(report[name], alone[name], "the clean figures are those without a paste");
    }
    assert_eq!(alone.get("pasted"), None);
    let told = eval(&place, &["--paste", "paste.txt"]).exits(0).stdout;
    let row = |name: &str| {
        let line = told.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(row("alone"), ["alone", "with paste"]);
    assert_eq!(row("false fires")[..3], ["false fires", "33.3 %", "66.7 %"]);
    assert_eq!(row("in view")[1], "75.0 %");
    let run = eval(&place, &["--paste", "no.txt"]).exits(1);
    assert!(run.stderr.contains("name a file with the text to paste"), "{run:?}");
}

#[test]
fn the_json_has_the_fixed_names_and_a_baseline_is_an_earlier_one() {
    let place = place();
    let first = eval(&place, &["--json"]).exits(0);
    let report = first.json();
    for name in [
        "cases", "precision", "recall", "in_view", "f1", "top1", "top3", "lines_for_none",
        "per_skill", "confusions",
    ] {
        assert!(!report[name].is_null(), "{name}: {report}");
    }
    place.write("before.json", &first.stdout);
    place.write(
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: d\ntriggers: [deploy, online]\n---\nBody\n",
    );
    let run = eval(&place, &["--baseline", "before.json", "--json"]).exits(0).json();
    assert_eq!((&run["comparison"]["fixed"], &run["comparison"]["broken"]), (&json!(1), &json!(0)));
    assert_eq!(run["comparison"]["changes"][0]["query"], "put it online");
    let told = eval(&place, &["--baseline", "before.json"]).exits(0).stdout;
    for part in ["1 fixed, 0 broken", "recall: 80.0 % → 100.0 %", "nothing → deploy"] {
        assert!(told.contains(part), "`{part}` is not in:\n{told}");
    }
}

/// Checks that `check` and `eval` say the same of a skill that no disclosure shows in full.
#[test]
fn a_skill_too_long_for_the_budget_is_counted_and_found() {
    let place = Place::new();
    let front = "name: atlas\ndescription: Draws maps of rivers.\ntriggers: [draw a map]";
    place.write("skills/atlas/SKILL.md", format!("---\n{front}\n---\n{}\n", "x".repeat(41_000)));
    let case = |query: &str| json!({"query": query, "expected": "atlas"}).to_string() + "\n";
    place.write("cases.jsonl", case("draw a map of it") + &case("draw a map") + &case("what?"));
    let run = eval(&place, &["--json"]).exits(0);
    let told = &run.json()["over_budget"][0];
    assert_eq!((&told["id"], &told["prompts"]), (&json!("atlas"), &json!(2)), "{run:?}");
    let reason = told["reason"].as_str().unwrap();
    assert!(
        run.stderr.contains(&format!("too long: 2 prompts call for `atlas`; {reason}")),
        "{run:?}"
    );
    let checked = place.run(["check", "skills", "--json"]).exits(0).json();
    let found = checked["diagnostics"].as_array().unwrap();
    let found = found.iter().find(|found| found["code"] == "over-budget").unwrap();
    assert!(found["message"].as_str().unwrap().starts_with(reason), "{found}");
}
