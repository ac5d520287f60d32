//! `skills.lock`: the revision and the files of each source, next to the `config.toml` that names the
//! source.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::location::check_name;
use super::objects::io_error;
use super::paths::check_path;
use repertoire::trust::{ContentHash, open_file};
use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;

/// The name of the file.
pub(super) const NAME: &str = "skills.lock";

/// The prefix of the name of a file that is still being written.
pub(super) const NEW: &str = ".repertoire-";

/// The version of the file format.
const VERSION: u32 = 1;

/// The size limit of a lock file, in bytes.
const MAX_BYTES: u64 = 32 << 20;

/// A fetched state of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Locked {
    /// The address that the source was fetched from.
    pub source: String,
    /// The revision that the settings name, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<String>,
    /// The directory that was searched for skills, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The skills that the settings choose; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// The commit of a repository; the digest of an artifact; or a SHA-256: of an archive, of the list
    /// of a directory's files, of the list of objects in a store, or of the digests that an MCP server
    /// lists.
    pub revision: String,
    /// The files of its skills, by their paths in the copy.
    pub files: BTreeMap<String, LockedFile>,
}

/// A file of a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LockedFile {
    /// The hash of its content.
    pub sha256: ContentHash,
    /// True if the file is executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl Locked {
    /// The SHA-256 of the list of files: a line for each in the order of paths, as `sha256sum`
    /// prints it, with `*` before the path of an executable one.
    pub fn digest(&self) -> ContentHash {
        digest(&self.files)
    }

    /// Tells whether this state was fetched with these settings, apart from the keys that must sign the
    /// source.
    pub(super) fn is_of(&self, settings: &FetchSettings) -> bool {
        let FetchSettings { source, rev, path, skills, signed_by: _, agents: _, alias: _ } =
            settings;
        (&self.source, &self.rev, &self.path, &self.skills) == (source, rev, path, skills)
    }
}

pub(super) fn digest(files: &BTreeMap<String, LockedFile>) -> ContentHash {
    let mut list = String::new();
    for (path, LockedFile { sha256, executable }) in files {
        let mark = if *executable { '*' } else { ' ' };
        // Writing to a `String` cannot fail.
        let _ = writeln!(list, "{sha256} {mark}{path}");
    }
    ContentHash::of(list.as_bytes())
}

/// The sources of a lock file, by name.
pub(super) type Sources = BTreeMap<String, Locked>;

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sources: Sources,
    #[serde(default, skip_serializing_if = "Placements::is_empty")]
    agents: Placements,
}

/// The skills of a lock file's sources in the directories of agents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Placements {
    /// The skills by their paths: below the user's home or the project, or absolute.
    #[serde(default)]
    pub(super) skills: BTreeMap<String, Placement>,
    /// The directories that were created for them, and go with the last of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) made: BTreeSet<String>,
}

/// A skill in the directory of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Placement {
    /// The name of the source.
    pub(super) source: String,
    /// The directory of the skill in the copy of the source; empty if the source is one skill.
    pub(super) skill: String,
    /// The SHA-256 of the list of its files if it is a copy, without their modes; `None` for a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<ContentHash>,
}

impl Placements {
    pub(super) fn is_empty(&self) -> bool {
        self.skills.is_empty() && self.made.is_empty()
    }
}

/// Reads the sources of a lock file; returns none if the file does not exist. Fails with `INVALID_PARAM`
/// if it is damaged or names a file outside of a source.
pub(super) fn read(path: &Path) -> Result<Sources, Error> {
    read_all(path).map(|stored| stored.sources)
}

/// Reads the placements of a lock file. Fails like [`read`].
pub(super) fn read_placements(path: &Path) -> Result<Placements, Error> {
    read_all(path).map(|stored| stored.agents)
}

