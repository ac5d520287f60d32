//! Phrases by the words they begin and end with.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::MetaQuestion;
use super::notation::{first_words, last_words};
use crate::matcher::token::{Plain, is_plain, next_token};

/// A phrase, folded, and what it means.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) phrase: Cow<'static, str>,
    pub(super) meaning: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Meaning {
    /// A question of one sentence.
    Question(MetaQuestion),
    /// A question only if it is all that a message says: "skills?".
    Message(MetaQuestion),
    /// Words that may stand around a question without making it another one.
    Courtesy,
}

/// Phrases, and their first and last words by eight bytes of their plain form. Longer words that
/// begin alike are told apart when a phrase is compared.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Table {
    entries: Vec<Entry>,
    /// The entry for each word a phrase begins with, sorted.
    starts: Vec<(u64, u16)>,
    /// The entry for each word on which a phrase that begins with `*` ends, sorted.
    ends: Vec<(u64, u16)>,
    /// Whether any of these is ASCII.
    has_ascii_end: bool,
}

impl Table {
    pub(super) fn new(phrases: impl Iterator<Item = Entry>) -> Table {
        let mut table = Table {
            entries: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            has_ascii_end: false,
        };
        for entry in phrases.take(usize::from(u16::MAX)) {
            table.push(entry);
        }
        table.starts.sort_unstable();
        table.starts.dedup();
        table.ends.sort_unstable();
        table.ends.dedup();
        table
    }

    fn push(&mut self, entry: Entry) {
        let place = self.entries.len() as u16;
        let (n_starts, mut is_open) = (self.starts.len(), false);
        let may_be_empty = first_words(&entry.phrase, &mut |word| match word {
            Some(word) => self.starts.extend(key(word).map(|key| (key, place))),
            None => is_open = true,
        });
        // A phrase without words would be asked by everything.
        if may_be_empty {
            self.starts.truncate(n_starts);
            return;
        }
        if is_open {
            last_words(&entry.phrase, &mut |word| {
                let Some(word) = word else { return };
                self.ends.extend(key(word).map(|key| (key, place)));
                self.has_ascii_end |= word.is_ascii();
            });
        }
        self.entries.push(entry);
    }

    /// The phrases that may begin with a word.
    pub(super) fn starting_with(&self, word: &str) -> impl Iterator<Item = &Entry> {
        self.of(&self.starts, key(word))
    }

    /// The phrases with an open beginning that may end with a word.
    pub(super) fn ending_with(&self, word: &str) -> impl Iterator<Item = &Entry> {
        self.of(&self.ends, key(word))
    }

    /// Whether any phrase with an open beginning may be at the end of `text`.
    pub(super) fn may_end(&self, text: &str) -> bool {
        !self.ends.is_empty() && (self.has_ascii_end || !text.is_ascii())
    }

    fn of<'t>(
        &'t self,
        words: &'t [(u64, u16)],
        key: Option<u64>,
    ) -> impl Iterator<Item = &'t Entry> {
        let first = key.map_or(words.len(), |key| words.partition_point(|word| word.0 < key));
        let found = words[first..].iter().take_while(move |word| Some(word.0) == key);
        found.filter_map(|&(_, place)| self.entries.get(usize::from(place)))
    }
}

/// The first eight bytes of a word's plain form; `None` if it is too long for a phrase.
fn key(word: &str) -> Option<u64> {
    let first = |plain: &str| {
        let mut bytes = [0; 8];
        let n_bytes = plain.len().min(8);
        bytes[..n_bytes].copy_from_slice(&plain.as_bytes()[..n_bytes]);
        u64::from_be_bytes(bytes)
    };
    if is_plain(word) {
        Some(first(word))
    } else {
        Plain::of(word).map(|word| first(word.as_str()))
    }
}

/// The phrases of a file: sections for what they mean, and phrases a line each, which go on in
/// lines that begin with a blank.
pub(super) fn entries(file: &'static str) -> impl Iterator<Item = Entry> {
    let mut section = "";
    let mut rest = file;
    let lines = std::iter::from_fn(move || {
        let end = rest.match_indices('\n').find(|&(at, _)| !rest[at + 1..].starts_with(' '));
        let (line, after) = end.map_or((rest, ""), |(at, _)| (&rest[..at], &rest[at + 1..]));
        let is_over = rest.is_empty();
        rest = after;
        (!is_over).then_some(line)
    });
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).flat_map(move |line| {
        if let Some(heading) = line.strip_suffix(':') {
            section = heading;
            return Vec::new();
        }
        let asks = if section == "all" { MetaQuestion::ShowAll } else { MetaQuestion::Registry };
        let entry = |phrase, meaning| Entry { phrase: Cow::Borrowed(phrase), meaning };
        match line.strip_prefix('=') {
            _ if section == "around" => {
                let courtesies = line.split(',').filter(|words| next_token(words).is_some());
                courtesies.map(|words| entry(words, Meaning::Courtesy)).collect()
            }
            Some(phrase) => vec![entry(phrase, Meaning::Message(asks))],
            None => vec![entry(line, Meaning::Question(asks))],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_sections() {
        let file = "registry:\n# Comment: (x\na (b|\n  c)\n\n=d\nall:\ne\naround:\nf, g h,\n  i\n";
        let found: Vec<_> = entries(file).map(|e| (e.phrase.into_owned(), e.meaning)).collect();
        let expected = [
            ("a (b|\n  c)", Meaning::Question(MetaQuestion::Registry)),
            ("d", Meaning::Message(MetaQuestion::Registry)),
            ("e", Meaning::Question(MetaQuestion::ShowAll)),
            ("f", Meaning::Courtesy),
            (" g h", Meaning::Courtesy),
            ("\n  i", Meaning::Courtesy),
        ];
        assert_eq!(found, expected.map(|(phrase, meaning)| (phrase.to_owned(), meaning)));
    }

    #[test]
    fn phrases_are_found_by_their_edges() {
        let phrases = ["show (all|my) skills", "[please|hm] skillfully do", "* skill", "[x]", "?"];
        let entry = |&phrase| Entry {
            phrase: Cow::Borrowed(phrase),
            meaning: Meaning::Question(MetaQuestion::Registry),
        };
        let table = Table::new(phrases.iter().map(entry));
        let starting = |word| table.starting_with(word).map(|e| &*e.phrase).collect::<Vec<_>>();
        assert_eq!(starting("show"), [phrases[0]]);
        assert_eq!(starting("hm"), [phrases[1]]);
        assert_eq!(starting("skillful"), [phrases[1]], "eight bytes are looked up");
        assert!(["x", "all", "skill", ""].into_iter().all(|word| starting(word).is_empty()));
        assert_eq!(table.ending_with("skill").count(), 1);
        assert!(table.may_end("skill") && table.ending_with("do").next().is_none());
        assert!(starting(&"x".repeat(1000)).is_empty());
    }
}
