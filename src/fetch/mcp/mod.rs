//! MCP servers that serve skills by the extension `io.modelcontextprotocol/skills`.
//!
//! A server lists its skills with the digest of each file (`manifest.rs`); a file counts only if it
//! is the one that was listed, and the front matter of a skill only if it is that of the entry. The
//! server is a program (`program.rs`) or is reached over HTTP (`http.rs`); `connection.rs` bounds
//! the time and the bytes of both.

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
