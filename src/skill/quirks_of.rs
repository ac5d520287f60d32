//! Finds the quirks of a file.

use super::document::{Document, Fences};
use super::front_matter::FrontMatter;
use super::limits::{MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS};
use super::quirk::{Quirk, Quirks};
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The truth values of YAML 1.2.
const BOOLEANS: [&str; 6] = ["true", "True", "TRUE", "false", "False", "FALSE"];

/// The quirks of front matter that was repaired.
const REPAIRED: Quirks = Quirks::of(&[
    Quirk::UnquotedColon,
    Quirk::UnquotedBracket,
    Quirk::InvalidYaml,
    Quirk::InvalidNested,
    Quirk::Tabs,
]);

/// Returns the quirks of `text`, which is split into `document` and has this front matter.
pub(super) fn quirks_of(text: &str, document: &Document, front_matter: &FrontMatter) -> Quirks {
    let mut quirks = front_matter.quirks;
    of_text(text, document, &mut quirks);
    let has = |code: Code| front_matter.findings.iter().any(|finding| finding.code == code);
    let is_unreadable = has(Code::SalvagedYaml) || has(Code::InvalidYaml);
    quirks.insert_if(is_unreadable, Quirk::UnreadableYaml);
    for (key, _) in &front_matter.replaced {
        let is_telling = ["name", "description"].map(Some).contains(&key.text());
        quirks.insert_if(is_telling, Quirk::DuplicateName);
        quirks.insert_if(!is_telling, Quirk::DuplicateKey);
    }
    let entries = front_matter.entries.as_deref().unwrap_or_default();
    // Agents read a key in the spelling of the specification alone.
    let value = |key: &str| {
        let mut entries = entries.iter().rev();
        entries.find(|(of, _)| of.text() == Some(key)).map(|(_, value)| value)
    };
    of_name(value("name"), &mut quirks);
    of_description(value("description"), &mut quirks);
    let metadata = value("metadata");
    let is_repaired = !front_matter.quirks.intersection(REPAIRED).is_empty();
    quirks.insert_if(is_repaired && metadata.is_some(), Quirk::InvalidBesideMetadata);
    let in_braces =
        |node: &Node| text.get(node.span.start..).is_some_and(|rest| rest.starts_with('{'));
    quirks.insert_if(is_repaired && metadata.is_some_and(in_braces), Quirk::InvalidBesideBraces);
    let is_map = |node: &Node| matches!(node.value, Value::Mapping(_));
    quirks.insert_if(metadata.is_some_and(Node::is_null), Quirk::NullMetadata);
    quirks.insert_if(
        metadata.is_some_and(|node| !node.is_null() && !is_map(node)),
        Quirk::MetadataNotMap,
    );
    quirks.insert_if(
        metadata.and_then(short_description).is_some_and(|node| is_collection(node, text)),
        Quirk::ShortNotScalar,
    );
    for (key, quirk) in
        [("allowed-tools", Quirk::ToolsNotTexts), ("tools", Quirk::OtherToolsNotTexts)]
    {
        quirks.insert_if(value(key).is_some_and(|node| !is_texts(node)), quirk);
    }
    let not_text = |node: &Node| !node.is_null() && !is_text(node);
    quirks.insert_if(value("argument-hint").is_some_and(not_text), Quirk::HintNotText);
    quirks.insert_if(value("model").is_some_and(not_text), Quirk::ModelNotText);
    let about = ["license", "compatibility"].into_iter().filter_map(value);
    quirks.insert_if(about.into_iter().any(|node| !is_text(node)), Quirk::LicenseNotText);
    let switches = ["disable-model-invocation", "user-invocable"].into_iter().filter_map(value);
    quirks.insert_if(switches.into_iter().any(|node| !is_boolean(node)), Quirk::SwitchNotBoolean);
    let is_enabled = value("enabled").is_none_or(is_boolean);
    quirks.insert_if(!is_enabled, Quirk::EnabledNotBoolean);
    quirks
}

/// Returns the value of `short-description` in `metadata`.
fn short_description(metadata: &Node) -> Option<&Node> {
    let Value::Mapping(entries) = &metadata.value else { return None };
    let is_it = |(key, _): &&(Node, Node)| key.text() == Some("short-description");
    entries.iter().rfind(is_it).map(|(_, value)| value)
}

/// Tells whether the value is a list or a map, also for an agent that puts values with `: ` on the line of
/// their key in quotes if front matter is not what it wants.
fn is_collection(node: &Node, text: &str) -> bool {
    let written = text.get(node.span.clone()).unwrap_or_default();
    let line = text[..node.span.start.min(text.len())].rsplit('\n').next().unwrap_or_default();
    let is_quoted = line.trim_start().starts_with("short-description:")
        && written.starts_with(['[', '{'])
        && written.lines().next().is_some_and(|line| line.contains(": "));
    matches!(node.value, Value::Sequence(_) | Value::Mapping(_)) && !is_quoted
}

