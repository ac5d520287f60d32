//! Demands of patterns without a required literal, or with none but single characters: the runs of
//! characters that a text must hold for them to match it.
//!
//! Characters are sorted into a few [`Kinds`]. A match of `\d{4}[a-z]{3}` is a run of four digits,
//! then one of three letters, and as a whole one of seven digits or letters, so a text without such
//! runs is passed over. The longest run of each set of kinds is found once for a text; patterns
//! with the same demands are looked at together, and those that demand too long a run not at all.

use std::collections::BTreeMap;

use regex_syntax::hir::Hir;
use serde::{Deserialize, Serialize};

use super::kinds::{Kinds, has_digit};
use super::runs::Runs;
use super::shape::{Demand, Shape, n_positions};
use crate::matcher::rows::row;

/// The most sets of kinds of which runs are looked for in a text. Demands of rarer sets are let go.
const MAX_SETS: usize = 32;

/// Patterns tried on one text have so many positions at most, together: a text made to meet the
/// demands of thousands of patterns costs no more than these. To try one takes 0.5 µs on 120 bytes as
/// long as few are tried, and 1.7 µs with 8,192 positions, as the automata no longer fit the caches
/// of a core. Those with few positions go first, so that none is kept from its turn by a costlier one.
const MAX_POSITIONS: u32 = 160;

/// A text is not so long.
const UNKNOWN: u32 = u32::MAX;

/// A demand of a pattern, by the place of its set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Run {
    set: u32,
    min: u32,
}

row!(Run { set: u32, min: u32 });

/// The demands of all patterns without a required literal.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Demands {
    /// The kinds of the first demands of all groups, unless one demands nothing.
    needed: Option<Kinds>,
    sets: Vec<Kinds>,
    /// Those with the same rarest set follow each other, in the order of its run.
    #[serde(with = "crate::matcher::rows")]
    groups: Vec<Group>,
    /// Set by set, where its groups end; those after the last demand nothing.
    #[serde(with = "crate::matcher::rows")]
    ends: Vec<u32>,
    /// The other demands of groups.
    #[serde(with = "crate::matcher::rows")]
    runs: Vec<Run>,
    /// The patterns, group by group.
    #[serde(with = "crate::matcher::rows")]
    patterns: Vec<u32>,
    /// The patterns, those with few positions first.
    #[serde(with = "crate::matcher::rows")]
    by_size: Vec<Sized>,
}

/// Patterns with the same demands.
#[derive(Debug, Serialize, Deserialize)]
struct Group {
    /// The shortest run of its rarest set, if it has one.
    first: Run,
    /// Where its other demands end, and its patterns; they start where those of the group before do.
    runs_end: u32,
    patterns_end: u32,
    /// Positions of its patterns.
    n_positions: u32,
}

row!(Group { first: Run, runs_end: u32, patterns_end: u32, n_positions: u32 });

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sized {
    n_positions: u32,
    pattern: u32,
    group: u32,
}

row!(Sized { n_positions: u32, pattern: u32, group: u32 });

/// Scratch for one text.
#[derive(Debug, Default)]
pub(crate) struct Met {
    text: Runs,
    /// The longest run of each set, or [`UNKNOWN`] if it was not asked for.
    longest: Vec<u32>,
    /// The groups whose demands are met.
    groups: Vec<u32>,
    /// The patterns that are to be tried.
    pub(crate) tried: Vec<u32>,
    /// Where those start among the patterns by their size that are not tried even if their demands
    /// are met, as there is no room for them.
    untried_from: Option<usize>,
}

impl Met {
    /// Whether there was no room for some patterns.
    pub(crate) fn has_untried(&self) -> bool {
        self.untried_from.is_some()
    }
}

