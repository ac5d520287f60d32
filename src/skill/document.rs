//! Splits a file into its front matter and its body.

use std::ops::Range;

use super::finding::Finding;
use super::{MAX_BODY_BYTES, MAX_FRONT_MATTER_BYTES};
use crate::diagnostic::Code;

/// The two parts of a `SKILL.md`, as byte positions in its text.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) fences: Fences,
    /// The YAML between the fences. If one of them is missing, the text in which keys may be: the text
    /// below the opening fence, or all of the text.
    pub(crate) front_matter: Range<usize>,
    /// The byte at which the body starts; it extends to the end of the text.
    pub(crate) body: usize,
    /// The reason why other programs may not find the front matter.
    pub(crate) tolerated_fault: Option<Finding>,
}

/// The fences of the front matter that a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fences {
    Both,
    /// Only the opening fence, so it is unknown where the front matter ends. All of the text is body.
    Opening,
    /// No line `---` at the top of the file. All of the text is body.
    None,
}

const FORM: &str = "start the file with a line `---`, then `name: …` and `description: …`, \
                    then another line `---`";

/// Splits `text`; the error says why it cannot be a skill.
pub(crate) fn split(text: &str) -> Result<Document, Finding> {
    let document = find(text)?;
    let front_matter_bytes = document.front_matter.len();
    if document.fences == Fences::Both && front_matter_bytes > MAX_FRONT_MATTER_BYTES {
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
    let Some(first) = lines(text, start).find(|line| !text[line.clone()].trim().is_empty()) else {
        return Err(Finding::whole(Code::EmptyFile, "the file is empty", FORM));
    };
    let rest = first.end..text.len();
    let (fences, front_matter, body, tolerated_fault) = if !is_fence(&text[first.clone()]) {
        let fault = fault_without_fence(text, first.end);
        (Fences::None, start..text.len(), start, Some(fault))
    } else if let Some(closing) = lines(text, rest.start).find(|line| is_fence(&text[line.clone()]))
    {
        let late = Finding::new(
            Code::LateFrontMatter,
            first.start..first.start + 3,
            "the front matter does not start on the first line",
            "move the line `---` to the top of the file; other agents will not find it here",
        );
        let fault = (first.start > start).then_some(late);
        (Fences::Both, rest.start..closing.start, closing.end, fault)
    } else {
        let fault = Finding::new(
            Code::UnclosedFrontMatter,
            first.start..first.start + 3,
            "the front matter is never closed, so no more is read than the name, the description, \
             and the fields that restrict the skill",
            "write a line `---` between the last key and the body",
        );
        (Fences::Opening, rest, start, Some(fault))
    };
    Ok(Document { fences, front_matter, body, tolerated_fault })
}

/// The fault of a text whose first line, which ends at `end`, is not a fence: its front matter is further
/// down, or it has none.
fn fault_without_fence(text: &str, end: usize) -> Finding {
    let starts_front_matter = |fence: &Range<usize>| {
        let below = &text[fence.end..];
        is_fence(&text[fence.clone()])
            && ["name:", "description:"].iter().any(|key| below.starts_with(key))
    };
    match lines(text, end).find(starts_front_matter) {
        Some(fence) => Finding::new(
            Code::LateFrontMatter,
            fence.start..fence.start + 3,
            "text comes before the front matter, which is read as text, too",
            "move the front matter to the top of the file",
        ),
        None => Finding::whole(Code::NoFrontMatter, "the file has no front matter", FORM),
    }
}

/// The lines from byte `start` on, with their line ends: a line feed, or a carriage return in a text that has
/// nothing else.
fn lines(text: &str, start: usize) -> impl Iterator<Item = Range<usize>> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut at = start;
    text[start..].split_inclusive(end).map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

/// Tells whether a line is a fence. A `---` in a block scalar is none, because it is indented.
fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("\n \n---\nname: a\n---\nB", "name: a\n", "B"),
            ("---\rname: a\r---\rB\r", "name: a\r", "B\r"),
        ];
        for (text, yaml, body) in cases {
            let document = split(text).expect(text);
            assert_eq!(document.fences, Fences::Both, "{text:?}");
            assert_eq!((&text[document.front_matter], &text[document.body..]), (yaml, body));
            let code = document.tolerated_fault.map(|finding| finding.code);
            assert_eq!(code, text.starts_with('\n').then_some(Code::LateFrontMatter), "{text:?}");
        }
    }

    #[test]
    fn a_text_without_both_fences_is_all_body() {
        use Code::*;
        for (text, fences, code) in [
            ("---\nname: a\n\n# T\nB", Fences::Opening, UnclosedFrontMatter),
            ("---\nname: a\n...\nB", Fences::Opening, UnclosedFrontMatter),
            ("---\nText after a ruler.\n", Fences::Opening, UnclosedFrontMatter),
            ("<!-- x -->\n---\nname: a\n---\nB", Fences::None, LateFrontMatter),
            ("```yaml\n---\nname: a\n---\n```\nB", Fences::None, LateFrontMatter),
            ("# Title\n\nText\n", Fences::None, NoFrontMatter),
            ("Text\n\n---\n\nMore\n", Fences::None, NoFrontMatter),
            ("name: a\ndescription: b\n\nText", Fences::None, NoFrontMatter),
            ("  ---\nname: a\n---\n", Fences::None, NoFrontMatter),
        ] {
            let document = split(text).expect(text);
            assert_eq!((document.fences, document.body), (fences, 0), "{text:?}");
            assert_eq!(
                document.tolerated_fault.map(|finding| finding.code),
                Some(code),
                "{text:?}"
            );
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
