//! `repertoire eval --benchmark`: a public benchmark, measured as its own pages do.

use std::path::{Path, PathBuf};
use std::time::Instant;

use comfy_table::{Table, presets};
use repertoire::{Engine, Error, ErrorCode};
use repertoire_authoring::benchmark::{
    Benchmark, BenchmarkKind, BenchmarkNote, BenchmarkReport, Measures,
};
use serde::Serialize;

use super::align_numbers;
use crate::args::{Common, MatchingArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::{progress_bar, sanitize, setup};

/// With more requests than this, a progress bar is shown.
const MANY: usize = 500;

/// The result, as JSON.
#[derive(Serialize)]
struct BenchmarkOutput<'a> {
    benchmark: &'static str,
    #[serde(flatten)]
    report: &'a BenchmarkReport,
    /// The time to read and to index the skills, in seconds.
    index_seconds: f64,
    /// The largest amount of memory of the whole run, in MiB; `None` where the system does not say.
    peak_mib: Option<f64>,
}

/// Measures the benchmark in `dirs`, which must be one directory.
pub(super) fn run(
    kind: BenchmarkKind,
    dirs: &[PathBuf],
    matching: &MatchingArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let dir = only_dir(dirs, common).map_err(UsageError)?;
    let benchmark = Benchmark::open(kind, dir)?;

    let start = Instant::now();
    // The user's lists of skills are not about those of a benchmark.
    let config = setup::settings(common)?;
    let builder = config.apply_ranking(Engine::builder().source(benchmark.source()));
    let engine = progress_bar::with_progress(matching.apply(builder)).build()?;
    // Words are indexed when they are first needed.
    engine.find_skills("begin", 1);
    let index_seconds = start.elapsed().as_secs_f64();

    let progress = progress_bar::counting("asking", benchmark.requests.len(), MANY);
    let report = benchmark.measure(&engine, || progress.inc(1));
    progress.finish_and_clear();
    let peak_mib = peak_mib();
    if out.json {
        let benchmark = kind.as_str();
        Output::json(&BenchmarkOutput { benchmark, report: &report, index_seconds, peak_mib })?;
    } else {
        out.human(text(kind, &report, index_seconds, peak_mib).as_str())?;
    }
    for note in report.notes.iter() {
        out.note(&told(note));
    }
    Ok(ExitCode::Done)
}

/// Returns the directory of the benchmark. Refuses further ones, and options about skills that are not in it.
fn only_dir<'a>(dirs: &'a [PathBuf], common: &Common) -> Result<&'a Path, Error> {
    let refused = |what: &str, help: &str| {
        let message = format!("{what} has no meaning with `--benchmark`");
        Err(Error::new(ErrorCode::InvalidParam, message, help))
    };
    for (option, is_given) in [
        ("--source", !common.sources.is_empty()),
        ("--allow", !common.allow.is_empty()),
        ("--enable", !common.enable.is_empty()),
        ("--bundled", common.bundled.is_some()),
    ] {
        if is_given {
            let help = "leave it out: all skills of the benchmark count, and no others";
            return refused(&format!("`{option}`"), help);
        }
    }
    match dirs {
        [dir] => Ok(dir),
        _ => refused("a second directory", "name one directory, and run the command for each"),
    }
}

/// Formats a note as one line.
fn told(note: &BenchmarkNote) -> String {
    format!("{}: {}", styled(WARNING, "note"), sanitize::line(&note.to_string()))
}

fn text(kind: BenchmarkKind, report: &BenchmarkReport, seconds: f64, peak: Option<f64>) -> Page {
    let mut page = Page::default();
    let (requests, skills) = (count(report.requests, "request"), count(report.skills, "skill"));
    page.line(format_args!("{}", styled(NAME, format_args!("{kind}: {requests}, {skills}"))));
    let Measures { ndcg_5, ndcg_10, recall_10, completeness_10, hit_1, mrr_10, .. } =
        report.measures;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for (name, share, meaning) in [
        ("NDCG@5", ndcg_5, "discounted gain of the first 5, of the best possible"),
        ("NDCG@10", ndcg_10, "the same of the first 10"),
        ("Recall@10", recall_10, "of the right skills are among the first 10"),
        ("Completeness@10", completeness_10, "of the requests have all of theirs there"),
        ("Hit@1", hit_1, "of the requests have a right one first"),
        ("MRR@10", mrr_10, "mean of 1 / rank of the first right one"),
    ] {
        table.add_row([name.to_owned(), format!("{:.2}", 100.0 * share), meaning.to_owned()]);
    }
    align_numbers(&mut table, 1);
    page.line(format_args!("{table}"));
    let memory = peak.map(|mib| format!(", {mib:.0} MiB at most")).unwrap_or_default();
    let costs = format!("{seconds:.1} s to index, {:.0} µs a request{memory}", report.microseconds);
    page.line(format_args!("{}", styled(DIM, costs)));
    page
}

/// The largest amount of memory that this process has used, in MiB, on Linux.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}
