//! Patterns: what a text must hold for one to match it, and their compiled forms.
//!
//! A pattern with required literals (`required.rs`) has a gate (`gates.rs`); one without demands runs of
//! characters (`demands.rs`, `shape.rs`, `kinds.rs`, `runs.rs`). What passes is compiled when first needed, in
//! a bounded cache (`cache.rs`), and run in memory that each thread has for itself (`searchers.rs`).

pub(in crate::matcher) mod analysis;
pub(in crate::matcher) mod cache;
pub(in crate::matcher) mod demands;
pub(in crate::matcher) mod gates;
mod kinds;
pub(crate) mod required;
mod runs;
mod searchers;
mod shape;

pub(crate) use cache::WINDOW_BYTES;
