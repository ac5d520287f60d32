//! Questions about the skills themselves: "what can you do?", "show all skills".
//!
//! A question is a whole sentence with nothing but courtesies around it: "what can you do about the
//! noise" asks for something else. The phrases are in files, one for each language, in the notation of
//! `notation.rs`. They are looked up by their first word, which rules out nearly every sentence. In
//! scripts without spaces, a character takes the place of a word.

mod notation;
mod table;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::blocks;
use super::fold_trigger;
use super::token::{from_token, last_token, next_token};
use notation::{MAX_OPEN_WORDS, follows, may_hold, strip_words};
use table::{Meaning, Phrase, Table};

/// A question about the skills themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetaQuestion {
    /// Asks for the list of skills.
    Registry,
    /// Asks for every skill in full.
    ShowAll,
}

/// A question about the skills themselves, and its topic, if it asks for skills for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asked<'t> {
    /// The question.
    pub question: MetaQuestion,
    /// Empty if the question has none.
    pub topic: &'t str,
}

impl<'t> Asked<'t> {
    /// Returns the question of a message that asks both: the greater one, and if they are equal, the one
    /// without a topic.
    fn and(self, other: Option<Asked<'t>>) -> Asked<'t> {
        let rank = |asked: &Asked<'_>| (asked.question, asked.topic.is_empty());
        other.filter(|other| rank(other) >= rank(&self)).unwrap_or(self)
    }
}

/// The phrases of all languages.
const TEXT: &str = concat!(
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
    include_str!("phrases/nl.txt"),
    include_str!("phrases/pl.txt"),
    include_str!("phrases/pt.txt"),
    include_str!("phrases/ru.txt"),
    include_str!("phrases/tr.txt"),
    include_str!("phrases/uk.txt"),
    include_str!("phrases/vi.txt"),
    include_str!("phrases/zh.txt"),
);

static BUILT_IN: LazyLock<Table> = LazyLock::new(|| Table::new(TEXT, table::phrases(TEXT)));

/// The questions known: those built in, and those of a host.
#[derive(Debug, Serialize, Deserialize)]
pub struct Questions {
    built_in: Cow<'static, Table>,
    more: Table,
    /// The phrases of `more`, one per line.
    more_text: String,
}

impl Questions {
    /// Combines the built-in questions with `more`, which are in the same notation.
    pub fn new(more: &[(String, MetaQuestion)]) -> Questions {
        let mut more_text = String::new();
        let mut phrases = Vec::new();
        for (phrase, asks) in more {
            let start = more_text.len();
            more_text.push_str(&fold_trigger(phrase));
            phrases.push((start..more_text.len(), Meaning::Question(*asks)));
            more_text.push('\n');
        }
        let more = Table::new(&more_text, phrases.into_iter());
        Questions { built_in: Cow::Borrowed(&BUILT_IN), more, more_text }
    }