fn of_text(text: &str, document: &Document, quirks: &mut Quirks) {
    quirks.insert_if(text.starts_with('\u{feff}'), Quirk::ByteOrderMark);
    quirks.insert_if(text.contains('\r') && !text.contains('\n'), Quirk::CarriageReturns);
    quirks.insert_if(text.len() > 1_000_000, Quirk::OverMillionBytes);
    quirks.insert_if(text.len() > 1024 * 1024, Quirk::OverMebibyte);
    match document.fences {
        Fences::Both => {
            let has_blanks =
                |line: &str| line.trim_end_matches(['\r', '\n']).ends_with([' ', '\t']);
            let opening = &text[..document.front_matter.start];
            let closing = &text[document.front_matter.end..document.body];
            quirks.insert_if(has_blanks(opening), Quirk::OpeningBlanks);
            quirks.insert_if(has_blanks(closing), Quirk::ClosingBlanks);
            quirks.insert_if(text[document.body..].trim().is_empty(), Quirk::NoBody);
        }
        Fences::Opening => quirks.insert(Quirk::UnclosedFrontMatter),
        Fences::None => {}
    }
    match document.tolerated_fault.as_ref().map(|fault| fault.code) {
        Some(Code::LateFrontMatter) => quirks.insert(Quirk::LateFrontMatter),
        Some(Code::NoFrontMatter) => quirks.insert(Quirk::NoFrontMatter),
        _ => {}
    }
}

fn of_name(node: Option<&Node>, quirks: &mut Quirks) {
    let Some(node) = node else { return quirks.insert(Quirk::NoName) };
    let Value::Scalar { text, .. } = &node.value else {
        return quirks.insert(Quirk::NameNotScalar);
    };
    let name = text.trim();
    quirks.insert_if(node.is_null() || name.is_empty(), Quirk::EmptyName);
    quirks.insert_if(!node.is_null() && !is_text(node), Quirk::NameNotText);
    quirks.insert_if(name.chars().count() > MAX_NAME_CHARS, Quirk::LongName);
    quirks.insert_if(name.starts_with(|c: char| !c.is_alphanumeric()), Quirk::NameEdge);
    for c in name.chars() {
        let quirk = match c {
            ' ' => Quirk::NameSpaced,
            '_' | '.' | ':' => Quirk::NameDotted,
            'A'..='Z' => Quirk::NameUpperCase,
            _ if c.is_control() || c.is_whitespace() => Quirk::NameLines,
            _ if c.is_alphanumeric() && !c.is_ascii() => Quirk::NameNotAscii,
            _ if c.is_alphanumeric() || c == '-' => continue,
            _ => Quirk::NameSigns,
        };
        quirks.insert(quirk);
    }
}

fn of_description(node: Option<&Node>, quirks: &mut Quirks) {
    let Some(node) = node else { return quirks.insert(Quirk::NoDescription) };
    let Value::Scalar { text, .. } = &node.value else {
        return quirks.insert(Quirk::DescriptionNotScalar);
    };
    if node.is_null() {
        return quirks.insert(Quirk::NullDescription);
    }
    quirks.insert_if(text.trim().is_empty(), Quirk::BlankDescription);
    quirks.insert_if(!is_text(node), Quirk::DescriptionNotText);
    quirks.insert_if(text.chars().count() > MAX_DESCRIPTION_CHARS, Quirk::LongDescription);
}

/// Tells whether a YAML parser gives text for this value.
fn is_text(node: &Node) -> bool {
    match &node.value {
        Value::Scalar { plain: false, .. } => true,
        Value::Scalar { text, .. } => !node.is_null() && !has_other_type(text),
        _ => false,
    }
}

/// Tells whether the value is text, or a list that has nothing else.
fn is_texts(node: &Node) -> bool {
    match &node.value {
        Value::Sequence(items) => items.iter().all(is_text),
        _ => is_text(node),
    }
}

fn is_boolean(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar { text, plain: true } if BOOLEANS.contains(&text.as_str()))
}

/// Tells whether YAML 1.1 or 1.2 takes a plain scalar for a truth value, a number or a date.
fn has_other_type(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_special = matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN");
    let digits = unsigned.replace('_', "");
    let is_radix = |prefix: &str, radix| {
        let rest = digits.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix)))
    };
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.parse::<f64>().is_ok();
    let parts = || digits.split([':', '-', 'T', 't', ' ', '.', 'Z', '+']);
    // `1:30` and `2024-01-02T10:00:00Z`; a version such as `1.2.3` is text.
    let is_time = digits.contains([':', '-'])
        && parts().next().is_some_and(|first| !first.is_empty())
        && parts().all(|part| part.chars().all(|c| c.is_ascii_digit()));
    is_special
        || BOOLEANS.contains(&text)
        || is_radix("0x", 16)
        || is_radix("0o", 8)
        || is_radix("0b", 2)
        || is_number
        || is_time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_scalar_may_be_a_number_a_date_or_a_truth_value() {
        for text in [
            "true", "False", "TRUE", "4711", "-1", "+1", "1.5", ".5", "1e3", "1_000", "0x1F",
            "0o7", "0b11", ".inf", "-.INF", ".NaN", "1:30", "2024-01-02", "2024-01-02T10:00:00Z",
        ] {
            assert!(has_other_type(text), "{text}");
        }
        for text in [
            "yes", "off", "1.2.3", "v1", "12e", "infinity", "nan", "a-1", "-", ".", "0x", "0xG",
            "1st", "--s", "2024-January", "abc", "",
        ] {
            assert!(!has_other_type(text), "{text}");
        }
    }
}
