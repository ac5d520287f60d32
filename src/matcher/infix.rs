//! Literals that may stand anywhere, inside words too.
//!
//! Their first bytes tell where they may start (`keys.rs`). The literals that start so are
//! sorted: what stands there is the last one not after the text, or a prefix of it.
//!
//! What starts in a run of letters, digits and `_` of ASCII (`split.rs`) is the same wherever the run
//! stands (`memo.rs`), but for literals that reach out of it (`heads.rs`).
//!
//! All of it is flat data that can be written and read back.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::boundary;
use super::bytes::Bytes;
use super::flat::Texts;
use super::heads::{Heads, Kind, head};
use super::keys::{Keys, SHORT_BYTES};
use super::raw::row;
use super::seen::{Occurrence, Seen, SeenLiteral};
use super::tables::NONE;

/// Distinct literals, in the order of `prepare` (`heads.rs`).
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Infixes {
    pub(super) texts: Texts,
    #[serde(with = "super::raw")]
    pub(super) literals: Vec<Literal>,
    heads: Heads,
    /// Of those that stand inside a run.
    pub(super) inside: Keys,
    /// Of those heads that are no more than that and as short as a key: they begin everywhere, but only
    /// the end of a run matters.
    pub(super) short_heads: Keys,
    /// The bytes that these end with.
    pub(super) short_head_ends: Bytes,
    /// Of those that do not start in a run.
    between: Keys,
    /// The bytes that these start with.
    starts: Bytes,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Literal {
    /// The longest other literal of its kind that this one starts with, or [`NONE`]; but for those that
    /// are looked up by all of their bytes.
    pub(super) prefix: u32,
    /// Whether this literal, or such a prefix, must be reported at each occurrence.
    pub(super) contextual: bool,
    /// Whether this literal, or such a prefix, is looked for as a word of its own.
    pub(super) whole: bool,
    /// Whether nothing matters of it but what it is the head of.
    pub(super) is_only_head: bool,
    /// Its place among the heads, or [`NONE`].
    pub(super) head: u32,
}

row!(Literal { prefix: u32, contextual: bool, whole: bool, is_only_head: bool, head: u32 });

/// Which occurrences of a literal matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// None: it is the head of others.
    Nothing,
    /// The first, wherever it stands.
    First,
    /// The first, and the first as a word of its own.
    FirstWhole,
    /// All, for what stands around them.
    Each,
}

impl Infixes {
    /// Compiles folded `literals` as `prepare` (`heads.rs`) puts them; `needs` tells of each which of its
    /// occurrences matter.
    pub(crate) fn new(literals: &[&str], needs: impl Fn(usize) -> Needs) -> Infixes {
        let n_before = |kind| literals.partition_point(|literal| Kind::of(literal) < kind);
        let (across, between) = (n_before(Kind::Across), n_before(Kind::Between));
        let parts = [n_before(Kind::InsideLong), across, between, n_before(Kind::BetweenLong)];
        let is_short_head =
            |place: usize| literals[place].len() < SHORT_BYTES && needs(place) == Needs::Nothing;
        let keyed = |places: Range<usize>, is_in: &dyn Fn(usize) -> bool| {
            let places = places.filter(|&place| is_in(place));
            places.map(|place| (place as u32, literals[place])).collect::<Vec<_>>()
        };
        let short_heads = (0..across).filter(|&place| is_short_head(place));
        let mut new = Infixes {
            texts: literals.iter().collect(),
            literals: Vec::with_capacity(literals.len()),
            heads: Heads::default(),
            inside: Keys::new(keyed(0..across, &|place| !is_short_head(place))),
            short_heads: Keys::new(keyed(0..across, &is_short_head)),
            between: Keys::new(keyed(between..literals.len(), &|_| true)),
            starts: literals[between..]
                .iter()
                .filter_map(|literal| literal.bytes().next())
                .collect(),
            short_head_ends: short_heads
                .filter_map(|place| literals[place].bytes().last())
                .collect(),
        };
        // Those of which the next literal may be a longer form, shortest first.
        let mut prefixes: Vec<usize> = Vec::new();
        for (place, literal) in literals.iter().enumerate() {
            if parts.contains(&place) {
                prefixes.clear();
            }
            while prefixes.pop_if(|&mut prefix| !literal.starts_with(literals[prefix])).is_some() {}
            let mut compiled = Literal {
                prefix: NONE,
                contextual: needs(place) == Needs::Each,
                whole: matches!(needs(place), Needs::FirstWhole | Needs::Each),
                is_only_head: needs(place) == Needs::Nothing,
                head: NONE,
            };
            if let Some(&prefix) = prefixes.last() {
                let shorter = &new.literals[prefix];
                compiled.prefix = prefix as u32;
                compiled.contextual |= shorter.contextual;
                compiled.whole |= shorter.whole;
            }
            new.literals.push(compiled);
            if literal.len() >= SHORT_BYTES || Kind::of(literal) == Kind::Across {
                prefixes.push(place);
            }
        }
        let of_heads =
            (across as u32..).zip(&literals[across..between]).filter_map(|(place, of)| {
                let order = (Kind::of(head(of)), head(of));
                let head =
                    literals.binary_search_by_key(&order, |literal| (Kind::of(literal), *literal));
                Some((place, *of, head.ok()?))
            });
        let compiled = &mut new.literals;
        new.heads = Heads::new(of_heads, |head, number| compiled[head].head = number);
        new
    }

