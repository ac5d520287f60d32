//! Gates: the literals that a text must contain for a pattern to match it, checked by presence and
//! order.
//!
//! A pattern is examined if the text contains a literal of its rarest group.

use serde::{Deserialize, Serialize};

use crate::matcher::arena::Lists;
use crate::matcher::automaton::{Automaton, Occurrences};

/// The literals that a text must contain for a pattern to match it, by their numbers in the
/// [`Automaton`].
#[derive(Debug, Clone, Default)]
pub(in crate::matcher) struct Gate {
    /// Groups of literals. The text must contain a literal of each.
    pub(in crate::matcher) groups: Vec<Vec<u32>>,
    /// The most selective group, as an index into `groups`.
    pub(in crate::matcher) rarest: usize,
    /// True if a line of ASCII certainly matches if it contains a literal of each group, one after the
    /// other.
    pub(in crate::matcher) is_exact: bool,
}

/// The gates of all patterns that require a literal.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::matcher) struct Gates {
    n_patterns: u32,
    /// The gates, one after the other, so that each is contiguous in memory: the pattern, with
    /// [`EXACT`]; the number of groups; and for each group the number of its literals, then the
    /// literals.
    #[serde(with = "repertoire_text::rows")]
    all: Vec<u32>,
    /// For each literal, the positions in `all` of the patterns whose rarest group contains it.
    opened: Lists<u32>,
}

/// The flag of [`Gate::is_exact`].
const EXACT: u32 = 1 << 31;

/// A text after its scan.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct ScannedText<'s> {
    pub(in crate::matcher) automaton: &'s Automaton,
    pub(in crate::matcher) occurrences: &'s Occurrences,
    /// True if the text is one line of ASCII that patterns see as a whole.
    pub(in crate::matcher) is_plain: bool,
    /// The attachments of the text; `None` if it has none.
    pub(in crate::matcher) attachments: Option<ScannedAttachments<'s>>,
}

/// The attachments of a text after its scan.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct ScannedAttachments<'s> {
    /// The occurrences in the text without its attachments.
    pub(in crate::matcher) said: &'s Occurrences,
    /// The byte at which the only attachment begins, if there is one and no word is cut there.
    pub(in crate::matcher) only_start: Option<u32>,
}

/// The certainty with which a pattern matches a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::matcher) enum Opened {
    /// It must be run to know.
    Perhaps,
    /// It certainly matches, in the request if the text has attachments.
    Certainly,
    /// It certainly matches, but only in the attachments.
    InAttachments,
}

impl Gates {
    /// Packs the gates of all patterns; there are `n_literals` literals.
    pub(in crate::matcher) fn new(all: &[Gate], n_literals: usize) -> Gates {
        let mut packed = Vec::new();
        let mut opened = Vec::new();
        for (pattern, gate) in all.iter().enumerate() {
            let Some(rarest) = gate.groups.get(gate.rarest) else { continue };
            opened.extend(rarest.iter().map(|&literal| (literal, packed.len() as u32)));
            let exact = if gate.is_exact { EXACT } else { 0 };
            packed.extend([pattern as u32 | exact, gate.groups.len() as u32]);
            for group in &gate.groups {
                packed.push(group.len() as u32);
                packed.extend(group);
            }
        }
        let opened = Lists::new(opened, n_literals);
        Gates { n_patterns: all.len() as u32, all: packed, opened }
    }

    /// Calls `each` for the patterns that may match `text`. Some patterns are reported more than once.
    pub(in crate::matcher) fn open(
        &self,
        text: ScannedText<'_>,
        mut each: impl FnMut(u32, Opened),
    ) {
        for &(literal, _) in text.occurrences.entries() {
            for &place in self.opened.of(literal) {
                let gate = &self.all[place as usize..];
                let verdict = judge(gate, text);
                let opened = match (verdict, text.attachments) {
                    (Some(false), _) => continue,
                    (None, _) => Opened::Perhaps,
                    (Some(true), None) => Opened::Certainly,
                    (Some(true), Some(attachments)) => opened_beside(attachments, gate, text),
                };
                each(gate[0] & !EXACT, opened);
            }
        }
    }

    /// Tells whether the deserialised gates refer only to `n_patterns` patterns and `n_literals`
    /// literals.
    pub(in crate::matcher) fn is_sound(&self, n_patterns: usize, n_literals: usize) -> bool {
        let is_gate = |&place: &u32| self.is_gate(place as usize, n_literals) == Some(true);
        self.n_patterns as usize == n_patterns && self.opened.is_sound(n_literals, is_gate)
    }

    /// Tells whether a valid gate is at `place`; `None` if the data ends before the gate does.
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
}

/// Returns where the pattern of a gate matches, of which `text` has the literals in order. Without it, each such
/// pattern would be run on the whole of a long message: three times the instructions of a disclosure for 10 kB.
fn opened_beside(
    attachments: ScannedAttachments<'_>,
    gate: &[u32],
    text: ScannedText<'_>,
) -> Opened {
    let ScannedAttachments { said, only_start } = attachments;
    let Some(only_start) = only_start else { return Opened::Perhaps };
    // The literals hold no blanks, so the attachment cuts none. The first match begins with the first literal of
    // the first group: if that is above the attachment, so is the match.
    let n_first = gate[2] as usize;
    let first = gate[3..3 + n_first].iter().filter_map(|&literal| text.occurrences.get(literal));
    if first.map(|of| of.first_end).min().is_some_and(|end| end <= only_start) {
        return Opened::Certainly;
    }
    match judge(gate, ScannedText { occurrences: said, ..text }) {
        Some(true) => Opened::Certainly,
        Some(false) => Opened::InAttachments,
        None => Opened::Perhaps,
    }
}

/// Tells whether the pattern of the gate that `gate` begins with matches; `None` if the positions of its
/// literals do not decide that.
fn judge(gate: &[u32], text: ScannedText<'_>) -> Option<bool> {
    let ScannedText { automaton, occurrences, is_plain, .. } = text;
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
        // More occurrences may come after the last recorded one.
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
    use crate::matcher::automaton::{NONE, Needs, Occurrence};

    fn automaton(literals: &[&str]) -> Automaton {
        Automaton::new(literals, |_| Needs::default()).unwrap()
    }

    /// The patterns that `text` opens, and whether each matches for sure.
    fn opened(gates: &Gates, automaton: &Automaton, text: &str) -> Vec<(u32, bool)> {
        let mut occurrences = Occurrences::default();
        occurrences.start(automaton.literals().len());
        automaton.scan(text, |longest, end| {
            let mut next = longest;
            while next != NONE {
                if let Some(known) = occurrences.add(next, Occurrence::new(end, true)) {
                    known.add(end, true);
                }
                next = automaton.literal(next).next;
            }
        });
        let mut opened = Vec::new();
        let occurrences = &occurrences;
        let text = ScannedText { automaton, occurrences, is_plain: true, attachments: None };
        gates.open(text, |pattern, how| opened.push((pattern, how == Opened::Certainly)));
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
            rarest: 1,
            is_exact: true,
        });
        let one_group = Gate { groups: vec![vec![7, 8]], rarest: 0, is_exact: false };
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
