//! A prompt and the skills that are right for it, from one entry of a file.

use serde::Serialize;
use serde_json::{Map, Value};

/// A prompt and what is expected of it. Skills are named as the file names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Case {
    /// What the user wrote.
    pub query: String,
    /// The skills that should fire.
    pub expected: Vec<String>,
    /// Skills that must not fire.
    pub forbidden: Vec<String>,
    /// Skills that may fire.
    pub acceptable: Vec<String>,
    /// The file it stands in, as it was named.
    pub file: String,
    /// The line where it begins, from 1.
    pub line: usize,
}

/// Why an entry, or the rest of a file, is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

const QUERY_KEYS: [&str; 3] = ["query", "prompt", "input"];
const SKILL_KEYS: [&str; 3] = ["skill", "skill_name", "skill_id"];

/// Reads an entry of a list. `skill` is the one that the file is about, if it says so.
pub(super) fn of_entry(entry: &Value, skill: Option<&str>) -> Result<Case, String> {
    let Value::Object(fields) = entry else {
        return Err(format!("this is {}, not a map with a `query`", kind(entry)));
    };
    let mut case = Case {
        query: query(fields)?,
        forbidden: names(fields, "forbidden")?.unwrap_or_default(),
        acceptable: names(fields, "acceptable")?.unwrap_or_default(),
        ..Case::default()
    };
    let expected = match names(fields, "expected")? {
        Some(expected) => Some(expected),
        None => names(fields, "expected_skill")?.or(names(fields, "expected_skills")?),
    };
    let fires = match flag(fields, "should_trigger")? {
        Some(fires) => Some(fires),
        None => flag(fields, "label")?,
    };
    let skill = own_skill(fields)?.or_else(|| skill.map(str::to_owned));
    match (fires, expected, skill) {
        (None, Some(expected), _) => case.expected = expected,
        (None, None, _) => {
            let forms = "`should_trigger`, `expected_skill`, `expected` or `label`";
            return Err(format!("it does not say what is expected: no {forms}"));
        }
        (Some(true), Some(expected), _) if !expected.is_empty() => case.expected = expected,
        (Some(true), _, Some(skill)) => case.expected = vec![skill],
        (Some(false), expected, Some(skill)) => {
            // Where the file is about one skill, the expected one is whom the prompt belongs to.
            case.expected = expected.unwrap_or_default();
            case.expected.retain(|expected| *expected != skill);
            case.forbidden.push(skill);
        }
        (Some(false), expected, None) => case.forbidden.extend(expected.unwrap_or_default()),
        (Some(true), _, None) => {
            return Err("it does not say which skill should fire: add `expected_skill`, or name \
                        the skill with `--skill`"
                .to_owned());
        }
    }
    match case.expected.iter().find(|name| case.forbidden.contains(name)) {
        Some(both) => Err(format!("`{both}` is both expected and forbidden")),
        None => Ok(case),
    }
}

/// Reads an entry of a list of prompts that should, or should not, fire `skill`.
pub(super) fn of_prompt(entry: &Value, skill: &str, fires: bool) -> Result<Case, String> {
    let query = match entry {
        Value::String(text) => not_blank(text)?,
        Value::Object(fields) => query(fields)?,
        _ => return Err(format!("this is {}, not a prompt", kind(entry))),
    };
    let skill = vec![skill.to_owned()];
    let case = Case { query, ..Case::default() };
    Ok(if fires { Case { expected: skill, ..case } } else { Case { forbidden: skill, ..case } })
}

/// The skill that a map names as its own.
pub(super) fn own_skill(fields: &Map<String, Value>) -> Result<Option<String>, String> {
    let named = SKILL_KEYS.iter().find_map(|key| Some((*key, fields.get(*key)?)));
    match named {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(name))) => Ok(Some(name.clone())),
        Some((key, other)) => Err(format!("`{key}` is {}, not a name", kind(other))),
    }
}

fn query(fields: &Map<String, Value>) -> Result<String, String> {
    let found = QUERY_KEYS.iter().find_map(|key| Some((*key, fields.get(*key)?)));
    match found {
        Some((_, Value::String(text))) => not_blank(text),
        Some((key, other)) => Err(format!("`{key}` is {}, not text", kind(other))),
        None => Err("it has no `query`, `prompt` or `input`".to_owned()),
    }
}

fn not_blank(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("the prompt is blank".to_owned()) } else { Ok(text.to_owned()) }
}

fn flag(fields: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => Err(format!("`{key}` is {}, not true or false", kind(other))),
    }
}

/// One name or a list of names; null is an empty list.
fn names(fields: &Map<String, Value>, key: &str) -> Result<Option<Vec<String>>, String> {
    let wrong = |value: &Value| format!("`{key}` is {}, not the name of a skill", kind(value));
    match fields.get(key) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(Vec::new())),
        Some(Value::String(name)) => Ok(Some(vec![name.clone()])),
        Some(Value::Array(entries)) => {
            let name = |entry: &Value| match entry {
                Value::String(name) => Ok(name.clone()),
                other => Err(wrong(other)),
            };
            entries.iter().map(name).collect::<Result<_, _>>().map(Some)
        }
        Some(other) => Err(wrong(other)),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}
