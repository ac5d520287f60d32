//! The matcher: from a query to ranked matches.
//!
//! Everything a catalog declares is compiled once into an [`Index`] (`build.rs`): one automaton of
//! all literals, the gates of all patterns, and flat tables of the triggers that each skill
//! declares (`vocabulary.rs`, `tables.rs`). All of it is written to snapshots and read back as it
//! lies there (`arena.rs`, `rows.rs`). A query is a `Search` (`search/`) in four steps:
//!
//! 1. *Scan*: the text is folded (`text/`), and the automaton (`automaton/`) finds every literal in it.
//! 2. *Gate*: of the patterns those are candidates whose required literals occurred (`pattern/`).
//! 3. *Rank*: skills are put in a total order, all of them or the best few.
//! 4. *Answer*: the best with the places of their triggers, and why others are not among them.
//!
//! Beside it, a [`RelevanceIndex`] orders the skills by the words they share with a message, for
//! the many that declare no triggers (`relevance/`).

mod arena;
mod automaton;
mod build;
mod index;
mod paths;
pub(crate) mod pattern;
mod query;
mod relevance;
mod rows;
mod search;
mod tables;
pub(crate) mod text;
mod vocabulary;

pub(crate) use index::MAX_QUERY_BYTES;
pub(crate) use pattern::WINDOW_BYTES;
pub(crate) use text::looked_at;

pub use index::{Answer, Index, IndexOptions, IndexedSkill, RankedSkill};
pub use query::{Hit, HitKind, Match, Query, find_literal};
pub use relevance::{Candidate, Field, Relevance, RelevanceIndex, Relevant, Retriever, Shared};
pub(crate) use relevance::{STOP_WORDS, fuse, has_word, is_everyday, is_paired};
pub use search::Selection;
pub use text::MetaQuestion;
