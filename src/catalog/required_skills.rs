//! The skills that other skills build on (`requires_skills`).

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
    let missing = requiring.flat_map(|entry| {
        let needs = entry.skill.manifest().requires_skills.iter();
        needs.filter_map(|skill| missing(entry, &skill.value, &named))
    });
    missing.collect()
}

/// The finding about a skill that `entry` builds on; `None` if that one can be used.
fn missing(entry: &Entry, written: &str, named: &Named<'_>) -> Option<Diagnostic> {
    let found = named.entries_of(written);
    let problem = match found.first() {
        _ if found.iter().any(|found| found.is_available()) => return None,
        Some(found) => found.reason().unwrap_or_default(),
        None => "there is no such skill".to_owned(),
    };
    let path = entry.skill.location().unwrap_or(Path::new(""));
    let message = format!("skill `{}` requires the skill `{written}`: {problem}", entry.id);
    let help = "add that skill, or take it out of the requirements";
    Some(Diagnostic::new(Code::MissingSkill, path, message, help))
}
