//! One Aho-Corasick automaton over every literal, and one pass over the text.

use std::ops::Range;

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};

use super::boundary;

/// All literals of a catalog as one automaton.
#[derive(Debug)]
pub(crate) struct Automaton {
    nfa: NFA,
    literals: Vec<Literal>,
}

#[derive(Debug, Clone, Copy)]
struct Literal {
    len: u32,
    /// Whether this literal, or one that ends with it, must be reported at each occurrence.
    contextual: bool,
}

/// What a pass has seen of each literal. Kept between passes: a stamp tells which pass wrote an
/// entry, so that nothing has to be cleared.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pass: u32,
    entries: Vec<SeenLiteral>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SeenLiteral {
    pass: u32,
    /// Seen where its right side is a word's end.
    closed: bool,
    /// Seen as a word of its own.
    whole: bool,
}

/// A literal found in the text.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// The literal's place in the slice the automaton was built from.
    pub(crate) literal: usize,
    /// Bytes of the folded text.
    pub(crate) range: Range<usize>,
    /// Whether this is the first time the literal is seen in this text.
    pub(crate) first: bool,
    /// Whether this is the first time it is seen as a word of its own.
    pub(crate) first_whole: bool,
}

impl Automaton {
    /// Compiles distinct, non-empty, folded `literals`; `contextual` tells of each literal whether
    /// every occurrence matters (for what stands around it), not only the first ones.
    pub(crate) fn new(
        literals: &[String],
        contextual: impl Fn(usize) -> bool,
    ) -> Result<Automaton, Box<BuildError>> {
        // A prefilter only pays for few literals in long texts; queries are short.
        let nfa =
            NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(literals)?;
        let mut automaton = Automaton { nfa, literals: Vec::with_capacity(literals.len()) };
        for literal in literals {
            let mut ends_contextual = false;
            automaton.at_end_of(literal, |suffix| ends_contextual |= contextual(suffix));
            automaton
                .literals
                .push(Literal { len: literal.len() as u32, contextual: ends_contextual });
        }
        Ok(automaton)
    }

    /// Calls `report` for each literal that `text` ends with.
    fn at_end_of(&self, text: &str, mut report: impl FnMut(usize)) {
        let Ok(mut state) = self.nfa.start_state(Anchored::No) else { return };
        for &byte in text.as_bytes() {
            state = self.nfa.next_state(Anchored::No, state, byte);
        }
        if self.nfa.is_match(state) {
            for nth in 0..self.nfa.match_len(state) {
                report(self.nfa.match_pattern(state, nth).as_usize());
            }
        }
    }

    /// Calls `report` for the first occurrence of each literal in `text`, for its first as a word
    /// of its own, and for every occurrence of contextual ones.
    ///
    /// Linear in the text even where literals are nested (`a`, `aa`, `aaa`, …): the literals that
    /// end at one place come longest first, and the shorter are ends of the longer. Once a longer
    /// one was seen with the same kind of right side, so were the shorter ones, whose left side is
    /// inside the longer.
    pub(crate) fn scan(&self, text: &str, seen: &mut Seen, mut report: impl FnMut(Occurrence)) {
        seen.start_pass(self.literals.len());
        let Ok(mut state) = self.nfa.start_state(Anchored::No) else { return };
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            state = self.nfa.next_state(Anchored::No, state, byte);
            if !self.nfa.is_special(state) || !self.nfa.is_match(state) {
                continue;
            }
            let end = at + 1;
            let closed = boundary::closes(text, end);
            for nth in 0..self.nfa.match_len(state) {
                let literal = self.nfa.match_pattern(state, nth).as_usize();
                let Literal { len, contextual } = self.literals[literal];
                let range = end - len as usize..end;
                let entry = &mut seen.entries[literal];
                let first = entry.pass != seen.pass;
                if first {
                    *entry = SeenLiteral { pass: seen.pass, closed: false, whole: false };
                }
                let settled = !first && (entry.closed || !closed);
                entry.closed |= closed;
                let whole = closed && !entry.whole && boundary::opens(text, range.start, end);
                entry.whole |= whole;
                if first || whole || contextual {
                    report(Occurrence { literal, range, first, first_whole: whole });
                }
                if settled && !contextual {
                    break;
                }
            }
        }
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        self.nfa.memory_usage() + self.literals.capacity() * size_of::<Literal>()
    }
}

impl Seen {
    fn start_pass(&mut self, n_literals: usize) {
        self.pass = self.pass.wrapping_add(1);
        if self.entries.len() != n_literals || self.pass == 0 {
            self.entries.clear();
            self.entries.resize(n_literals, SeenLiteral::default());
            self.pass = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literal, its start, and whether it is its first whole occurrence, of each report.
    fn scan(literals: &[&str], contextual: &[usize], text: &str) -> Vec<(usize, usize, bool)> {
        let literals: Vec<String> = literals.iter().map(|l| (*l).to_owned()).collect();
        let automaton = Automaton::new(&literals, |i| contextual.contains(&i)).unwrap();
        let mut reports = Vec::new();
        automaton.scan(text, &mut Seen::default(), |o| {
            reports.push((o.literal, o.range.start, o.first_whole));
        });
        reports
    }

    #[test]
    fn the_first_occurrence_and_the_first_whole_one_are_reported() {
        assert_eq!(
            scan(&["git", "hub"], &[], "github git git hub"),
            [(0, 0, false), (1, 3, false), (0, 7, true), (1, 15, true)]
        );
    }

    #[test]
    fn every_occurrence_of_a_contextual_literal_is_reported_even_as_an_end_of_another() {
        let reports = scan(&["a b", "b"], &[1], "a b a b");
        assert_eq!(reports.iter().filter(|r| r.0 == 1).count(), 2);
    }

    #[test]
    fn a_shorter_literal_is_found_whole_after_a_longer_one_was_seen_inside_a_word() {
        // `-b` is first seen with an open right side, then closed; `b` must not be lost.
        let reports = scan(&["a-b", "b"], &[], "a-bx a-b");
        assert!(reports.contains(&(1, 7, true)), "{reports:?}");
    }

    #[test]
    fn passes_do_not_see_each_other() {
        let literals = vec!["x".to_owned()];
        let automaton = Automaton::new(&literals, |_| false).unwrap();
        let mut seen = Seen { pass: u32::MAX - 1, entries: Vec::new() };
        for _ in 0..4 {
            let mut n_reports = 0;
            automaton.scan("x x x", &mut seen, |_| n_reports += 1);
            assert_eq!(n_reports, 1);
        }
    }
}
