//! From a query to ranked matches.
//!
//! Everything a catalog declares is compiled once into an [`Index`] (`build.rs`): flat tables of
//! what is looked for and which skills declare it (`tables.rs`, `flat.rs`), and what finds it in a
//! text. All of it can be written and read back. A query is answered in these steps:
//!
//! 1. A very long query is cut to its head and tail (`excerpt.rs`), and folded (`text.rs`).
//! 2. Words and phrases are looked up by their hashes (`words.rs`).
//! 3. What stands inside words or is no word (`c++`, `部署`, the required literals of patterns,
//!    which `literals.rs` finds) is looked up by its first four bytes (`infix.rs`, `keys.rs`). What
//!    stands around a hit is checked at once (`boundary.rs`, `mention.rs`).
//! 4. Of patterns without a required literal those are noted whose demands of runs of characters
//!    the text meets (`demands.rs`, `kinds.rs`).
//! 5. What was found is noted in memory that is reused (`found.rs`); patterns are only noted as
//!    possible.
//! 6. Skills are put in a total order (`rank.rs`): all of them, or the best few with as little
//!    proof as possible (`top.rs`). Patterns are confirmed here, by the places of their literals
//!    where that is exact, else by running them (`patterns.rs`).
//!
//! A [`LayeredIndex`] follows changes of single skills without compiling everything anew
//! (`overlay/`).
//!
//! Beside it, a [`RelevanceIndex`] orders the skills by the words they share with a message, for
//! the many that declare no triggers (`relevance/`).

mod blocks;
pub(crate) mod boundary;
mod build;
mod demands;
mod excerpt;
mod flat;
mod found;
mod gates;
pub(crate) mod generic;
mod hits;
mod index;
mod infix;
mod inflect;
mod keys;
mod kinds;
pub(crate) mod literals;
mod mask;
mod mention;
mod meta;
mod overlay;
mod pass;
mod paths;
mod patterns;
mod query;
mod rank;
mod relevance;
mod runs;
mod sources;
mod tables;
pub(crate) mod text;
mod top;
mod words;

pub(crate) use patterns::WINDOW_BYTES;

pub use index::{Answer, Index, IndexOptions, IndexedSkill, RankedSkill};
pub use meta::MetaQuestion;
pub use overlay::LayeredIndex;
pub use query::{Hit, HitKind, Match, Query, Rejection};
pub use relevance::{Field, RelevanceIndex, Relevant, Shared};
