//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::infix::{Occurrence, Seen};
use super::memo::{Inside, Memo};
use super::split::Split;
use super::words::First;

/// A literal that stands in a text.
#[derive(Debug)]
pub(super) enum Standing {
    /// A literal that is a word, as a word of its own.
    Word(u32, Range<usize>),
    Infix(Occurrence),
}

impl Index {
    /// Calls `report` with each literal of the folded `text`; of each in the order of where it starts.
    pub(super) fn scan_literals(
        &self,
        text: &str,
        runs: &mut Split,
        memo: &mut Memo,
        seen: &mut Seen,
        mut report: impl FnMut(Standing),
    ) {
        let (words, infixes, bytes) = (&self.words, &self.infixes, text.as_bytes());
        runs.set(text);
        seen.start(infixes.len());
        let mut before = 0;
        for (place, run) in runs.iter().enumerate() {
            for at in before..run.start {
                if infixes.starts_with(bytes[at]) {
                    infixes.note_at(text, at, seen, &mut |infix| report(Standing::Infix(infix)));
                }
            }
            before = run.end;
            let known = memo.get(bytes, &run).unwrap_or_else(|| {
                memo.learn(bytes, run.clone(), |bytes, inside| {
                    infixes.starts_in(bytes, |what, at| {
                        inside.push(Inside { what, at: at as u32 });
                    });
                    words.first(bytes)
                })
            });
            if known.is_nothing() {
                continue;
            }
            if known.first != First::NONE {
                words.follow(text, runs, place, known.first, |literal, range| {
                    report(Standing::Word(literal, range));
                });
            }
            for &Inside { what, at } in memo.inside(known) {
                let range = run.start + at as usize..run.end;
                infixes.note_start(what, text, range, seen, &mut |infix| {
                    report(Standing::Infix(infix));
                });
            }
        }
        for at in before..bytes.len() {
            if infixes.starts_with(bytes[at]) {
                infixes.note_at(text, at, seen, &mut |infix| report(Standing::Infix(infix)));
            }
        }
    }
}
