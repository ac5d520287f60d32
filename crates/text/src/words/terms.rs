//! The tokeniser: splits text into the terms of the index.
//!
//! Text is normalised and folded as queries are (`text/folding.rs`). A word of letters and digits is a
//! term. Of an identifier (`parseJSONFile`), the whole is a term, and then each part, which stands in for
//! the whole and is never a word beside it. In scripts without spaces between words, every two adjacent
//! characters are a term (`unspaced.rs`). English words are stemmed.
//!
//! A term is identified by a hash. Words are folded and stemmed in one buffer, without allocating for
//! each.

use std::ops::{Range, RangeInclusive};

use super::hash::{hash, pair_hash};
use super::identifiers::{Part, parts, plural_abbreviation};
use super::languages::{Census, Class, Languages, class_of};
use super::stem::stem;
use super::unspaced::{Telling, is_paired, read_pairs};
use crate::boundary::is_word;
use crate::push_folded;
use crate::token::Plain;

/// A word of a text, as the index knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Term {
    /// Hash of the folded and stemmed word, of [`HASH_BITS`](super::hash::HASH_BITS) bits.
    pub hash: u64,
    /// The start of the term in bytes of the normalised text.
    pub start: u32,
    /// The end of the term in bytes of the normalised text.
    pub end: u32,
    /// The relation to the identifier that it is read from.
    pub part: Part,
    /// True if it says little about a subject in any catalog: a stop word, a function word of the text's
    /// language, or a pair of characters that lies in no word.
    pub is_common: bool,
    /// True if it is an everyday word of the text's language, other than English.
    pub is_everyday: bool,
    /// The languages in which it is a function word or an everyday word.
    pub class: Class,
}

impl Term {
    /// Returns the term as part of a text in these languages.
    fn in_languages(self, languages: Languages) -> Term {
        Term {
            is_common: self.is_common || self.class.is_function_in(languages),
            is_everyday: self.is_everyday || self.class.is_everyday_in(languages),
            ..self
        }
    }

    /// Returns the range of the term in bytes of the normalised text.
    pub fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Returns the hash of a folded word.
pub fn word_hash(word: &str) -> u64 {
    let mut stemmed = word.to_owned();
    stem(&mut stemmed);
    hash(stemmed.as_bytes())
}

/// Makes the hash of the beginning of a word distinct from that of the same letters as a word.
const BEGINNING: u64 = 0x0be6_1111;

/// The longest ending of a word after an apostrophe, in bytes.
const LONGEST_ENDING: usize = 2;

/// The number of terms by which a message tells its language.
const TERMS_OF_LANGUAGE: usize = 256;

/// Reads terms. Its buffers are kept between texts.
#[derive(Debug, Default)]
pub struct Tokenizer {
    word: String,
    /// The first terms of a message, until its language is known.
    first: Vec<Term>,
}

impl Tokenizer {
    /// Calls `each` with the terms of a normalised text in these languages, in its order, with
    /// repetitions.
    pub fn read(&mut self, text: &str, languages: Languages, each: &mut impl FnMut(Term)) {
        self.scan(text, &mut |term| resolve(text, term, languages, each));
    }

    /// Calls `each` as [`Tokenizer::read`] does, with the terms of a message that tells its language
    /// itself. `own` are the languages of the catalog.
    pub fn read_message(&mut self, text: &str, own: Languages, each: &mut impl FnMut(Term)) {
        let mut first = std::mem::take(&mut self.first);
        let mut census = Census::default();
        let mut languages = None;
        self.scan(text, &mut |term| {
            if let Some(languages) = languages {
                resolve(text, term, languages, each);
                return;
            }
            count(&mut census, &term);
            first.push(term);
            if first.len() == TERMS_OF_LANGUAGE {
                let told = census.languages(own);
                first.drain(..).for_each(|term| resolve(text, term, told, each));
                languages = Some(told);
            }
        });
        let told = census.languages(own);
        first.drain(..).for_each(|term| resolve(text, term, told, each));
        self.first = first;
    }

    /// Returns the language that normalised texts tell.
    pub fn languages<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Languages {
        let mut census = Census::default();
        for text in texts {
            self.scan(text, &mut |term| count(&mut census, &term));
        }
        census.languages(Languages::default())
    }

    /// Calls `each` with the terms of a normalised text in no known language.
    fn scan(&mut self, text: &str, each: &mut impl FnMut(Term)) {
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
                read_pairs(text, start..end, &mut |span, telling| each(pair(text, span, telling)));
            } else {
                self.read_word(text, start..end, each);
            }
            start = end;
        }
    }

    /// Reads a word and, if it is an identifier of several parts, these parts.
    fn read_word(&mut self, text: &str, word: Range<usize>, each: &mut impl FnMut(Term)) {
        each(self.term(text, word.clone(), Part::Whole));
        for (span, part) in parts(&text[word.clone()]) {
            each(self.term(text, word.start + span.start..word.start + span.end, part));
        }
    }

    /// Returns the term of a word.
    fn term(&mut self, text: &str, span: Range<usize>, part: Part) -> Term {
        let written = &text[span.clone()];
        let singular = plural_abbreviation(written).unwrap_or(written);
        self.word.clear();
        if singular.is_ascii() {
            self.word.push_str(singular);
            self.word.make_ascii_lowercase();
        } else {
            singular.chars().for_each(|c| push_folded(c, &mut self.word));
        }
        let class = class_of(self.word.as_bytes());
        let is_common = class.is_stop_word();
        stem(&mut self.word);
        let hash = hash(self.word.as_bytes());
        let (start, end) = (span.start as u32, span.end as u32);
        Term { hash, start, end, part, is_common, is_everyday: false, class }
    }
}

