//! The files of a skill that can be run: finds, reads and checks them.
//!
//! All regular files in `scripts/` are read, whichever of them runs, because they may include each
//! other. The other files of the skill are compared by `crate::trust`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use repertoire_system::confined::{self, Dir, Entry, Kind, Links};

use crate::catalog::sub_skill::{Entered, enter, is_skill};
use crate::error::{Error, ErrorCode};
use crate::skill::own_path;
use crate::trust::{ContentHash, Demand, Owner, TrustStore, Verdict, check_permissions};

/// The directory of scripts in a skill.
pub(super) const SCRIPTS: &str = "scripts";
/// The directory of Python bytecode, which is never run.
pub(super) const BYTECODE: &str = "__pycache__";

/// The most files that `scripts/` may hold.
const MAX_FILES: usize = 1000;
/// The most levels of directories in `scripts/`.
const MAX_DEPTH: usize = 32;
/// The most bytes of all files that are checked.
const MAX_BYTES: u64 = 64 << 20;

/// The files of a skill that can be run, by their paths relative to the skill's directory.
#[derive(Debug)]
pub(super) struct Files {
    /// The skill's directory, open.
    pub(super) dir: Dir,
    /// The path of the skill's directory, without links.
    pub(super) root: PathBuf,
    /// The paths of all regular files in `scripts/`, except those of sub-skills.
    found: Vec<String>,
    /// The paths outside of `scripts/` that the manifest declares. The files may be missing.
    declared: Vec<String>,
    /// The paths that can be run by name.
    pub(super) scripts: BTreeSet<String>,
}

/// A file as it was when it was checked.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) path: String,
    pub(super) content: Vec<u8>,
    pub(super) is_executable: bool,
}

impl Files {
    /// Finds the files of a skill, without reading them.
    ///
    /// Fails with `NOT_FOUND` if the skill's directory does not exist, with `PERMISSION_DENIED` if
    /// `scripts` is a link, and with `INVALID_PARAM` if there are too many files in it.
    pub(super) fn find(owner: &Owner) -> Result<Files, Error> {
        Files::look(owner).map_err(|error| of_skill(owner, error))
    }

