//! Write tools for LLM agents in Rust, and ship them inside a skill as a shared library.
//!
//! This crate is all that an author of a toolset needs: one dependency, no `unsafe`, and unit tests
//! with a [`FakeHost`] instead of a library. A whole plugin:
//!
//! ```
//! use repertoire_plugin::prelude::*;
//!
//! #[derive(Default)]
//! pub struct HelloToolset;
//!
//! /// Friendly greetings.
//! #[toolset]
//! impl HelloToolset {
//!     /// Greets somebody by name.
//!     pub fn greet(&self, /** Who to greet */ name: String, times: Option<u32>) -> ToolResult {
//!         Ok(format!("Hello, {name}!\n").repeat(times.unwrap_or(1) as usize).into())
//!     }
//! }
//! export_toolsets!(HelloToolset);
//! ```
//!
//! With `crate-type = ["cdylib"]` in its manifest, a skill uses it as
//! `toolsets: [path/to/hello:HelloToolset]`.
//!
//! # Learn more
//!
//! * [`#[toolset]`](macro@toolset): tools from the functions of an `impl` block
//! * [`Toolset`] and [`Tools`]: the same without macros, and tools whose schema is made at run time
//! * [`ToolOutput`] and [`ToolError`]: the answer and the error of a tool, and `?` on any error
//! * [`ToolContext`]: cancellation, progress, log, deadline, the skill's directory
//! * [`FakeHost`]: unit tests
//!
//! # Panics, threads and async
//!
//! A panic in a tool is that call's error and names the file and line; do not set `panic =
//! "abort"`, with which it would end the host. Tools are called from several threads at once, so
//! keep mutable state in a `Mutex`. Tools block: a plugin has its own copy of every crate and does
//! not see the host's async runtime. With the feature `block-on`, `block_on` runs a future on a
//! runtime of the plugin's own.
//!
//! Code that cannot be a tool is refused where it is written, and the error says why. A tool
//! without a description, by which a model would choose it:
//!
//! ```compile_fail
//! # use repertoire_plugin::prelude::*;
//! # #[derive(Default)]
//! # struct Hello;
//! #[toolset]
//! impl Hello {
//!     // error: the tool `greet` has no doc comment: it is the description by which the model
//!     // chooses the tool (a helper is not `pub`)
//!     pub fn greet(&self) -> ToolResult { Ok("Hello".into()) }
//! }
//! ```
//!
//! A tool that would need the host's async runtime:
//!
//! ```compile_fail
//! # use repertoire_plugin::prelude::*;
//! # #[derive(Default)]
//! # struct Hello;
//! #[toolset]
//! impl Hello {
//!     /// Greets.
//!     // error: the tool `greet` cannot be `async`: a plugin has its own copy of the async
//!     // runtime and does not see the host's; use `repertoire_plugin::block_on` inside
//!     pub async fn greet(&self) -> ToolResult { Ok("Hello".into()) }
//! }
//! ```
//!
//! A tool that two threads could not call at once:
//!
//! ```compile_fail
//! # use repertoire_plugin::prelude::*;
//! # #[derive(Default)]
//! # struct Hello(u32);
//! #[toolset]
//! impl Hello {
//!     /// Counts.
//!     // error: the tool `count` takes `&self`: tools run at the same time, so keep what changes
//!     // in a `Mutex`
//!     pub fn count(&mut self) -> ToolResult { self.0 += 1; Ok("counted".into()) }
//! }
//! ```
//!
//! # Versions
//!
//! The border between host and plugin has a version of its own, [`ABI_VERSION`]. Within its major
//! version every plugin works with every host, older or newer, debug or release, of any compiler.
//!
//! # Features
//!
//! * `block-on`: `block_on`, and the crate `tokio` that it runs on
//! * `host`: for hosts, not for authors: inspecting, opening and calling plugins

extern crate self as repertoire_plugin;

mod abi;
mod arguments;
mod context;
mod description;
mod error;
#[cfg(feature = "block-on")]
mod executor;
mod export;
mod fake_host;
#[cfg(feature = "host")]
pub mod host;
mod output;
mod panics;
pub mod prelude;
mod schema;
mod tools;

pub use arguments::NoArguments;
pub use context::{Host, LogLevel, ToolContext};
pub use description::{ToolSpec, ToolsetDescription};
pub use error::{ErrorCode, ToolError, ToolResult};
#[cfg(feature = "block-on")]
pub use executor::block_on;
pub use fake_host::FakeHost;
pub use output::ToolOutput;
pub use repertoire_plugin_macros::{arguments, toolset};
pub use schemars;
/// The version of serde that this crate uses. [`#[arguments]`](macro@arguments) derives with it;
/// another derive has to be told where it is: `#[serde(crate = "repertoire_plugin::serde")]`.
pub use serde;
pub use serde_json;
/// The version of tokio on which [`block_on`] runs; further features of it, such as `net`, are turned
/// on by a dependency of the plugin's own on the same major version.
#[cfg(feature = "block-on")]
pub use tokio;
pub use tools::{Tool, Tools, Toolset, create_default, describe};

/// The version of the border, `(major, minor)`.
///
/// A host loads a plugin of the same major version; a minor version only adds.
pub const ABI_VERSION: (u32, u32) = (1, 0);
/// The same, as it stands in a note.
pub(crate) const ABI_VERSION_JSON: &str = "[1,0]";

/// Items for the code that the macros write; not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
    pub use serde_json;

    pub use crate::abi::note::{BUILD, Marker, Note, length};
    pub use crate::abi::plugin::{Class, Header, Plugin, header};
    pub use crate::arguments::parse_config;
    pub use crate::schema::parameters_of;
}
