//! Diagnostics for people: in one line, or with an excerpt of the file.

use std::ops::Range;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use anstyle::Style;
use repertoire::{Diagnostic, Severity};

use crate::output::{ERROR, HELP, NAME, Output, WARNING, styled};
use crate::sanitize;

/// The length in characters to which quoted lines are cut if a span covers several lines.
const MAX_LINE_CHARS: usize = 120;

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Note => NAME,
    }
}

/// Formats a diagnostic as one line, and its help as another.
pub(crate) fn short(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, severity, path, line, column, message, help, .. } = diagnostic;
    let path = path.to_string_lossy();
    let place = match sanitize::line(&path) {
        path if path.is_empty() => String::new(),
        path if has_place(diagnostic) => format!("{path}:{line}:{column}: "),
        path => format!("{path}: "),
    };
    let title = styled(style(*severity), format_args!("{severity}[{code}]"));
    let text = format!("{place}{title}: {}", sanitize::line(message));
    if help.is_empty() {
        return text;
    }
    format!("{text}\n  {}: {}", styled(HELP, "help"), sanitize::line(help))
}

/// Tells whether a diagnostic is about a place in a file, rather than a whole file or directory.
fn has_place(Diagnostic { span, line, column, .. }: &Diagnostic) -> bool {
    span.is_some() || (*line, *column) != (1, 1)
}

/// Numbers of findings by severity.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
}

impl Counts {
    pub(crate) fn of(diagnostics: &[Diagnostic]) -> Counts {
        let mut counts = Counts::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }
}

/// Returns `n` followed by the singular or the plural of `thing`.
pub(crate) fn count(n: usize, thing: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{s}")
}

/// Formats a share, from 0 to 1, in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a share in percent, or as a dash if there is none.
pub(crate) fn percent_or_dash(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), percent)
}

/// Returns the renderer of excerpts for standard output.
pub(crate) fn renderer(out: Output) -> Renderer {
    let renderer =
        if out.colors(&std::io::stdout()) { Renderer::styled() } else { Renderer::plain() };
    renderer.term_width(Output::width().map_or(DEFAULT_TERM_WIDTH, usize::from))
}

/// Draws a diagnostic with the lines that it is about, if `source`, the text of the file, is known.
pub(crate) fn excerpt(diagnostic: &Diagnostic, source: Option<&str>, draw: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let path = diagnostic.path.to_string_lossy();
    let path = sanitize::line(&path);
    let title =
        level.primary_title(sanitize::line(&diagnostic.message)).id(diagnostic.code.as_str());
    let place = source.zip(diagnostic.span.clone()).and_then(|(source, span)| lines(source, span));
    let mut group = match place {
        Some(Lines { text, first_line, span }) => title.element(
            Snippet::source(text)
                .line_start(first_line)
                .path(path.as_ref())
                .annotation(AnnotationKind::Primary.span(span)),
        ),
        None if path.is_empty() => Group::with_title(title),
        None => {
            let origin = Origin::path(path.as_ref());
            if has_place(diagnostic) {
                title.element(origin.line(diagnostic.line).char_column(diagnostic.column))
            } else {
                title.element(origin)
            }
        }
    };
    if !diagnostic.help.is_empty() {
        group = group.element(Level::HELP.message(sanitize::line(&diagnostic.help)));
    }
    draw.render(&[group])
}

/// Whole lines of a file.
struct Lines {
    text: String,
    /// The number of the first line, from 1.
    first_line: usize,
    /// The range of the finding, in bytes of `text`.
    span: Range<usize>,
}

