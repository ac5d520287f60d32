//! Arguments of the command that measures disclosures.

use std::path::PathBuf;

use clap::Args;
use repertoire_authoring::benchmark::BenchmarkKind;

use super::ask::AskArgs;
use super::routing::{MatchingArgs, ShowingArgs};

/// The options and groups of options that have a meaning for prompts alone, not for a benchmark.
const OF_PROMPTS: [&str; 6] = ["skill", "baseline", "paste", "Threshold", "AskArgs", "ShowingArgs"];

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Files of prompts: JSON, JSON lines or YAML
    ///
    /// Each entry has a `query` (or `prompt`, `request`) and states the expected result:
    /// `should_trigger` (true or false) for one skill, or `expected_skill` (a name, a list, or null
    /// for none). A map may hold `should_trigger_prompts` and `should_not_trigger_prompts`, or
    /// `skills` with `name`, `positive` and `negative`. `shouldTrigger` and `should-trigger` work,
    /// too. Prompts that name no skill belong to `--skill`, or else to the skill whose directory
    /// contains the file, or after which the file is named. docs/routing.md describes every form.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Measure a public benchmark instead: FILE is the directory to which it was downloaded
    ///
    /// `skillret`, `skillrouter`, `r3-skill`, `toolret` or `metatool`, in the layout in which it is published.
    /// docs/benchmarks.md describes them.
    #[arg(long, value_name = "NAME", value_parser = benchmark, conflicts_with_all = OF_PROMPTS)]
    pub(crate) benchmark: Option<BenchmarkKind>,
    /// The skill for prompts that name none, wherever their file is
    #[arg(long, value_name = "ID")]
    pub(crate) skill: Option<String>,
    /// An earlier report (`--json`) to compare with
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Repeat each prompt with the text of this file before it and after it, and show those figures, too
    #[arg(long, value_name = "FILE")]
    pub(crate) paste: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threshold: Threshold,
    #[command(flatten)]
    pub(crate) asking: AskArgs,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
}

/// Reads the name of a benchmark.
fn benchmark(name: &str) -> Result<BenchmarkKind, String> {
    name.parse().map_err(|error: repertoire::Error| error.message().to_owned())
}

/// Thresholds from 0 to 1. The exit code is 1 if a measured share is below a minimum or above a
/// maximum.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits, from 0 to 1; the exit code is 1 if one is missed")]
pub(crate) struct Threshold {
    /// Minimum share of right skills among those shown in full
    #[arg(long = "min-precision", value_name = "SHARE", value_parser = share)]
    pub(crate) precision: Option<f64>,
    /// Minimum share of the expected skills that are shown in full
    #[arg(long = "min-recall", value_name = "SHARE", value_parser = share)]
    pub(crate) recall: Option<f64>,
    /// Minimum share of prompts with an expected skill in full or in a line
    #[arg(long = "min-in-view", value_name = "SHARE", value_parser = share)]
    pub(crate) in_view: Option<f64>,
    /// Minimum harmonic mean of precision and recall
    #[arg(long = "min-f1", value_name = "SHARE", value_parser = share)]
    pub(crate) f1: Option<f64>,
    /// Minimum share of prompts with a right skill in first place
    #[arg(long = "min-top1", value_name = "SHARE", value_parser = share)]
    pub(crate) top1: Option<f64>,
    /// Minimum share of prompts with a right skill in the first three places
    #[arg(long = "min-top3", value_name = "SHARE", value_parser = share)]
    pub(crate) top3: Option<f64>,
    /// Maximum share of prompts that expect no skill but fire one
    #[arg(long = "max-false-fire", value_name = "SHARE", value_parser = share)]
    pub(crate) false_fire: Option<f64>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as `0.9`".to_owned())
}
