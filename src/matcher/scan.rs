//! The scan of a folded text for literals, run by run.

use std::ops::Range;

use super::index::Index;
use super::memo::{self, Known, Memo};
use super::run_key::{RunKey, RunReader};
use super::seen::{Occurrence, Seen};
use super::split::Split;
use super::starts::Start;
use super::words::{InPhrases, Words};

/// Who is told of the literals that stand in a text; of each in the order of where it starts.
pub(super) trait Report {
    /// A word stands on its own that is an item, and no more than that.
    fn item(&mut self, item: u32, range: Range<usize>);

    /// Another literal that is one of [`Words`] stands as a word of its own.
    fn word(&mut self, literal: u32, range: Range<usize>);

    /// A literal that may stand anywhere stands in the text, where it matters.
    fn infix(&mut self, found: Occurrence);
}

/// UTF-8 has no such byte.
const IN_NO_TEXT: u8 = 0xff;

/// A scan of one text.
struct Scan<'s, R> {
    index: &'s Index,
    text: &'s str,
    is_ascii: bool,
    reader: RunReader<'s>,
    runs: &'s Split,
    seen: &'s mut Seen,
    report: &'s mut R,
}

impl Index {
    /// Tells `report` of each literal of the folded `text`, and puts into `seen` where those are that may
    /// stand anywhere; `is_ascii` may be false if it is not known.
    ///
    /// Most words have nothing to do with any literal: the loop is about these, and calls others.
    pub(super) fn scan_literals(
        &self,
        text: &str,
        is_ascii: bool,
        runs: &mut Split,
        memo: &mut Memo,
        seen: &mut Seen,
        report: &mut impl Report,
    ) {
        let bytes = text.as_bytes();
        runs.set(text);
        seen.clear();
        let runs: &Split = runs;
        let mut scan =
            Scan { index: self, text, is_ascii, reader: RunReader::new(bytes), runs, seen, report };
        // The byte between most runs, if no literal starts with it.
        let blank = if self.infixes.may_start_in(b" ") { IN_NO_TEXT } else { b' ' };
        let (mut before, mut spread_before) = (0, 0);
        let mut known_before = Known::new(None, InPhrases::default());
        let mut rest = runs.iter();
        while let Some(run) = rest.next() {
            let between = before..run.start;
            let is_blank = between.len() == 1 && bytes[before] == blank;
            if !is_blank && self.infixes.may_start_in(&bytes[between.clone()]) {
                scan.between(between);
            }
            let key = scan.reader.key(&run);
            let spread = key.spread();
            let known = memo.get(key, spread, bytes, &run);
            let known = known.unwrap_or_else(|| scan.unknown(run.clone(), key, memo));
            if known.may_go_on(known_before) && self.words.may_begin(spread_before, key) {
                scan.phrases_before(runs.len() - rest.len() - 1);
            }
            (before, spread_before, known_before) = (run.end, spread, known);
            scan.known(run, known, memo);
        }
        if self.infixes.may_start_in(&bytes[before..]) {
            scan.between(before..bytes.len());
        }
    }
}

