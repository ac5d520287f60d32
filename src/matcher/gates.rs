//! What literals a text must hold for a pattern to match it, and what their places tell.
//!
//! A pattern is looked at if a literal of its rarest group is seen. At 10,000 skills a message of
//! twenty words still opens a hundred, nearly all of which lack a second group. So all that is known
//! of a message is put into 64 bits, one for each literal of second groups or for a few of them, and
//! a pattern goes on only if its own bits are among them. Where only skills matter of which a word
//! was found, too, their [`Marks`](super::marks::Marks) tell in the same way which patterns are
//! theirs.

use serde::{Deserialize, Serialize};

use super::flat::{ListBuilder, Lists};
use super::infix::Infixes;
use super::marks::{NO_BIT, bits_by_use};
use super::near::Near;
use super::raw::row;
use super::seen::Seen;

/// The bit that each message has, for patterns that need no second group.
const ALWAYS: u8 = 63;

/// Literals by their places among the [`Infixes`] that a text must hold for a pattern to match it.
#[derive(Debug, Clone, Default)]
pub(super) struct Gate {
    /// Groups of which one literal each must be there.
    pub(super) groups: Vec<Vec<u32>>,
    /// The groups that tell most, the first of them and the second.
    pub(super) rarest: [Option<usize>; 2],
    /// Whether, in one line of ASCII, the pattern does match if there are literals of the groups
    /// one behind the other.
    pub(super) is_exact: bool,
}

/// The gates of all patterns that require a literal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gates {
    #[serde(with = "super::raw")]
    all: Vec<PackedGate>,
    /// Group by group the literals of the gates, and before each group how many it has.
    #[serde(with = "super::raw")]
    literals: Vec<u32>,
    /// The patterns in whose rarest group each of the [`Infixes`] is.
    opened: Lists<Opened>,
    /// The bit of each of the [`Infixes`], or [`NO_BIT`].
    #[serde(with = "super::raw")]
    bits: Vec<u8>,
}

/// A [`Gate`] in few bytes, as many are looked at for each query.
#[derive(Debug, Serialize, Deserialize)]
struct PackedGate {
    start: u32,
    n_groups: u8,
    is_exact: bool,
}

row!(PackedGate { start: u32, n_groups: u8, is_exact: bool });

/// A pattern that a literal opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Opened {
    pattern: u32,
    /// The bits of its second group.
    second: Bits,
    /// The marks of its skills.
    marks: Bits,
}

/// 64 bits that lie wherever 32 do: lists of them are as short as can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Bits {
    low: u32,
    high: u32,
}

row!(Bits { low: u32, high: u32 });

impl Bits {
    fn new(bits: u64) -> Bits {
        Bits { low: bits as u32, high: (bits >> 32) as u32 }
    }

    fn meet(self, bits: u64) -> bool {
        (u64::from(self.high) << 32 | u64::from(self.low)) & bits != 0
    }
}

row!(Opened { pattern: u32, second: Bits, marks: Bits });

/// What a pass has seen of the literals of gates: working memory.
#[derive(Debug, Default)]
pub(super) struct Openers {
    /// Those that open a pattern.
    literals: Vec<u32>,
    /// All of them, and perhaps others.
    near: Near,
    /// The bits of those of second groups.
    bits: u64,
    /// How many patterns they open.
    n_opened: usize,
    /// Whether the text is one line of ASCII that patterns see as a whole.
    pub(super) is_plain: bool,
    /// Whether all patterns were looked at that may match.
    pub(super) is_done: bool,
}

impl Openers {
    pub(super) fn start(&mut self) {
        self.literals.clear();
        self.near = Near::default();
        self.bits = 1 << ALWAYS;
        self.n_opened = 0;
        self.is_done = false;
    }

    /// How many patterns would be looked at to find all that may match.
    pub(super) fn n_opened(&self) -> usize {
        self.n_opened
    }
}

