//! Findings about one text. They are collected while it is read, and get line numbers at the end.

use std::ops::Range;
use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};

/// A [`Diagnostic`] that does not know its file, line and column yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) help: String,
    /// The bytes of the file that the finding is about; `None` if it is about the whole file.
    pub(super) span: Option<Range<usize>>,
}

impl Finding {
    pub(super) fn new(
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding { code, message: message.into(), help: help.into(), span: Some(span) }
    }

    /// A finding about the whole file.
    pub(super) fn whole(
        code: Code,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding { code, message: message.into(), help: help.into(), span: None }
    }
}

/// Turns findings into diagnostics in the order of the file.
///
/// The text is walked only once, because one file can have thousands of findings.
pub(super) fn diagnostics(mut findings: Vec<Finding>, path: &Path, text: &str) -> Vec<Diagnostic> {
    findings.sort_by_key(|finding| finding.span.as_ref().map(|span| span.start));
    let (mut offset, mut line, mut column) = (0, 1, 1);
    findings
        .into_iter()
        .map(|Finding { code, message, help, span }| {
            let mut diagnostic = Diagnostic::new(code, path, message, help);
            if let Some(span) = span {
                let start = char_boundary(text, span.start);
                let end = char_boundary(text, span.end).max(start);
                for c in text[offset..start].chars() {
                    match c {
                        '\n' => (line, column) = (line + 1, 1),
                        '\u{feff}' => {}
                        _ => column += 1,
                    }
                }
                offset = start;
                (diagnostic.line, diagnostic.column) = (line, column);
                diagnostic.span = Some(start..end);
            }
            diagnostic
        })
        .collect()
}

/// Returns the last character boundary at or before byte `at`.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_stand_in_the_order_of_the_file_with_its_lines() {
        let text = "\u{feff}añb\r\ncd";
        let finding = |start: usize, end: usize| Finding::new(Code::WrongType, start..end, "", "");
        let findings = vec![
            finding(text.len() + 5, text.len() + 9),
            finding(text.find('d').unwrap(), text.len()),
            Finding::whole(Code::NoFrontMatter, "", ""),
            finding(text.find('b').unwrap(), text.len()),
            finding(3, 5), // ends inside `ñ`
        ];
        let found: Vec<_> = diagnostics(findings, Path::new("x"), text)
            .into_iter()
            .map(|d| (d.line, d.column, d.span))
            .collect();
        let len = text.len();
        let expected = [
            (1, 1, None),
            (1, 1, Some(3..4)),
            (1, 3, Some(6..len)),
            (2, 2, Some(len - 1..len)),
            (2, 3, Some(len..len)),
        ];
        assert_eq!(found, expected);
    }
}
