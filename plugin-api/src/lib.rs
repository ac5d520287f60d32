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
//! With `crate-type = ["cdylib"]` in the crate's `Cargo.toml`, a skill names the toolset as
//! `toolsets: [path/to/hello:HelloToolset]`.
//!
//! # Learn more
//!
//! * [`#[toolset]`](macro@toolset): tools from the functions of an `impl` block
//! * [`Toolset`] and [`Tools`]: the same without macros, and tools whose schema is built at run time
//! * [`ToolOutput`] and [`ToolError`]: the result and the error of a tool, and `?` on any error
//! * [`ToolContext`]: cancellation, progress, log, deadline, the skill's directory
//! * [`FakeHost`]: unit tests
//!
//! # Panics, threads and async
//!
//! A panic in a tool becomes the error of that call and names the file and line. Do not set `panic =
//! "abort"`: a panic would then end the host. The host calls tools from several threads at once, so
//! keep mutable state in a `Mutex`. Tools block: a plugin has its own copy of every crate and does not
//! see the host's async runtime. With the feature `block-on`, the function `block_on` runs a future on
//! a runtime that the plugin owns.
//!
//! Code that cannot be a tool fails to compile, and the error says why. For example, a tool needs a
//! description, because the model chooses tools by their descriptions:
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
//! A tool cannot be `async`, because it does not see the host's runtime:
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
//! A tool cannot take `&mut self`, because several threads may call it at once:
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
//! The ABI boundary between host and plugin, called the border, has its own version: [`ABI_VERSION`].
//! Within one major version every plugin works with every host: older or newer, debug or release, built
//! by any compiler.
//!
//! # Features
//!
//! * `block-on`: the function `block_on`, and the crate `tokio`, which provides its runtime
//! * `host`: for hosts only, to inspect, open and call plugins; plugin authors do not need it
#![cfg_attr(docsrs, feature(doc_cfg))]

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
/// The version of serde that this crate uses. [`#[arguments]`](macro@arguments) derives with it; any
/// other derive must name its path: `#[serde(crate = "repertoire_plugin::serde")]`.
pub use serde;
pub use serde_json;
/// The version of tokio on which [`block_on`] runs. To enable more of its features, such as `net`, let
/// the plugin depend on the same major version of tokio itself.
#[cfg(feature = "block-on")]
pub use tokio;
pub use tools::{Tool, Tools, Toolset, create_default, describe};

/// The version of the plugin ABI, `(major, minor)`.
///
/// A host loads only plugins of its own major version; a new minor version only adds to the ABI.
pub const ABI_VERSION: (u32, u32) = (1, 0);
/// [`ABI_VERSION`] as JSON, as a plugin's note contains it.
pub(crate) const ABI_VERSION_JSON: &str = "[1,0]";

/// Items for the code that the macros generate; not part of the public API.
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
