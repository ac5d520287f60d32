//! How programs of skills are started: the interpreter of a script or of an MCP server, and whether a
//! program speaks as a server.

#[cfg(any(feature = "mcp-source", feature = "mcp-toolsets"))]
pub(crate) mod first_line;
mod interpreter;

#[cfg(feature = "scripts")]
#[cfg(feature = "scripts")]
pub(crate) use interpreter::is_marked;
pub(crate) use interpreter::{NoRunner, Runner, Search, absolute_only};
