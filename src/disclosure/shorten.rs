//! Shortens text of skills to one line of a prompt.

use std::borrow::Cow;

use repertoire_text::invisible::without_invisible;

/// The beginning of the line of a native skill that a message calls for, in the words of all agents. No text of a
/// skill begins with it.
pub(in crate::disclosure) const CALL: &str = "use this skill: ";

/// Puts `text` on one line: a run of white space becomes one blank, and control and invisible formatting
/// characters are dropped, so that no description can break out of its line.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_ascii();
    if is_one_line(trimmed.as_bytes()) {
        return Cow::Borrowed(trimmed);
    }
    let mut line = String::with_capacity(text.len());
    for c in without_invisible(text).trim().chars() {
        if c.is_whitespace() {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_directional(c) {
            line.push(c);
        }
    }
    Cow::Owned(line)
}

/// Joins a mark and the description of a skill; either may be missing.
pub(super) fn marked(mark: Option<&str>, description: &str) -> String {
    match mark {
        None => description.to_owned(),
        Some(mark) if description.is_empty() => mark.to_owned(),
        Some(mark) => format!("{mark}; {description}"),
    }
}

/// Puts `path` on one line: line breaks, control and invisible characters are dropped. All else is kept,
/// blanks too, so that the file can be read.
pub fn path_line(path: &str) -> String {
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let is_kept = |c: &char| !ends_line(*c) && !is_directional(*c);
    without_invisible(path).chars().filter(is_kept).collect()
}

/// Tells whether a trimmed text is known to be on one line: it is printable ASCII with single blanks, as
/// nearly every text shown in a line is.
fn is_one_line(text: &[u8]) -> bool {
    let is_printable = text.iter().fold(true, |all, byte| all & (b' '..0x7f).contains(byte));
    let mut pairs = text.iter().zip(text.get(1..).unwrap_or_default());
    is_printable && pairs.all(|(a, b)| (*a | *b) != b' ')
}

/// Cuts `line` to at most `n_chars` characters, at a word, and marks the cut with `…`. Returns an empty
/// text if not even the `…` fits.
pub(super) fn cut(line: &str, n_chars: usize) -> String {
    let Some((limit, _)) = line.char_indices().nth(n_chars) else { return line.to_owned() };
    let Some((last, _)) = line[..limit].char_indices().next_back() else { return String::new() };
    let head = &line[..last];
    let ends_word = line[last..].starts_with(' ');
    let at_word = if ends_word { Some(last) } else { head.rfind(' ') };
    // Text without blanks, and a word longer than half the limit, is cut at the limit.
    let cut = at_word.filter(|&at| at * 2 >= last).unwrap_or(last);
    format!("{}…", head[..cut].trim_end_matches([' ', ',', ';', ':', '.']))
}

/// Beginnings of descriptions that tell nothing, in lower case, and what follows them.
const LEADS: [&str; 10] = [
    "this skill should be used when ",
    "this skill should be used for ",
    "use this skill when ",
    "use this skill whenever ",
    "use this skill for ",
    "use this skill to ",
    "use this when ",
    "use when ",
    "use whenever ",
    "use for ",
];
const SUBJECTS: [&str; 3] = ["the user is doing ", "the user is ", "the user "];

/// Returns `description` from where it begins to tell what the skill is for.
pub(super) fn without_leads(description: &str) -> &str {
    let Some(rest) = without_any(description, &LEADS) else { return description };
    without_any(rest, &SUBJECTS).unwrap_or(rest)
}

/// Returns `description` without the beginning of the engine's own line about a skill that is called for.
pub(super) fn without_call(description: &str) -> &str {
    without_any(description, &[CALL.trim_end()]).map_or(description, str::trim_start)
}

/// Returns `text` after the first of `starts` with which it begins, in any case of letters.
fn without_any<'t>(text: &'t str, starts: &[&str]) -> Option<&'t str> {
    let is_start = |start: &&&str| {
        text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    starts.iter().find(is_start).map(|start| &text[start.len()..])
}

/// Tells whether `c` is a directional mark, which [`without_invisible`] keeps beside text that runs from
/// right to left.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_nothing_stands_before_the_rest_only() {
        for (text, expected) in [
            ("Use this skill when the user is doing hands-on work.", "hands-on work."),
            ("This skill should be used when the user asks for x.", "asks for x."),
            ("USE WHEN tests fail.", "tests fail."),
            ("Use the user registry.", "Use the user registry."),
            ("Deploys. Use when asked.", "Deploys. Use when asked."),
            ("Use when ", ""),
            ("The user guide writer.", "The user guide writer."),
            ("使用", "使用"),
            ("", ""),
        ] {
            assert_eq!(without_leads(text), expected);
        }
        assert_eq!(without_call("Use this skill: call x."), "call x.");
        assert_eq!(without_call("Use this skill when x."), "Use this skill when x.");
    }

    #[test]
    fn a_line_is_a_line() {
        for (text, expected) in [
            ("as it is.", "as it is."),
            (" a  b\t", "a b"),
            ("a\u{7f}b", "ab"),
            ("é  x", "é x"),
            ("\u{a0}x", "x"),
            (" ", ""),
        ] {
            assert_eq!(one_line(text), expected, "{text:?}");
        }
        assert_eq!(one_line("De\u{200b}ploys\u{e0048}\u{e0069} it"), "Deploys it");
        assert_eq!(one_line(" a\n\n## b\u{1b}[0m\t\u{202e}c\u{2028}d "), "a ## b[0m c d");
    }

    #[test]
    fn a_path_keeps_its_blanks() {
        assert_eq!(path_line(" /a/[x] y  z\u{a0}/\\"), " /a/[x] y  z\u{a0}/\\");
        assert_eq!(path_line("/a\n/b\t\u{1b}\u{200b}\u{202e}/\u{2028}c"), "/a/b/c");
    }

    #[test]
    fn cutting_keeps_whole_words_within_the_limit() {
        let cases = [
            ("short", 5, "short"),
            ("one two three", 8, "one two…"),
            ("one two, three", 9, "one two…"),
            ("one twothree", 10, "one twoth…"),
            ("天气预报查询服务", 5, "天气预报…"),
            ("abc", 1, "…"),
            ("abc", 0, ""),
            ("", 0, ""),
        ];
        for (line, n_chars, expected) in cases {
            let cut = cut(line, n_chars);
            assert_eq!(cut, expected, "{line}");
            assert!(cut.chars().count() <= n_chars);
        }
    }
}
