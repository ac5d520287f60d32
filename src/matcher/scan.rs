//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::memo::{self, Inside, Memo};
use super::run_key::{RunKey, RunReader};
use super::seen::{Occurrence, Seen};
use super::split::Split;
use super::starts::Start;
use super::words::{Single, Words};

/// A literal that stands in a text.
#[derive(Debug)]
pub(super) enum Standing {
    /// A literal that is a word, as a word of its own.
    Word(u32, Range<usize>),
    /// A literal that only patterns need, the first time it stands in the text.
    Required(u32),
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
        let blanks_are_nothing = !self.infixes.may_start_in(b" ");
        let (mut before, mut spread_before) = (0, 0);
        for (place, run) in runs.iter().enumerate() {
            let between = before..run.start;
            let is_blank = between.len() == 1 && bytes[before] == b' ';
            if !(is_blank && blanks_are_nothing)
                && self.infixes.may_start_in(&bytes[between.clone()])
            {
                scan.between(between);
            }
            let key = scan.reader.key(&run);
            if self.words.may_begin(spread_before, key) && place > 0 {
                scan.phrases(place - 1);
            }
            (before, spread_before) = (run.end, key.spread());
            match memo.get(key, bytes, &run) {
                Some(known) if known.is_nothing() => {}
                Some(known) => scan.known(run, memo.inside(known), known.single),
                None => scan.unknown(run, key, memo),
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

    /// Notes the phrases that begin with a run.
    #[inline(never)]
    fn phrases(&mut self, place: usize) {
        let Scan { index, text, reader, runs, report, .. } = self;
        index.words.phrases(text, reader, runs, place, |literal, range| {
            report(Standing::Word(literal, range));
        });
    }

    /// Notes the literals of a word that is known.
    #[inline(never)]
    fn known(&mut self, run: Range<usize>, inside: &[Inside], single: Single) {
        for inside in inside {
            self.note(inside.what, inside.range(run.start));
        }
        self.note_single(run, single);
    }

    /// Looks closely at a word.
    #[cold]
    fn unknown(&mut self, run: Range<usize>, key: RunKey, memo: &mut Memo) {
        let Index { words, infixes, .. } = self.index;
        let word = &self.text.as_bytes()[run.clone()];
        if run.len() > memo::MAX_BYTES {
            infixes.starts_in(word, |what, at| {
                self.note(what, run.start + at.start..run.start + at.end);
            });
            self.note_single(run, words.single(key, word));
            return;
        }
        let known = memo.learn(key, word, |word, inside| {
            infixes.starts_in(word, |what, at| inside.push(Inside::new(what, at)));
            words.single(key, word)
        });
        self.known(run, memo.inside(known), known.single);
    }

    fn note_single(&mut self, run: Range<usize>, single: Single) {
        Words::report_single(self.text, run, single, |literal, range| {
            (self.report)(Standing::Word(literal, range));
        });
    }

    #[inline]
    fn note(&mut self, what: Start, range: Range<usize>) {
        if let Start::Single(literal) = what {
            if self.seen.note(literal, range.end).0 {
                (self.report)(Standing::Required(literal));
            }
            return;
        }
        let mut report = |infix| (self.report)(Standing::Infix(infix));
        self.index.infixes.note_start(what, self.text, range, self.seen, &mut report);
    }
}
