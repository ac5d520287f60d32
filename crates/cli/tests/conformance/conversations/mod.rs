//! The disclosures for single messages and for conversations: the case tables of lines and of
//! conversations, through every channel.

mod channel;

use serde_json::{Value, json};

use channel::{Channel, CommandLine, Hook, Library, Shown};

use crate::support;

/// Returns all channels to a catalog, each in its own conversation.
fn channels(skills: &[Value], max_skills: usize) -> Vec<Box<dyn Channel>> {
    vec![
        Box::new(Library::new(skills, max_skills)),
        Box::new(CommandLine::new(skills, max_skills)),
        Box::new(Hook::new(skills, max_skills)),
    ]
}

fn table(name: &str) -> Option<Value> {
    let path = support::shared(&format!("conformance/{name}.json"))?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn list(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_str).collect())
}

/// Asserts the expectations of a case about an answer.
fn check(case: &Value, shown: &Shown, context: &str) {
    let Shown { tier, full, registry, text } = shown;
    let context = format!("{context}: {case}\n{shown:?}");
    let is_full = |id: &&str| full.iter().any(|shown| shown == id);
    let is_listed = |id: &&str| registry.iter().any(|shown| shown == id);
    if let (Some(expected), Some(tier)) = (case["tier"].as_u64(), tier) {
        assert_eq!(*tier, expected, "{context}");
    }
    if case["full"].is_array() {
        assert_eq!(*full, list(&case["full"]), "{context}");
    }
    if let Some(first) = case["first"].as_str() {
        let mut shown = full.iter().chain(registry);
        assert_eq!(shown.next().map(String::as_str), Some(first), "{context}");
    }
    assert!(!list(&case["full_not"]).iter().any(is_full), "{context}");
    assert!(list(&case["lines"]).iter().all(is_listed), "{context}");
    assert!(list(&case["visible"]).iter().all(|id| is_full(id) || is_listed(id)), "{context}");
    assert!(case["lines_none"] != json!(true) || registry.is_empty(), "{context}");
    for (field, n) in [("max_lines", registry.len()), ("text_bytes", text.len())] {
        assert!(case[field].as_u64().is_none_or(|limit| n as u64 <= limit), "{field}, {context}");
    }
    assert!(case["max_bytes"].as_u64().is_none_or(|limit| text.len() as u64 <= limit), "{context}");
    assert!(list(&case["names"]).iter().all(|id| text.contains(id)), "{context}");
}

#[test]
fn a_message_gets_the_lines_of_the_table() {
    let Some(table) = table("lines") else { return };
    for (name, skills) in table["catalogs"].as_object().unwrap() {
        let cases =
            table["cases"].as_array().unwrap().iter().filter(|case| case["catalog"] == **name);
        let cases: Vec<&Value> = cases.collect();
        assert!(!cases.is_empty());
        for mut channel in channels(skills.as_array().unwrap(), 3) {
            for case in &cases {
                channel.restart();
                let shown = channel.say(case["query"].as_str().unwrap());
                check(case, &shown, channel.name());
            }
        }
    }
}

#[test]
fn a_conversation_is_told_nothing_twice_and_what_it_lost_once_more() {
    let Some(table) = table("conversations") else { return };
    let skills = table["catalog"].as_array().unwrap();
    for conversation in table["conversations"].as_array().unwrap() {
        let max_skills = conversation["max_skills"].as_u64().map_or(3, |n| n as usize);
        for mut channel in channels(skills, max_skills) {
            channel.restart();
            for step in conversation["steps"].as_array().unwrap() {
                if let Some(id) = step["use"].as_str() {
                    channel.activate(id, step["args"].as_str().unwrap_or_default());
                } else if step["event"] == "compacted" {
                    channel.compacted();
                } else {
                    let shown = channel.say(step["say"].as_str().unwrap());
                    check(step, &shown, &format!("{}, {}", channel.name(), conversation["name"]));
                }
            }
        }
    }
}
