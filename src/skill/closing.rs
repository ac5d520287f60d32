//! The fields that close a skill: they restrict who may invoke it, and with which tools.
//!
//! Whoever writes such a field wants it to count, and nobody sees that it does not. So it counts inside of
//! other fields, too, such as `metadata`, and in a line that YAML does not read as a field; and of two
//! values, the one that closes. A value that cannot be read closes.

use std::ops::Range;

use super::extract::parsed;
use super::fields::{Reader, at_commas_of_tools, excerpt};
use super::keys::{CLOSING_KEYS, normalized};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The values of the fields that close a skill.
#[derive(Default)]
pub(super) struct Closing {
    /// True if only the user may invoke the skill.
    pub(super) disable_model: Option<Spanned<bool>>,
    /// False if the user may not invoke it.
    pub(super) user: Option<Spanned<bool>>,
    /// The tools that it may use.
    pub(super) tools: Option<Vec<Spanned<String>>>,
    /// The bytes of the file at which the keys begin.
    seen: Vec<usize>,
}

impl Closing {
    /// Reads the fields of the front matter with these `entries`, those among the entries that were `replaced` by
    /// later ones with the same key, and those of `lines` that are neither.
    pub(super) fn read(
        entries: &[(Node, Node)],
        replaced: &[(Node, Node)],
        lines: &[(Node, Node)],
        reader: &mut Reader<'_>,
    ) -> Closing {
        let mut closing = Closing::default();
        closing.read_map(entries, true, reader);
        closing.read_map(replaced, false, reader);
        for (key, value) in lines {
            let name = key.text().map(normalized).unwrap_or_default();
            let is_new = !closing.seen.contains(&key.span.start);
            if is_new && closing.read_field(&name, value, false, reader) {
                let line = excerpt(&reader.file[key.span.start..value.span.end]);
                let message =
                    format!("`{line}` counts although it is not a field as YAML reads it");
                let help =
                    "write it once, as `key: value`, on a line of its own that is not indented";
                reader.report(Code::RepairedYaml, key.span.clone(), message, help);
            }
        }
        closing
    }

    fn read_map(&mut self, entries: &[(Node, Node)], is_top: bool, reader: &mut Reader<'_>) {
        for (key, value) in entries {
            let name = key.text().map(normalized).unwrap_or_default();
            if CLOSING_KEYS.contains(&&*name) {
                self.seen.push(key.span.start);
            }
            match &value.value {
                // The schema of a field that has the same name.
                Value::Mapping(inner) if !is_top || !CLOSING_KEYS.contains(&&*name) => {
                    self.read_map(inner, false, reader);
                }
                _ => {
                    self.read_field(&name, value, is_top, reader);
                }
            }
        }
    }

    /// Reads one field, which opens nothing unless it `is_top`, at the top level. Tells whether it closes the
    /// skill.
    fn read_field(
        &mut self,
        name: &str,
        value: &Node,
        is_top: bool,
        reader: &mut Reader<'_>,
    ) -> bool {
        let closes_with = match name {
            "disable_model_invocation" | "user_invocable_only" => true,
            "allow_implicit_invocation" | "user_invocable" => false,
            "allowed_tools" if !value.is_null() && (is_top || self.tools.is_none()) => {
                self.tools = Some(reader.list(name, value, at_commas_of_tools));
                return true;
            }
            _ => return false,
        };
        let Some(flag) = reader.restriction(name, value, closes_with) else { return false };
        let closes = flag.value == closes_with;
        let (target, value) = match name {
            "user_invocable" => (&mut self.user, flag.value),
            _ => (&mut self.disable_model, flag.value == closes_with),
        };
        if closes || is_top && target.is_none() {
            *target = Some(Spanned { value, span: flag.span });
        }
        closes
    }
}

/// Returns the lines in the bytes `range` of `file` that are written like fields that close a skill, whatever
/// they are as YAML; `indented` ones, too, if wanted.
pub(super) fn lines(file: &str, range: Range<usize>, indented: bool) -> Vec<(Node, Node)> {
    let mut start = range.start;
    let lines = file[range].split_inclusive(['\n', '\r']).map(|line| {
        start += line.len();
        start - line.len()..start
    });
    let lines: Vec<Range<usize>> =
        lines.filter(|line| !file[line.clone()].trim().is_empty()).collect();
    let next = lines.iter().skip(1).map(Some).chain([None]);
    let field = |(line, next): (&Range<usize>, Option<&Range<usize>>)| {
        let is_followed_by_prose = next.is_some_and(|next| is_prose(&file[next.clone()]));
        let is_indented = file[line.clone()].starts_with([' ', '\t']);
        let counts = !is_followed_by_prose && (indented || !is_indented);
        counts.then(|| field(file, line.clone())).flatten()
    };
    lines.iter().zip(next).filter_map(field).collect()
}

/// Tells whether a line goes on with a sentence, so that the line above it is part of one.
fn is_prose(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(char::is_alphanumeric) && !line.contains([':', '=', '：'])
}

/// Reads a line as a field that closes a skill, with `:` or `=` before a value of one word.
fn field(file: &str, line: Range<usize>) -> Option<(Node, Node)> {
    let written = file[line.clone()].trim_end();
    let content =
        written.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '?' | '{'));
    let start = line.start + written.len() - content.len();
    let end_of_key = content.find([':', '=', '：'])?;
    let key = content[..end_of_key].trim().trim_matches(['"', '\'', '`', '*']);
    let name = normalized(key);
    if !CLOSING_KEYS.contains(&&*name) {
        return None;
    }
    let rest = content[end_of_key..].trim_start_matches([':', '=', '：', '>', ' ', '\t', '`', '*']);
    let value_start = start + content.len() - rest.len();
    let value =
        rest.split(" #").next().unwrap_or_default().trim_end_matches([',', ';', '}', ' ', '\t']);
    let span = value_start..value_start + value.len();
    let is_tools = name == "allowed_tools";
    if !is_tools && (value.is_empty() || value.contains(char::is_whitespace)) {
        return None;
    }
    let scalar = |text: &str, span| Node {
        value: Value::Scalar { text: text.to_owned(), plain: false },
        span,
    };
    let value =
        if is_tools { parsed(file, span) } else { scalar(value.trim_matches(['"', '\'']), span) };
    Some((scalar(key, start..start + end_of_key), value))
}