impl<R: Report> Scan<'_, R> {
    /// Notes what starts in no run.
    #[inline(never)]
    fn between(&mut self, part: Range<usize>) {
        let mut report = |infix| self.report.infix(infix);
        self.index.infixes.note_between(self.text, part, self.seen, &mut report);
    }

    /// Notes the phrases that begin with the run before the one at `place`.
    #[inline(never)]
    fn phrases_before(&mut self, place: usize) {
        let Some(first) = place.checked_sub(1) else { return };
        let Scan { index, text, reader, runs, report, .. } = self;
        index.words.phrases(text, reader, runs, first, |literal, range| {
            report.word(literal, range);
        });
    }

    /// Notes the literals of a word that is known.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "half of all words have some: a call is a fifth of it"
    )]
    fn known(&mut self, run: Range<usize>, known: Known, memo: &Memo) {
        if let Some(item) = known.item() {
            self.note_item(item, run.clone());
        }
        if known.n_singles() > 0 {
            for single in memo.singles(known) {
                self.seen.see(single.literal, single.end(run.start));
            }
        }
        if known.n_others() > 0 {
            for inside in memo.others(known) {
                self.note(inside.what, inside.range(run.start));
            }
        }
    }

    /// Looks closely at a word, and learns it; what is in one that is too long for that, or in which too
    /// much starts, is noted at once.
    #[cold]
    fn unknown(&mut self, run: Range<usize>, key: RunKey, memo: &mut Memo) -> Known {
        let Index { words, infixes, .. } = self.index;
        let word = &self.text.as_bytes()[run.clone()];
        let single = words.single(key, word);
        let item = single.and_then(|literal| self.index.tables.item_of_word(literal));
        let whole = Known::new(item, words.in_phrases(key));
        let look = |found: &mut dyn FnMut(Start, Range<usize>)| {
            infixes.starts_in(word, &mut *found);
            if let Some(literal) = single.filter(|_| item.is_none()) {
                found(Start::Word(literal), 0..word.len());
            }
        };
        let is_learned = run.len() <= memo::MAX_BYTES;
        let learned = if is_learned { memo.learn(key, word, whole, look) } else { None };
        learned.unwrap_or_else(|| {
            look(&mut |what, at| self.note(what, run.start + at.start..run.start + at.end));
            whole
        })
    }

    fn note(&mut self, what: Start, range: Range<usize>) {
        let Index { infixes, .. } = self.index;
        match what {
            Start::Word(literal) => {
                if self.stands_alone(&range) {
                    self.report.word(literal, range);
                }
            }
            Start::Single(literal) => self.seen.see(literal, range.end),
            Start::Literal(literal) => {
                let mut report = |infix| self.report.infix(infix);
                infixes.note(literal, self.text, range.start, self.seen, &mut report);
            }
            Start::Head(head) => {
                let mut report = |infix| self.report.infix(infix);
                infixes.note_head(head, self.text, range, self.seen, &mut report);
            }
        }
    }

    #[inline]
    fn note_item(&mut self, item: u32, range: Range<usize>) {
        if self.stands_alone(&range) {
            self.report.item(item, range);
        }
    }

    #[inline]
    fn stands_alone(&self, run: &Range<usize>) -> bool {
        self.is_ascii || Words::stands_alone(self.text, run)
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{IndexOptions, IndexedSkill};
    use super::*;
    use crate::skill::{Skill, SkillId};

    /// The places of what is reported.
    #[derive(Debug, Default, PartialEq)]
    struct Reported {
        words: Vec<usize>,
        infixes: Vec<usize>,
    }

    impl Report for Reported {
        fn item(&mut self, _: u32, range: Range<usize>) {
            self.words.push(range.start);
        }

        fn word(&mut self, _: u32, range: Range<usize>) {
            self.words.push(range.start);
        }

        fn infix(&mut self, found: Occurrence) {
            self.infixes.push(found.range.start);
        }
    }

    /// The index of one skill with these triggers, in YAML.
    fn index(triggers: &str) -> Index {
        let text = format!("---\nname: s\ndescription: d\ntriggers: {triggers}\n---\n");
        let skill: Skill = text.parse().unwrap();
        let id = SkillId::new("s");
        let skill = IndexedSkill { id: &id, name: skill.name(), triggers: skill.triggers() };
        Index::new(&[skill], &IndexOptions::default()).unwrap()
    }

    #[test]
    fn what_is_recalled_of_words_is_what_was_found_when_they_were_new() {
        let long = "x".repeat(memo::MAX_BYTES + 1);
        let index = index(&format!("{{keywords: [git, c++, {long}], patterns: ['deploy\\w+']}}"));
        let text = format!("git 使git用 ágit {long} c++ redeployed git");
        let place = |part: &str| text.find(part).unwrap();
        let expected = Reported {
            words: vec![0, place("git用"), place(&long), text.len() - 3],
            infixes: vec![place("c++")],
        };
        let (mut runs, mut memo, mut seen) = (Split::default(), Memo::default(), Seen::default());
        for pass in 0..2 {
            let mut reported = Reported::default();
            index.scan_literals(&text, false, &mut runs, &mut memo, &mut seen, &mut reported);
            assert_eq!(reported, expected, "pass {pass}");
            let ends: Vec<u32> = seen.entries().map(|(_, of)| of.first_end).collect();
            let ends_of = |parts: [&str; 2]| parts.map(|part| (place(part) + part.len()) as u32);
            assert_eq!(ends, ends_of(["c++", "deploy"]), "pass {pass}");
        }
    }

    #[test]
    fn where_a_literal_is_first_is_known_also_if_it_begins_another_there() {
        let index = index("{patterns: [test.*mid, tests]}");
        let text = "tests_mid_test";
        let (mut runs, mut memo, mut seen) = (Split::default(), Memo::default(), Seen::default());
        for pass in 0..2 {
            let mut none = Reported::default();
            index.scan_literals(text, true, &mut runs, &mut memo, &mut seen, &mut none);
            let ends = seen.entries().map(|(_, of)| (of.first_end, of.last_end));
            let mut ends: Vec<(u32, u32)> = ends.collect();
            ends.sort_unstable();
            assert_eq!(ends, [(4, 14), (5, 5), (9, 9)], "pass {pass}");
        }
    }

    #[test]
    fn a_word_in_which_literals_start_everywhere_is_looked_at_each_time() {
        let lengths = [1, 2, 3, 4, 8];
        let patterns = lengths.map(|n_bytes| "a".repeat(n_bytes)).join(", ");
        let index = index(&format!("{{patterns: [{patterns}]}}"));
        let (mut runs, mut memo, mut seen) = (Split::default(), Memo::default(), Seen::default());
        for n_bytes in 1..=memo::MAX_BYTES + 1 {
            for _ in 0..2 {
                let (text, mut none) = ("a".repeat(n_bytes), Reported::default());
                index.scan_literals(&text, true, &mut runs, &mut memo, &mut seen, &mut none);
                let n_expected = lengths.iter().filter(|&&of| of <= n_bytes).count();
                assert_eq!(seen.len(), n_expected, "{n_bytes} bytes");
            }
        }
    }

    #[test]
    fn phrases_of_words_of_any_length_are_found_also_when_the_words_are_recalled() {
        // One that is told by its hash, and one that is not learned.
        let [long, longest] = [17, memo::MAX_BYTES + 1].map(|n_bytes| "x".repeat(n_bytes));
        let index = index(&format!(
            "[pull request, pull request review, two {long}, {long} two, three {longest}, \
             {longest} three]"
        ));
        let text = format!("pull request two {long} two three {longest} three pull request review");
        let [two, three] = ["two", "three"].map(|word| text.find(word).unwrap());
        let last = text.rfind("pull").unwrap();
        let expected = [0, two, two + 4, three, three + 6, last, last];
        for is_ascii in [true, false] {
            let (mut runs, mut memo, mut seen) =
                (Split::default(), Memo::default(), Seen::default());
            for pass in 0..2 {
                let mut reported = Reported::default();
                index.scan_literals(
                    &text,
                    is_ascii,
                    &mut runs,
                    &mut memo,
                    &mut seen,
                    &mut reported,
                );
                reported.words.sort_unstable();
                assert_eq!(reported.words, expected, "pass {pass}");
            }
        }
    }
}
