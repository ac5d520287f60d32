//! What connects the engine to agents.

mod host_tools;
mod parameters;

pub use host_tools::{HostTools, HostToolsOptions};
