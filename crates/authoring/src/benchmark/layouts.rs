//! The layouts in which benchmarks are published.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use repertoire::{Error, ErrorCode};
use serde::Deserialize;
use serde_json::Value;

use super::files::Files;
use super::{Benchmark, Candidate, Judged};

/// A benchmark whose layout is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BenchmarkKind {
    /// `SkillRet`: requests for 6,660 skills of open repositories.
    SkillRet,
    /// `SkillRouter-Eval-Core`: tasks for 78,000 skills, with graded gains.
    SkillRouter,
    /// `R3-Skill`: requests in Chinese and English for 2,050 skills.
    R3Skill,
    /// `ToolRet`: requests for 43,000 tools.
    ToolRet,
    /// `MetaTool`: requests for 199 plugins.
    MetaTool,
}

/// An entry of a list of skills.
#[derive(Deserialize)]
struct Skill {
    #[serde(alias = "skill_id")]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, alias = "skill_md", alias = "content")]
    body: Option<String>,
    /// Name, description and body in one, with ` | ` between them.
    text: Option<String>,
}

/// A request with the ids of the right skills, in one of several forms.
#[derive(Deserialize)]
struct Query {
    #[serde(default, alias = "query_id", alias = "_id")]
    id: Value,
    #[serde(rename = "query", alias = "text")]
    text: String,
    skill_ids: Option<Vec<String>>,
    /// A list of labels, or its JSON as text.
    labels: Option<Value>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(alias = "skill_id")]
    id: String,
    relevance: Option<f64>,
}

/// The relevance of a skill for a request, in a file of its own.
#[derive(Deserialize)]
struct Relevance {
    #[serde(alias = "query-id")]
    query_id: Value,
    #[serde(alias = "corpus-id", alias = "corpus_id")]
    skill_id: String,
    #[serde(rename = "relevance", alias = "score")]
    gain: Option<f64>,
}

/// A task of `SkillRouter`.
#[derive(Deserialize)]
struct Task {
    task_id: String,
    instruction_text: String,
}

/// The right skills of a task of `SkillRouter`.
#[derive(Deserialize)]
struct Truth {
    gt_skill_ids: Vec<String>,
    #[serde(default)]
    relevance: BTreeMap<String, f64>,
    task_type: Option<String>,
}

/// A tool of `ToolRet`. Its documentation is JSON as text, or text.
#[derive(Deserialize)]
struct Tool {
    id: String,
    #[serde(alias = "doc")]
    documentation: Value,
}

/// A row of `MetaTool` for one tool.
#[derive(Deserialize)]
struct OneTool {
    #[serde(rename = "Query")]
    query: String,
    #[serde(rename = "Tool")]
    tool: String,
}

/// A request of `MetaTool` for several tools.
#[derive(Deserialize)]
struct ManyTools {
    query: String,
    tool: Vec<String>,
}

impl BenchmarkKind {
    /// All benchmarks.
    pub const ALL: [BenchmarkKind; 5] = [
        BenchmarkKind::SkillRet,
        BenchmarkKind::SkillRouter,
        BenchmarkKind::R3Skill,
        BenchmarkKind::ToolRet,
        BenchmarkKind::MetaTool,
    ];

