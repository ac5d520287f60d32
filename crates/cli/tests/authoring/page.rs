//! The examples of `docs/check.md` and of the bundled skill about writing skills are what they say they are.

use crate::binary::Place;

const PAGE: &str = include_str!("../../../../docs/check.md");

/// Messages that a trigger does not match, as the bundled skill `skill-authoring` says.
const SKILL: &str = include_str!("../../../../skills/skill-authoring/SKILL.md");

/// Writes a skill with a line of front matter below `triggers`, or with that description.
fn write(place: &Place, id: &str, line: &str) {
    let (description, triggers) = match line.strip_prefix("description: ") {
        Some(description) => (description.to_owned(), String::new()),
        // The page joins several lines by commas.
        None => (
            format!("Rotates terraform {id} credentials of staging."),
            format!("triggers:\n  {}\n", line.replace("`, `", "\n  ")),
        ),
    };
    let text = format!("---\nname: {id}\ndescription: {description}\n{triggers}---\nDo it.\n");
    place.write(&format!("skills/{id}/SKILL.md"), text);
}

/// The examples in a cell: each is what stands in a pair of back-ticks; lines of one skill are joined.
fn examples(cell: &str) -> Vec<&str> {
    let is_one_skill = cell.contains("`exclude: ");
    if is_one_skill {
        return vec![cell.trim_matches('`')];
    }
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn each_example_of_the_table_has_its_finding() {
    let (table, _) = PAGE.split_once("These findings concern one file alone").unwrap();
    let rows =
        table.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    let mut n_tried = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [code, severity, cell, _] = cells[..] else { panic!("{row}") };
        for example in examples(cell) {
            let place = Place::new();
            let skills = match cell {
                _ if cell.contains("in two skills") => &["a1", "a2"][..],
                _ if cell.contains("in four skills") => &["a1", "a2", "a3", "a4"],
                _ => &["a1"],
            };
            for id in skills {
                let line = match skills.len() {
                    1 => example.to_owned(),
                    _ => format!("keywords: [{example}]"),
                };
                write(&place, id, &line);
            }
            let found = place.run(["check", "skills", "--json"]).json();
            let is_it = |finding: &&serde_json::Value| {
                (&finding["code"], &finding["severity"])
                    == (&code.trim_matches('`').into(), &severity.into())
            };
            let found = found["diagnostics"].as_array().unwrap();
            assert!(found.iter().any(|finding| is_it(&finding)), "{code} {example}: {found:?}");
            n_tried += 1;
        }
    }
    assert!(n_tried >= 12, "{n_tried} examples");
}

#[test]
fn messages_that_the_skill_about_writing_skills_calls_near_misses_are_none_of_its_matches() {
    let section = SKILL.split("Matching is literal:").nth(1).unwrap();
    let section = section.split("List the forms").next().unwrap();
    let pairs = section.split("does").filter_map(|part| part.split_once("not hit "));
    let triggers: Vec<&str> = section.split('`').skip(1).step_by(2).collect();
    let messages: Vec<&str> = section.split('"').skip(1).step_by(2).collect();
    assert_eq!((pairs.count(), triggers.len(), messages.len()), (3, 3, 3), "{section}");
    for (trigger, message) in triggers.into_iter().zip(messages) {
        let place = Place::new();
        let line = format!("keywords: [{trigger}]");
        write(&place, "a1", &line);
        let matches = |message: &str| {
            let run = place.run(["match", message, "--json", "--source", "skills"]).json();
            run["matches"].as_array().unwrap().len()
        };
        assert_eq!((matches(trigger), matches(message)), (1, 0), "{trigger}: {message}");
    }
}

#[test]
fn what_new_writes_has_no_finding_and_leaves_greetings_alone() {
    let place = Place::new();
    for name in ["hello", "code", "test", "help", "deploy", "write-code", "a"] {
        place.run(["new", name, "--dir", "new"]).exits(0);
        for lang in ["rust", "python", "c"] {
            let args = ["tool", "new", name, "--lang", lang, "--dir", &format!("tool-{lang}")];
            place.run(args).exits(0);
        }
    }
    for dir in ["new", "tool-rust", "tool-python", "tool-c"] {
        let found = place.run(["check", dir, "--json"]).exits(0).json();
        let all = found["diagnostics"].as_array().unwrap();
        // The library is not built yet.
        let all: Vec<_> = all
            .iter()
            .filter(|of| of["severity"] != "note" && of["code"] != "missing-library")
            .collect();
        assert!(all.is_empty(), "{dir}: {all:?}");
        assert_eq!(found["examples"]["in_full"], 7, "{dir}: {found}");
        for message in ["hello there", "help!", "run the code"] {
            let told = place.run(["disclose", message, "--json", "--source", dir]).exits(0).json();
            assert_eq!(told["full"], serde_json::json!([]), "{dir}: {message}");
        }
    }
}
