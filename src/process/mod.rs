//! Starting programs: finds the interpreter of a script or of an MCP server, and watches the first line
//! of a program that should be a server.

#[cfg(feature = "mcp-toolsets")]
pub mod first_line;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
mod interpreter;

#[cfg(feature = "scripts")]
pub(crate) use interpreter::is_marked;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
pub(crate) use interpreter::{NoRunner, Runner, Search, search_path};
