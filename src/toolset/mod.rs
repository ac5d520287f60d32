//! Tools of shared-library plugins, which skills name in `path:Class` entries.
//!
//! An entry is resolved to a file below its skill (`entry.rs`), which is checked, trusted, copied
//! (`loader.rs`, `copies.rs`) and opened (`library.rs`) in a child process (`worker/`) or in this one; its
//! [`Tools`] (`tool.rs`) are listed and called by name (`registry.rs`). What a library says of its
//! tools is kept (`descriptions.rs`, `notes.rs`), so that the next list runs nothing, until nobody uses it
//! (`collect.rs`); arguments are checked where the tool runs (`schema/`). One bad toolset never stops another:
//! one that could not be loaded is among the [`ToolFailure`]s.

mod cache_file;
mod collect;
mod copies;
mod descriptions;
mod entry;
mod error;
mod examine;
mod in_process;
mod library;
mod library_cache;
mod loader;
#[cfg(feature = "mcp-toolsets")]
mod program;
mod registry;
mod rights;
mod schema;
mod shared_init;
mod tool;
mod worker;

use crate::private_dir;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

pub use crate::sandbox::{FilesystemLevel, NetworkLevel, SandboxLevel};
pub use crate::trust::{Approval, TrustRequest};
pub use collect::collect_cache;
pub use entry::ToolsetEntry;
#[cfg(feature = "mcp-toolsets")]
pub use program::server_files;
pub use repertoire_plugin::host::{C_HEADER, OpenError, PluginNote, TARGET};
pub use repertoire_plugin::{Host, LogLevel, ToolOutput};
pub use rights::RightsRequest;
pub use tool::{Tool, ToolFailure, Tools};
pub use worker::{HostProgram, Limits, WorkerState, main as worker_main};

pub(crate) use examine::{Fault, examine};
pub(crate) use registry::{Toolsets, Until};

/// The processes in which plugins run.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in an engine")]
pub enum Isolation {
    /// Each library in a child process of its own: whatever it does is that call's error.
    Process {
        /// The program that runs the child.
        program: HostProgram,
        /// The limits of the child.
        limits: Limits,
    },
    /// In this process: ten times faster, and only for libraries that deserve it. A crash or an
    /// endless loop of the plugin is one of this process.
    InProcess,
}

/// The tools that are offered for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolPolicy {
    /// Those of skills that are disclosed in full.
    #[default]
    Disclosed,
    /// Those of every skill the model may use.
    All,
}

/// Options for loading toolsets.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolsetOptions {
    /// The processes in which plugins run.
    pub isolation: Isolation,
    /// The tools that are offered for a query.
    pub policy: ToolPolicy,
    /// Directory for private copies of libraries and for the descriptions of their tools, both named
    /// by hashes; `None` is a temporary one, and descriptions are kept in memory.
    pub cache: Option<PathBuf>,
    /// Configuration of classes, by `skill:Class` or `Class`; `{}` for others.
    pub config: Map<String, Value>,
    /// Configuration by the project's author, for classes of the project's skills only, where it
    /// wins over `config`.
    pub project_config: Map<String, Value>,
    /// Limits of classes, by `skill:Class` or `Class`, instead of those of `isolation`. A library
    /// runs in a process of its own for each class that has some.
    pub limits: BTreeMap<String, Limits>,
    /// Decides on libraries that are not trusted; `None` refuses them.
    pub approve: Option<Approval>,
}

impl ToolsetOptions {
    /// Plugins in child processes of this program, which must call [`worker_main`] when it is
    /// started with these arguments.
    pub fn in_processes_of(program: HostProgram) -> ToolsetOptions {
        ToolsetOptions::with(Isolation::Process { program, limits: Limits::default() })
    }

    /// Plugins in this process.
    pub fn in_process() -> ToolsetOptions {
        ToolsetOptions::with(Isolation::InProcess)
    }

    fn with(isolation: Isolation) -> ToolsetOptions {
        ToolsetOptions {
            isolation,
            policy: ToolPolicy::default(),
            cache: None,
            config: Map::new(),
            project_config: Map::new(),
            limits: BTreeMap::new(),
            approve: None,
        }
    }
}
