//! Connections of the engine to agents: hooks, MCP, and HTTP on the loopback.

pub mod hook;
mod json;
#[cfg(feature = "mcp")]
mod loopback;
#[cfg(feature = "mcp")]
pub mod mcp;

#[cfg(feature = "mcp")]
pub use loopback::serve_loopback;
