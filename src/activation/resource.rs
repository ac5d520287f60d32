//! A file of a skill as models get it: a text with its lines, or bytes in base64.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

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

/// Returns the bytes of the lines from index `first` on that `options` allow, and the number of these
/// lines.
pub(super) fn select(text: &str, first: usize, options: &ReadOptions) -> (Range<usize>, usize) {
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
pub(super) fn media_type(path: &str, is_text: bool) -> String {
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
