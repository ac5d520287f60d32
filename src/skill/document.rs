//! Splits a file into its front matter and its body.
//!
//! Parsing is lenient: imprecise front matter is accepted, with a finding that says so.

use std::ops::Range;

use super::closing_fence::{self, ImpreciseFence};
use super::finding::Finding;
use super::front_matter::FrontMatter;
use super::lines::{Line, line_at, lines};
use super::{MAX_BODY_BYTES, MAX_FRONT_MATTER_BYTES};
use crate::diagnostic::Code;

/// The two parts of a `SKILL.md`, as byte positions in its text.
#[derive(Debug)]
pub(crate) struct Document {
    /// The YAML between the fences; empty if there is none.
    pub(crate) front_matter: Range<usize>,
    /// The byte at which the body starts; it extends to the end of the text.
    pub(crate) body: usize,
    /// The fault that was tolerated in order to find the front matter.
    pub(crate) tolerated_fault: Option<Finding>,
    /// The parsed front matter, if it had to be parsed to find its end.
    read: Option<FrontMatter>,
}

impl Document {
    /// Returns the parsed front matter. `text` must be the text that this document was split from. Call
    /// it at most once: a second call parses again.
    pub(super) fn read_front_matter(&mut self, text: &str) -> FrontMatter {
        let read = self.read.take();
        read.unwrap_or_else(|| FrontMatter::read(text, self.front_matter.clone()))
    }
}

const FORM: &str = "start the file with a line `---`, then `name: …` and `description: …`, \
                    then another line `---`";

/// Splits `text`; the error says why it cannot be a skill.
pub(crate) fn split(text: &str) -> Result<Document, Finding> {
    let document = find(text)?;
    let front_matter_bytes = document.front_matter.len();
    if front_matter_bytes > MAX_FRONT_MATTER_BYTES {
        return Err(Finding::new(
            Code::FrontMatterTooLarge,
            document.front_matter,
            format!("front matter of {front_matter_bytes} bytes is larger than 256 KiB"),
            "move the text from the front matter into the body",
        ));
    }
    let body_bytes = text.len() - document.body;
    if body_bytes > MAX_BODY_BYTES {
        return Err(Finding::new(
            Code::BodyTooLarge,
            document.body..document.body,
            format!("body of {body_bytes} bytes is larger than 2 MiB"),
            "move parts of the body into files next to `SKILL.md`, and name them in it",
        ));
    }
    Ok(document)
}

fn find(text: &str) -> Result<Document, Finding> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    if text[start..].trim().is_empty() {
        return Err(Finding::whole(Code::EmptyFile, "the file is empty", FORM));
    }
    let content = skip_blank_lines_and_comments(text, start);
    let found = if line_at(text, start).is_fence() {
        find_closed(text, start).or_else(|| find_unclosed(text, start))
    } else if line_at(text, content).is_fence() {
        find_late(text, content)
    } else {
        in_code_fence(text, content).or_else(|| without_fence(text, content))
    };
    Ok(found.unwrap_or_else(|| Document {
        front_matter: start..start,
        body: start,
        read: None,
        tolerated_fault: Some(Finding::whole(
            Code::NoFrontMatter,
            "the file has no front matter",
            FORM,
        )),
    }))
}

fn skip_blank_lines_and_comments(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = text[at..].trim_start();
        let content = text.len() - rest.len();
        match rest.strip_prefix("<!--").and_then(|comment| comment.find("-->")) {
            Some(length) => at = content + "<!--".len() + length + "-->".len(),
            // Back to the start of the line: indented text is not front matter.
            None => return text[at..content].rfind('\n').map_or(at, |end| at + end + 1),
        }
    }
}

/// Finds front matter whose opening fence is the line at `start`, and that has a closing fence.
///
/// A `---` inside of a block scalar is indented, so the first `---` in column one is the closing fence.
fn find_closed(text: &str, start: usize) -> Option<Document> {
    let opening = line_at(text, start);
    let closing = lines(text, opening.next).find(|line| line.is_fence());
    let end = closing.map_or(text.len(), |closing| closing.start);
    if let Some(ImpreciseFence { line, finding, above }) =
        closing_fence::find(text, opening.next..end)
    {
        let front_matter = opening.next..line.start;
        let (tolerated_fault, read) = (Some(finding), Some(above));
        return Some(Document { front_matter, body: line.next, tolerated_fault, read });
    }
    let closing = closing?;
    let front_matter = opening.next..closing.start;
    Some(Document { front_matter, body: closing.next, tolerated_fault: None, read: None })
}

/// Finds front matter below blank lines and comments. A `---` may be a horizontal rule there, so it
/// counts as a fence only if the first line of content after it is a key.
fn find_late(text: &str, start: usize) -> Option<Document> {
    let mut document = find_closed(text, start)?;
    let yaml = &text[..document.front_matter.end];
    lines(yaml, document.front_matter.start)
        .find(|line| !line.text.is_empty() && !line.text.starts_with('#'))
        .filter(|line| line.is_key())?;
    document.tolerated_fault = Some(Finding::new(
        Code::LateFrontMatter,
        start..start + 3,
        "the front matter does not start on the first line",
        "move the line `---` to the top of the file; other agents will not find it here",
    ));
    Some(document)
}

