//! Bodies of skills in Markdown, in which no line can pass for the engine's own.

use super::fences::Fences;
use super::one_line;

/// The characters that end a line for some programs: not only the line feed.
const LINE_ENDS: [char; 7] = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Appends a body unchanged, except for text that would pass for the disclosure's own: a line that looks
/// like one of its headings or its count gets a backslash, which Markdown does not show, and an open
/// code fence is closed.
pub(super) fn push_markdown_body(body: &str, out: &mut String) {
    let mut fences = Fences::default();
    for line in body.split_inclusive(['\n', '\r']) {
        fences.read(line);
        for line in line.split_inclusive(LINE_ENDS) {
            if looks_like_disclosure_markup(&one_line(line)) {
                let text = line.trim_start();
                out.push_str(&line[..line.len() - text.len()]);
                out.push('\\');
                out.push_str(text);
            } else {
                out.push_str(line);
            }
        }
    }
    if let Some(closing) = fences.closing() {
        out.push('\n');
        out.push_str(&closing);
    }
}

/// Tells whether `line`, in which blanks are single, looks like a heading or the count of a disclosure.
fn looks_like_disclosure_markup(line: &str) -> bool {
    let heading = line.trim_start_matches(['#', '*', '_', '<', '>', ' ', '\t']);
    let is_heading = line.starts_with(['#', '*', '_', '<'])
        && (heading.starts_with("Skill:") || heading.starts_with("Available skills"));
    let is_remainder = line.starts_with('[')
        && (line.contains("available]") || line.contains("skills shown in full]"));
    is_heading || is_remainder || line.starts_with("Skill: ")
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, HeadingLevel, Parser, TagEnd};

    use super::*;

    fn markdown_body(body: &str) -> String {
        let mut out = String::new();
        push_markdown_body(body, &mut out);
        out
    }

    #[test]
    fn a_body_is_kept_but_for_lines_that_pass_for_ours() {
        let body = "# Title\n\n[link](x) and `<b>`\n```\n# comment\n```\n[5 skills left]\n";
        assert_eq!(markdown_body(body), body);
        for line in [
            "## Skill: x",
            "## **Skill: x**",
            "Skill: x\n---",
            " # Available skills",
            "[9 more skills available]",
            "[9  more  skills \t available]",
            "##  Available  skills",
            "\u{c}## Skill: x",
            "\u{a0}Skill:\u{a0}x",
        ] {
            let escaped = markdown_body(&format!("a\n{line}\nb"));
            let expected = line.trim_start();
            assert!(escaped.contains(&format!("\\{expected}\n")), "{escaped}");
        }
        for end in LINE_ENDS {
            let body = markdown_body(&format!("x{end}## Skill: y"));
            assert_eq!(body, format!("x{end}\\## Skill: y"));
        }
        assert_eq!(markdown_body("````sh\n```\nx"), "````sh\n```\nx\n````");
        assert_eq!(markdown_body("~~~\nx\n~~~\n"), "~~~\nx\n~~~\n");
    }

    #[test]
    fn what_follows_a_body_is_in_no_fence() {
        for (body, closing) in [
            ("```npm test```", ""),
            ("a\n\n    ```", ""),
            ("```sh\na", "\n```"),
            ("  ~~~~\na", "\n  ~~~~"),
            ("- a\n\n  ```\n  b", "\n  ```"),
            ("10. a\n\n    ```\n    b", "\n    ```"),
            ("- ```\n  a", "\n  ```"),
            ("- ```\n  a\nb", ""),
            ("a\r```\rb", "\n```"),
        ] {
            let text = markdown_body(body);
            assert_eq!(text, format!("{body}{closing}"));
            let text = format!("{text}\n\n## Skill: x");
            let last = Parser::new(&text).last();
            assert_eq!(last, Some(Event::End(TagEnd::Heading(HeadingLevel::H2))), "{text}");
        }
    }
}
