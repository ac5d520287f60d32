//! The text of a message: folded, split into words, and read for names and for questions about the skills.

pub(in crate::matcher) mod blocks;
pub(crate) mod boundary;
mod folding;
pub(in crate::matcher) mod mapped;
pub(in crate::matcher) mod mask;
pub(crate) mod mention;
pub(in crate::matcher) mod meta;
pub(crate) mod token;

pub(crate) use folding::{QueryText, collapse_blanks, fold_trigger, push_folded};
pub(crate) use mapped::looked_at;
pub use meta::MetaQuestion;