    /// The name, as on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            BenchmarkKind::SkillRet => "skillret",
            BenchmarkKind::SkillRouter => "skillrouter",
            BenchmarkKind::R3Skill => "r3-skill",
            BenchmarkKind::ToolRet => "toolret",
            BenchmarkKind::MetaTool => "metatool",
        }
    }

    /// The files that the directory of the benchmark has, as a sentence.
    pub fn layout(self) -> &'static str {
        match self {
            BenchmarkKind::SkillRet => {
                "SkillRet has `skills`, `queries` and, if these have no labels, `qrels` of its test split as JSON lines: \
                 `skills_test.jsonl` or `skills/test.jsonl`, and so on"
            }
            BenchmarkKind::SkillRouter => {
                "SkillRouter-Eval-Core has `tasks.jsonl`, `relevance.json` and parts of its skills in `easy` and `hard`; \
                 name the directory with these, or `easy` or `hard` itself"
            }
            BenchmarkKind::R3Skill => {
                "R3-Skill has `test.jsonl` and `skills_test.jsonl`, in `data` or in the directory itself"
            }
            BenchmarkKind::ToolRet => {
                "ToolRet has `queries` and `tools`, each a directory or a file of JSON lines; write them from its \
                 Parquet files with `datasets`: `load_dataset(…).to_json(…)`"
            }
            BenchmarkKind::MetaTool => {
                "MetaTool has `dataset/plugin_des.json` and `dataset/data/all_clean_data.csv`; name a clone of its \
                 repository, or its `dataset`"
            }
        }
    }

    pub(super) fn read(self, dir: &Path) -> Result<Benchmark, Error> {
        let files = Files { dir, layout: self.layout() };
        match self {
            BenchmarkKind::SkillRet => skill_ret(&files),
            BenchmarkKind::SkillRouter => skill_router(&files),
            BenchmarkKind::R3Skill => r3_skill(&files),
            BenchmarkKind::ToolRet => tool_ret(&files),
            BenchmarkKind::MetaTool => meta_tool(&files),
        }
    }
}

impl fmt::Display for BenchmarkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for BenchmarkKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<BenchmarkKind, Error> {
        BenchmarkKind::ALL.into_iter().find(|kind| kind.as_str() == name).ok_or_else(|| {
            let names = BenchmarkKind::ALL.map(BenchmarkKind::as_str).join("`, `");
            let message =
                format!("`{name}` is not a benchmark that is known: write one of `{names}`");
            Error::new(ErrorCode::InvalidParam, message, "see `repertoire eval --help`")
        })
    }
}

