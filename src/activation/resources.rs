//! Resources: reads a file of a skill, and never a file outside of it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use data_encoding::BASE64;
use repertoire_system::confined::{Dir, Links, plain};

use super::resource::{Content, ReadOptions, Resource, media_type, select};
use crate::catalog::files::{MAX_TEXT_BYTES, has_one_name, nearest, nearest_files, no_directory};
use crate::catalog::passed_over::{is_hidden, is_repository};
use crate::catalog::provided_files::{NotHere, ProvidedFiles};
use crate::catalog::sub_skill::{Entered, enter};
use crate::catalog::{Entry, is_skill_file};
use crate::disclosure::model_text;
use crate::error::{Error, ErrorCode};
use crate::skill::own_path;

/// Reads the file `path` below `dir`, the directory of the skill named `skill`. The path may begin with that directory,
/// or with a placeholder for it such as `${SKILL_DIR}`.
///
/// Only files of the skill itself are read. Links are refused wherever they point, and so are files with
/// a second name (hard links), which may belong to somebody else. Hidden files (such as those in
/// `.git`), `node_modules` and `__pycache__` are refused too, and so are sub-skills: this caller may not
/// be allowed to see them, and must ask for them by their own id. The skill's own `SKILL.md` is refused
/// because activation returns its body, with arguments and consent.
///
/// Fails with `INVALID_PARAM` if `path` cannot be the path of a file, is the `SKILL.md`, or does not
/// have the requested lines; with `NOT_FOUND` if there is no such file (the error names the most similar
/// ones), it is in a sub-skill, or the skill's directory cannot be read; with `PERMISSION_DENIED` if it is refused for another reason; with
/// `EXECUTION_ERROR` if it cannot be read, or is larger than `options` allow.
pub fn read_resource(
    skill: &str,
    dir: &Path,
    path: &str,
    options: &ReadOptions,
) -> Result<Resource, Error> {
    let asked = Asked { skill, path, dir: Some(dir) };
    let (file, path) = asked.file(dir)?;
    let bytes = asked.read(file, most_bytes(options))?;
    asked.resource(path, bytes, options)
}

/// Reads a file of a skill, in its directory or from its provider, as [`read_resource`] does. `None` if the skill
/// is in memory and has no files.
pub(crate) fn resource_of(
    entry: &Entry,
    path: &str,
    options: &ReadOptions,
) -> Option<Result<Resource, Error>> {
    let asked = Asked { skill: entry.id.as_str(), path, dir: entry.skill.dir() };
    if let Some(dir) = entry.skill.dir() {
        return Some(read_resource(asked.skill, dir, path, options));
    }
    let files = ProvidedFiles::of(&entry.skill)?;
    let read = asked.provided(&files, most_bytes(options));
    Some(read.and_then(|(bytes, path)| asked.resource(path, bytes, options)))
}

/// Returns the bytes of the file `path` of a skill, in its directory or from its provider, which may have at most
/// `max_bytes`. Fails for the same reasons as [`read_resource`], and with `NOT_FOUND` if the skill is in memory.
pub fn bytes_of(entry: &Entry, path: &str, max_bytes: usize) -> Result<Vec<u8>, Error> {
    let asked = Asked { skill: entry.id.as_str(), path, dir: entry.skill.dir() };
    if let Some(dir) = entry.skill.dir() {
        return read_bytes(asked.skill, dir, path, max_bytes);
    }
    match ProvidedFiles::of(&entry.skill) {
        Some(files) => asked.provided(&files, max_bytes).map(|(bytes, _)| bytes),
        None => Err(asked.missing(&[])),
    }
}

/// The most bytes of a file that are read for `options`: lines are found in the whole text.
fn most_bytes(options: &ReadOptions) -> usize {
    let is_range = options.offset.is_some() || options.limit.is_some();
    if is_range { MAX_TEXT_BYTES.max(options.max_bytes) } else { options.max_bytes }
}
/// Returns the bytes of the file `path` below `dir`, which may have at most `max_bytes`. Fails for the
/// same reasons as [`read_resource`].
pub(super) fn read_bytes(
    skill: &str,
    dir: &Path,
    path: &str,
    max_bytes: usize,
) -> Result<Vec<u8>, Error> {
    let asked = Asked { skill, path, dir: Some(dir) };
    let (file, _) = asked.file(dir)?;
    asked.read(file, max_bytes)
}

