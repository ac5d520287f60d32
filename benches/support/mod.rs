//! What the benchmarks of the matcher share.

pub mod catalog;
pub mod usual;
pub mod words;
