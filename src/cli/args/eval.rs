//! Commands that measure triggers, and propose them.

use std::path::PathBuf;

use clap::Args;

use super::routing::{MatchingArgs, ShowingArgs};

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Files of prompts: JSON, JSON lines, YAML, CSV or TSV
    ///
    /// An entry has a `query` (or `prompt`, `input`) and says what is expected: `should_trigger`
    /// (true or false) for one skill, or `expected_skill` (a name, a list, or null for none). A
    /// map may hold `should_trigger_prompts` and `should_not_trigger_prompts`, or `skills` with
    /// `name`, `positive` and `negative`. `shouldTrigger` and `should-trigger` will do, too.
    /// Prompts that name no skill belong to `--skill`, else to the skill whose directory the file
    /// stands in. docs/routing.md has every form.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The skill that prompts belong to where they do not say so, wherever their file stands
    #[arg(long, value_name = "ID")]
    pub(crate) skill: Option<String>,
    /// An earlier report (`--json`) to compare with
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write a page to look at, too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threshold: Threshold,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
}

/// Shares from 0 to 1 beyond which the exit code is 1.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits, from 0 to 1; the exit code is 1 if one is not kept")]
pub(crate) struct Threshold {
    /// Least share of the skills shown in full that are right
    #[arg(long = "min-precision", value_name = "SHARE", value_parser = share)]
    pub(crate) precision: Option<f64>,
    /// Least share of the expected skills that are shown in full
    #[arg(long = "min-recall", value_name = "SHARE", value_parser = share)]
    pub(crate) recall: Option<f64>,
    /// Least harmonic mean of the two
    #[arg(long = "min-f1", value_name = "SHARE", value_parser = share)]
    pub(crate) f1: Option<f64>,
    /// Least share of prompts with a right skill in the first place
    #[arg(long = "min-top1", value_name = "SHARE", value_parser = share)]
    pub(crate) top1: Option<f64>,
    /// Least share of prompts with a right skill in the first three
    #[arg(long = "min-top3", value_name = "SHARE", value_parser = share)]
    pub(crate) top3: Option<f64>,
    /// Greatest share of prompts for no skill that fire one wrongly
    #[arg(long = "max-false-fire", value_name = "SHARE", value_parser = share)]
    pub(crate) false_fire: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArgs {
    /// Id, path or unique name of the skill
    #[arg(required_unless_present = "all")]
    pub(crate) id: Option<String>,
    /// Every skill instead
    #[arg(long, conflicts_with_all = ["id", "write"])]
    pub(crate) all: bool,
    /// Write the triggers into the skill's file, all else in it kept as it is
    #[arg(long)]
    pub(crate) write: bool,
    /// Write them in the place of those that the file declares
    #[arg(long, requires = "write")]
    pub(crate) replace: bool,
    /// With prompts as for `eval`: what the proposals would change; may be repeated
    #[arg(long = "eval", value_name = "FILE")]
    pub(crate) prompts: Vec<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as `0.9`".to_owned())
}
