//! Patterns without a required literal. Each is tried on texts that contain the classes of characters it
//! requires; patterns with the fewest positions come first, up to a bound.
//!
//! Few published patterns are of this kind, and most of them require a digit, which messages seldom
//! have. Patterns that cannot match are therefore neither compiled nor do they use up the bound: the first
//! disclosure of a process, such as a hook, takes 29 instead of 234 µs with 100 skills, 86 instead of
//! 540 µs with 1,000, and 0.4 instead of 1 ms with 10,000, if 2 % of the patterns are of this kind.

use regex_syntax::hir::{Class, Hir, HirKind};
use repertoire_text::is_settled;
use serde::{Deserialize, Serialize};

/// The maximum sum of positions of the patterns tried on one text. It bounds the cost of a text made to
/// meet what thousands of patterns require. Trying one on 120 bytes takes 0.5 µs as long as few are
/// tried, and 1.7 µs with 8,192 positions, as the automata no longer fit the caches of a core.
const MAX_POSITIONS: u32 = 160;

/// The patterns without a required literal, those with the fewest positions first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::matcher) struct LiteralFree(Vec<SizedPattern>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SizedPattern {
    n_positions: u32,
    pattern: u32,
    required: CharClasses,
}

/// The patterns to try on one text; reused as working memory.
#[derive(Debug, Default)]
pub(in crate::matcher) struct Candidates {
    /// The classes of the text's characters.
    classes: CharClasses,
    /// The patterns to be tried.
    pub(in crate::matcher) tried: Vec<u32>,
    /// The index from which patterns exceed the bound and are left untried.
    pub(super) untried_from: Option<usize>,
}

impl LiteralFree {
    /// Analyses patterns, each given by its number and its parsed form.
    pub(in crate::matcher) fn new(patterns: &[(u32, Hir)]) -> LiteralFree {
        let sized = |(pattern, hir): &(u32, Hir)| SizedPattern {
            n_positions: n_positions(hir),
            pattern: *pattern,
            required: required_classes(hir),
        };
        let mut patterns: Vec<SizedPattern> = patterns.iter().map(sized).collect();
        patterns.sort_unstable();
        LiteralFree(patterns)
    }

