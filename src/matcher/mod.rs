//! From a query to ranked matches.
//!
//! Everything a catalog declares is compiled once into an [`Index`]: one Aho-Corasick automaton
//! over all literals ([`automaton`]), among them the required literals of every pattern
//! ([`literals`]), and the few patterns that have none in shared automata of their own
//! ([`patterns`]). A query is folded ([`text`]), scanned once, and each hit is checked for what
//! stands around it ([`boundary`], [`mention`]). What remains is put in a total order ([`rank`]).

mod automaton;
mod boundary;
mod build;
mod index;
mod inflect;
mod literals;
mod mention;
mod meta;
mod patterns;
mod query;
mod rank;
pub(crate) mod text;

pub use index::{Answer, Index, IndexOptions, IndexedSkill};
pub use meta::MetaQuestion;
pub use query::{Hit, HitKind, Match, Query, Rejection};
