//! The runs of characters that every match of a pattern holds.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::kinds::Kinds;
use crate::skill::pattern::{self, Case};

/// The most demands kept of one pattern.
const MAX_DEMANDS: usize = 6;

/// The longest concatenation of which each stretch is looked at; of a longer one, the parts and the whole.
const MAX_PARTS: usize = 8;

/// The rarity of one certain letter, in bits, about.
const BITS_OF_A_LETTER: f64 = 5.0;

/// A run of characters of some kinds, of this length or longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::matcher) struct Demand {
    pub(in crate::matcher) kinds: Kinds,
    pub(in crate::matcher) min: u32,
}

impl Demand {
    /// Whether a text that meets this one meets the other.
    fn implies(self, other: Demand) -> bool {
        self.kinds.is_within(other.kinds) && self.min >= other.min
    }

    /// The rarity of texts that meet it, in bits, as if characters came by chance.
    pub(in crate::matcher) fn rarity(self) -> f64 {
        self.kinds.rarity() * f64::from(self.min)
    }
}

/// Whether the runs that a pattern demands are rarer than a single letter.
pub(in crate::matcher) fn tell_more(source: &str) -> bool {
    let demands = pattern::parse(source, Case::Insensitive).map(|hir| Shape::of(&hir).demands);
    demands.is_ok_and(|demands| demands.iter().any(|demand| demand.rarity() > BITS_OF_A_LETTER))
}

/// Facts about the matches of a part of a pattern.
#[derive(Debug, Clone, Default)]
pub(in crate::matcher) struct Shape {
    /// The kinds of all their characters.
    kinds: Kinds,
    /// Their least length in characters.
    min: u32,
    /// Runs that each of them holds.
    pub(in crate::matcher) demands: Vec<Demand>,
}

impl Shape {
    pub(in crate::matcher) fn of(hir: &Hir) -> Shape {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Shape::default(),
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0);
                let kinds = text.chars().map(Kinds::of_char).fold(Kinds::default(), Kinds::or);
                Shape::run(kinds, text.chars().count() as u32)
            }
            HirKind::Class(class) => Shape::run(kinds_of(class), 1),
            HirKind::Repetition(repetition) => {
                let sub = Shape::of(&repetition.sub);
                let mut shape = Shape::run(sub.kinds, sub.min.saturating_mul(repetition.min));
                if repetition.min > 0 {
                    shape.demand(sub.demands);
                }
                shape
            }
            HirKind::Capture(capture) => Shape::of(&capture.sub),
            HirKind::Concat(parts) => {
                Shape::concat(&parts.iter().map(Shape::of).collect::<Vec<_>>())
            }
            HirKind::Alternation(branches) => {
                let branches = branches.iter().map(Shape::of);
                branches.reduce(|a, b| Shape::either(&a, &b)).unwrap_or_default()
            }
        }
    }

    /// A run of characters of `kinds`, `min` or more.
    fn run(kinds: Kinds, min: u32) -> Shape {
        let demands = if min > 0 { vec![Demand { kinds, min }] } else { Vec::new() };
        Shape { kinds, min, demands }
    }

    /// One part after the other: each stretch of them is a run too.
    fn concat(parts: &[Shape]) -> Shape {
        let stretch = |parts: &[Shape]| {
            let kinds = parts.iter().fold(Kinds::default(), |kinds, part| kinds.or(part.kinds));
            Shape::run(kinds, parts.iter().fold(0, |min, part| min.saturating_add(part.min)))
        };
        let mut whole = stretch(parts);
        for (start, part) in parts.iter().enumerate() {
            whole.demand(part.demands.iter().copied());
            if parts.len() <= MAX_PARTS {
                for end in start + 2..=parts.len() {
                    whole.demand(stretch(&parts[start..end]).demands);
                }
            }
        }
        whole
    }

    /// One or the other: what one demands is only sure as far as the other demands it too.
    fn either(a: &Shape, b: &Shape) -> Shape {
        let mut both =
            Shape { demands: Vec::new(), ..Shape::run(a.kinds.or(b.kinds), a.min.min(b.min)) };
        for of_a in &a.demands {
            both.demand(b.demands.iter().map(|of_b| Demand {
                kinds: of_a.kinds.or(of_b.kinds),
                min: of_a.min.min(of_b.min),
            }));
        }
        both
    }

    /// Takes in more demands, and keeps the rarest of those that no other implies.
    fn demand(&mut self, more: impl IntoIterator<Item = Demand>) {
        for demand in more {
            if !self.demands.iter().any(|known| known.implies(demand)) {
                self.demands.retain(|known| !demand.implies(*known));
                self.demands.push(demand);
            }
        }
        self.demands.sort_by(|a, b| b.rarity().total_cmp(&a.rarity()));
        self.demands.truncate(MAX_DEMANDS);
    }
}

fn kinds_of(class: &Class) -> Kinds {
    let (unicode, bytes) = match class {
        Class::Unicode(class) => (class.ranges(), &[][..]),
        Class::Bytes(class) => (&[][..], class.ranges()),
    };
    let unicode = unicode.iter().map(|range| (range.start(), range.end()));
    let bytes = bytes.iter().map(|range| (char::from(range.start()), char::from(range.end())));
    let kinds = unicode.chain(bytes).map(|(start, end)| Kinds::of_range(start, end));
    kinds.fold(Kinds::default(), Kinds::or)
}

/// The number of characters that a pattern is written with once its counted repetitions are written out.
pub(in crate::matcher) fn n_positions(hir: &Hir) -> u32 {
    let sum = |parts: &[Hir]| parts.iter().map(n_positions).fold(0, u32::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u32,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            n_positions(&repetition.sub).saturating_mul(times)
        }
        HirKind::Capture(capture) => n_positions(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}
