//! The parameters of the built-in tools: as JSON Schema for models, and as types to parse arguments.

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct UseSkill {
    pub(super) skill: String,
    #[serde(default)]
    pub(super) args: String,
    pub(super) by: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct FindSkills {
    pub(super) query: String,
    pub(super) limit: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct ReadSkillFile {
    pub(super) skill: String,
    pub(super) path: String,
    pub(super) offset: Option<usize>,
    pub(super) limit: Option<usize>,
}

#[cfg(feature = "scripts")]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct RunSkillScript {
    pub(super) skill: String,
    pub(super) script: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) stdin: String,
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
