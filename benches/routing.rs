//! How often the right skill comes first, over catalogs of real skills with real prompts:
//! `cargo bench --bench routing` prints the table of `docs/routing.md`.
//!
//! The data stands beside the repository (`../shared/corpus`, or `$REPERTOIRE_SHARED`); without it
//! this says SKIPPED. The baseline is what is usually done: plain BM25 over name, description and
//! body as one text, in lower-cased words.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement that prints"
)]

use std::collections::{BTreeSet, HashMap};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use repertoire::matcher::RelevanceIndex;
use repertoire::{Skill, SkillId};
use serde_json::Value;

/// The most prompts of one catalog that are tried, spread evenly over its cases.
const MAX_CASES: usize = 1_000;

struct Catalog {
    name: String,
    skills: Vec<(SkillId, Skill)>,
    cases: Vec<Case>,
}

/// A prompt, and the skills that are right for it.
struct Case {
    prompt: String,
    expected: BTreeSet<String>,
}

/// In percent of the prompts.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    top1: f64,
    top3: f64,
}

fn main() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let named = std::env::var_os("REPERTOIRE_SHARED").map(PathBuf::from);
    let roots = [Some(beside), named].into_iter().flatten();
    let Some(corpus) = roots.map(|root| root.join("corpus")).find(|path| path.exists()) else {
        println!("SKIPPED: no corpus in ../shared nor in $REPERTOIRE_SHARED");
        return;
    };
    report("Skill catalogs", &catalogs(&corpus, "catalogs"));
    report("Intent sets", &catalogs(&corpus, "intents"));
}

fn report(title: &str, catalogs: &[Catalog]) {
    println!("\n{title}\n");
    println!("| catalog | skills | prompts | BM25 top 1 | top 3 | relevance top 1 | top 3 |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut all = Vec::new();
    let mut n_bytes = 0;
    for Catalog { name, skills, cases } in catalogs {
        let plain = Bm25::new(skills);
        let index = RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)));
        n_bytes += index.memory_usage();
        let rates = [
            rate(cases, |prompt| plain.rank(prompt)),
            rate(cases, |prompt| {
                index.rank(prompt, 3).into_iter().map(|found| found.id.to_string()).collect()
            }),
        ];
        println!("| {name} | {} | {} | {} |", skills.len(), cases.len(), cells(rates));
        all.push(rates);
    }
    let mean = [0, 1].map(|ranker| {
        let mean = |of: fn(&Rate) -> f64| {
            all.iter().map(|rates| of(&rates[ranker])).sum::<f64>() / all.len().max(1) as f64
        };
        Rate { top1: mean(|rate| rate.top1), top3: mean(|rate| rate.top3) }
    });
    println!("| **mean** | | | {} |", cells(mean));
    let n_skills: usize = catalogs.iter().map(|catalog| catalog.skills.len()).sum();
    println!("\nThe indexes take {} bytes a skill.", n_bytes / n_skills.max(1));
}

fn cells(rates: [Rate; 2]) -> String {
    rates.map(|rate| format!("{:.1} | {:.1}", rate.top1, rate.top3)).join(" | ")
}

fn rate(cases: &[Case], rank: impl Fn(&str) -> Vec<String>) -> Rate {
    let (mut n_first, mut n_third) = (0.0, 0.0);
    for case in cases {
        let ranked = rank(&case.prompt);
        let at = ranked.iter().take(3).position(|name| case.expected.contains(name));
        n_first += f64::from(at == Some(0));
        n_third += f64::from(at.is_some());
    }
    let percent = |n: f64| 100.0 * n / cases.len() as f64;
    Rate { top1: percent(n_first), top3: percent(n_third) }
}

/// The catalogs of one kind with a choice to make: two skills or more, and a prompt for one.
fn catalogs(corpus: &Path, kind: &str) -> Vec<Catalog> {
    let mut dirs: Vec<PathBuf> = read_dir(corpus.join("routing").join(kind))
        .unwrap()
        .map(|dir| dir.unwrap().path())
        .collect();
    dirs.sort();
    let all = dirs.iter().filter_map(|dir| catalog(corpus, dir));
    all.filter(|catalog| catalog.skills.len() > 1 && !catalog.cases.is_empty()).collect()
}

