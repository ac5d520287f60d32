//! The shared conformance cases, through the library.

use std::fs::read_to_string;
use std::ops::Range;

use repertoire::{DisclosureOptions, Engine, Session, Skill};
use serde_json::{Value, json};

use crate::{skill_file, support};

fn table(relative: &str) -> Option<Value> {
    let text = read_to_string(support::shared(relative)?).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn table_of_lines(relative: &str) -> Option<Vec<Value>> {
    let text = read_to_string(support::shared(relative)?).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn engine(skills: &[Value]) -> Engine {
    let skills = skills.iter().map(|skill| skill_file(skill).parse::<Skill>().unwrap());
    skills.fold(Engine::builder(), repertoire::EngineBuilder::skill).build().unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect())
}

#[test]
fn keywords_hit_where_words_end() {
    let Some(table) = table("conformance/boundaries.json") else { return };
    for case in table["cases"].as_array().unwrap() {
        let skill = json!({"name": "x-y-z", "description": "d", "triggers": [case["keyword"]]});
        let engine = engine(&[skill]);
        let query = case["query"].as_str().unwrap();
        let matches = engine.matches(query);
        assert_eq!(!matches.is_empty(), case["hit"].as_bool().unwrap(), "{case}");
        for hit in matches.iter().flat_map(|found| &found.hits) {
            let Range { start, end } = hit.span;
            assert!(query.is_char_boundary(start) && query.is_char_boundary(end) && start < end);
        }
    }
}

#[test]
fn disclosures_have_the_tier_and_the_skills_of_the_table() {
    let Some(table) = table("conformance/tiers.json") else { return };
    for case in table["cases"].as_array().unwrap() {
        let catalog = table["catalogs"][case["catalog"].as_str().unwrap()].as_array().unwrap();
        let engine = engine(catalog);
        let mut options = DisclosureOptions::default();
        if let Some(max_skills) = case["max_skills"].as_u64() {
            options.max_skills = usize::try_from(max_skills).unwrap();
        }
        let disclosure = engine
            .turn(case["query"].as_str().unwrap(), &Session::in_memory("t"))
            .options(&options)
            .preview();
        let context = format!("{case}\n{disclosure:#?}");

        assert_eq!(disclosure.tier as u64, case["tier"].as_u64().unwrap(), "{context}");
        for (field, shown) in [("full", &disclosure.full), ("registry", &disclosure.registry)] {
            if case.get(field).is_none() {
                continue;
            }
            let mut expected = texts(&case[field]);
            let mut shown: Vec<&str> = shown.iter().map(repertoire::SkillId::as_str).collect();
            if case["ordered"] == json!(false) {
                expected.sort_unstable();
                shown.sort_unstable();
            }
            assert_eq!(shown, expected, "{field} of {context}");
        }
        if let Some(n_full) = case["full_count"].as_u64() {
            assert_eq!(disclosure.full.len() as u64, n_full, "{context}");
        }
        if let Some(text) = case["text"].as_str() {
            assert_eq!(disclosure.text, text, "{context}");
        }
        for part in texts(&case["contains"]) {
            assert!(disclosure.text.contains(part), "{part} in {context}");
        }
    }
}

#[test]
fn arguments_go_where_the_table_says() {
    let Some(table) = table("conformance/arguments.json") else { return };
    for case in table["cases"].as_array().unwrap() {
        let text = |field: &str| case[field].as_str().unwrap_or_default();
        let hint = case.get("argument_hint").map(|hint| format!("argument-hint: {hint}\n"));
        let skill = format!(
            "---\nname: x\ndescription: d\n{}---\n{}",
            hint.unwrap_or_default(),
            text("body")
        );
        let engine = Engine::builder().skill(skill.parse().unwrap()).build().unwrap();
        let session = engine.session("s");
        let by_name = engine.activate("x", text("args"), &session).unwrap();
        assert_eq!(by_name.content, text("out"), "{case}");
        let typed = engine.user_message(&format!("/x {}", text("args")), &session).unwrap();
        assert_eq!(typed.unwrap().content, text("out"), "{case}");
    }
}

#[test]
fn keyword_cases_of_another_engine_agree_but_for_underscores() {
    let Some(cases) = table_of_lines("corpus/routing/keyword-boundary/cases.jsonl") else { return };
    let mut n_cases = 0;
    for case in cases {
        let keyword = case["keyword"].as_str().unwrap();
        let message = case["message"].as_str().unwrap();
        // The cases treat `_` as a word boundary, so skip messages with `_`. Also skip open questions,
        // whose expectation is a text.
        let (Some(expected), false) = (case["match"].as_bool(), message.contains('_')) else {
            continue;
        };
        let skill = json!({"name": "x-y-z", "description": "d", "triggers": [keyword]});
        let found = !engine(&[skill]).matches(message).is_empty();
        assert_eq!(found, expected, "{case}");
        n_cases += 1;
    }
    assert!(n_cases > 30, "{n_cases} cases were tried");
}