/// The requested file, as the caller names it.
struct Asked<'a> {
    skill: &'a str,
    path: &'a str,
    /// The directory of the skill, if it has one.
    dir: Option<&'a Path>,
}

impl Asked<'_> {
    fn error(&self, code: ErrorCode, why: &str, help: impl Into<String>) -> Error {
        // A path may have any length, and contain control characters that a terminal obeys.
        let mut path: String = self.path.chars().take(200).flat_map(char::escape_debug).collect();
        if path.len() < self.path.len() && self.path.chars().nth(200).is_some() {
            path.push('…');
        }
        Error::new(code, format!("file `{path}` of skill `{}`: {why}", self.skill), help)
    }

    fn no_path(&self, why: &str) -> Error {
        let help = "give the path of a file in the skill's directory, such as \
                    `references/forms.md`";
        self.error(ErrorCode::InvalidParam, why, help)
    }

    /// Makes the resource of a file with these bytes.
    fn resource(
        &self,
        path: String,
        bytes: Vec<u8>,
        options: &ReadOptions,
    ) -> Result<Resource, Error> {
        let is_range = options.offset.is_some() || options.limit.is_some();
        let size = bytes.len() as u64;
        let text = match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => text,
            Ok(text) => return self.binary(path, text.as_bytes(), is_range),
            Err(error) => return self.binary(path, error.as_bytes(), is_range),
        };
        let media_type = media_type(&path, true);
        let text = match model_text(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        };
        Ok(Resource { media_type, path, size, content: self.lines(text, options)? })
    }

    /// Reads the file from the provider of its skill. Also returns its path without empty parts and `.`.
    fn provided(
        &self,
        files: &ProvidedFiles<'_>,
        max_bytes: usize,
    ) -> Result<(Vec<u8>, String), Error> {
        let path = self.plain()?;
        self.refuse_hidden(&path)?;
        let bytes = match files.read(&path) {
            Ok(read) => read?,
            Err(NotHere::SubSkill(dir)) => return Err(self.in_sub_skill(&dir)),
            Err(NotHere::Directory) => return Err(self.no_path("it is a directory")),
            Err(NotHere::Missing) => return Err(self.missing(&nearest(files.list(), self.path))),
        };
        let n_bytes = bytes.len();
        let bytes = self.within(bytes, n_bytes as u64, max_bytes)?;
        Ok((bytes, path))
    }

    /// Returns the path from the skill's directory, without empty parts and `.`, unless it is that of the skill's own
    /// `SKILL.md`.
    fn plain(&self) -> Result<String, Error> {
        let path = plain(&own_path(self.path, self.dir)).map_err(|why| self.no_path(why))?;
        if is_skill_file(path.as_ref()) {
            return Err(self.error(
                ErrorCode::InvalidParam,
                "it is what the skill gives when it is activated",
                format!("call `use_skill` with `{}`", self.skill),
            ));
        }
        Ok(path)
    }

    fn refuse_hidden(&self, path: &str) -> Result<(), Error> {
        if path.split('/').any(is_hidden) {
            return Err(self.error(
                ErrorCode::PermissionDenied,
                "hidden files, `node_modules` and `__pycache__` are neither listed nor read",
                "read the files that the skill shows when it is activated",
            ));
        }
        Ok(())
    }

    fn in_sub_skill(&self, dir: &str) -> Error {
        self.error(
            ErrorCode::NotFound,
            &format!("`{dir}` is a skill of its own"),
            "ask for the file by the id of that skill, with a path below its directory",
        )
    }

    /// The error for a file that does not exist, with those that may be meant.
    fn missing(&self, nearest: &[String]) -> Error {
        let nearest: Vec<String> = nearest.iter().map(|file| format!("`{file}`")).collect();
        let help = if nearest.is_empty() {
            "activate the skill for the list of its files".to_owned()
        } else {
            format!("did you mean {}?", nearest.join(", "))
        };
        self.error(ErrorCode::NotFound, "there is no such file", help)
    }

    /// Opens the file. Also returns its path without empty parts and `.`.
    fn file(&self, dir: &Path) -> Result<(File, String), Error> {
        let path = self.plain()?;
        let file = self.open(dir, &path)?;
        self.refuse_hidden(&path)?;
        // A file with a second name may be outside of the skill, and its owner never put it here.
        if !file.metadata().is_ok_and(|metadata| has_one_name(&metadata)) {
            return Err(self.error(
                ErrorCode::PermissionDenied,
                "it is a hard link to a file with another name",
                "replace it by a copy: `cp FILE COPY && mv COPY FILE`",
            ));
        }
        Ok((file, path))
    }

    fn open(&self, dir: &Path, path: &str) -> Result<File, Error> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.split('/').any(|part| is_repository(part.as_ref())) {
            return Err(self.error(
                ErrorCode::PermissionDenied,
                "a repository's `.git` is not a part of the skill",
                "read the files of the skill itself",
            ));
        }
        let root = || Dir::open(dir).map_err(|error| no_directory(dir, &error));
        let refuse = |error| self.refuse(&error, || root().ok());
        match enter(root()?, Path::new(parent)).map_err(refuse)? {
            Entered::Dir(dir) => dir.file(Path::new(name), Links::Never).map_err(refuse),
            Entered::SubSkill(at) => Err(self.in_sub_skill(&at.display().to_string())),
        }
    }

    fn refuse(&self, error: &io::Error, root: impl FnOnce() -> Option<Dir>) -> Error {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                let nearest = root().map(|root| nearest_files(&root, self.path));
                self.missing(&nearest.unwrap_or_default())
            }
            ErrorKind::IsADirectory => self.no_path("it is a directory"),
            ErrorKind::InvalidFilename => self.no_path("it is too long"),
            _ => self.error(
                ErrorCode::PermissionDenied,
                &error.to_string(),
                "only regular files inside the skill's directory are read, and no links; put a \
                 copy there",
            ),
        }
    }

    /// Reads the whole content. The size that the system reports is only a hint, since some files have
    /// none.
    fn read(&self, file: File, max_bytes: usize) -> Result<Vec<u8>, Error> {
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        let mut bytes = Vec::with_capacity(size.min(max_bytes as u64) as usize + 1);
        file.take(max_bytes as u64 + 1).read_to_end(&mut bytes).map_err(|error| {
            let help = "check the file, and try again";
            self.error(ErrorCode::ExecutionError, &format!("it cannot be read: {error}"), help)
        })?;
        self.within(bytes, size, max_bytes)
    }

    /// Returns the bytes of a file of this size if there are at most `max_bytes`.
    fn within(&self, bytes: Vec<u8>, size: u64, max_bytes: usize) -> Result<Vec<u8>, Error> {
        if bytes.len() <= max_bytes {
            return Ok(bytes);
        }
        let size = size.max(bytes.len() as u64);
        let why = format!("it has {size} bytes, over the limit of {max_bytes}");
        let help = if bytes.contains(&0) || size > MAX_TEXT_BYTES as u64 {
            "have a script of the skill work on it"
        } else {
            "read it in parts, with `offset` and `limit` in lines"
        };
        Err(self.error(ErrorCode::ExecutionError, &why, help))
    }

    fn binary(&self, path: String, bytes: &[u8], is_range: bool) -> Result<Resource, Error> {
        if is_range {
            let help = "read it without `offset` and `limit`";
            return Err(self.error(
                ErrorCode::InvalidParam,
                "it is not text and has no lines",
                help,
            ));
        }
        Ok(Resource {
            media_type: media_type(&path, false),
            path,
            size: bytes.len() as u64,
            content: Content::Base64(BASE64.encode(bytes)),
        })
    }

    fn lines(&self, text: String, options: &ReadOptions) -> Result<Content, Error> {
        let total_lines = text.split_inclusive('\n').count();
        let first_line = options.offset.unwrap_or(1).max(1);
        if first_line > total_lines.max(1) {
            let help = format!("give an `offset` from 1 to {total_lines}");
            let why = format!("it has {total_lines} lines, and none at {first_line}");
            return Err(self.error(ErrorCode::InvalidParam, &why, help));
        }
        let (part, lines) = select(&text, first_line - 1, options);
        if lines == 0 && total_lines > 0 && options.limit != Some(0) {
            return Err(self.error(
                ErrorCode::ExecutionError,
                &format!(
                    "line {first_line} alone is over the limit of {} bytes",
                    options.max_bytes
                ),
                "have a script of the skill work on it",
            ));
        }
        let text = if part.len() == text.len() { text } else { text[part].to_owned() };
        Ok(Content::Text { text, first_line, lines, total_lines })
    }
}

#[cfg(test)]
mod tests;
