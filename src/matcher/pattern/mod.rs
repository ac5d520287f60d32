//! Patterns: what a text must hold for one to match it, and their compiled forms.
//!
//! A pattern with required literals (`required.rs`) has a gate (`gates.rs`); one without (`literal_free.rs`)
//! is tried where a text holds the classes of characters it requires (`char_classes.rs`). What passes is
//! compiled when first needed, in a bounded cache (`cache.rs`), and run in memory that each thread has for
//! itself (`searchers.rs`).

pub(in crate::matcher) mod analysis;
pub(in crate::matcher) mod cache;
mod char_classes;
pub(in crate::matcher) mod gates;
pub(in crate::matcher) mod literal_free;
pub(crate) mod required;
mod searchers;

pub(crate) use cache::WINDOW_BYTES;
