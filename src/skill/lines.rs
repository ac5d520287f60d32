//! The lines of a file, and the kinds of lines that separate its parts.

use super::keys::is_known;

/// A line of the file: its text without the line end and trailing blanks, and its byte position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    /// The first byte after the line end.
    pub(super) next: usize,
}

impl Line<'_> {
    /// The number of bytes of white space at the start of the line.
    pub(super) fn indent(self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    pub(super) fn is_fence(self) -> bool {
        self.text == "---"
    }

    /// Tells whether the line starts with `key:` in its first column.
    pub(super) fn is_key(self) -> bool {
        let Some((key, value)) = self.text.split_once(':') else { return false };
        !key.is_empty()
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
            && (value.is_empty() || value.starts_with([' ', '\t']))
    }

    /// Tells whether the line starts with the key of a field that is read, spelt with `-` or with `_`.
    pub(super) fn is_known_key(self) -> bool {
        self.is_key() && self.text.split_once(':').is_some_and(|(key, _)| is_known(key))
    }

    pub(super) fn is_name_or_description(self) -> bool {
        self.is_key() && (self.text.starts_with("name:") || self.text.starts_with("description:"))
    }
}

/// The line that begins at byte `start`.
pub(super) fn line_at(text: &str, start: usize) -> Line<'_> {
    let next = text[start..].find('\n').map_or(text.len(), |end| start + end + 1);
    Line { text: text[start..next].trim_end(), start, next }
}

/// The lines from byte `start` on.
pub(super) fn lines(text: &str, start: usize) -> impl Iterator<Item = Line<'_>> {
    let mut at = start;
    std::iter::from_fn(move || {
        let line = (at < text.len()).then(|| line_at(text, at))?;
        at = line.next;
        Some(line)
    })
}
