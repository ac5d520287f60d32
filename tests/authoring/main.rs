//! Help for authors: findings about single skills and about several compared.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg_attr(feature = "cli", expect(clippy::panic, reason = "so does what runs the binary"))]

#[cfg(feature = "cli")]
#[path = "../support/binary.rs"]
mod binary;
#[cfg(feature = "cli")]
mod check;
mod lint;
#[path = "../support/mod.rs"]
mod support;
