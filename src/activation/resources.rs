//! Resources: reads a file of a skill, and never a file outside of it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use data_encoding::BASE64;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::catalog::files::{
    MAX_TEXT_BYTES, has_one_name, is_made_by_tools, is_repository, nearest_files, no_directory,
};
use crate::catalog::is_skill_file;
use crate::catalog::sub_skill::{Entered, enter};
use crate::confined::{Dir, Links, plain};
use crate::disclosure::model_text;
use crate::error::{Error, ErrorCode};

/// The part of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The most bytes of a file in one answer, before base64 encoding. Default 1 MiB.
    pub max_bytes: usize,
    /// The first line to read, from 1; 0 is taken as 1. With `offset` or `limit`, texts of up to
    /// 16 MiB can be read in parts, each as long as `max_bytes` allows.
    pub offset: Option<usize>,
    /// The most lines to read.
    pub limit: Option<usize>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { max_bytes: 1024 * 1024, offset: None, limit: None }
    }
}

/// A file of a skill, or the part of it that was read.
///
/// As JSON `{"path","media_type","size","encoding":"utf-8","content","first_line","lines",
/// "total_lines"}` for a text, `{"path","media_type","size","encoding":"base64","content"}` for
/// anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// The path below the skill's directory, without empty parts and `.`.
    pub path: String,
    /// The media type that the name suggests. If it suggests none, or the content contradicts it,
    /// `text/plain` or `application/octet-stream`.
    pub media_type: String,
    /// The size of the whole file, in bytes.
    pub size: u64,
    /// The requested content.
    pub content: Content,
}

/// The content of a file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// UTF-8 without NUL, and without the control and invisible characters that no model should read.
    Text {
        /// The lines, with their line ends.
        text: String,
        /// The number of the first line of `text`, from 1.
        first_line: usize,
        /// The number of lines in `text`: fewer than were requested if the file ends, or the answer is
        /// full.
        lines: usize,
        /// The number of lines of the file.
        total_lines: usize,
    },
    /// The whole content of any other file, in base64.
    Base64(String),
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let n_fields = if matches!(self.content, Content::Text { .. }) { 8 } else { 5 };
        let mut map = serializer.serialize_struct("Resource", n_fields)?;
        map.serialize_field("path", &self.path)?;
        map.serialize_field("media_type", &self.media_type)?;
        map.serialize_field("size", &self.size)?;
        match &self.content {
            Content::Text { text, first_line, lines, total_lines } => {
                map.serialize_field("encoding", "utf-8")?;
                map.serialize_field("content", text)?;
                map.serialize_field("first_line", first_line)?;
                map.serialize_field("lines", lines)?;
                map.serialize_field("total_lines", total_lines)?;
            }
            Content::Base64(content) => {
                map.serialize_field("encoding", "base64")?;
                map.serialize_field("content", content)?;
            }
        }
        map.end()
    }
}

/// Reads the file `path` below `dir`, the directory of the skill named `skill`.
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
    let asked = Asked { skill, path };
    let (file, path) = asked.file(dir)?;
    let is_range = options.offset.is_some() || options.limit.is_some();
    let max_bytes =
        if is_range { MAX_TEXT_BYTES.max(options.max_bytes) } else { options.max_bytes };
    let bytes = asked.read(file, max_bytes)?;
    let size = bytes.len() as u64;
    let text = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => text,
        Ok(text) => return asked.binary(path, text.as_bytes(), is_range),
        Err(error) => return asked.binary(path, error.as_bytes(), is_range),
    };
    let media_type = media_type(&path, true);
    let text = match model_text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(clean) => clean,
    };
    Ok(Resource { media_type, path, size, content: asked.lines(text, options)? })
}

/// Returns the bytes of the file `path` below `dir`, which may have at most `max_bytes`. Fails for the
/// same reasons as [`read_resource`].
pub fn read_bytes(skill: &str, dir: &Path, path: &str, max_bytes: usize) -> Result<Vec<u8>, Error> {
    let asked = Asked { skill, path };
    let (file, _) = asked.file(dir)?;
    asked.read(file, max_bytes)
}

/// The requested file, as the caller names it.
struct Asked<'a> {
    skill: &'a str,
    path: &'a str,
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

    /// Opens the file. Also returns its path without empty parts and `.`.
    fn file(&self, dir: &Path) -> Result<(File, String), Error> {
        let path = plain(self.path).map_err(|why| self.no_path(why))?;
        let file = self.open(dir, &path)?;
        if path.split('/').any(|part| part.starts_with('.') || is_made_by_tools(part.as_ref())) {
            return Err(self.error(
                ErrorCode::PermissionDenied,
                "hidden files, `node_modules` and `__pycache__` are neither listed nor read",
                "read the files that the skill shows when it is activated",
            ));
        }
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
        if parent.is_empty() && is_skill_file(name.as_ref()) {
            return Err(self.error(
                ErrorCode::InvalidParam,
                "it is what the skill gives when it is activated",
                format!("call `use_skill` with `{}`", self.skill),
            ));
        }
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
            Entered::SubSkill(at) => Err(self.error(
                ErrorCode::NotFound,
                &format!("`{}` is a skill of its own", at.display()),
                "ask for the file by the id of that skill, with a path below its directory",
            )),
        }
    }

    fn refuse(&self, error: &io::Error, root: impl FnOnce() -> Option<Dir>) -> Error {
        use io::ErrorKind;
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                let nearest = root().map(|root| nearest_files(&root, self.path));
                let nearest: Vec<String> =
                    nearest.iter().flatten().map(|file| format!("`{file}`")).collect();
                let help = if nearest.is_empty() {
                    "activate the skill for the list of its files".to_owned()
                } else {
                    format!("did you mean {}?", nearest.join(", "))
                };
                self.error(ErrorCode::NotFound, "there is no such file", help)
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

/// Returns the bytes of the lines from index `first` on that `options` allow, and the number of these
/// lines.
fn select(text: &str, first: usize, options: &ReadOptions) -> (Range<usize>, usize) {
    let mut lines = text.split_inclusive('\n');
    let start = lines.by_ref().take(first).map(str::len).sum();
    let (mut end, mut n_lines) = (start, 0);
    for line in lines.take(options.limit.unwrap_or(usize::MAX)) {
        if end + line.len() - start > options.max_bytes {
            break;
        }
        end += line.len();
        n_lines += 1;
    }
    (start..end, n_lines)
}

/// Returns the media type of a file of this name. The content has the last word: a `.ts` file that is
/// text is not a video, and a `.md` file that is not text is not Markdown.
fn media_type(path: &str, is_text: bool) -> String {
    let guesses = mime_guess::from_path(path);
    let fits = |guess: &mime_guess::Mime| match guess.type_().as_str() {
        "text" => is_text,
        "application" => true,
        "image" => !is_text || guess.suffix().is_some_and(|suffix| suffix == "xml"),
        _ => !is_text,
    };
    let fallback = if is_text { "text/plain" } else { "application/octet-stream" };
    guesses.iter().find(fits).map_or(fallback.to_owned(), |guess| guess.essence_str().to_owned())
}

#[cfg(test)]
mod tests;