/// Returns the lines that `span` touches; `None` if the span is not in `source`, as the file has
/// changed.
fn lines(source: &str, span: Range<usize>) -> Option<Lines> {
    source.get(span.clone())?;
    let start = source[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let last = span.end.max(span.start + 1).min(source.len()) - usize::from(!source.is_empty());
    let end = source.as_bytes()[last..].iter().position(|&byte| byte == b'\n');
    let end = end.map_or(source.len(), |at| last + at).max(span.end);
    let first_line = source[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
    let span = span.start - start..span.end - start;
    let (text, spans) = quoted(&source[start..end], std::slice::from_ref(&span));
    let span = spans.into_iter().next()?;
    Some(Lines { text, first_line, span })
}

/// Returns the lines of `source` to quote, and the positions of `spans` in them. The lines are safe
/// for a terminal and not much wider than one: if a span covers several lines, long lines are cut
/// here; otherwise the renderer cuts them.
pub(crate) fn quoted(source: &str, spans: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let (safe, spans) = sanitize::quoted(source, spans);
    if !spans.iter().any(|span| safe[span.clone()].contains('\n')) {
        return (safe, spans);
    }
    let mut short = String::new();
    let mut moved = spans.clone();
    let mut start = 0;
    for line in safe.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        let kept = content.char_indices().nth(MAX_LINE_CHARS).map_or(content.len(), |(at, _)| at);
        let (short_start, ellipsis) = (short.len(), if kept < content.len() { "…" } else { "" });
        short.extend([&content[..kept], ellipsis, &line[content.len()..]]);
        let short_end = short.len();
        // A position in the omitted part moves to the end of the ellipsis.
        let place = |at: usize| match at - start {
            at if at <= kept => short_start + at,
            at if at <= content.len() => short_start + kept + ellipsis.len(),
            _ => short_end,
        };
        for (span, moved) in spans.iter().zip(&mut moved) {
            if (start..start + line.len()).contains(&span.start) {
                moved.start = place(span.start);
            }
            if (start + 1..=start + line.len()).contains(&span.end) {
                moved.end = place(span.end);
            }
        }
        start += line.len();
    }
    for (span, moved) in spans.iter().zip(&mut moved) {
        if span.start >= safe.len() {
            moved.start = short.len();
        }
    }
    (short, moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_whole_lines() {
        let source = "one\ntwo three\r\nfour";
        for (quoted, wanted, line) in [
            ("two", "two three", 2),
            ("three", "two three", 2),
            ("four", "four", 3),
            ("one\ntwo", "one\ntwo three", 1),
            ("\n", "one", 1),
            ("", "one", 1),
        ] {
            let start = source.find(quoted).unwrap();
            let lines = lines(source, start..start + quoted.len()).unwrap();
            assert_eq!(
                (lines.text.trim_end_matches(['\r', '\n']), lines.first_line),
                (wanted, line)
            );
        }
        assert!(lines(source, 90..99).is_none());
        assert_eq!(lines("", 0..0).unwrap().text, "");
        let end = lines(source, source.len()..source.len()).unwrap();
        assert_eq!((end.text.as_str(), end.first_line), ("four", 3));
    }

    #[test]
    fn long_lines_are_shortened_below_a_span_of_several() {
        let long = "é".repeat(500);
        let source = format!("ab\n{long}\ncd");
        let (deep, end_of_long) = (3 + 2 * 400, 3 + 2 * 500);
        let short = format!("{}…", "é".repeat(120));
        let lines = format!("ab\n{short}\ncd");
        for (span, wanted) in [
            (0..source.len(), lines.clone()),
            (1..end_of_long, format!("b\n{short}")),
            (1..deep, format!("b\n{short}")),
            (3..end_of_long + 1, format!("{short}\n")),
            (deep..source.len(), "\ncd".to_owned()),
        ] {
            let end = source.len()..source.len();
            let (text, spans) = quoted(&source, &[span.clone(), 1..1, 3..3, end]);
            assert_eq!((&text, &text[spans[0].clone()]), (&lines, wanted.as_str()), "{span:?}");
            assert_eq!(spans[1..], [1..1, 3..3, lines.len()..lines.len()]);
        }
        let of_one_line = [1..2, deep..end_of_long];
        assert_eq!(quoted(&source, &of_one_line), (source.clone(), of_one_line.to_vec()));
    }

    #[test]
    fn things_are_counted_in_the_right_number() {
        assert_eq!([0, 1, 2].map(|n| count(n, "note")), ["0 notes", "1 note", "2 notes"]);
    }
}
