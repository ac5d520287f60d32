//! Measurements of how often the right skill is disclosed: formats of prompts, figures checked by hand,
//! limits, comparisons, and the page.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ask;
mod benchmark;
mod benchmark_notes;
#[path = "../support/binary.rs"]
mod binary;
mod bundled;
mod command;
mod figures;
mod forms;
mod odd_models;
mod odd_servers;
mod options;
mod reading;

use repertoire::{Engine, EngineBuilder, Skill};
use serde_json::{Value, json};

fn skill(name: &str, triggers: &str) -> Skill {
    format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: [{triggers}]\n---\nBody\n")
        .parse()
        .unwrap()
}

/// Builds an engine with three skills: `deploy`, `review`, and `notes`, which also fires on `review`.
fn engine() -> Engine {
    let skills =
        [skill("deploy", "deploy"), skill("review", "review"), skill("notes", "notes, review it")];
    skills.into_iter().fold(Engine::builder(), EngineBuilder::skill).build().unwrap()
}

/// Returns seven prompts that determine every figure.
fn rows() -> Vec<Value> {
    vec![
        json!({"query": "deploy this", "expected": "deploy"}),
        json!({"query": "please review it", "expected": "review"}),
        json!({"query": "put it online", "expected": "deploy"}),
        json!({"query": "deploy and review", "expected": ["deploy", "review"]}),
        json!({"query": "what is deploy?", "expected": []}),
        json!({"query": "review", "skill": "deploy", "label": false}),
        json!({"query": "hello", "skill": "notes", "label": false}),
    ]
}