    /// Returns the question about the skills themselves that a folded text asks.
    pub fn asked<'t>(&self, text: &'t str) -> Option<Asked<'t>> {
        let mut asked = None;
        let mut start = 0;
        let mut is_first = true;
        blocks::places(text.as_bytes(), may_begin_end, |at| {
            if let Some(len) = end_of_sentence(&text[at..]) {
                is_first &= !self.ask(text, start..at, is_first, &mut asked);
                start = at + len;
            }
        });
        self.ask(text, start..text.len(), is_first, &mut asked);
        asked
    }

    /// Looks for a question in a sentence of `text`, with nothing but courtesies before it in the
    /// sentence, and in the text if it `is_first`. Tells whether the sentence is more than courtesies.
    fn ask<'t>(
        &self,
        text: &'t str,
        sentence: Range<usize>,
        is_first: bool,
        asked: &mut Option<Asked<'t>>,
    ) -> bool {
        let mut rest = &text[sentence.clone()];
        // True if some phrase may end with the last word of the sentence; computed at the first
        // use.
        let mut may_close = None;
        let may_any_close =
            || self.tables().any(|(table, _)| table.may_close(&text[sentence.clone()]));
        while let Some(from_word) = from_token(rest) {
            // Marks before the word are skipped once, not by each phrase that begins with it.
            rest = from_word;
            let Some((word, _)) = next_token(rest) else { break };
            let mut after_courtesy = None;
            for phrase in self.starting_with(word) {
                if phrase.meaning == Meaning::Courtesy {
                    after_courtesy = shortest(after_courtesy, strip_words(phrase.words, rest));
                } else if (phrase.is_open || *may_close.get_or_insert_with(may_any_close))
                    && let Some(topic) = self.topic_of(&phrase, rest)
                {
                    let is_all = || is_first && self.is_courtesy(&text[sentence.end..]);
                    if let Some(question) = question(phrase.meaning, is_all) {
                        *asked = Some(Asked { question, topic }.and(*asked));
                    }
                }
            }
            match after_courtesy {
                Some(after) => rest = after,
                None => break,
            }
        }
        self.ask_from_end(&text[sentence], asked);
        next_token(rest).is_some()
    }

    /// Looks for a question whose phrase begins with `*`, by its last word.
    fn ask_from_end<'t>(&self, sentence: &'t str, asked: &mut Option<Asked<'t>>) {
        for (table, text) in self.tables().filter(|(table, _)| table.may_end(sentence)) {
            let Some(word) = last_token(sentence) else { return };
            let mut chars = sentence.char_indices().rev();
            let end = &sentence[chars.nth(4 * MAX_OPEN_WORDS).map_or(0, |(at, _)| at)..];
            for phrase in table.phrases(&table.ends, text, word) {
                if may_hold(phrase.words, end)
                    && let Some(topic) = self.topic_of(&phrase, end)
                    && let Some(question) = question(phrase.meaning, || false)
                {
                    *asked = Some(Asked { question, topic }.and(*asked));
                }
            }
        }
    }

    /// If `text` begins with a phrase and goes on with nothing but courtesies, returns its topic,
    /// which may be empty.
    fn topic_of<'t>(&self, phrase: &Phrase<'_>, text: &'t str) -> Option<&'t str> {
        follows(phrase.words, text, &|rest| self.is_courtesy(rest))
    }

    /// Tells whether `text` is nothing but courtesies.
    fn is_courtesy(&self, text: &str) -> bool {
        let mut rest = text;
        while let Some((word, _)) = next_token(rest) {
            let phrases = self.starting_with(word);
            let courtesies = phrases.filter(|phrase| phrase.meaning == Meaning::Courtesy);
            match courtesies.fold(None, |after, c| shortest(after, strip_words(c.words, rest))) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }

    fn starting_with(&self, word: &str) -> impl Iterator<Item = Phrase<'_>> {
        self.tables().flat_map(move |(table, text)| table.phrases(&table.starts, text, word))
    }

    /// Returns each table with its text. A table read from a snapshot may be of another build; the table
    /// built in then replaces it.
    fn tables(&self) -> impl Iterator<Item = (&Table, &str)> {
        let built_in = if self.built_in.fits(TEXT) { &*self.built_in } else { &*BUILT_IN };
        [(built_in, TEXT), (&self.more, &*self.more_text)].into_iter()
    }
}

/// Returns the question of a phrase that was found; `is_all` tells whether the message says nothing else.
fn question(meaning: Meaning, is_all: impl FnOnce() -> bool) -> Option<MetaQuestion> {
    match meaning {
        Meaning::Question(asks) => Some(asks),
        Meaning::Message(asks) => is_all().then_some(asks),
        Meaning::Courtesy => None,
    }
}

/// Returns the shorter of two ends of one text, which is the rest after the longer courtesy.
fn shortest<'t>(a: Option<&'t str>, b: Option<&'t str>) -> Option<&'t str> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.len() < a.len() { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Tells whether a byte may be the first one of a sentence end.
fn may_begin_end(byte: u8) -> bool {
    // The first bytes of '¡' and '¿', '؟', '۔', '।' and '॥', '。'.
    matches!(byte, b'.' | b'!' | b'?' | 0xc2 | 0xd8 | 0xdb | 0xe0 | 0xe3)
}

/// Returns the length of the mark at the start of `rest` that ends a sentence, or begins one, as `¿`
/// does; `None` if there is none.
fn end_of_sentence(rest: &str) -> Option<usize> {
    let end = rest.chars().next()?;
    let is_end = match end {
        // Not the full stop of `node.js`, `./skills`, `.env`.
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
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn phrases_are_folded_and_distinct() {
        let mut known = HashSet::new();
        for (at, meaning) in table::phrases(TEXT) {
            let phrase = TEXT[at].trim();
            let one_line = phrase.replace("\n  ", " ");
            assert_eq!(fold_trigger(phrase), one_line, "{phrase} is not folded");
            if meaning != Meaning::Courtesy {
                assert!(known.insert(phrase.to_owned()), "{phrase} is there twice");
            }
            for (open, close) in [('(', ')'), ('[', ']')] {
                assert_eq!(phrase.matches(open).count(), phrase.matches(close).count(), "{phrase}");
            }
        }
        assert!(known.len() > 150, "{}", known.len());
    }
}
