//! Arguments of the commands about skills.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use repertoire::Severity;
use repertoire::skill::Profile;
use repertoire_agents::HookAgent;

use super::agents::hook_agents;
use super::values::{PERIOD, days, one_of, seconds, variable};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List the slash commands for users instead
    #[arg(long)]
    pub(crate) commands: bool,
    /// List the skills as they are for this agent: with those in its own directories and plugins, and
    /// without those that its settings turn off
    #[arg(long, value_name = "AGENT", value_parser = hook_agents())]
    pub(crate) agent: Option<HookAgent>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Id, path or unique name of the skill
    pub(crate) id: String,
    /// One of the skill's scripts: show its interpreter and its help
    pub(crate) script: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct UseArgs {
    /// Id, path or unique name of the skill, or a slash command
    pub(crate) id: String,
    /// The skill's arguments, joined by one blank; after `--` they may begin with a hyphen
    pub(crate) args: Vec<String>,
    /// Format of the text: the skill's own Markdown, or an XML element with it
    #[arg(long, default_value = "markdown", value_parser = ["markdown", "xml"])]
    pub(crate) format: String,
    /// The same as `--format xml`
    #[arg(long, hide = true, conflicts_with = "format")]
    pub(crate) xml: bool,
    /// Also print the instructions of a skill that runs as a task (`context: fork`)
    #[arg(long)]
    pub(crate) inline: bool,
    /// Name of the activation's conversation, which is kept
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Id, path or unique name of the skill
    pub(crate) id: String,
    /// The script: its path in the skill's directory, or in `scripts/`
    pub(crate) script: String,
    /// The script's arguments; after `--` they may begin with a hyphen
    pub(crate) args: Vec<String>,
    /// Name of the run's conversation, freely chosen: the use of the skill is recorded in it
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// Stop the script after this many seconds; fractions are allowed [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Let the script change files in this directory; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Deny the script the network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Pass on this environment variable, with its current value; may be repeated
    #[arg(long, value_name = "NAME", value_parser = variable)]
    pub(crate) env: Vec<String>,
    /// Pass standard input on to the script; it is read to its end before the script starts
    #[arg(long)]
    pub(crate) stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Skill files, skills, or directories of skills [default: all sources except bundled skills]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The profile to check against
    #[arg(long, default_value = "repertoire")]
    #[arg(value_parser = one_of::<Profile>(["repertoire", "agent-skills", "untrusted"]))]
    pub(crate) profile: Profile,
    /// Print findings for people, as JSON, or as SARIF 2.1.0 for code scanners
    #[arg(long, default_value = "text", value_parser = ["text", "json", "sarif"])]
    pub(crate) format: String,
    /// The lowest severity of a finding that makes the exit code 1 [default: error; warning with
    /// `--profile untrusted`]
    #[arg(long, value_name = "SEVERITY", value_parser = severities())]
    pub(crate) fail_on: Option<Severity>,
    /// Show the notes as well, which are otherwise only counted; JSON and SARIF always have them, but keys
    /// of other programs only with this option
    #[arg(long)]
    pub(crate) notes: bool,
    /// Write the repairs of single lines into the named files: values that are not valid YAML get quotes
    #[arg(long, requires = "paths")]
    pub(crate) fix: bool,
    /// Also report the skills that had no effect in conversations
    #[arg(long)]
    pub(crate) stats: bool,
    /// The period of `--stats`: days or weeks, such as `30d` or `4w`
    #[arg(long, value_name = "PERIOD", requires = "stats", default_value = PERIOD)]
    #[arg(value_parser = days)]
    pub(crate) since: u32,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The period: days or weeks, such as `30d` or `4w`
    #[arg(long, value_name = "PERIOD", default_value = PERIOD, value_parser = days)]
    pub(crate) since: u32,
    /// List the kept messages after which a model loaded a skill that was not in view, and those that
    /// showed a skill in full that was not used
    #[arg(long)]
    pub(crate) missed: bool,
    #[command(flatten)]
    pub(crate) writing: MissedWriteArgs,
}

/// Whether, and how, missed messages are written into skills.
#[derive(Debug, Args)]
pub(crate) struct MissedWriteArgs {
    /// Add these messages to the `examples` of the skills
    ///
    /// The command shows the lines and asks first. Without a terminal it writes nothing, unless `--yes` is given. Skills that were fetched or come with
    /// Repertoire are left as they are.
    #[arg(long, requires = "missed")]
    pub(crate) write: bool,
    /// Also add messages to `should_not` although nothing shows that the skill was wrong: the model may have
    /// followed its instructions, which leaves no trace
    #[arg(long, requires = "write")]
    pub(crate) all: bool,
    /// Say yes to what is shown, without a question; needed without a terminal, and with `--json`
    #[arg(long, short, requires = "write")]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the skill: lower-case letters, digits and single hyphens
    pub(crate) name: String,
    /// Directory of skills to write to [default: `.BRAND/skills` of the project]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// The skills to turn on or off, and the file to change.
#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// Ids, paths or unique names of the skills
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Change the user's file; the default, unless `--project` is given
    #[arg(long)]
    pub(crate) user: bool,
}

fn severities() -> impl clap::builder::TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(["error", "warning", "note"]).map(|text| match text.as_str() {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        _ => Severity::Error,
    })
}
