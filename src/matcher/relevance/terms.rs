//! The tokeniser: splits text into the terms of the index.
//!
//! Text is normalised and folded as queries are (`text/folding.rs`). A word of letters and digits is a
//! term. Of an identifier (`parseJSONFile`, `s3_bucket`), each part is a term, and so is the whole if
//! nothing separates the parts. In scripts without spaces between words, and in Hangul, whose particles
//! follow without one, every two adjacent characters are a term. English words are stemmed.
//!
//! A term is identified by a hash. Words are folded and stemmed in one buffer, without allocating for
//! each.

use std::borrow::Cow;
use std::ops::Range;

use super::stem::stem;
use super::stop_words::is_stop_word;
use crate::matcher::text::boundary::is_word;
use crate::matcher::text::{self, push_folded};

/// The number of bits of a term's hash: as many as leave room for a skill and an impact in 64 bits.
pub(super) const HASH_BITS: u32 = 36;

/// A word of a text, as the index knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Term {
    /// Hash of the folded and stemmed word, of [`HASH_BITS`] bits.
    pub(super) hash: u64,
    /// True if it says little about a subject in any catalog: a stop word, or two letters of
    /// Hiragana, which mostly writes endings and particles.
    pub(super) is_common: bool,
    /// The start of the term in bytes of the normalised text.
    pub(super) start: u32,
    /// The end of the term in bytes of the normalised text.
    pub(super) end: u32,
}

impl Term {
    /// Returns the range of the term in bytes of the normalised text.
    pub(super) fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Returns the normalised form of `text`, which terms are read from.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    text::normalize(text)
}

/// Normalises `text` as [`normalize`] does, into a buffer that is reused.
pub(super) fn normalize_into<'b>(text: &'b str, buffer: &'b mut String) -> &'b str {
    text::normalize_into(text, buffer).unwrap_or(text)
}

/// Returns the hash of two terms, one after the other; in the other order they have another hash.
pub(super) fn pair_hash(first: u64, second: u64) -> u64 {
    finish((first ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(MIX).rotate_left(29) ^ second)
}

/// The longest ending of a word after an apostrophe, in bytes.
const LONGEST_ENDING: usize = 2;

/// Reads terms. Its buffer is kept between texts.
#[derive(Debug, Default)]
pub(super) struct Tokenizer {
    word: String,
}

impl Tokenizer {
    /// Calls `each` with the terms of a normalised text, in its order, with repetitions.
    pub(super) fn read(&mut self, text: &str, each: &mut impl FnMut(Term)) {
        let bytes = text.as_bytes();
        let (mut at, mut after_apostrophe) = (0, false);
        while at < bytes.len() {
            let byte = bytes[at];
            if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
                after_apostrophe = byte == b'\'' && word_before(text, at);
                at += 1;
                continue;
            }
            let (end, is_ascii) = word_end(text, at);
            if end == at {
                after_apostrophe = text[at..].starts_with('’') && word_before(text, at);
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            // The end of a word after an apostrophe (`it's`, `don't`) is not a word.
            let is_ending = after_apostrophe && end - at <= LONGEST_ENDING;
            after_apostrophe = false;
            if !is_ending && is_ascii {
                self.read_word(text, at..end, each);
            } else if !is_ending {
                self.read_runs(text, at..end, each);
            }
            at = end;
        }
    }

    /// Reads a word, cut where a script that is read in pairs begins or ends.
    fn read_runs(&mut self, text: &str, word: Range<usize>, each: &mut impl FnMut(Term)) {
        let mut start = word.start;
        while start < word.end {
            let rest = &text[start..word.end];
            let paired = rest.starts_with(is_paired);
            let end = rest.find(|c| is_paired(c) != paired).map_or(word.end, |len| start + len);
            if paired {
                read_bigrams(text, start..end, each);
            } else {
                self.read_word(text, start..end, each);
            }
            start = end;
        }
    }

    /// Reads a word and, if it is an identifier of several parts, these parts.
    fn read_word(&mut self, text: &str, word: Range<usize>, each: &mut impl FnMut(Term)) {
        each(self.term(text, word.clone()));
        let written = &text[word.clone()];
        if written.bytes().skip(1).all(|byte| byte.is_ascii_lowercase()) || is_encoded(written) {
            return;
        }
        let mut start = 0;
        while start < written.len() {
            let end = part_end(written, start);
            // One letter of an identifier says nothing.
            if end - start > 1 && end - start < written.len() {
                each(self.term(text, word.start + start..word.start + end));
            }
            start = end;
        }
    }

    /// Returns the term of a word.
    fn term(&mut self, text: &str, span: Range<usize>) -> Term {
        let written = &text[span.clone()];
        self.word.clear();
        if written.is_ascii() {
            self.word.push_str(written);
            self.word.make_ascii_lowercase();
        } else {
            written.chars().for_each(|c| push_folded(c, &mut self.word));
        }
        let is_common = is_stop_word(self.word.as_bytes());
        stem(&mut self.word);
        let hash = hash(self.word.as_bytes());
        Term { hash, is_common, start: span.start as u32, end: span.end as u32 }
    }
}

/// Returns the end of the word at byte `at`, which is `at` if there is no word, and true if the word is
/// ASCII.
fn word_end(text: &str, mut at: usize) -> (usize, bool) {
    let mut is_ascii = true;
    while let Some(&byte) = text.as_bytes().get(at) {
        if byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let next = if byte.is_ascii() { None } else { text[at..].chars().next() };
        let Some(c) = next.filter(|c| is_word(*c)) else { break };
        is_ascii = false;
        at += c.len_utf8();
    }
    (at, is_ascii)
}

fn word_before(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_some_and(|c| c != '_' && is_word(c))
}

/// Returns the end of the part of an identifier that begins at byte `start`: `parseJSONFile2` is
/// `parse`, `JSON`, `File` and `2`.
fn part_end(word: &str, start: usize) -> usize {
    let mut chars = word[start..].char_indices().peekable();
    let Some((_, mut before)) = chars.next() else { return word.len() };
    while let Some((at, c)) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins = before.is_numeric() != c.is_numeric()
            || c.is_uppercase() && (!before.is_uppercase() || next_is_lower);
        if begins {
            return start + at;
        }
        before = c;
    }
    word.len()
}

