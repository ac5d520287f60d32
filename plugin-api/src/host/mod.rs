//! For hosts, not for authors: inspect a plugin without running it, open it, call its tools.
//!
//! This module opens one file and trusts it. The engine does the rest: it finds the file, confines it
//! to its skill, asks for trust, copies it to a private place and isolates it in a child process.
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

/// The target triple of this host, such as `x86_64-unknown-linux-gnu`. A skill keeps its libraries for
/// this target in a directory of that name.
pub const TARGET: &str = env!("REPERTOIRE_PLUGIN_TARGET");

/// The header for plugins in C and C++, `include/repertoire.h`.
pub const C_HEADER: &str = include_str!("../../include/repertoire.h");

/// A toolset in C, from which a new one starts.
pub const C_EXAMPLE: &str = include_str!("../../include/toolset.c");

mod error;
mod foreign;
mod library;
mod note;
mod toolset;

pub use error::{CallError, CreateError, OpenError};
pub use library::{Library, OpenOptions};
pub use note::PluginNote;
pub use toolset::Toolset;

pub use crate::{ErrorCode, Host, LogLevel, ToolOutput, ToolSpec, ToolsetDescription};

/// Asserts that hosts can use these types from many threads.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Library>();
    is_shared::<Toolset>();
    is_shared::<OpenError>();
};
