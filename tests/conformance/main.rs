//! The shared conformance cases: through the library, the command line, and every channel that a
//! message can take.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg_attr(feature = "cli", expect(clippy::panic, reason = "so does what runs the binary"))]

#[cfg(feature = "cli")]
#[path = "../support/binary.rs"]
mod binary;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "cli")]
mod conversations;
mod library;
#[path = "../support/mod.rs"]
mod support;
