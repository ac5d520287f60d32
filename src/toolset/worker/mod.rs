//! Plugins in a process of their own, so that a crash is one call's error.
//!
//! A [`Worker`] is one library. It starts its child at the first call, keeps it warm, and starts
//! it again after a crash; three crashes within a minute, or a start that takes too long, disable it
//! for a while. The child is a program that
//! calls [`main`]: it gives up rights before it opens the library, and ends, with all that it
//! started, when the socket to the host closes, however the host died.
//!
//! - `protocol`: the messages of both sides, and their framing.
//! - `worker`: the host's half of a library; `process` and `running`, of one child; `call` and
//!   `wait`, of one call.
//! - `shared`: starting the child and making toolsets (`opening`), on a thread of its own;
//!   `health`: the failures of a library.
//! - `child`: the child's half, which gives up rights by `crate::sandbox`; `caller`, the host as a
//!   toolset knows it; `serving`, the toolsets of a library; `mcp`, those of an MCP server.

#[cfg_attr(not(unix), expect(dead_code, reason = "for child processes, which need Unix"))]
mod call;
#[cfg(unix)]
mod caller;
#[cfg(unix)]
mod child;
#[cfg_attr(not(unix), expect(dead_code, reason = "for child processes, which need Unix"))]
mod code;
mod error;
mod health;
mod limits;
#[cfg(all(unix, feature = "mcp-toolsets"))]
mod mcp;
mod opening;
#[cfg(unix)]
mod output;
#[cfg(unix)]
mod process;
#[cfg(not(unix))]
#[path = "unsupported.rs"]
mod process;
#[cfg_attr(not(unix), expect(dead_code, reason = "for child processes, which need Unix"))]
mod protocol;
mod running;
#[cfg(unix)]
mod serving;
mod shared;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod wait;
#[expect(clippy::module_inception, reason = "it is what the module is about")]
mod worker;

pub(crate) use code::Code;
pub(crate) use error::WorkerError;
pub use limits::{HostProgram, Limits};
pub(crate) use worker::Worker;
pub use worker::WorkerState;

#[cfg(unix)]
pub use child::main;
#[cfg(not(unix))]
pub use process::main;
