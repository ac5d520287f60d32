//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::infix::{Occurrence, Seen};
use super::memo::{self, Inside, Memo};
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
            let part = std::mem::replace(&mut before, run.end)..run.start;
            infixes.note_between(text, part, seen, &mut |infix| report(Standing::Infix(infix)));
            let mut note = |what, at: usize| {
                let range = run.start + at..run.end;
                infixes.note_start(what, text, range, seen, &mut |infix| {
                    report(Standing::Infix(infix));
                });
            };
            let first = if run.len() > memo::MAX_BYTES {
                infixes.starts_in(&bytes[run.clone()], note);
                words.first(&bytes[run])
            } else {
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
                memo.inside(known).iter().for_each(|&Inside { what, at }| note(what, at as usize));
                known.first
            };
            if first != First::NONE {
                words.follow(text, runs, place, first, |literal, range| {
                    report(Standing::Word(literal, range));
                });
            }
        }
        let part = before..bytes.len();
        infixes.note_between(text, part, seen, &mut |infix| report(Standing::Infix(infix)));
    }
}
