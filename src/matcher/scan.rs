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
        for (place, run) in runs.after(0).enumerate() {
            let part = std::mem::replace(&mut before, run.end)..run.start;
            infixes.note_between(text, part, seen, &mut |infix| report(Standing::Infix(infix)));
            let known = memo.of(bytes, run.clone(), |inside| {
                infixes.starts_in(&bytes[run.clone()], |what, at| {
                    inside.push(Inside { what, at: at as u32 });
                });
                words.first(bytes, run.clone())
            });
            if known.first != First::NONE {
                words.follow(text, runs, place, known.first, |literal, range| {
                    report(Standing::Word(literal, range));
                });
            }
            for &Inside { what, at } in memo.inside(known) {
                let at = run.start + at as usize;
                infixes.note_start(what, text, at, seen, &mut |infix| report(Standing::Infix(infix)));
            }
        }
        let part = before..text.len();
        infixes.note_between(text, part, seen, &mut |infix| report(Standing::Infix(infix)));
    }
}
