//! The shared conformance cases, through the library, the command line, and every channel that a
//! message can take.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "so does what runs the binary")]

#[path = "../support/binary.rs"]
mod binary;
mod cli;
mod conversations;
mod library;
#[path = "../../../../tests/support/mod.rs"]
mod support;

/// Returns a skill of a case table as the text of a file. JSON is valid YAML.
fn skill_file(skill: &serde_json::Value) -> String {
    let field = |key: &&str| skill.get(*key).map(|value| format!("{key}: {value}\n"));
    let fields: String = ["name", "description", "triggers"].iter().filter_map(field).collect();
    format!("---\n{fields}---\n{}", skill["body"].as_str().unwrap_or_default())
}
