//! Messages that need no skill: approvals, refusals, impatience, short follow-ups.

use std::collections::BTreeSet;

use repertoire::{Engine, EngineBuilder};

use crate::skill;

/// The messages, one on each line, as people type them in the middle of work.
const MESSAGES: &str = include_str!("../fixtures/disclosure/idle.txt");

/// The budget: enough for the number of skills, and for nothing else.
const MAX_BYTES: usize = 40;

/// The subjects of the skills. No message names any of them.
const SUBJECTS: [&str; 20] = [
    "invoices", "migrations", "dashboards", "contracts", "podcasts", "firmware", "translations",
    "warehouses", "recipes", "spreadsheets", "newsletters", "satellites", "genomes", "payrolls",
    "wireframes", "playlists", "tournaments", "pipelines", "glossaries", "turbines",
];

/// The actions of the skills: a name, and words that people also use to agree, refuse or go on.
const ACTS: [(&str, &str); 10] = [
    ("finish", "Keeps going until the rest of the {} is done, and tells what is next"),
    ("compare", "Puts one of the {} beside the other and says which looks good"),
    ("restore", "Goes back to how the {} were before, if something is wrong"),
    ("retry", "Tries the {} again when they stop working, as long as it takes"),
    ("explain", "Says why the {} are the way they are, in a minute"),
    ("order", "Sorts the {}: the first, the second, and both of the last"),
    ("approve", "Makes sure that the {} are fine, and thanks whoever sent them"),
    ("watch", "Waits for the {} and holds on until they are there"),
    ("draft", "Suggests what to do with the {} today, whatever you want or think is best"),
    ("clean", "Leaves the good {} and takes away what you forgot, please"),
];

/// Builds a catalog of 200 skills whose descriptions share ordinary words with the messages. Every
/// tenth skill declares triggers, which only concern its subject.
fn catalog() -> Engine {
    let skills = SUBJECTS.iter().enumerate().flat_map(|(i, subject)| {
        ACTS.iter().enumerate().map(move |(j, (act, does))| {
            let does = does.replace("{}", subject);
            let triggers = if j == i % ACTS.len() {
                format!("triggers: [{act} {subject}]\n")
            } else {
                String::new()
            };
            let front = format!("name: {act}-{subject}\ndescription: '{does}.'\n{triggers}");
            skill(&format!("---\n{front}---\n# {act} {subject}\n\n{does}. Then go on.\n"))
        })
    });
    skills.fold(Engine::builder(), EngineBuilder::skill).build().unwrap()
}

#[test]
fn there_are_sixty_different_messages() {
    let messages: BTreeSet<&str> = MESSAGES.lines().collect();
    assert_eq!((messages.len(), MESSAGES.lines().count()), (60, 60));
    assert!(messages.iter().all(|message| !message.trim().is_empty()));
    let is_foreign =
        |message: &&&str| message.chars().any(char::is_alphabetic) && !message.is_ascii();
    assert!(messages.iter().filter(is_foreign).count() >= 8);
    assert_eq!(catalog().catalog().entries().count(), 200);
}

#[test]
fn a_message_that_needs_no_skill_costs_the_count_alone() {
    let engine = catalog();
    let too_long: Vec<String> = MESSAGES
        .lines()
        .map(|message| (message, engine.disclose(message).text.len()))
        .filter(|(_, length)| *length > MAX_BYTES)
        .map(|(message, length)| format!("{length} bytes for `{message}`"))
        .collect();
    assert!(too_long.is_empty(), "{} of 60:\n{}", too_long.len(), too_long.join("\n"));
}
