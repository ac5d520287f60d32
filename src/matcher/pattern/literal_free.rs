//! Patterns without a required literal. Each is tried on texts that contain the classes of characters it
//! requires; patterns with the fewest positions come first, up to a bound.
//!
//! Few published patterns are of this kind, and most of them require a digit, which messages seldom
//! have.

use std::ops::{BitOr, RangeInclusive};

use regex_syntax::hir::{Class, Hir, HirKind};
use serde::{Deserialize, Serialize};

use crate::matcher::text::blocks;

/// The maximum sum of positions of the patterns tried on one text. It bounds the cost of a text made to
/// meet what thousands of patterns require. Trying one on 120 bytes takes 0.5 µs as long as few are
/// tried, and 1.7 µs with 8,192 positions, as the automata no longer fit the caches of a core.
const MAX_POSITIONS: u32 = 160;

/// The patterns without a required literal.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::matcher) struct LiteralFree {
    /// The classes of characters that patterns require, without duplicates.
    required: Vec<RequiredClasses>,
    /// The patterns, those with the fewest positions first.
    patterns: Vec<SizedPattern>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SizedPattern {
    n_positions: u32,
    pattern: u32,
    /// The index into [`LiteralFree::required`].
    required: u32,
}

/// The patterns to try on one text; reused as working memory.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Candidates {
    /// For each entry of [`LiteralFree::required`], true if the text meets it.
    is_met: Vec<bool>,
    /// The patterns to be tried.
    pub(in crate::matcher) tried: Vec<u32>,
    /// The index from which patterns exceed the bound and are left untried.
    pub(super) untried_from: Option<usize>,
}

impl LiteralFree {
    /// Analyses patterns, each given by its number and its parsed form.
    pub(in crate::matcher) fn new(patterns: &[(u32, Hir)]) -> LiteralFree {
        let of_each: Vec<_> = patterns.iter().map(|(_, hir)| RequiredClasses::of(hir)).collect();
        let mut required = of_each.clone();
        required.sort_unstable();
        required.dedup();
        let place = |of: &RequiredClasses| required.partition_point(|other| other < of) as u32;
        let sized = |((pattern, hir), of): (&(u32, Hir), &RequiredClasses)| SizedPattern {
            n_positions: n_positions(hir),
            pattern: *pattern,
            required: place(of),
        };
        let mut patterns: Vec<SizedPattern> = patterns.iter().zip(&of_each).map(sized).collect();
        patterns.sort_unstable();
        LiteralFree { required, patterns }
    }

    /// Puts the patterns that must be tried on `text` into `candidates`.
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
        let classes = of_text(text, is_ascii);
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
            // At least one pattern is always tried.
            if n_positions > MAX_POSITIONS && !tried.is_empty() {
                *untried_from = Some(place);
                return;
            }
            tried.push(of.pattern);
        }
    }

    /// Returns the patterns that may match, too, but exceed the bound on positions.
    pub(in crate::matcher) fn untried(&self, candidates: &Candidates) -> impl Iterator<Item = u32> {
        let start = candidates.untried_from.unwrap_or(self.patterns.len());
        let rest = self.patterns[start..].iter();
        rest.filter(|of| candidates.is_met[of.required as usize]).map(|of| of.pattern)
    }

    /// Tells whether the deserialised data refers only to `n_patterns` patterns.
    pub(in crate::matcher) fn is_sound(&self, n_patterns: usize) -> bool {
        self.patterns.iter().all(|of| {
            (of.pattern as usize) < n_patterns && (of.required as usize) < self.required.len()
        })
    }
}

/// The number of characters in a pattern once its counted repetitions are written out.
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

/// A set of classes of characters, with one bit for each class.
type CharClasses = u8;

const DIGIT: u8 = 1;
const LOWER: u8 = 1 << 1;
const UPPER: u8 = 1 << 2;
/// Blanks, line ends and control characters.
const SPACE: u8 = 1 << 3;
const PUNCTUATION: u8 = 1 << 4;
/// Digits and other numbers that are not ASCII.
const OTHER_NUMBER: u8 = 1 << 5;
/// All other characters that are not ASCII.
const OTHER: u8 = 1 << 6;
/// The hyphen, which most patterns of codes and numbers contain.
const HYPHEN: u8 = 1 << 7;

