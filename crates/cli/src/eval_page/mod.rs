//! The page of `repertoire eval --html`: one file without scripts and without anything to load.

#![expect(clippy::cast_precision_loss, reason = "numbers of prompts")]

mod diagrams;
mod text;

use minijinja::Environment;
use minijinja::value::Serde;
use repertoire_authoring::eval::{
    Change, Comparison, Fired, Outcome, Report, Scores, SkillScore, UserOnly,
};
use serde::Serialize;

use crate::report::{count, percent_or_dash};

use diagrams::{Margins, Matrix};
use text::{NONE, Piece, ids, pieces, safe};

/// The number of wrong prompts that are unfolded when the page opens; the others are folded.
const N_OPEN: usize = 50;

/// The template. Because its name ends with `.html`, texts are escaped.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("page.html"));

/// The data of the template. Its texts contain no characters that could reorder what the user reads.
#[derive(Serialize)]
struct Page {
    style: &'static str,
    cases: usize,
    tiles: [Tile; 7],
    comparison: Option<Changes>,
    matrix: Option<Matrix>,
    margins: Option<Margins>,
    skills: Vec<Bars>,
    n_open: usize,
    wrong: Vec<Case>,
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Tile {
    name: &'static str,
    value: String,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Changes {
    fixed: usize,
    broken: usize,
    added: usize,
    removed: usize,
    prompts: Vec<Changed>,
}

#[derive(Serialize)]
struct Changed {
    class: &'static str,
    query: String,
    before: String,
    after: String,
}

/// A skill with its precision and recall.
#[derive(Serialize)]
struct Bars {
    id: String,
    right: usize,
    expected: usize,
    wrong: usize,
    precision: Bar,
    recall: Bar,
}

#[derive(Serialize)]
struct Bar {
    text: String,
    width: String,
}

/// A prompt that was routed wrongly.
#[derive(Serialize)]
struct Case {
    query: Vec<Piece>,
    wanted: String,
    fired: Vec<Fire>,
    found: Option<String>,
    nearest: Option<Near>,
    place: String,
}

#[derive(Serialize)]
struct Fire {
    id: String,
    is_wrong: bool,
    why: String,
}

#[derive(Serialize)]
struct Near {
    id: String,
    margin: String,
}

/// Renders the page of a report.
pub(crate) fn page(
    report: &Report,
    comparison: Option<&Comparison>,
) -> Result<String, minijinja::Error> {
    let page = Page {
        style: concat!(include_str!("../look.css"), include_str!("page.css")),
        cases: report.cases,
        tiles: tiles(report.scores, report.tokens.mean),
        comparison: comparison.map(Changes::of),
        matrix: Matrix::of(report),
        margins: Margins::of(report),
        skills: report.per_skill.iter().map(Bars::of).collect(),
        n_open: N_OPEN,
        wrong: report.results.iter().filter(|outcome| !outcome.is_right).map(Case::of).collect(),
        left_out: left_out(report),
    };
    let mut environment = Environment::new();
    let (name, template) = TEMPLATE;
    environment.add_template(name, template)?;
    environment.get_template(name)?.render(Serde(page))
}

fn tiles(scores: Scores, tokens: f64) -> [Tile; 7] {
    [
        ("Precision", percent_or_dash(scores.precision), "of the skills in full were right"),
        ("Recall", percent_or_dash(scores.recall), "of the expected skills were in full"),
        ("F1", percent_or_dash(scores.f1), "harmonic mean of the two"),
        ("Top 1", percent_or_dash(scores.top1), "had a right skill first"),
        ("Top 3", percent_or_dash(scores.top3), "had one in the first three"),
        ("False fires", percent_or_dash(scores.false_fire), "of prompts for no skill"),
        ("Tokens", format!("{tokens:.0}"), "a prompt on average"),
    ]
    .map(|(name, value, meaning)| Tile { name, value, meaning })
}

impl Changes {
    fn of(comparison: &Comparison) -> Changes {
        let Comparison { fixed, broken, changes, added, removed, .. } = comparison;
        let prompts = changes.iter().map(Changed::of).collect();
        Changes { fixed: *fixed, broken: *broken, added: *added, removed: *removed, prompts }
    }
}

impl Changed {
    fn of(Change { query, before, after, was_right, is_right, .. }: &Change) -> Changed {
        let class = match (was_right, is_right) {
            (false, true) => "good",
            (true, false) => "bad",
            _ => "dim",
        };
        Changed { class, query: safe(query), before: ids(before), after: ids(after) }
    }
}

impl Bars {
    fn of(skill: &SkillScore) -> Bars {
        let bar = |share: Option<f64>| Bar {
            text: percent_or_dash(share),
            width: format!("{:.1}", 100.0 * share.unwrap_or(0.0)),
        };
        Bars {
            id: safe(skill.id.as_str()),
            right: skill.right,
            expected: skill.expected,
            wrong: skill.wrong,
            precision: bar(skill.scores.precision),
            recall: bar(skill.scores.recall),
        }
    }
}

impl Case {
    fn of(outcome: &Outcome) -> Case {
        let Outcome { file, line, query, expected, forbidden, fired, found, nearest, .. } = outcome;
        let spans = fired
            .iter()
            .flat_map(|fired| &fired.hits)
            .map(|hit| (hit.span.clone(), format!("{} `{}`", hit.kind.as_str(), hit.trigger)));
        let wanted = match (&expected[..], &forbidden[..]) {
            ([], []) => format!("expected {NONE}"),
            ([], forbidden) => format!("not {}", ids(forbidden)),
            (expected, _) => format!("expected {}", ids(expected)),
        };
        let near = nearest
            .as_ref()
            .map(|near| Near { id: safe(near.id.as_str()), margin: format!("{:.2}", near.margin) });
        Case {
            query: pieces(query, &spans.collect::<Vec<_>>()),
            wanted,
            fired: fired.iter().map(Fire::of).collect(),
            found: (!found.is_empty()).then(|| ids(found)),
            nearest: near,
            place: safe(&format!("{file}:{line}")),
        }
    }
}

impl Fire {
    fn of(fired: &Fired) -> Fire {
        let hits = fired.hits.iter().map(|hit| format!("{} `{}`", hit.kind.as_str(), hit.trigger));
        let terms = fired.terms.iter().map(|term| format!("word `{}`", term.term));
        let why: Vec<String> = hits.chain(terms).collect();
        Fire { id: safe(fired.id.as_str()), is_wrong: fired.is_wrong, why: safe(&why.join(", ")) }
    }
}

/// Returns a line for each prompt or group of prompts that was not counted, with the reason.
fn left_out(report: &Report) -> Vec<String> {
    let problems = report.problems.iter();
    let problems = problems.map(|at| format!("{}:{}: {}", at.file, at.line, at.message));
    let user_only = report.user_only.iter().map(|UserOnly { id, prompts, .. }| {
        format!("{} for {id}, which only the user may invoke", count(*prompts, "prompt"))
    });
    problems.chain(user_only).map(|line| safe(&line)).collect()
}