impl Demands {
    /// Takes in patterns, each with its place and its parsed form.
    pub(crate) fn new(patterns: &[(u32, Hir)]) -> Demands {
        let shapes: Vec<Shape> = patterns.iter().map(|(_, hir)| Shape::of(hir)).collect();
        let mut n_uses: BTreeMap<Kinds, usize> = BTreeMap::new();
        for demand in shapes.iter().flat_map(|shape| &shape.demands) {
            *n_uses.entry(demand.kinds).or_default() += 1;
        }
        let mut sets: Vec<Kinds> = n_uses.keys().copied().collect();
        sets.sort_by_key(|set| std::cmp::Reverse(n_uses[set]));
        sets.truncate(MAX_SETS);

        // By the rarest demand, then the others.
        let mut groups = BTreeMap::<(Run, Vec<Run>), Vec<_>>::new();
        for (shape, (pattern, hir)) in shapes.iter().zip(patterns) {
            let mut demands = shape.demands.clone();
            demands.retain(|demand| sets.contains(&demand.kinds));
            // Of about equally rare ones digits come first, as they are found fastest.
            let rarity =
                |of: &Demand| of.rarity() * if of.kinds.are_digits_in_ascii() { 1.25 } else { 1.0 };
            demands.sort_by(|a, b| rarity(b).total_cmp(&rarity(a)));
            let mut runs = demands.iter().map(|demand| Run {
                set: sets.iter().position(|set| *set == demand.kinds).unwrap_or(sets.len()) as u32,
                min: demand.min,
            });
            let first = runs.next().unwrap_or(Run { set: sets.len() as u32, min: 0 });
            let of_group = groups.entry((first, runs.collect())).or_default();
            of_group.push((*pattern, n_positions(hir)));
        }
        let mut demands = Demands { ends: vec![0; sets.len()], sets, ..Demands::default() };
        for ((first, others), patterns) in groups {
            demands.add_group(first, others, &patterns);
        }
        for set in 1..demands.ends.len() {
            demands.ends[set] = demands.ends[set].max(demands.ends[set - 1]);
        }
        demands.by_size.sort_unstable();
        let first_of = |group: &Group| demands.sets.get(group.first.set as usize).copied();
        demands.needed =
            demands.groups.iter().map(first_of).reduce(|a, b| Some(a?.or(b?))).flatten();
        demands
    }