/// Calls `each` with a term of a text in these languages, and with its beginning.
fn resolve(text: &str, term: Term, languages: Languages, each: &mut impl FnMut(Term)) {
    let term = term.in_languages(languages);
    each(term);
    if !languages.is_empty() && term.part == Part::Whole && !term.is_common {
        beginning(text, term).into_iter().for_each(each);
    }
}

/// Returns the first letters of a word, without accents, as a term of their own: most languages have many
/// endings, and words with the same beginning are mostly forms of one word.
fn beginning(text: &str, term: Term) -> Option<Term> {
    const LETTERS: RangeInclusive<usize> = 4..=6;
    let written = &text[term.span()];
    let is_word = written.chars().nth(LETTERS.start() - 1).is_some()
        && !written.starts_with(|c: char| c.is_numeric() || is_paired(c));
    let end = written.char_indices().nth(*LETTERS.end()).map_or(written.len(), |(at, _)| at);
    let plain = Plain::of(&written[..end]).filter(|_| is_word)?;
    let hash = pair_hash(BEGINNING, hash(plain.as_str().as_bytes()));
    Some(Term { hash, part: Part::Beginning, ..term })
}
fn count(census: &mut Census, term: &Term) {
    if term.is_common {
        census.add_english();
    } else {
        census.add(term.class);
    }
}

/// Returns the term of a pair of characters.
fn pair(text: &str, span: Range<usize>, telling: Telling) -> Term {
    Term {
        hash: hash(&text.as_bytes()[span.clone()]),
        start: span.start as u32,
        end: span.end as u32,
        part: Part::Whole,
        is_common: telling == Telling::Nothing,
        is_everyday: telling == Telling::Little,
        class: Class::default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize;

    /// The terms of a text as they are hashed, and whether they are common.
    fn terms(text: &str) -> Vec<(String, bool)> {
        let text = normalize(text);
        let mut terms = Vec::new();
        Tokenizer::default().read(&text, Languages::default(), &mut |term| {
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
        assert_eq!(common("ください見る"), [true, true, true, true, false]);
    }

    #[test]
    fn abbreviations_in_the_plural_are_their_singular_without_parts() {
        for (text, expected) in [
            ("APIs PRs URLs' MP3s", &["api", "pr", "url", "mp3"][..]),
            ("apis kpis gpus ids", &["api", "kpi", "gpu", "id"]),
            ("getURLsFast URLsOf", &["geturlsfast", "get", "url", "fast", "urlsof", "url", "of"]),
            ("AWS DNS CSS TLS", &["aws", "dns", "css", "tls"]),
            ("aws dns css tls bus gas", &["aws", "dns", "css", "tls", "bus", "gas"]),
            ("iOS", &["ios", "os"]),
            ("Is As", &["is", "as"]),
        ] {
            let mut found = Vec::new();
            let each = &mut |term: Term| found.push(term.hash);
            Tokenizer::default().read(text, Languages::default(), each);
            let expected: Vec<u64> = expected.iter().map(|word| hash(word.as_bytes())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_message_tells_its_language_wherever_its_function_words_stand() {
        let n_common = |text: &str| {
            let mut n_common = 0;
            let each = &mut |term: Term| n_common += usize::from(term.is_common);
            Tokenizer::default().read_message(text, Languages::default(), each);
            n_common
        };
        assert_eq!(n_common("Rechnung für den Kunden und mich"), 4);
        // More terms than are kept until the language is known.
        let long = format!("für {}und den", "Rechnung ".repeat(TERMS_OF_LANGUAGE));
        assert_eq!(n_common(&format!("und {long}")), 4);
        assert_eq!(n_common(&long), 0);
        assert_eq!(n_common("Rechnung und Frist"), 0);
    }

    #[test]
    fn forms_of_a_word_have_the_same_beginning() {
        let beginnings = |text: &str| -> Vec<u64> {
            let mut hashes = Vec::new();
            let text = format!("{text} der die das und");
            Tokenizer::default().read_message(&text, Languages::default(), &mut |term| {
                hashes.extend((term.part == Part::Beginning).then_some(term.hash));
            });
            hashes
        };
        for [one, other] in [
            ["Rechnung", "Rechnungen"],
            ["Vertrag", "Verträge"],
            ["Angebot", "Angebotsvergleich"],
            ["CÓDIGO", "codigos"],
        ] {
            assert_eq!(beginnings(one), beginnings(other), "{one} and {other}");
            assert_eq!(beginnings(one).len(), 1, "{one}");
        }
        assert!(beginnings("Ort 2024 部署").is_empty());
        assert_ne!(beginnings("Zeitung"), beginnings("Zeichen"));
    }
}