fn read_all(path: &Path) -> Result<Stored, Error> {
    let invalid = |why: String| {
        let message = format!("the lock file {} is not usable: {why}", path.display());
        let help = "take it from version control again, or remove it and fetch its sources anew";
        Error::new(ErrorCode::InvalidParam, message, help)
    };
    let opened = match open_file(path) {
        Err(error) if error.code() == ErrorCode::NotFound => {
            let (sources, agents) = (Sources::new(), Placements::default());
            return Ok(Stored { version: VERSION, sources, agents });
        }
        opened => opened?,
    };
    let mut text = String::new();
    let n_bytes = opened.take(MAX_BYTES + 1).read_to_string(&mut text);
    if n_bytes.map_err(|error| io_error("read", path, &error))? as u64 > MAX_BYTES {
        return Err(invalid("it is too large".to_owned()));
    }
    let stored: Stored = serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    if stored.version != VERSION {
        return Err(invalid(format!("it is of version {}", stored.version)));
    }
    for (name, locked) in &stored.sources {
        check_name(name).map_err(|error| invalid(error.message().to_owned()))?;
        if !is_revision(&locked.revision) {
            let revision = locked.revision.escape_debug();
            return Err(invalid(format!(
                "`{revision}` of `{name}` is neither a commit nor a hash"
            )));
        }
        for (path, LockedFile { sha256, .. }) in &locked.files {
            check_path(path).map_err(|why| invalid(format!("`{}` {why}", path.escape_debug())))?;
            let hash = sha256.as_str();
            if hash.len() != 64
                || !hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
            {
                return Err(invalid(format!("`{path}` has no SHA-256")));
            }
        }
    }
    Ok(stored)
}

/// Tells whether a text can be the revision of a fetched state, in any of the forms that
/// [`Locked::revision`] has. Anything else could be an option of the program that gets it.
fn is_revision(text: &str) -> bool {
    let (algorithm, hash) = text.split_once(':').unwrap_or(("sha256", text));
    let is_word = !algorithm.is_empty() && algorithm.bytes().all(|b| b.is_ascii_alphanumeric());
    is_word && (40..=128).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Replaces the sources of a lock file. Fails like [`read`], or if the file cannot be written.
pub(super) fn write(path: &Path, sources: &Sources) -> Result<(), Error> {
    write_all(path, &Stored { sources: sources.clone(), ..read_all(path)? })
}

/// Replaces the placements of a lock file. Fails like [`write`].
pub(super) fn write_placements(path: &Path, agents: &Placements) -> Result<(), Error> {
    write_all(path, &Stored { agents: agents.clone(), ..read_all(path)? })
}

/// Replaces a lock file as a whole, or removes it if it lists nothing.
fn write_all(path: &Path, stored: &Stored) -> Result<(), Error> {
    let failed = |error: io::Error| io_error("write", path, &error);
    if stored.sources.is_empty() && stored.agents.is_empty() {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    }
    let text = serde_json::to_string_pretty(stored).map_err(|error| failed(error.into()))?;
    replace(path, &(text + "\n")).map_err(failed)
}

/// Replaces a file as a whole, so that no reader sees half of it.
pub(super) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut builder = tempfile::Builder::new();
    // Create the file with the mode that the umask gives to any new file.
    #[cfg(unix)]
    let builder = builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut new = builder.prefix(NEW).tempfile_in(dir)?;
    new.write_all(content.as_ref())?;
    if let Ok(metadata) = fs::metadata(path) {
        new.as_file().set_permissions(metadata.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_is_neither_a_commit_nor_a_hash_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let read_with = |revision: &str| {
            let locked = serde_json::json!({"source": "s", "revision": revision, "files": {}});
            let stored = serde_json::json!({"version": VERSION, "sources": {"x": locked}});
            fs::write(&path, stored.to_string()).unwrap();
            read(&path)
        };
        let hash = ContentHash::of(b"x").to_string();
        for revision in
            [&hash[..40], &hash, &format!("sha256:{hash}"), &format!("sha512:{hash}{hash}")]
        {
            assert_eq!(read_with(revision).unwrap()["x"].revision, *revision);
        }
        let option = format!("--upload-pack={hash}");
        for revision in
            ["--upload-pack=x", &option, "", "-", "main", "HEAD", &hash[..39], "../x", ":", "x y"]
        {
            let error = read_with(revision).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{revision}");
            assert!(error.message().contains("is neither a commit nor a hash"), "{error}");
        }
    }
}
