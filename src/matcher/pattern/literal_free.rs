//! Patterns without a required literal: tried on each text that holds the classes of characters that they
//! require, those with the fewest positions first, within a bound.
//!
//! Few published patterns are of this kind, and most of them require a digit, which few messages hold.

use regex_syntax::hir::{Hir, HirKind};
use serde::{Deserialize, Serialize};

use super::char_classes::{CharClasses, RequiredClasses};

/// Patterns tried on one text have so many positions at most, together: a text made to meet what thousands
/// of patterns require costs no more than these. To try one takes 0.5 µs on 120 bytes as long as few are
/// tried, and 1.7 µs with 8,192 positions, as the automata no longer fit the caches of a core.
const MAX_POSITIONS: u32 = 160;

/// The patterns without a required literal.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::matcher) struct LiteralFree {
    /// What a text must hold for one of the patterns to match it, each once.
    required: Vec<RequiredClasses>,
    /// The patterns, those with the fewest positions first.
    patterns: Vec<Sized>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Sized {
    n_positions: u32,
    pattern: u32,
    /// Its place in `required`.
    required: u32,
}

/// The patterns of one text: working memory.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Candidates {
    /// Tells of each entry of `required` whether the text meets it.
    is_met: Vec<bool>,
    /// The patterns to be tried.
    pub(in crate::matcher) tried: Vec<u32>,
    /// The place from which patterns are left untried, as there is no room for them.
    untried_from: Option<usize>,
}

impl Candidates {
    /// Tells whether there was no room for some patterns.
    pub(in crate::matcher) fn has_untried(&self) -> bool {
        self.untried_from.is_some()
    }
}

impl LiteralFree {
    /// Takes in patterns, each with its place and its parsed form.
    pub(in crate::matcher) fn new(patterns: &[(u32, Hir)]) -> LiteralFree {
        let of_each: Vec<_> = patterns.iter().map(|(_, hir)| RequiredClasses::of(hir)).collect();
        let mut required = of_each.clone();
        required.sort_unstable();
        required.dedup();
        let place = |of: &RequiredClasses| required.partition_point(|other| other < of) as u32;
        let sized = |((pattern, hir), of): (&(u32, Hir), &RequiredClasses)| Sized {
            n_positions: n_positions(hir),
            pattern: *pattern,
            required: place(of),
        };
        let mut patterns: Vec<Sized> = patterns.iter().zip(&of_each).map(sized).collect();
        patterns.sort_unstable();
        LiteralFree { required, patterns }
    }

    /// Puts the patterns into `candidates` that are to be tried on `text`.
    pub(in crate::matcher) fn select(
        &self,
        text: &str,
        is_ascii: bool,
        candidates: &mut Candidates,
    ) {
        let Candidates { is_met, tried, untried_from } = candidates;
        tried.clear();
        *untried_from = None;
        if self.patterns.is_empty() {
            return;
        }
        let classes = CharClasses::of_text(text, is_ascii);
        is_met.clear();
        is_met.extend(self.required.iter().map(|required| required.are_met(classes)));
        if !is_met.contains(&true) {
            return;
        }
        let mut n_positions = 0_u32;
        for (place, of) in self.patterns.iter().enumerate() {
            if !is_met[of.required as usize] {
                continue;
            }
            n_positions = n_positions.saturating_add(of.n_positions);
            // One is always tried.
            if n_positions > MAX_POSITIONS && !tried.is_empty() {
                *untried_from = Some(place);
                return;
            }
            tried.push(of.pattern);
        }
    }

    /// The patterns that may match as well, but for which there was no room.
    pub(in crate::matcher) fn untried(&self, candidates: &Candidates) -> impl Iterator<Item = u32> {
        let start = candidates.untried_from.unwrap_or(self.patterns.len());
        let rest = self.patterns[start..].iter();
        rest.filter(|of| candidates.is_met[of.required as usize]).map(|of| of.pattern)
    }

    /// Tells whether what was read leads nowhere but to `n_patterns` patterns.
    pub(in crate::matcher) fn is_sound(&self, n_patterns: usize) -> bool {
        self.patterns.iter().all(|of| {
            (of.pattern as usize) < n_patterns && (of.required as usize) < self.required.len()
        })
    }

    /// Heap memory in bytes.
    pub(in crate::matcher) fn memory_usage(&self) -> usize {
        size_of_val(&*self.required) + size_of_val(&*self.patterns)
    }
}

/// The number of characters that a pattern is written with once its counted repetitions are written out.
fn n_positions(hir: &Hir) -> u32 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u32,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            n_positions(&repetition.sub).saturating_mul(times)
        }
        HirKind::Capture(capture) => n_positions(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(n_positions).fold(0, u32::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::pattern::{Case, parse};

    fn literal_free<'a>(patterns: impl IntoIterator<Item = &'a str>) -> LiteralFree {
        let parsed = patterns.into_iter().zip(0..);
        let parsed = parsed.map(|(source, at)| (at, parse(source, Case::Insensitive).unwrap()));
        LiteralFree::new(&parsed.collect::<Vec<_>>())
    }

    #[test]
    fn patterns_are_tried_on_texts_that_hold_what_they_require() {
        let cases: [(&[&str], &str, &[u32]); 6] = [
            (&[], "a 1", &[]),
            (&[r"\d{3}", "(?-i)[A-Z]{3}"], "THE", &[1]),
            (&[r"\d{3}", "(?-i)[A-Z]{3}"], "the 1", &[0]),
            (&[r"\d{3}", r"\d\d", "x?"], "THE", &[2]),
            (&[r"\d{3}", r"\d\d", "x?"], "12", &[2, 1, 0]),
            (&[r"\d{3}", r"\d{4}-"], "१२३", &[0]),
        ];
        let mut candidates = Candidates::default();
        for (patterns, text, expected) in cases {
            let patterns = literal_free(patterns.iter().copied());
            patterns.select(text, text.is_ascii(), &mut candidates);
            assert_eq!(candidates.tried, expected, "{text}");
            assert_eq!(patterns.untried(&candidates).count(), 0);
        }
    }

    #[test]
    fn of_too_many_patterns_the_smallest_are_tried_and_the_others_told() {
        let sources: Vec<String> =
            (0..1_000).map(|i| format!(r"\d{{{}}}[a-z]", i % 40 + 1)).collect();
        let patterns = literal_free(sources.iter().map(String::as_str).chain([r"[a-z]-{9}"]));
        let mut candidates = Candidates::default();
        for _ in 0..2 {
            patterns.select("1x", true, &mut candidates);
            let untried: Vec<u32> = patterns.untried(&candidates).collect();
            assert_eq!(candidates.tried.len() + untried.len(), 1_000);
            let size = |pattern: &u32| pattern % 40 + 2;
            assert!(candidates.tried.iter().map(size).sum::<u32>() <= MAX_POSITIONS);
            assert!(candidates.tried.iter().map(size).max() <= untried.iter().map(size).min());
        }
    }

    #[test]
    fn a_pattern_larger_than_the_bound_is_tried_if_it_is_the_only_one() {
        let patterns = literal_free([r"\d{2000}"]);
        let mut candidates = Candidates::default();
        patterns.select("12", true, &mut candidates);
        assert_eq!(candidates.tried, [0]);
    }
}
