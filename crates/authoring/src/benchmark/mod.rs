//! Public benchmarks of retrieval: the right skills or tools for a request, among many.
//!
//! [`Benchmark::open`] reads a directory that was downloaded, in the layout in which the benchmark is published.
//! [`Benchmark::source`] serves its skills from memory to an engine; tools become skills without instructions.
//! [`Benchmark::measure`] finds skills for each request, and computes the measures of the benchmarks'
//! own pages.

mod files;
mod layouts;
mod measures;
mod notes;
mod published;
mod rows;
mod served;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use repertoire::{Engine, Error, Source};
use serde::Serialize;

pub use layouts::BenchmarkKind;
pub use measures::Measures;
use measures::Sums;
pub use notes::{BenchmarkNote, NoteKind, Notes};

/// The number of skills that are found for each request.
const FOUND: usize = 10;

/// A benchmark: skills, and requests with the skills that are right for each.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Benchmark {
    /// The skills, under the ids that the benchmark gives them.
    pub skills: Arc<[Candidate]>,
    /// The requests.
    pub requests: Vec<Judged>,
    /// Notes about what is not measured as the files have it.
    pub notes: Notes,
}

/// A skill or a tool of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// Its instructions; may be empty.
    pub body: String,
}

/// A request, with the gain of each skill for it.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Judged {
    /// The request.
    pub text: String,
    /// The skills that are right, which recall and hits count.
    pub right: BTreeSet<String>,
    /// The gains of skills for the discounted gain, above 0: 1 for each right one, unless the benchmark grades them.
    pub gains: BTreeMap<String, f64>,
}

/// The result of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BenchmarkReport {
    /// The number of skills.
    pub skills: usize,
    /// The number of requests.
    pub requests: usize,
    /// The measures of all requests together.
    #[serde(flatten)]
    pub measures: Measures,
    /// The mean time to find the skills for a request, in microseconds.
    pub microseconds: f64,
    /// Notes about what was not measured as the files have it.
    pub notes: Notes,
}

impl Benchmark {
    /// Reads a benchmark from the directory where it was downloaded to.
    ///
    /// # Errors
    ///
    /// [`NotFound`](repertoire::ErrorCode::NotFound) if a file is missing, [`InvalidParam`](repertoire::ErrorCode::InvalidParam) if one has another form, or if no
    /// request names a skill that is there; both say which file, and how the benchmark is laid out.
    pub fn open(kind: BenchmarkKind, dir: &Path) -> Result<Benchmark, Error> {
        kind.read(dir)?.measured(dir, kind.layout())
    }

    /// The skills as a source of an engine, in memory. Their ids in the engine are not those of the benchmark.
    pub fn source(&self) -> Source {
        served::source(Arc::clone(&self.skills))
    }

    /// Measures an engine that was built from [`Benchmark::source`] alone. Calls `each` after every request.
    pub fn measure(&self, engine: &Engine, mut each: impl FnMut()) -> BenchmarkReport {
        let mut sums = Sums::default();
        let mut notes = self.notes.clone();
        self.note_rejected(engine, &mut notes);
        let mut seconds = 0.0;
        for request in &self.requests {
            let start = Instant::now();
            let found = engine.find_ids(&request.text, FOUND);
            seconds += start.elapsed().as_secs_f64();
            if let Some(failure) = engine.retriever_failure() {
                notes.add(NoteKind::FailedRetriever, || failure);
            }
            let found = found.iter().filter_map(|id| self.skills.get(served::place(id.as_str())?));
            let found: Vec<&str> = found.map(|skill| skill.id.as_str()).collect();
            sums.add(request, &found);
            each();
        }
        #[expect(clippy::cast_precision_loss, reason = "numbers of requests")]
        let mean = seconds / self.requests.len().max(1) as f64;
        BenchmarkReport {
            skills: self.skills.len(),
            requests: self.requests.len(),
            measures: sums.means(),
            microseconds: mean * 1e6,
            notes,
        }
    }

    /// Notes the skills that the engine does not have, with the finding about the first.
    fn note_rejected(&self, engine: &Engine, notes: &mut Notes) {
        let catalog = engine.catalog();
        let known: HashSet<usize> =
            catalog.entries().filter_map(|entry| served::place(entry.id.as_str())).collect();
        for (place, skill) in self.skills.iter().enumerate() {
            if !known.contains(&place) {
                notes.add(NoteKind::RejectedSkill, || {
                    let file = served::location(place);
                    let finding = catalog.diagnostics().iter().find(|found| found.path == file);
                    let reason = finding.map_or("no finding says why", |found| &found.message);
                    format!("`{}`: {reason}", skill.id)
                });
            }
        }
    }
}

impl Candidate {
    /// The text of its `SKILL.md`. Names of benchmarks are not unique, so the name is written as a label, which does
    /// not become the id.
    fn text(&self) -> String {
        let words = self.name.replace(['-', '_'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut letters = words.chars();
        let label =
            letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>());
        let label = label.unwrap_or_else(|| "Unnamed".to_owned());
        // A skill without a description is not a skill.
        let described = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let described = if described.is_empty() { words } else { described };
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        format!(
            "---\nname: {}\ndescription: {}\n---\n{}\n",
            quoted(&label),
            quoted(&described),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_is_a_skill_whatever_its_texts_hold() {
        let candidate = |name: &str, description: &str, body: &str| Candidate {
            id: "x".into(),
            name: name.into(),
            description: description.into(),
            body: body.into(),
        };
        for (candidate, name, description) in [
            (
                candidate("pdf-tools", "Merges: \"files\".\n---\nAnd more.", "# T"),
                "Pdf tools",
                "Merges: \"files\". --- And more.",
            ),
            (candidate("pdf", "", "---\nname: other\n---\n"), "Pdf", "pdf"),
            (candidate("", "Does it.", ""), "Unnamed", "Does it."),
            (
                candidate("翻译", "把文本翻译成英文。\u{1b}[0m", ""),
                "翻译",
                "把文本翻译成英文。\u{1b}[0m",
            ),
        ] {
            let skill: repertoire::Skill = candidate.text().parse().unwrap();
            assert_eq!(skill.name(), name);
            assert_eq!(skill.description(), description);
        }
    }
}
