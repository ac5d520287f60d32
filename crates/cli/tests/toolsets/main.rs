//! Toolsets: libraries in Rust, C and C++, and MCP servers, which skills contain. Tested from the
//! source code to a call, in this process, in a child and with the real binary.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod abi;
#[path = "../support/binary.rs"]
mod binary;
mod build;
mod built_trust;
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
mod c;
mod channels;
mod cli;
mod consent;
#[expect(clippy::print_stdout, reason = "it names the row that fails")]
mod failures;
mod inspected;
mod odd_lines;
mod odd_tools;
#[path = "../../../../tests/support/plugin.rs"]
mod plugin;
#[path = "../../../../tests/support/probes.rs"]
mod probes;
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
mod servers;
mod shown_rights;
mod shown_ways;
#[path = "../support/told.rs"]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
mod told;
mod trusted_tools;
#[expect(clippy::print_stdout, reason = "it names the command that fails")]
mod tutorial;
