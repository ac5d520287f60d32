//! What connects the engine to agents.

pub mod hook;
#[cfg(feature = "mcp")]
mod loopback;
#[cfg(feature = "mcp")]
pub mod mcp;

#[cfg(feature = "mcp")]
pub use loopback::serve_loopback;
