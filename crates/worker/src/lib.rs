//! Toolsets in a process of their own, so that a crash is only an error of the current call.
//!
//! A [`Worker`] stands for one library. It starts its child process at the first call, keeps it warm,
//! and starts a new one after a crash. Three crashes within a minute, or a start that takes too long,
//! disable it for a while. The child is a program that calls [`main`]. It gives up rights before it
//! opens the library. When the socket to the host closes, even because the host was killed, the child
//! ends with all processes that it started.
//!
//! - `protocol`: the messages between host and child, and their framing.
//! - `worker`: the host's side of a library. `process` and `running` handle one child, `call` and
//!   `wait` one call.
//!   `started` ends what calls leave running.
//! - `shared`: starts the child and makes toolsets (`opening`) on a separate thread. `health` counts
//!   the failures of a library.
//! - `schema`: the arguments of tools, brought into the form that a schema asks for, and checked. `sizes`: the
//!   limits on what a toolset offers.
//! - `child`: the child's side, which gives up rights with `repertoire_system::sandbox`. `caller` is the host as a
//!   toolset sees it, `serving` the toolsets of a library, and `mcp` those of an MCP server.
#![cfg_attr(docsrs, feature(doc_cfg))]

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
#[cfg(unix)]
mod looking;
#[cfg(all(unix, feature = "mcp"))]
mod mcp;
#[cfg(feature = "mcp")]
pub mod mcp_lines;
#[cfg(all(unix, feature = "mcp"))]
mod mcp_tools;
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
pub mod schema;
#[cfg(unix)]
mod serving;
mod shared;
pub mod sizes;
#[cfg(unix)]
mod started;
#[cfg(unix)]
mod supervised;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
mod wait;
mod worker;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use code::Code;
pub use error::WorkerError;
pub use limits::{HostProgram, Limits};
pub use worker::{Worker, WorkerState};

#[cfg(unix)]
pub use child::main;
#[cfg(not(unix))]
pub use process::main;

/// Locks a mutex, even a poisoned one.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
