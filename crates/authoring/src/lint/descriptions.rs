//! The rule for descriptions that say nothing specific.
//!
//! A word is *rare* if it is neither everyday nor technical, and occurs in few descriptions of the
//! catalog. A single rare word tells a skill from others. A word that is technical, or that many skills
//! share, says less, but two of them name a subject ("React hooks"). Words joined by a hyphen count as
//! one such word. A phrase in quotes is what a user would say, so a description with one is never vague.

use std::collections::{HashMap, HashSet};

use super::{Findings, Linted};
use crate::word_lists::is_common;
use repertoire::diagnostic::Code;
use repertoire_text::boundary::is_word;
use repertoire_text::fold_trigger;
use repertoire_text::words::is_everyday;

/// A word that occurs in more than one in this many descriptions is not rare, ...
const RARE_SHARE: usize = 10;

/// ... but a word in at most this many descriptions can be, however small the catalog.
const ALWAYS_RARE: usize = 3;

/// This many words that are neither rare nor everyday name a subject.
const NAMES_A_SUBJECT: usize = 2;

/// This many words in a row, without a word of grammar between them, are a name.
const NAME_WORDS: usize = 3;

/// Words of grammar, words of praise, and words about skills in general.
#[rustfmt::skip]
const GRAMMAR: &[&str] = &[
    "a", "about", "across", "all", "also", "an", "and", "any", "are", "as", "asks", "at", "be",
    "best", "better", "but", "by", "can", "do", "does", "each", "every", "for", "from", "good",
    "great", "help", "helps", "how", "if", "in", "into", "is", "it", "its", "just", "like", "make",
    "makes", "many", "more", "most", "needed", "new", "no", "not", "of", "on", "one", "only", "or",
    "other", "our", "right", "simple", "skill", "skills", "so", "some", "than", "that", "the",
    "their", "them", "then", "these", "they", "thing", "things", "this", "to", "use", "used",
    "user", "using", "valid", "very", "want", "wants", "we", "well", "what", "when", "where",
    "which", "will", "with", "work", "working", "works", "you", "your",
];

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
        let is_rare = |word: &&str| !is_common(word) && n_with[word] <= most;
        let telling = of_skill.iter().filter(|word| !is_everyday(word)).count();
        let written = skills[place].entry.skill.description();
        let names = n_compounds(&descriptions[place])
            + usize::from(has_abbreviation(written))
            + usize::from(has_name(&descriptions[place]));
        if of_skill.iter().any(is_rare)
            || telling + names >= NAMES_A_SUBJECT
            || quotes_a_phrase(&descriptions[place])
        {
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

/// The number of distinct compounds with a hyphen, such as "server-sent".
fn n_compounds(folded: &str) -> usize {
    let is_part = |c: char| is_word(c) || c == '-';
    let compounds = folded.split(|c| !is_part(c)).filter(|word| {
        word.trim_matches('-').split('-').filter(|part| part.chars().count() > 2).count() > 1
    });
    compounds.collect::<HashSet<_>>().len()
}

/// Tells whether a text that is not all in capitals has a word of capitals, such as "API".
fn has_abbreviation(text: &str) -> bool {
    let is_capitals = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    let mut words = text.split(|c| !is_word(c));
    text.chars().any(char::is_lowercase) && words.any(is_capitals)
}

/// Tells whether a folded text has [`NAME_WORDS`] adjacent words that are not words of grammar.
fn has_name(folded: &str) -> bool {
    let clauses = folded.split([',', '.', ';', ':', '(', ')']);
    clauses.into_iter().any(|clause| {
        let words: Vec<&str> = clause.split_whitespace().collect();
        words.split(|word| GRAMMAR.contains(word)).any(|run| run.len() >= NAME_WORDS)
    })
}

/// Tells whether a folded text has a quoted phrase of two words or more.
fn quotes_a_phrase(folded: &str) -> bool {
    let mut parts = folded.split(['"', '“', '”']);
    parts.next();
    // Every second part is between two quotes. An unclosed quote does not count.
    let parts: Vec<&str> = parts.collect();
    parts.chunks_exact(2).any(|pair| pair[0].split_whitespace().count() > 1)
}

/// The distinct words of a folded text. A word that is not ASCII may be several words of a script
/// without spaces, so its pairs of characters are used instead.
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
