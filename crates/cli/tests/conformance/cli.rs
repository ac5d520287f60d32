//! The shared conformance cases, through the command line.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::skill_file;
use crate::support::shared;

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn ids(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
}

#[test]
fn keywords_hit_where_the_conformance_cases_say() {
    let Some(cases) = shared("conformance/boundaries.json") else { return };
    let place = Place::new();
    for case in read(&cases)["cases"].as_array().unwrap() {
        let skill = json!({
            "name": "probe-of-the-case",
            "description": "A probe.",
            "triggers": {"keywords": [case["keyword"]]},
            "body": "",
        });
        place.write("skills/probe/SKILL.md", skill_file(&skill));
        let query = case["query"].as_str().unwrap();
        let args = ["match", "--json", "--source", "skills", "--", query];
        let found = place.run(args).exits(0).json();
        let matches = found["matches"].as_array().unwrap();
        assert_eq!(!matches.is_empty(), case["hit"] == true, "{case}: {found}");
        for hit in matches.iter().flat_map(|found| found["hits"].as_array().unwrap()) {
            assert_eq!((&hit["kind"], &hit["trigger"]), (&json!("keyword"), &case["keyword"]));
            let span = |end: &str| hit[end].as_u64().unwrap() as usize;
            assert!(query.get(span("start")..span("end")).is_some_and(|hit| !hit.is_empty()));
        }
    }
}

#[test]
fn disclosures_are_what_the_conformance_cases_say() {
    let Some(cases) = shared("conformance/tiers.json") else { return };
    let data = read(&cases);
    let place = Place::new();
    for (catalog, skills) in data["catalogs"].as_object().unwrap() {
        std::fs::create_dir_all(place.path().join(catalog)).unwrap();
        for skill in skills.as_array().unwrap() {
            let name = skill["name"].as_str().unwrap();
            place.write(&format!("{catalog}/{name}/SKILL.md"), skill_file(skill));
        }
    }
    for case in data["cases"].as_array().unwrap() {
        let mut args = vec!["disclose", "--json", "--source", case["catalog"].as_str().unwrap()];
        let max_skills = case.get("max_skills").map(Value::to_string);
        if let Some(max_skills) = &max_skills {
            args.extend(["--max-skills", max_skills]);
        }
        args.extend(["--", case["query"].as_str().unwrap()]);
        let found = place.run(args).exits(0).json();
        let in_order = case.get("ordered") != Some(&json!(false));
        for (key, wanted) in case.as_object().unwrap() {
            match key.as_str() {
                "catalog" | "query" | "max_skills" | "ordered" => {}
                "tier" | "text" => assert_eq!(&found[key], wanted, "{case}: {found}"),
                "full" | "registry" => {
                    let (mut got, mut wanted) = (ids(&found[key]), ids(wanted));
                    if !in_order {
                        got.sort_unstable();
                        wanted.sort_unstable();
                    }
                    assert_eq!(got, wanted, "{case}: {key} of {found}");
                }
                "full_count" => {
                    assert_eq!(json!(ids(&found["full"]).len()), *wanted, "{case}");
                }
                "contains" => {
                    for part in ids(wanted) {
                        assert!(found["text"].as_str().unwrap().contains(part), "{case}: {found}");
                    }
                }
                other => panic!("unknown expectation `{other}`"),
            }
        }
    }
}

#[test]
fn skill_files_load_as_the_conformance_cases_say() {
    let Some(cases) = shared("conformance/frontmatter.json") else { return };
    let place = Place::new();
    for case in read(&cases)["cases"].as_array().unwrap() {
        let dir = cases.parent().unwrap().join(case["dir"].as_str().unwrap());
        let source = dir.to_str().unwrap();
        let start = Instant::now();
        let listed = place.run(["list", "--json", "--source", source]).exits(0);
        assert_eq!(listed.stderr, "", "{case}");
        let listed = listed.json();
        let elapsed = start.elapsed();
        let n_diagnostics = listed["diagnostics"].as_array().unwrap().len();
        let skills = listed["skills"].as_array().unwrap();
        let skill = || &skills[0];
        for (key, wanted) in case.as_object().unwrap() {
            match key.as_str() {
                "dir" => {}
                "loads" => assert_eq!(json!(skills.len() == 1), *wanted, "{case}: {listed}"),
                "name" | "description" => assert_eq!(skill()[key], *wanted, "{case}: {listed}"),
                "description_contains" => {
                    let description = skill()["description"].as_str().unwrap();
                    assert!(description.contains(wanted.as_str().unwrap()), "{case}: {listed}");
                }
                "body" => {
                    let id = skill()["id"].as_str().unwrap();
                    let shown = place.run(["show", "--json", "--source", source, id]).exits(0);
                    let n_bytes = wanted.as_str().unwrap().len();
                    assert_eq!(shown.json()["body_bytes"], json!(n_bytes), "{case}");
                }
                "keywords" => assert_eq!(skill()["triggers"]["keywords"], *wanted, "{case}"),
                "diagnostics" => assert_eq!(json!(n_diagnostics), *wanted, "{case}: {listed}"),
                "min_diagnostics" => {
                    assert!(n_diagnostics as u64 >= wanted.as_u64().unwrap(), "{case}: {listed}");
                }
                "max_ms" => assert!(elapsed.as_millis() as u64 <= wanted.as_u64().unwrap()),
                other => panic!("unknown expectation `{other}`"),
            }
        }
    }
}

#[test]
fn arguments_go_where_the_conformance_cases_say() {
    let Some(cases) = shared("conformance/arguments.json") else { return };
    let place = Place::new();
    for case in read(&cases)["cases"].as_array().unwrap() {
        let hint = case.get("argument_hint").map(|hint| format!("argument-hint: {hint}\n"));
        let (hint, body) = (hint.unwrap_or_default(), case["body"].as_str().unwrap());
        let skill = format!("---\nname: x\ndescription: d\n{hint}---\n{body}");
        place.write("skills/x/SKILL.md", skill);
        let mut args = vec!["use", "--json", "--source", "skills", "x", "--"];
        args.extend(case["args"].as_str().filter(|args| !args.is_empty()));
        let answer = place.run(args).exits(0).json();
        assert_eq!(answer["status"], "success", "{case}");
        assert_eq!(answer["data"]["content"], case["out"], "{case}");
    }
}