    /// Notes what starts with a head that ends a run, at `range`: see [`Infixes::note`].
    #[inline]
    pub(super) fn note_head(
        &self,
        head: u32,
        text: &str,
        range: Range<usize>,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        if let Some(across) = self.heads.literals(head, &text.as_bytes()[range.end..]) {
            self.note_across(across, text, range.start, seen, report);
        }
    }

    /// Notes which of a range of literals with one head stands at `start`.
    #[inline(never)] // few heads that are met go on
    fn note_across(
        &self,
        across: Range<u32>,
        text: &str,
        start: usize,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        let literal = self.longest(across, &text.as_bytes()[start..]);
        self.note(literal, text, start, seen, report);
    }

    /// Whether a literal that starts in no run may start at one of `bytes`.
    #[inline]
    pub(super) fn may_start_in(&self, bytes: &[u8]) -> bool {
        bytes.iter().any(|&byte| self.starts.has(byte))
    }

    /// Notes what starts in a part of `text` that is in no run: see [`Infixes::note`].
    pub(super) fn note_between(
        &self,
        text: &str,
        part: Range<usize>,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        for at in part {
            if self.may_start_in(&text.as_bytes()[at..=at]) {
                self.note_at(text, at, seen, report);
            }
        }
    }

    fn note_at(&self, text: &str, at: usize, seen: &mut Seen, report: &mut impl FnMut(Occurrence)) {
        let rest = &text.as_bytes()[at..];
        self.between.at(rest, |literals| {
            self.note(self.longest(literals, rest), text, at, seen, report);
        });
    }

