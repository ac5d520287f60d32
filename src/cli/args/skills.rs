//! Commands about the skills themselves.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use repertoire::Severity;
use repertoire::skill::Profile;

use super::values::{PERIOD, days, seconds, variable};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List the slash commands that users have instead
    #[arg(long)]
    pub(crate) commands: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id, path or unique name of the skill
    pub(crate) id: String,
    /// One of its scripts: what runs it, and what it says of itself
    pub(crate) script: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UseArgs {
    /// Id, path or unique name of the skill, or a slash command
    pub(crate) id: String,
    /// Its arguments, joined by one blank; after `--` they may begin with a hyphen
    pub(crate) args: Vec<String>,
    /// Format of the text: the skill's own Markdown, or an XML element with it
    #[arg(long, default_value = "markdown", value_parser = ["markdown", "xml"])]
    pub(crate) format: String,
    /// The same as `--format xml`
    #[arg(long, hide = true, conflicts_with = "format")]
    pub(crate) xml: bool,
    /// Print the instructions of a skill that runs as a task (`context: fork`), too
    #[arg(long)]
    pub(crate) inline: bool,
    /// The conversation it belongs to, which is remembered
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Id, path or unique name of the skill
    pub(crate) id: String,
    /// The script: its path in the skill's directory, or in `scripts/`
    pub(crate) script: String,
    /// Its arguments; after `--` they may begin with a hyphen
    pub(crate) args: Vec<String>,
    /// The conversation it belongs to, by any name: it notes that the skill was used
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Stop it after so long; fractions are fine [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Let it change files there; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Let it use no network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Pass on this environment variable, with the value it has; may be repeated
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub(crate) env: Vec<String>,
    /// Pass on standard input, read to its end before the script starts
    #[arg(long)]
    pub(crate) stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Skill files, skills, or directories of skills; all sources if there is none
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What to check against
    #[arg(long, default_value = "repertoire", value_parser = profiles())]
    pub(crate) profile: Profile,
    /// Print findings for people, as JSON, or as SARIF 2.1.0 for code scanners
    #[arg(long, default_value = "text", value_parser = ["text", "json", "sarif"])]
    pub(crate) format: String,
    /// The least severe finding that makes the exit code 1 [default: error; warning with `--profile
    /// untrusted`]
    #[arg(long, value_name = "SEVERITY", value_parser = severities())]
    pub(crate) fail_on: Option<Severity>,
    /// Show the notes as well, which are only counted otherwise; `--json` always has them
    #[arg(long)]
    pub(crate) notes: bool,
    /// Name the skills that conversations had no use for, too
    #[arg(long)]
    pub(crate) stats: bool,
    /// How far `--stats` looks back: days or weeks, such as `30d` or `4w`
    #[arg(long, value_name = "PERIOD", requires = "stats", default_value = PERIOD)]
    #[arg(value_parser = days)]
    pub(crate) since: u32,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// How far to look back: days or weeks, such as `30d` or `4w`
    #[arg(long, value_name = "PERIOD", default_value = PERIOD, value_parser = days)]
    pub(crate) since: u32,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the skill: small letters, digits and single hyphens
    pub(crate) name: String,
    /// Directory of skills to write to [default: `.BRAND/skills` of the project]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

fn severities() -> impl clap::builder::TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(["error", "warning", "note"]).map(|text| match text.as_str() {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        _ => Severity::Error,
    })
}

fn profiles() -> impl clap::builder::TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(["repertoire", "agent-skills", "untrusted"])
        .try_map(|text| text.parse::<Profile>())
}
