//! How near two texts are in meaning, by a static table of word pieces.

mod error;
mod layout;
mod pieces;
mod query;
mod table;
mod vector;
mod words;

pub use error::{Error, ErrorKind};
pub use query::{Query, Vectors};
pub use table::Table;
pub use vector::{Compact, Contribution, MAX_TEXT, Scratch, Vector};
