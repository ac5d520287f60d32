//! The page of `repertoire eval --html`: one file without scripts and without anything to load.

#![expect(clippy::cast_precision_loss, reason = "numbers of prompts")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use repertoire::SkillId;
use repertoire::eval::{Change, Comparison, Fired, Outcome, Report, UserOnly};

use crate::html::{escaped, marked};
use crate::report::count;
use crate::report::percent_or_dash;

const STYLE: &str = include_str!("eval_page.css");

/// A matrix of more skills is too wide to be read; those confused most often are kept.
const MAX_SKILLS: usize = 24;

/// The number of wrong prompts that are unfolded when the page opens; the others are folded.
const N_OPEN: usize = 50;

/// Steps of the margin in its diagram.
const N_STEPS: usize = 40;

/// The label for no skill.
const NONE: &str = "no skill";

/// The page of a report.
pub(crate) fn page(report: &Report, comparison: Option<&Comparison>) -> String {
    let mut html = String::new();
    // Writing to a `String` cannot fail, here and below.
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Routing of {} prompts</title>\n<style>\n{STYLE}</style>\n<body>\n",
        report.cases
    );
    html += &figures(report);
    if let Some(comparison) = comparison {
        html += &changes(comparison);
    }
    html += &matrix(report);
    html += &margins(report);
    html += &bars(report);
    html += &wrong_cases(report);
    html += &left_out(report);
    html + "</body>\n</html>\n"
}

fn figures(report: &Report) -> String {
    let scores = report.scores;
    let mut html = format!("<h1>Routing of {} prompts</h1>\n<div class=\"tiles\">\n", report.cases);
    for (name, value, what) in [
        ("Precision", percent_or_dash(scores.precision), "of the skills in full were right"),
        ("Recall", percent_or_dash(scores.recall), "of the expected skills were in full"),
        ("F1", percent_or_dash(scores.f1), "harmonic mean of the two"),
        ("Top 1", percent_or_dash(scores.top1), "had a right skill first"),
        ("Top 3", percent_or_dash(scores.top3), "had one in the first three"),
        ("False fires", percent_or_dash(scores.false_fire), "of prompts for no skill"),
        ("Tokens", format!("{:.0}", report.tokens.mean), "a prompt on average"),
    ] {
        let _ = writeln!(
            html,
            "<div class=\"tile\">{name}<b>{value}</b><span class=\"dim\">{what}</span></div>"
        );
    }
    html + "</div>\n"
}

fn changes(comparison: &Comparison) -> String {
    let Comparison { mended, broken, changes, added, removed, .. } = comparison;
    let mut html = format!(
        "<h2>Since the baseline</h2>\n<p><span class=\"good\">{mended} mended</span>, \
         <span class=\"bad\">{broken} broken</span>, {added} new prompts, {removed} gone.</p>\n"
    );
    for Change { query, before, after, was_right, is_right, .. } in changes {
        let class = match (was_right, is_right) {
            (false, true) => "good",
            (true, false) => "bad",
            _ => "dim",
        };
        let _ = writeln!(
            html,
            "<div class=\"case\"><div class=\"query\">{}</div><div class=\"verdict {class}\">{} → \
             {}</div></div>",
            escaped(query),
            ids(before),
            ids(after)
        );
    }
    html
}

fn ids(ids: &[SkillId]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| escaped(id.as_str())).collect();
    if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") }
}

