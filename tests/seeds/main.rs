//! The five descriptions of skill systems that this engine unifies, from 000 to 004: a test for each row that is not
//! about words or names alone. Where they contradict each other, the pages of `docs/` say which one holds.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod activation;
mod disclosure;
mod errors;
mod roles;

use std::fs;
use std::path::Path;

use repertoire::{Audience, Engine, EngineBuilder, Envelope, Source};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes files below a directory of their own.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(dir.path(), path, text);
    }
    dir
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the text of a skill with these fields, on lines of their own.
fn skill(name: &str, fields: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name} things. And more.\n{fields}---\n{body}\n")
}

fn builder(dir: &TempDir) -> EngineBuilder {
    Engine::builder().source(Source::user(dir.path()))
}

/// Calls `use_skill` in the session `chat`.
fn use_skill(engine: &Engine, chat: &str, arguments: &Value) -> Envelope {
    engine.tools(&engine.session(chat)).call("use_skill", arguments)
}

fn listed(engine: &Engine, audience: Audience) -> Vec<String> {
    engine.catalog().listed(audience).map(|entry| entry.id.to_string()).collect()
}

#[test]
fn seed_000_controls_decide_who_may_invoke_a_skill() {
    let dir = tree(&[
        ("plain/SKILL.md", &skill("plain", "", "p")),
        ("closed/SKILL.md", &skill("closed", "disable-model-invocation: true\n", "c")),
        ("hidden/SKILL.md", &skill("hidden", "user-invocable: false\n", "h")),
    ]);
    let engine = builder(&dir).build().unwrap();
    let prompt = engine.prompt().text;
    for (id, user, model) in
        [("plain", true, true), ("closed", true, false), ("hidden", false, true)]
    {
        let session = engine.session(id);
        let typed = engine.user_message(&format!("/{id}"), &session).unwrap();
        assert_eq!(typed.is_some(), user, "/{id}");
        let used = use_skill(&engine, "model", &json!({"skill": id}));
        assert_eq!(used.code().is_none(), model, "{id}: {used:?}");
        assert_eq!(prompt.contains(&format!("- {id}:")), model, "{id}: {prompt}");
    }
    assert_eq!(engine.user_message("/unknown PR", &engine.session("s")).unwrap(), None);
}

#[test]
fn seed_000_the_directory_of_the_user_wins_over_the_one_that_ships() {
    let shipped = tree(&[("review/SKILL.md", &skill("review", "", "shipped"))]);
    let own = tree(&[("review/SKILL.md", &skill("review", "", "own"))]);
    let engine = Engine::builder()
        .source(Source::bundled(shipped.path()))
        .source(Source::user(own.path()))
        .build()
        .unwrap();
    let activation = engine.activate("review", "", &engine.session("s")).unwrap();
    assert_eq!(activation.content.trim(), "own");
}
