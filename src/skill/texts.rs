//! Texts of the front matter that have a form of their own: names, versions, words.

use semver::Version;

use super::brief::one_line;
use super::fields::{Reader, at_commas, excerpt};
use super::spanned::Spanned;
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// Reads a text, or a list joined by blanks, because YAML parses `argument-hint: [file]` as a list.
pub(super) fn words(node: &Node, field: &str, reader: &mut Reader<'_>) -> Option<Spanned<String>> {
    if !matches!(node.value, Value::Sequence(_)) {
        return reader.text(field, node);
    }
    let words = reader.list(field, node, at_commas);
    let words: Vec<String> = words.into_iter().map(|word| word.value).collect();
    (!words.is_empty()).then(|| Spanned { value: words.join(" "), span: node.span.clone() })
}

pub(super) fn on_one_line(text: Spanned<String>) -> Spanned<String> {
    Spanned { value: one_line(&text.value), ..text }
}

pub(super) fn valid_name(
    name: Spanned<String>,
    reader: &mut Reader<'_>,
) -> Option<Spanned<String>> {
    let problem = if name.value.len() > MAX_NAME_BYTES {
        format!("`name` of {} bytes is longer than {MAX_NAME_BYTES}", name.value.len())
    } else if name.value.chars().any(char::is_control) {
        "`name` is not one line of text".to_owned()
    } else {
        return Some(name);
    };
    let help = "write a short name such as `name: code-review`; the directory's name is used";
    reader.report(Code::InvalidValue, name.span, problem, help);
    None
}

pub(super) fn valid_version(
    text: &Spanned<String>,
    reader: &mut Reader<'_>,
) -> Option<Spanned<Version>> {
    let written = text.value.as_str();
    let is_short = written.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let padded = match written.split('.').count() {
        1 if is_short => format!("{written}.0.0"),
        2 if is_short => format!("{written}.0"),
        _ => written.to_owned(),
    };
    match Version::parse(&padded) {
        Ok(value) => Some(Spanned { value, span: text.span.clone() }),
        Err(error) => {
            reader.report(
                Code::InvalidValue,
                text.span.clone(),
                format!("`version` is `{}`, no semantic version: {error}", excerpt(written)),
                "write three numbers, as in `version: 1.2.0`",
            );
            None
        }
    }
}
