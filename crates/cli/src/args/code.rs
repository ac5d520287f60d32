//! Arguments of the commands about tools and trusted code.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use repertoire::ToolFormat;

use super::values::{one_of, seconds};

/// The commands of `toolset`, now part of `tool`.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsetCommand {
    /// The same as `tool new`
    New(ToolNewArgs),
    /// The same as `tool build`
    Build(ToolBuildArgs),
    /// The same as `tool dev`
    Dev(ToolBuildArgs),
    /// The same as `tool inspect`
    Inspect(ToolInspectArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolNewArgs {
    /// Name of the skill: lower-case letters, digits and single hyphens; the code of a library
    /// goes to `NAME-toolset`
    pub(crate) name: String,
    /// Language of the tools: a library in Rust or C, or an MCP server in Python without dependencies
    #[arg(long, value_enum, default_value_t)]
    pub(crate) lang: Lang,
    /// Directory of skills to write the skill and its code to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Use the crate `repertoire-plugin` in this directory [default: that of the checkout of
    /// Repertoire which contains the current directory, else the registry's]
    #[arg(long, value_name = "PATH")]
    pub(crate) plugin_path: Option<PathBuf>,
}

/// The language of a new toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Lang {
    #[default]
    Rust,
    C,
    Python,
}

#[derive(Debug, Args)]
pub(crate) struct ToolBuildArgs {
    /// Directory of the skill; the code of `toolsets/NAME:Class` is in the directory `NAME` beside
    /// the skill or in it
    pub(crate) skill: PathBuf,
    /// Directory of the code, if it is elsewhere
    #[arg(long, value_name = "DIR")]
    pub(crate) code: Option<PathBuf>,
    /// Build for this target, such as `aarch64-unknown-linux-gnu`, into a directory of its own; may be
    /// repeated
    #[arg(long = "target", value_name = "TRIPLE")]
    pub(crate) targets: Vec<String>,
    /// Build faster: without optimization, and not stripped
    #[arg(long)]
    pub(crate) debug: bool,
    /// Also trust what was not built, and grant the rights that the skill asks for, without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolInspectArgs {
    /// The library
    pub(crate) file: PathBuf,
    /// Also run the library to list its tools
    #[arg(long)]
    pub(crate) tools: bool,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Write the code of tools and a skill that uses them
    New(ToolNewArgs),
    /// Build the libraries of a skill, copy them into it, and trust them
    Build(ToolBuildArgs),
    /// Build the libraries of a skill whenever their code changes
    Dev(ToolBuildArgs),
    /// Show the description in a library, without running it
    Inspect(ToolInspectArgs),
    /// List the tools of the skills, and the toolsets that cannot be loaded
    List(ToolListArgs),
    /// Call a tool
    Call(ToolCallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ToolListArgs {
    /// Print JSON for a provider's API: `mcp`, `openai` or `anthropic`
    #[arg(long, value_name = "FORMAT")]
    #[arg(value_parser = one_of::<ToolFormat>(ToolFormat::ALL.map(ToolFormat::as_str)))]
    pub(crate) format: Option<ToolFormat>,
    /// List only the tools of this skill
    #[arg(long, value_name = "ID")]
    pub(crate) skill: Option<String>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ToolCallArgs {
    /// Name of the tool: `skill.tool`, or `tool` where that is unique; or one that every model has: `use_skill`,
    /// `find_skills`, `read_skill_file` or `run_skill_script`
    pub(crate) name: String,
    /// The tool's arguments, a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON")]
    pub(crate) arguments: String,
    /// Give up after this many seconds; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Name of the call's conversation, freely chosen: the use of the skill is recorded in it
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) isolation: IsolationArgs,
}

/// The choice of the process that runs libraries.
#[derive(Debug, Args)]
pub(crate) struct IsolationArgs {
    /// Run libraries in this process instead of a child process of their own
    #[arg(long)]
    pub(crate) in_process: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TrustCommand {
    /// List the trusted files, and what was refused
    List,
    /// Show what code may do once it is trusted, and trust nothing
    Show(TrustPathsArgs),
    /// Show what code may do, and trust it with the content it has now
    ///
    /// The command asks first. Without a terminal it trusts nothing, unless `--yes` is given. A no is
    /// remembered: `trust list` shows it, and `trust remove` forgets it.
    Add(TrustAddArgs),
    /// Show what changed since code was trusted
    ///
    /// The exit code is 1 if anything did.
    Diff(TrustDiffArgs),
    /// Stop trusting files, and forget what was refused
    Remove(TrustPathsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrustAddArgs {
    #[command(flatten)]
    pub(crate) named: TrustPathsArgs,
    /// Say yes to what is shown, without a question; needed without a terminal, and with `--json`
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrustDiffArgs {
    /// A file, or a skill (id or directory) [default: all that is trusted]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct TrustPathsArgs {
    /// A file, or a skill (id or directory) with all its libraries and scripts
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
}
