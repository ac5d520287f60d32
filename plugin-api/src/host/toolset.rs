//! A toolset of a plugin, or of this program.

use std::fmt;
use std::path::Path;

use serde_json::Value;

use super::{CallError, CreateError};
use crate::abi::host::Instance;
use crate::{Host, ToolError, ToolOutput, ToolResult, ToolsetDescription};

/// A toolset that is ready to be called, from several threads at once.
pub struct Toolset {
    instance: Instance,
    description: ToolsetDescription,
}

impl Toolset {
    /// Creates a toolset that is part of this program, called in the same way as one of a library. Use
    /// it for built-in toolsets and in tests.
    ///
    /// This installs a panic hook, which records where a tool panicked; panics outside of tools still
    /// go to the previous hook.
    pub fn of<T: crate::Toolset>(config: &Value) -> Result<Self, CreateError> {
        Self::new(Instance::of::<T>(config), crate::tools::class_of::<T>(), None)
    }

    pub(super) fn new(
        made: ToolResult<Instance>,
        class: &str,
        path: Option<&Path>,
    ) -> Result<Self, CreateError> {
        let failed = |error: ToolError| CreateError::Create {
            path: path.map(Path::to_owned),
            class: class.to_owned(),
            code: error.code(),
            message: error.message().to_owned(),
        };
        let instance = made.map_err(failed)?;
        let mut description = instance.description().map_err(failed)?;
        class.clone_into(&mut description.class);
        Ok(Self { instance, description })
    }

    /// Returns the tools and their purpose; `class` is the name under which the toolset was created.
    pub fn describe(&self) -> &ToolsetDescription {
        &self.description
    }

    /// Calls a tool with the JSON text of its arguments, and waits until it ends.
    ///
    /// A panic in the tool is an error with [`ErrorCode::Panicked`](crate::ErrorCode::Panicked).
    /// The tool stops early only if it asks whether `host` is cancelled. A panic in a method of
    /// `host` does not reach the plugin: it counts as "cancelled", or as a failed request.
    pub fn call(
        &self,
        tool: &str,
        arguments: &str,
        host: &dyn Host,
    ) -> Result<ToolOutput, CallError> {
        self.instance.call(tool, arguments, host).map_err(CallError::from)
    }
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolset").field("class", &self.description.class).finish_non_exhaustive()
    }
}