fn catalog(corpus: &Path, dir: &Path) -> Option<Catalog> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let rows = lines(&dir.join("catalog.jsonl"))?;
    let mut skills: Vec<(SkillId, Skill)> = Vec::new();
    for row in &rows {
        let id = SkillId::new(row["name"].as_str()?);
        let file = row["path"].as_str().map(|path| corpus.join("skills").join(&name).join(path));
        if skills.iter().all(|(known, _)| *known != id) {
            skills.push((id, skill(row, file.as_deref())));
        }
    }
    let mut cases: Vec<Case> = lines(&dir.join("cases.jsonl"))?.iter().map(case).collect();
    for case in &mut cases {
        case.expected.retain(|name| skills.iter().any(|(id, _)| id == name.as_str()));
    }
    cases.retain(|case| !case.expected.is_empty());
    let step = cases.len().div_ceil(MAX_CASES).max(1);
    Some(Catalog { name, skills, cases: cases.into_iter().step_by(step).collect() })
}

fn lines(path: &Path) -> Option<Vec<Value>> {
    let text = read_to_string(path).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The skill of a row, with the body of its file where the corpus has it.
fn skill(row: &Value, file: Option<&Path>) -> Skill {
    let body = file.and_then(|file| Skill::load(file, "repertoire").ok());
    let body = body.as_ref().and_then(|skill| skill.body().ok()).unwrap_or_default();
    // JSON is YAML.
    let fields = ["name", "description", "when_to_use", "triggers", "metadata", "activation"];
    let written = fields.iter().filter(|field| !row[**field].is_null());
    let front_matter: Vec<String> =
        written.map(|field| format!("{field}: {}", row[*field])).collect();
    format!("---\n{}\n---\n{body}", front_matter.join("\n")).parse().unwrap()
}

/// A prompt that should fire no skill expects none.
fn case(row: &Value) -> Case {
    let expected = match row["kind"].as_str() {
        Some("binary") if row["label"] == true => vec![row["skill"].as_str().unwrap_or_default()],
        Some("binary") => Vec::new(),
        _ => row["expected"].as_array().unwrap().iter().filter_map(Value::as_str).collect(),
    };
    Case {
        prompt: row["query"].as_str().unwrap().to_owned(),
        expected: expected.into_iter().map(str::to_owned).collect(),
    }
}

/// Plain BM25 (k1 = 1.2, b = 0.75), the baseline.
struct Bm25 {
    names: Vec<String>,
    counts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    n_with: HashMap<String, f64>,
}

impl Bm25 {
    fn new(skills: &[(SkillId, Skill)]) -> Bm25 {
        let mut new = Bm25 {
            names: Vec::new(),
            counts: Vec::new(),
            lengths: Vec::new(),
            n_with: HashMap::new(),
        };
        for (id, skill) in skills {
            let text = format!("{} {} {}", id, skill.description(), skill.body().unwrap());
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in plain_words(&text) {
                *counts.entry(word).or_default() += 1.0;
            }
            for word in counts.keys() {
                *new.n_with.entry(word.clone()).or_default() += 1.0;
            }
            new.names.push(id.to_string());
            new.lengths.push(counts.values().sum());
            new.counts.push(counts);
        }
        new
    }

    fn rank(&self, prompt: &str) -> Vec<String> {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let n_skills = self.names.len() as f64;
        let usual = self.lengths.iter().sum::<f64>() / n_skills;
        let words: Vec<String> = plain_words(prompt).collect();
        let score = |i: usize| -> f64 {
            let score_of = |word: &String| {
                let Some(count) = self.counts[i].get(word) else { return 0.0 };
                let n_with = self.n_with[word];
                let rarity = (1.0 + (n_skills - n_with + 0.5) / (n_with + 0.5)).ln();
                let length = 1.0 - B + B * self.lengths[i] / usual;
                rarity * count * (K1 + 1.0) / (count + K1 * length)
            };
            words.iter().map(score_of).sum()
        };
        let mut scored: Vec<(f64, &String)> =
            self.names.iter().enumerate().map(|(i, name)| (score(i), name)).collect();
        scored.retain(|(score, _)| *score > 0.0);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        scored.into_iter().take(3).map(|(_, name)| name.clone()).collect()
    }
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}
