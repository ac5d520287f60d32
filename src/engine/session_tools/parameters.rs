//! The parameters of the built-in tools: as JSON Schema for models, and as types to parse arguments.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

#[cfg(feature = "scripts")]
use crate::activation::split_arguments;
use crate::activation::text_of_arguments;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct UseSkill {
    pub(super) skill: String,
    #[serde(default, deserialize_with = "arguments")]
    pub(super) args: String,
    pub(super) by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct FindSkills {
    pub(super) query: String,
    #[serde(default, deserialize_with = "whole_number")]
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct ReadSkillFile {
    pub(super) skill: String,
    pub(super) path: String,
    #[serde(default, deserialize_with = "whole_number")]
    pub(super) offset: Option<usize>,
    #[serde(default, deserialize_with = "whole_number")]
    pub(super) limit: Option<usize>,
}

#[cfg(feature = "scripts")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct RunSkillScript {
    pub(super) skill: String,
    pub(super) script: String,
    #[serde(default, deserialize_with = "list")]
    pub(super) args: Vec<String>,
    #[serde(default, deserialize_with = "arguments")]
    pub(super) stdin: String,
}

/// Reads the arguments of a skill, in whatever form [`text_of_arguments`] takes.
fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let value = Value::deserialize(deserializer)?;
    text_of_arguments(&value).ok_or_else(|| D::Error::custom(format!("`{value}`, expected a text")))
}

/// Reads the arguments of a script: a list of texts or numbers, also as JSON text; a text, which is split as a shell
/// does; `null`, an empty text or `{}` for none.
#[cfg(feature = "scripts")]
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let values = match Value::deserialize(deserializer)? {
        Value::Array(values) => values,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values,
            _ => return Ok(split_arguments(&text)),
        },
        Value::Null => Vec::new(),
        Value::Object(named) if named.is_empty() => Vec::new(),
        value => return Err(D::Error::custom(format!("`{value}`, expected a list of texts"))),
    };
    let is_one = |value: &&Value| !(value.is_array() || value.is_object() || value.is_null());
    let text = |value: &Value| {
        let text = Some(value).filter(is_one).and_then(text_of_arguments);
        text.ok_or_else(|| D::Error::custom(format!("`{value}` in a list, expected a text")))
    };
    values.iter().map(text).collect()
}

/// Reads a number from 0; `null` and an empty text stand for none. In JSON, `3.0` is a whole number, and some
/// models write it so, or as the text `"3"`.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    let whole = |number: f64| {
        let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        is_whole.then_some(number as usize)
    };
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => text.trim().parse().ok().and_then(whole),
        Value::Number(number) => {
            let exact = number.as_u64().and_then(|number| usize::try_from(number).ok());
            exact.or_else(|| number.as_f64().and_then(whole))
        }
        _ => None,
    };
    number
        .map(Some)
        .ok_or_else(|| D::Error::custom(format!("`{value}`, expected a whole number from 0")))
}

/// The schema of a skill's name: one of `names`, if there are few enough to list them, otherwise any
/// text.
fn skill(names: Option<&[&str]>) -> Value {
    let description = "The skill's id.";
    match names {
        Some(names) if !names.is_empty() => {
            json!({"type": "string", "description": description, "enum": names})
        }
        _ => json!({"type": "string", "description": description}),
    }
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut object = json!({"type": "object", "additionalProperties": false});
    object["properties"] = properties;
    object["required"] = required.into();
    object
}

pub(super) fn use_skill(names: Option<&[&str]>) -> Value {
    let properties = json!({
        "skill": skill(names),
        "args": {"type": "string", "description": "Arguments, as after a slash command."},
        "by": {
            "type": "string",
            "description": "The id of the skill whose instructions told you to use this one, if any.",
        },
    });
    object(properties, &["skill"])
}

pub(super) fn find_skills() -> Value {
    let properties = json!({
        "query": {"type": "string", "description": "What is to be done, in words."},
        "limit": {"type": "integer", "minimum": 1, "description": "Skills wanted at most; 5 by default."},
    });
    object(properties, &["query"])
}

pub(super) fn read_skill_file() -> Value {
    let properties = json!({
        "skill": skill(None),
        "path": {"type": "string", "description": "The file, relative to the skill's base directory."},
        "offset": {"type": "integer", "minimum": 1, "description": "The first line wanted, from 1."},
        "limit": {"type": "integer", "minimum": 1, "description": "Lines wanted at most."},
    });
    object(properties, &["skill", "path"])
}

#[cfg(feature = "scripts")]
pub(super) fn run_skill_script() -> Value {
    let properties = json!({
        "skill": skill(None),
        "script": {"type": "string", "description": "The script, as the skill names it."},
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Its arguments, each as it is: there is no shell.",
        },
        "stdin": {"type": "string", "description": "Its standard input; empty by default."},
    });
    object(properties, &["skill", "script"])
}
