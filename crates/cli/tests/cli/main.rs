//! The command line: its output, streams, exit codes, settings and pages.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod authoring;
#[path = "../support/binary.rs"]
mod binary;
#[cfg(target_os = "linux")]
#[path = "../support/browser.rs"]
mod browser;
mod commands;
mod completions;
mod config;
mod config_code;
mod config_edits;
mod failures;
#[cfg(unix)]
mod init;
mod lsp;
mod mcp_install;
mod models;
mod names;
mod options;
mod package;
#[cfg(target_os = "linux")]
mod pages;
#[path = "../support/play.rs"]
mod play;
#[path = "../../../../tests/support/plugin.rs"]
mod plugin;
#[cfg(target_os = "linux")]
mod pty;
mod queries;
mod reasons;
#[cfg(unix)]
mod retriever;
#[cfg(target_os = "linux")]
mod short_writes;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/mod.rs"]
#[expect(dead_code, reason = "these tests need no shared data")]
mod support;
mod terminal;
#[path = "../support/transformer.rs"]
mod transformer;
mod trust;
mod trust_changes;
#[cfg(unix)]
mod untrusted;
mod use_and_run;

use binary::Place;
use serde_json::Value;

/// Creates a place with two valid skills in `skills`.
fn place() -> Place {
    let place = Place::new();
    write_skill(&place, "skills/alpha");
    write_skill(&place, "skills/beta");
    place
}

/// Writes a valid skill that has its name as its keyword.
fn write_skill(place: &Place, dir: &str) {
    let name = dir.rsplit('/').next().unwrap();
    let front_matter = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{name}]");
    place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\nBody\n"));
}

fn ids(skills: &Value) -> Vec<&str> {
    skills.as_array().unwrap().iter().map(|skill| skill["id"].as_str().unwrap()).collect()
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Asserts that `text` contains all `parts`.
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// Asserts that `text` contains none of `parts`.
fn assert_lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is in:\n{text}");
    }
}
