//! `repertoire eval`: measures how often the right skill is disclosed.

mod ask;
mod benchmark;

use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use repertoire::{Catalog, DisclosureOptions, Engine, Error, ErrorCode, SkillId};
use repertoire_authoring::eval::{
    Baseline, Case, Cause, Comparison, Confusion, OverBudget, Owners, Problem, Report, Scores,
    Tokens, TooLong, UserOnly, compare, evaluate, read, with_paste,
};
use serde::Serialize;

use crate::args::{Common, EvalArgs, Threshold};
use crate::exit_code::ExitCode;
use crate::output::{DIM, ERROR, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::{count, percent, percent_or_dash};
use crate::{progress_bar, sanitize, setup};

/// With more prompts than this, a progress bar is shown.
const MANY_CASES: usize = 500;

/// The maximum numbers of confusions, of causes for each confusion, and of changes that text output
/// lists. JSON lists all of them.
const MAX_CONFUSIONS: usize = 12;
const MAX_CAUSES: usize = 3;
const MAX_CHANGES: usize = 20;

/// The results, as JSON.
#[derive(Serialize)]
struct EvalOutput<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// The thresholds that are not met.
    unmet: &'a [Unmet],
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pasted: Option<&'a Pasted>,
}

/// The figures of the prompts with a text around them.
#[derive(Serialize)]
struct Pasted {
    /// The file with the text.
    file: String,
    cases: usize,
    #[serde(flatten)]
    scores: Scores,
    lines_for_none: Option<f64>,
    tokens: Tokens,
}

/// A threshold that is not met.
#[derive(Debug, Serialize)]
struct Unmet {
    figure: &'static str,
    threshold: f64,
    /// `None` if the figure is undefined: there is nothing to take a share of.
    value: Option<f64>,
}

pub(crate) fn run(args: &EvalArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    if let Some(kind) = args.benchmark {
        return benchmark::run(kind, &args.files, &args.matching, common, out);
    }
    // Files that cannot be read are reported before the work is done, not after it.
    let baseline = args.baseline.as_deref().map(baseline).transpose()?;
    let help = "name a file of prompts, in UTF-8";
    let texts = args.files.iter().map(|file| text_of(file, help)).collect::<Result<Vec<_>, _>>()?;
    let paste = args.paste.as_deref().map(|file| {
        Ok::<_, Error>((file, text_of(file, "name a file with the text to paste, in UTF-8")?))
    });
    let paste = paste.transpose()?;
    let options = setup::config(common)?.disclosure(DisclosureOptions::default());
    let options = args.showing.apply(options);
    let engine = setup::engine(common, |builder| args.matching.apply(builder).disclosure(options))?;
    let (cases, mut problems) = prompts(args, &texts, &engine.catalog());
    if let Some(model) = &args.asking.ask {
        let found = ask::Prompts { cases, problems };
        let is_fine = ask::run(model, &args.asking, &engine, found, out)?;
        let sources = setup::finish(common, &engine, out);
        return Ok(if is_fine { sources } else { ExitCode::Failure });
    }
    let progress = progress_bar::counting("asking", cases.len(), MANY_CASES);
    let mut evaluation = evaluate(&engine, &cases, || progress.inc(1));
    progress.finish_and_clear();
    problems.append(&mut evaluation.problems);

    evaluation.problems = problems;
    let report = Report::new(evaluation);
    let pasted = paste.map(|(file, text)| pasted(&engine, &cases, file, &text));
    let comparison = baseline.map(|baseline| compare(&baseline, &report));
    let unmet = unmet(&args.threshold, &report.scores);
    if out.json {
        let (comparison, pasted) = (comparison.as_ref(), pasted.as_ref());
        Output::json(&EvalOutput { report: &report, unmet: &unmet, comparison, pasted })?;
    } else {
        out.human(text(&report, comparison.as_ref(), pasted.as_ref()).as_str())?;
    }
    notes(&report, &unmet, out);
    let is_fine = unmet.is_empty() && report.problems.is_empty();
    let sources = setup::finish(common, &engine, out);
    Ok(if is_fine { sources } else { ExitCode::Failure })
}

/// Measures the prompts with `text`, the content of `file`, before and after them.
fn pasted(engine: &Engine, cases: &[Case], file: &Path, text: &str) -> Pasted {
    let cases = with_paste(cases, text);
    let progress = progress_bar::counting("asking with the paste", cases.len(), MANY_CASES);
    let report = Report::new(evaluate(engine, &cases, || progress.inc(1)));
    progress.finish_and_clear();
    let file = file.to_string_lossy().into_owned();
    let Report { cases, scores, lines_for_none, tokens, .. } = report;
    Pasted { file, cases, scores, lines_for_none, tokens }
}

