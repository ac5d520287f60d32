//! A case: a prompt and the skills that are right for it, read from one entry of a file.

use serde::Serialize;
use serde_json::Value;

use super::fields::{Fields, kind, names};

/// A prompt with the skills that it should and should not fire, under the names that the file uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Case {
    /// The user's message.
    pub query: String,
    /// The skills that should fire.
    pub expected: Vec<String>,
    /// Skills that must not fire.
    pub forbidden: Vec<String>,
    /// Skills that may fire.
    pub acceptable: Vec<String>,
    /// The file with the prompt, under the name that the caller gave.
    pub file: String,
    /// The line where the prompt begins, from 1.
    pub line: usize,
}

/// A problem because of which an entry, or the rest of a file, is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, under the name that the caller gave.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, and the correct form.
    pub message: String,
}

/// Keys of the prompt. All keys here are in the form of [`normal`](super::fields::normal).
pub(super) const QUERY: [&str; 6] = ["query", "prompt", "input", "message", "userprompt", "task"];
/// Keys of the flag that says whether the skill should fire.
pub(super) const FLAGS: [&str; 4] = ["shouldtrigger", "shouldfire", "label", "polarity"];
/// Keys that name the skills that should fire.
pub(super) const EXPECTED: [&str; 8] = [
    "expected",
    "expectedskill",
    "expectedskills",
    "expectedowner",
    "expect",
    "relevant",
    "relevantskill",
    "relevantskills",
];
/// The keys in [`EXPECTED`] that some files use for the expected answer, in prose.
const MAYBE_PROSE: [&str; 2] = ["expected", "expect"];
/// Keys that name skills that must not fire.
pub(super) const FORBIDDEN: [&str; 4] =
    ["forbidden", "forbiddenskill", "forbiddenskills", "forbiddenowners"];
/// Keys that name skills that may fire.
pub(super) const ACCEPTABLE: [&str; 4] =
    ["acceptable", "acceptableskill", "acceptableskills", "allowedskills"];
/// Keys that name the skill to which a prompt, or a file, belongs.
pub(super) const SKILL: [&str; 3] = ["skill", "skillname", "skillid"];

/// Reads an entry of a list. `skill` is the skill to which the file belongs, if it is known. `fires` is
/// the flag of the list, which counts if the entry has none of its own.
pub(super) fn of_entry(
    entry: &Value,
    skill: Option<&str>,
    fires: Option<bool>,
) -> Result<Case, String> {
    let Value::Object(map) = entry else {
        let kind = kind(entry);
        return Err(format!(
            "this is {kind}, not a map with a `query`: write \
             `{{\"query\": \"…\", \"expected_skill\": \"NAME\"}}`"
        ));
    };
    let fields = Fields::of(map);
    let mut case = Case {
        query: query(&fields)?,
        forbidden: all_names(&fields, &FORBIDDEN)?.unwrap_or_default(),
        acceptable: all_names(&fields, &ACCEPTABLE)?.unwrap_or_default(),
        ..Case::default()
    };
    let fires = flag(&fields)?.or(fires);
    let expected = expected(&fields, fires.is_some())?;
    let skill = own_skill(&fields)?.or_else(|| skill.map(str::to_owned));
    match (fires, expected, skill) {
        (None, Some(expected), _) => case.expected = expected,
        (None, None, _) => {
            return Err("it does not say what is expected: add `should_trigger` (true or false), \
                        or `expected_skill` (a name, or null for none)"
                .to_owned());
        }
        (Some(true), Some(expected), _) if !expected.is_empty() => case.expected = expected,
        (Some(true), _, Some(skill)) => case.expected = vec![skill],
        (Some(false), expected, Some(skill)) => {
            // In a file about one skill, `expected` may just repeat that skill, although it should not
            // fire.
            case.expected = expected.unwrap_or_default();
            case.expected.retain(|expected| *expected != skill);
            case.forbidden.push(skill);
        }
        (Some(false), expected, None) => case.forbidden.extend(expected.unwrap_or_default()),
        (Some(true), _, None) => {
            return Err("it does not say which skill should fire: add `expected_skill`, name the \
                        skill of all prompts, or keep the file below the directory of its skill"
                .to_owned());
        }
    }
    match case.expected.iter().find(|name| case.forbidden.contains(name)) {
        Some(both) => {
            Err(format!("`{both}` is both expected and forbidden: remove one of the two"))
        }
        None => Ok(case),
    }
}

