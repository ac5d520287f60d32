//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::infix::{Occurrence, Seen};
use super::memo::{Inside, Memo};
use super::split::Split;

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
        for (place, run) in runs.after(0).enumerate() {
            let known = memo.of(bytes, run.clone(), |inside| {
                infixes.inside(&bytes[run.clone()], |literal, at| {
                    inside.push(Inside { literal, at: at as u32 });
                });
                words.first(bytes, run.clone())
            });
            words.follow(text, runs, place, known.first, |literal, range| {
                report(Standing::Word(literal, range));
            });
            for &Inside { literal, at } in memo.inside(known) {
                infixes.note(literal, text, run.start + at as usize, seen, &mut |occurrence| {
                    report(Standing::Infix(occurrence));
                });
            }
        }
        infixes.across(text, runs, seen, |occurrence| report(Standing::Infix(occurrence)));
    }
}
