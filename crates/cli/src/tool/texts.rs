//! The texts of a tool as its author wrote them, for the user who decides about them.

use repertoire::toolset::Tool;

use crate::output::{DIM, Page, styled};
use crate::sanitize;

/// Returns the first line of a tool's description as its author wrote it, safe for a terminal.
pub(crate) fn first_line(tool: &Tool) -> String {
    let texts = tool.written_texts();
    let description = texts.first().map(|(_, text)| text.as_str()).unwrap_or_default();
    sanitize::line(description.split('\n').next().unwrap_or_default()).into_owned()
}

/// Appends all other texts of a tool: the rest of its description, then the texts of its parameters, each
/// after its place.
pub(crate) fn show_others(tool: &Tool, indent: &str, page: &mut Page) {
    let mut texts = tool.written_texts().into_iter();
    let description = texts.next().unwrap_or_default().1;
    for line in description.split('\n').skip(1) {
        page.line(format_args!("{indent}{}", sanitize::line(line)));
    }
    for (place, text) in texts {
        let place = styled(DIM, sanitize::line(&place));
        let mut lines = text.split('\n').map(sanitize::line);
        page.line(format_args!("{indent}{place} {}", lines.next().unwrap_or_default()));
        for line in lines {
            page.line(format_args!("{indent}  {line}"));
        }
    }
}
