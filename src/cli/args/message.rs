//! Commands about a message, and about what goes into a prompt.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use repertoire::Format;
use repertoire::integration::hook::HookAgent;

use super::routing::{MatchingArgs, ShowingArgs};
use super::serving::ConsentArg;
use super::values::agents;
use crate::environment;

/// What is asked.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The message; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) query: String,
    /// More words of it, joined by one blank; after `--` they may begin with a hyphen
    // Apart from the first one, behind which options are still options.
    pub(crate) words: Vec<String>,
    /// A file the message touches
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Show the skills that were rejected, and why
    #[arg(long)]
    pub(crate) explain: bool,
    /// Matches to show, at most
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The conversation that the message belongs to, by any name: what it used ranks higher
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Id, path or unique name of the skill
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// With the options that the hook in the settings of this agent has
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    pub(crate) agent: Option<HookAgent>,
    /// The conversation that the message belongs to: what stands in its context counts. That of a
    /// hook is `AGENT:ID`, with the agent's own id of it
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiscloseArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// The conversation that the message belongs to, by any name: it is told nothing twice
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// What became of the conversation before the message
    #[arg(long, requires = "session", value_parser = ["compacted"])]
    pub(crate) event: Option<String>,
    /// When the user has to agree to the use of a skill: one that needs it is a line
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) consent: ConsentArg,
    /// Your agent runs skills with `context: fork` as tasks: such a skill is a line
    #[arg(long)]
    pub(crate) tasks: bool,
    /// Format of the text
    #[arg(long, default_value = "markdown", value_parser = formats())]
    pub(crate) format: Format,
    /// Matching skills shown in full, at most [default: 3]
    #[arg(long, value_name = "N", env = environment::filled("REPERTOIRE_MAX_SKILLS"))]
    pub(crate) max_skills: Option<usize>,
    /// Room: `4000` characters, `1000t` tokens, or `2%` of the window
    #[arg(long, value_name = "B")]
    pub(crate) budget: Option<String>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Room: `4000` characters, `1000t` tokens, or `2%` of the window
    #[arg(long, value_name = "B", env = environment::filled("REPERTOIRE_PROMPT_BUDGET"))]
    pub(crate) budget: Option<String>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Format of the text
    #[arg(long, default_value = "markdown", value_parser = formats())]
    pub(crate) format: Format,
    /// Say where each skill's file is
    #[arg(long)]
    pub(crate) locations: bool,
    /// The conversation that the prompt is for, by any name
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// What became of the conversation: its context was made shorter, and begins anew
    #[arg(long, requires = "session", value_parser = ["compacted"])]
    pub(crate) event: Option<String>,
}

/// How much room there is.
#[derive(Debug, Args)]
pub(crate) struct WindowArgs {
    /// Size of the context window in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<usize>,
}

/// A message may begin with a hyphen, as lists do; a word that does is an option written wrongly.
fn message(text: &str) -> Result<String, String> {
    let name = text.trim_start_matches('-');
    let is_option = name.len() < text.len() && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_option && !name.contains(char::is_whitespace) {
        return Err("there is no such option; `-` reads a message from standard input".to_owned());
    }
    Ok(text.to_owned())
}

fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["markdown", "xml", "json"]).try_map(|text| text.parse::<Format>())
}
