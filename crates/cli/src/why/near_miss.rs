//! Triggers that nearly matched.

use std::collections::BTreeSet;

use repertoire::catalog::Entry;
use serde::Serialize;

/// The maximum number of near misses that are named.
const MAX_NEAR_MISSES: usize = 5;

/// The minimum similarity at which words count as forms or misspellings of each other.
const SIMILAR: f64 = 0.88;

/// A trigger of which the message contains some words.
#[derive(Debug, Serialize)]
pub(super) struct NearMiss {
    pub(super) kind: &'static str,
    pub(super) trigger: String,
    /// Words of the trigger that are not in the message.
    pub(super) missing: Vec<String>,
    /// A word of the message that may stand for a missing one.
    pub(super) similar: Option<String>,
    /// True if the trigger occurs in the message, but inside longer words.
    pub(super) is_inside: bool,
}

/// Returns the triggers that nearly matched, the closest first.
pub(super) fn near_misses(entry: &Entry, message: &str) -> Vec<NearMiss> {
    let message = folded(message);
    let said = said(&message);
    let literal = entry.skill.triggers().kinds();
    let literal = literal.iter().filter(|(kind, _)| matches!(*kind, "keywords" | "verbs"));
    let mut near = Vec::new();
    for (kind, triggers) in literal {
        for trigger in *triggers {
            let folded = folded(&trigger.value);
            let wanted: BTreeSet<&str> = folded.split(' ').collect();
            let is_inside = message.contains(&folded);
            let missing: Vec<&str> =
                wanted.difference(&said).copied().filter(|_| !is_inside).collect();
            let similar = missing.iter().find_map(|wanted| {
                let is_similar = |word: &&&str| strsim::jaro_winkler(word, wanted) >= SIMILAR;
                said.iter().find(is_similar).map(|word| (*word).to_owned())
            });
            if missing.len() < wanted.len() || similar.is_some() {
                near.push(NearMiss {
                    kind: kind.trim_end_matches('s'),
                    trigger: trigger.value.clone(),
                    missing: missing.into_iter().map(str::to_owned).collect(),
                    similar,
                    is_inside,
                });
            }
        }
    }
    near.sort_by_key(|near| (near.missing.len(), near.similar.is_none()));
    near.truncate(MAX_NEAR_MISSES);
    near
}

/// Folds a text: lower case, single blanks and straight apostrophes.
fn folded(text: &str) -> String {
    let text = text.to_lowercase().replace('’', "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the words of a folded text: the parts between blanks, the same parts without surrounding
/// punctuation, and the parts of compounds.
fn said(text: &str) -> BTreeSet<&str> {
    let is_mark = |c: char| !c.is_alphanumeric();
    text.split(' ')
        .flat_map(|word| {
            let bare = word.trim_matches(is_mark);
            let parts = bare.split(['-', '/', '_']);
            [word, word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']), bare]
                .into_iter()
                .chain(parts)
        })
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use repertoire::{Engine, Skill};

    use super::*;

    /// Returns the missing words of a trigger that nearly matched, and true if it is inside a word.
    fn close(trigger: &str, message: &str) -> Option<(Vec<String>, bool)> {
        let text = format!("---\nname: a\ndescription: d\ntriggers: [\"{trigger}\"]\n---\n");
        let skill: Skill = text.parse().unwrap();
        let engine = Engine::builder().skill(skill).build().unwrap();
        let catalog = engine.catalog();
        let first = near_misses(catalog.get("a").unwrap(), message).into_iter().next();
        first.map(|near| (near.missing, near.is_inside))
    }

    #[test]
    fn only_words_of_a_trigger_make_it_close() {
        let missing = |words: &[&str]| {
            Some((words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), false))
        };
        let inside = Some((Vec::new(), true));
        for (trigger, message, wanted) in [
            ("deploy", "run my_deploy now", inside.clone()),
            (".net", "an asp.net core site", inside),
            ("c#", "written in c++20", None),
            ("don't", "what can you do?", None),
            ("don't", "I Don’tcare", Some((Vec::new(), true))),
            ("commit message", "a message, to commit", missing(&[])),
            ("commit message", "one commit-message", missing(&[])),
            ("commit message", "explain these commits", missing(&["commit", "message"])),
            ("pull request", "a feature request", missing(&["pull"])),
            ("deploy", "make tea", None),
        ] {
            assert_eq!(close(trigger, message), wanted, "{trigger}: {message}");
        }
    }
}
