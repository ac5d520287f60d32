//! Short descriptions of a skill: the first sentence of its description, and, for a skill without a
//! description, the first paragraph of its body.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// The longest brief description, in characters.
const MAX_BRIEF_CHARS: usize = 80;

/// The longest description taken from a body, in characters: the limit of the Agent Skills
/// specification.
const MAX_PARAGRAPH_CHARS: usize = 1024;

/// Abbreviations: a full stop after one of them does not end a sentence.
const ABBREVIATIONS: &[&str] =
    &["e.g", "eg", "i.e", "ie", "etc", "vs", "cf", "ca", "approx", "incl", "dr", "mr", "mrs", "st"];

/// Abbreviations before a number: a full stop between the two does not end a sentence.
const BEFORE_NUMBERS: &[&str] =
    &["ch", "eq", "fig", "figs", "no", "nos", "nr", "p", "pp", "sec", "vol"];

/// Returns the first sentence of `description` on one line, with its own punctuation.
pub(super) fn brief(description: &str) -> String {
    let paragraph: Vec<&str> =
        description.trim().lines().take_while(|line| !line.trim().is_empty()).collect();
    let line = one_line(&paragraph.join(" "));
    shorten(&line[..first_sentence_end(&line)], MAX_BRIEF_CHARS)
}

/// Returns the first paragraph or entry of a list in a Markdown text.
pub(super) fn first_paragraph(body: &str) -> Option<String> {
    let blocks = Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter();
    let mut prose = blocks.filter(|(block, range)| {
        matches!(block, Event::Start(Tag::Paragraph | Tag::Item))
            && body[range.clone()].contains(char::is_alphanumeric)
    });
    prose.next().map(|(_, range)| shorten(&one_line(&body[range]), MAX_PARAGRAPH_CHARS))
}

/// Replaces every run of white space by one blank.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the end of the first sentence of a text on one line, with the marks that close it.
pub(crate) fn first_sentence_end(line: &str) -> usize {
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match c {
            '。' | '！' | '？' | '؟' | '۔' | '।' => return end,
            '.' | '!' | '?' => {
                let rest =
                    line[end..].trim_start_matches(['"', '\'', ')', ']', '*', '”', '’', '`']);
                let closed = line.len() - rest.len();
                if !rest.is_empty() && !rest.starts_with(' ') {
                    continue;
                }
                // "Asks "why?" first.": the quotation ends, the sentence does not.
                let goes_on = if c == '.' {
                    is_abbreviation(&line[..at], rest)
                } else {
                    closed > end && rest.trim_start().starts_with(char::is_lowercase)
                };
                if !goes_on {
                    return closed;
                }
            }
            _ => {}
        }
    }
    line.len()
}

/// Tells whether the full stop after `before` does not end a sentence: it follows an abbreviation, an
/// initial or a number, or the text continues in lower case.
fn is_abbreviation(before: &str, rest: &str) -> bool {
    let written = before.rsplit(' ').next().unwrap_or_default();
    let written = written.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = written.to_lowercase();
    let next = rest.trim_start();
    // "U.S. Treasury", "J. Doe"; "1. First".
    let is_capital = |part: &str| part.chars().count() == 1 && part.starts_with(char::is_uppercase);
    let initial = written.split('.').all(is_capital) && !next.is_empty();
    let number =
        word.len() == before.trim_start().len() && word.bytes().all(|b| b.is_ascii_digit());
    initial
        || number
        || (ABBREVIATIONS.contains(&word.as_str())
            && !(word == "etc" && next.starts_with(char::is_uppercase)))
        || (BEFORE_NUMBERS.contains(&word.as_str()) && next.starts_with(char::is_numeric))
        || next.starts_with(char::is_lowercase)
}

/// Cuts the text between words to at most `max_chars` characters, including the `…`.
fn shorten(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max_chars - 1).map_or(text.len(), |(at, _)| at);
    let at_word = if text[end..].starts_with(' ') { Some(end) } else { text[..end].rfind(' ') };
    let kept = text[..at_word.unwrap_or(end)].trim_end_matches([' ', ',', ';', ':', '-', '–', '—']);
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brief_is_the_first_sentence() {
        let cases = [
            ("Deploys things. Use when asked.", "Deploys things."),
            ("Version 1.2 of x. More.", "Version 1.2 of x."),
            ("Reads files, e.g. PDF or i.e. this. More.", "Reads files, e.g. PDF or i.e. this."),
            ("Tests, linting etc. More of it. End.", "Tests, linting etc."),
            ("Tests, linting, etc. in order. End.", "Tests, linting, etc. in order."),
            ("Query the U.S. Treasury data. More.", "Query the U.S. Treasury data."),
            ("1. First thing. 2. Second", "1. First thing."),
            ("No full stop", "No full stop"),
            ("One line\nof two. Three.", "One line of two."),
            ("A paragraph\n\nAnother.", "A paragraph"),
            ("Why? Because.", "Why?"),
            ("Says \"stop.\" Then goes.", "Says \"stop.\""),
            ("生成图片。更多内容。", "生成图片。"),
            ("هذا وصف؟ ثان.", "هذا وصف؟"),
            ("यह है। दूसरा", "यह है।"),
            ("Asks \"why?\" first. Next.", "Asks \"why?\" first."),
            ("Asks \"why?\" Next.", "Asks \"why?\""),
            ("See Fig. 3 for more. Next.", "See Fig. 3 for more."),
            ("No. 1 tool for x. Next.", "No. 1 tool for x."),
            ("Just say no. Next.", "Just say no."),
            ("Edit SKILL.md files. More.", "Edit SKILL.md files."),
            ("", ""),
        ];
        for (description, expected) in cases {
            assert_eq!(brief(description), expected, "{description:?}");
        }
    }

    #[test]
    fn long_sentences_are_cut_at_a_word_to_80_characters() {
        let long = brief(&"ñandú ".repeat(40));
        assert_eq!(long, format!("{}ñandú…", "ñandú ".repeat(12)));
        assert_eq!(brief(&"é".repeat(100)), format!("{}…", "é".repeat(79)));
        assert_eq!(brief(&"x".repeat(80)), "x".repeat(80));
        let cut_at_end = format!("{} {}", "x".repeat(79), "y".repeat(9));
        assert_eq!(brief(&cut_at_end), format!("{}…", "x".repeat(79)));
    }

    #[test]
    fn first_paragraph_is_prose() {
        let cases = [
            ("# Just text\n\nFirst paragraph here.\n", Some("First paragraph here.")),
            ("<!-- a\nb -->\n## T\n```sh\nx\n```\nOne\n  two\r\n\nThree", Some("One two")),
            ("Title\n# Next", Some("Title")),
            ("---\n\n| a | b |\n|---|---|\n\n#hashtag text", Some("#hashtag text")),
            ("- an entry", Some("- an entry")),
            ("# Only a heading", None),
            ("```\nnever closed", None),
            ("", None),
        ];
        for (body, expected) in cases {
            assert_eq!(first_paragraph(body).as_deref(), expected, "{body:?}");
        }
        let long = first_paragraph(&"word ".repeat(200_000)).unwrap();
        assert_eq!(long.chars().count(), "word ".len() * 204);
    }
}