/// The classes that most messages contain.
const COMMON: u8 = LOWER | UPPER | SPACE;

/// The longest range of non-ASCII characters whose classes are looked up one by one. A longer range
/// counts as [`OTHER_NUMBER`] and [`OTHER`].
const MAX_LOOKED_UP: u32 = 256;

/// The classes of the characters of `text`.
fn of_text(text: &str, is_ascii: bool) -> CharClasses {
    let mut classes = blocks::combined(text.as_bytes(), of_byte);
    if !is_ascii {
        blocks::others(text, |_, c| classes |= of_char(c));
    }
    classes
}

fn of_char(c: char) -> CharClasses {
    match c {
        '\0'..='\x7f' => of_byte(c as u8),
        // Most characters that are not ASCII: letters with accents, Kana, Han, Hangul.
        '\u{c0}'..='\u{24f}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' => OTHER,
        _ if c.is_numeric() => OTHER_NUMBER,
        _ => OTHER,
    }
}

/// Returns the classes of the characters from `start` to `end`, and perhaps more.
fn of_range(start: char, end: char) -> CharClasses {
    let of =
        |range: RangeInclusive<char>| -> CharClasses { range.map(of_char).fold(0, BitOr::bitor) };
    let ascii = of(start..=end.min('\x7f'));
    let start = start.max('\u{80}');
    let is_long = end as u32 > start as u32 + MAX_LOOKED_UP;
    ascii | if is_long { OTHER_NUMBER | OTHER } else { of(start..=end) }
}

/// Returns the class of an ASCII byte, else 0. Without branches, so that the compiler can vectorise it.
fn of_byte(byte: u8) -> CharClasses {
    const fn is(condition: bool, class: u8) -> u8 {
        if condition { class } else { 0 }
    }
    let known = is(byte.wrapping_sub(b'0') < 10, DIGIT)
        | is(byte.wrapping_sub(b'a') < 26, LOWER)
        | is(byte.wrapping_sub(b'A') < 26, UPPER)
        | is(byte <= b' ' || byte == 0x7f, SPACE)
        | is(byte == b'-', HYPHEN);
    known | is(known == 0 && byte < 0x80, PUNCTUATION)
}

/// The classes that every match of a pattern contains: a text must have a character of each set.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub(in crate::matcher) struct RequiredClasses([CharClasses; RequiredClasses::MAX]);

impl RequiredClasses {
    /// The maximum number of sets kept for one pattern.
    const MAX: usize = 4;

    pub(in crate::matcher) fn of(hir: &Hir) -> RequiredClasses {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => RequiredClasses::default(),
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0);
                RequiredClasses::all(text.chars().map(of_char))
            }
            HirKind::Class(class) => RequiredClasses::all([of_class(class)]),
            HirKind::Repetition(repetition) if repetition.min == 0 => RequiredClasses::default(),
            HirKind::Repetition(repetition) => RequiredClasses::of(&repetition.sub),
            HirKind::Capture(capture) => RequiredClasses::of(&capture.sub),
            HirKind::Concat(parts) => {
                RequiredClasses::all(parts.iter().flat_map(|part| RequiredClasses::of(part).sets()))
            }
            HirKind::Alternation(branches) => {
                let branches = branches.iter().map(RequiredClasses::of);
                branches.reduce(RequiredClasses::either).unwrap_or_default()
            }
        }
    }

    /// Keeps the most selective of `sets`, as many as fit.
    fn all(sets: impl IntoIterator<Item = CharClasses>) -> RequiredClasses {
        let mut sets: Vec<CharClasses> = sets.into_iter().collect();
        // The rarest first: sets with the fewest classes that most messages contain.
        sets.sort_unstable_by_key(|set| ((set & COMMON).count_ones(), set.count_ones(), *set));
        sets.dedup();
        let mut kept = [0; RequiredClasses::MAX];
        for (place, set) in kept.iter_mut().zip(sets) {
            *place = set;
        }
        RequiredClasses(kept)
    }

    /// Returns the requirements of a choice: each union of a set of `self` with a set of `other`.
    fn either(self, other: RequiredClasses) -> RequiredClasses {
        let of_each = self.sets().flat_map(|a| other.sets().map(move |b| a | b));
        RequiredClasses::all(of_each)
    }

    fn sets(self) -> impl Iterator<Item = CharClasses> {
        self.0.into_iter().filter(|set| *set != 0)
    }

    /// Tells whether a text with characters of these classes may match.
    fn are_met(self, text: CharClasses) -> bool {
        self.sets().all(|set| set & text != 0)
    }

    /// Tells whether most messages lack a required class, so that the pattern is rarely tried.
    pub(in crate::matcher) fn are_rare(self) -> bool {
        self.sets().any(|set| set & COMMON == 0)
    }
}

