//! Settings of Gemini CLI and Qwen Code, in which `$NAME`, `${NAME}` and `${NAME:-DEFAULT}` stand for environment
//! variables, as `resolveEnvVarsInString` of Gemini CLI 0.61.0 has it; seen with Qwen Code 0.24.4 as well.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::settings::{Settings, text};

/// Reads the settings file at `path`, with variables filled in.
pub(super) fn read(path: PathBuf, environment: &BTreeMap<String, String>) -> Option<Settings> {
    Settings::parse(&filled(&text(&path)?, environment), path)
}

/// Returns `text` with the variables filled in. One that is not set and has no default stays as it is.
fn filled(text: &str, environment: &BTreeMap<String, String>) -> String {
    replaced(text, '$', |after| variable(after, environment))
}

/// Returns `text` with what follows each `sign`, an ASCII character, replaced: `value` returns what stands for the
/// beginning of the text after the sign, and the length of that beginning in bytes; `None` leaves the sign as it is.
pub(super) fn replaced(
    text: &str,
    sign: char,
    value: impl Fn(&str) -> Option<(String, usize)>,
) -> String {
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(sign) {
        let (before, from) = rest.split_at(at);
        replaced += before;
        let (value, n_bytes) = value(&from[1..]).unwrap_or((sign.to_string(), 0));
        replaced += &value;
        rest = &from[1 + n_bytes..];
    }
    replaced + rest
}

/// Returns a text as it stands between the quotes of JSON.
pub(super) fn quoted(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Returns the value of the variable that `text` names behind the sign, quoted as in JSON, and the number of bytes
/// of its name.
fn variable(text: &str, environment: &BTreeMap<String, String>) -> Option<(String, usize)> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, default, n_bytes) = if let Some(inner) = text.strip_prefix('{') {
        let inner = &inner[..inner.find('}')?];
        let (name, default) =
            inner.split_once(":-").map_or((inner, None), |(name, default)| (name, Some(default)));
        (name, default, inner.len() + 2)
    } else {
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        (&text[..end], None, end)
    };
    let value = environment.get(name).map(|value| quoted(value));
    Some((value.or_else(|| default.map(str::to_owned))?, n_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let set = [("A", "x"), ("A_1", "y"), ("Q", "a\"b")];
        let set = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (text, wanted) in [
            ("$A", "x"),
            ("$A-$A_1.", "x-y."),
            ("${A}${A_1}", "xy"),
            ("${NO:-z} ${A:-z}", "z x"),
            ("$NO ${NO} $ ${ $", "$NO ${NO} $ ${ $"),
            ("$Q", "a\\\"b"),
            ("5 $", "5 $"),
        ] {
            assert_eq!(filled(text, &set), wanted, "{text}");
        }
    }
}
