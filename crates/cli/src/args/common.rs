//! Options of every command.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use clap::builder::{FalseyValueParser, OsStringValueParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, ValueEnum};
use repertoire_agents::{AgentState, HookAgent};
use repertoire_config::Channel;

/// The brand that applies if the host names none.
pub(crate) const BRAND: &str = "repertoire";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Directory of skills, in place of the standard ones; may be repeated, lowest precedence first
    #[arg(long = "source", value_name = "DIR", global = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Directory of the project [default: the one above the working directory that has `.git`, else
    /// the working directory]
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true, global = true)]
    #[arg(num_args = 0..=1, default_missing_value = "", value_parser = project())]
    pub(crate) project: PathBuf,
    /// True if the command line names the project
    #[arg(skip)]
    pub(crate) names_project: bool,
    /// Working directory of the user or agent. Sources in the directories between it and the project
    /// are used as well
    #[arg(skip)]
    pub(crate) working_dir: PathBuf,
    /// Brand of the host: its directories are `.BRAND/skills`
    #[arg(long, value_name = "NAME", default_value = BRAND, global = true, value_parser = brand)]
    pub(crate) brand: String,
    /// Allow only these skills; `*` stands for all of them
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) allow: Vec<String>,
    /// Turn on a skill that is off: a bundled one, or one that `config.toml` disables
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) enable: Vec<String>,
    /// Turn bundled skills `on` or `off` [default: on; off in hooks and in MCP]
    #[arg(long, value_name = "WHETHER", num_args = 0..=1, require_equals = true, global = true)]
    #[arg(default_missing_value = "on", value_parser = switch)]
    pub(crate) bundled: Option<bool>,
    /// The agent whose skills and settings count
    #[arg(skip)]
    pub(crate) agent: Option<HookAgent>,
    /// The agent that a server serves, whose section of `skills.show` counts
    #[arg(skip)]
    pub(crate) served: Option<HookAgent>,
    /// The directory that this agent was started in; the working directory if it is not known
    #[arg(skip)]
    pub(crate) started_in: Option<PathBuf>,
    /// The state of this agent, once it was read
    #[arg(skip)]
    pub(crate) agent_state: Arc<OnceLock<AgentState>>,
    /// The channel through which skills reach a model
    #[arg(skip)]
    pub(crate) channel: Channel,
    /// Neither read nor write snapshots of the skills
    #[arg(long, global = true, env = "REPERTOIRE_NO_CACHE", value_parser = FalseyValueParser::new())]
    pub(crate) no_cache: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print more on standard error; twice for everything
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// Use of colour; `auto` means on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub(crate) color: Color,
}

impl Common {
    /// Returns these options for an agent whose skills and settings count.
    pub(crate) fn for_agent(&self, agent: HookAgent) -> Common {
        Common { agent: Some(agent), agent_state: Arc::default(), ..self.clone() }
    }

    /// Returns these options for the channel of hooks. Options about skills that are not given here
    /// are taken from `hook`.
    pub(crate) fn with_skills_of(&self, hook: &Common) -> Common {
        let brand = if self.brand == BRAND { &hook.brand } else { &self.brand };
        Common {
            sources: filled(&self.sources, &hook.sources),
            brand: brand.clone(),
            allow: filled(&self.allow, &hook.allow),
            enable: filled(&self.enable, &hook.enable),
            bundled: self.bundled.or(hook.bundled),
            channel: Channel::Hooks,
            ..self.clone()
        }
    }

    /// Adds the values that follow the subcommands in `matches` to those before them; see
    /// [`with_repeatable_options`].
    pub(crate) fn add_repeated(&mut self, matches: &ArgMatches) {
        let Some((_, matches)) = matches.subcommand() else { return };
        self.sources.extend(matches.get_many("sources").into_iter().flatten().cloned());
        self.allow.extend(matches.get_many("allow").into_iter().flatten().cloned());
        self.enable.extend(matches.get_many("enable").into_iter().flatten().cloned());
        self.add_repeated(matches);
    }
}

/// The ids of the options of every command that may be repeated.
const REPEATABLE: [&str; 3] = ["sources", "allow", "enable"];

/// Returns `command` with the repeatable options of every command declared for each subcommand by
/// itself. Of a global option, clap keeps only the values after the last subcommand.
pub(crate) fn with_repeatable_options(mut command: Command) -> Command {
    let mut own = Vec::new();
    for id in REPEATABLE {
        command = command.mut_arg(id, |arg| {
            let arg = arg.global(false);
            own.push(arg.clone());
            arg
        });
    }
    command.mut_subcommands(|subcommand| with_options(subcommand, &own))
}

fn with_options(command: Command, options: &[Arg]) -> Command {
    command.args(options).mut_subcommands(|subcommand| with_options(subcommand, options))
}

/// Returns `own`, or `others` if `own` is empty.
fn filled<T: Clone>(own: &[T], others: &[T]) -> Vec<T> {
    if own.is_empty() { others.to_vec() } else { own.to_vec() }
}

/// Parses a directory; an empty name stands for the project of the working directory.
fn project() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("write `on` or `off`".to_owned()),
    }
}

/// Parses a brand, which becomes a part of directory names.
fn brand(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty()
        && !text.starts_with('.')
        && text.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
    if is_name {
        return Ok(text.to_owned());
    }
    Err("a brand is a word of letters, digits, `-`, `_` and `.`".to_owned())
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}
