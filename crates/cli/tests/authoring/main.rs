//! Help for authors: findings about single skills and about several compared.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "so does what runs the binary")]

#[path = "../support/binary.rs"]
mod binary;
mod check;
mod fix;
mod lint;
mod page;
#[path = "../../../../tests/support/mod.rs"]
mod support;
