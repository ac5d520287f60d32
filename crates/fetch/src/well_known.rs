//! Sites that list their skills in `/.well-known/agent-skills/index.json`, by HTTPS.
//!
//! Each skill of the list has a `url`, of its `SKILL.md` or of an archive, with a `digest`; by the first
//! form of the list, which `/.well-known/skills` has, a list of `files` beside the list. All chosen files
//! are downloaded into a directory, and read from there.

use std::fs;
use std::path::{Path, PathBuf};

use repertoire::catalog::may_name;
use repertoire::trust::ContentHash;
use repertoire::{Error, ErrorCode};
use reqwest::Url;
use serde::Deserialize;

use super::archive::end_of;
use super::archive_address::ArchiveAddress;
use super::archive_file::Archive;
use super::archive_https::RemoteArchive;
use super::directory::Directory;
use super::limits::{Deadline, FetchLimits, refused, too_large};
use super::objects::io_error;
use super::paths::check_path;
use super::provider::{SourceProvider, SourceTree, TreeKind, no_skill};
use super::remote::Downloaded;
use super::scratch::scratch_dir;

/// The size limit of a list of skills, in bytes.
const MAX_INDEX_BYTES: u64 = 4 << 20;

/// The site of a list of skills.
pub(super) struct Site {
    /// The URL of the list.
    pub(super) url: String,
    /// The skills to take, as settings name them; all if empty.
    pub(super) skills: Vec<String>,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
    /// The directory for temporary files.
    pub(super) scratch: PathBuf,
}

#[derive(Deserialize)]
struct Index {
    skills: Vec<Listed>,
}

