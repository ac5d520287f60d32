//! Trust: the decision on which code of skills may run. Reading a skill's text needs no trust.
//!
//! Code may run if its skill ships with the agent, was installed by the user, or was made by the host.
//! Code of a project, or fetched from elsewhere, may run only after the user or the host has trusted
//! exactly that content. A trusted file that has changed since is refused in every source. So is trusted
//! code if another file of its skill was added, changed or removed since.

mod abilities;
#[cfg_attr(
    not(any(feature = "scripts", feature = "toolsets")),
    expect(dead_code, reason = "for the features that run code")
)]
mod approval;
mod grants;
mod hash;
mod moved;
mod open;
mod owner;
mod permissions;
mod refusals;
#[cfg(unix)]
mod shell_quote;
mod skill_files;
mod skills;
mod store_file;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::catalog::Scope;
use crate::catalog::stamp::Stamp;
use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::{Network, ToolsetRights};

pub use abilities::Abilities;
#[cfg(any(feature = "scripts", feature = "toolsets"))]
pub(crate) use approval::Demand;
pub use approval::{Approval, TrustRequest};
pub use hash::ContentHash;
pub use open::open_file;
pub use owner::Owner;
pub use permissions::check_permissions;
pub use refusals::Refusal;
#[cfg(unix)]
pub(crate) use shell_quote::quoted;
pub use skill_files::{ChangeKind, FileChange, SkillFiles};
pub use skills::TrustedSkill;

use open::open_lock;
use store_file::{read, stamp_of, write};

/// A trusted file, with the content it had when it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrustedFile {
    /// The file, absolute and without links.
    pub path: PathBuf,
    /// The hash of its content.
    pub sha256: ContentHash,
    /// When it was trusted, in seconds since 1970.
    pub since: u64,
    /// The part of the network that a script may use, because its skill asked for it.
    #[serde(default, skip_serializing_if = "Network::is_none")]
    pub network: Network,
    /// Files and directories that a script may read, because its skill asked for them; absolute and without
    /// links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// The rights that the user granted to the classes of a library, by class. Paths in them are
    /// absolute and without links.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rights: BTreeMap<String, ToolsetRights>,
    /// The tools of a library that the user saw, by class: the hash of what a model is told of each, by the
    /// tool's name. Other tools are refused. The tools of a class that is missing become the trusted ones
    /// when they are first listed.
    #[serde(default, rename = "tools_of_classes", skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, BTreeMap<String, ContentHash>>,
    /// True if the user saw it as a library or as a part of an MCP server alone. It does not run as a script, which
    /// may do other things.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tools_only: bool,
}

impl TrustedFile {
    /// Returns the rights that it has as a script.
    pub fn script_rights(&self) -> ToolsetRights {
        ToolsetRights { read: self.read.clone(), network: self.network.clone() }
    }

    /// Tells whether the file is still at its path, and no link leads to it.
    pub fn is_in_place(&self) -> bool {
        self.path.canonicalize().is_ok_and(|real| real == self.path)
    }
}

/// The decision on whether a file may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The file may run.
    Trusted,
    /// The file, or the rest of its skill, was never trusted, and its source is not trusted either.
    Untrusted,
    /// The file, or another file of its skill, was trusted with a different content.
    Changed {
        /// The hash with which the file itself was trusted.
        trusted: ContentHash,
    },
}

/// The store of trusted files, in memory or in a file shared between processes. Changes by another
/// process count from the next call on.
#[derive(Debug, Default)]
pub struct TrustStore {
    file: Option<PathBuf>,
    state: Mutex<State>,
}

/// The content of a trust store.
#[derive(Debug, Clone, Default, PartialEq)]
struct Trusted {
    files: BTreeMap<PathBuf, TrustedFile>,
    /// The skills to which the files belong, by their directories.
    skills: BTreeMap<PathBuf, TrustedSkill>,
    /// The refusals, in the order of the paths.
    refused: Vec<Refusal>,
}

impl Trusted {
    /// Returns the path under which the file at `path` is stored; `None` if it is not trusted. The path
    /// itself comes before that of the target, because the file may have become a link since.
    fn key(&self, path: &Path) -> Option<PathBuf> {
        let keys = [std::path::absolute(path).ok()?, real(path)];
        keys.into_iter().find(|key| self.files.contains_key(key))
    }
}

#[derive(Debug, Default)]
struct State {
    trusted: Trusted,
    /// The stamp of the store's file when it was last read; `None` for a store in memory.
    stamp: Option<Stamp>,
    /// The number of times that `trusted` was replaced or changed.
    version: u64,
}

