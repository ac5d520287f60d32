//! What connects the engine to agents.

pub mod hook;
mod host_tools;
#[cfg(feature = "mcp")]
mod loopback;
#[cfg(feature = "mcp")]
pub mod mcp;
mod parameters;

pub use host_tools::{CallIo, HostTools, HostToolsOptions};
#[cfg(feature = "mcp")]
pub use loopback::serve_loopback;