/// A skill of a list.
#[derive(Deserialize)]
struct Listed {
    name: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    digest: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

impl SourceProvider for Site {
    fn newest(&self) -> Result<Option<String>, Error> {
        let dir = scratch_dir(&self.scratch)?;
        let (index, revision) = self.index(dir.path())?;
        // Without digests, the list stays the same when a file changes.
        Ok(index.skills.iter().all(|skill| skill.digest.is_some()).then_some(revision))
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let dir = scratch_dir(&self.scratch)?;
        let (index, newest) = self.index(dir.path())?;
        if index.skills.iter().all(|skill| skill.digest.is_some())
            && let Some(wanted) = revision.filter(|wanted| *wanted != newest)
        {
            let message = format!("{} has a newer list of skills than {wanted}", self.url);
            return Err(Error::new(
                ErrorCode::NotFound,
                message,
                "update it: a site has no history",
            ));
        }
        let root = dir.path().join("source");
        let mut n_files = 0;
        for skill in self.chosen(index)? {
            n_files += self.take(&skill, &root.join("skills").join(&skill.name))?;
            if n_files > self.limits.files {
                return Err(too_large(&self.url, "files of skills", self.limits.files as u64));
            }
        }
        fs::create_dir_all(&root).map_err(|error| io_error("create", &root, &error))?;
        let directory =
            Directory { path: root, limits: self.limits, deadline: self.deadline.clone() };
        Ok(Box::new(Downloaded { tree: directory.open(None)?, revision: newest, _dir: dir }))
    }
}

impl Site {
    /// Downloads the list into `dir`. Returns it with its SHA-256.
    fn index(&self, dir: &Path) -> Result<(Index, String), Error> {
        let file = dir.join("index.json");
        self.download(&self.url, &file)?;
        let bytes = self.read(&file)?;
        let index = serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("{} is not a list of skills: {error}", self.url);
            Error::new(ErrorCode::InvalidParam, message, "name the address of another source")
        })?;
        let _ = fs::remove_file(&file);
        Ok((index, ContentHash::of(&bytes).to_string()))
    }

    fn read(&self, file: &Path) -> Result<Vec<u8>, Error> {
        let failed = |error: std::io::Error| io_error("read", file, &error);
        if file.metadata().map_err(failed)?.len() > MAX_INDEX_BYTES {
            return Err(too_large(&self.url, "bytes", MAX_INDEX_BYTES));
        }
        fs::read(file).map_err(failed)
    }

    /// The skills that the settings choose, as far as that can be told from the list.
    fn chosen(&self, index: Index) -> Result<Vec<Listed>, Error> {
        let is_all = self.skills.iter().all(|id| id.starts_with('!'));
        let is_chosen = |name: &str| is_all || self.skills.iter().any(|id| may_name(id, &[name]));
        let names: Vec<String> = index.skills.iter().map(|skill| skill.name.clone()).collect();
        let chosen: Vec<Listed> =
            index.skills.into_iter().filter(|skill| is_chosen(&skill.name)).collect();
        match self.skills.first() {
            Some(id) if chosen.is_empty() => Err(no_skill(&self.url, id, &names)),
            _ => Ok(chosen),
        }
    }

    /// Downloads the files of a skill into the new directory `to`. Returns how many there are.
    fn take(&self, skill: &Listed, to: &Path) -> Result<usize, Error> {
        let Listed { name, url, digest, files } = skill;
        let check = |path: &str| check_path(path).map_err(|why| refused(&self.url, path, why));
        check(name)?;
        let base = format!("{name}/");
        match url {
            Some(url) if end_of(url).is_some() => {
                let file = to
                    .with_extension("archive")
                    .with_extension(&end_of(url).unwrap_or_default()[1..]);
                self.download(&self.join(url)?, &file)?;
                self.check(url, digest.as_deref(), &file)?;
                self.unpack(&file, to)
            }
            Some(url) => {
                let file = to.join("SKILL.md");
                self.download(&self.join(url)?, &file)?;
                self.check(url, digest.as_deref(), &file).map(|()| 1)
            }
            None => {
                for path in files {
                    check(path)?;
                    self.download(&self.join(&(base.clone() + path))?, &to.join(path))?;
                }
                Ok(files.len())
            }
        }
    }

    /// Unpacks the files of an archive below `to`. If all are in one directory, that is left out.
    fn unpack(&self, file: &Path, to: &Path) -> Result<usize, Error> {
        let (source, limits, deadline) = (self.url.clone(), self.limits, self.deadline.clone());
        let archive = Archive { path: file.to_owned(), source, sha256: None, limits, deadline };
        let mut tree = archive.open(None)?;
        let is_file = |kind: &TreeKind| matches!(kind, TreeKind::File { .. });
        let files = tree.entries().iter().filter(|entry| is_file(&entry.kind));
        let paths: Vec<String> = files.map(|entry| entry.path.clone()).collect();
        let has_skill = paths.iter().any(|path| path.eq_ignore_ascii_case("SKILL.md"));
        let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
        tree.read(&listed, &mut |path, content| {
            let below =
                if has_skill { path } else { path.split_once('/').map_or(path, |(_, p)| p) };
            check_path(below).map_err(|why| refused(&self.url, below, why))?;
            let target = to.join(below);
            let failed = |error: std::io::Error| io_error("write", &target, &error);
            fs::create_dir_all(target.parent().unwrap_or(to)).map_err(failed)?;
            let mut written = fs::File::create_new(&target).map_err(failed)?;
            std::io::copy(content, &mut written).map(drop).map_err(failed)
        })?;
        let _ = fs::remove_file(file);
        Ok(paths.len())
    }

    /// The URL of a file that the list names.
    fn join(&self, path: &str) -> Result<String, Error> {
        let joined = Url::parse(&self.url).and_then(|url| url.join(path));
        joined.map(String::from).map_err(|_| refused(&self.url, path, "is not a URL"))
    }

    fn download(&self, url: &str, to: &Path) -> Result<(), Error> {
        let address = ArchiveAddress::parse(url)?;
        let own = ArchiveAddress::parse(&self.url)?;
        if address.is_loopback() && !own.is_loopback() {
            return Err(refused(&self.url, url, "is of this machine"));
        }
        let dir = to.parent().unwrap_or(to);
        fs::create_dir_all(dir).map_err(|error| io_error("create", dir, &error))?;
        RemoteArchive::save(address, (self.limits, self.deadline.clone()), to)
    }

    fn check(&self, url: &str, digest: Option<&str>, file: &Path) -> Result<(), Error> {
        let Some(digest) = digest else { return Ok(()) };
        let wanted = digest.strip_prefix("sha256:").unwrap_or(digest);
        if ContentHash::of_file(file)?.as_str().eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        Err(refused(&self.url, url, "is not what its digest in the list says"))
    }
}
