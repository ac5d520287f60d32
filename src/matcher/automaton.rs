//! One Aho-Corasick automaton over the literals that are no plain words, and one pass over the text.

use std::ops::Range;

use aho_corasick::automaton::Automaton as Walk;
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind, StartKind};

use super::boundary;

/// Literals of so many bytes in all make a DFA: it has a transition for each byte in each state
/// and so never looks back, at about 250 bytes a state.
const MAX_DFA_BYTES: usize = 16 * 1024;

/// Literals as one automaton.
#[derive(Debug)]
pub(crate) struct Automaton {
    machine: Machine,
    literals: Vec<Literal>,
}

#[derive(Debug)]
enum Machine {
    Nfa(NFA),
    Dfa(DFA),
}

#[derive(Debug, Clone, Copy, Default)]
struct Literal {
    len: u32,
    /// Whether this literal, or one that it ends with, must be reported at each occurrence.
    contextual: bool,
    /// Whether this literal, or one that it ends with, is looked for as a word of its own.
    whole: bool,
    /// Whether some longer literal ends with this one.
    ends_another: bool,
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
    first_end: u32,
    last_end: u32,
    /// Seen where its right side is a word's end.
    closed: bool,
    /// Seen as a word of its own.
    whole: bool,
}

/// Which occurrences of a literal matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// The first, wherever it stands.
    First,
    /// The first, and the first as a word of its own.
    FirstWhole,
    /// All, for what stands around them.
    Each,
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
    /// Compiles distinct, non-empty, folded `literals`; `needs` tells of each literal which of its
    /// occurrences matter.
    pub(crate) fn new(
        literals: &[&str],
        needs: impl Fn(usize) -> Needs,
    ) -> Result<Automaton, Box<BuildError>> {
        // A prefilter only pays for few literals in long texts; queries are short.
        let n_bytes: usize = literals.iter().map(|literal| literal.len()).sum();
        let machine = if n_bytes <= MAX_DFA_BYTES {
            let mut builder = DFA::builder();
            builder.match_kind(MatchKind::Standard).prefilter(false);
            Machine::Dfa(builder.start_kind(StartKind::Unanchored).build(literals)?)
        } else {
            let mut builder = NFA::builder();
            Machine::Nfa(builder.match_kind(MatchKind::Standard).prefilter(false).build(literals)?)
        };
        let mut compiled = vec![Literal::default(); literals.len()];
        for (place, literal) in literals.iter().enumerate() {
            compiled[place].len = literal.len() as u32;
            let mut report = |suffix: usize| {
                compiled[place].contextual |= needs(suffix) == Needs::Each;
                compiled[place].whole |= needs(suffix) != Needs::First;
                compiled[suffix].ends_another |= suffix != place;
            };
            match &machine {
                Machine::Nfa(nfa) => at_end_of(nfa, literal, &mut report),
                Machine::Dfa(dfa) => at_end_of(dfa, literal, &mut report),
            }
        }
        Ok(Automaton { machine, literals: compiled })
    }

    /// Calls `report` for the first occurrence of each literal in `text`, for its first as a word
    /// of its own, and for every occurrence of contextual ones.
    pub(crate) fn scan(&self, text: &str, seen: &mut Seen, report: impl FnMut(Occurrence)) {
        seen.start_pass(self.literals.len());
        if self.literals.is_empty() {
            return;
        }
        match &self.machine {
            Machine::Nfa(nfa) => self.walk(nfa, text, seen, report),
            Machine::Dfa(dfa) => self.walk(dfa, text, seen, report),
        }
    }

    /// Linear in the text even where literals are nested (`a`, `aa`, `aaa`, …): the literals that
    /// end at one place come longest first, and the shorter are ends of the longer. Once a longer
    /// one was seen with the same kind of right side, so were the shorter ones, whose left side is
    /// inside the longer.
    fn walk<W: Walk>(
        &self,
        machine: &W,
        text: &str,
        seen: &mut Seen,
        mut report: impl FnMut(Occurrence),
    ) {
        let Ok(mut state) = machine.start_state(Anchored::No) else { return };
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            state = machine.next_state(Anchored::No, state, byte);
            if !machine.is_special(state) || !machine.is_match(state) {
                continue;
            }
            let end = at + 1;
            let mut right_side = None;
            for nth in 0..machine.match_len(state) {
                let literal = machine.match_pattern(state, nth).as_usize();
                let Literal { len, contextual, whole, .. } = self.literals[literal];
                let closed =
                    whole && *right_side.get_or_insert_with(|| boundary::closes(text, end));
                let range = end - len as usize..end;
                let entry = &mut seen.entries[literal];
                let first = entry.pass != seen.pass;
                if first {
                    let first_end = end as u32;
                    *entry = SeenLiteral { pass: seen.pass, first_end, ..SeenLiteral::default() };
                }
                entry.last_end = end as u32;
                let settled = !first && (entry.closed || !closed);
                entry.closed |= closed;
                let first_whole = closed && !entry.whole && boundary::opens(text, range.start, end);
                entry.whole |= first_whole;
                if first || first_whole || contextual {
                    report(Occurrence { literal, range, first, first_whole });
                }
                if settled && !contextual {
                    break;
                }
            }
        }
    }

    /// Where the last occurrence of a literal starts that the last pass has seen. `Err` is the
    /// last one that was looked at, if others may come after it.
    pub(crate) fn last_start(&self, literal: u32, seen: &Seen) -> Option<Result<u32, u32>> {
        let Literal { len, ends_another, .. } = self.literals[literal as usize];
        let start = seen.get(literal)?.last_end - len;
        Some(if ends_another { Err(start) } else { Ok(start) })
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        let machine = match &self.machine {
            Machine::Nfa(nfa) => nfa.memory_usage(),
            Machine::Dfa(dfa) => dfa.memory_usage(),
        };
        machine + self.literals.capacity() * size_of::<Literal>()
    }
}

/// Calls `report` for each literal that `text` ends with.
fn at_end_of<W: Walk>(machine: &W, text: &str, report: &mut impl FnMut(usize)) {
    let Ok(mut state) = machine.start_state(Anchored::No) else { return };
    for &byte in text.as_bytes() {
        state = machine.next_state(Anchored::No, state, byte);
    }
    if machine.is_match(state) {
        for nth in 0..machine.match_len(state) {
            report(machine.match_pattern(state, nth).as_usize());
        }
    }
}

impl Seen {
    /// Whether the last pass has seen a literal.
    pub(crate) fn has(&self, literal: u32) -> bool {
        self.get(literal).is_some()
    }

    /// Where the first occurrence of a literal ends that the last pass has seen.
    pub(crate) fn first_end(&self, literal: u32) -> Option<u32> {
        self.get(literal).map(|entry| entry.first_end)
    }

    fn get(&self, literal: u32) -> Option<SeenLiteral> {
        Some(self.entries[literal as usize]).filter(|entry| entry.pass == self.pass)
    }

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
        let needs = |i| if contextual.contains(&i) { Needs::Each } else { Needs::FirstWhole };
        let automaton = Automaton::new(literals, needs).unwrap();
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
        let automaton = Automaton::new(&["x"], |_| Needs::First).unwrap();
        let mut seen = Seen { pass: u32::MAX - 1, entries: Vec::new() };
        for _ in 0..4 {
            let mut n_reports = 0;
            automaton.scan("x x x", &mut seen, |_| n_reports += 1);
            assert_eq!(n_reports, 1);
        }
    }
}
