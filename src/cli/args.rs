//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{
    FalseyValueParser, OsStringValueParser, PossibleValuesParser, TypedValueParser as _,
};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use repertoire::integration::hook::HookAgent;
use repertoire::{
    ConsentPolicy, DisclosureOptions, EngineBuilder, Format, Profile, RelevanceMargin, ToolFormat,
};

use crate::environment;

/// Finds, checks and discloses the skills of LLM agents
#[derive(Debug, Parser)]
#[command(name = "repertoire", version, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 a finding or a failure, 2 usage; of `run`, 128 and the number of a signal \
                  that ended it"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The brand of a host that says nothing of it.
pub(crate) const BRAND: &str = "repertoire";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Common {
    /// Directory of skills, lowest precedence first; replaces the standard ones
    #[arg(long = "source", value_name = "DIR", global = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// Directory of the project [default: the one above the working directory that has `.git`, else
    /// the working directory]
    #[arg(long, value_name = "DIR", default_value = "", hide_default_value = true, global = true)]
    #[arg(num_args = 0..=1, default_missing_value = "", value_parser = project())]
    pub(crate) project: PathBuf,
    /// Whether the command line names the project
    #[arg(skip)]
    pub(crate) names_project: bool,
    /// Brand of the host: its directories are `.BRAND/skills`
    #[arg(long, value_name = "NAME", default_value = BRAND, global = true, value_parser = brand)]
    pub(crate) brand: String,
    /// Only these skills exist; `*` stands for all of them
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) allow: Vec<String>,
    /// Use a bundled skill that is off by default
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) enable: Vec<String>,
    /// Read all skills anew, and keep nothing of them for the next time
    #[arg(long, global = true, env = "REPERTOIRE_NO_CACHE", value_parser = FalseyValueParser::new())]
    pub(crate) no_cache: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more on standard error; twice for everything
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub(crate) verbose: u8,
    /// When to use colour; `auto` is on a terminal, unless `NO_COLOR` is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub(crate) color: Color,
}

impl Common {
    /// The same, with what `hook` says of skills where this says nothing.
    pub(crate) fn with_skills_of(&self, hook: &Common) -> Common {
        let filled = |own: &Vec<_>, others: &Vec<_>| {
            if own.is_empty() { others.clone() } else { own.clone() }
        };
        let brand = if self.brand == BRAND { &hook.brand } else { &self.brand };
        Common {
            sources: if self.sources.is_empty() { &hook.sources } else { &self.sources }.clone(),
            brand: brand.clone(),
            allow: filled(&self.allow, &hook.allow),
            enable: filled(&self.enable, &hook.enable),
            ..self.clone()
        }
    }
}

/// A directory; an empty name stands for the project that the working directory is in.
fn project() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// A brand is a part of directory names.
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the skills, and what is wrong with any
    List(ListArgs),
    /// Show which skills a message matches, and why
    Match(MatchArgs),
    /// Print what to put into the prompt for a message
    Disclose(DiscloseArgs),
    /// Print the list of skills for a system prompt
    Prompt(PromptArgs),
    /// Show all there is to know about one skill
    Show(ShowArgs),
    /// Print a skill's instructions, with arguments
    Use(UseArgs),
    /// Run a script of a skill
    Run(RunArgs),
    /// Check skill files
    Check(CheckArgs),
    /// Measure how often the right skill is disclosed, by prompts whose right skills are known
    Eval(EvalArgs),
    /// Propose triggers for skills, mined from their texts
    Suggest(SuggestArgs),
    /// Write a new skill to start from
    New(NewArgs),
    /// Write and inspect compiled toolsets
    #[command(subcommand)]
    Toolset(ToolsetCommand),
    /// List and call the tools of skills
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Say which code of projects may run
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Serve the skills to an agent that speaks the Model Context Protocol
    Mcp(McpArgs),
    /// Say why a skill is shown for a message, or is not
    Why(WhyArgs),
    /// Serve a page to try messages on, and see at once what they do
    Play(PlayArgs),
    /// Say whether all is well: skills, hooks, state, tools and scripts
    Doctor,
    /// Answer the hooks of an agent, and set them up
    Hook(HookArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// List the slash commands that users have instead
    #[arg(long)]
    pub(crate) commands: bool,
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

/// What is asked.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// The message; `-` reads it from standard input
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) query: String,
    /// A file the message touches
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
}

