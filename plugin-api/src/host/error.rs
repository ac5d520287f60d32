//! Errors of opening and calling plugins. A message names the file; `help` returns the remedy.

use std::io;
use std::path::PathBuf;

use crate::{ABI_VERSION, ErrorCode, ToolError};

/// The reason why a library cannot be opened as a plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be read.
    #[error("cannot read the plugin `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a shared library, or is incomplete.
    #[error("`{}` is not a usable shared library: {why}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
        /// The remedy.
        help: &'static str,
    },
    /// The file is a shared library, but not a plugin.
    #[error(
        "`{}` is a shared library, but not a plugin: it has no {missing}", path.display()
    )]
    NotAPlugin {
        /// The file.
        path: PathBuf,
        /// The note or symbol that is missing.
        missing: &'static str,
    },
    /// The note or the marker is invalid.
    #[error("the plugin `{}` has an invalid note: {why}", path.display())]
    BadNote {
        /// The file.
        path: PathBuf,
        /// The fault.
        why: String,
    },
    /// The plugin is built for another operating system or processor.
    #[error(
        "the plugin `{}` is built for {found}, this host runs on {ours}",
        path.display()
    )]
    Platform {
        /// The file.
        path: PathBuf,
        /// The platform it is built for.
        found: String,
        /// The platform of this host.
        ours: String,
    },
    /// The plugin is built for another major version of the ABI.
    #[error(
        "the plugin `{}` is built for plugin ABI {}.{}, this host speaks {}.{}",
        path.display(), found.0, found.1, ABI_VERSION.0, ABI_VERSION.1
    )]
    AbiVersion {
        /// The file.
        path: PathBuf,
        /// The plugin's ABI version, `(major, minor)`.
        found: (u32, u32),
    },
    /// The plugin is built with `panic = "abort"`, so a panic in it would end the host.
    #[error(
        "the plugin `{}` is built with `panic = \"abort\"`, so a panic would end this process",
        path.display()
    )]
    PanicAbort {
        /// The file.
        path: PathBuf,
    },
    /// The system's loader rejects the library.
    #[error("the plugin `{}` cannot be loaded: {why}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The loader's message.
        why: String,
    },
    /// The types that cross the border have other layouts in the plugin.
    #[error(
        "the plugin `{}` is built with other types than this host: {summary}", path.display()
    )]
    Layout {
        /// The file.
        path: PathBuf,
        /// The first differences, in one line.
        summary: String,
        /// All differences, in tens of kilobytes.
        full: String,
    },
    /// This host cannot load libraries at all.
    #[error("cannot load the plugin `{}`: {why}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
}

impl OpenError {
    /// Returns the remedy.
    pub fn help(&self) -> String {
        let major = ABI_VERSION.0;
        match self {
            Self::Read { .. } => "check the path and its permissions".to_owned(),
            Self::NotALibrary { help, .. } => (*help).to_owned(),
            Self::NotAPlugin { .. } => {
                "name the library of a toolset; in its own, write `export_toolsets!(…)` at the root of the crate, \
                 with `crate-type = [\"cdylib\"]`, or in C `REPERTOIRE_EXPORT`"
                    .to_owned()
            }
            Self::BadNote { .. } | Self::AbiVersion { .. } => {
                format!("rebuild it against repertoire-plugin {major}.x")
            }
            Self::Platform { ours, .. } => {
                format!("build it for this platform, {ours}")
            }
            Self::PanicAbort { .. } => "remove that setting from its profile and rebuild it, or \
                                        run it in a process of its own"
                .to_owned(),
            Self::Load { .. } => "install the library or symbol it lacks, or rebuild it on this \
                                  system"
                .to_owned(),
            Self::Layout { .. } => {
                format!("rebuild it against repertoire-plugin {major}.x from the registry")
            }
            Self::Unsupported { .. } => {
                "use a host that is linked dynamically, as for the target `…-linux-gnu`".to_owned()
            }
        }
    }
}

/// The reason why a toolset cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The library has no class of this name.
    #[error("the plugin `{}` has no class `{class}`", path.display())]
    NoClass {
        /// The library.
        path: PathBuf,
        /// The requested class.
        class: String,
        /// The classes it has.
        have: Vec<String>,
    },
    /// The toolset's own `create` failed or panicked, or its description is invalid.
    #[error("the toolset `{class}` of {} cannot be created: {message}", origin(path.as_ref()))]
    Create {
        /// The library; `None` for a built-in toolset.
        path: Option<PathBuf>,
        /// The class.
        class: String,
        /// The kind of failure.
        code: ErrorCode,
        /// The toolset's message.
        message: String,
    },
}

impl CreateError {
    /// Returns the remedy.
    pub fn help(&self) -> String {
        match self {
            Self::NoClass { have, .. } => {
                format!("it has {}; fix the entry, or export the class", list(have))
            }
            Self::Create { code: ErrorCode::InvalidArguments, .. } => {
                "fix the configuration of the class".to_owned()
            }
            Self::Create { .. } => "fix the toolset, or the configuration of its class".to_owned(),
        }
    }
}

/// The failure of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// The kind of failure.
    pub code: ErrorCode,
    /// The tool's message, for the model.
    pub message: String,
}

impl From<ToolError> for CallError {
    fn from(error: ToolError) -> Self {
        Self { code: error.code(), message: error.message().to_owned() }
    }
}

fn list(names: &[String]) -> String {
    let quoted = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}

fn origin(path: Option<&PathBuf>) -> String {
    path.map_or_else(|| "this program".to_owned(), |path| format!("`{}`", path.display()))
}
