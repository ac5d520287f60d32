//! The skills that other skills build on (`requires_skills`).

use std::collections::HashMap;
use std::path::Path;

use super::naming::{Named, meant};
use super::visibility::Audience;
use super::{Catalog, Entry};
use crate::diagnostic::{Code, Diagnostic};

impl Catalog {
    /// The skills that `entry` builds on, as it names them, each with the one that a model may load.
    pub(crate) fn required<'c>(
        &'c self,
        entry: &'c Entry,
    ) -> impl Iterator<Item = (&'c str, Option<&'c Entry>)> {
        let names = &entry.skill.manifest().requires_skills;
        // Nearly no skill requires others.
        let loadable: Vec<&Entry> =
            if names.is_empty() { Vec::new() } else { self.listed(Audience::Model).collect() };
        names.iter().map(move |name| {
            let found = meant(&loadable, &name.value).entries;
            (name.value.as_str(), found.first().copied())
        })
    }
}

/// The findings about available skills that build on skills which do not exist or cannot be used.
pub(super) fn missing_skills(entries: &[Entry]) -> Vec<Diagnostic> {
    let requires =
        |entry: &&Entry| entry.is_available() && !entry.skill.manifest().requires_skills.is_empty();
    let mut requiring = entries.iter().filter(requires).peekable();
    if requiring.peek().is_none() {
        return Vec::new();
    }
    let named = Named::new(entries.iter().filter(|entry| !entry.is_shadowed()));
    // A look-up compares the name with all skills, and many of one source name the same ones.
    let mut problems: HashMap<&str, Option<String>> = HashMap::new();
    let mut findings = Vec::new();
    for entry in requiring {
        for written in entry.skill.manifest().requires_skills.iter().map(|skill| &*skill.value) {
            let problem = problems.entry(written).or_insert_with(|| problem_with(written, &named));
            findings.extend(problem.as_ref().map(|problem| missing(entry, written, problem)));
        }
    }
    findings
}

/// Why the skill that is `written` cannot be used; `None` if it can.
fn problem_with(written: &str, named: &Named<'_>) -> Option<String> {
    let found = named.entries_of(written);
    match found.first() {
        _ if found.iter().any(|found| found.is_available()) => None,
        Some(found) => Some(found.reason().unwrap_or_default()),
        None => Some("there is no such skill".to_owned()),
    }
}

/// The finding about a skill that `entry` builds on and that cannot be used.
fn missing(entry: &Entry, written: &str, problem: &str) -> Diagnostic {
    let path = entry.skill.location().unwrap_or(Path::new(""));
    let message = format!("skill `{}` requires the skill `{written}`: {problem}", entry.id);
    let help = "add that skill, or take it out of the requirements";
    Diagnostic::new(Code::MissingSkill, path, message, help)
}
