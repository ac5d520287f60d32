//! The files of a skill, each with the hash of its content. Trust compares all of them, because code may
//! load any of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use repertoire_system::confined::{Dir, Entry, Kind, Links};
use serde_json::json;

use super::{ContentHash, real};
use crate::catalog::is_skill_file;
use crate::catalog::sub_skill::is_skill;
use crate::error::{Error, ErrorCode};
use crate::skill::Skill;

/// The maximum number of files in a skill that is compared.
const MAX_FILES: usize = 10_000;
/// The maximum depth of directories in a skill that is compared.
const MAX_DEPTH: usize = 32;
/// The maximum size of all compared files of a skill together, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Files and directories that other programs write on their own. They are not compared, and not copied
/// either, so that code never sees them.
const LEFT_OUT: [&str; 3] = ["__pycache__", ".git", ".DS_Store"];
/// The file that marks a directory as a cache, and its first bytes: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The files of a skill at one moment, by their paths relative to its directory.
///
/// Sub-skills, caches (`__pycache__`, directories with a `CACHEDIR.TAG`) and `.git` are left out. Links
/// are not followed; the path of the target counts as the content. Of the `SKILL.md`, only the declared
/// scripts and toolsets count, because other changes to it do not change what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFiles {
    dir: PathBuf,
    files: BTreeMap<String, ContentHash>,
    /// Links that lead out of the skill, which are not copied.
    uncopied: BTreeSet<String>,
    /// The name of the skill file of which only the declarations count; `None` if it is a link, or if
    /// there are several spellings of which none is `SKILL.md`.
    document: Option<String>,
}

/// A file of a skill that is not as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path relative to the directory of the skill, `/`-separated.
    pub path: String,
    /// The change.
    pub kind: ChangeKind,
}

/// The change of a file since it was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The file did not exist.
    Added,
    /// The file had a different content.
    Changed,
    /// The file no longer exists.
    Removed,
}

/// The maximum number of files that a message names.
const MAX_NAMED: usize = 5;

impl FileChange {
    /// Lists `changes` in a phrase: the first few by name, the others as a count.
    pub fn listed(changes: &[FileChange]) -> String {
        let names: Vec<String> = changes.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        match changes.len() {
            0..=MAX_NAMED => names.join(", "),
            n => format!("{} and {} more", names.join(", "), n - MAX_NAMED),
        }
    }
}

/// Formats a change as in "`lib/f.sh` (changed)".
impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.path, self.kind.as_str())
    }
}

impl ChangeKind {
    /// The change in one word: `added`, `changed` or `removed`.
    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Added => "added",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        }
    }
}

impl SkillFiles {
    /// Reads the files of the skill in `dir`.
    ///
    /// Fails with `NOT_FOUND`, `PERMISSION_DENIED` or `EXECUTION_ERROR` if they cannot be read, and with
    /// `INVALID_PARAM` if there are more than 10,000, they have more than 256 MiB, are nested deeper
    /// than 32 directories, or one has a name that is not Unicode.
    pub fn read(dir: &Path) -> Result<SkillFiles, Error> {
        SkillFiles::read_with(dir, &mut |_, file| ContentHash::of_reader(file.take(MAX_BYTES + 1)))
    }

    /// Reads the files of a skill as [`SkillFiles::read`] does; `hash` returns the hash of each file,
    /// computed or cached.
    pub(crate) fn read_with(
        dir: &Path,
        hash: &mut dyn FnMut(&Path, &File) -> io::Result<ContentHash>,
    ) -> Result<SkillFiles, Error> {
        let root = dir.canonicalize().map_err(|error| super::io_error("read", dir, error))?;
        let top = Dir::open(&root).map_err(|error| super::io_error("read", &root, error))?;
        let (files, uncopied) = (BTreeMap::new(), BTreeSet::new());
        let document = document_in(&top).map_err(|error| super::io_error("read", &root, error))?;
        let found = SkillFiles { dir: root, files, uncopied, document };
        let mut walk = Walk { found, n_bytes: 0, hash };
        walk.dir(&top, "", 0)?;
        Ok(walk.found)
    }

    /// Reads the files of the skill to which the file at `path` belongs: the nearest skill above it.
    pub fn around(path: &Path) -> Result<Option<SkillFiles>, Error> {
        let path = real(path);
        let dir = path.ancestors().skip(1).find(|dir| has_skill_file(dir));
        dir.map(SkillFiles::read).transpose()
    }

    /// The directory of the skill, without links.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The hashes of the files' contents, by their paths relative to the directory.
    pub fn files(&self) -> &BTreeMap<String, ContentHash> {
        &self.files
    }

    /// The changes from `trusted` to these files, in the order of their paths.
    pub fn changes_since(&self, trusted: &BTreeMap<String, ContentHash>) -> Vec<FileChange> {
        let change = |path: &String, kind| FileChange { path: path.clone(), kind };
        let now = self.files.iter().filter_map(|(path, hash)| match trusted.get(path) {
            None => Some(change(path, ChangeKind::Added)),
            Some(known) if known != hash => Some(change(path, ChangeKind::Changed)),
            Some(_) => None,
        });
        let is_gone = |path: &&String| !self.files.contains_key(*path);
        let gone = trusted.keys().filter(is_gone).map(|path| change(path, ChangeKind::Removed));
        let mut changes: Vec<_> = now.chain(gone).collect();
        changes.sort_unstable();
        changes
    }

