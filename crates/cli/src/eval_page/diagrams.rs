//! The confusion matrix, and the diagram of margins.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use repertoire::SkillId;
use repertoire_authoring::eval::Report;
use serde::Serialize;

use super::text::{NONE, safe};

/// The maximum number of confused skills in the rows, and in the columns: a larger matrix is too wide
/// to be read. The skills confused most often are kept.
const MAX_SKILLS: usize = 24;

/// The number of steps of the margin in its diagram.
const N_STEPS: usize = 40;

/// The confusion matrix: how often each skill fired, by the skill that was expected.
#[derive(Serialize)]
pub(super) struct Matrix {
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    cells: Vec<Option<Cell>>,
}

#[derive(Serialize)]
struct Cell {
    prompts: usize,
    /// The CSS variable of the colour.
    color: &'static str,
    depth: String,
}

impl Matrix {
    /// Builds the matrix; `None` if every prompt was right.
    pub(super) fn of(report: &Report) -> Option<Matrix> {
        type Place<'r> = (Option<&'r SkillId>, Option<&'r SkillId>);
        let mut prompts: BTreeMap<Place<'_>, usize> = BTreeMap::new();
        for skill in report.per_skill.iter().filter(|skill| skill.right > 0) {
            prompts.insert((Some(&skill.id), Some(&skill.id)), skill.right);
        }
        let mut expected: BTreeSet<Option<&SkillId>> = BTreeSet::new();
        let mut got: BTreeSet<Option<&SkillId>> = BTreeSet::new();
        for confusion in &report.confusions {
            let place = (confusion.expected.as_ref(), confusion.got.as_ref());
            let fits = |shown: &BTreeSet<_>, id| shown.len() < MAX_SKILLS || shown.contains(id);
            if fits(&expected, &place.0) && fits(&got, &place.1) {
                expected.insert(place.0);
                got.insert(place.1);
                prompts.insert(place, confusion.cases);
            }
        }
        if expected.is_empty() {
            return None;
        }
        // The matrix also shows how often a confused skill was not confused.
        got.extend(expected.iter().filter(|expected| expected.is_some()));
        let name = |id: Option<&SkillId>| id.map_or(NONE.to_owned(), |id| safe(id.as_str()));
        let most = prompts.values().max().copied().unwrap_or(1) as f64;
        let cell = |expected: Option<&SkillId>, got: Option<&SkillId>| {
            let prompts = *prompts.get(&(expected, got))?;
            let color = if expected == got { "--heat" } else { "--wrong" };
            let depth = format!("{:.2}", 0.15 + 0.6 * prompts as f64 / most);
            Some(Cell { prompts, color, depth })
        };
        let rows = expected.iter().map(|expected| Row {
            name: name(*expected),
            cells: got.iter().map(|got| cell(*expected, *got)).collect(),
        });
        Some(Matrix { rows: rows.collect(), columns: got.iter().map(|id| name(*id)).collect() })
    }
}

/// Two lines over the minimum margin, each as its points: the precision of the most relevant skill,
/// and the share of prompts that reach this margin.
#[derive(Serialize)]
pub(super) struct Margins {
    ticks: Vec<Tick>,
    precision: String,
    share: String,
}

/// A grid line at a multiple of a quarter, on both axes.
#[derive(Serialize)]
struct Tick {
    x: f64,
    y: f64,
    margin: f64,
    percent: String,
}

impl Margins {
    /// Computes the lines; `None` if no prompt was judged by relevance.
    pub(super) fn of(report: &Report) -> Option<Margins> {
        let judged: Vec<(f64, bool)> = report
            .results
            .iter()
            .filter_map(|outcome| outcome.nearest.as_ref())
            .filter_map(|near| Some((f64::from(near.margin), near.is_right?)))
            .collect();
        if judged.is_empty() {
            return None;
        }
        let (mut precision, mut share) = (String::new(), String::new());
        for step in 0..=N_STEPS {
            let margin = step as f64 / N_STEPS as f64;
            let past = judged.iter().filter(|(of, _)| *of >= margin);
            let (n_past, n_right) = past
                .fold((0, 0), |(n, right), (_, is_right)| (n + 1, right + usize::from(*is_right)));
            // Writing to a `String` cannot fail.
            let (x, y) = place(margin, f64::from(n_past) / judged.len() as f64);
            let _ = write!(share, "{x:.0},{y:.1} ");
            if n_past > 0 {
                let (x, y) = place(margin, n_right as f64 / f64::from(n_past));
                let _ = write!(precision, "{x:.0},{y:.1} ");
            }
        }
        let ticks = (0..=4).map(|step| {
            let at = f64::from(step) / 4.0;
            let (x, y) = place(at, at);
            Tick { x, y, margin: at, percent: format!("{:.0}", 100.0 * at) }
        });
        Some(Margins { ticks: ticks.collect(), precision, share })
    }
}

/// Returns the point of the diagram for a margin and a share, both from 0 to 1.
fn place(margin: f64, share: f64) -> (f64, f64) {
    (40.0 + 540.0 * margin, 210.0 - 190.0 * share)
}
