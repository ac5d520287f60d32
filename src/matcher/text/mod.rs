//! The text of a message: folds it, splits it into words, and finds names and questions about the
//! skills.

pub(in crate::matcher) mod attached;
pub(in crate::matcher) mod blocks;
pub mod boundary;
pub(in crate::matcher) mod excerpt;
mod folding;
pub(in crate::matcher) mod mapped;
pub mod mention;
pub(in crate::matcher) mod meta;
pub(in crate::matcher) mod ranges;
pub(crate) mod request;
pub(crate) mod token;

pub(crate) use excerpt::searched_part;
pub use folding::fold_trigger;
pub(crate) use folding::{
    QueryText, collapse_blanks, is_settled, normalize, normalize_into, push_folded,
};
pub use meta::MetaQuestion;
