//! The literals of a catalog, numbered and compiled into the automaton.

use std::collections::HashMap;

use super::arena::{ListBuilder, Lists};
use super::automaton::{Automaton, Needs};
use super::pattern::analysis::Sources;
use super::search;
use super::tables::LiteralUse;

/// All literals, those that patterns require among them.
pub(super) struct Vocabulary {
    pub(super) automaton: Automaton,
    /// The uses of each literal, but for those that patterns make of it.
    pub(super) uses: Lists<LiteralUse>,
    /// The number of each literal.
    pub(super) numbers: HashMap<String, u32>,
}

impl Vocabulary {
    /// Compiles the literals that triggers declare, with their uses, and those that `sources` require;
    /// `None` if they take too many states.
    pub(super) fn new(
        mut numbers: HashMap<String, u32>,
        uses: Vec<(u32, LiteralUse)>,
        sources: &Sources<'_>,
    ) -> Option<Vocabulary> {
        let mut required: Vec<&str> = sources.literals().collect();
        // In a fixed order, so that the same skills make the same index.
        required.sort_unstable();
        let required: Vec<u32> =
            required.into_iter().map(|literal| literal_id(&mut numbers, literal)).collect();
        let mut texts = vec![""; numbers.len()];
        for (text, &number) in &numbers {
            texts[number as usize] = text;
        }
        let mut is_required = vec![false; texts.len()];
        for literal in required {
            is_required[literal as usize] = true;
        }
        let uses = ListBuilder::from(uses).finish(texts.len());
        let needs = |literal: usize| {
            let uses = uses.of(literal as u32);
            Needs {
                start: !is_required[literal],
                each: uses.iter().any(|to| matches!(to, LiteralUse::Name(_))),
                value: search::value_of(uses, is_required[literal]),
            }
        };
        let automaton = Automaton::new(&texts, needs)?;
        Some(Vocabulary { automaton, uses, numbers })
    }
}

/// The number of a literal, which is the next one if it has none yet.
pub(super) fn literal_id(literals: &mut HashMap<String, u32>, literal: &str) -> u32 {
    if let Some(&id) = literals.get(literal) {
        return id;
    }
    let id = literals.len() as u32;
    literals.insert(literal.to_owned(), id);
    id
}
