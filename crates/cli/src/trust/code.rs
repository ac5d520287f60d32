//! The code that `repertoire trust` manages: the files that can run, and the skills that they belong to.

use std::collections::{BTreeMap, BTreeSet};
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
    /// True for a library, and for an MCP server that the skill ships.
    pub(super) has_tools: bool,
    /// The classes of a library or a server that the skill uses, each with the rights that it asks for.
    pub(super) classes: BTreeMap<String, ToolsetRights>,
    /// The classes of the servers that may load the file since it is beside them, each with the rights that it asks
    /// for.
    pub(super) beside: BTreeMap<String, ToolsetRights>,
    /// True if the file can run as a script, or scripts beside it read it.
    pub(super) is_of_scripts: bool,
    /// The rights that a script gets when it is trusted; none for other files.
    pub(super) script_rights: ToolsetRights,
}

/// Paths in the rights are absolute, with links followed once, before the user is shown them: a link that leads
/// elsewhere when the user has answered changes nothing.
impl Code {
    pub(super) fn new(file: PathBuf, owner: Option<Owner>) -> Code {
        let mut code = Code {
            has_tools: is_library(&file),
            classes: BTreeMap::new(),
            beside: BTreeMap::new(),
            is_of_scripts: false,
            script_rights: ToolsetRights::default(),
            file,
            owner: None,
        };
        let Some(owner) = owner else { return code };
        code.add_classes(&owner);
        code.has_tools |= !code.classes.is_empty();
        code.is_of_scripts = if code.has_tools {
            has(Scripts::named_files(&owner), &code.file)
        } else {
            code.beside.is_empty() || has(Scripts::compared_files(&owner), &code.file)
        };
        if code.is_of_scripts {
            code.script_rights = owner.script_rights.resolved();
        }
        Code { owner: Some(owner), ..code }
    }

    /// Adds the classes that the file is the program of, and those whose program is above it or beside it.
    fn add_classes(&mut self, owner: &Owner) {
        let Ok(file) = self.file.canonicalize() else { return };
        for text in &owner.toolsets {
            let Ok(entry) = text.parse::<ToolsetEntry>() else { continue };
            let program = entry.library(&owner.dir).ok().and_then(|path| path.canonicalize().ok());
            let Some(program) = program else { continue };
            let dir = program.parent().filter(|_| entry.is_server());
            let classes = match () {
                () if program == file => &mut self.classes,
                () if dir.is_some_and(|dir| file.starts_with(dir)) => &mut self.beside,
                () => continue,
            };
            let asked = owner.toolset_rights.get(text).map(ToolsetRights::resolved);
            let asked = asked.unwrap_or_default();
            let rights = classes.entry(entry.class().to_owned()).or_default();
            rights.network = rights.network.or(&asked.network);
            rights.read.extend(asked.read);
        }
    }

    /// Keeps of a script's rights what the file had when it was trusted as `known`; a library or a server that did not
    /// run as a script does not become one.
    pub(super) fn keep_to(&mut self, known: Option<&TrustedFile>) {
        if !self.has_tools {
            return;
        }
        let had = known.filter(|known| !known.tools_only).map(TrustedFile::script_rights);
        self.is_of_scripts &= had.is_some();
        self.script_rights = self.script_rights.and(&had.unwrap_or_default());
    }

    /// Returns the rights that the classes of a library ask for, by class.
    pub(super) fn asked(&self) -> BTreeMap<String, ToolsetRights> {
        let asked = self.classes.iter().filter(|(_, rights)| !rights.is_empty());
        asked.map(|(class, rights)| (class.clone(), rights.clone())).collect()
    }

    /// Returns what is known of the file, of those that were trusted before.
    pub(super) fn known_in<'a>(&self, before: &'a [TrustedFile]) -> Option<&'a TrustedFile> {
        let path = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        before.iter().find(|file| file.path == path)
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

fn has(paths: Result<Vec<PathBuf>, Error>, file: &Path) -> bool {
    let file = file.canonicalize().ok();
    paths.unwrap_or_default().into_iter().any(|path| path.canonicalize().ok() == file)
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
        return Ok(vec![Code::new(file.clone(), owner_of(&file))]);
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
    Ok(files.into_iter().map(|file| Code::new(file, Some(owner.clone()))).collect())
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
