//! The file of a trust store: checked when it is read, and replaced as a whole when it is written.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::open::open_file;
use super::{Refusal, Trusted, TrustedFile, TrustedSkill, check_permissions, io_error};
use crate::catalog::stamp::Stamp;
use crate::error::{Error, ErrorCode};

/// The content of a store's file.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    trusted: Vec<TrustedFile>,
    /// Missing in stores of the first versions, which compared only the trusted files themselves. The
    /// user must approve their code again.
    #[serde(default)]
    skills: Vec<TrustedSkill>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<Refusal>,
}

/// The maximum size of a store's file, in bytes: a thousand times that of a large one.
const MAX_STORE_BYTES: u64 = 64 << 20;

/// The version of the file's format.
const VERSION: u32 = 1;

pub(super) fn stamp_of(file: &Path) -> Stamp {
    Stamp::take(file, SystemTime::now())
}

/// Tells whether something that is not a directory is at `path`, such as `/dev/null`, the home of many services.
fn is_in_the_way(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

/// Reads the content of a store; it is empty if the file does not exist, or its directory cannot.
pub(super) fn read(file: &Path) -> Result<Trusted, Error> {
    let opened = match open_file(file) {
        Ok(opened) => opened,
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(Trusted::default()),
        Err(_) if file.ancestors().skip(1).any(is_in_the_way) => return Ok(Trusted::default()),
        Err(error) => return Err(error),
    };
    // A user who can write this file decides which code runs.
    check_permissions(file, &opened).map_err(|error| {
        let message = format!("the trust store is refused: {}", error.message());
        error.reworded(message)
    })?;
    let mut text = String::new();
    opened
        .take(MAX_STORE_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| io_error("read", file, error))?;
    let stored: Stored = serde_json::from_str(&text).map_err(|error| {
        let help = "fix the file, or move it away to trust nothing of a project";
        let message = format!("the trust store {} is damaged: {error}", file.display());
        Error::new(ErrorCode::ExecutionError, message, help)
    })?;
    if stored.version != VERSION {
        let message =
            format!("the trust store {} is of version {}", file.display(), stored.version);
        return Err(Error::new(ErrorCode::ExecutionError, message, "use a newer Repertoire"));
    }
    let files = stored.trusted.into_iter().map(|file| (file.path.clone(), file)).collect();
    let skills = stored.skills.into_iter().map(|skill| (skill.dir.clone(), skill)).collect();
    Ok(Trusted { files, skills, refused: stored.refused })
}

/// Replaces the file as a whole, so that no reader sees a half-written one.
pub(super) fn write(file: &Path, dir: &Path, trusted: &Trusted) -> io::Result<()> {
    let (files, skills) = (trusted.files.values().cloned(), trusted.skills.values().cloned());
    let (trusted_files, skills) = (files.collect(), skills.collect());
    let refused = trusted.refused.clone();
    let stored = Stored { version: VERSION, trusted: trusted_files, skills, refused };
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    let text = serde_json::to_string_pretty(&stored)? + "\n";
    if text.len() as u64 > MAX_STORE_BYTES {
        let message = format!("it would have more than {} MiB", MAX_STORE_BYTES >> 20);
        return Err(io::Error::other(message));
    }
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}
