//! The nearness of two texts in meaning: no network, no runtime, by default microseconds.
//!
//! A *static table* has a row of numbers for each word piece. A text is the sum of the rows of its
//! pieces, and two texts are as near as the cosine of their sums. The table in this crate was distilled
//! from two sentence encoders and fitted to sentences of skills and to translations, in English,
//! Chinese, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian and Spanish: texts
//! of different languages are near if they mean the same.
//!
//! ```
//! use repertoire_meaning::{Scratch, Table};
//!
//! let (table, mut scratch) = (Table::bundled(), Scratch::default());
//! let message = table.vector("our database is sluggish today", &mut scratch);
//! let skill = table.vector("Make a slow SQL query fast", &mut scratch);
//! let other = table.vector("Reply to a customer about a refund", &mut scratch);
//! assert!(message.cosine(&skill) > message.cosine(&other) + 0.1);
//!
//! // The word that contributed most.
//! let words = table.contributions("our database is sluggish today", &skill, &mut scratch);
//! assert_eq!(&"our database is sluggish today"[words[0].range.clone()], "database");
//! ```
//!
//! # Learn more
//!
//! * [`Table`]: the one in this crate, those in files, and with the feature `model2vec` those in the
//!   form of model2vec
//! * `Transformer`, with the feature `transformer`: sentence transformers of the BERT family, such as
//!   `MiniLM` and e5-small, in milliseconds a text
//! * [`Model`]: either of them
//! * [`Vector`] and [`Compact`]: the direction of a text, exact and in a byte for each dimension
//! * [`Vectors`] and [`Query`]: one message against thousands of compact vectors
//! * [`Contribution`]: which words of a text made it near
//! * [`Scratch`]: working memory; once it is warm, nothing allocates
//!
//! # The file of a table
//!
//! One flat file: a header of 128 bytes, a hash table of pieces behind a Bloom filter, and a row for
//! each piece with 4 or 8 bits a value. It is used as it is, without decoding, so a program that has it
//! in its binary pays for the pages that it touches. `src/layout.rs` describes it; `train/` has the
//! scripts that made the table, their sources with licences, and the figures.
//!
//! The file of a transformer begins the same; `src/transformer/shape.rs` describes the rest.
//!
//! # Scope of this crate
//!
//! Texts to numbers, and numbers to cosines. A cosine is not a probability: which one is near enough
//! depends on the table and on the texts, and is for the caller to find out.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod compact;
mod error;
mod file;
#[cfg(feature = "model2vec")]
mod import;
mod layout;
mod model;
mod pieces;
mod query;
mod scratch;
mod sum;
mod table;
#[cfg(test)]
mod tests;
#[cfg(feature = "transformer")]
mod transformer;
mod vector;
mod words;

pub use compact::Compact;
pub use error::{Error, ErrorKind};
pub use model::Model;
pub use query::{Query, Vectors};
pub use scratch::Scratch;
pub use table::Table;
#[cfg(feature = "transformer")]
pub use transformer::Transformer;
pub use vector::{Contribution, MAX_TEXT, Vector};
