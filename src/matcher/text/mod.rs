//! The text of a message: folds it, splits it into words, and finds names and questions about the
//! skills.

pub(in crate::matcher) mod blocks;
pub mod boundary;
mod folding;
pub(in crate::matcher) mod mapped;
pub(in crate::matcher) mod mask;
pub mod mention;
pub(in crate::matcher) mod meta;
pub(crate) mod token;

pub use folding::fold_trigger;
pub(crate) use folding::{
    QueryText, collapse_blanks, is_settled, normalize, normalize_into, push_folded,
};
pub(crate) use mapped::searched_part;
pub use meta::MetaQuestion;
