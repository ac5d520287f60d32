//! Descriptions that say nothing specific.
//!
//! A word is specific if it is not common in messages to agents and stands in few descriptions of
//! the catalog. A description without any gives an agent, and relevance, nothing to choose the skill
//! by.

use std::collections::{HashMap, HashSet};

use super::{Findings, Linted};
use crate::background::is_common;
use crate::diagnostic::Code;
use crate::matcher::boundary::is_word;
use crate::matcher::text::fold_trigger;

/// A word of more descriptions than one in so many is not specific, ...
const RARE_SHARE: usize = 10;

/// ... but one of so few is, however small the catalog.
const ALWAYS_RARE: usize = 3;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let descriptions: Vec<String> =
        skills.iter().map(|skill| fold_trigger(skill.entry.skill.description())).collect();
    let words: Vec<HashSet<&str>> = descriptions.iter().map(|text| words(text)).collect();
    let mut n_with: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flatten() {
        *n_with.entry(word).or_default() += 1;
    }
    let most = (skills.len() / RARE_SHARE).max(ALWAYS_RARE);
    for (place, of_skill) in words.iter().enumerate() {
        let is_specific = |word: &&str| !is_common(word) && n_with[word] <= most;
        if of_skill.iter().any(is_specific) {
            continue;
        }
        findings.add(
            place,
            Code::VagueDescription,
            skills[place].entry.skill.manifest().description.as_ref().map(|d| &d.span),
            "the description holds no word that tells the skill from others",
            "name the tools, formats and occasions the skill is for, in the words of its users",
        );
    }
}

/// The distinct words of a folded text. A run of a script without spaces is several words, so it
/// counts by its pairs of characters.
fn words(folded: &str) -> HashSet<&str> {
    let mut words = HashSet::new();
    for word in folded.split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
        if word.is_ascii() {
            words.insert(word);
            continue;
        }
        let places: Vec<usize> = word.char_indices().map(|(place, _)| place).collect();
        let ends = places.iter().skip(2).copied().chain([word.len()]);
        words.extend(places.iter().zip(ends).map(|(&start, end)| &word[start..end]));
    }
    words
}
