//! The layouts in which benchmarks are published.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use repertoire::{Error, ErrorCode};
use serde_json::Value;

use super::files::{At, Files, Row};
use super::published::{Published, Request};
use super::rows::{Label, ManyTools, OneTool, Query, Relevance, Skill, Task, Tool, Truth, key};
use super::{Candidate, Judged};

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

    pub(super) fn read(self, dir: &Path) -> Result<Published, Error> {
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

fn skill_ret(files: &Files<'_>) -> Result<Published, Error> {
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
    let skills: Vec<Row<Skill>> = files.lines(&of("skills")?)?;
    let queries: Vec<Row<Query>> = files.lines(&of("queries")?)?;
    let mut qrels: HashMap<String, Vec<Label>> = HashMap::new();
    let has_labels = |query: &Query| query.skill_ids.is_some() || query.labels.is_some();
    if queries.iter().any(|row| !has_labels(&row.value)) {
        for Row { value: Relevance { query_id, skill_id, gain }, .. } in
            files.lines(&of("qrels")?)?
        {
            qrels.entry(key(&query_id)).or_default().push(Label { id: skill_id, relevance: gain });
        }
    }
    Ok(Published { skills: candidates(skills), requests: requests(files, queries, &qrels)? })
}

fn r3_skill(files: &Files<'_>) -> Result<Published, Error> {
    let skills: Vec<Row<Skill>> =
        files.lines(&files.first(&["data/skills_test.jsonl", "skills_test.jsonl"])?)?;
    let queries = files.lines(&files.first(&["data/test.jsonl", "test.jsonl"])?)?;
    Ok(Published {
        skills: candidates(skills),
        requests: requests(files, queries, &HashMap::new())?,
    })
}

fn skill_router(files: &Files<'_>) -> Result<Published, Error> {
    // The directory may be that of one tier of skills.
    let skills: Vec<Row<Skill>> = files.lines(&files.first(&["easy", "hard", "."])?)?;
    let tasks: Vec<Row<Task>> = files.lines(&files.first(&["tasks.jsonl", "../tasks.jsonl"])?)?;
    let truths: HashMap<String, Truth> =
        files.json(&files.first(&["relevance.json", "../relevance.json"])?)?;
    let requests = tasks.into_iter().filter_map(|Row { value, at }| {
        let Task { task_id, instruction_text: text } = value;
        let truth = truths.get(&task_id);
        // The published measures leave these out.
        if truth.is_some_and(|truth| truth.task_type.as_deref() == Some("generic_only")) {
            return None;
        }
        let judged = truth.map_or_else(Judged::default, Judged::from);
        Some(Request { id: Some(task_id), judged: Judged { text, ..judged }, at })
    });
    Ok(Published { requests: requests.collect(), skills: candidates(skills) })
}

fn tool_ret(files: &Files<'_>) -> Result<Published, Error> {
    let tools: Vec<Row<Tool>> = files.lines(&files.first(&["tools", "tools.jsonl"])?)?;
    let queries = files.lines(&files.first(&["queries", "queries.jsonl"])?)?;
    Ok(Published {
        skills: candidates(tools),
        requests: requests(files, queries, &HashMap::new())?,
    })
}

fn meta_tool(files: &Files<'_>) -> Result<Published, Error> {
    let path = files.first(&["dataset/plugin_des.json", "plugin_des.json"])?;
    let described: BTreeMap<String, String> = files.json(&path)?;
    let at = At::file(&path);
    let skills = described.into_iter().map(|(name, description)| Row {
        value: Candidate { id: name.clone(), name, description, body: String::new() },
        at: at.clone(),
    });
    let one: Vec<Row<OneTool>> = files
        .csv(&files.first(&["dataset/data/all_clean_data.csv", "data/all_clean_data.csv"])?)?;
    let one =
        one.into_iter().map(|Row { value: OneTool { query, tool }, at }| (query, vec![tool], at));
    let many = ["dataset/data/multi_tool_query_golden.json", "data/multi_tool_query_golden.json"];
    let many: Vec<(String, Vec<String>, At)> = match files.first(&many) {
        Ok(path) => {
            let (many, at): (Vec<ManyTools>, _) = (files.json(&path)?, At::file(&path));
            many.into_iter().map(|ManyTools { query, tool }| (query, tool, at.clone())).collect()
        }
        Err(_) => Vec::new(),
    };
    let requests = one.chain(many).map(|(text, right, at)| Request {
        id: None,
        judged: Judged::of_equals(text, right),
        at,
    });
    Ok(Published { skills: skills.collect(), requests: requests.collect() })
}

fn candidates<T: Into<Candidate>>(rows: Vec<Row<T>>) -> Vec<Row<Candidate>> {
    rows.into_iter().map(|Row { value, at }| Row { value: value.into(), at }).collect()
}

/// Joins requests with their labels: their own, or those of a file beside them.
fn requests(
    files: &Files<'_>,
    queries: Vec<Row<Query>>,
    qrels: &HashMap<String, Vec<Label>>,
) -> Result<Vec<Request>, Error> {
    let judged = |Row { value: Query { id, text, skill_ids, labels }, at }: Row<Query>| {
        let labels = match labels {
            Some(Value::String(text)) => Some(serde_json::from_str(&text)),
            Some(labels) => Some(serde_json::from_value(labels)),
            None => None,
        };
        let labels: Option<Vec<Label>> =
            labels.transpose().map_err(|error| files.wrong(&at, &error))?;
        let of_ids =
            |ids: Vec<String>| ids.into_iter().map(|id| Label { id, relevance: None }).collect();
        let id = (!id.is_null()).then(|| key(&id));
        let labels = labels
            .or(skill_ids.map(of_ids))
            .or_else(|| qrels.get(id.as_deref()?).cloned())
            .unwrap_or_default();
        let gains: BTreeMap<String, f64> = labels
            .into_iter()
            .map(|Label { id, relevance }| (id, relevance.unwrap_or(1.0)))
            .filter(|(_, gain)| *gain > 0.0)
            .collect();
        Ok(Request {
            id,
            judged: Judged { text, right: gains.keys().cloned().collect(), gains },
            at,
        })
    };
    queries.into_iter().map(judged).collect()
}

impl Judged {
    /// A request for which all right skills are equal.
    fn of_equals(text: String, right: Vec<String>) -> Judged {
        let right: BTreeSet<String> = right.into_iter().collect();
        let gains = right.iter().map(|id| (id.clone(), 1.0)).collect();
        Judged { text, right, gains }
    }
}

impl From<&Truth> for Judged {
    fn from(truth: &Truth) -> Judged {
        let Judged { text, right, gains } =
            Judged::of_equals(String::new(), truth.gt_skill_ids.clone());
        let graded = truth.relevance.iter().filter(|(_, gain)| **gain > 0.0);
        let graded: BTreeMap<String, f64> = graded.map(|(id, gain)| (id.clone(), *gain)).collect();
        Judged { text, right, gains: if graded.is_empty() { gains } else { graded } }
    }
}
