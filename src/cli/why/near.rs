//! Triggers that came close.

use std::collections::BTreeSet;

use repertoire::catalog::Entry;
use serde::Serialize;

use crate::list::trigger_kinds;

/// So many triggers that came close are named.
const MAX_NEAR: usize = 5;

/// Words that are this similar are taken for forms or misspellings of each other.
const SIMILAR: f64 = 0.88;

/// A trigger some of whose words are in the message.
#[derive(Debug, Serialize)]
pub(super) struct Near {
    pub(super) kind: &'static str,
    pub(super) trigger: String,
    /// Words of the trigger that are not in the message.
    pub(super) missing: Vec<String>,
    /// A word of the message that may be meant for one that is missing.
    pub(super) similar: Option<String>,
    /// Whether the trigger stands in the message as it is, but not as words of its own.
    pub(super) is_inside: bool,
}

/// The triggers that came close, the closest first.
pub(super) fn near(entry: &Entry, message: &str) -> Vec<Near> {
    let message = folded(message);
    let said = said(&message);
    let literal = trigger_kinds(entry.skill.triggers());
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
                near.push(Near {
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
    near.truncate(MAX_NEAR);
    near
}

/// In lower case, with single blanks and straight apostrophes.
fn folded(text: &str) -> String {
    let text = text.to_lowercase().replace('’', "'");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a folded text: what stands between blanks, the same without the marks around it,
/// and where it is joined of several, those.
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

    /// The first trigger that came close, as what is missing and whether it is inside of a word.
    fn close(trigger: &str, message: &str) -> Option<(Vec<String>, bool)> {
        let text = format!("---\nname: a\ndescription: d\ntriggers: [\"{trigger}\"]\n---\n");
        let skill: Skill = text.parse().unwrap();
        let engine = Engine::builder().skill(skill).build().unwrap();
        let catalog = engine.catalog();
        let first = near(catalog.get("a").unwrap(), message).into_iter().next();
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
