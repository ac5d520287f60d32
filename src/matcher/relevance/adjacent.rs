//! Adjacency: the words of a text that make pairs.
//!
//! Common terms are skipped: the words around them are a pair, too. The parts of an identifier are pairs
//! among themselves, never with a word beside the identifier.

use repertoire_text::words::identifiers::Part;
use repertoire_text::words::terms::Term;

/// Follows the terms of a text in their order.
#[derive(Debug, Default)]
pub(super) struct Adjacent {
    word: Option<Term>,
    part: Option<Term>,
}

impl Adjacent {
    /// Returns the term with which the next one is a pair.
    pub(super) fn before(&mut self, next: Term) -> Option<Term> {
        if next.part == Part::Beginning {
            return None;
        }
        if next.part != Part::Whole {
            return if next.is_common { None } else { self.part.replace(next) };
        }
        self.part = None;
        if next.is_common { None } else { self.word.replace(next) }
    }
}
