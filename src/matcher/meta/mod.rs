//! Questions about the skills themselves: "what can you do?", "show all skills".
//!
//! A question is a whole sentence with nothing but courtesies around it: "what can you do about the
//! noise" asks for something else. Phrases are files in the notation of `notation.rs`, a file for
//! each language. They are looked up by their first word, so that nearly every sentence is done
//! with there; in scripts without spaces a character takes the place of a word.

mod notation;
mod table;

use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::blocks;
use super::text::fold_trigger;
use super::token::{last_token, next_token};
use notation::{MAX_OPEN_WORDS, follows, may_hold, strip_words};
use table::{Entry, Meaning, Table};

/// What a message asks about the skills themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetaQuestion {
    /// Which skills there are.
    Registry,
    /// Every skill in full.
    ShowAll,
}

/// The phrases of each language.
const LANGUAGES: &[&str] = &[
    include_str!("phrases/en.txt"),
    include_str!("phrases/ar.txt"),
    include_str!("phrases/de.txt"),
    include_str!("phrases/es.txt"),
    include_str!("phrases/fr.txt"),
    include_str!("phrases/hi.txt"),
    include_str!("phrases/id.txt"),
    include_str!("phrases/it.txt"),
    include_str!("phrases/ja.txt"),
    include_str!("phrases/ko.txt"),
    include_str!("phrases/pt.txt"),
    include_str!("phrases/ru.txt"),
    include_str!("phrases/zh.txt"),
];

static BUILT_IN: LazyLock<Table> =
    LazyLock::new(|| Table::new(LANGUAGES.iter().flat_map(|language| table::entries(language))));

/// The questions known: those built in, which all indexes share, and those of a host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Questions(Table);

impl Questions {
    /// The questions built in, and `more` in the same notation.
    pub(crate) fn new(more: &[(String, MetaQuestion)]) -> Questions {
        Questions(Table::new(more.iter().map(|(phrase, asks)| Entry {
            phrase: fold_trigger(phrase).into(),
            meaning: Meaning::Question(*asks),
        })))
    }

    /// Returns what a folded text asks about the skills themselves.
    pub(crate) fn asked(&self, text: &str) -> Option<MetaQuestion> {
        let mut asked = None;
        let mut start = 0;
        blocks::places(text.as_bytes(), may_begin_end, |at| {
            if let Some(len) = end_of_sentence(&text[at..]) {
                self.ask(text, start..at, &mut asked);
                start = at + len;
            }
        });
        self.ask(text, start..text.len(), &mut asked);
        asked
    }

    /// Looks in a sentence of `text` for a question behind nothing but courtesies.
    fn ask(&self, text: &str, sentence: Range<usize>, asked: &mut Option<MetaQuestion>) {
        let mut rest = &text[sentence.clone()];
        while let Some((word, _)) = next_token(rest) {
            let mut after_courtesy = None;
            for entry in self.tables().flat_map(|table| table.starting_with(word)) {
                match entry.meaning {
                    Meaning::Courtesy => {
                        let after = strip_words(&entry.phrase, rest);
                        after_courtesy = shortest(after_courtesy, after);
                    }
                    Meaning::Question(asks) | Meaning::Message(asks) if *asked < Some(asks) => {
                        let is_asked = follows(&entry.phrase, rest, &|rest| self.is_courtesy(rest))
                            && (entry.meaning == Meaning::Question(asks)
                                || self.is_courtesy(&text[..sentence.start])
                                    && self.is_courtesy(&text[sentence.end..]));
                        if is_asked {
                            *asked = Some(asks);
                        }
                    }
                    _ => {}
                }
            }
            match after_courtesy {
                Some(after) => rest = after,
                None => break,
            }
        }
        self.ask_from_end(&text[sentence], asked);
    }

    /// Looks for a question that begins with anything.
    fn ask_from_end(&self, sentence: &str, asked: &mut Option<MetaQuestion>) {
        for table in self.tables().filter(|table| table.may_end(sentence)) {
            let Some(word) = last_token(sentence) else { return };
            let mut chars = sentence.char_indices().rev();
            let end = &sentence[chars.nth(4 * MAX_OPEN_WORDS).map_or(0, |(at, _)| at)..];
            for entry in table.ending_with(word) {
                if let Meaning::Question(asks) | Meaning::Message(asks) = entry.meaning
                    && *asked < Some(asks)
                    && may_hold(&entry.phrase, end)
                    && follows(&entry.phrase, end, &|rest| self.is_courtesy(rest))
                {
                    *asked = Some(asks);
                }
            }
        }
    }

    /// Whether `text` is nothing but courtesies.
    fn is_courtesy(&self, text: &str) -> bool {
        let mut rest = text;
        while let Some((word, _)) = next_token(rest) {
            let entries = self.tables().flat_map(|table| table.starting_with(word));
            let courtesies = entries.filter(|entry| entry.meaning == Meaning::Courtesy);
            match courtesies.fold(None, |after, e| shortest(after, strip_words(&e.phrase, rest))) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        [&*BUILT_IN, &self.0].into_iter()
    }
}

/// Returns the shorter of two ends of one text: what is left behind the longer courtesy.
fn shortest<'t>(a: Option<&'t str>, b: Option<&'t str>) -> Option<&'t str> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.len() < a.len() { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Whether a byte may be the first one of what ends a sentence.
fn may_begin_end(byte: u8) -> bool {
    // Of '¡' and '¿', '؟', '۔', '।' and '॥', '。'.
    matches!(byte, b'.' | b'!' | b'?' | 0xc2 | 0xd8 | 0xdb | 0xe0 | 0xe3)
}

/// Returns the length of what ends a sentence at the start of `rest`, or begins one, as `¿` does.
fn end_of_sentence(rest: &str) -> Option<usize> {
    let end = rest.chars().next()?;
    let is_end = match end {
        // Not of `node.js`, `./skills`, `.env`.
        '.' => {
            let next = rest[1..].chars().next();
            next.is_none_or(|next| !next.is_alphanumeric() && !matches!(next, '/' | '\\' | '_'))
        }
        '!' | '?' | '¡' | '¿' | '؟' | '۔' | '।' | '॥' | '。' => true,
        _ => false,
    };
    is_end.then_some(end.len_utf8())
}

#[cfg(test)]
mod tests;
