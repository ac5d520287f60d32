//! Access to the entries of a YAML map: each is taken by name, and converted to the type that its field
//! needs.

use std::ops::Range;

use super::finding::Finding;
use super::keys::{CLOSING_KEYS, normalized};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The text that values are read from, and the findings collected while reading.
pub(super) struct Reader<'a> {
    pub(super) file: &'a str,
    pub(super) findings: Vec<Finding>,
}

impl Reader<'_> {
    pub(super) fn report(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings.push(Finding::new(code, span, message, help));
    }

    fn wrong_type(&mut self, field: &str, node: &Node, wanted: &str, example: &str) {
        self.report(
            Code::WrongType,
            node.span.clone(),
            format!("`{field}` is {}, not {wanted}", node.kind()),
            format!("write `{example}`"),
        );
    }

    /// Reads a text and trims it; `None` if it is empty.
    pub(super) fn text(&mut self, field: &str, node: &Node) -> Option<Spanned<String>> {
        match node.text().map(str::trim) {
            Some("") => None,
            Some(text) => Some(Spanned { value: text.to_owned(), span: node.span.clone() }),
            None if node.is_null() => None,
            None => {
                self.wrong_type(field, node, "text", &format!("{field}: \"…\""));
                None
            }
        }
    }

    /// Reads a [`truth_value`], with or without quotes.
    pub(super) fn boolean(&mut self, field: &str, node: &Node) -> Option<Spanned<bool>> {
        if node.is_null() {
            return None;
        }
        let value = node.text().and_then(truth_value);
        if value.is_none() {
            let fault = match node.text() {
                Some("") => "cannot be read".to_owned(),
                Some(text) => format!("is `{}`, neither `true` nor `false`", excerpt(text)),
                None => format!("is {}, not true or false", node.kind()),
            };
            let help = format!("write `{field}: true` or `{field}: false`");
            self.report(Code::WrongType, node.span.clone(), format!("`{field}` {fault}"), help);
        }
        Some(Spanned { value: value?, span: node.span.clone() })
    }

    /// Reads the flag of a field that restricts the skill if it is `restricting`. A value that cannot be
    /// read restricts it, too.
    pub(super) fn restriction(
        &mut self,
        field: &str,
        node: &Node,
        restricting: bool,
    ) -> Option<Spanned<bool>> {
        let read = self.boolean(field, node);
        if read.is_some() || node.is_null() {
            return read;
        }
        if let Some(finding) = self.findings.last_mut() {
            finding.message.push_str("; it restricts the skill");
        }
        Some(Spanned { value: restricting, span: node.span.clone() })
    }

    /// Returns the entries of a map.
    pub(super) fn mapping<'n>(
        &mut self,
        field: &str,
        node: &'n Node,
        example: &str,
    ) -> Option<&'n [(Node, Node)]> {
        match &node.value {
            Value::Mapping(entries) => Some(entries),
            _ if node.is_null() => None,
            _ => {
                self.wrong_type(field, node, "a map", example);
                None
            }
        }
    }

    /// Reads a list of texts, or one text that `split` divides into several.
    pub(super) fn list(
        &mut self,
        field: &str,
        node: &Node,
        split: fn(&str) -> Vec<Range<usize>>,
    ) -> Vec<Spanned<String>> {
        let example = format!("{field}: [one, two]");
        match &node.value {
            Value::Sequence(entries) => entries
                .iter()
                .filter_map(|entry| {
                    if matches!(entry.value, Value::Scalar { .. }) {
                        return self.text(field, entry);
                    }
                    let message = format!("an entry of `{field}` is {}, not text", entry.kind());
                    let help = format!("write `{example}`");
                    self.report(Code::WrongType, entry.span.clone(), message, help);
                    None
                })
                .collect(),
            Value::Scalar { .. } => {
                let text = node.text().unwrap_or_default();
                trimmed(text, split(text))
                    .map(|range| Spanned {
                        value: text[range.clone()].to_owned(),
                        span: node.place(self.file, range),
                    })
                    .collect()
            }
            Value::Mapping(_) => {
                self.wrong_type(field, node, "a list", &example);
                Vec::new()
            }
        }
    }
}

/// Reads `true`, `yes`, `on` or `1`, or `false`, `no`, `off` or `0`, in upper or lower case.
pub(super) fn truth_value(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Shrinks each of `ranges` to exclude white space around its text, and drops empty ranges.
pub(super) fn trimmed(
    text: &str,
    ranges: impl IntoIterator<Item = Range<usize>>,
) -> impl Iterator<Item = Range<usize>> {
    ranges.into_iter().filter_map(|range| {
        let part = &text[range.clone()];
        let start = range.start + (part.len() - part.trim_start().len());
        let end = start + part.trim().len();
        (start < end).then_some(start..end)
    })
}

/// Splits `text` at the characters for which `is_separator` holds, except inside of the brackets `open`
/// and `close`.
fn split_outside(
    text: &str,
    [open, close]: [char; 2],
    is_separator: impl Fn(char) -> bool,
) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && is_separator(c) {
            ranges.push(start..at);
            start = at + c.len_utf8();
        }
    }
    ranges.push(start..text.len());
    ranges
}

