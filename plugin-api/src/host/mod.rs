//! For hosts, not for authors: inspect a plugin without running it, open it, call its tools.
//!
//! This module opens one file and trusts it. Finding the file, containing it in its skill, asking
//! for trust, copying it to a private place and isolating it in a child process are the tasks of
//! the engine.
//!
//! ```no_run
//! use repertoire_plugin::host::{Library, PluginNote};
//! use repertoire_plugin::{FakeHost, serde_json::json};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = std::path::Path::new("/cache/0123abcd.so");
//! let note = PluginNote::read(path)?; // runs nothing
//! println!("{} {} has {:?}", note.name, note.version, note.classes);
//!
//! let library = Library::open(path)?;
//! let toolset = library.create("HelloToolset", &json!({}))?;
//! let output = toolset.call("greet", r#"{"name": "Ada"}"#, &FakeHost::new())?;
//! println!("{}", output.output);
//! # Ok(())
//! # }
//! ```

/// The target triple of this host, as in `x86_64-unknown-linux-gnu`: the directory of a skill's
/// libraries for it.
pub const TARGET: &str = env!("REPERTOIRE_PLUGIN_TARGET");

/// The header for plugins in C and C++, `include/repertoire.h`.
pub const C_HEADER: &str = include_str!("../../include/repertoire.h");

mod error;
mod library;
mod note;
mod toolset;

pub use error::{CallError, CreateError, OpenError};
pub use library::{Library, OpenOptions};
pub use note::PluginNote;
pub use toolset::Toolset;

pub use crate::{ErrorCode, Host, LogLevel, ToolOutput, ToolSpec, ToolsetDescription};

/// Hosts call from many threads.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Library>();
    is_shared::<Toolset>();
    is_shared::<OpenError>();
};