/// Prints the problems in the files, the prompts that are not counted, and the thresholds that are not
/// met.
fn notes(report: &Report, unmet: &[Unmet], out: Output) {
    for problem in &report.problems {
        out.note(&told(problem));
    }
    for skill in &report.user_only {
        out.note(&not_counted(skill));
    }
    for skill in &report.over_budget {
        out.note(&over_budget(skill));
    }
    for Unmet { figure, threshold, value } in unmet {
        let value = value.map_or_else(|| "undefined: no prompt decides it".to_owned(), percent);
        out.note(&format!(
            "{}: {figure} is {value}, the limit is {}",
            styled(ERROR, "unmet"),
            percent(*threshold)
        ));
    }
}

/// Returns the prompts in the texts of all files, and the problems in the files. A prompt that names no
/// skill belongs to `--skill` or, without it, to the skill whose directory contains the file.
fn prompts(args: &EvalArgs, texts: &[String], catalog: &Catalog) -> (Vec<Case>, Vec<Problem>) {
    let owners = Owners::new(catalog);
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for (path, text) in args.files.iter().zip(texts) {
        let owner = args.skill.as_deref().or_else(|| owners.of(path).map(SkillId::as_str));
        let (of_file, wrong) = read(&path.to_string_lossy(), text, owner);
        cases.extend(of_file);
        problems.extend(wrong);
    }
    (cases, problems)
}

fn text_of(file: &Path, help: &str) -> Result<String, Error> {
    std::fs::read_to_string(file).map_err(|error| {
        let message = format!("cannot read {}: {error}", file.display());
        Error::new(ErrorCode::ExecutionError, message, help)
    })
}

fn baseline(file: &Path) -> Result<Baseline, Error> {
    let help = "name a report that `repertoire eval FILE… --json` wrote";
    Baseline::parse(&file.to_string_lossy(), &text_of(file, help)?)
}

fn unmet(threshold: &Threshold, scores: &Scores) -> Vec<Unmet> {
    let least = [
        ("precision", threshold.precision, scores.precision),
        ("recall", threshold.recall, scores.recall),
        ("in_view", threshold.in_view, scores.in_view),
        ("f1", threshold.f1, scores.f1),
        ("top1", threshold.top1, scores.top1),
        ("top3", threshold.top3, scores.top3),
    ];
    let least = least.into_iter().map(|(figure, least, value)| {
        (figure, least, value, least.zip(value).is_some_and(|(least, value)| value >= least))
    });
    let (most, value) = (threshold.false_fire, scores.false_fire);
    let is_met = most.zip(value).is_some_and(|(most, value)| value <= most);
    let all = least.chain([("false_fire", most, value, is_met)]);
    all.filter_map(|(figure, threshold, value, is_met)| {
        threshold.filter(|_| !is_met).map(|threshold| Unmet { figure, threshold, value })
    })
    .collect()
}

/// Formats a problem as one line.
fn told(Problem { file, line, message, .. }: &Problem) -> String {
    let title = styled(WARNING, "left out");
    format!("{}:{line}: {title}: {}", sanitize::line(file), sanitize::line(message))
}

/// Formats the reason why prompts are not counted as one line.
pub(super) fn not_counted(UserOnly { id, prompts, .. }: &UserOnly) -> String {
    let title = styled(WARNING, "not counted");
    let (expect, id) =
        (if *prompts == 1 { "expects" } else { "expect" }, sanitize::line(id.as_str()));
    format!(
        "{title}: {} {expect} `{id}`, which only the user may invoke",
        count(*prompts, "prompt")
    )
}

/// Formats a skill that is too long to fire as one line.
fn over_budget(
    OverBudget { skill: TooLong { id, reason, .. }, prompts, .. }: &OverBudget,
) -> String {
    let (call, id) = (if *prompts == 1 { "calls" } else { "call" }, sanitize::line(id.as_str()));
    let (prompts, reason) = (count(*prompts, "prompt"), sanitize::line(reason));
    format!("{}: {prompts} {call} for `{id}`; {reason}", styled(WARNING, "too long"))
}

fn text(report: &Report, comparison: Option<&Comparison>, pasted: Option<&Pasted>) -> Page {
    let mut page = Page::default();
    page.line(format_args!("{}", styled(NAME, count(report.cases, "prompt"))));
    page.line(format_args!("{}\n", figures(report, pasted)));

    if !report.per_skill.is_empty() {
        page.line(format_args!("{}", per_skill(report)));
    }
    confusions(&report.confusions, &mut page);
    if let Some(comparison) = comparison {
        changes(comparison, &report.scores, &mut page);
    }
    page
}

