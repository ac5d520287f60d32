//! The `repertoire` binary.
fn main() {}
