//! An MCP server that a skill ships: its files, those of them that are trusted, and the command that
//! starts it.
//!
//! A program may include files next to it, so all files below its directory are read and checked. Only
//! those that are trusted are copied to the place where it runs.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use repertoire_system::confined::{Dir, Kind, Links};
use repertoire_system::process::{
    NoRunner, Runner, Search, installation, not_a_script, search_path,
};
use repertoire_worker::Code;

use super::entry::ToolsetEntry;
use crate::catalog::sub_skill::is_skill;
use crate::error::{Error, ErrorCode};
use crate::trust::{ContentHash, Demand, Owner, TrustStore, Verdict, check_permissions};

/// The most files below the directory of a program.
const MAX_FILES: usize = 2000;
/// The most levels of directories that are searched, that of the program included.
const MAX_DEPTH: usize = 32;
/// The most bytes of all files of a program together.
const MAX_BYTES: u64 = 64 << 20;
/// The directory of Python's compiled modules, which are never run.
const BYTECODE: &str = "__pycache__";

/// An MCP server and the files next to it, as they were when they were checked.
#[derive(Debug)]
pub(super) struct Program {
    /// The hash of the names, modes and contents of all files.
    pub(super) sha256: ContentHash,
    pub(super) files: Vec<File>,
    /// The path of the program, relative to its directory.
    main: PathBuf,
}

/// A file of a program.
#[derive(Debug)]
pub(super) struct File {
    /// The path, relative to the directory of the program.
    pub(super) path: PathBuf,
    /// The path of the author's file, for trust and messages.
    pub(super) shown_as: PathBuf,
    pub(super) sha256: ContentHash,
    pub(super) content: Vec<u8>,
    pub(super) is_executable: bool,
}

impl Program {
    /// Reads the program of an entry, and the files next to it.
    ///
    /// Fails with `NOT_FOUND` if the program does not exist, with `PERMISSION_DENIED` if another user
    /// can change one of the files, and with `INVALID_PARAM` if there are too many or too large files
    /// next to it.
    pub(super) fn read(skill_dir: &Path, entry: &ToolsetEntry) -> Result<Program, Error> {
        let (path, _) = entry.open(skill_dir)?;
        let relative = Path::new(entry.path());
        let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty());
        let main = PathBuf::from(relative.file_name().unwrap_or_default());
        let failed = |error: io::Error| read_error(&path, error);
        let top = Dir::open(skill_dir).map_err(failed)?;
        let dir = top.dir(parent.unwrap_or(Path::new(".")), Links::Never).map_err(failed)?;
        let mut found = Vec::new();
        walk(&dir, Path::new(""), 1, &mut found).map_err(failed)?;
        if found.len() > MAX_FILES {
            return Err(too_much(&path, &format!("more than {MAX_FILES} files")));
        }
        found.sort_unstable();
        let shown_in = path.parent().unwrap_or(Path::new("")).to_owned();
        let (mut files, mut left) = (Vec::with_capacity(found.len()), MAX_BYTES);
        for path_in in found {
            let shown_as = shown_in.join(&path_in);
            let failed = |error: io::Error| read_error(&shown_as, error);
            let file = dir.file(&path_in, Links::Never).map_err(failed)?;
            check_permissions(&shown_as, &file)?;
            let is_executable = is_executable(&file).map_err(failed)?;
            let mut content = Vec::new();
            file.take(left + 1).read_to_end(&mut content).map_err(failed)?;
            left = left
                .checked_sub(content.len() as u64)
                .ok_or_else(|| too_much(&path, &format!("more than {} MiB", MAX_BYTES >> 20)))?;
            let sha256 = ContentHash::of(&content);
            files.push(File { path: path_in, shown_as, sha256, content, is_executable });
        }
        let sha256 = hash(&files);
        Ok(Program { sha256, files, main })
    }

    /// The file of the program itself.
    fn main(&self) -> Option<&File> {
        self.files.iter().find(|file| file.path == self.main)
    }

    /// Drops the files that are not trusted.
    ///
    /// Fails with `PERMISSION_DENIED` if the program itself is not trusted, or if a file of the skill
    /// was added, changed or removed since it was.
    pub(super) fn trusted(
        mut self,
        demand: &Demand<'_>,
        trust: &TrustStore,
    ) -> Result<Program, Error> {
        let main = self.main().map(|main| (main.shown_as.clone(), main.sha256.clone()));
        if let Some((path, sha256)) = &main {
            trust.demand(demand, path, sha256)?;
        }
        let mut trusted = Vec::with_capacity(self.files.len());
        for file in self.files {
            match trust.verdict(demand.owner.scope, &file.shown_as, &file.sha256) {
                Verdict::Trusted => trusted.push(file),
                Verdict::Untrusted => {
                    tracing::debug!(file = %file.shown_as.display(), "withheld from an MCP server");
                }
                Verdict::Changed { .. } => {
                    trust.demand(demand, &file.shown_as, &file.sha256)?;
                    trusted.push(file);
                }
            }
        }
        if let Some((path, sha256)) = &main {
            trust.demand_skill(demand, path, sha256)?;
        }
        self.files = trusted;
        self.sha256 = hash(&self.files);
        Ok(self)
    }

    /// Returns the code for a child to run. The private copies are in `dir`.
    ///
    /// Fails with `EXECUTION_ERROR` if no interpreter on the `PATH` can run it.
    pub(super) fn code(&self, dir: PathBuf) -> Result<Code, Error> {
        let path = search_path(std::env::var_os("PATH"));
        let search = Search { path: &path, node_version: &|_| None };
        let (head, is_executable) =
            self.main().map_or((&[][..], false), |main| (&main.content, main.is_executable));
        let name = self.main.to_string_lossy();
        let runner =
            search.runner(&name, head, is_executable).map_err(|NoRunner { why, help }| {
                Error::new(
                    ErrorCode::ExecutionError,
                    format!("the MCP server `{name}` {why}"),
                    help,
                )
            })?;
        let copy = dir.join(&self.main).into_os_string();
        let (command, reads) = match runner {
            Runner::Itself => (vec![copy], Vec::new()),
            Runner::Program { path: interpreter, args } => {
                let interpreter = not_a_script(interpreter, &path);
                let home = std::env::var_os("HOME").map(PathBuf::from);
                let reads = installation(&interpreter, &path, home.as_deref());
                let args = args.into_iter().map(OsString::from);
                (
                    [interpreter.into_os_string()].into_iter().chain(args).chain([copy]).collect(),
                    reads,
                )
            }
        };
        Ok(Code::Server { dir, command, reads })
    }
}

