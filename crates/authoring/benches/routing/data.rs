//! The catalogs of the corpus, with their prompts.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use repertoire::{Skill, SkillId};
use repertoire_authoring::eval::{Case, read};
use serde_json::Value;

/// The maximum number of prompts tried per catalog, spread evenly over its cases.
const MAX_CASES: usize = 1_000;

pub(crate) struct Catalog {
    pub(crate) name: String,
    pub(crate) skills: Vec<(SkillId, Skill)>,
    /// Prompts that expect a skill of the catalog.
    pub(crate) positives: Vec<Case>,
    /// Prompts that expect no skill, or only forbid some.
    pub(crate) negatives: Vec<Case>,
}

/// Reads the catalogs of one kind, except those in which no prompt expects a skill.
pub(crate) fn catalogs(corpus: &Path, kind: &str) -> Vec<Catalog> {
    let mut dirs: Vec<PathBuf> = read_dir(corpus.join("routing").join(kind))
        .unwrap()
        .map(|dir| dir.unwrap().path())
        .collect();
    dirs.sort();
    let all = dirs.iter().filter_map(|dir| catalog(corpus, dir));
    all.filter(|catalog| !catalog.positives.is_empty()).collect()
}

fn catalog(corpus: &Path, dir: &Path) -> Option<Catalog> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let rows = read_to_string(dir.join("catalog.jsonl")).ok()?;
    let mut skills: Vec<(SkillId, Skill)> = Vec::new();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let id = SkillId::new(row["name"].as_str()?);
        let file = row["path"].as_str().map(|path| corpus.join("skills").join(&name).join(path));
        if skills.iter().all(|(known, _)| *known != id) {
            skills.push((id, skill(&row, file.as_deref())));
        }
    }
    let prompts = read_to_string(dir.join("cases.jsonl")).ok()?;
    if prompts.trim().is_empty() {
        return None;
    }
    let (mut cases, problems) = read("cases.jsonl", &prompts, None);
    assert!(problems.is_empty(), "{name}: {problems:?}");
    let is_known = |name: &String| skills.iter().any(|(id, _)| id == name.as_str());
    // Expectations that only name skills missing from the corpus cannot be judged.
    cases.retain(|Case { expected, forbidden, .. }| {
        let named = expected.iter().chain(forbidden);
        named.clone().next().is_none() || named.clone().any(is_known)
    });
    for case in &mut cases {
        for names in [&mut case.expected, &mut case.forbidden, &mut case.acceptable] {
            names.retain(is_known);
        }
    }
    let (positives, negatives): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| !case.expected.is_empty());
    Some(Catalog { name, skills, positives: spread(positives), negatives: spread(negatives) })
}

fn spread(cases: Vec<Case>) -> Vec<Case> {
    let step = cases.len().div_ceil(MAX_CASES).max(1);
    cases.into_iter().step_by(step).collect()
}

/// Builds the skill of a row, with the body of its file if the corpus has the file.
fn skill(row: &Value, file: Option<&Path>) -> Skill {
    let body = file.and_then(|file| Skill::load(file, "repertoire").ok());
    let body = body.as_ref().and_then(|skill| skill.body().ok()).unwrap_or_default();
    // JSON is valid YAML.
    let fields = ["name", "description", "when_to_use", "triggers", "metadata", "activation"];
    let written = fields.iter().filter(|field| !row[**field].is_null());
    let front_matter: Vec<String> =
        written.map(|field| format!("{field}: {}", row[*field])).collect();
    format!("---\n{}\n---\n{body}", front_matter.join("\n")).parse().unwrap()
}