/// Finds front matter that has an opening fence but no closing `---`.
fn find_unclosed(text: &str, start: usize) -> Option<Document> {
    let opening = line_at(text, start);
    let (end, body, message) =
        if let Some(closing) = lines(text, opening.next).find(|line| line.text == "...") {
            (closing.start, closing.next, "the front matter is closed by `...`, not by `---`")
        } else {
            let end = end_of_keys(text, opening.next);
            (end, end, "the front matter is never closed")
        };
    lines(&text[..end], opening.next).find(|line| line.is_key())?;
    Some(Document {
        front_matter: opening.next..end,
        body,
        read: None,
        tolerated_fault: Some(Finding::new(
            Code::UnclosedFrontMatter,
            start..start + 3,
            message,
            "write a line `---` between the last key and the body",
        )),
    })
}

/// Returns the end of the lines that can be YAML: before a heading below a blank line, or before the
/// first line that is not a key, an indented line, an entry of a list or a comment.
fn end_of_keys(text: &str, start: usize) -> usize {
    let mut after_blank = None;
    for line in lines(text, start) {
        if line.text.is_empty() {
            after_blank = after_blank.or(Some(line.start));
            continue;
        }
        let heading = line.text.starts_with('#') && after_blank.is_some();
        let yaml = line.is_key() || line.text.starts_with([' ', '\t', '#']);
        let entry = line.text.starts_with("- ") && after_blank.is_none();
        if heading || !(yaml || entry) {
            return after_blank.unwrap_or(line.start);
        }
        after_blank = None;
    }
    text.len()
}

/// Finds front matter in a Markdown code fence, with or without `---` lines inside of it.
fn in_code_fence(text: &str, start: usize) -> Option<Document> {
    let opening = line_at(text, start);
    let marks = opening.text.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).trim_end();
    if marks.len() < 3 || !(marks.bytes().all(|b| b == b'`') || marks.bytes().all(|b| b == b'~')) {
        return None;
    }
    let is_closing = |line: &Line<'_>| line.text == marks;
    let first = lines(text, opening.next).find(|line| !line.text.is_empty())?;
    let (front_matter, body) = if first.is_fence() {
        let inner = find_closed(text, first.start)?;
        let after = line_at(text, inner.body);
        (inner.front_matter, if is_closing(&after) { after.next } else { inner.body })
    } else {
        let closing = lines(text, opening.next).find(is_closing)?;
        (opening.next..closing.start, closing.next)
    };
    lines(&text[..front_matter.end], front_matter.start)
        .find(|line| line.is_name_or_description())?;
    Some(Document {
        front_matter,
        body,
        read: None,
        tolerated_fault: Some(Finding::new(
            Code::FencedFrontMatter,
            opening.start..opening.start + opening.text.len(),
            "the front matter stands in a code fence",
            "replace the lines around it by lines `---`, the first at the top of the file",
        )),
    })
}

/// Finds front matter without an opening fence: keys at the top of the file, `name:` or `description:`
/// among them. It ends at a line `---`, or else at the first blank line that no known key follows.
fn without_fence(text: &str, start: usize) -> Option<Document> {
    let first = line_at(text, start);
    if !first.is_known_key() {
        return None;
    }
    let is_yaml = |line: &Line<'_>| {
        line.is_key() || line.text.is_empty() || line.text.starts_with([' ', '\t', '#', '-'])
    };
    let fence = lines(text, start).take_while(|line| is_yaml(line)).find(|line| line.is_fence());
    let closing = fence.or_else(|| end_without_fence(text, start, is_yaml));
    let (end, body) = closing.map_or((text.len(), text.len()), |line| (line.start, line.next));
    let above = || lines(&text[..end], start);
    // Text may begin with a word and a colon, so all lines must be YAML if the first key is another one.
    let is_front_matter = first.is_name_or_description()
        || above().all(|line| is_yaml(&line)) && above().any(Line::is_name_or_description);
    if !is_front_matter {
        return None;
    }
    Some(Document {
        front_matter: start..end,
        body,
        read: None,
        tolerated_fault: Some(Finding::new(
            Code::UnfencedFrontMatter,
            start..start + first.text.len(),
            "keys without fences stand in for front matter",
            "write a line `---` above the first key, and another below the last",
        )),
    })
}

