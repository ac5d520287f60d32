//! From text to the terms that are looked for.
//!
//! Text is normalised and folded as queries are (`text.rs`). A word of letters and digits is a
//! term; an identifier (`parseJSONFile`, `s3_bucket`) is one in its parts and, where nothing
//! separates them, as a whole. Scripts without spaces between words, and Hangul, whose particles
//! follow without one, give a term for every two characters. English words are stemmed.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::stem::stem;
use crate::matcher::boundary::is_word;
use crate::matcher::text::push_folded;

/// Words of English that say little about what a message is for, and those in which people speak
/// to an agent. Sorted.
pub(in crate::matcher) const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "been", "being", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "each",
    "else", "few", "for", "from", "get", "got", "had", "has", "have", "having", "he", "help",
    "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "let", "like",
    "make", "may", "me", "might", "mine", "more", "most", "must", "my", "need", "no", "nor", "not",
    "of", "on", "once", "only", "onto", "or", "other", "our", "own", "please", "same", "shall",
    "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "us", "use", "used", "user", "users", "using",
    "very", "want", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose",
    "why", "will", "with", "would", "you", "your", "yours",
];

/// Something that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term<'t> {
    /// As it is compared: folded and stemmed.
    pub(super) text: String,
    /// As it was written.
    pub(super) word: &'t str,
    /// Whether it says little about a subject in any catalog: a stop word, or two letters of
    /// Hiragana, which mostly writes endings and particles.
    pub(super) is_common: bool,
}

/// `text` in the normalisation that terms are read from.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfkc().collect()) }
}

/// The terms of a normalised text, in its order, with repetitions.
pub(super) fn terms(normalized: &str) -> Vec<Term<'_>> {
    let mut terms = Vec::new();
    for word in words(normalized) {
        for run in runs(word) {
            if run.starts_with(is_paired) {
                push_bigrams(run, &mut terms);
            } else {
                push_word(run, &mut terms);
            }
        }
    }
    terms
}

/// Terms that follow each other when common ones are left out.
pub(super) fn pairs<'a, 't>(terms: &'a [Term<'t>]) -> Vec<[&'a Term<'t>; 2]> {
    let telling: Vec<&Term<'_>> = terms.iter().filter(|term| !term.is_common).collect();
    telling.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Runs of word characters without `_`. The end of a word after an apostrophe (`it's`, `don't`)
/// is no word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    const LONGEST_ENDING: usize = 2;
    let is_separator = |c: char| c == '_' || !is_word(c);
    let mut after_apostrophe = false;
    text.split_inclusive(is_separator).filter_map(move |piece| {
        let word = piece.trim_end_matches(is_separator);
        let is_ending = after_apostrophe && word.len() <= LONGEST_ENDING;
        after_apostrophe = !word.is_empty() && piece.ends_with(['\'', '’']);
        (!word.is_empty() && !is_ending).then_some(word)
    })
}

/// `word` cut where a script that is written in pairs begins or ends.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    word.char_indices()
        .map(|(place, c)| (place, is_paired(c)))
        .chain([(word.len(), false)])
        .scan((0, None), move |(start, before), (place, paired)| {
            let changes = place == word.len() || before.is_some_and(|before| before != paired);
            *before = Some(paired);
            let run = changes.then(|| &word[std::mem::replace(start, place)..place]);
            Some(run)
        })
        .flatten()
        .filter(|run| !run.is_empty())
}

/// Whether `c` belongs to a script of which every two characters are a term: Han, Hiragana,
/// Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
pub(in crate::matcher) fn is_paired(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}' | 'ー')
}

fn push_bigrams<'t>(run: &'t str, terms: &mut Vec<Term<'t>>) {
    let places: Vec<usize> = run.char_indices().map(|(place, _)| place).collect();
    let end = |i: usize| places.get(i).copied().unwrap_or(run.len());
    for (i, &place) in places.iter().enumerate().take(places.len().saturating_sub(1).max(1)) {
        let word = &run[place..end(i + 2)];
        let is_common = word.chars().all(is_hiragana);
        terms.push(Term { text: word.to_owned(), word, is_common });
    }
}

fn push_word<'t>(word: &'t str, terms: &mut Vec<Term<'t>>) {
    push_term(word, terms);
    let parts = identifier_parts(word);
    // One letter of an identifier says nothing.
    for part in parts.iter().filter(|part| parts.len() > 1 && part.len() > 1) {
        push_term(part, terms);
    }
}

fn push_term<'t>(word: &'t str, terms: &mut Vec<Term<'t>>) {
    let mut folded = String::with_capacity(word.len());
    word.chars().for_each(|c| push_folded(c, &mut folded));
    let is_common = STOP_WORDS.binary_search(&folded.as_str()).is_ok();
    terms.push(Term { text: stem(folded), word, is_common });
}

/// `parseJSONFile2` is `parse`, `JSON`, `File` and `2`.
fn identifier_parts(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for i in 1..chars.len() {
        let (before, (place, c)) = (chars[i - 1].1, chars[i]);
        let next_is_lower = chars.get(i + 1).is_some_and(|(_, next)| next.is_lowercase());
        let begins = before.is_numeric() != c.is_numeric()
            || c.is_uppercase() && (!before.is_uppercase() || next_is_lower);
        if begins {
            parts.push(&word[start..place]);
            start = place;
        }
    }
    parts.push(&word[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        terms(&normalize(text)).into_iter().map(|term| term.text).collect()
    }

    #[test]
    fn text_is_split_where_people_see_words() {
        for (text, expected) in [
            ("", &[][..]),
            ("Run the TESTS!", &["run", "the", "test"]),
            ("snake_case kebab-case", &["snak", "cas", "kebab", "cas"]),
            ("parseJSONFile2", &["parsejsonfile2", "pars", "json", "fil"]),
            ("CI/CD for S3", &["ci", "cd", "for", "s3"]),
            ("it's Ana’s don't", &["it", "ana", "don"]),
            ("ＡＰＩ ﬁle straße", &["api", "fil", "strass"]),
            ("使用git提交", &["使用", "git", "提交"]),
            ("情報検索", &["情報", "報検", "検索"]),
            ("빌드를 x", &["빌드", "드를", "x"]),
            ("字", &["字"]),
            ("𠀋𠀋𠀋", &["𠀋𠀋", "𠀋𠀋"]),
        ] {
            assert_eq!(texts(text), expected, "{text:?}");
        }
    }

    #[test]
    fn common_terms_are_known_in_any_case_and_pairs_pass_over_them() {
        let common =
            |text: &str| -> Vec<bool> { terms(text).iter().map(|t| t.is_common).collect() };
        assert_eq!(common("How DO you deploy"), [true, true, true, false]);
        assert_eq!(common("ください見る"), [true, true, true, false, false]);
        let terms = terms("Deploy it to the staging server");
        let pairs = pairs(&terms).into_iter().map(|pair| pair.map(|term| term.word));
        assert_eq!(pairs.collect::<Vec<_>>(), [["Deploy", "staging"], ["staging", "server"]]);
    }

    #[test]
    fn stop_words_can_be_looked_up() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
    }
}
