//! The words of a text, and what is known about words in the languages of the world: stems, everyday words, pairs
//! of characters where no blanks stand between words, and how descriptions deny a use.

pub mod exclusions;
pub mod hash;
pub mod identifiers;
pub mod languages;
pub mod terms;

mod everyday;
mod stem;
mod stop_words;
mod unspaced;

pub use everyday::{has_word, is_everyday};
pub use stop_words::STOP_WORDS;
pub use unspaced::is_paired;