/// Returns the blank line that ends front matter without fences: the first one that is not followed by a
/// known key and then lines of YAML only.
fn end_without_fence(
    text: &str,
    start: usize,
    is_yaml: impl Fn(&Line<'_>) -> bool,
) -> Option<Line<'_>> {
    let (mut blank, mut last) = (None, None);
    for line in lines(text, start) {
        if line.text.is_empty() {
            blank = blank.or(Some(line));
        } else if let Some(above) = blank.take() {
            if !line.is_known_key() {
                return Some(above);
            }
            last = Some(above);
        } else if last.is_some() && !is_yaml(&line) {
            return last;
        }
    }
    blank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (&str, &str, Option<Code>) {
        let document = split(text).expect(text);
        (
            &text[document.front_matter],
            &text[document.body..],
            document.tolerated_fault.map(|finding| finding.code),
        )
    }

    #[test]
    fn front_matter_stands_between_fences() {
        let cases = [
            ("---\nname: a\n---\nBody\n", "name: a\n", "Body\n"),
            ("\u{feff}---\nname: a\n---\nBody", "name: a\n", "Body"),
            ("---  \r\nname: a\r\n--- \t\r\nB\r\n", "name: a\r\n", "B\r\n"),
            ("---\nname: a\n---", "name: a\n", ""),
            ("---\n---\n", "", ""),
            ("---\nd: |\n  ---\n  x\n---\n---\nB", "d: |\n  ---\n  x\n", "---\nB"),
            ("---\na: ---\n  ----\n  ...\n---\nB", "a: ---\n  ----\n  ...\n", "B"),
        ];
        for (text, yaml, body) in cases {
            assert_eq!(parts(text), (yaml, body, None), "{text:?}");
        }
    }

    #[test]
    fn what_is_almost_front_matter_is_rescued() {
        use Code::*;
        let cases = [
            ("\n \n---\nname: a\n---\nB", "name: a\n", "B", LateFrontMatter),
            ("<!-- x\n-->\n\n---\nname: a\n---\nB", "name: a\n", "B", LateFrontMatter),
            ("```yaml\n---\nname: a\n---\n```\nB", "name: a\n", "B", FencedFrontMatter),
            ("```yaml\nname: a\n```\nB", "name: a\n", "B", FencedFrontMatter),
            ("```markdown\n---\nname: a\n---\nB\n```", "name: a\n", "B\n```", FencedFrontMatter),
            ("~~~\nname: a\n~~~\n", "name: a\n", "", FencedFrontMatter),
            ("name: a\ndescription: b\n\nB", "name: a\ndescription: b\n", "B", UnfencedFrontMatter),
            ("description: b\n---\nB", "description: b\n", "B", UnfencedFrontMatter),
            ("version: 1\nname: a\n---\nB", "version: 1\nname: a\n", "B", UnfencedFrontMatter),
            ("name: a\n\nverbs: b\n\n# T", "name: a\n", "verbs: b\n\n# T", UnfencedFrontMatter),
            ("name: a\n\npaths: b\n\n# T", "name: a\n\npaths: b\n", "# T", UnfencedFrontMatter),
            ("name: a\n\npaths: b\nT.\n", "name: a\n", "paths: b\nT.\n", UnfencedFrontMatter),
            ("---\nname: a\n...\nB", "name: a\n", "B", UnclosedFrontMatter),
            ("---\nname: a\n\n# T\nB", "name: a\n", "\n# T\nB", UnclosedFrontMatter),
            ("---\nname: a\nx:\n- b\n\nB", "name: a\nx:\n- b\n", "\nB", UnclosedFrontMatter),
            ("---\nname: a", "name: a", "", UnclosedFrontMatter),
        ];
        for (text, yaml, body, code) in cases {
            assert_eq!(parts(text), (yaml, body, Some(code)), "{text:?}");
        }
    }

    #[test]
    fn other_text_is_all_body() {
        let cases = [
            "# Title\n\nText\n",
            "Text\n\n---\n\nMore\n",
            "\n---\n\nText after a ruler.\n\n---\n",
            "---\nText after a ruler.\n",
            "```sh\nmake\n```\nText",
            "<!-- never closed\nname: a\n",
            "    name: a\n",
            "Name: a\n",
            "note: x\nname: a\n\nText",
            "version: 1\nText\nname: a\n\n",
        ];
        for text in cases {
            assert_eq!(parts(text), ("", text, Some(Code::NoFrontMatter)), "{text:?}");
        }
    }

    #[test]
    fn empty_and_oversized_files_are_refused() {
        let yaml = format!("---\n{}\n---\n", "#".repeat(MAX_FRONT_MATTER_BYTES));
        let body = format!("---\n---\n{}", "x".repeat(MAX_BODY_BYTES + 1));
        let cases = [
            ("", Code::EmptyFile),
            ("\u{feff} \r\n", Code::EmptyFile),
            (&*yaml, Code::FrontMatterTooLarge),
            (&*body, Code::BodyTooLarge),
        ];
        for (text, code) in cases {
            assert_eq!(split(text).unwrap_err().code, code);
        }
        assert!(split(&body[..body.len() - 1]).is_ok());
    }
}
