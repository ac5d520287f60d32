//! Gates: the literals that a text must hold for a pattern to match it, checked by presence and
//! order.
//!
//! A pattern is examined if a literal of its rarest group is seen. At 100,000 skills a message of
//! twenty words opens a thousand, nearly all of which lack a second group. Therefore each entry of
//! the list that a literal opens holds the literals of the pattern's second group, as places in a
//! presence filter. Reading the pattern itself would wait for memory; few patterns remain for that.

use std::slice;

use serde::{Deserialize, Serialize};

use crate::matcher::arena::{ListBuilder, Lists};
use crate::matcher::automaton::Automaton;
use crate::matcher::rows::row;
use crate::matcher::search::Occurrences;
use crate::matcher::search::{PresenceFilter, place};

/// The most literals of a second group that are stored; of more, any message is taken to have one.
const MAX_SECOND: usize = 16;

/// Literals by their numbers in the [`Automaton`] that a text must hold for a pattern to match it.
#[derive(Debug, Clone, Default)]
pub(in crate::matcher) struct Gate {
    /// Groups, each of which must have a literal in the text.
    pub(in crate::matcher) groups: Vec<Vec<u32>>,
    /// The most selective group and the second most selective.
    pub(in crate::matcher) rarest: [Option<usize>; 2],
    /// True if, in one line of ASCII, literals of the groups one behind the other suffice for a
    /// match.
    pub(in crate::matcher) is_exact: bool,
}

/// The gates of all patterns that require a literal.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::matcher) struct Gates {
    n_patterns: u32,
    /// The gates one behind the other, so that each is read at one place in memory: the pattern, with
    /// [`EXACT`]; the number of its groups; and for each group the number of its literals, and these.
    #[serde(with = "crate::matcher::rows")]
    all: Vec<u32>,
    /// For each literal, the second groups of the patterns in whose rarest group it is; read in a
    /// row, and nearly all patterns are rejected here.
    needed: Lists<Second>,
    /// The places of their gates, in the same order.
    #[serde(with = "crate::matcher::rows")]
    opened: Vec<u32>,
}

/// The flag of [`Gate::is_exact`].
const EXACT: u32 = 1 << 31;

/// The places of one or two literals of a second group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Second {
    one: u16,
    other: u16,
}

row!(Second { one: u16, other: u16 });

/// The literals of a second group, two by two; `first` is the one that opens the pattern. If no
/// second group is needed, `first` stands for it, as it is seen then.
fn seconds(group: Option<&Vec<u32>>, first: u32) -> Vec<Second> {
    let group =
        group.filter(|group| group.len() <= MAX_SECOND).map_or(slice::from_ref(&first), |of| of);
    let two = |of: &[u32]| Second { one: place(of[0]), other: place(of[of.len() - 1]) };
    group.chunks(2).map(two).collect()
}

impl Second {
    /// Tells whether a literal was seen that has one of the two places.
    #[inline]
    fn is_met(self, near: &PresenceFilter) -> bool {
        // Both at once: that costs less than to decide after each.
        near.has_place(self.one) | near.has_place(self.other)
    }
}

/// A text after its scan.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Gated<'s> {
    pub(in crate::matcher) automaton: &'s Automaton,
    pub(in crate::matcher) occurrences: &'s Occurrences,
    /// True if the text is one line of ASCII that patterns see as a whole.
    pub(in crate::matcher) is_plain: bool,
}

impl Gates {
    /// Takes in the gates of all patterns, over `n_literals` literals.
    pub(in crate::matcher) fn new(all: &[Gate], n_literals: usize) -> Gates {
        let mut packed = Vec::new();
        let mut opened = ListBuilder::default();
        for (pattern, gate) in all.iter().enumerate() {
            let [first, second] = gate.rarest.map(|group| group.map(|group| &gate.groups[group]));
            let Some(first) = first else { continue };
            for &literal in first {
                for second in seconds(second, literal) {
                    opened.push(literal, (second, packed.len() as u32));
                }
            }
            let exact = if gate.is_exact { EXACT } else { 0 };
            packed.extend([pattern as u32 | exact, gate.groups.len() as u32]);
            for group in &gate.groups {
                packed.push(group.len() as u32);
                packed.extend(group);
            }
        }
        let (needed, opened) = opened.finish(n_literals).unzip();
        Gates { n_patterns: all.len() as u32, all: packed, needed, opened }
    }

    /// Calls `each` with the patterns that may match `text`, some more than once, and with whether each
    /// certainly does.
    pub(in crate::matcher) fn open(&self, text: Gated<'_>, mut each: impl FnMut(u32, bool)) {
        let near = text.occurrences.filter();
        for literal in text.occurrences.numbers() {
            let opened = &self.opened[self.needed.range(literal)];
            for (second, &place) in self.needed.of(literal).iter().zip(opened) {
                if second.is_met(near) {
                    let gate = &self.all[place as usize..];
                    let verdict = judge(gate, text);
                    if verdict != Some(false) {
                        each(gate[0] & !EXACT, verdict.is_some());
                    }
                }
            }
        }
    }

