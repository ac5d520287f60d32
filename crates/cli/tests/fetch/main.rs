//! Fetched skills, as a user would use them: real git repositories, directories and archives.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/binary.rs"]
mod binary;
#[path = "../../../../tests/support/ports.rs"]
mod ports;
#[path = "../../../../tests/support/mod.rs"]
mod support;

mod add;
mod agents;
#[cfg(feature = "archive-https")]
mod archive_attacks;
#[cfg(feature = "archive-https")]
mod archive_https;
mod clipboard;
mod collect;
#[cfg(feature = "object-store")]
mod fleet;
mod git_settings;
mod hostile;
#[cfg(feature = "mcp-source-tls")]
mod https;
mod installed;
mod left_out;
mod library;
mod mcp;
mod mcp_server;
#[cfg(feature = "object-store")]
mod object_store;
#[cfg(feature = "oci")]
mod oci;
mod one_more;
mod poll;
mod preview;
mod push;
mod repository;
#[cfg(any(feature = "archive-https", feature = "object-store", feature = "oci"))]
mod server;
mod serving;
mod sign;
mod signals;
mod signature_demands;
mod signatures;
mod signed;
mod update;
#[cfg(feature = "archive-https")]
mod web;
#[cfg(feature = "archive-https")]
mod well_known;
mod zip;
mod zip_file;