/// How much room there is.
#[derive(Debug, Args)]
pub(crate) struct WindowArgs {
    /// Size of the context window in tokens
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<usize>,
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
    /// The conversation of a hook, as `claude-code:ID`: what stands in its context counts
    #[arg(long, value_name = "AGENT:ID", value_parser = conversation)]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// Serve on this loopback address [default: 127.0.0.1:4747, or any free port]
    #[arg(long, value_name = "ADDR", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    #[command(flatten)]
    pub(crate) refresh: RefreshArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiscloseArgs {
    #[command(flatten)]
    pub(crate) query: QueryArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
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
    /// Print an XML element instead of plain text
    #[arg(long)]
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
    /// Stop it after so long; fractions are fine [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Let it change files there; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Let it use no network
    #[arg(long)]
    pub(crate) offline: bool,
    /// Pass on this environment variable; may be repeated
    #[arg(long, value_name = "NAME")]
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
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Files of prompts: JSON, JSON lines or YAML
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The skill that prompts belong to where they do not say so
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

/// How messages are matched.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct MatchingArgs {
    /// Match verbs in their regular English inflections, too
    #[arg(long)]
    pub(crate) inflect: bool,
    /// Look for keywords, verbs and names in what is not quoted only: not in code, quotes, logs
    /// and addresses
    #[arg(long)]
    pub(crate) mask_quoted: bool,
}

impl MatchingArgs {
    /// The same, asked of an engine.
    pub(crate) fn apply(&self, builder: EngineBuilder) -> EngineBuilder {
        builder.inflect(self.inflect).mask_quoted(self.mask_quoted)
    }
}

/// What is shown in full.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct ShowingArgs {
    /// Show a skill in a line where only a generic word of it is found
    #[arg(long)]
    pub(crate) hint_generic_words: bool,
    /// Show the most relevant skill in full where no trigger is hit and it is this sure; without a
    /// value the measured margin, else `WORTH,LEAD,WORDS`
    #[arg(long, value_name = "MARGIN", num_args = 0..=1, require_equals = true, value_parser = margin)]
    #[arg(default_missing_value = "default")]
    pub(crate) by_relevance: Option<RelevanceMargin>,
}

impl ShowingArgs {
    /// The same, asked of disclosures.
    pub(crate) fn apply(&self, mut options: DisclosureOptions) -> DisclosureOptions {
        options.relevance = self.by_relevance;
        options.hint_generic_words = self.hint_generic_words;
        options
    }
}

/// How messages are matched, and what is shown in full.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoutingArgs {
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
}

impl RoutingArgs {
    /// The same, with what `hook` asks for, too.
    pub(crate) fn and(&self, hook: &RoutingArgs) -> RoutingArgs {
        let RoutingArgs { matching, showing } = self;
        RoutingArgs {
            matching: MatchingArgs {
                inflect: matching.inflect || hook.matching.inflect,
                mask_quoted: matching.mask_quoted || hook.matching.mask_quoted,
            },
            showing: ShowingArgs {
                hint_generic_words: showing.hint_generic_words || hook.showing.hint_generic_words,
                by_relevance: showing.by_relevance.or(hook.showing.by_relevance),
            },
        }
    }

