//! From a query to ranked matches.
//!
//! Everything a catalog declares is compiled once into an [`Index`] (`build.rs`): flat tables of
//! what is looked for and which skills declare it (`tables.rs`, `flat.rs`), and what finds it in a
//! text. All of it can be written and read back (`raw.rs`). A query is answered in these steps:
//!
//! 1. A very long query is cut to its head and tail (`excerpt.rs`), and folded (`text.rs`,
//!    `mapped.rs`).
//! 2. One automaton finds every literal (`automaton/`): keywords, verbs, excludes, names, and the required
//!    literals of patterns, which `literals.rs` finds. What stands around a hit is checked at once
//!    (`scan.rs`, `boundary.rs`, `mention/`); required literals are noted (`occurrences.rs`). Which of the
//!    names found are mentions that count is decided when all are known (`passed.rs`).
//! 3. Of patterns without a required literal those are noted whose demands of runs of characters
//!    the text meets (`demands.rs`, `kinds.rs`).
//! 4. What was found is noted in memory that is reused (`found.rs`), as large as what one text holds
//!    (`few.rs`, `near.rs`).
//! 5. Skills are put in a total order (`rank.rs`), each once (`visits.rs`): all of them (`all.rs`), or
//!    the best few with as little proof as possible (`top.rs`, `left.rs`). Of patterns those are opened
//!    that matter then (`open.rs`, `gates.rs`, `marks.rs`, `places.rs`): a look at the places of their
//!    literals tells that they do not match, that they do, or that they may. What may match is run if
//!    its skill depends on it (`patterns.rs`, `standing.rs`).
//!
//! Beside it, a [`RelevanceIndex`] orders the skills by the words they share with a message, for
//! the many that declare no triggers (`relevance/`).

mod all;
mod automaton;
mod blocks;
pub(crate) mod boundary;
mod build;
mod demands;
mod excerpt;
mod few;
mod flat;
mod found;
mod gates;
mod hits;
pub(crate) mod idle;
mod index;
mod inflect;
mod kinds;
mod left;
mod literal;
pub(crate) mod literals;
mod mapped;
mod marks;
mod mask;
pub(crate) mod mention;
mod meta;
mod near;
mod occurrences;
mod open;
mod pass;
mod passed;
mod paths;
mod patterns;
mod places;
mod query;
mod rank;
mod raw;
mod relevance;
mod runs;
mod scan;
mod searchers;
mod select;
mod shape;
mod sources;
mod standing;
mod tables;
pub(crate) mod text;
mod token;
mod top;
mod visits;

pub(crate) use excerpt::looked_at;
pub(crate) use index::MAX_QUERY_BYTES;
pub(crate) use patterns::WINDOW_BYTES;

pub use index::{Answer, Index, IndexOptions, IndexedSkill, RankedSkill};
pub use literal::find_literal;
pub use meta::MetaQuestion;
pub use query::{Hit, HitKind, Match, Query};
pub(crate) use relevance::fuse;
pub use relevance::{Candidate, Field, Relevance, RelevanceIndex, Relevant, Retriever, Shared};
pub use select::Selection;
