//! The sentence of a list that says how to load its skills.

use std::fmt::Write as _;
use std::path::{Path, absolute};

use super::shorten::one_line;
use crate::catalog::Entry;

/// The way in which the model loads a listed skill. Each list states it in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HowToLoad {
    /// The list does not say how to load a skill; the host does so elsewhere.
    #[default]
    Unsaid,
    /// By calling the tool of this name.
    Tool(String),
    /// By reading the skill's file.
    File,
    /// A sentence in the host's own words.
    Sentence(String),
}

impl HowToLoad {
    /// The sentence for a list of these skills; `None` if there is nothing to say.
    pub(super) fn sentence(&self, entries: &[&Entry]) -> Option<String> {
        if entries.is_empty() {
            return None;
        }
        match self {
            HowToLoad::Unsaid => None,
            HowToLoad::Tool(name) => Some(format!("Load one with `{name}`.")),
            HowToLoad::File => files(entries),
            HowToLoad::Sentence(sentence) => Some(one_line(sentence).into_owned()),
        }
    }
}

/// Returns a sentence that names the files of these skills, grouped by location.
fn files(entries: &[&Entry]) -> Option<String> {
    let mut places: Vec<(String, Vec<&str>)> = Vec::new();
    for entry in entries {
        let Some(path) = entry.skill.path() else { continue };
        let (place, id) = (place(path, entry.id.as_str()), entry.id.as_str());
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, ids)) => ids.push(id),
            None => places.push((place, vec![id])),
        }
    }
    // The location with the most skills comes first, without their ids.
    places.sort_by_key(|(_, ids)| std::cmp::Reverse(ids.len()));
    let (most, others) = places.split_first()?;
    let mut sentence = format!("To use one, read its file first: {}", most.0);
    for (place, ids) in others {
        let _ = write!(sentence, "; of {}: {place}", ids.join(", "));
    }
    Some(one_line(&sentence).into_owned())
}

/// Returns the path of a skill's file, with `ID` for the id if the path ends in `<id>/SKILL.md`.
fn place(path: &Path, id: &str) -> String {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let below = Path::new(id).join("SKILL.md");
    if !path.ends_with(&below) {
        return path.display().to_string();
    }
    let root = path.ancestors().nth(below.components().count()).unwrap_or(&path);
    root.join("ID").join("SKILL.md").display().to_string()
}
