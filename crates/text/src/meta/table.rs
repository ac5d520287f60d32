//! A table of phrases by the words they begin and end with.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::MetaQuestion;
use super::notation::{first_words, last_words};
use crate::row;
use crate::rows::{self, Row};
use crate::token::{Plain, is_plain, last_token, next_token};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Meaning {
    /// A question of one sentence.
    Question(MetaQuestion),
    /// A question only if it is all that a message says: "skills?".
    Message(MetaQuestion),
    /// Words that may stand around a question without making it another one.
    Courtesy,
}

/// A phrase: its range in the text of its table, and its meaning.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Entry {
    start: u32,
    end: u32,
    meaning: Meaning,
    /// True if the phrase ends with `*`.
    is_open: bool,
}

row!(Entry { start: u32, end: u32, meaning: Meaning, is_open: bool });

/// The first eight bytes of the plain form of a word, and the entry it leads to. Longer words that
/// begin alike are told apart when the phrase is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Edge {
    word: u64,
    entry: u32,
}

row!(Edge { word: u64, entry: u32 });

/// An index of the phrases of a text by the words they begin and end with. It does not hold the text, as
/// the text of the built-in phrases is part of the program. The table of these takes a millisecond to
/// make, so it is stored with an index of skills.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Table {
    n_text_bytes: u32,
    #[serde(with = "rows")]
    entries: Vec<Entry>,
    /// The words that a phrase begins with, sorted.
    #[serde(with = "rows")]
    pub(super) starts: Vec<Edge>,
    /// The words on which a phrase that begins with `*` ends, sorted.
    #[serde(with = "rows")]
    pub(super) ends: Vec<Edge>,
    /// True if any of the words in `ends` is ASCII.
    has_ascii_end: bool,
    /// The words on which any phrase ends, sorted.
    #[serde(with = "rows")]
    last_words: Vec<u64>,
}

impl Table {
    /// Indexes the phrases at some ranges of a text.
    pub(super) fn new(text: &str, phrases: impl Iterator<Item = (Range<usize>, Meaning)>) -> Table {
        let mut table = Table {
            n_text_bytes: text.len() as u32,
            entries: Vec::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            has_ascii_end: false,
            last_words: Vec::new(),
        };
        for (range, meaning) in phrases {
            table.push(&text[range.clone()], range, meaning);
        }
        for edges in [&mut table.starts, &mut table.ends] {
            edges.sort_unstable();
            edges.dedup();
        }
        table.last_words.sort_unstable();
        table.last_words.dedup();
        table
    }

    fn push(&mut self, phrase: &str, range: Range<usize>, meaning: Meaning) {
        let entry = self.entries.len() as u32;
        let edge = |word| key(word).map(|word| Edge { word, entry });
        let (n_starts, mut has_open_start) = (self.starts.len(), false);
        let may_be_empty = first_words(phrase, &mut |word| match word {
            Some(word) => self.starts.extend(edge(word)),
            None => has_open_start = true,
        });
        // A phrase that may be without words would match every message.
        if may_be_empty {
            self.starts.truncate(n_starts);
            return;
        }
        let mut is_open = false;
        last_words(phrase, &mut |word| {
            let Some(word) = word else {
                is_open = true;
                return;
            };
            self.last_words.extend(key(word));
            if has_open_start {
                self.ends.extend(edge(word));
                self.has_ascii_end |= word.is_ascii();
            }
        });
        let (start, end) = (range.start as u32, range.end as u32);
        self.entries.push(Entry { start, end, meaning, is_open });
    }

    /// Tells whether the table was made of `text`, as far as its length tells.
    pub(super) fn fits(&self, text: &str) -> bool {
        self.n_text_bytes as usize == text.len()
    }

    /// Tells whether any phrase with an open beginning may be at the end of a sentence.
    pub(super) fn may_end(&self, sentence: &str) -> bool {
        !self.ends.is_empty() && (self.has_ascii_end || !sentence.is_ascii())
    }

    /// Tells whether a phrase that is not open may end with the last word of a sentence.
    pub(super) fn may_close(&self, sentence: &str) -> bool {
        let last = last_token(sentence).and_then(key);
        last.is_some_and(|word| self.last_words.binary_search(&word).is_ok())
    }

    /// The phrases that one of `edges`, the `starts` or `ends` of the table, leads to from a word.
    pub(super) fn phrases<'t>(
        &'t self,
        edges: &'t [Edge],
        text: &'t str,
        word: &str,
    ) -> impl Iterator<Item = Phrase<'t>> {
        let key = key(word);
        let first = key.map_or(edges.len(), |key| edges.partition_point(|edge| edge.word < key));
        let found = edges[first..].iter().take_while(move |edge| Some(edge.word) == key);
        found.filter_map(|edge| {
            let &Entry { start, end, meaning, is_open } = self.entries.get(edge.entry as usize)?;
            let words = text.get(start as usize..end as usize)?;
            Some(Phrase { words, meaning, is_open })
        })
    }
}

/// A phrase of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phrase<'t> {
    /// In the notation of phrases, folded.
    pub(super) words: &'t str,
    pub(super) meaning: Meaning,
    /// True if it ends with `*`.
    pub(super) is_open: bool,
}

