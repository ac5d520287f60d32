//! Code fences of Markdown, as `CommonMark` reads them: a fence may stand in a list item, and ends with it.

/// The columns by which a line of an indented code block is indented at least.
const CODE: usize = 4;

/// The open blocks of a body, read line by line, as far as they decide where code fences open and close.
#[derive(Debug, Default)]
pub(super) struct Fences<'a> {
    /// The columns at which the contents of the open list items start.
    items: Vec<usize>,
    /// The column and the marks of the open fence.
    open: Option<(usize, &'a str)>,
}

impl<'a> Fences<'a> {
    /// Reads the next line. Returns true if it belongs to a fenced code block.
    pub(super) fn read(&mut self, line: &'a str) -> bool {
        let (mut column, mut text) = indented(line.trim_end_matches([' ', '\t', '\r', '\n']), 0);
        if text.is_empty() {
            return self.open.is_some();
        }
        while self.items.last().is_some_and(|item| column < *item) {
            self.items.pop();
            self.open = None;
        }
        while self.open.is_none()
            && column < self.margin() + CODE
            && let Some(len) = list_marker(text)
        {
            let after = column + len;
            (column, text) = indented(&text[len..], after);
            // Further blanks are a part of an indented code block.
            let is_plain = !text.is_empty() && column <= after + CODE;
            self.items.push(if is_plain { column } else { after + 1 });
        }
        if column >= self.margin() + CODE {
            return self.open.is_some();
        }
        let mark = if text.starts_with('`') { '`' } else { '~' };
        let rest = text.trim_start_matches(mark);
        let marks = &text[..text.len() - rest.len()];
        match self.open {
            Some((_, open)) if rest.is_empty() && marks.starts_with(open) => self.open = None,
            Some(_) => {}
            // Backticks that close on their line are a code span.
            None if marks.len() >= 3 && !(mark == '`' && rest.contains('`')) => {
                self.open = Some((column, marks));
            }
            None => return false,
        }
        true
    }

    /// Returns the line that closes the open fence, inside of its list item.
    pub(super) fn closing(&self) -> Option<String> {
        self.open.map(|(column, marks)| " ".repeat(column) + marks)
    }

    /// The column at which the contents of the innermost list item start.
    fn margin(&self) -> usize {
        self.items.last().copied().unwrap_or(0)
    }
}

/// Returns the column after the blanks that `text` starts with, and the text from there. `column` is that
/// of `text`.
fn indented(text: &str, mut column: usize) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    for byte in text[..text.len() - rest.len()].bytes() {
        column += if byte == b'\t' { 4 - column % 4 } else { 1 };
    }
    (column, rest)
}

/// Returns the length of the list marker that `text` starts with: `-`, `+`, `*`, `1.` or `1)`.
fn list_marker(text: &str) -> Option<usize> {
    let n_digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let is_mark = match n_digits {
        0 => text.starts_with(['-', '+', '*']),
        1..=9 => text[n_digits..].starts_with(['.', ')']),
        _ => false,
    };
    let after = text.get(n_digits + 1..)?;
    (is_mark && (after.is_empty() || after.starts_with([' ', '\t']))).then_some(n_digits + 1)
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

    use super::*;

    /// Returns the lines of `body` that belong to fenced code blocks, as another program reads it.
    fn in_fences(body: &str) -> Vec<bool> {
        let events = Parser::new_ext(body, Options::empty()).into_offset_iter();
        let is_fence = |event: &Event<'_>| {
            matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))))
        };
        let blocks: Vec<_> = events.filter(|(event, _)| is_fence(event)).collect();
        let mut at = 0;
        let lines = body.split_inclusive('\n').map(|line| {
            at += line.len();
            let end = at - line.len() + line.trim_end().len();
            blocks.iter().any(|(_, range)| range.start < end && end <= range.end)
        });
        lines.collect()
    }

    #[test]
    fn fences_are_where_commonmark_sees_them() {
        for body in [
            "```sh\na\n```\nb",
            "````\n```\n````\nb",
            "~~~ `a`\n```\n~~~\nb",
            "```~~~\na\n```\nb",
            "Run:\n\n```npm test```\nb",
            "```a`b\nb",
            "a\n\n    ```\n    b",
            "a\n\n\t```\nb",
            "   ```\na\n    ```\n   ```\nb",
            "```\na\n``` b\n~~~\n```\nb",
            "- a\n\n  ```\n  b\n  ```\n  c\n\nd",
            "- a\n\n  ```\n  b\n\nc\n```\nd",
            "- ```sh\n  a\n  ```\n  b\n\nc",
            "1. a\n   - b\n\n     ```\n     c\n     ```\n     d\n   ```\n   e\n   ```\nf",
            "10) a\n\n    ```\n    b\n    ```\nc",
            "-\ta\n\n\t```\n\tb\n\t```\nc",
            "-     ```\n\n  ```\n  a\n  ```\nb",
            "1234567890. a\n\n    ```\nb",
            "é\n```\n\u{2028}é\n```\né",
        ] {
            let mut fences = Fences::default();
            let read: Vec<bool> =
                body.split_inclusive('\n').map(|line| fences.read(line)).collect();
            assert_eq!(read, in_fences(body), "{body:?}");
        }
    }
}
