//! Phrases by which a description says when its skill is wanted: weak triggers.
//!
//! Authors who declare no triggers write them into prose: `Use when the user says "ship it"`, `USE FOR:
//! release notes, changelogs`. If a message contains a phrase of two or more words, stop words aside,
//! this counts as relevance. It never counts as a declared trigger.

use repertoire_text::normalize;
use repertoire_text::words::hash::pair_hash;
use repertoire_text::words::identifiers::Part;
use repertoire_text::words::languages::Languages;
use repertoire_text::words::terms::{Term, Tokenizer};

use super::fields::{Field, FieldTexts};
use super::impact::Impact;
use super::purpose::{CUES, starts_with};

/// The maximum number of words of a phrase, stop words aside: longer ones are sentences that no message
/// repeats.
const MAX_WORDS: usize = 6;

/// Returns the hash of a chain that begins with the word `first`, distinct from the hashes of pairs.
pub(super) fn chain_start(first: u64) -> u64 {
    pair_hash(0x5_0f7a_11e5, first)
}

/// Adds the phrases of a skill to its terms. A phrase is a chain of words: the whole chain has the
/// greatest impact, its beginnings have none. A search follows a message only as long as it continues
/// some phrase.
pub(super) fn fold(
    texts: &FieldTexts<'_>,
    languages: Languages,
    tokenizer: &mut Tokenizer,
    terms: &mut Vec<(u64, Impact)>,
) {
    let mut words: Vec<u64> = Vec::new();
    let prose = [Field::Description, Field::WhenToUse].map(|field| texts.get(field));
    let prose = prose.into_iter().flat_map(phrases);
    for phrase in prose.chain(texts.trigger_phrases()) {
        words.clear();
        tokenizer.read(&normalize(phrase), languages, &mut |term: Term| {
            if !term.is_common && term.part == Part::Whole {
                words.push(term.hash);
            }
        });
        if (2..=MAX_WORDS).contains(&words.len()) {
            let mut chain = chain_start(words[0]);
            for (at, word) in words.iter().enumerate().skip(1) {
                chain = pair_hash(chain, *word);
                let is_last = at + 1 == words.len();
                terms.push((chain, if is_last { Impact::GREATEST } else { Impact::NONE }));
            }
        }
    }
}

/// Returns the phrases of a text of one sentence a line: those in quotes, and the parts of a sentence
/// after a cue.
fn phrases(text: &str) -> impl Iterator<Item = &str> {
    quoted(text).chain(cued(text))
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    const QUOTES: [(char, char); 7] =
        [('"', '"'), ('“', '”'), ('«', '»'), ('「', '」'), ('`', '`'), ('\'', '\''), ('‘', '’')];
    let mut quoted_to = 0;
    // The marks that close no quotation in the rest of the text.
    let mut unclosed = Vec::new();
    text.char_indices().filter_map(move |(at, c)| {
        let (open, close) = QUOTES.into_iter().find(|(open, _)| *open == c)?;
        if at < quoted_to || unclosed.contains(&close) || !may_open(open, &text[..at]) {
            return None;
        }
        let start = at + open.len_utf8();
        let mut ends = text[start..].match_indices(close).map(|(len, _)| start + len);
        let Some(end) = ends.find(|end| may_close(close, &text[end + close.len_utf8()..])) else {
            unclosed.push(close);
            return None;
        };
        quoted_to = end + close.len_utf8();
        Some(&text[start..end])
    })
}

/// Tells whether `mark` opens a quotation after `before`: an apostrophe does not ("users' files").
fn may_open(mark: char, before: &str) -> bool {
    let is_single = matches!(mark, '\'' | '‘');
    !is_single || before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(')
}

/// Tells whether `mark` closes a quotation before `after`: an apostrophe does not ("what's").
fn may_close(mark: char, after: &str) -> bool {
    !matches!(mark, '\'' | '’') || !after.starts_with(char::is_alphanumeric)
}

fn cued(text: &str) -> impl Iterator<Item = &str> {
    const BETWEEN: [char; 11] = [',', ';', ':', '(', ')', '/', '—', '"', '、', '*', '•'];
    let starts = CUES.iter().flat_map(move |cue| {
        text.match_indices(|c: char| c.is_ascii_alphabetic())
            .map(|(at, _)| at)
            .filter(move |at| starts_with(&text[*at..], cue) && is_start(text, *at))
            .map(move |at| at + cue.len())
    });
    starts.flat_map(move |start| {
        let rest = &text[start..];
        // Only after a colon is a `;` between phrases; otherwise, another clause follows it.
        let is_list = text[..start].ends_with(':') || rest.starts_with(':');
        let is_end = |c| matches!(c, '.' | '\n' | '!' | '?') || c == ';' && !is_list;
        let end = rest.find(is_end).unwrap_or(rest.len());
        let end = rest[..end].find(" — ").unwrap_or(end);
        let parts = rest[..end].split(BETWEEN).flat_map(|part| part.split(" or "));
        parts.flat_map(|part| part.split(" - "))
    })
}

fn is_start(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|c: char| c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_in_quotes_and_behind_a_cue() {
        for (text, expected) in [
            ("Reads PDF files.", &[][..]),
            (
                "Use when the user says \"ship it\" or “roll out”.",
                &["ship it", "roll out", " the user says ", "ship it", " ", "roll out”"],
            ),
            (
                "USE FOR: release notes, changelogs; diffs. Not more.",
                &["", " release notes", " changelogs", " diffs"],
            ),
            ("Reuse for nothing. Triggers: a `b c` \"open", &[" a `b c` ", "b c", "open"]),
            (
                "Users' files, 'what's new' and (‘don’t ship’), the '90s",
                &["what's new", "don’t ship"],
            ),
            ("Use when - a b - c d * e • f", &["", "a b", "c d", "e", "f"]),
            ("Use when a b; owns c d. Use for e f — reads g", &["a b", "e f"]),
        ] {
            let mut found: Vec<&str> =
                phrases(text).map(|phrase| phrase.trim_matches('“')).collect();
            let mut expected = expected.to_vec();
            found.iter_mut().chain(&mut expected).for_each(|phrase| *phrase = phrase.trim());
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{text}");
        }
    }
}