/// Returns the files of the MCP servers that a skill ships, which run once they are trusted: the
/// programs and the files next to them, in the order of their paths.
///
/// Fails if the files of a server cannot be read, with the same error as starting that server.
pub fn server_files(owner: &Owner) -> Result<Vec<PathBuf>, Error> {
    let entries = owner.toolsets.iter().filter_map(|entry| entry.parse().ok());
    let mut files = Vec::new();
    for entry in entries.filter(ToolsetEntry::is_server) {
        let program = Program::read(&owner.dir, &entry)?;
        files.extend(program.files.into_iter().map(|file| file.shown_as));
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// Collects the regular files below `dir`, whose path is `at`. Skips hidden files, Python bytecode, and
/// the files of sub-skills.
fn walk(dir: &Dir, at: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut dirs = Vec::new();
    let entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
    if depth > 1 && entries.iter().any(is_skill) {
        return Ok(());
    }
    for entry in entries {
        let name = entry.name.to_string_lossy();
        if name.starts_with('.') || name == BYTECODE {
            continue;
        }
        match entry.kind {
            Kind::File => found.push(at.join(&entry.name)),
            Kind::Dir => dirs.push(entry.name),
            _ => {}
        }
    }
    if depth < MAX_DEPTH && found.len() <= MAX_FILES {
        for name in dirs {
            walk(&dir.dir(Path::new(&name), Links::Never)?, &at.join(&name), depth + 1, found)?;
        }
    }
    Ok(())
}

fn hash(files: &[File]) -> ContentHash {
    let line = |file: &File| {
        let mode = if file.is_executable { 'x' } else { '-' };
        format!("{} {mode} {}\n", file.sha256, file.path.display())
    };
    ContentHash::of(files.iter().map(line).collect::<String>().as_bytes())
}

#[cfg(unix)]
fn is_executable(file: &std::fs::File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::File) -> io::Result<bool> {
    Ok(true)
}

fn read_error(path: &Path, error: io::Error) -> Error {
    let message = format!("cannot read the MCP server {}: {error}", path.display());
    let help = "check the file, its permissions, and the files beside it";
    Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
}

fn too_much(path: &Path, what: &str) -> Error {
    let message = format!("there are {what} beside {}", path.display());
    let help = "give the program a directory of its own, or bundle it into one file";
    Error::new(ErrorCode::InvalidParam, message, help)
}