impl Gates {
    /// Takes in the gates of all patterns, over `n_infixes` literals; `marks` are those of the
    /// skills of each.
    pub(super) fn new(all: &[Gate], n_infixes: usize, marks: impl Fn(usize) -> u64) -> Gates {
        let bits = bits(all, n_infixes);
        let mut packed = Vec::with_capacity(all.len());
        let mut literals = Vec::new();
        let mut opened = ListBuilder::default();
        for (pattern, gate) in all.iter().enumerate() {
            let (start, n_groups) = (literals.len() as u32, gate.groups.len() as u8);
            packed.push(PackedGate { start, n_groups, is_exact: gate.is_exact });
            for group in &gate.groups {
                literals.push(group.len() as u32);
                literals.extend(group);
            }
            let [first, second] = gate.rarest.map(|group| group.map(|group| &gate.groups[group]));
            let bit = |literal: &u32| 1 << bits[*literal as usize];
            let second = second.map_or(1 << ALWAYS, |of| of.iter().map(bit).fold(0, |a, b| a | b));
            let (second, marks) = (Bits::new(second), Bits::new(marks(pattern)));
            for &literal in first.into_iter().flatten() {
                opened.push(literal, Opened { pattern: pattern as u32, second, marks });
            }
        }
        Gates { all: packed, literals, opened: opened.finish(n_infixes), bits }
    }

    /// Notes that a literal was seen for the first time.
    pub(super) fn see(&self, literal: u32, openers: &mut Openers) {
        openers.near.add(literal);
        let bit = self.bits[literal as usize];
        if bit != NO_BIT {
            openers.bits |= 1 << bit;
        }
        let n_opened = self.opened.of(literal).len();
        if n_opened > 0 {
            openers.literals.push(literal);
            openers.n_opened += n_opened;
        }
    }

    /// Calls `report` with each pattern that may match, and whether it does for sure, as far as
    /// the places of literals tell; with some more than once. With `marks`, patterns may be left
    /// out that no skill with any of them declares.
    pub(super) fn open(
        &self,
        openers: &Openers,
        infixes: &Infixes,
        seen: &Seen,
        marks: Option<u64>,
        mut report: impl FnMut(u32, bool),
    ) {
        for &literal in &openers.literals {
            for opened in self.opened.of(literal) {
                let is_marked = marks.is_none_or(|marks| opened.marks.meet(marks));
                if !opened.second.meet(openers.bits) || !is_marked {
                    continue;
                }
                let verdict = self.judge(opened.pattern, openers, infixes, seen);
                if verdict != Some(false) {
                    report(opened.pattern, verdict.is_some());
                }
            }
        }
    }

    /// Whether a pattern may match that requires a literal, and if so, whether it does for sure.
    pub(super) fn open_one(
        &self,
        pattern: u32,
        openers: &Openers,
        infixes: &Infixes,
        seen: &Seen,
    ) -> Option<bool> {
        if self.all[pattern as usize].n_groups == 0 {
            return None;
        }
        let verdict = self.judge(pattern, openers, infixes, seen);
        (verdict != Some(false)).then_some(verdict.is_some())
    }

    /// Whether a pattern matches, as far as the places of its literals tell.
    fn judge(
        &self,
        pattern: u32,
        openers: &Openers,
        infixes: &Infixes,
        seen: &Seen,
    ) -> Option<bool> {
        let PackedGate { start, n_groups, is_exact } = self.all[pattern as usize];
        let mut rest = &self.literals[start as usize..];
        let mut groups: [&[u32]; 2] = [&[]; 2];
        for _ in 0..n_groups {
            let (&n_literals, literals) = rest.split_first()?;
            let (group, after) = literals.split_at(n_literals as usize);
            if !group.iter().any(|&l| openers.near.may_have(l) && seen.has(l)) {
                return Some(false);
            }
            groups = [groups[1], group];
            rest = after;
        }
        if !is_exact || !openers.is_plain {
            return None;
        }
        let [left, right] = groups;
        if left.is_empty() {
            return Some(true);
        }
        let first_end = left.iter().filter_map(|&l| seen.first_end(l)).min();
        let mut last_start = None;
        let mut is_certain = true;
        for &literal in right {
            let Some(start) = infixes.last_start(literal, seen) else { continue };
            is_certain &= start.is_ok();
            last_start = last_start.max(Some(start.unwrap_or_else(|at_least| at_least)));
        }
        if first_end <= last_start {
            return Some(true);
        }
        is_certain.then_some(false)
    }