    /// Puts the patterns that must be tried on `text` into `candidates`.
    pub(in crate::matcher) fn select(&self, text: &str, candidates: &mut Candidates) {
        let Candidates { classes, tried, untried_from } = candidates;
        tried.clear();
        *untried_from = None;
        if self.0.is_empty() {
            return;
        }
        *classes = of_text(text);
        let mut n_positions = 0_u32;
        for (place, of) in self.0.iter().enumerate().filter(|(_, of)| of.is_met(*classes)) {
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
        let start = candidates.untried_from.unwrap_or(self.0.len());
        let rest = self.0[start..].iter().filter(|of| of.is_met(candidates.classes));
        rest.map(|of| of.pattern)
    }

    /// Tells whether the deserialised data refers only to `n_patterns` patterns.
    pub(in crate::matcher) fn is_sound(&self, n_patterns: usize) -> bool {
        self.0.iter().all(|of| (of.pattern as usize) < n_patterns)
    }
}

impl SizedPattern {
    /// Tells whether a text with characters of these classes may match.
    fn is_met(&self, classes: CharClasses) -> bool {
        self.required & !classes == 0
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

/// A set of classes of characters, with one bit for each class. Characters that nearly all messages
/// contain, such as the letters of ASCII, are in no class.
type CharClasses = u8;

const NUMBER: CharClasses = 1;
const HYPHEN: CharClasses = 1 << 1;
/// All other signs of ASCII.
const SIGN: CharClasses = 1 << 2;
/// All characters that are not ASCII, including numbers.
const OTHER: CharClasses = 1 << 3;

/// For each byte, the classes of the characters that begin with it, as far as the byte tells.
static OF_BYTES: [CharClasses; 256] = of_bytes();

const fn of_bytes() -> [CharClasses; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | 0..=b' ' | 0x7f => 0,
            b'0'..=b'9' => NUMBER,
            b'-' => HYPHEN,
            0..0x80 => SIGN,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
}

fn of_char(c: char) -> CharClasses {
    match c {
        '\0'..='\x7f' => OF_BYTES[c as usize],
        _ if c.is_numeric() => NUMBER | OTHER,
        _ => OTHER,
    }
}

fn of_text(text: &str) -> CharClasses {
    let classes = text.bytes().fold(0, |all, byte| all | OF_BYTES[usize::from(byte)]);
    let is_number = |c: char| !is_settled(c) && c.is_numeric();
    let has_number = classes & (NUMBER | OTHER) == OTHER && text.contains(is_number);
    if has_number { classes | NUMBER } else { classes }
}

/// Returns the classes of which each text that a pattern matches has a character.
pub(in crate::matcher) fn required_classes(hir: &Hir) -> CharClasses {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => {
            String::from_utf8_lossy(&literal.0).chars().fold(0, |all, c| all | of_char(c))
        }
        HirKind::Class(class) => common_classes(class),
        HirKind::Repetition(repetition) if repetition.min == 0 => 0,
        HirKind::Repetition(repetition) => required_classes(&repetition.sub),
        HirKind::Capture(capture) => required_classes(&capture.sub),
        HirKind::Concat(parts) => parts.iter().fold(0, |all, part| all | required_classes(part)),
        HirKind::Alternation(branches) => {
            branches.iter().map(required_classes).reduce(|a, b| a & b).unwrap_or(0)
        }
    }
}

/// Returns the classes that contain all characters of a character class of a pattern.
fn common_classes(class: &Class) -> CharClasses {
    let Class::Unicode(class) = class else { return 0 };
    let mut common = CharClasses::MAX;
    for c in class.ranges().iter().flat_map(|range| range.start()..=range.end()) {
        common &= of_char(c);
        if common == 0 {
            break;
        }
    }
    common
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
            (&[r"\d{3}", r"\p{Greek}{3}"], "λόγος", &[1]),
            (&[r"\d{3}", r"\p{Greek}{3}"], "the 1", &[0]),
            (&[r"\d{3}", r"\d\d", "x?"], "THE", &[2]),
            (&[r"\d{3}", r"\d\d", "x?"], "12", &[2, 1, 0]),
            (&[r"\d{3}", r"\d{4}-"], "१२३", &[0]),
        ];
        let mut candidates = Candidates::default();
        for (patterns, text, expected) in cases {
            let patterns = literal_free(patterns.iter().copied());
            patterns.select(text, &mut candidates);
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
            patterns.select("1x", &mut candidates);
            let untried: Vec<u32> = patterns.untried(&candidates).collect();
            assert_eq!(candidates.tried.len() + untried.len(), 1_000);
            let size = |pattern: &u32| pattern % 40 + 2;
            assert!(candidates.tried.iter().map(size).sum::<u32>() <= MAX_POSITIONS);
            assert!(candidates.tried.iter().map(size).max() <= untried.iter().map(size).min());
        }
        literal_free([r"\d{2000}"]).select("12", &mut candidates);
        assert_eq!(candidates.tried, [0], "a larger one, if it is the only one");
    }

    #[test]
    fn texts_without_a_class_that_a_pattern_requires_are_passed_over() {
        let cases = [
            (r"\d{3}", "ab c", false),
            (r"\d{3}", "x1", true),
            (r"\d{3}", "x१२३", true),
            (r"\d{3}", "हिन्दी में", false),
            (r"\d{3}[a-z]", "abc", false),
            (r"\d{3}[a-z]", "123", true),
            (r"(\d{4}|[a-z]-)", "abc", true),
            (r"(\d{4}|[a-z]\d)-", "1234", false),
            (r"(\d{4}|[a-z]\d)-", "a-c", false),
            (r"(\d{4}|[a-z]\d)-", "1-", true),
            (r"(foo)?\d\d", "foo", false),
            (r"(\w\s)+\d", "a b c", false),
            (r"x{0}", "", true),
            (r"[^a]+", "", true),
            (r"[\p{Greek}]{2}", "ab", false),
            (r"[\p{Greek}]{2}", "λόγος", true),
            (r"[0-9٣]{3}", "٣", true),
            (r"[0-9٣]{3}", "x", false),
            (r"[+*/]\s", "a - b", false),
            (r"[+*/]\s", "a / b", true),
            (r"(?-i)a1B -é", "a1B -é", true),
            (r"(?-i)a1B -é", "a1B é", false),
            (r"[a-z]{2}-\d", "let x = 1 + y;", false),
            (r"[a-z]{2}-\d", "ab-1", true),
        ];
        for (pattern, text, expected) in cases {
            let mut candidates = Candidates::default();
            literal_free([pattern]).select(text, &mut candidates);
            assert_eq!(candidates.tried.len(), usize::from(expected), "{pattern} in {text:?}");
        }
    }
}