    /// Returns the files of the skill once the user has accepted only those for which `is_accepted` returns true: all
    /// others are as in `trusted`.
    #[must_use]
    pub fn accepted_in(
        &self,
        trusted: &BTreeMap<String, ContentHash>,
        is_accepted: impl Fn(&str) -> bool,
    ) -> SkillFiles {
        let copied = |(path, hash): (&String, &ContentHash)| (path.clone(), hash.clone());
        let before = trusted.iter().filter(|(path, _)| !is_accepted(path)).map(copied);
        let now = self.files.iter().filter(|(path, _)| is_accepted(path)).map(copied);
        SkillFiles { files: before.chain(now).collect(), ..self.clone() }
    }

    /// The hash of all paths and contents.
    pub(crate) fn sha256(&self) -> ContentHash {
        let line = |(path, hash): (&String, &ContentHash)| format!("{hash} {path:?}\n");
        ContentHash::of(self.files.iter().map(line).collect::<String>().as_bytes())
    }

    /// Copies the files for which `is_wanted` returns true to the directory `target`. Links that stay in
    /// the skill are copied as links; others are left out.
    ///
    /// Fails with `PERMISSION_DENIED` if a file has changed since it was read, and with
    /// `EXECUTION_ERROR` if a file cannot be copied.
    #[cfg(any(feature = "scripts", feature = "toolsets"))]
    pub(crate) fn copy_to(
        &self,
        target: &Path,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let failed = |error| super::io_error("copy", &self.dir, error);
        let top = Dir::open(&self.dir).map_err(failed)?;
        let is_copied = |path: &&String| is_wanted(path) && !self.uncopied.contains(*path);
        for (path, hash) in self.files.iter().filter(|(path, _)| is_copied(path)) {
            let (file, copy) = (self.dir.join(path), target.join(path));
            let failed = |error: io::Error| {
                let message = format!("cannot copy {}: {error}", file.display());
                let help =
                    "code sees copies of its skill: they need room in the directory for them";
                Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
            };
            fs::create_dir_all(copy.parent().unwrap_or(target)).map_err(failed)?;
            if self.document.as_ref() == Some(path) {
                let text = top.file(Path::new(path), Links::Never).map_err(failed)?;
                copy_file(text, &copy).map_err(failed)?;
                continue;
            }
            let copied = match top.file(Path::new(path), Links::Never) {
                Ok(file) => copy_file(file, &copy).map_err(failed).map(Some)?,
                // It may be a link, or have been removed.
                Err(_) => copy_link(&file, &copy).ok(),
            };
            if copied.as_ref() != Some(hash) {
                let message = format!("{} has changed meanwhile", file.display());
                return Err(Error::new(ErrorCode::PermissionDenied, message, "try it again"));
            }
        }
        Ok(())
    }

    /// Tells whether `dir` holds exactly the files that [`SkillFiles::copy_to`] copies.
    #[cfg(feature = "toolsets")]
    pub(crate) fn are_copied_to(&self, dir: &Path) -> bool {
        let copied = |path: &&String| !self.uncopied.contains(*path);
        SkillFiles::read(dir).is_ok_and(|copy| {
            self.files.iter().filter(|(path, _)| copied(path)).eq(copy.files.iter())
        })
    }
}

/// The state of a walk through a skill.
struct Walk<'h> {
    found: SkillFiles,
    n_bytes: u64,
    hash: &'h mut dyn FnMut(&Path, &File) -> io::Result<ContentHash>,
}