    /// Tells whether what was read refers to none but `n_patterns` patterns and `n_literals`
    /// literals.
    pub(in crate::matcher) fn is_sound(&self, n_patterns: usize, n_literals: usize) -> bool {
        let is_gate = |&place: &u32| self.is_gate(place as usize, n_literals) == Some(true);
        self.n_patterns as usize == n_patterns
            && self.needed.is_sound(n_literals, |_| true)
            && self.needed.len() == self.opened.len()
            && self.opened.iter().all(is_gate)
    }

    /// Tells whether a whole gate stands at `place`; `None` if it does not end.
    fn is_gate(&self, place: usize, n_literals: usize) -> Option<bool> {
        let (&[pattern, n_groups], mut rest) = self.all.get(place..)?.split_first_chunk()?;
        for _ in 0..n_groups {
            let (&n_of_group, literals) = rest.split_first()?;
            let (group, after) = literals.split_at_checked(n_of_group as usize)?;
            if group.iter().any(|&literal| literal as usize >= n_literals) {
                return Some(false);
            }
            rest = after;
        }
        Some(pattern & !EXACT < self.n_patterns)
    }

    /// Heap memory in bytes.
    pub(in crate::matcher) fn memory_usage(&self) -> usize {
        size_of_val(&*self.all) + self.needed.memory_usage() + size_of_val(&*self.opened)
    }
}

/// Tells whether the pattern of the first of `gate` matches, as far as the places of its literals decide it.
fn judge(gate: &[u32], text: Gated<'_>) -> Option<bool> {
    let Gated { automaton, occurrences, is_plain } = text;
    let (&[pattern, n_groups], mut rest) = gate.split_first_chunk()?;
    let mut groups: [&[u32]; 2] = [&[]; 2];
    for _ in 0..n_groups {
        let (&n_literals, literals) = rest.split_first()?;
        let (group, after) = literals.split_at(n_literals as usize);
        if !group.iter().any(|&l| occurrences.get(l).is_some()) {
            return Some(false);
        }
        groups = [groups[1], group];
        rest = after;
    }
    if pattern & EXACT == 0 || !is_plain {
        return None;
    }
    let [left, right] = groups;
    if left.is_empty() {
        return Some(true);
    }
    let first_end = left.iter().filter_map(|&l| occurrences.get(l)).map(|of| of.first_end).min();
    let mut last_start = None;
    let mut is_certain = true;
    for &literal in right {
        let Some(known) = occurrences.get(literal) else { continue };
        // Others may come after the last one that was noted.
        is_certain &= !known.skipped;
        let start = known.last_end.saturating_sub(automaton.literal(literal).len);
        last_start = last_start.max(Some(start));
    }
    if first_end <= last_start {
        return Some(true);
    }
    is_certain.then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::automaton::{NONE, Needs};
    use crate::matcher::search::Occurrence;

    fn automaton(literals: &[&str]) -> Automaton {
        Automaton::new(literals, |_| Needs::default()).unwrap()
    }

    /// The patterns that `text` opens, and whether each matches for sure.
    fn opened(gates: &Gates, automaton: &Automaton, text: &str) -> Vec<(u32, bool)> {
        let mut occurrences = Occurrences::default();
        automaton.scan(text, |longest, end| {
            let mut next = longest;
            while next != NONE {
                if let Some(known) = occurrences.note(next, Occurrence::new(end, true)) {
                    known.add(end, true);
                }
                next = automaton.literal(next).next;
            }
        });
        let mut opened = Vec::new();
        let text = Gated { automaton, occurrences: &occurrences, is_plain: true };
        gates.open(text, |pattern, is_certain| opened.push((pattern, is_certain)));
        opened
    }

    #[test]
    fn a_pattern_is_opened_if_all_its_groups_are_seen_however_many_there_are() {
        let mut literals: Vec<String> =
            (0..150).flat_map(|i| [format!("need{i:03}"), format!("open{i:03}")]).collect();
        literals.sort_unstable();
        let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
        let automaton = automaton(&literals);
        let two_groups = (0..150).map(|i| Gate {
            groups: vec![vec![i], vec![i + 150]],
            rarest: [Some(1), Some(0)],
            is_exact: true,
        });
        let one_group = Gate { groups: vec![vec![7, 8]], rarest: [Some(0), None], is_exact: false };
        let all: Vec<Gate> = two_groups.chain([one_group, Gate::default()]).collect();
        let gates = Gates::new(&all, literals.len());
        assert!(gates.is_sound(all.len(), literals.len()));
        assert!(!gates.is_sound(all.len(), literals.len() - 1));
        for i in [0, 1, 62, 63, 64, 126, 149] {
            for j in 9..150 {
                let expected = if i == j { vec![(i, true)] } else { Vec::new() };
                let text = format!("need{i:03} open{j:03}");
                assert_eq!(opened(&gates, &automaton, &text), expected, "{text}");
            }
        }
        assert_eq!(opened(&gates, &automaton, "open012 need012"), [], "in the other order");
        assert_eq!(opened(&gates, &automaton, "xneed007x"), [(150, false)]);
        let text = "need003 open003 need004 open004";
        assert_eq!(opened(&gates, &automaton, text), [(3, true), (4, true)]);
    }
}