fn skill_ret(files: &Files<'_>) -> Result<Benchmark, Error> {
    let of = |what: &str| {
        let names = [
            format!("{what}_test.jsonl"),
            format!("{what}/test.jsonl"),
            format!("{what}.jsonl"),
            what.to_owned(),
        ];
        let places = names.iter().flat_map(|name| [format!("data/{name}"), name.clone()]);
        let places: Vec<String> = places.collect();
        files.first(&places.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let skills: Vec<Skill> = files.lines(&of("skills")?)?;
    let path = of("queries")?;
    let queries: Vec<Query> = files.lines(&path)?;
    let mut qrels: HashMap<String, Vec<Label>> = HashMap::new();
    if queries.iter().any(|query| query.skill_ids.is_none() && query.labels.is_none()) {
        for Relevance { query_id, skill_id, gain } in files.lines(&of("qrels")?)? {
            qrels.entry(key(&query_id)).or_default().push(Label { id: skill_id, relevance: gain });
        }
    }
    let requests = requests(files, &path, queries, &mut qrels)?;
    Ok(Benchmark { skills: skills.into_iter().map(Candidate::from).collect(), requests })
}

fn r3_skill(files: &Files<'_>) -> Result<Benchmark, Error> {
    let skills: Vec<Skill> =
        files.lines(&files.first(&["data/skills_test.jsonl", "skills_test.jsonl"])?)?;
    let path = files.first(&["data/test.jsonl", "test.jsonl"])?;
    let requests = requests(files, &path, files.lines(&path)?, &mut HashMap::new())?;
    Ok(Benchmark { skills: skills.into_iter().map(Candidate::from).collect(), requests })
}

fn skill_router(files: &Files<'_>) -> Result<Benchmark, Error> {
    // The directory may be that of one tier of skills.
    let skills: Vec<Skill> = files.lines(&files.first(&["easy", "hard", "."])?)?;
    let tasks: Vec<Task> = files.lines(&files.first(&["tasks.jsonl", "../tasks.jsonl"])?)?;
    let truths: HashMap<String, Truth> =
        files.json(&files.first(&["relevance.json", "../relevance.json"])?)?;
    let requests = tasks.into_iter().filter_map(|Task { task_id, instruction_text }| {
        let truth = truths.get(&task_id)?;
        // The published measures leave these out.
        if truth.task_type.as_deref() == Some("generic_only") {
            return None;
        }
        let right = truth.gt_skill_ids.clone();
        let graded = truth.relevance.iter().filter(|(_, gain)| **gain > 0.0);
        let mut gains: BTreeMap<String, f64> =
            graded.map(|(id, gain)| (id.clone(), *gain)).collect();
        if gains.is_empty() {
            gains = right.iter().map(|id| (id.clone(), 1.0)).collect();
        }
        Some(Judged { text: instruction_text, right, gains })
    });
    Ok(Benchmark {
        requests: requests.collect(),
        skills: skills.into_iter().map(Candidate::from).collect(),
    })
}

fn tool_ret(files: &Files<'_>) -> Result<Benchmark, Error> {
    let tools: Vec<Tool> = files.lines(&files.first(&["tools", "tools.jsonl"])?)?;
    let path = files.first(&["queries", "queries.jsonl"])?;
    let requests = requests(files, &path, files.lines(&path)?, &mut HashMap::new())?;
    Ok(Benchmark { skills: tools.into_iter().map(Candidate::from).collect(), requests })
}

fn meta_tool(files: &Files<'_>) -> Result<Benchmark, Error> {
    let described: BTreeMap<String, String> =
        files.json(&files.first(&["dataset/plugin_des.json", "plugin_des.json"])?)?;
    let one: Vec<OneTool> = files
        .csv(&files.first(&["dataset/data/all_clean_data.csv", "data/all_clean_data.csv"])?)?;
    let many = ["dataset/data/multi_tool_query_golden.json", "data/multi_tool_query_golden.json"];
    let many: Vec<ManyTools> = match files.first(&many) {
        Ok(path) => files.json(&path)?,
        Err(_) => Vec::new(),
    };
    let one = one.into_iter().map(|OneTool { query, tool }| Judged::new(query, vec![tool]));
    let many = many.into_iter().map(|ManyTools { query, tool }| Judged::new(query, tool));
    let skills = described.into_iter().map(|(name, description)| Candidate {
        id: name.clone(),
        name,
        description,
        body: String::new(),
    });
    Ok(Benchmark { skills: skills.collect(), requests: one.chain(many).collect() })
}

/// Joins requests with their labels: their own, or those of a file beside them.
fn requests(
    files: &Files<'_>,
    path: &Path,
    queries: Vec<Query>,
    qrels: &mut HashMap<String, Vec<Label>>,
) -> Result<Vec<Judged>, Error> {
    let mut requests = Vec::new();
    for (number, Query { id, text, skill_ids, labels }) in queries.into_iter().enumerate() {
        let labels = match labels {
            Some(Value::String(text)) => Some(serde_json::from_str(&text)),
            Some(labels) => Some(serde_json::from_value(labels)),
            None => None,
        };
        let labels: Option<Vec<Label>> =
            labels.transpose().map_err(|error| files.wrong(path, number + 1, &error))?;
        let of_ids =
            |ids: Vec<String>| ids.into_iter().map(|id| Label { id, relevance: None }).collect();
        let labels = labels
            .or(skill_ids.map(of_ids))
            .or_else(|| qrels.remove(&key(&id)))
            .unwrap_or_default();
        let gains: BTreeMap<String, f64> = labels
            .into_iter()
            .map(|Label { id, relevance }| (id, relevance.unwrap_or(1.0)))
            .filter(|(_, gain)| *gain > 0.0)
            .collect();
        requests.push(Judged { text, right: gains.keys().cloned().collect(), gains });
    }
    Ok(requests)
}

/// An id that some files write as a number, others as text.
fn key(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

impl Judged {
    /// A request for which all right skills are equal.
    fn new(text: String, right: Vec<String>) -> Judged {
        let gains = right.iter().map(|id| (id.clone(), 1.0)).collect();
        Judged { text, right, gains }
    }
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
