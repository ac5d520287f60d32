//! From a query to ranked matches.
//!
//! Everything a catalog declares is compiled once into an [`Index`]: one Aho-Corasick automaton
//! over all literals (`automaton.rs`), among them the required literals of every pattern
//! (`literals.rs`), and the few patterns that have none in shared automata of their own
//! (`patterns.rs`). A [`Query`] is folded (`text.rs`), scanned once, and each hit is checked for
//! what stands around it (`boundary.rs`, `mention.rs`). What remains is put in a total order
//! (`rank.rs`).
//!
//! Beside it, a [`RelevanceIndex`] orders the skills by the words they share with a message, for
//! the many that declare no triggers.

mod automaton;
mod boundary;
mod build;
mod index;
mod inflect;
mod literals;
mod mention;
mod meta;
mod paths;
mod patterns;
mod query;
mod rank;
mod relevance;
pub(crate) mod text;

pub use index::{Answer, Index, IndexOptions, IndexedSkill};
pub use meta::MetaQuestion;
pub use query::{Hit, HitKind, Match, Query, Rejection};
pub use relevance::{Field, RelevanceIndex, Relevant, Shared};
