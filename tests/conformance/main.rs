//! The shared conformance cases, through the library, the command line, and every channel that a
//! message can take.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg_attr(feature = "cli", expect(clippy::panic, reason = "so does what runs the binary"))]

#[cfg(feature = "cli")]
#[path = "../support/binary.rs"]
mod binary;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod conversations;
mod library;
#[path = "../support/mod.rs"]
mod support;

/// Returns a skill of a case table as the text of a file. JSON is valid YAML.
fn skill_file(skill: &serde_json::Value) -> String {
    let field = |key: &&str| skill.get(*key).map(|value| format!("{key}: {value}\n"));
    let fields: String = ["name", "description", "triggers"].iter().filter_map(field).collect();
    format!("---\n{fields}---\n{}", skill["body"].as_str().unwrap_or_default())
}
