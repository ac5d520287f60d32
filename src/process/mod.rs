//! How programs of skills are started: the interpreter of a script or of an MCP server.

mod interpreter;

#[cfg(feature = "scripts")]
#[cfg(feature = "scripts")]
pub(crate) use interpreter::is_marked;
pub(crate) use interpreter::{NoRunner, Runner, Search, absolute_only};
