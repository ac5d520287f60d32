//! MCP servers that serve skills through the extension `io.modelcontextprotocol/skills`.
//!
//! A server lists its skills with the digest of each file (`manifest.rs`). A file is accepted only if it
//! matches its digest, and the front matter of a skill only if it equals that of the entry in the list.
//! The server is either a program (`program.rs`) or reached over HTTP (`http.rs`). `connection.rs`
//! limits the time and the bytes of both.

mod address;
#[cfg(feature = "mcp-source")]
mod connection;
#[cfg(feature = "mcp-source")]
mod http;
#[cfg(feature = "mcp-source")]
mod manifest;
#[cfg(feature = "mcp-source")]
mod program;
#[cfg(feature = "mcp-source")]
mod provider;

pub use address::McpAddress;
pub(super) use address::{is_mcp, path_of_skill};
#[cfg(feature = "mcp-source")]
pub(super) use provider::Mcp;