/// Tells whether a character is a comma on some keyboard.
pub(crate) fn is_comma(c: char) -> bool {
    matches!(c, ',' | '，' | '、' | '،')
}

/// Splits at commas and line ends.
pub(super) fn at_commas(text: &str) -> Vec<Range<usize>> {
    split_outside(text, ['\0', '\0'], |c| is_comma(c) || c == '\n')
}

/// Splits at commas and line ends, but not inside of `{a,b}` in a glob.
pub(super) fn at_commas_of_globs(text: &str) -> Vec<Range<usize>> {
    split_outside(text, ['{', '}'], |c| c == ',' || c == '\n')
}

/// Splits at commas, semicolons, bars and white space, but not inside of parentheses as in `Bash(git add:*)`.
pub(super) fn at_commas_of_tools(text: &str) -> Vec<Range<usize>> {
    split_outside(text, ['(', ')'], |c| is_comma(c) || ";|".contains(c) || c.is_whitespace())
}

/// Splits at line ends.
pub(super) fn at_lines(text: &str) -> Vec<Range<usize>> {
    split_outside(text, ['\0', '\0'], |c| c == '\n')
}

/// The first 60 characters of a text on one line, for messages.
pub fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = line.clone().take(MAX_CHARS).collect();
    if line.count() > MAX_CHARS {
        shown.push('…');
    }
    shown
}

/// An entry of a map that has not been taken yet.
pub(super) struct Field<'n> {
    name: String,
    pub(super) key: &'n Node,
    pub(super) value: &'n Node,
}

/// The entries of a map that have not been taken yet.
#[derive(Default)]
pub(super) struct Fields<'n> {
    entries: Vec<Field<'n>>,
}

impl<'n> Fields<'n> {
    /// Collects the entries whose key is text. If a key occurs twice, in whatever spelling, the last
    /// entry counts.
    pub(super) fn new(entries: &'n [(Node, Node)], reader: &mut Reader<'_>) -> Fields<'n> {
        let mut fields: Vec<Field<'n>> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for (key, value) in entries {
            let Some(text) = key.text() else { continue };
            let name = normalized(text);
            let field = Field { name: name.clone(), key, value };
            let Some(earlier) = places.insert(name, fields.len()) else {
                fields.push(field);
                continue;
            };
            places.insert(field.name.clone(), earlier);
            reader.findings.push(duplicate_key(text, key.span.clone()));
            fields[earlier] = field;
        }
        Fields { entries: fields }
    }

    /// Takes the value of the field `name`, spelt with `_`.
    pub(super) fn take(&mut self, name: &str) -> Option<&'n Node> {
        let at = self.entries.iter().position(|field| field.name == name)?;
        Some(self.entries.remove(at).value)
    }

    /// Returns the value of the field `name`, spelt with `_`, without taking it.
    pub(super) fn peek(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|field| field.name == name).map(|field| field.value)
    }

    /// Returns the fields that were not taken, in the order of the file.
    pub(super) fn rest(self) -> Vec<Field<'n>> {
        self.entries
    }
}

/// The finding about a key that repeats an earlier one. Of two values of a field that closes the skill, the one that
/// closes it counts; a list of tools has no such value.
pub(super) fn duplicate_key(key: &str, span: Range<usize>) -> Finding {
    let name = normalized(key);
    let is_flag = CLOSING_KEYS.contains(&&*name) && name != "allowed_tools";
    let used = if is_flag { "the value that restricts the skill" } else { "the last value" };
    let message = format!("`{}` is set twice; {used} is used", excerpt(key));
    Finding::new(Code::DuplicateKey, span, message, "remove one of the two")
}

/// Returns the last value of `key`, spelt with `_`, if `node` is a map that has this key in any spelling.
pub(super) fn nested<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Value::Mapping(entries) = &node.value else { return None };
    entries
        .iter()
        .rev()
        .find(|(name, _)| name.text().is_some_and(|name| normalized(name) == key))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_outside_of_brackets() {
        type Split = fn(&str) -> Vec<Range<usize>>;
        let cases: [(Split, &str, &[&str]); 8] = [
            (at_commas, " a b, c,,d\ne ", &["a b", "c", "d", "e"]),
            (at_commas, "部署，发布、回滚,نشر، تراجع", &["部署", "发布", "回滚", "نشر", "تراجع"]),
            (
                at_commas_of_tools,
                "Read，Bash(a；b); Grep | Glob",
                &["Read", "Bash(a；b)", "Grep", "Glob"],
            ),
            (at_commas_of_tools, "Bash(a | b; c)", &["Bash(a | b; c)"]),
            (at_commas_of_globs, "src/*.{ts,js}, *.md", &["src/*.{ts,js}", "*.md"]),
            (
                at_commas_of_tools,
                "Bash(git add:*), Read  Write",
                &["Bash(git add:*)", "Read", "Write"],
            ),
            (at_lines, "a, b\n c\n", &["a, b", "c"]),
            (at_commas, "", &[]),
        ];
        for (split, text, expected) in cases {
            let parts: Vec<_> = trimmed(text, split(text)).map(|range| &text[range]).collect();
            assert_eq!(parts, expected, "{text:?}");
        }
    }
}