/// The confusion matrix: the skills that fired, by the skills that were expected.
fn matrix(report: &Report) -> String {
    type Cell<'r> = (Option<&'r SkillId>, Option<&'r SkillId>);
    let mut cells: BTreeMap<Cell<'_>, usize> = BTreeMap::new();
    for skill in report.per_skill.iter().filter(|skill| skill.right > 0) {
        cells.insert((Some(&skill.id), Some(&skill.id)), skill.right);
    }
    let mut expected: BTreeSet<Option<&SkillId>> = BTreeSet::new();
    let mut got: BTreeSet<Option<&SkillId>> = BTreeSet::new();
    for confusion in &report.confusions {
        let cell = (confusion.expected.as_ref(), confusion.got.as_ref());
        let fits = |shown: &BTreeSet<_>, id| shown.len() < MAX_SKILLS || shown.contains(id);
        if fits(&expected, &cell.0) && fits(&got, &cell.1) {
            expected.insert(cell.0);
            got.insert(cell.1);
            cells.insert(cell, confusion.cases);
        }
    }
    if expected.is_empty() {
        return "<h2>Confusions</h2>\n<p>None: every prompt was right.</p>\n".to_owned();
    }
    // The matrix also tells how often a confused skill was not confused.
    got.extend(expected.iter().filter(|expected| expected.is_some()));
    let name = |id: Option<&SkillId>| id.map_or(NONE.to_owned(), |id| escaped(id.as_str()));
    let most = cells.values().max().copied().unwrap_or(1) as f64;
    let mut html = "<h2>Confusions</h2>\n<p class=\"dim\">A row is the skill that was expected, a \
                    column the one that fired. Skills that are never confused are left out.</p>\n\
                    <div class=\"wide\"><table class=\"matrix\"><thead><tr><th>expected</th>"
        .to_owned();
    for got in &got {
        let _ = write!(html, "<th><span>{}</span></th>", name(*got));
    }
    html += "</tr></thead>\n";
    for expected in &expected {
        let _ = write!(html, "<tr><th>{}</th>", name(*expected));
        for got in &got {
            match cells.get(&(*expected, *got)) {
                Some(n) => {
                    let color = if expected == got { "--heat" } else { "--wrong" };
                    let depth = 0.15 + 0.6 * *n as f64 / most;
                    let _ = write!(
                        html,
                        "<td style=\"background: rgba(var({color}), {depth:.2})\">{n}</td>"
                    );
                }
                None => html += "<td></td>",
            }
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

/// Precision of the most relevant skill, and the number of prompts left, by the least margin.
fn margins(report: &Report) -> String {
    let judged: Vec<(f64, bool)> = report
        .results
        .iter()
        .filter_map(|outcome| outcome.nearest.as_ref())
        .filter_map(|near| Some((f64::from(near.margin), near.is_right?)))
        .collect();
    if judged.is_empty() {
        return String::new();
    }
    let (mut precision, mut left) = (String::new(), String::new());
    for step in 0..=N_STEPS {
        let margin = step as f64 / N_STEPS as f64;
        let past = judged.iter().filter(|(of, _)| *of >= margin);
        let (n_past, n_right) =
            past.fold((0, 0), |(n, right), (_, is_right)| (n + 1, right + usize::from(*is_right)));
        let x = 40.0 + 540.0 * margin;
        let y = |share: f64| 210.0 - 190.0 * share;
        let _ = write!(left, "{x:.0},{:.1} ", y(f64::from(n_past) / judged.len() as f64));
        if n_past > 0 {
            let _ = write!(precision, "{x:.0},{:.1} ", y(n_right as f64 / f64::from(n_past)));
        }
    }
    let mut html = "<h2>Precision against margin</h2>\n<p class=\"dim\">If the most relevant skill \
                    were shown in full wherever it is so far ahead of the next: how often that is \
                    <span style=\"color: var(--first)\">right</span>, and for what share of the \
                    prompts it <span style=\"color: var(--good)\">happens</span>.</p>\n\
                    <svg viewBox=\"-10 0 610 245\" role=\"img\" aria-label=\"precision against margin\">\n"
        .to_owned();
    for step in 0..=4 {
        let at = f64::from(step) / 4.0;
        let (x, y) = (40.0 + 540.0 * at, 210.0 - 190.0 * at);
        let _ = writeln!(
            html,
            "<line x1=\"40\" x2=\"580\" y1=\"{y}\" y2=\"{y}\" stroke=\"var(--line)\"/>\
             <text x=\"34\" y=\"{:.0}\" text-anchor=\"end\">{:.0} %</text>\
             <text x=\"{x}\" y=\"230\" text-anchor=\"middle\">{at}</text>",
            y + 4.0,
            100.0 * at
        );
    }
    for (points, color) in [(left, "--good"), (precision, "--first")] {
        let _ = writeln!(
            html,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"var({color})\" \
             stroke-width=\"2.5\"/>"
        );
    }
    html + "</svg>\n"
}

fn bars(report: &Report) -> String {
    let mut html = "<h2>Skills</h2>\n<p class=\"dim\">Above \
                    <span style=\"color: var(--first)\">precision</span>, below \
                    <span style=\"color: var(--good)\">recall</span>.</p>\n<div class=\"bars\">\n"
        .to_owned();
    for skill in &report.per_skill {
        let width = |share: Option<f64>| 100.0 * share.unwrap_or(0.0);
        let scores = skill.scores;
        let _ = writeln!(
            html,
            "<div class=\"name\">{} <span class=\"dim\">{} of {}, {} wrong</span></div>\
             <div><div class=\"bar\" title=\"precision {}\"><i class=\"p\" style=\"width: {:.1}%\"></i></div>\
             <div class=\"bar\" title=\"recall {}\"><i class=\"r\" style=\"width: {:.1}%\"></i></div></div>",
            escaped(skill.id.as_str()),
            skill.right,
            skill.expected,
            skill.wrong,
            percent_or_dash(scores.precision),
            width(scores.precision),
            percent_or_dash(scores.recall),
            width(scores.recall),
        );
    }
    html + "</div>\n"
}

fn wrong_cases(report: &Report) -> String {
    let wrong: Vec<&Outcome> = report.results.iter().filter(|outcome| !outcome.is_right).collect();
    let mut html = format!("<h2>{} wrong prompts</h2>\n", wrong.len());
    let (open, folded) = wrong.split_at(N_OPEN.min(wrong.len()));
    html.extend(open.iter().map(|outcome| case(outcome)));
    if !folded.is_empty() {
        let _ = writeln!(html, "<details><summary>{} more</summary>", folded.len());
        html.extend(folded.iter().map(|outcome| case(outcome)));
        html += "</details>\n";
    }
    html
}

fn case(outcome: &Outcome) -> String {
    let Outcome { file, line, query, expected, forbidden, fired, found, nearest, .. } = outcome;
    let spans = fired
        .iter()
        .flat_map(|fired| &fired.hits)
        .map(|hit| (hit.span.clone(), format!("{} `{}`", hit.kind.as_str(), hit.trigger)));
    let mut html = format!(
        "<div class=\"case\"><div class=\"query\">{}</div><div class=\"verdict\">",
        marked(query, &spans.collect::<Vec<_>>())
    );
    let wanted = match (&expected[..], &forbidden[..]) {
        ([], []) => format!("expected {NONE}"),
        ([], forbidden) => format!("not {}", ids(forbidden)),
        (expected, _) => format!("expected {}", ids(expected)),
    };
    let _ = write!(html, "<div>{wanted}</div>");
    for fire in fired {
        let (class, word) = if fire.is_wrong { ("bad", "wrong") } else { ("good", "not wrong") };
        let _ = write!(
            html,
            "<div>fired {} <span class=\"{class}\">{word}</span> <span class=\"dim\">{}</span></div>",
            escaped(fire.id.as_str()),
            escaped(&why(fire))
        );
    }
    if fired.is_empty() {
        html += "<div class=\"bad\">fired nothing</div>";
    }
    if !found.is_empty() {
        let _ = write!(html, "<div class=\"dim\">found {}", ids(found));
        if let Some(nearest) = nearest {
            let (id, margin) = (escaped(nearest.id.as_str()), nearest.margin);
            let _ = write!(html, "; nearest by words {id}, margin {margin:.2}");
        }
        html += "</div>";
    }
    let _ = writeln!(html, "<div class=\"dim\">{}:{line}</div></div></div>", escaped(file));
    html
}

fn why(fire: &Fired) -> String {
    let mut told: Vec<String> =
        fire.hits.iter().map(|hit| format!("{} `{}`", hit.kind.as_str(), hit.trigger)).collect();
    told.extend(fire.terms.iter().map(|term| format!("word `{}`", term.term)));
    told.join(", ")
}

fn left_out(report: &Report) -> String {
    if report.problems.is_empty() && report.user_only.is_empty() {
        return String::new();
    }
    let mut html = "<h2>Left out</h2>\n<ul>\n".to_owned();
    for problem in &report.problems {
        let (file, message) = (escaped(&problem.file), escaped(&problem.message));
        let _ = writeln!(html, "<li>{file}:{}: {message}</li>", problem.line);
    }
    for UserOnly { id, prompts } in &report.user_only {
        let (id, prompts) = (escaped(id.as_str()), count(*prompts, "prompt"));
        let _ = writeln!(html, "<li>{prompts} for {id}, which only the user may invoke</li>");
    }
    html + "</ul>\n"
}
