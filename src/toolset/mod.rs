//! Tools from shared-library plugins and MCP servers, which skills ship and name in `path:Class`
//! entries.
//!
//! An entry is resolved to a file below its skill (`entry.rs`). The file is checked and must be trusted
//! (`loader.rs`), is copied (`copies.rs`) and opened (`library.rs`), in a child process (`worker/`) or in
//! this one. Its [`Tools`] (`tool.rs`) are listed, and called by name (`registry.rs`). Descriptions of
//! tools (`descriptions.rs`) and facts about library files (`library_cache.rs`) are cached, so that the
//! next listing runs nothing; what nobody uses for long is removed (`collect.rs`). Arguments are checked
//! where the tool runs (`schema/`). The texts of a toolset are limited, and compared with those that were
//! trusted (`pins.rs`). A toolset that cannot be loaded is reported as a [`ToolFailure`],
//! and does not affect the others.

mod cache_file;
mod collect;
mod copies;
mod descriptions;
mod entry;
mod error;
pub mod examine;
mod in_process;
mod library;
mod library_cache;
mod loader;
mod pins;
#[cfg(feature = "mcp-toolsets")]
mod program;
mod registry;
mod rights;
mod shared_init;
mod tool;

use std::collections::BTreeMap;
use std::path::PathBuf;

use repertoire_system::private_dir;
use serde_json::{Map, Value};

pub use crate::trust::{Approval, TrustRequest};
pub use collect::collect_cache;
pub use entry::ToolsetEntry;
#[cfg(feature = "mcp-toolsets")]
pub use program::server_files;
pub use repertoire_plugin::host::{C_EXAMPLE, C_HEADER, OpenError, PluginNote, TARGET};
pub use repertoire_plugin::{Host, LogLevel, ToolOutput};
pub use repertoire_system::sandbox::{FilesystemLevel, NetworkLevel, SandboxLevel};
pub use repertoire_worker::{HostProgram, Limits, WorkerState, main as worker_main};
pub use rights::RightsRequest;
pub use tool::{Tool, ToolFailure, Tools};

pub use examine::{Fault, examine};
pub(crate) use registry::{Toolsets, Until};

/// The processes in which plugins run.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in an engine")]
#[non_exhaustive]
pub enum Isolation {
    /// Each library runs in a child process of its own: a crash or an endless loop of the plugin is
    /// only an error of the call.
    Process {
        /// The program to start as the child.
        program: HostProgram,
        /// The limits of the child.
        limits: Limits,
    },
    /// Libraries run in this process. Calls are ten times faster, but a crash or an endless loop of the
    /// plugin affects this process, so use it only for libraries that deserve such trust.
    InProcess,
}

/// The tools that are offered for a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ToolPolicy {
    /// The tools of skills that are disclosed in full.
    #[default]
    Disclosed,
    /// The tools of every skill that the model may use.
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
    /// The directory for private copies of libraries and for the descriptions of their tools, both
    /// named by hashes. With `None`, copies are in a temporary directory, and descriptions are kept in
    /// memory.
    pub cache: Option<PathBuf>,
    /// Configuration of classes, by `skill:Class` or `Class`. A class that is not named gets `{}`.
    pub config: Map<String, Value>,
    /// Configuration by the project's author. It applies only to classes of libraries of the project's skills,
    /// and takes precedence over `config`. MCP servers have only `config`: theirs starts programs.
    pub project_config: Map<String, Value>,
    /// Limits of single classes, by `skill:Class` or `Class`, in place of the limits in `isolation`. A
    /// library runs in a separate process for each class with limits of its own.
    pub limits: BTreeMap<String, Limits>,
    /// Limits of classes of the project's own skills, in place of `limits`, where its settings narrow them.
    pub project_limits: BTreeMap<String, Limits>,
    /// Decides whether a library that is not trusted may run. With `None`, it is refused.
    pub approve: Option<Approval>,
}

impl ToolsetOptions {
    /// Runs plugins in child processes that run `program`. When it is started with the arguments named
    /// there, the program must call [`worker_main`].
    pub fn in_processes_of(program: HostProgram) -> ToolsetOptions {
        ToolsetOptions::with(Isolation::Process { program, limits: Limits::default() })
    }

    /// Runs plugins in this process.
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
            project_limits: BTreeMap::new(),
            approve: None,
        }
    }
}
