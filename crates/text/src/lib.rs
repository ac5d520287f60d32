//! The text of a message, as far as it alone tells what is wanted: which part of it is the request and what is attached, its
//! words and their stems, the names in it and those that it denies, and whether it asks about the skills
//! themselves. Nothing here knows a skill.
//!
//! | module | what it answers |
//! |---|---|
//! | [`request`] | what of a message is the request, and what is attached (pasted, quoted, written by a program) |
//! | [`QueryText`], [`searched_form`] | how a text reads once it is folded, with the places of the original |
//! | [`boundary`], [`token`] | where words begin and end, in scripts with and without blanks |
//! | [`words`] | the terms of a text by language: stems, parts of identifiers, pairs of characters; denials |
//! | [`required`] | the literals that a text must contain for a pattern to match it |
//! | [`amount`] | whether `$5` is an amount of money or a placeholder |
//! | [`mention`] | whether a name is meant, denied or only talked about |
//! | [`meta`] | whether a message asks what skills there are |
//! | [`invisible`] | characters that a model reads and a person does not see |
//! | [`surrogates`] | JSON that was cut within a character |
//! | [`rows`] | tables that are read as fast as they are copied |
//!
//! It is a part of Repertoire, whose engine is the crate `repertoire`, and grows with it.

pub mod amount;
pub mod attached;
pub mod blocks;
pub mod boundary;
pub mod excerpt;
pub mod invisible;
pub mod mapped;
pub mod mention;
pub mod meta;
pub mod ranges;
pub mod request;
pub mod required;
pub mod rows;
pub mod surrogates;
pub mod token;
pub mod words;

mod folding;
mod searched;

pub use excerpt::searched_part;
pub use folding::{
    QueryText, collapse_blanks, fold_trigger, is_settled, normalize, normalize_into, push_folded,
};
pub use meta::MetaQuestion;
pub use searched::{as_searched, compared, searched_form};