impl TrustStore {
    /// Creates a store that lasts as long as the process.
    pub fn in_memory() -> TrustStore {
        TrustStore::default()
    }

    /// Opens the store in `file`, which need not exist yet.
    ///
    /// Fails with `EXECUTION_ERROR` if the file cannot be read or parsed. The store must not silently
    /// start empty, as changed files would then count as new ones.
    pub fn open(file: impl Into<PathBuf>) -> Result<TrustStore, Error> {
        let file = file.into();
        let stamp = Some(stamp_of(&file));
        let state = State { trusted: read(&file)?, stamp, version: 0 };
        Ok(TrustStore { file: Some(file), state: Mutex::new(state) })
    }

    /// Returns the files that a store at `file` consists of, for hosts that keep code from them.
    pub fn files(file: &Path) -> [PathBuf; 2] {
        [file.to_owned(), lock_path(file)]
    }

    /// The newest state, read again if the file changed. If the file was damaged, the previous state
    /// stays.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &self.file else { return state };
        // Take the stamp before reading the content, so that a write in between shows as a new stamp.
        let stamp = stamp_of(file);
        if !state.stamp.as_ref().is_some_and(|known| known.proves_unchanged(&stamp)) {
            state.stamp = Some(stamp);
            match read(file) {
                Ok(trusted) if trusted == state.trusted => {}
                Ok(trusted) => {
                    state.trusted = trusted;
                    state.version += 1;
                }
                Err(error) => tracing::warn!(
                    "the trust store cannot be read, so its previous state stays in force: {error}"
                ),
            }
        }
        state
    }

    /// A number that changes whenever the content of the store does.
    #[cfg(feature = "toolsets")]
    pub(crate) fn version(&self) -> u64 {
        self.state().version
    }

    /// Tells whether the file at `path` with content `sha256`, of a skill of this scope, may run.
    pub fn verdict(&self, scope: Scope, path: &Path, sha256: &ContentHash) -> Verdict {
        match self.state().trusted.files.get(&real(path)) {
            Some(known) if known.sha256 == *sha256 => Verdict::Trusted,
            Some(known) => Verdict::Changed { trusted: known.sha256.clone() },
            None if !scope.is_trusted() => Verdict::Untrusted,
            None => Verdict::Trusted,
        }
    }

    /// The trusted files, in the order of their paths.
    pub fn list(&self) -> Vec<TrustedFile> {
        self.state().trusted.files.values().cloned().collect()
    }

    /// Returns the rights with which the script at `path` was trusted.
    pub fn script_rights(&self, path: &Path) -> ToolsetRights {
        let state = self.state();
        let known = state.trusted.files.get(&real(path));
        known.map(TrustedFile::script_rights).unwrap_or_default()
    }

    /// Trusts the file at `path` with its current content, without further rights, together with the
    /// current files of its skill. Returns the new entry.
    ///
    /// Fails with `NOT_FOUND`, `PERMISSION_DENIED` or `EXECUTION_ERROR` if the file cannot be read or
    /// the store cannot be written, and as [`SkillFiles::read`] does.
    pub fn add(&self, path: &Path) -> Result<TrustedFile, Error> {
        self.add_content(path, ContentHash::of_file(path)?)
    }

    /// Trusts the file at `path` with the content `sha256`, which the user has reviewed, even if the
    /// file has changed since.
    pub fn add_content(&self, path: &Path, sha256: ContentHash) -> Result<TrustedFile, Error> {
        self.add_with(path, sha256, ToolsetRights::default())
    }

    /// Trusts the file at `path` as [`TrustStore::add_content`] does. A script also gets
    /// `rights`, which the skill asks for and the user was told of: of the network and of files to read. They are
    /// stored as they are: resolve them once ([`ToolsetRights::resolved`]), before the user is asked, as a link may
    /// lead elsewhere afterwards.
    pub fn add_with(
        &self,
        path: &Path,
        sha256: ContentHash,
        rights: impl Into<ToolsetRights>,
    ) -> Result<TrustedFile, Error> {
        self.add_with_skill(SkillFiles::around(path)?.as_ref(), path, sha256, rights)
    }

    /// Trusts the file at `path` as [`TrustStore::add_with`] does, together with the files of its skill
    /// as the user has reviewed them; `skill` is `None` for a file that belongs to no skill. Removes files
    /// of the skill that are gone or became links.
    pub fn add_with_skill(
        &self,
        skill: Option<&SkillFiles>,
        path: &Path,
        sha256: ContentHash,
        rights: impl Into<ToolsetRights>,
    ) -> Result<TrustedFile, Error> {
        self.insert(skill, path, sha256, rights.into(), false)
    }

    /// Trusts the file at `path` as [`TrustStore::add_with_skill`] does, but as a library or a part of an MCP server
    /// alone: it does not run as a script.
    pub fn add_tools_with_skill(
        &self,
        skill: Option<&SkillFiles>,
        path: &Path,
        sha256: ContentHash,
    ) -> Result<TrustedFile, Error> {
        self.insert(skill, path, sha256, ToolsetRights::default(), true)
    }

    fn insert(
        &self,
        skill: Option<&SkillFiles>,
        path: &Path,
        sha256: ContentHash,
        ToolsetRights { read, network }: ToolsetRights,
        tools_only: bool,
    ) -> Result<TrustedFile, Error> {
        let since = now();
        let skill = skill.map(|files| TrustedSkill::new(files, since));
        let (path, rights, tools) = (real(path), BTreeMap::new(), BTreeMap::new());
        let file = TrustedFile { path, sha256, since, network, read, rights, tools, tools_only };
        self.change(|trusted| {
            if let Some(skill) = skill {
                trusted.accept(skill);
            }
            trusted.forget_refusals(&file.path, None);
            trusted.files.insert(file.path.clone(), file.clone());
            file
        })
    }

    /// Removes the file at `path` from the trusted ones. Fails with `NOT_FOUND` if it was not trusted.
    pub fn remove(&self, path: &Path) -> Result<TrustedFile, Error> {
        self.remove_all([path])?.pop().ok_or_else(|| not_trusted(path))
    }

    /// Removes the files at `paths` from the trusted ones, and returns their entries in the order of
    /// their paths. If one of them was not trusted, fails with `NOT_FOUND` and removes none.
    pub fn remove_all<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Vec<TrustedFile>, Error> {
        self.change(|trusted| {
            let key = |path: P| {
                let key = trusted.key(path.as_ref());
                key.ok_or_else(|| not_trusted(path.as_ref()))
            };
            let keys = paths.into_iter().map(key).collect::<Result<BTreeSet<PathBuf>, Error>>()?;
            let removed = keys.iter().filter_map(|key| trusted.files.remove(key)).collect();
            let skill_of = |file: &PathBuf| trusted.skill_of(file).map(|skill| skill.dir.clone());
            let used: BTreeSet<PathBuf> = trusted.files.keys().filter_map(skill_of).collect();
            trusted.skills.retain(|dir, _| used.contains(dir));
            Ok(removed)
        })?
    }

    /// Applies `change` to the newest content of the store's file, and writes it.
    fn change<T>(&self, change: impl FnOnce(&mut Trusted) -> T) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.version += 1;
        let Some(file) = &self.file else { return Ok(change(&mut state.trusted)) };
        let dir = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(|error| io_error("create", dir, error))?;
        // The lock lets only one process write at a time. Another one may have written before, so read
        // again.
        let lock_path = lock_path(file);
        let lock = open_lock(&lock_path).map_err(|error| io_error("open", &lock_path, error))?;
        lock.lock().map_err(|error| io_error("lock", &lock_path, error))?;
        let mut trusted = read(file)?;
        let result = change(&mut trusted);
        write(file, dir, &trusted).map_err(|error| io_error("write", file, error))?;
        state.trusted = trusted;
        state.stamp = Some(stamp_of(file));
        Ok(result)
    }
}

/// The time in seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The file that is locked while the store at `file` is written.
fn lock_path(file: &Path) -> PathBuf {
    file.with_extension("lock")
}

fn not_trusted(path: &Path) -> Error {
    let message = format!("{} is not trusted", path.display());
    Error::new(ErrorCode::NotFound, message, "look at the list of trusted files")
        .with_remedy(Remedy::ListTrusted)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn io_error(what: &str, path: &Path, error: io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::ExecutionError,
    };
    let message = format!("cannot {what} {}: {error}", path.display());
    Error::new(code, message, "check the path and its permissions").with_source(error)
}

#[cfg(all(test, feature = "toolsets"))]
mod tests {
    use super::*;

    #[test]
    fn the_version_changes_with_what_any_store_of_the_file_writes() {
        let dir = tempfile::tempdir().unwrap();
        let [path, code] = ["trust.json", "tool.sh"].map(|name| dir.path().join(name));
        fs::write(&code, "content").unwrap();
        let [a, b] = [(); 2].map(|()| TrustStore::open(&path).unwrap());
        b.add(&code).unwrap();
        let version = a.version();
        assert_eq!(a.version(), version, "nothing was written meanwhile");
        b.remove(&code).unwrap();
        assert_ne!(a.version(), version);
    }
}
