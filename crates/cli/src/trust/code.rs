//! The code that `repertoire trust` manages: the files that can run, and the skills that they belong to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repertoire::script::Scripts;
use repertoire::skill::ToolsetRights;
use repertoire::toolset::{ToolsetEntry, server_files};
use repertoire::trust::{Owner, TrustedFile};
use repertoire::{Error, ErrorCode};
use walkdir::WalkDir;

use super::{skill_at, skill_in};
use crate::args::Common;

/// The extensions of libraries, on any system.
const LIBRARY_EXTENSIONS: [&str; 3] = ["so", "dylib", "dll"];

/// A file that can run, and the skill that it belongs to.
pub(super) struct Code {
    pub(super) file: PathBuf,
    /// `None` if the file does not belong to a skill.
    pub(super) owner: Option<Owner>,
}

impl Code {
    pub(super) fn of_skill(file: PathBuf, owner: &Owner) -> Code {
        Code { file, owner: Some(owner.clone()) }
    }

    /// Returns the rights that a script gets when it is trusted; none for a library or a server.
    pub(super) fn script_rights(&self) -> ToolsetRights {
        let owner = self.owner.as_ref().filter(|_| !self.has_tools());
        owner.map(|owner| owner.script_rights.resolved()).unwrap_or_default()
    }

    /// Returns what is known of the file, of those that were trusted before.
    pub(super) fn known_in<'a>(&self, before: &'a [TrustedFile]) -> Option<&'a TrustedFile> {
        let path = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        before.iter().find(|file| file.path == path)
    }

    /// Returns true for a library, and for an MCP server that the skill ships.
    pub(super) fn has_tools(&self) -> bool {
        let is_it = |owner: &Owner, entry: &ToolsetEntry| {
            let program = entry.library(&owner.dir).ok().and_then(|path| path.canonicalize().ok());
            program.is_some() && program == self.file.canonicalize().ok()
        };
        let is_server = |owner: &Owner| {
            let entries = owner.toolsets.iter().filter_map(|entry| entry.parse().ok());
            entries.filter(ToolsetEntry::is_server).any(|entry| is_it(owner, &entry))
        };
        is_library(&self.file) || self.owner.as_ref().is_some_and(is_server)
    }

    /// Returns the directory of the file's skill, with links followed.
    pub(super) fn skill_dir(&self) -> Option<PathBuf> {
        self.owner.as_ref()?.dir.canonicalize().ok()
    }

    /// Returns the path of the file in the directory of its skill, or else the path unchanged.
    pub(super) fn name(&self) -> String {
        let of_skill = self.owner.as_ref().and_then(|owner| {
            let dir = owner.dir.canonicalize().ok()?;
            self.file.canonicalize().ok()?.strip_prefix(dir).map(Path::to_owned).ok()
        });
        of_skill.as_deref().unwrap_or(&self.file).to_string_lossy().into_owned()
    }
}

/// Returns the code that `paths` mean, each file once.
pub(super) fn code_of(paths: &[PathBuf], common: &Common) -> anyhow::Result<Vec<Code>> {
    let mut all: Vec<Code> = Vec::new();
    for path in paths {
        for code in code_at(path, common)? {
            if !all.iter().any(|known| known.file == code.file) {
                all.push(code);
            }
        }
    }
    all.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(all)
}

/// Returns the files that `path` means: the file itself, or the code of a skill.
fn code_at(path: &Path, common: &Common) -> anyhow::Result<Vec<Code>> {
    if path.is_file() {
        // The trust store follows links as well.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        return Ok(vec![Code { owner: owner_of(&file), file }]);
    }
    let owner = skill_at(path, common)?;
    let files = code_files(&owner)?;
    if files.is_empty() {
        return Err(Error::new(
            ErrorCode::NotFound,
            format!("the skill {} has no code to trust", owner.dir.display()),
            "its libraries belong into `toolsets/`, its scripts into `scripts/`",
        )
        .into());
    }
    Ok(files.into_iter().map(|file| Code::of_skill(file, &owner)).collect())
}

/// Returns the libraries, MCP servers and scripts of a skill.
pub(crate) fn code_files(owner: &Owner) -> Result<BTreeSet<PathBuf>, Error> {
    let mut files = libraries_of(&owner.dir);
    files.extend(Scripts::compared_files(owner)?);
    for file in server_files(owner)? {
        files.insert(file.canonicalize().unwrap_or(file));
    }
    Ok(files)
}

/// Returns the skill that the file at `path` belongs to: the nearest one above it.
pub(super) fn owner_of(path: &Path) -> Option<Owner> {
    std::path::absolute(path).ok()?.ancestors().skip(1).find_map(skill_in)
}

pub(super) fn is_library(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| LIBRARY_EXTENSIONS.contains(&extension))
}

/// Returns the libraries of the skill in `dir`. Files outside of it, to which a link leads, are left
/// out.
fn libraries_of(dir: &Path) -> BTreeSet<PathBuf> {
    let Ok(root) = dir.canonicalize() else { return BTreeSet::new() };
    let walk = WalkDir::new(root.join("toolsets")).into_iter().filter_map(Result::ok);
    walk.filter_map(|entry| entry.path().canonicalize().ok())
        .filter(|path| path.is_file() && path.starts_with(&root) && is_library(path))
        .collect()
}