/// Reads an entry of a list of prompts that should fire `skill` (if `fires`) or should not.
pub(super) fn of_prompt(entry: &Value, skill: &str, fires: bool) -> Result<Case, String> {
    match entry {
        Value::Object(_) => of_entry(entry, Some(skill), Some(fires)),
        Value::String(text) => {
            let query = not_blank(text)?;
            let skill = vec![skill.to_owned()];
            let case = Case { query, ..Case::default() };
            Ok(if fires {
                Case { expected: skill, ..case }
            } else {
                Case { forbidden: skill, ..case }
            })
        }
        _ => {
            let kind = kind(entry);
            Err(format!("this is {kind}, not a prompt: write text, or a map with a `prompt`"))
        }
    }
}

/// Tells whether a map is an entry: it has a prompt and says what is expected.
pub(super) fn is_entry(fields: &Fields<'_>) -> bool {
    let says = fields.all(&EXPECTED).next().is_some()
        || fields.all(&FLAGS).any(|(_, value)| !value.is_array());
    says && fields.first(&QUERY).is_some()
}

/// The skill to which a map says it belongs.
pub(super) fn own_skill(fields: &Fields<'_>) -> Result<Option<String>, String> {
    match fields.first(&SKILL) {
        None => Ok(None),
        Some((_, Value::String(name))) => {
            Ok(Some(name.trim()).filter(|name| !name.is_empty()).map(str::to_owned))
        }
        Some((key, other)) => {
            Err(format!("`{key}` is {}, not a name: write the name of the skill", kind(other)))
        }
    }
}

fn query(fields: &Fields<'_>) -> Result<String, String> {
    match fields.first(&QUERY) {
        Some((_, Value::String(text))) => not_blank(text),
        Some((key, other)) => {
            Err(format!("`{key}` is {}, not text: write the prompt as text", kind(other)))
        }
        None => Err("it has no `query`, `prompt` or `input`: add what the user wrote".to_owned()),
    }
}

fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("the prompt is blank: write what the user wrote, or remove the entry".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

fn flag(fields: &Fields<'_>) -> Result<Option<bool>, String> {
    match fields.first(&FLAGS) {
        None => Ok(None),
        Some((_, Value::Bool(flag))) => Ok(Some(*flag)),
        Some((_, Value::String(text))) if text == "positive" => Ok(Some(true)),
        Some((_, Value::String(text))) if text == "negative" => Ok(Some(false)),
        Some((key, other)) => Err(format!(
            "`{key}` is {}, not true or false: write `true` if the skill should fire, else `false`",
            kind(other)
        )),
    }
}

/// The skills that should fire: an empty list if none should, `None` if the entry does not say.
/// `says_whether` tells that the entry has a flag.
fn expected(fields: &Fields<'_>, says_whether: bool) -> Result<Option<Vec<String>>, String> {
    // In entries with `should_trigger`, `expected` often holds the expected answer.
    let is_prose = |key: &str, value: &Value| {
        says_whether
            && MAYBE_PROSE.contains(&super::fields::normal(key).as_str())
            && value.as_str().is_some_and(|text| text.trim().contains(char::is_whitespace))
    };
    let mut expected = None;
    for (key, value) in fields.all(&EXPECTED).filter(|(key, value)| !is_prose(key, value)) {
        let names = names(key, value)?;
        if !names.is_empty() {
            return Ok(Some(names));
        }
        expected = Some(names);
    }
    Ok(expected)
}

fn all_names(fields: &Fields<'_>, keys: &[&str]) -> Result<Option<Vec<String>>, String> {
    fields.first(keys).map(|(key, value)| names(key, value)).transpose()
}