    /// The words that ask for the same on a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let RoutingArgs { matching, showing } = self;
        let flags = [
            ("--inflect", matching.inflect),
            ("--mask-quoted", matching.mask_quoted),
            ("--hint-generic-words", showing.hint_generic_words),
        ];
        let asked = flags.into_iter().filter(|(_, is_asked)| *is_asked);
        let mut words: Vec<String> = asked.map(|(flag, _)| flag.to_owned()).collect();
        words.extend(showing.by_relevance.map(|margin| {
            if margin == RelevanceMargin::default() {
                return "--by-relevance".to_owned();
            }
            let RelevanceMargin { worth, lead, words } = margin;
            format!("--by-relevance={worth},{lead},{words}")
        }));
        words
    }
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

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Name of the skill: small letters, digits and single hyphens
    pub(crate) name: String,
    /// Directory of skills to write to [default: `.BRAND/skills` of the project]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsetCommand {
    /// Write a crate of tools, and a skill that has them
    New(ToolsetNewArgs),
    /// Show what a library says of itself, without running it
    Inspect(ToolsetInspectArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolsetNewArgs {
    /// Name of the skill: small letters, digits and single hyphens; the crate is `NAME-toolset`
    pub(crate) name: String,
    /// Directory of skills to write both to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Use the crate `repertoire-plugin` in this directory instead of the registry's
    #[arg(long, value_name = "PATH")]
    pub(crate) plugin_path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsetInspectArgs {
    /// The library
    pub(crate) file: PathBuf,
    /// Run the library to list its tools, too
    #[arg(long)]
    pub(crate) tools: bool,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

/// Where libraries run.
#[derive(Debug, Args)]
pub(crate) struct IsolationArgs {
    /// Run libraries in this process instead of a child process of their own
    #[arg(long)]
    pub(crate) in_process: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// List the tools of the skills, and which toolsets cannot be loaded
    List(ToolListArgs),
    /// Call a tool
    Call(ToolCallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolListArgs {
    /// Print JSON for somebody's API: `mcp`, `openai` or `anthropic`
    #[arg(long, value_name = "FORMAT", value_parser = tool_formats())]
    pub(crate) format: Option<ToolFormat>,
    /// Only the tools of this skill
    #[arg(long, value_name = "ID")]
    pub(crate) skill: Option<String>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ToolCallArgs {
    /// Name of the tool: `skill.tool`, or `tool` where that is unique
    pub(crate) name: String,
    /// Its arguments, an object; `-` reads them from standard input
    #[arg(value_name = "JSON")]
    pub(crate) arguments: String,
    /// Give up after so long; fractions are fine
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List the files that are trusted
    List,
    /// Trust files with the content they have now
    Add(TrustPathsArgs),
    /// Trust files no more
    Remove(TrustPathsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrustPathsArgs {
    /// A file, or a skill (id or directory) with all its libraries and scripts
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Serve HTTP on this loopback address, instead of standard input and output
    #[arg(long, value_name = "ADDR", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    /// File with the token that HTTP clients must have [default: a new one, printed]
    #[arg(long, value_name = "PATH", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// When the user has to agree to the use of a skill
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) consent: ConsentArg,
    /// Let scripts change files there; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,
    /// Let scripts use no network
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) refresh: RefreshArgs,
}

/// How a command that goes on follows its skills.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// When to take up changed skills: `watch`, `off`, or every so many seconds
    #[arg(long, value_name = "WHEN", default_value = "watch")]
    #[arg(env = environment::filled("REPERTOIRE_REFRESH"))]
    #[arg(value_parser = refresh)]
    pub(crate) refresh: Refresh,
}

/// When changed skills are taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// When the system tells of changes.
    Watch,
    Off,
    /// So often.
    Every(Duration),
}

fn refresh(text: &str) -> Result<Refresh, String> {
    match text {
        "watch" => Ok(Refresh::Watch),
        "off" => Ok(Refresh::Off),
        _ => match text.parse() {
            Ok(seconds @ 1..) => Ok(Refresh::Every(Duration::from_secs(seconds))),
            _ => Err("give `watch`, `off`, or a whole number of seconds from 1".to_owned()),
        },
    }
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum ConsentArg {
    #[default]
    Never,
    /// Once for each skill
    FirstUse,
    /// Each time
    Always,
}

impl From<ConsentArg> for ConsentPolicy {
    fn from(arg: ConsentArg) -> ConsentPolicy {
        match arg {
            ConsentArg::Never => ConsentPolicy::Never,
            ConsentArg::FirstUse => ConsentPolicy::FirstUse,
            ConsentArg::Always => ConsentPolicy::Always,
        }
    }
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct HookArgs {
    /// The agent that runs this: it writes JSON to standard input, and reads JSON
    #[arg(value_parser = agents(), required = true)]
    pub(crate) agent: Option<HookAgent>,
    /// Give up after so long, and add nothing; fractions are fine
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    pub(crate) deadline: Duration,
    /// Only make the snapshot for later messages; a hook that is out of time starts this
    #[arg(long, hide = true)]
    pub(crate) prepare: bool,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    #[command(subcommand)]
    pub(crate) command: Option<HookCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Let an agent run these hooks
    Install(HookInstallArgs),
    /// Take them out of an agent's settings again
    Uninstall(HookPlaceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HookInstallArgs {
    #[command(flatten)]
    pub(crate) place: HookPlaceArgs,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
}

/// Which settings are changed.
#[derive(Debug, Args)]
pub(crate) struct HookPlaceArgs {
    /// The agent
    #[arg(value_parser = agents())]
    pub(crate) agent: HookAgent,
    /// In every project of this user; the default, unless there is a `--project`
    #[arg(long)]
    pub(crate) user: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Result<SocketAddr, _> = text.parse();
    address
        .ok()
        .filter(|address| address.ip().is_loopback())
        .ok_or_else(|| "write an address of this machine only, such as `127.0.0.1:8765`".to_owned())
}

fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["markdown", "xml", "json"]).try_map(|text| text.parse::<Format>())
}

fn agents() -> impl clap::builder::TypedValueParser<Value = HookAgent> {
    PossibleValuesParser::new(HookAgent::ALL.map(HookAgent::as_str))
        .try_map(|text| text.parse::<HookAgent>())
}

fn profiles() -> impl clap::builder::TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(["repertoire", "agent-skills"])
        .try_map(|text| text.parse::<Profile>())
}

fn tool_formats() -> impl clap::builder::TypedValueParser<Value = ToolFormat> {
    PossibleValuesParser::new(["mcp", "openai", "anthropic"])
        .try_map(|text| text.parse::<ToolFormat>())
}

/// The name that a hook gives a conversation.
fn conversation(text: &str) -> Result<String, String> {
    let agent = text.split_once(':').filter(|(_, id)| !id.is_empty()).map(|(agent, _)| agent);
    let is_known = agent.is_some_and(|agent| agent.parse::<HookAgent>().is_ok());
    if is_known {
        return Ok(text.to_owned());
    }
    let agents = HookAgent::ALL.map(HookAgent::as_str).join("`, `");
    Err(format!("write `AGENT:ID` with the agent's own id of it; the agents are `{agents}`"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    seconds
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "write a number of seconds above zero, such as `2.5`".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a share from 0 to 1, such as `0.9`".to_owned())
}

/// `WORTH,LEAD,WORDS`, or `default`.
fn margin(text: &str) -> Result<RelevanceMargin, String> {
    if text == "default" {
        return Ok(RelevanceMargin::default());
    }
    let parse = || {
        let [worth, lead, words] = text.split(',').collect::<Vec<_>>().try_into().ok()?;
        let number = |text: &str| text.parse::<f32>().ok().filter(|n| *n >= 0.0);
        let words = words.parse().ok()?;
        Some(RelevanceMargin { worth: number(worth)?, lead: number(lead)?, words })
    };
    parse().ok_or_else(|| "write three numbers, such as `2,1,3`".to_owned())
}