    /// Whether what was read leads nowhere but to `n_patterns` patterns and `n_infixes` literals.
    pub(super) fn is_sound(&self, n_patterns: usize, n_infixes: usize) -> bool {
        let is_gate = |gate: &PackedGate| {
            let mut rest = self.literals.get(gate.start as usize..);
            for _ in 0..gate.n_groups {
                rest = rest.and_then(|rest| {
                    let (&n_literals, literals) = rest.split_first()?;
                    let (group, after) = literals.split_at_checked(n_literals as usize)?;
                    group.iter().all(|&literal| (literal as usize) < n_infixes).then_some(after)
                });
            }
            rest.is_some()
        };
        self.all.len() == n_patterns
            && self.all.iter().all(is_gate)
            && self.opened.is_sound(n_infixes, |to| (to.pattern as usize) < n_patterns)
            && self.bits.len() == n_infixes
            && self.bits.iter().all(|&bit| bit <= NO_BIT)
    }

    /// Heap memory in bytes.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.all)
            + size_of_val(&*self.literals)
            + self.opened.memory_usage()
            + self.bits.len()
    }
}

/// The bit of each literal of second groups.
fn bits(all: &[Gate], n_infixes: usize) -> Vec<u8> {
    let mut n_groups = vec![0; n_infixes];
    for gate in all {
        for &literal in gate.rarest[1].into_iter().flat_map(|second| &gate.groups[second]) {
            n_groups[literal as usize] += 1;
        }
    }
    bits_by_use(&n_groups, 1, ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::super::infix::{Needs, pass};
    use super::*;

    /// The patterns that `text` opens, and whether each matches for sure.
    fn opened(gates: &Gates, infixes: &Infixes, text: &str) -> Vec<(u32, bool)> {
        opened_of(gates, infixes, None, text)
    }

    /// The same of skills with one of `marks`.
    fn opened_of(
        gates: &Gates,
        infixes: &Infixes,
        marks: Option<u64>,
        text: &str,
    ) -> Vec<(u32, bool)> {
        let mut seen = Seen::default();
        let mut openers = Openers { is_plain: true, ..Openers::default() };
        openers.start();
        pass(infixes, text, &mut seen, |of| gates.see(of.literal, &mut openers));
        let mut opened = Vec::new();
        gates.open(&openers, infixes, &seen, marks, |pattern, is_sure| {
            assert_eq!(gates.open_one(pattern, &openers, infixes, &seen), Some(is_sure));
            opened.push((pattern, is_sure));
        });
        opened
    }

    #[test]
    fn a_pattern_is_opened_if_all_its_groups_are_seen_however_many_share_a_bit() {
        let mut literals: Vec<String> =
            (0..150).flat_map(|i| [format!("need{i:03}"), format!("open{i:03}")]).collect();
        literals.sort_unstable();
        let literals: Vec<&str> = literals.iter().map(String::as_str).collect();
        let infixes = Infixes::new(&literals, |_| Needs::First);
        let two_groups = (0..150).map(|i| Gate {
            groups: vec![vec![i], vec![i + 150]],
            rarest: [Some(1), Some(0)],
            is_exact: true,
        });
        let one_group = Gate { groups: vec![vec![7, 8]], rarest: [Some(0), None], is_exact: false };
        let all: Vec<Gate> = two_groups.chain([one_group, Gate::default()]).collect();
        let gates = Gates::new(&all, literals.len(), |pattern| 1 << (pattern % 3));
        assert!(gates.is_sound(all.len(), literals.len()));
        assert!(!gates.is_sound(all.len(), literals.len() - 1));
        for i in [0, 1, 62, 63, 64, 126, 149] {
            for j in 9..150 {
                let expected = if i == j { vec![(i, true)] } else { Vec::new() };
                let text = format!("need{i:03} open{j:03}");
                assert_eq!(opened(&gates, &infixes, &text), expected, "{text}");
            }
        }
        assert_eq!(opened(&gates, &infixes, "open012 need012"), [], "in the other order");
        assert_eq!(opened(&gates, &infixes, "xneed007x"), [(150, false)]);
        let text = "need003 open003 need004 open004";
        assert_eq!(opened(&gates, &infixes, text), [(3, true), (4, true)]);
        assert_eq!(opened_of(&gates, &infixes, Some(0b101), text), [(3, true)]);
        assert_eq!(opened_of(&gates, &infixes, Some(0b110), text), [(4, true)]);
    }
}