/// Tells whether a word is encoded data, such as a piece of base64 or a hash: its parts are too short to
/// be words. The bounds were set so that they keep `getURLOfTheS3Bucket`.
fn is_encoded(word: &str) -> bool {
    const SHORTEST: usize = 12;
    const CHARS_OF_TWO_PARTS: usize = 5;
    if word.len() < SHORTEST {
        return false;
    }
    let mut start = 0;
    let mut n_parts = 0;
    while start < word.len() {
        start = part_end(word, start);
        n_parts += 1;
    }
    n_parts * CHARS_OF_TWO_PARTS > word.len() * 2
}

/// Reads every two adjacent characters of a run, or its only one, as a term.
fn read_bigrams(text: &str, run: Range<usize>, each: &mut impl FnMut(Term)) {
    let mut start = run.start;
    loop {
        let mut chars = text[start..run.end].chars();
        let Some(first) = chars.next() else { return };
        let second = chars.next();
        if second.is_none() && start > run.start {
            return;
        }
        let end = start + first.len_utf8() + second.map_or(0, char::len_utf8);
        let is_common = is_hiragana(first) && second.is_none_or(is_hiragana);
        let hash = hash(&text.as_bytes()[start..end]);
        each(Term { hash, is_common, start: start as u32, end: end as u32 });
        start += first.len_utf8();
    }
}

/// Tells whether `c` belongs to a script whose terms are pairs of characters: Han, Hiragana,
/// Katakana, Hangul, Thai, Lao, Khmer, Myanmar.
pub(crate) fn is_paired(c: char) -> bool {
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

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of a word, the same on every machine: multiply and fold, eight bytes at a time.
fn hash(word: &[u8]) -> u64 {
    let mut hash = (word.len() as u64).wrapping_mul(MIX);
    for chunk in word.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(MIX);
        hash ^= hash >> 32;
    }
    finish(hash)
}

fn finish(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (hash ^ (hash >> 32)).wrapping_mul(MIX) >> (64 - HASH_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms of a text as they are hashed, and whether they are common.
    fn terms(text: &str) -> Vec<(String, bool)> {
        let text = normalize(text);
        let mut terms = Vec::new();
        Tokenizer::default().read(&text, &mut |term| {
            let mut word = String::new();
            text[term.span()].chars().for_each(|c| push_folded(c, &mut word));
            if !word.starts_with(is_paired) {
                stem(&mut word);
            }
            assert_eq!(term.hash, hash(word.as_bytes()), "{word}");
            terms.push((word, term.is_common));
        });
        terms
    }

    #[test]
    fn text_is_split_where_people_see_words() {
        for (text, expected) in [
            ("", &[][..]),
            ("Run the TESTS!", &["run", "the", "test"]),
            ("snake_case kebab-case", &["snak", "cas", "kebab", "cas"]),
            ("parseJSONFile2", &["parsejsonfile2", "pars", "json", "fil"]),
            ("CI/CD for S3", &["ci", "cd", "for", "s3"]),
            ("getURLOfTheS3Bucket", &["geturlofthes3bucket", "get", "url", "of", "the", "bucket"]),
            ("NaHWDr4Ps9kgVWvUb", &["nahwdr4ps9kgvwvub"]),
            ("9f86d081884c7d659a2f", &["9f86d081884c7d659a2f"]),
            ("it's Ana’s don't 'x' 're", &["it", "ana", "don", "x", "re"]),
            ("ＡＰＩ ﬁle straße", &["api", "fil", "strass"]),
            ("使用git提交", &["使用", "git", "提交"]),
            ("情報検索", &["情報", "報検", "検索"]),
            ("빌드를 x", &["빌드", "드를", "x"]),
            ("字", &["字"]),
            ("𠀋𠀋𠀋", &["𠀋𠀋", "𠀋𠀋"]),
            ("é – ü…", &["é", "ü"]),
        ] {
            let found: Vec<String> = terms(text).into_iter().map(|(word, _)| word).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn common_terms_are_known_in_any_case() {
        let common = |text: &str| -> Vec<bool> { terms(text).into_iter().map(|t| t.1).collect() };
        assert_eq!(common("How DO you deploy"), [true, true, true, false]);
        assert_eq!(common("ください見る"), [true, true, true, false, false]);
    }

    #[test]
    fn hashes_fit_their_bits_and_pairs_know_their_order() {
        let [a, b] = ["deploy", "staging"].map(|word| hash(word.as_bytes()));
        assert_ne!(pair_hash(a, b), pair_hash(b, a));
        assert!([a, b, pair_hash(a, b), hash(b"")].iter().all(|hash| hash >> HASH_BITS == 0));
    }
}
