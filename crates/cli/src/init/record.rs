//! The record of what `init` wrote, from which `init --undo` takes it back.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use repertoire::{Error, ErrorCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::agent::{Changed, Place};
use crate::args::Common;
use crate::replace::{io_error, missing_dirs};
use crate::setup;

/// A file that was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Written {
    pub(super) path: PathBuf,
    /// The agent whose settings the file holds; `None` for a skill.
    pub(super) agent: Option<String>,
    /// The content before; `None` if there was no file.
    pub(super) before: Option<String>,
    /// The hash of the content after.
    after: String,
    /// The file beside it with the content before.
    pub(super) backup: Option<PathBuf>,
    /// The directories that were made for it, innermost first.
    pub(super) dirs: Vec<PathBuf>,
    /// The project whose settings the file holds; `None` for those of the user.
    project: Option<PathBuf>,
}

impl Written {
    /// Returns the record of a change of settings.
    pub(super) fn settings(changed: &Changed) -> Option<Written> {
        let after = changed.after.as_deref().filter(|_| changed.is_one())?;
        Some(Written {
            path: changed.path.clone(),
            agent: Some(changed.agent.to_owned()),
            before: changed.before.clone(),
            after: hash(after.as_bytes()),
            backup: changed.backup.clone(),
            dirs: changed.made_dirs.clone(),
            project: None,
        })
    }

    /// Returns the record of the new skill at `path`, for which the directories `made` were made.
    pub(super) fn skill(path: &Path, made: Vec<PathBuf>) -> Result<Option<Written>, Error> {
        let content = fs::read(path).map_err(|error| io_error("read", path, &error))?;
        Ok(Some(Written {
            path: path.to_owned(),
            agent: None,
            before: None,
            after: hash(&content),
            backup: None,
            dirs: made,
            project: None,
        }))
    }

    /// Tells whether the file holds what was written.
    pub(super) fn is_as_written(&self, content: &[u8]) -> bool {
        hash(content) == self.after
    }
}

fn hash(content: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(content))
}

/// The content of the record's file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    written: Vec<Written>,
    /// The directories that were made for the record, innermost first.
    dirs: Vec<PathBuf>,
}

/// The record of a user.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    content: Content,
    /// The project that this command is about; `None` for the user.
    project: Option<PathBuf>,
}

impl Record {
    /// Reads the record; it is empty if there is none. The path of the project must be absolute.
    pub(super) fn open(place: Place, common: &Common) -> Result<Record, Error> {
        let dir = setup::data_dir(common).ok_or_else(|| {
            let message = "there is no home directory to remember in what `init` does";
            Error::new(ErrorCode::NotFound, message, "set `HOME` to an absolute path")
        })?;
        let path = dir.join("init.json");
        let content = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(io_error("read", &path, &error)),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let message = format!("{} is not a record of `init`: {error}", path.display());
                let help = "move it away; `repertoire hook uninstall AGENT` takes hooks back";
                Error::new(ErrorCode::ExecutionError, message, help)
            })?,
        };
        let project = (place != Place::User).then(|| common.project.clone());
        Ok(Record { path, content, project })
    }

    /// Adds a file that was just written. A file that was written before keeps its first content, unless it was
    /// removed since. If it was changed since, it no longer counts as written: only the entry is taken out of it.
    pub(super) fn add(&mut self, written: Option<Written>) -> Result<(), Error> {
        let Some(mut new) = written else { return Ok(()) };
        new.project.clone_from(&self.project);
        match self.content.written.iter_mut().find(|of| of.path == new.path) {
            Some(known) => match &new.before {
                None => *known = new,
                Some(before) if known.is_as_written(before.as_bytes()) => known.after = new.after,
                Some(_) => {}
            },
            None => self.content.written.push(new),
        }
        self.save()
    }

    /// Returns what was written for the user, or for the project, the newest first.
    pub(super) fn written(&self) -> Vec<Written> {
        let own = self.content.written.iter().filter(|written| written.project == self.project);
        own.rev().cloned().collect()
    }

    /// Forgets a file, and the record once nothing is left in it.
    pub(super) fn forget(&mut self, path: &Path) -> Result<(), Error> {
        self.content.written.retain(|of| of.path != path || of.project != self.project);
        if !self.content.written.is_empty() {
            return self.save();
        }
        fs::remove_file(&self.path).map_err(|error| io_error("remove", &self.path, &error))?;
        remove_empty(&self.content.dirs);
        Ok(())
    }

    /// Writes the record for this user's eyes alone: settings may hold secrets.
    fn save(&mut self) -> Result<(), Error> {
        let failed = |error: std::io::Error| io_error("write", &self.path, &error);
        if !self.path.exists() {
            self.content.dirs = missing_dirs(&self.path);
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
        let text = serde_json::to_string_pretty(&self.content)
            .map_err(|error| failed(std::io::Error::other(error)))?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Removes `dirs`, innermost first, up to the first that is not empty.
pub(super) fn remove_empty(dirs: &[PathBuf]) {
    // A directory that is not empty stays, and so do those above it.
    for dir in dirs {
        if fs::remove_dir(dir).is_err() {
            return;
        }
    }
}