/// The figures of all prompts; those with a paste are in a second column.
fn figures(report: &Report, pasted: Option<&Pasted>) -> Table {
    let mean = |mean: Option<f64>| mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"));
    let cells = |scores: &Scores, lines: Option<f64>, tokens: Tokens| {
        let mut cells = scores_in_order(scores).map(percent_or_dash).to_vec();
        cells.extend([mean(lines), format!("{:.0}", tokens.mean)]);
        cells
    };
    let clean = cells(&report.scores, report.lines_for_none, report.tokens);
    let pasted = pasted.map(|pasted| cells(&pasted.scores, pasted.lines_for_none, pasted.tokens));
    let meanings = [
        "of the skills shown in full were right",
        "of the skills that should be shown in full were",
        "had a right skill in full or in a line",
        "harmonic mean of precision and recall",
        "had a right skill in the first place",
        "had one in the first three",
        "of those that should fire none fired a wrong one",
        "a prompt that should fire none",
        &format!("a prompt; {} at most", report.tokens.max),
    ];
    let names = SCORE_NAMES.into_iter().chain(["lines", "tokens"]);
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    if pasted.is_some() {
        table.set_header(["", "alone", "with paste", ""]);
    }
    for (row, (name, meaning)) in names.zip(meanings).enumerate() {
        let with_paste = pasted.as_ref().map(|cells| cells[row].clone());
        let numbers = [Some(clean[row].clone()), with_paste].into_iter().flatten();
        let ends = (name.to_owned(), meaning.to_owned());
        table.add_row(std::iter::once(ends.0).chain(numbers).chain([ends.1]));
    }
    align_numbers(&mut table, 1);
    if pasted.is_some() {
        align_numbers(&mut table, 2);
    }
    table
}

/// The names of the scores, in the order in which text output shows them.
const SCORE_NAMES: [&str; 7] =
    ["precision", "recall", "in view", "F1", "top 1", "top 3", "false fires"];

fn scores_in_order(scores: &Scores) -> [Option<f64>; 7] {
    let Scores { precision, recall, in_view, f1, top1, top3, false_fire, .. } = *scores;
    [precision, recall, in_view, f1, top1, top3, false_fire]
}

fn per_skill(report: &Report) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "skill", "expected", "right", "wrong", "precision", "recall", "top 1", "top 3",
    ]);
    for skill in &report.per_skill {
        let number = |n: usize| n.to_string();
        let scores = skill.scores;
        table.add_row(vec![
            sanitize::line(skill.id.as_str()).into_owned(),
            number(skill.expected),
            number(skill.right),
            number(skill.wrong),
            percent_or_dash(scores.precision),
            percent_or_dash(scores.recall),
            percent_or_dash(scores.top1),
            percent_or_dash(scores.top3),
        ]);
    }
    for column in 1..8 {
        align_numbers(&mut table, column);
    }
    table
}

fn align_numbers(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

fn confusions(confusions: &[Confusion], page: &mut Page) {
    if confusions.is_empty() {
        return;
    }
    page.line(format_args!("\n{}", styled(NAME, "Wrong")));
    let name = |id: &Option<SkillId>| {
        id.as_ref().map_or_else(|| "nothing".to_owned(), |id| sanitize::line(id.as_str()).into())
    };
    for Confusion { expected, got, cases, triggers, .. } in confusions.iter().take(MAX_CONFUSIONS) {
        let (expected, got) = (name(expected), name(got));
        page.line(format_args!("{cases:>4}  expected {expected}, got {got}{}", causes(triggers)));
    }
    if confusions.len() > MAX_CONFUSIONS {
        let rest = confusions.len() - MAX_CONFUSIONS;
        page.line(format_args!("{}", styled(DIM, format_args!("      and {rest} more kinds"))));
    }
}

fn causes(causes: &[Cause]) -> String {
    let told = causes.iter().take(MAX_CAUSES).map(|Cause { kind, trigger, cases, .. }| {
        format!("{kind} `{}` {cases}×", sanitize::line(trigger))
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    styled(DIM, format_args!("  ({})", told.join(", ")))
}

fn changes(comparison: &Comparison, now: &Scores, page: &mut Page) {
    let Comparison { before, fixed, broken, changes, added, removed, .. } = comparison;
    page.line(format_args!("\n{}", styled(NAME, "Since the baseline")));
    let scores = scores_in_order(before).into_iter().zip(scores_in_order(now));
    for (name, (before, now)) in SCORE_NAMES.into_iter().zip(scores) {
        if before != now {
            page.line(format_args!(
                "  {name}: {} → {}",
                percent_or_dash(before),
                percent_or_dash(now)
            ));
        }
    }
    page.line(format_args!(
        "  {fixed} fixed, {broken} broken; {added} new prompts, {removed} gone"
    ));
    let ids = |ids: &[SkillId]| {
        let ids: Vec<_> = ids.iter().map(|id| sanitize::line(id.as_str())).collect();
        if ids.is_empty() { "nothing".to_owned() } else { ids.join(", ") }
    };
    for change in changes.iter().take(MAX_CHANGES) {
        let title = match (change.was_right, change.is_right) {
            (false, true) => styled(GOOD, "fixed"),
            (true, false) => styled(ERROR, "broken"),
            _ => styled(WARNING, "changed"),
        };
        let (file, query) = (sanitize::line(&change.file), sanitize::line(&change.query));
        let (before, after) = (ids(&change.before), ids(&change.after));
        page.line(format_args!("  {title} {file}:{}: {query}", change.line));
        page.line(format_args!("    {before} → {after}"));
    }
    if changes.len() > MAX_CHANGES {
        let rest = changes.len() - MAX_CHANGES;
        page.line(format_args!("{}", styled(DIM, format_args!("  and {rest} more changes"))));
    }
}
