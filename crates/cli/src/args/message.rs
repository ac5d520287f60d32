//! Arguments of the commands about a message, and about the text of a prompt.

use std::path::PathBuf;

use clap::Args;
use repertoire::Format;
use repertoire_agents::HookAgent;

use super::agents::hook_agents;
use super::routing::{MatchingArgs, ShowingArgs};
use super::serving::ConsentArg;
use super::values::one_of;
use crate::environment;

/// A message and the files it touches.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The message; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) query: String,
    /// More words of the message, joined by one blank; after `--` they may begin with a hyphen
    // Apart from the first word, so that options are still recognised after that.
    pub(crate) words: Vec<String>,
    /// A file that the message touches
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    /// Show the rejected skills, with reasons
    #[arg(long)]
    pub(crate) explain: bool,
    /// Maximum number of matches to show; `0` only counts them
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Name of the message's conversation, freely chosen: skills used in it rank higher
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Id, path or unique name of the skill. Left out with `--agent` and `--session`: every skill that
    /// the message or the conversation concerns
    pub(crate) id: String,
    /// The message; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) query: Option<String>,
    /// More words of the message, joined by one blank; after `--` they may begin with a hyphen
    pub(crate) words: Vec<String>,
    /// A file that the message touches
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// Use the options of the hook in this agent's settings
    #[arg(long, value_name = "AGENT", value_parser = hook_agents())]
    pub(crate) agent: Option<HookAgent>,
    /// Name of the message's conversation: what its context already contains counts. A hook's
    /// conversation is `AGENT:ID`; with `--agent`, the agent's own id is enough
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
}

impl WhyArgs {
    /// Returns the skill, unless the message alone is given, and the message. `None` if there is no
    /// message.
    pub(crate) fn asked(&self) -> Option<(Option<&str>, QueryArgs)> {
        let is_of_conversation = self.agent.is_some() && self.session.is_some();
        let (id, query) = match &self.query {
            Some(query) => (Some(self.id.as_str()), query),
            None if is_of_conversation => (None, &self.id),
            None => return None,
        };
        let (query, words) = (query.clone(), self.words.clone());
        let (paths, matching) = (self.paths.clone(), self.matching.clone());
        Some((id, QueryArgs { query, words, paths, matching }))
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiscloseArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
    /// Name of the message's conversation, freely chosen: instructions in its context are not repeated,
    /// unless the message asks to see all skills
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// An event in the conversation before the message: its context was shortened
    #[arg(long, requires = "session", value_parser = ["compacted"])]
    pub(crate) event: Option<String>,
    /// When the user must agree to the use of a skill; such skills are only shown as lines
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) consent: ConsentArg,
    /// Your agent runs skills with `context: fork` as tasks; such skills are only shown as lines
    #[arg(long)]
    pub(crate) tasks: bool,
    /// Format of the text
    #[arg(long, default_value = "markdown")]
    #[arg(value_parser = one_of::<Format>(Format::ALL.map(Format::as_str)))]
    pub(crate) format: Format,
    /// Maximum number of matching skills shown in full [default: 3]
    #[arg(long, value_name = "N", env = environment::filled("REPERTOIRE_MAX_SKILLS"))]
    pub(crate) max_skills: Option<usize>,
    /// Budget: `4000` characters, `1000t` tokens, or `2%` of the window
    #[arg(long, value_name = "B")]
    pub(crate) budget: Option<String>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Budget: `4000` characters, `1000t` tokens, or `2%` of the window
    #[arg(long, value_name = "B", env = environment::filled("REPERTOIRE_PROMPT_BUDGET"))]
    pub(crate) budget: Option<String>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// Format of the text
    #[arg(long, default_value = "markdown")]
    #[arg(value_parser = one_of::<Format>(Format::ALL.map(Format::as_str)))]
    pub(crate) format: Format,
    /// Show the path of each skill's file
    #[arg(long)]
    pub(crate) locations: bool,
    /// Name of the prompt's conversation, freely chosen
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// An event in the conversation: its context was shortened and begins anew
    #[arg(long, requires = "session", value_parser = ["compacted"])]
    pub(crate) event: Option<String>,
}

/// The size of the context window.
#[derive(Debug, Args)]
pub(crate) struct WindowArgs {
    /// Size of the context window in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<usize>,
}

/// Parses a message. It may begin with a hyphen, as lists do, but a single word that looks like an
/// option is refused as a mistyped one.
fn message(text: &str) -> Result<String, String> {
    let name = text.trim_start_matches('-');
    let is_option = name.len() < text.len() && name.starts_with(|c: char| c.is_ascii_alphabetic());
    if is_option && !name.contains(char::is_whitespace) {
        return Err("there is no such option; `-` reads a message from standard input".to_owned());
    }
    Ok(text.to_owned())
}