fn of_class(class: &Class) -> CharClasses {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|of| (of.start(), of.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|of| (of.start().into(), of.end().into())).collect()
        }
    };
    ranges.into_iter().map(|(start, end)| of_range(start, end)).fold(0, BitOr::bitor)
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
        literal_free([r"\d{2000}"]).select("12", true, &mut candidates);
        assert_eq!(candidates.tried, [0], "a larger one, if it is the only one");
    }

    #[test]
    fn texts_without_a_class_that_a_pattern_requires_are_passed_over() {
        let cases = [
            (r"\d{3}", "ab c", false),
            (r"\d{3}", "x1", true),
            (r"\d{3}", "x१२३", true),
            (r"\d{3}", "हिन्दी में", false),
            (r"\d{3}[a-z]", "123", false),
            (r"\d{3}[a-z]", "123 a", true),
            (r"(\d{4}|[a-z]-)", "1234", true),
            (r"(\d{4}|[a-z]-)", "abc", false),
            (r"(\d{4}|[a-z]-)", "a-c", true),
            (r"(foo)?\d\d", "foo", false),
            (r"(\w\s)+\d", "a b c", false),
            (r"x{0}", "", true),
            (r"[^a]+", "", false),
            (r"[\p{Greek}]{2}", "ab", false),
            (r"[\p{Greek}]{2}", "λόγος", true),
            (r"(?-i)[A-Z]{3}", "all lower", false),
            (r"(?-i)[A-Z]{3}", "THE", true),
            (r"[[:cntrl:]&&[^\n]]", "oneline", false),
            (r"(?-i)a1B -é", "a1B -é", true),
            (r"(?-i)a1B -é", "a1B é", false),
            (r"[a-z]{2}-\d", "let x = 1 + y;", false),
            (r"[a-z]{2}-\d", "ab-1", true),
        ];
        for (pattern, text, expected) in cases {
            let required = RequiredClasses::of(&parse(pattern, Case::Insensitive).unwrap());
            let classes = of_text(text, text.is_ascii());
            assert_eq!(required.are_met(classes), expected, "{pattern} in {text:?}");
        }
    }

    #[test]
    fn no_number_is_taken_for_another_character() {
        let numeric = ('\u{80}'..=char::MAX).filter(|c| c.is_numeric());
        assert!(numeric.map(of_char).all(|class| class == OTHER_NUMBER));
    }

    #[test]
    fn each_character_is_of_one_class_wherever_it_stands() {
        for n_before in [0, 1, 31, 32, 33, 64, 100] {
            for c in ('\0'..='\u{3ff}').chain(['٣', '部', '½', '🦀']) {
                let text = format!("{}{c}", "x".repeat(n_before));
                let classes = of_text(&text, text.is_ascii());
                let expected = of_char(c);
                assert_eq!(expected.count_ones(), 1);
                let before = if n_before == 0 { 0 } else { LOWER };
                assert_eq!(classes, expected | before, "{c:?}");
            }
        }
    }
}