    /// Takes in patterns, with their positions, that demand a run of a rarest set, and others.
    fn add_group(&mut self, first: Run, others: Vec<Run>, patterns: &[(u32, u32)]) {
        let group = self.groups.len() as u32;
        self.runs.extend(others);
        self.patterns.extend(patterns.iter().map(|(pattern, _)| pattern));
        let sized = |&(pattern, n_positions)| Sized { n_positions, pattern, group };
        self.by_size.extend(patterns.iter().map(sized));
        self.groups.push(Group {
            first,
            runs_end: self.runs.len() as u32,
            patterns_end: self.patterns.len() as u32,
            n_positions: patterns.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n)),
        });
        if let Some(end) = self.ends.get_mut(first.set as usize) {
            *end = group + 1;
        }
    }

    /// Puts the patterns into `met` that are to be tried on `text`, as it meets their demands.
    pub(crate) fn meet(&self, text: &str, is_ascii: bool, met: &mut Met) {
        met.tried.clear();
        met.untried_from = None;
        let needs_digits = self.needed.is_some_and(Kinds::are_digits_in_ascii);
        // Most messages have none, and nothing else is asked of them then.
        let is_passed_over = is_ascii && needs_digits && !has_digit(text.as_bytes());
        if self.groups.is_empty() || is_passed_over {
            return;
        }
        met.text.set(text, is_ascii);
        met.longest.clear();
        met.longest.resize(self.sets.len(), UNKNOWN);
        met.groups.clear();
        if self.meet_all(met) {
            for &group in &met.groups {
                met.tried.extend(&self.patterns[self.members(group)]);
            }
        } else {
            self.meet_smallest(met);
        }
    }

    /// Notes the groups whose demands are met. Returns whether there is room for all of them.
    fn meet_all(&self, met: &mut Met) -> bool {
        let mut n_positions = 0_u32;
        let mut add = |group: u32, met: &mut Met| {
            met.groups.push(group);
            n_positions = n_positions.saturating_add(self.groups[group as usize].n_positions);
            n_positions <= MAX_POSITIONS
        };
        let mut start = 0;
        for (set, &end) in self.ends.iter().enumerate() {
            for group in start..end {
                // They are in the order of the runs they demand.
                if self.groups[group as usize].first.min > self.longest(set, met) {
                    break;
                }
                if self.meets_others(group, met) && !add(group, met) {
                    return false;
                }
            }
            start = end;
        }
        (start..self.groups.len() as u32).all(|group| add(group, met))
    }

    /// Takes those with the fewest positions of too many patterns, at least one.
    fn meet_smallest(&self, met: &mut Met) {
        let mut n_positions = 0;
        for (place, sized) in self.by_size.iter().enumerate() {
            if !self.meets(sized.group, met) {
                continue;
            }
            n_positions = sized.n_positions.saturating_add(n_positions);
            if n_positions > MAX_POSITIONS && !met.tried.is_empty() {
                met.untried_from = Some(place);
                return;
            }
            met.tried.push(sized.pattern);
        }
    }

    /// The patterns whose demands are met too, but for which there was no room.
    pub(crate) fn untried(&self, met: &mut Met) -> Vec<u32> {
        let Some(start) = met.untried_from else { return Vec::new() };
        let larger = self.by_size[start..].iter();
        let untried = larger.filter(|sized| self.meets(sized.group, met));
        untried.map(|sized| sized.pattern).collect()
    }

    fn meets(&self, group: u32, met: &mut Met) -> bool {
        let Run { set, min } = self.groups[group as usize].first;
        let has_first = set as usize == self.sets.len() || min <= self.longest(set as usize, met);
        has_first && self.meets_others(group, met)
    }

    fn meets_others(&self, group: u32, met: &mut Met) -> bool {
        let others = &self.runs[self.others(group)];
        others.iter().all(|run| run.min <= self.longest(run.set as usize, met))
    }

    /// The longest run of a set in a text. Most are never asked for.
    fn longest(&self, set: usize, met: &mut Met) -> u32 {
        if met.longest[set] == UNKNOWN {
            met.longest[set] = met.text.longest(self.sets[set]);
        }
        met.longest[set]
    }

    fn others(&self, group: u32) -> std::ops::Range<usize> {
        let before = group.checked_sub(1).map_or(0, |before| self.groups[before as usize].runs_end);
        before as usize..self.groups[group as usize].runs_end as usize
    }

    fn members(&self, group: u32) -> std::ops::Range<usize> {
        let before = group.checked_sub(1);
        let before = before.map_or(0, |before| self.groups[before as usize].patterns_end);
        before as usize..self.groups[group as usize].patterns_end as usize
    }

    /// Whether what was read leads nowhere but to `n_patterns` patterns.
    pub(crate) fn is_sound(&self, n_patterns: usize) -> bool {
        let is_pattern = |&pattern: &u32| (pattern as usize) < n_patterns;
        let ends = |of: fn(&Group) -> u32| self.groups.iter().map(of);
        let [runs, patterns]: [fn(&Group) -> u32; 2] = [|g| g.runs_end, |g| g.patterns_end];
        ends(runs).is_sorted()
            && ends(runs).all(|end| end as usize <= self.runs.len())
            && ends(patterns).is_sorted()
            && ends(patterns).all(|end| end as usize <= self.patterns.len())
            && self.ends.is_sorted()
            && self.ends.iter().all(|&end| end as usize <= self.groups.len())
            && self.ends.len() == self.sets.len()
            && self.runs.iter().all(|run| (run.set as usize) < self.sets.len())
            && self.groups.iter().all(|group| group.first.set as usize <= self.sets.len())
            && self.patterns.iter().all(is_pattern)
            && self.by_size.iter().all(|sized| {
                is_pattern(&sized.pattern) && (sized.group as usize) < self.groups.len()
            })
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        self.groups.len() * size_of::<Group>()
            + self.runs.len() * size_of::<Run>()
            + self.patterns.len() * size_of::<u32>()
            + self.by_size.len() * size_of::<Sized>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::pattern::{Case, parse};

    fn demands<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Demands {
        let parsed = patterns.into_iter().zip(0..);
        let parsed =
            parsed.map(|(source, place)| (place, parse(source, Case::Insensitive).unwrap()));
        Demands::new(&parsed.collect::<Vec<_>>())
    }

    fn is_tried(pattern: &str, text: &str) -> bool {
        let mut met = Met::default();
        demands([pattern]).meet(text, text.is_ascii(), &mut met);
        !met.tried.is_empty()
    }

    #[test]
    fn texts_without_the_runs_of_a_pattern_are_passed_over() {
        let cases = [
            (r"\d{3}", "12 ab 34", false),
            (r"\d{3}", "x123", true),
            (r"\d{3}", "x१२३", true),
            (r"\d{3}", "हिन्दी में", false),
            (r"\d{3}[a-z]", "123 a", false),
            (r"\d{3}[a-z]", "1a2b3c", false),
            (r"\d{3}[a-z]?\d{3}", "123 456", false),
            (r"\d{3}[a-z]?\d{3}", "123456", true),
            (r"\b[a-z]{12}\b", "short words only here", false),
            (r"(\d{4}|[a-z]{9})", "1234", true),
            (r"(\d{4}|[a-z]{9})", "123 abc", false),
            (r"(foo)?\d\d", "foo 1", false),
            (r"(\w\s)+\d", "a b c", false),
            (r"[^a]+", "", false),
            (r"[\p{Greek}]{2}", "ab цы", false),
            (r"[\p{Greek}]{2}", "λόγος", true),
            (r"(?-i)[A-Z]{3}", "all lower", false),
            (r"(?-i)[A-Z]{3}", "THE", true),
            (r"[[:cntrl:]&&[^\n]]", "one\nline", false),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(is_tried(pattern, text), expected, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn many_patterns_are_told_apart_by_the_runs_of_one_text() {
        let sources: Vec<String> = (0..18).map(|i| format!(r"\d{{{}}}[a-z]", i % 9 + 1)).collect();
        let demands = demands(sources.iter().map(String::as_str));
        let mut met = Met::default();
        for (text, longest) in [("1234x", 4), ("12", 0), ("", 0), ("1x 123456789x", 9)] {
            demands.meet(text, text.is_ascii(), &mut met);
            met.tried.sort_unstable();
            let expected: Vec<u32> = (0..18).filter(|i| i % 9 < longest).collect();
            assert_eq!(met.tried, expected, "{text}");
            assert!(demands.untried(&mut met).is_empty());
        }
    }

    #[test]
    fn only_if_all_patterns_need_digits_a_text_without_any_is_passed_over() {
        let many: Vec<String> = ('!'..='/').map(|c| format!(r"[{c}\p{{Greek}}]{{2}}x")).collect();
        let many = many.iter().map(String::as_str);
        let cases: [(Vec<&str>, &str, &[u32]); 6] = [
            (vec![r"\d{3}", r"(?-i)[A-Z]{3}"], "THE", &[1]),
            (vec![r"(?-i)[A-Z]{3}", r"\d{3}"], "THE", &[0]),
            (vec![r"\d{3}", r"[\p{Greek}]{2}"], "THE", &[]),
            (vec![r"\d{3}", r"x?"], "THE", &[1]),
            (vec![r"\d{3}", r"\d{4}x"], "१२३", &[0]),
            (many.chain([r"\d{3}", "[[:punct:]]"]).collect(), "a, b", &[16]),
        ];
        let mut met = Met::default();
        for (patterns, text, expected) in cases {
            let demands = demands(patterns.iter().copied());
            for (text, expected) in [("1234", None), (text, Some(expected)), ("", None)] {
                demands.meet(text, text.is_ascii(), &mut met);
                if let Some(expected) = expected {
                    assert_eq!(met.tried, expected, "{patterns:?} in {text:?}");
                }
                assert!(demands.untried(&mut met).is_empty());
            }
        }
    }

    #[test]
    fn of_too_many_patterns_the_smallest_are_tried_and_the_others_told() {
        let sources: Vec<String> =
            (0..1_000).map(|i| format!(r"\d{{{}}}[a-z]", i % 40 + 1)).collect();
        let demands = demands(sources.iter().map(String::as_str));
        let mut met = Met::default();
        for _ in 0..2 {
            demands.meet(&format!("{}x", "1".repeat(99)), true, &mut met);
            let untried = demands.untried(&mut met);
            assert_eq!(met.tried.len() + untried.len(), 1_000);
            let size = |pattern: &u32| pattern % 40 + 2;
            assert!(met.tried.iter().map(size).sum::<u32>() <= MAX_POSITIONS);
            assert!(met.tried.iter().map(size).max() <= untried.iter().map(size).min());
        }
    }
}