impl Walk<'_> {
    /// Reads the files in and below `dir`. `at` is its path relative to the skill's directory, with a
    /// `/` at the end.
    fn dir(&mut self, dir: &Dir, at: &str, depth: usize) -> Result<(), Error> {
        let failed = |error| super::io_error("read", &self.found.dir.join(at), error);
        let entries = dir.entries().and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(failed)?;
        if depth > 0 && (entries.iter().any(is_skill) || is_cache(dir, &entries)) {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            return Err(self.too_much(&format!("directories nested deeper than {MAX_DEPTH}")));
        }
        for Entry { name, kind } in entries {
            let Some(name) = name.to_str() else {
                let path = self.found.dir.join(at).join(&name);
                let message = format!("the name of {} is not Unicode", path.display());
                let help = "rename the file, or keep it outside of the skill";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            };
            if LEFT_OUT.contains(&name) {
                continue;
            }
            let path = format!("{at}{name}");
            // Pipes and sockets are never copied, so code does not see them, and they need not be
            // compared.
            if kind == Kind::Other {
                continue;
            }
            if kind == Kind::Dir {
                let inner = dir.dir(Path::new(name), Links::Never);
                let inner = inner
                    .map_err(|error| super::io_error("read", &self.found.dir.join(&path), error))?;
                self.dir(&inner, &format!("{path}/"), depth + 1)?;
                continue;
            }
            let hash = self.file(dir, name, &path, kind)?;
            self.found.files.insert(path, hash);
            if self.found.files.len() > MAX_FILES {
                return Err(self.too_much(&format!("more than {MAX_FILES} files")));
            }
        }
        Ok(())
    }

    /// The hash of the file or link `name` in `dir`.
    fn file(
        &mut self,
        dir: &Dir,
        name: &str,
        path: &str,
        kind: Kind,
    ) -> Result<ContentHash, Error> {
        let shown = self.found.dir.join(path);
        let failed = |error| super::io_error("read", &shown, error);
        if self.found.document.as_deref() == Some(path) {
            return Ok(declared(&shown));
        }
        if kind == Kind::Link {
            let inside = Dir::open(&self.found.dir).and_then(|root| root.resolve(Path::new(path)));
            if inside.is_err() {
                self.found.uncopied.insert(path.to_owned());
            }
            return fs::read_link(&shown).map(|target| of_link(&target)).map_err(failed);
        }
        let file = dir.file(Path::new(name), Links::Never).map_err(failed)?;
        self.n_bytes += file.metadata().map_err(failed)?.len();
        if self.n_bytes > MAX_BYTES {
            return Err(self.too_much(&format!("more than {} MiB", MAX_BYTES >> 20)));
        }
        (self.hash)(&shown, &file).map_err(failed)
    }

    fn too_much(&self, what: &str) -> Error {
        let message =
            format!("the skill in {} has {what}, too much to trust", self.found.dir.display());
        let help =
            "keep data and dependencies outside of the skill, or bundle them into fewer files";
        Error::new(ErrorCode::InvalidParam, message, help)
    }
}

/// The name of the skill file that the catalog reads in a skill's directory, unless it is a link.
/// `SKILL.md` wins over other spellings. Files with the other spellings count like any other file.
fn document_in(dir: &Dir) -> io::Result<Option<String>> {
    let entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
    let spellings: Vec<&Entry> = entries.iter().filter(|entry| is_skill(entry)).collect();
    let exact = spellings.iter().find(|entry| entry.name == "SKILL.md");
    let document = match (exact, &spellings[..]) {
        (Some(exact), _) => Some(exact),
        (None, [only]) => Some(only),
        _ => None,
    };
    let document = document.filter(|entry| entry.kind == Kind::File);
    Ok(document.and_then(|entry| Some(entry.name.to_str()?.to_owned())))
}

fn has_skill_file(dir: &Path) -> bool {
    let mut entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    // The same rule as in [`is_skill`], so that a directory left out of a parent skill is a skill
    // itself.
    entries.any(|entry| {
        is_skill_file(&entry.file_name()) && entry.file_type().is_ok_and(|kind| !kind.is_dir())
    })
}

/// The hash of the scripts and toolsets that the skill file at `path` declares. Rights are not included,
/// because they are granted one by one.
fn declared(path: &Path) -> ContentHash {
    let Ok(skill) = Skill::load(path, "") else { return ContentHash::of(b"") };
    let manifest = skill.manifest();
    let scripts = manifest.scripts.as_ref();
    let scripts = scripts.map(|all| all.iter().map(|one| &one.value).collect::<Vec<_>>());
    let toolsets: Vec<_> = manifest.toolsets.iter().map(|entry| &entry.value).collect();
    ContentHash::of(json!({"scripts": scripts, "toolsets": toolsets}).to_string().as_bytes())
}

/// Tells whether a tag file marks the directory as a cache.
fn is_cache(dir: &Dir, entries: &[Entry]) -> bool {
    let mut head = [0; CACHE_SIGNATURE.len()];
    entries.iter().any(|entry| entry.name == CACHE_TAG)
        && dir
            .file(Path::new(CACHE_TAG), Links::Never)
            .and_then(|mut file| file.read_exact(&mut head))
            .is_ok()
        && head == *CACHE_SIGNATURE
}

fn of_link(target: &Path) -> ContentHash {
    ContentHash::of(&[b"link to ", target.as_os_str().as_encoded_bytes()].concat())
}

/// Copies a file, and returns the hash of the copy.
#[cfg(any(feature = "scripts", feature = "toolsets"))]
fn copy_file(file: File, copy: &Path) -> io::Result<ContentHash> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
        options.mode(0o600 | (file.metadata()?.mode() & 0o100));
    }
    let mut to = options.open(copy)?;
    io::copy(&mut file.take(MAX_BYTES + 1), &mut to)?;
    ContentHash::of_reader(File::open(copy)?)
}

/// Copies a link as a link, and returns the hash of its target's path.
#[cfg(all(unix, any(feature = "scripts", feature = "toolsets")))]
fn copy_link(link: &Path, copy: &Path) -> io::Result<ContentHash> {
    let target = fs::read_link(link)?;
    std::os::unix::fs::symlink(&target, copy)?;
    Ok(of_link(&target))
}

#[cfg(all(not(unix), any(feature = "scripts", feature = "toolsets")))]
fn copy_link(_: &Path, _: &Path) -> io::Result<ContentHash> {
    Err(io::ErrorKind::Unsupported.into())
}
