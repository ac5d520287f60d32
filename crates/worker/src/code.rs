//! The code that a child process runs: a library, or an MCP server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::protocol::Load;

/// The code of a child process, in private copies.
#[derive(Debug, Clone)]
pub enum Code {
    /// A shared library.
    Library(PathBuf),
    /// A program that speaks the Model Context Protocol on its standard streams.
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

    /// Adds to `load` what an MCP server needs, if the code is one.
    pub(super) fn complete(&self, mut load: Load) -> Load {
        if let Code::Server { command, reads, .. } = self {
            load.server = Some(command.clone());
            load.run = reads.iter().map(|path| path.clone().into_os_string()).collect();
            load.run.push(load.library.clone());
            // Limit data instead of address space, because interpreters reserve far more addresses than
            // they use.
            load.data = load.address_space.take();
        }
        load
    }
}
