//! The matcher: from a query to ranked matches.
//!
//! The triggers of a catalog are compiled once into an [`Index`] (`build.rs`): one automaton of all
//! literals, the gates of all patterns, and flat tables of the triggers that each skill declares
//! (`vocabulary.rs`, `tables.rs`). Snapshots store the index as flat data, which is read back nearly as
//! fast as it is copied (`arena.rs`, `repertoire-text`). A query runs as a `Search` (`search/`) in four steps:
//!
//! 1. *Scan*: the text is folded (`repertoire-text`), and the automaton (`automaton/`) finds every literal in it.
//! 2. *Gate*: a pattern is a candidate if the text contains its required literals, or, for a pattern
//!    without one, its required classes of characters (`pattern/`).
//! 3. *Rank*: the skills that match are put in a total order, all of them or the best few.
//! 4. *Answer*: the best matches get the positions of their triggers, and missing skills the reasons
//!    why.
//!
//! A separate [`RelevanceIndex`] orders the skills by the words they share with a message, as many
//! skills declare no triggers (`relevance/`).

mod arena;
mod automaton;
mod build;
mod index;
mod parallel;
mod paths;
mod pattern;
mod query;
mod relevance;
mod search;
mod sparse_map;
mod tables;
mod vocabulary;

pub use index::MAX_QUERY_BYTES;
pub(crate) use pattern::WINDOW_BYTES;
pub use repertoire_text::MetaQuestion;
pub use repertoire_text::request::attachments;

pub use index::{Answer, Index, IndexOptions, IndexedSkill};
pub(crate) use query::find_literals;
pub use query::{Hit, HitKind, Match, Query, find_literal};
pub use relevance::{
    Candidate, Field, Levels, MeaningModel, Near, Relevance, RelevanceIndex, Relevant, Retriever,
    Shared,
};
pub(crate) use relevance::{Retrieval, denies};
pub use search::Selection;
