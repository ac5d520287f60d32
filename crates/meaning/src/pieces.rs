//! Words to pieces: the longest first, or the cheapest sequence.

use std::ops::Range;

use crate::layout::{PieceHash, Tokenizer};
use crate::table::Vocabulary;
use crate::words::words;

/// In alphabets, a shorter piece at the start of a word is not the same as inside; in characters.
/// `er` is a word in German and an ending in English, `data` means the same wherever it stands.
const MARKED_BELOW: usize = 4;
/// The alphabets come before; Chinese, Japanese and Korean after.
const ALPHABETS_END: char = '\u{3000}';

/// The row of what has no piece: no table has it.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) row: u32,
    /// Where the text has it, in bytes: the word that it is part of, or in scripts without spaces the
    /// piece itself.
    pub(crate) range: Range<usize>,
}

/// The cheapest way to a position of a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    cost: u32,
    from: u32,
    row: Option<u32>,
}

const UNREACHED: Step = Step { cost: u32::MAX, from: 0, row: None };

/// Working memory for pieces; see [`Scratch`](crate::Scratch).
#[derive(Debug, Default)]
pub(crate) struct PieceScratch {
    word: String,
    steps: Vec<Step>,
    rows: Vec<(u32, Range<usize>)>,
}

/// Calls `each` with the pieces of a text, in their order.
pub(crate) fn pieces(
    vocabulary: Vocabulary<'_>,
    text: &str,
    scratch: &mut PieceScratch,
    mut each: impl FnMut(Piece),
) {
    let PieceScratch { word, steps, rows } = scratch;
    let tokenizer = vocabulary.header.tokenizer;
    words(text, vocabulary.header, word, |range, word| {
        rows.clear();
        match tokenizer {
            Tokenizer::WordPiece => vocabulary.longest(word, rows),
            Tokenizer::Words | Tokenizer::SentencePiece => vocabulary.cheapest(word, steps, rows),
        }
        // Only there a word is a sentence, and an unchanged one has its pieces where the text has them.
        let by_piece = tokenizer == Tokenizer::Words
            && !word.starts_with(|c| c < ALPHABETS_END)
            && text.get(range.clone()) == Some(word);
        for (row, part) in rows.drain(..) {
            let range = if by_piece {
                range.start + part.start..range.start + part.end
            } else {
                range.clone()
            };
            each(Piece { row, range });
        }
    });
}

impl Vocabulary<'_> {
    /// The pieces of a word, each the longest that there is; [`UNKNOWN`] alone if a part has none.
    fn longest(&self, word: &str, rows: &mut Vec<(u32, Range<usize>)>) {
        let mut start = 0;
        while start < word.len() {
            let mut hash = PieceHash::new(start > 0);
            let mut found = None;
            for (at, byte) in word.bytes().enumerate().skip(start).take(self.header.longest) {
                hash.push(byte);
                if word.is_char_boundary(at + 1)
                    && let Some(bytes) = word.as_bytes().get(start..=at)
                    && let Some((row, _)) = self.find(hash.value(), start > 0, bytes)
                {
                    found = Some((row, start..at + 1));
                }
            }
            let Some(piece) = found else {
                rows.clear();
                rows.push((UNKNOWN, 0..word.len()));
                return;
            };
            start = piece.1.end;
            rows.push(piece);
        }
    }

    /// The pieces of a word whose costs add up to the least (Viterbi); characters without a piece are
    /// [`UNKNOWN`], once for those in sequence.
    fn cheapest(&self, word: &str, steps: &mut Vec<Step>, rows: &mut Vec<(u32, Range<usize>)>) {
        let bytes = word.as_bytes();
        steps.clear();
        steps.resize(bytes.len() + 1, UNREACHED);
        steps[0].cost = 0;
        for (start, first) in word.char_indices() {
            let cost = steps[start].cost;
            let mut reach = |end: usize, more: u32, row: Option<u32>| {
                let total = cost.saturating_add(more);
                if total < steps[end].cost {
                    steps[end] = Step { cost: total, from: start as u32, row };
                }
            };
            reach(start + first.len_utf8(), self.header.unknown, None);
            self.each_prefix(&word[start..], start == 0, |len, row, more| {
                reach(start + len, more, Some(row));
            });
        }
        let mut at = bytes.len();
        while at > 0 {
            let step = steps[at];
            let from = step.from as usize;
            match (step.row, rows.last_mut()) {
                (Some(row), _) => rows.push((row, from..at)),
                (None, Some((UNKNOWN, range))) => range.start = from,
                (None, _) => rows.push((UNKNOWN, from..at)),
            }
            at = from;
        }
        rows.reverse();
    }

    /// Calls `each` with the length, the row and the cost of each piece that `rest` starts with.
    fn each_prefix(&self, rest: &str, is_start: bool, mut each: impl FnMut(usize, u32, u32)) {
        let bytes = rest.as_bytes();
        let mut look = |flag: bool, from: usize, to: usize| {
            let mut hash = PieceHash::new(flag);
            for (at, &byte) in bytes.iter().enumerate().take(to) {
                hash.push(byte);
                if at + 1 > from
                    && rest.is_char_boundary(at + 1)
                    && let Some((row, cost)) = self.find(hash.value(), flag, &bytes[..=at])
                {
                    each(at + 1, row, cost);
                }
            }
        };
        let longest = self.header.longest;
        let marks = self.header.tokenizer == Tokenizer::Words
            && is_start
            && rest.starts_with(|c| c < ALPHABETS_END);
        if !marks {
            return look(false, 0, longest);
        }
        let short = rest.char_indices().nth(MARKED_BELOW - 1).map_or(bytes.len(), |(at, _)| at);
        look(true, 0, short.min(longest));
        look(false, short, longest);
    }
}
