//! Notes in the context about skills whose instructions are not there.

use std::fmt::Write as _;

use repertoire::catalog::{Audience, Entry};
use repertoire::disclosure::{Disclosure, Fallback, Reason, path_line};
use repertoire::engine::Engine;

/// The part of the context that is reserved for notes which say where to find instructions that do not fit, in
/// characters.
pub(super) const NOTES: usize = 1_000;

/// The gap between two parts of the context.
pub(super) const GAP: &str = "\n\n";

/// Returns the sentence about a skill whose command the user typed.
pub(super) fn is_command(id: &str) -> String {
    format!(
        "The user typed the command of the skill `{id}`, which is installed although the agent does \
         not know the command."
    )
}

/// Adds notes to the disclosed text that say where the instructions are that did not fit and whose line,
/// which says the same, did not fit either, as far as there is room for them.
pub(super) fn with_notes(mut text: String, disclosure: &Disclosure, engine: &Engine) -> String {
    let has_line =
        |reason: &Reason| matches!(reason, Reason::OverBudget { shown: Fallback::Line, .. });
    let mut room = NOTES;
    let catalog = engine.catalog();
    for (id, _) in disclosure.too_long().filter(|(_, reason)| !has_line(reason)) {
        let entry = catalog.find(id.as_str(), Audience::Model).ok();
        let Some(note) = entry.map(too_long) else { continue };
        let n_chars = note.chars().count() + GAP.len();
        if n_chars <= room {
            room -= n_chars;
            let _ = write!(text, "{GAP}{note}");
        }
    }
    text
}

/// Returns the note that replaces instructions that do not fit.
pub(super) fn too_long(entry: &Entry) -> String {
    let id = &entry.id;
    match entry.skill.path() {
        Some(path) => format!(
            "The instructions of the skill `{id}` are too long to stand here. Read them before you \
             go on: {}",
            path_line(&path.display().to_string())
        ),
        None => format!("The instructions of the skill `{id}` are too long to stand here."),
    }
}

/// Returns the note that replaces the instructions of a command whose skill runs as a task.
pub(super) fn as_task(entry: &Entry) -> String {
    let path = entry.skill.path().map(|path| path_line(&path.display().to_string()));
    let subagent = match &entry.skill.manifest().agent {
        Some(agent) => format!("a subagent (`{}`)", path_line(&agent.value)),
        None => "a subagent".to_owned(),
    };
    format!(
        "The skill `{}` runs as a task of its own: give {subagent} what the user typed after the command, and \
         let it follow the instructions in {}. Tell the user what it reports.",
        entry.id,
        path.unwrap_or_default()
    )
}
