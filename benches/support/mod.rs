//! Helpers that the benchmarks of the matcher share.

pub(crate) mod adversary;
pub(crate) mod catalog;
pub(crate) mod scan;
pub(crate) mod usual;
pub(crate) mod words;
