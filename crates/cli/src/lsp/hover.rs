//! The messages that bring a skill, shown over its front matter.

use std::fmt::Write as _;

use repertoire::{Engine, Skill, Source};
use serde_json::{Value as Json, json};

use super::completion::is_in_front_matter;

/// The maximum number of messages that are shown.
const MAX_MESSAGES: usize = 8;

/// The maximum number of examples and triggers that are tried.
const MAX_TRIED: usize = 100;

/// Returns what is shown over byte `at` of `text`; null over the body, and if the skill does not load.
pub(super) fn of(text: &str, at: usize, brand: &str) -> Json {
    if !is_in_front_matter(&text[..at]) {
        return Json::Null;
    }
    let Ok(skill) = Skill::parse(text, brand) else { return Json::Null };
    let (id, examples) = (skill.name().to_owned(), skill.manifest().examples.clone());
    let triggers = skill.triggers();
    let typed = triggers.keywords.iter().chain(&triggers.verbs);
    let should = examples.should.iter().chain(typed).map(|of| of.value.clone());
    let mut messages: Vec<String> = should.collect();
    messages.truncate(MAX_TRIED);
    messages.push(format!("use the {id} skill"));
    let built = Engine::builder().brand(brand).source(Source::memory(vec![skill])).build();
    let Ok(engine) = built else { return Json::Null };
    let mut told = format!("Messages that bring `{id}`:\n");
    // Only what really does is shown: an example may be wrong.
    let brings = |message: &String| !engine.disclose(message.as_str()).full.is_empty();
    let (brought, silent): (Vec<String>, Vec<String>) = messages.into_iter().partition(brings);
    for message in brought.into_iter().take(MAX_MESSAGES) {
        // Writing to a `String` cannot fail.
        let _ = write!(told, "\n- {message}");
    }
    for message in silent.into_iter().take(MAX_MESSAGES) {
        let _ = write!(told, "\n- not in full: {message}");
    }
    json!({"contents": {"kind": "markdown", "value": told}})
}
