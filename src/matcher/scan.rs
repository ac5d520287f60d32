//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::infix::Start;
use super::memo::{self, Inside, Memo};
use super::run_key::{RunKey, RunReader};
use super::seen::{Occurrence, Seen};
use super::split::Split;
use super::words::First;

/// A literal that stands in a text.
#[derive(Debug)]
pub(super) enum Standing {
    /// A literal that is a word, as a word of its own.
    Word(u32, Range<usize>),
    Infix(Occurrence),
}

/// A scan of one text.
struct Scan<'s, R> {
    index: &'s Index,
    text: &'s str,
    reader: RunReader<'s>,
    runs: &'s Split,
    seen: &'s mut Seen,
    report: R,
}

impl Index {
    /// Calls `report` with each literal of the folded `text`; of each in the order of where it starts.
    ///
    /// Most words have nothing to do with any literal: the loop is about these, and calls others.
    pub(super) fn scan_literals(
        &self,
        text: &str,
        runs: &mut Split,
        memo: &mut Memo,
        seen: &mut Seen,
        report: impl FnMut(Standing),
    ) {
        let bytes = text.as_bytes();
        runs.set(text);
        seen.start(self.infixes.len());
        let runs: &Split = runs;
        let mut scan =
            Scan { index: self, text, reader: RunReader::new(bytes), runs, seen, report };
        let mut before = 0;
        for (place, run) in runs.iter().enumerate() {
            if self.infixes.may_start_in(&bytes[before..run.start]) {
                scan.between(before..run.start);
            }
            before = run.end;
            let key = scan.reader.key(&run);
            match memo.get(key, bytes, &run) {
                Some(known) if known.is_nothing() => {}
                Some(known) => scan.known(place, run.start, memo.inside(known), known.first),
                None => scan.unknown(place, run, key, memo),
            }
        }
        if self.infixes.may_start_in(&bytes[before..]) {
            scan.between(before..bytes.len());
        }
    }
}

impl<R: FnMut(Standing)> Scan<'_, R> {
    /// Notes what starts in no run.
    #[inline(never)]
    fn between(&mut self, part: Range<usize>) {
        let mut report = |infix| (self.report)(Standing::Infix(infix));
        self.index.infixes.note_between(self.text, part, self.seen, &mut report);
    }

    /// Notes the literals of a word that is known.
    #[inline(never)]
    fn known(&mut self, place: usize, start: usize, inside: &[Inside], first: First) {
        for inside in inside {
            self.note(inside.what, inside.range(start));
        }
        self.follow(place, first);
    }

    /// Looks closely at a word.
    #[cold]
    fn unknown(&mut self, place: usize, run: Range<usize>, key: RunKey, memo: &mut Memo) {
        let Index { words, infixes, .. } = self.index;
        let word = &self.text.as_bytes()[run.clone()];
        if run.len() > memo::MAX_BYTES {
            infixes.starts_in(word, |what, at| {
                self.note(what, run.start + at.start..run.start + at.end);
            });
            self.follow(place, words.first(key, word));
            return;
        }
        let known = memo.learn(key, word, |word, inside| {
            infixes.starts_in(word, |what, at| inside.push(Inside::new(what, at)));
            words.first(key, word)
        });
        self.known(place, run.start, memo.inside(known), known.first);
    }

    #[inline]
    fn note(&mut self, what: Start, range: Range<usize>) {
        let mut report = |infix| (self.report)(Standing::Infix(infix));
        self.index.infixes.note_start(what, self.text, range, self.seen, &mut report);
    }

    #[inline]
    fn follow(&mut self, place: usize, first: First) {
        let Scan { index, text, reader, runs, report, .. } = self;
        if first != First::NONE {
            index.words.follow(text, reader, runs, place, first, |literal, range| {
                report(Standing::Word(literal, range));
            });
        }
    }
}