impl Row for Meaning {
    const LEN: usize = 1;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(match self {
            Meaning::Question(MetaQuestion::Registry) => 0,
            Meaning::Question(MetaQuestion::ShowAll) => 1,
            Meaning::Message(MetaQuestion::Registry) => 2,
            Meaning::Message(MetaQuestion::ShowAll) => 3,
            Meaning::Courtesy => 4,
        });
    }

    fn read(bytes: &[u8]) -> Self {
        match bytes {
            [0] => Meaning::Question(MetaQuestion::Registry),
            [1] => Meaning::Question(MetaQuestion::ShowAll),
            [2] => Meaning::Message(MetaQuestion::Registry),
            [3] => Meaning::Message(MetaQuestion::ShowAll),
            _ => Meaning::Courtesy,
        }
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

/// Parses the phrases of a file. It has a section for each meaning, and a line for each phrase; a phrase
/// goes on in lines that begin with a blank.
pub(super) fn phrases(file: &str) -> impl Iterator<Item = (Range<usize>, Meaning)> {
    let mut section = "";
    lines(file).flat_map(move |line| {
        let text = &file[line.clone()];
        if let Some(heading) = text.strip_suffix(':') {
            section = heading;
            return Vec::new();
        }
        let asks = if section == "all" { MetaQuestion::ShowAll } else { MetaQuestion::Registry };
        match text.as_bytes() {
            [] | [b'#', ..] => Vec::new(),
            _ if section == "around" => courtesies(text, line.start),
            [b'=', ..] => vec![(line.start + 1..line.end, Meaning::Message(asks))],
            _ => vec![(line, Meaning::Question(asks))],
        }
    })
}

fn lines(file: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = file.get(start..).filter(|rest| !rest.is_empty())?;
        let mut ends = rest.match_indices('\n').map(|(at, _)| at);
        let len = ends.find(|&at| !rest[at + 1..].starts_with(' ')).unwrap_or(rest.len());
        let line = start..start + len;
        start = line.end + 1;
        Some(line)
    })
}

/// Parses a line of courtesies, separated by commas.
fn courtesies(line: &str, mut start: usize) -> Vec<(Range<usize>, Meaning)> {
    let ranges = line.split(',').map(|words| {
        let range = start..start + words.len();
        start = range.end + 1;
        (words, range)
    });
    let filled = ranges.filter(|(words, _)| next_token(words).is_some());
    filled.map(|(_, range)| (range, Meaning::Courtesy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_sections() {
        let file = "registry:\n# Comment: (x\na (b|\n  c)\n\n=d\nall:\ne\naround:\nf, g h,\n  i\n";
        let found: Vec<_> = phrases(file).map(|(at, meaning)| (&file[at], meaning)).collect();
        let expected = [
            ("a (b|\n  c)", Meaning::Question(MetaQuestion::Registry)),
            ("d", Meaning::Message(MetaQuestion::Registry)),
            ("e", Meaning::Question(MetaQuestion::ShowAll)),
            ("f", Meaning::Courtesy),
            (" g h", Meaning::Courtesy),
            ("\n  i", Meaning::Courtesy),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn phrases_are_found_by_their_edges() {
        let text =
            "registry:\nshow (all|my) skills\n[please|hm] skillfully do\n* skill\n[x]\n?\na *\n";
        let table = Table::new(text, phrases(text));
        let starting = |word: &str| -> Vec<(&str, bool)> {
            let phrases = table.phrases(&table.starts, text, word);
            phrases.map(|phrase| (phrase.words, phrase.is_open)).collect()
        };
        assert_eq!(starting("show"), [("show (all|my) skills", false)]);
        assert_eq!(starting("hm"), [("[please|hm] skillfully do", false)]);
        assert_eq!(starting("skillful"), starting("hm"), "eight bytes are looked up");
        assert_eq!(starting("a"), [("a *", true)]);
        assert!(["x", "all", "skill", ""].into_iter().all(|word| starting(word).is_empty()));
        assert!(starting(&"x".repeat(1000)).is_empty());
        let ending = |word: &str| table.phrases(&table.ends, text, word).count();
        assert_eq!((ending("skill"), ending("do"), table.may_end("skill")), (1, 0, true));
        assert!(["Will do!", "do", "x skills ?"].into_iter().all(|text| table.may_close(text)));
        assert!(["a", "show", "do it", ""].into_iter().all(|text| !table.may_close(text)));
        assert!(table.fits(text) && !table.fits("x"));
        let of_other_text = table.phrases(&table.starts, "", "show");
        assert_eq!(of_other_text.count(), 0, "another text does no harm");
    }

    #[test]
    fn a_table_is_the_same_after_it_was_written() {
        let text = "registry:\na\n=b\nall:\nc *\n=d\n* e\naround:\nf\n";
        let table = Table::new(text, phrases(text));
        let written = postcard::to_stdvec(&table).unwrap();
        let read: Table = postcard::from_bytes(&written).unwrap();
        assert_eq!(format!("{read:?}"), format!("{table:?}"));
    }
}