    /// The longest of a range of sorted literals that `text` starts with, or [`NONE`].
    pub(super) fn longest(&self, literals: Range<u32>, text: &[u8]) -> u32 {
        let (mut start, mut end) = (literals.start, literals.end);
        while start < end {
            let middle = start.midpoint(end);
            if self.texts.bytes(middle) <= text {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        // Whatever stands between a prefix of the text and the text starts with that prefix.
        let mut literal = if start > literals.start { start - 1 } else { return NONE };
        let last = self.texts.bytes(literal);
        let n_common = last.iter().zip(text).take_while(|(a, b)| a == b).count();
        while literal != NONE && self.texts.len_of(literal) > n_common {
            literal = self.literals[literal as usize].prefix;
        }
        literal
    }

    /// Notes that `literal` stands at `start`, and so do its prefixes. Calls `report` for the first
    /// occurrence of each as a word of its own in a pass, and for every occurrence of contextual ones.
    ///
    /// Linear in the text even where literals are nested (`a`, `aa`, `aaa`, …): once a longer one was
    /// seen with the same kind of left side, so were the shorter ones, whose right side is inside
    /// the longer.
    pub(super) fn note(
        &self,
        mut literal: u32,
        text: &str,
        start: usize,
        seen: &mut Seen,
        report: &mut impl FnMut(Occurrence),
    ) {
        let mut opens = None;
        while literal != NONE {
            let Literal { prefix, contextual, whole, .. } = self.literals[literal as usize];
            let end = start + self.texts.len_of(literal);
            let opened = whole && *opens.get_or_insert_with(|| boundary::opens(text, start, end));
            let before = seen.get(literal).copied();
            let mut known = before.unwrap_or_else(|| SeenLiteral::new(end));
            let settled = before.is_some() && (known.opened || !opened);
            let first_whole = opened && !known.whole && boundary::closes(text, end);
            known.see(end);
            known.opened |= opened;
            known.whole |= first_whole;
            seen.set(literal, known);
            if first_whole || contextual {
                report(Occurrence { literal, range: start..end, first_whole });
            }
            if settled && !contextual {
                self.pass_over(prefix, seen);
                break;
            }
            literal = prefix;
        }
    }

    /// Notes that `literal` and its prefixes stand at another place that is not noted.
    fn pass_over(&self, mut literal: u32, seen: &mut Seen) {
        while let Some(&known) = seen.get(literal).filter(|known| !known.passed_over) {
            seen.set(literal, SeenLiteral { passed_over: true, ..known });
            literal = self.literals[literal as usize].prefix;
        }
    }

    /// Where the last occurrence of a literal starts that the last pass has seen. `Err` is the
    /// last one that was looked at, if others may come after it.
    pub(crate) fn last_start(&self, literal: u32, seen: &Seen) -> Option<Result<u32, u32>> {
        let known = seen.get(literal)?;
        let start = known.last_end - self.texts.len_of(literal) as u32;
        Some(if known.passed_over { Err(start) } else { Ok(start) })
    }

    /// The number of literals.
    pub(crate) fn len(&self) -> usize {
        self.literals.len()
    }

    /// Whether what was read can be used without a check at each step.
    pub(crate) fn is_sound(&self) -> bool {
        let n_literals = self.literals.len();
        let starts_with = |place: u32, prefix: u32| {
            prefix < place && self.texts.bytes(place).starts_with(self.texts.bytes(prefix))
        };
        let is_prefix = |(place, literal): (u32, &Literal)| {
            self.texts.len_of(place) > 0
                && (literal.prefix == NONE || starts_with(place, literal.prefix))
                && self.heads.has(literal.head)
        };
        self.texts.is_sound()
            && self.texts.len() == n_literals
            && self.heads.is_sound(n_literals)
            && (0..).zip(&self.literals).all(is_prefix)
            && self.inside.is_sound(n_literals)
            && self.short_heads.is_sound(n_literals)
            && self.between.is_sound(n_literals)
    }

    /// Heap memory in bytes.
    pub(crate) fn memory_usage(&self) -> usize {
        self.texts.memory_usage()
            + size_of_val(&*self.literals)
            + self.heads.memory_usage()
            + self.inside.memory_usage()
            + self.short_heads.memory_usage()
            + self.between.memory_usage()
    }
}

/// Reports all literals of `text`, as a pass does.
#[cfg(test)]
pub(super) fn pass(
    infixes: &Infixes,
    text: &str,
    seen: &mut Seen,
    mut report: impl FnMut(Occurrence),
) {
    use super::starts::Start;
    let mut runs = super::split::Split::default();
    runs.set(text);
    seen.clear();
    let mut before = 0;
    for run in runs.iter() {
        infixes.note_between(text, before..run.start, seen, &mut report);
        before = run.end;
        infixes.starts_in(text[run.clone()].as_bytes(), |start, at| {
            let range = run.start + at.start..run.start + at.end;
            match start {
                Start::Word(_) => unreachable!("words are no infixes"),
                Start::Single(literal) | Start::Literal(literal) => {
                    infixes.note(literal, text, range.start, seen, &mut report);
                }
                Start::Head(head) => infixes.note_head(head, text, range, seen, &mut report),
            }
        });
    }
    infixes.note_between(text, before..text.len(), seen, &mut report);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literal, its start, and whether it is its first whole occurrence, of each report, in
    /// the order of the text.
    fn scan<'a>(
        literals: &[&'a str],
        contextual: &[&str],
        text: &str,
    ) -> Vec<(&'a str, usize, bool)> {
        let mut sorted = literals.to_vec();
        super::super::heads::prepare(&mut sorted);
        let needs = |i: usize| {
            if contextual.contains(&sorted[i]) { Needs::Each } else { Needs::FirstWhole }
        };
        let infixes = Infixes::new(&sorted, needs);
        assert!(infixes.is_sound());
        let mut reports = Vec::new();
        pass(&infixes, text, &mut Seen::default(), |o| {
            let literal = sorted[o.literal as usize];
            assert_eq!(&text[o.range.clone()], literal);
            reports.push((literal, o.range.start, o.first_whole));
        });
        reports.sort_by_key(|&(literal, start, _)| (start, literal.len()));
        reports
    }

    #[test]
    fn the_first_whole_occurrence_is_reported() {
        assert_eq!(
            scan(&["git", "hub"], &[], "github git git hub"),
            [("git", 7, true), ("hub", 15, true)]
        );
        assert_eq!(scan(&["reports"], &[], "xreports reports reports"), [("reports", 9, true)]);
    }

    #[test]
    fn the_longest_of_many_that_start_alike_is_found_with_those_it_starts_with() {
        let literals = ["make", "make a", "make a b", "make ab", "make b", "make a bc", "makez"];
        let mut sorted = literals.to_vec();
        super::super::heads::prepare(&mut sorted);
        let infixes = Infixes::new(&sorted, |_| Needs::First);
        let found = |text| {
            let mut seen = Seen::default();
            pass(&infixes, text, &mut seen, |_| {});
            let mut found: Vec<&str> = seen.numbers().map(|of| sorted[of as usize]).collect();
            found.sort_unstable();
            found
        };
        assert_eq!(found("make a bd"), ["make", "make a", "make a b"]);
        assert_eq!(found("make a bc"), ["make", "make a", "make a b", "make a bc"]);
        assert_eq!(found("make aa"), ["make", "make a"]);
        assert_eq!(found("makes"), ["make"]);
        assert_eq!(found("mak"), [""; 0]);
    }

    #[test]
    fn every_occurrence_of_a_contextual_literal_is_reported_even_as_a_start_of_another() {
        let reports = scan(&["some b", "some"], &["some"], "some b some b");
        assert_eq!(reports.iter().filter(|r| r.0 == "some").count(), 2);
    }

    #[test]
    fn the_last_place_of_a_literal_is_known_unless_it_began_a_longer_one_that_was_seen() {
        let sorted = ["make", "maker", "makers"];
        let infixes = Infixes::new(&sorted, |_| Needs::First);
        for (text, expected) in [
            ("maker", [Some(Ok(0)), Some(Ok(0)), None]),
            ("make maker", [Some(Ok(5)), Some(Ok(5)), None]),
            ("maker make", [Some(Ok(6)), Some(Ok(0)), None]),
            ("maker maker", [Some(Err(0)), Some(Ok(6)), None]),
            ("maker maker make", [Some(Err(12)), Some(Ok(6)), None]),
            ("makers makers", [Some(Err(0)), Some(Err(0)), Some(Ok(7))]),
        ] {
            let mut seen = Seen::default();
            pass(&infixes, text, &mut seen, |_| {});
            assert_eq!(
                [0, 1, 2].map(|literal| infixes.last_start(literal, &seen)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_shorter_literal_is_found_whole_after_a_longer_one_was_seen_inside_a_word() {
        let reports = scan(&["some-b", "some"], &[], "xsome-b some-b");
        assert!(reports.contains(&("some", 8, true)), "{reports:?}");
    }
}
