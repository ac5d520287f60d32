//! The rows of benchmarks' files, in the forms in which they are published.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Candidate;

/// An entry of a list of skills.
#[derive(Deserialize)]
pub(super) struct Skill {
    #[serde(alias = "skill_id")]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default, alias = "skill_md", alias = "content")]
    pub(super) body: Option<String>,
    /// Name, description and body in one, with ` | ` between them.
    pub(super) text: Option<String>,
}

/// A request with the ids of the right skills, in one of several forms.
#[derive(Deserialize)]
pub(super) struct Query {
    #[serde(default, alias = "query_id", alias = "_id")]
    pub(super) id: Value,
    #[serde(rename = "query", alias = "text")]
    pub(super) text: String,
    pub(super) skill_ids: Option<Vec<String>>,
    /// A list of labels, or its JSON as text.
    pub(super) labels: Option<Value>,
}

/// A right skill, with its relevance: 1 if there is none.
#[derive(Clone, Deserialize)]
pub(super) struct Label {
    #[serde(alias = "skill_id")]
    pub(super) id: String,
    pub(super) relevance: Option<f64>,
}

/// The relevance of a skill for a request, in a file of its own.
#[derive(Deserialize)]
pub(super) struct Relevance {
    #[serde(alias = "query-id")]
    pub(super) query_id: Value,
    #[serde(alias = "corpus-id", alias = "corpus_id")]
    pub(super) skill_id: String,
    #[serde(rename = "relevance", alias = "score")]
    pub(super) gain: Option<f64>,
}

/// A task of `SkillRouter`.
#[derive(Deserialize)]
pub(super) struct Task {
    pub(super) task_id: String,
    pub(super) instruction_text: String,
}

/// The right skills of a task of `SkillRouter`.
#[derive(Deserialize)]
pub(super) struct Truth {
    pub(super) gt_skill_ids: Vec<String>,
    #[serde(default)]
    pub(super) relevance: BTreeMap<String, f64>,
    pub(super) task_type: Option<String>,
}

/// A tool of `ToolRet`. Its documentation is JSON as text, or text.
#[derive(Deserialize)]
pub(super) struct Tool {
    pub(super) id: String,
    #[serde(alias = "doc")]
    pub(super) documentation: Value,
}

/// A row of `MetaTool` for one tool.
#[derive(Deserialize)]
pub(super) struct OneTool {
    #[serde(rename = "Query")]
    pub(super) query: String,
    #[serde(rename = "Tool")]
    pub(super) tool: String,
}

/// A request of `MetaTool` for several tools.
#[derive(Deserialize)]
pub(super) struct ManyTools {
    pub(super) query: String,
    pub(super) tool: Vec<String>,
}

/// An id that some files write as a number, others as text.
pub(super) fn key(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

impl From<Skill> for Candidate {
    fn from(Skill { id, name, description, body, text }: Skill) -> Candidate {
        let (description, body) = (description.unwrap_or_default(), body.unwrap_or_default());
        let Some(text) = text.filter(|_| name.is_empty()) else {
            return Candidate { id, name, description, body };
        };
        let mut parts = text.splitn(3, " | ").map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Candidate { id, name: next(), description: next(), body: next() }
    }
}

impl From<Tool> for Candidate {
    fn from(Tool { id, documentation }: Tool) -> Candidate {
        let parsed = match &documentation {
            Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            object => object.clone(),
        };
        let text = |key: &str| parsed[key].as_str().map(str::to_owned);
        let whole = documentation.as_str().map_or_else(|| documentation.to_string(), str::to_owned);
        let name = text("name").unwrap_or_else(|| id.clone());
        match text("description").filter(|description| !description.trim().is_empty()) {
            Some(description) => Candidate { id, name, description, body: whole },
            None => Candidate { id, name, description: whole, body: String::new() },
        }
    }
}
