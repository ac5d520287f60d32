//! Diagnostics: findings about skill files, with their place and advice.

#[cfg(feature = "snapshot")]
pub(crate) mod as_values;
mod code;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use code::{Code, Severity};

/// A coded finding about a skill file.
///
/// ```
/// use repertoire::Skill;
///
/// let skill: Skill = "---\nname: deploy\ndescription: Use when: asked\n---\n".parse()?;
/// let finding = &skill.diagnostics()[0];
/// assert_eq!(finding.code.as_str(), "repaired-yaml");
/// assert_eq!((finding.line, finding.column), (3, 22));
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// The file or directory that the finding is about; empty for a skill that was not read from a file.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub path: PathBuf,
    /// The line of the finding, from 1; 1 if the finding is about the whole file.
    pub line: usize,
    /// The column of the finding in characters, from 1.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The advice on what to do.
    pub help: String,
    /// The range of bytes in the file that the finding is about; `None` if it is about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<Range<usize>>,
}

impl Diagnostic {
    /// A finding about the whole of `path`.
    pub fn new(
        code: Code,
        path: &Path,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            path: path.to_owned(),
            line: 1,
            column: 1,
            message: message.into(),
            help: help.into(),
            span: None,
        }
    }

    /// Sets the place of the finding: `span`, a range of bytes of the file's `text`.
    #[must_use]
    pub fn at(mut self, text: &str, span: Range<usize>) -> Diagnostic {
        (self.line, self.column) = position(text, span.start);
        self.span = Some(span);
        self
    }

    /// A finding in the place of this one.
    pub(crate) fn in_its_place(
        &self,
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let (line, column, span) = (self.line, self.column, self.span.clone());
        Diagnostic { line, column, span, ..Diagnostic::new(code, &self.path, message, help) }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { code, severity, path, line, column, message, .. } = self;
        if path.as_os_str().is_empty() {
            write!(f, "{severity}[{code}]: {message} at {line}:{column}")
        } else {
            write!(f, "{}:{line}:{column}: {severity}[{code}]: {message}", path.display())
        }
    }
}

/// Line and column (characters, both from 1) of byte `offset` in `text`; a byte order mark has
/// no width.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let line = before.split(|&b| b == b'\n').count();
    let column =
        String::from_utf8_lossy(&before[line_start..]).chars().filter(|&c| c != '\u{feff}').count();
    (line, column + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "\u{feff}añb\r\ncd";
        assert_eq!(position(text, 3), (1, 1));
        assert_eq!(position(text, text.find('b').unwrap()), (1, 3));
        assert_eq!(position(text, text.find('d').unwrap()), (2, 2));
        assert_eq!(position(text, 999), (2, 3));
    }
}
