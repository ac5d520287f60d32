//! The items that almost every toolset needs: `use repertoire_plugin::prelude::*;`.

pub use serde_json::{Value, json};

#[cfg(feature = "block-on")]
pub use crate::block_on;
pub use crate::{
    FakeHost, LogLevel, NoArguments, ToolContext, ToolError, ToolOutput, ToolResult, Tools,
    Toolset, arguments, create_default, export_toolsets, toolset,
};
