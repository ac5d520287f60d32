//! The comparison of a report with an earlier one.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::run::Outcome;
use super::score::{Report, Scores};
use repertoire::skill::SkillId;
use repertoire::{Error, ErrorCode};

/// An earlier report, reduced to the parts that are compared.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Baseline {
    precision: Option<f64>,
    recall: Option<f64>,
    in_view: Option<f64>,
    f1: Option<f64>,
    top1: Option<f64>,
    top3: Option<f64>,
    false_fire: Option<f64>,
    results: Vec<Earlier>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Earlier {
    query: String,
    expected: Vec<SkillId>,
    forbidden: Vec<SkillId>,
    fired: Vec<EarlierFire>,
    is_right: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct EarlierFire {
    id: SkillId,
}

/// The differences between two reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The figures of the earlier report.
    pub before: Scores,
    /// Number of prompts that were wrong and are right.
    pub fixed: usize,
    /// Number of prompts that were right and are wrong.
    pub broken: usize,
    /// The prompts whose result changed, in the order of the report.
    pub changes: Vec<Change>,
    /// Number of prompts that the earlier report does not have.
    pub added: usize,
    /// Number of prompts that only the earlier report has.
    pub removed: usize,
}

/// A prompt for which other skills fire than before, or whose outcome turned right or wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The file with the prompt.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The prompt.
    pub query: String,
    /// The skills that should fire.
    pub expected: Vec<SkillId>,
    /// The skills that fired in the earlier report, best first.
    pub before: Vec<SkillId>,
    /// The skills that fire now, best first.
    pub after: Vec<SkillId>,
    /// True if the earlier outcome was right.
    pub was_right: bool,
    /// True if the outcome is right now.
    pub is_right: bool,
}

impl Baseline {
    /// Reads an earlier report, as `repertoire eval --json` prints it; `file` names it in errors.
    ///
    /// Fails with `INVALID_PARAM` if `json` is not such a report.
    pub fn parse(file: &str, json: &str) -> Result<Baseline, Error> {
        serde_json::from_str(json).map_err(|error| {
            let message = format!("{file} is not a report of an evaluation: {error}");
            let help = "name a file that holds an earlier report as JSON";
            Error::new(ErrorCode::InvalidParam, message, help).with_source(error)
        })
    }
}

/// The differences between `baseline` and `report`. Two prompts are the same if they have the same text
/// and the same expected and forbidden skills. If a report has the same prompt several times, they are
/// matched in order.
pub fn compare(baseline: &Baseline, report: &Report) -> Comparison {
    let mut earlier: HashMap<_, Vec<&Earlier>> = HashMap::new();
    for case in baseline.results.iter().rev() {
        earlier.entry((&case.query, &case.expected, &case.forbidden)).or_default().push(case);
    }
    let (mut changes, mut added, mut known) = (Vec::new(), 0, 0);
    for outcome in &report.results {
        let key = (&outcome.query, &outcome.expected, &outcome.forbidden);
        let Some(before) = earlier.get_mut(&key).and_then(Vec::pop) else {
            added += 1;
            continue;
        };
        known += 1;
        changes.extend(change(before, outcome));
    }
    let moved =
        |from: bool| changes.iter().filter(move |c| c.was_right == from && c.is_right != from);
    Comparison {
        before: Scores {
            precision: baseline.precision,
            recall: baseline.recall,
            in_view: baseline.in_view,
            f1: baseline.f1,
            top1: baseline.top1,
            top3: baseline.top3,
            false_fire: baseline.false_fire,
        },
        fixed: moved(false).count(),
        broken: moved(true).count(),
        added,
        removed: baseline.results.len() - known,
        changes,
    }
}

fn change(before: &Earlier, outcome: &Outcome) -> Option<Change> {
    let after: Vec<SkillId> = outcome.fired.iter().map(|fired| fired.id.clone()).collect();
    let fired: Vec<SkillId> = before.fired.iter().map(|fired| fired.id.clone()).collect();
    (fired != after || before.is_right != outcome.is_right).then(|| Change {
        file: outcome.file.clone(),
        line: outcome.line,
        query: outcome.query.clone(),
        expected: outcome.expected.clone(),
        before: fired,
        after,
        was_right: before.is_right,
        is_right: outcome.is_right,
    })
}