    fn look(owner: &Owner) -> Result<Files, Error> {
        let failed = |path: &Path, error| read_error(&path.display().to_string(), error);
        let root = owner.dir.canonicalize().map_err(|error| failed(&owner.dir, error))?;
        let dir = Dir::open(&root).map_err(|error| failed(&root, error))?;
        let (mut found, mut elsewhere) = (Vec::new(), Vec::new());
        match dir.dir(SCRIPTS.as_ref(), Links::Never) {
            Ok(scripts) => walk(&scripts, SCRIPTS, 1, &mut found)
                .map_err(|error| failed(&root.join(SCRIPTS), error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(failed(&root.join(SCRIPTS), error)),
        }
        if found.len() > MAX_FILES {
            return Err(too_much(&root, &format!("more than {MAX_FILES} files")));
        }
        let scripts = match &owner.scripts {
            None => found.iter().filter(|path| is_listed(path)).cloned().collect(),
            Some(declared) => {
                let declare = |path: &String| declare(&dir, path, &found, &mut elsewhere);
                declared.iter().filter_map(declare).collect()
            }
        };
        found.sort_unstable();
        elsewhere.sort_unstable();
        elsewhere.dedup();
        Ok(Files { dir, root, found, declared: elsewhere, scripts })
    }

    /// Returns the path of the script that `name` refers to: its path, or its path relative to
    /// `scripts/`. The path may begin with the skill's directory, or with a placeholder for it.
    pub(super) fn resolve(&self, owner: &Owner, name: &str) -> Result<&str, Error> {
        let plain = confined::plain(&own_path(name, Some(&owner.dir))).map_err(|why| {
            let message = format!("`{name}` is not a script of the skill `{}`: {why}", owner.id);
            Error::new(ErrorCode::InvalidParam, message.replace('\0', "\u{fffd}"), self.names())
        })?;
        let found = [plain.clone(), format!("{SCRIPTS}/{plain}")]
            .into_iter()
            .find_map(|path| self.scripts.get(&path));
        found.map(String::as_str).ok_or_else(|| {
            let message = format!("the skill `{}` has no script `{name}`", owner.id);
            Error::new(ErrorCode::NotFound, message, self.names())
        })
    }

    /// A path to the skill's directory. On Linux, it leads to the open directory, even if another one
    /// has its name by now.
    pub(super) fn working_directory(&self) -> PathBuf {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::{AsFd as _, AsRawFd as _};
            let open = format!("/proc/self/fd/{}", self.dir.as_fd().as_raw_fd());
            if Path::new(&open).exists() {
                return open.into();
            }
        }
        self.root.clone()
    }

    /// Tells whether the manifest declares `path` as a script outside of `scripts/`.
    pub(super) fn is_declared(&self, path: &str) -> bool {
        self.declared.iter().any(|declared| declared == path)
    }

    fn names(&self) -> String {
        let names: Vec<_> = self.scripts.iter().map(|path| format!("`{path}`")).collect();
        match names.len() {
            0 => "it has no scripts".to_owned(),
            1..=20 => format!("it has {}", names.join(", ")),
            n => format!("it has {} and {} more", names[..20].join(", "), n - 20),
        }
    }

    /// Returns the first bytes of a file, and whether the file is executable.
    pub(super) fn head(&self, path: &str, bytes: u64) -> io::Result<(Vec<u8>, bool)> {
        let file = self.dir.file(path.as_ref(), Links::Never)?;
        let is_executable = is_executable(&file)?;
        let mut head = Vec::new();
        file.take(bytes).read_to_end(&mut head)?;
        Ok((head, is_executable))
    }

    /// Reads all files, and refuses those that another user can change, and those with hard links.
    /// Declared files other than `script` may be missing.
    pub(super) fn check(&self, owner: &Owner, script: &str) -> Result<Vec<Checked>, Error> {
        self.read(script).map_err(|error| of_skill(owner, error))
    }

    fn read(&self, script: &str) -> Result<Vec<Checked>, Error> {
        let mut left = MAX_BYTES;
        let mut checked = Vec::with_capacity(self.found.len());
        let found = self.found.iter().map(|path| (path, true));
        let declared = self.declared.iter().map(|path| (path, path == script));
        for (path, must_be) in found.chain(declared) {
            let shown = self.root.join(path);
            let failed = |error| read_error(&shown.display().to_string(), error);
            let file = match self.dir.file(path.as_ref(), Links::Never) {
                Ok(file) => file,
                Err(error) if must_be => return Err(failed(error)),
                Err(error) => {
                    tracing::debug!(path = %shown.display(), "left out: {error}");
                    continue;
                }
            };
            refuse_hard_link(&shown, &file).map_err(failed)??;
            check_permissions(&shown, &file)?;
            let is_executable = is_executable(&file).map_err(failed)?;
            let mut content = Vec::new();
            file.take(left + 1).read_to_end(&mut content).map_err(failed)?;
            left = left
                .checked_sub(content.len() as u64)
                .ok_or_else(|| too_much(&self.root, &format!("more than {MAX_BYTES} bytes")))?;
            checked.push(Checked { path: path.clone(), content, is_executable });
        }
        Ok(checked)
    }

    /// The paths of the files that are trusted one by one, without missing files.
    pub(super) fn compared(&self) -> Vec<PathBuf> {
        let all = self.found.iter().chain(&self.declared);
        let there = all.filter(|path| self.dir.file(Path::new(path), Links::Never).is_ok());
        there.map(|path| self.root.join(path)).collect()
    }

    /// Lets `script` run if it is trusted and no other file has changed since it was. Removes other
    /// files that are not trusted from `checked`, and returns their paths.
    pub(super) fn trust(
        &self,
        demand: &Demand<'_>,
        script: &str,
        checked: &mut Vec<Checked>,
        store: &TrustStore,
    ) -> Result<Vec<String>, Error> {
        let mut withheld = Vec::new();
        for file in &*checked {
            let path = self.root.join(&file.path);
            let hash = ContentHash::of(&file.content);
            let verdict = store.verdict(demand.owner.scope, &path, &hash);
            if file.path != script && verdict == Verdict::Untrusted {
                withheld.push(file.path.clone());
            } else {
                store.demand(demand, &path, &hash)?;
            }
        }
        if let Some(own) = checked.iter().find(|file| file.path == script) {
            let hash = ContentHash::of(&own.content);
            store.demand_script(demand, &self.root.join(script), &hash)?;
            store.demand_skill(demand, &self.root.join(script), &hash)?;
        }
        checked.retain(|file| !withheld.contains(&file.path));
        Ok(withheld)
    }
}

/// Collects the regular files below `dir`, whose path is `at`, except those of sub-skills. Does not
/// follow links.
fn walk(dir: &Dir, at: &str, depth: usize, paths: &mut Vec<String>) -> io::Result<()> {
    let entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
    if entries.iter().any(is_skill) {
        return Ok(());
    }
    for Entry { name, kind } in entries {
        // A file whose name is not UTF-8 cannot be asked for.
        let Some(name) = name.to_str() else { continue };
        let path = format!("{at}/{name}");
        if confined::plain(&path).is_err() {
            continue;
        }
        match kind {
            Kind::File => paths.push(path),
            Kind::Dir if name != BYTECODE && depth < MAX_DEPTH => {
                match dir.dir(name.as_ref(), Links::Never) {
                    Ok(inner) => walk(&inner, &path, depth + 1, paths)?,
                    // The directory is gone, or has just become a link.
                    Err(error) => tracing::debug!(path, "not looked into: {error}"),
                }
            }
            Kind::Dir | Kind::Link | Kind::Other => {}
        }
        if paths.len() > MAX_FILES {
            break;
        }
    }
    Ok(())
}

/// Tells whether a file in `scripts/` is meant to be run by name.
fn is_listed(path: &str) -> bool {
    path.split('/').all(|part| !part.starts_with('.') && part != "node_modules")
}

/// Returns the path of an entry of the manifest, which may also be relative to `scripts/`. Returns
/// `None` if the path is not valid, or if it belongs to a sub-skill.
fn declare(
    dir: &Dir,
    entry: &str,
    found: &[String],
    elsewhere: &mut Vec<String>,
) -> Option<String> {
    let refused = |why: &str| tracing::warn!(entry, "declared, but no script of the skill: {why}");
    let plain = confined::plain(entry).inspect_err(|why| refused(why)).ok()?;
    let inside = format!("{SCRIPTS}/{plain}");
    if found.contains(&inside) {
        return Some(inside);
    }
    if !found.contains(&plain) {
        let parent = Path::new(&plain).parent()?;
        let root = dir.dir(".".as_ref(), Links::Never);
        if let Ok(Entered::SubSkill(at)) = root.and_then(|root| enter(root, parent)) {
            refused(&format!("it belongs to the skill in {}", at.display()));
            return None;
        }
        elsewhere.push(plain.clone());
    }
    Some(plain)
}

#[cfg(unix)]
fn refuse_hard_link(path: &Path, file: &File) -> io::Result<Result<(), Error>> {
    use crate::error::Remedy;
    use crate::trust::quoted;
    use std::os::unix::fs::MetadataExt as _;
    let links = file.metadata()?.nlink();
    if links <= 1 {
        return Ok(Ok(()));
    }
    let shown = path.display();
    let message = format!("{shown} is not safe to run: it has {links} names (hard links)");
    let path = quoted(path);
    let command = format!("cp {path} {path}.new && mv {path}.new {path}");
    let help = "the user has to make it a file of its own";
    let error = Error::new(ErrorCode::PermissionDenied, message, help);
    Ok(Err(error.with_remedy(Remedy::Run(command))))
}

#[cfg(not(unix))]
fn refuse_hard_link(_: &Path, _: &File) -> io::Result<Result<(), Error>> {
    Ok(Ok(()))
}

#[cfg(unix)]
fn is_executable(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Adds the skill to the message of `error`, since paths alone may not show it.
fn of_skill(owner: &Owner, error: Error) -> Error {
    let message =
        format!("cannot use the scripts of the skill `{}`: {}", owner.id, error.message());
    error.reworded(message).with_source(error)
}

fn too_much(root: &Path, what: &str) -> Error {
    let message = format!("the scripts in {} are {what}", root.join(SCRIPTS).display());
    let help = "keep what is not run, such as `node_modules` and data, beside `scripts/`";
    Error::new(ErrorCode::InvalidParam, message, help)
}

fn read_error(what: &str, error: io::Error) -> Error {
    let (code, help) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorCode::NotFound, "fix its path, or write the file"),
        io::ErrorKind::PermissionDenied => {
            (ErrorCode::PermissionDenied, "scripts are files in the skill, not links")
        }
        io::ErrorKind::IsADirectory => (ErrorCode::InvalidParam, "name a file"),
        _ => (ErrorCode::ExecutionError, "check the file and its permissions"),
    };
    Error::new(code, format!("cannot read {what}: {error}"), help).with_source(error)
}
