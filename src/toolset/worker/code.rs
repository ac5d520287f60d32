//! The code that a child process runs: a library, or an MCP server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The code of a child process, in private copies.
#[derive(Debug, Clone)]
pub(crate) enum Code {
    /// A shared library.
    Library(PathBuf),
    /// A program that speaks the Model Context Protocol on its standard streams.
    #[cfg_attr(not(feature = "mcp-toolsets"), expect(dead_code, reason = "needs a client"))]
    Server {
        /// The directory of the program and of the files next to it.
        dir: PathBuf,
        /// The command line: the interpreter, if one is needed, and the program.
        command: Vec<OsString>,
        /// The directories that the interpreter reads.
        reads: Vec<PathBuf>,
    },
}

impl Code {
    /// The file or the directory that the child opens.
    pub(super) fn path(&self) -> &Path {
        match self {
            Code::Library(path) | Code::Server { dir: path, .. } => path,
        }
    }
}
