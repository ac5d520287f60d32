//! What connects the engine to agents.

pub mod hook;
mod host_tools;
mod parameters;

pub use host_tools::{HostTools, HostToolsOptions};
