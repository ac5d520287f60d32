//! The arguments of the program and its commands.

mod agents;
mod ask;
mod code;
mod common;
mod eval;
mod fetch;
mod groups;
mod hook;
mod init;
mod message;
mod model;
mod routing;
mod serving;
mod skills;
mod values;
mod version;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use agents::McpAgent;
pub(crate) use ask::AskArgs;
pub(crate) use code::{
    IsolationArgs, Lang, ToolBuildArgs, ToolCallArgs, ToolCommand, ToolInspectArgs, ToolListArgs,
    ToolNewArgs, ToolsetCommand, TrustAddArgs, TrustCommand, TrustDiffArgs, TrustPathsArgs,
};
pub(crate) use common::{BRAND, Color, Common, with_repeatable_options};
pub(crate) use eval::{EvalArgs, Threshold};
pub(crate) use fetch::{
    AddArgs, ExportArgs, OutdatedArgs, PushArgs, RemoveArgs, SignArgs, UpdateArgs,
};
pub(crate) use groups::command;
pub(crate) use hook::{
    DoctorArgs, HookArgs, HookCommand, HookInstallArgs, HookOptions, HookPlaceArgs, PackageArgs,
    PlaceArgs,
};
pub(crate) use init::InitArgs;
pub(crate) use message::{DiscloseArgs, MatchArgs, PromptArgs, QueryArgs, WhyArgs};
pub(crate) use model::{ModelAddArgs, ModelCommand, ModelRemoveArgs};
pub(crate) use routing::{MatchingArgs, RoutingArgs};
pub(crate) use serving::{McpArgs, McpCommand, McpInstallArgs, McpPlaceArgs, PlayArgs, Refresh};
pub(crate) use skills::{
    CheckArgs, ListArgs, NewArgs, RunArgs, ShowArgs, StatsArgs, SwitchArgs, UseArgs,
};

/// Finds, checks and discloses the skills of LLM agents
#[derive(Debug, Parser)]
#[command(name = "repertoire", version = version::version(), arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 a finding or a failure, 2 usage; of `run`, 128 and the number of a signal \
                  that ended it"
)]
pub(crate) struct Cli<C: Subcommand = Command> {
    #[command(subcommand)]
    pub(crate) command: C,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the skills and their problems
    List(ListArgs),
    /// Show the skills that a message matches, and why
    Match(MatchArgs),
    /// Print the text to add to the prompt for a message
    Disclose(DiscloseArgs),
    /// Print the list of skills for a system prompt
    Prompt(PromptArgs),
    /// Show all details of one skill
    Show(ShowArgs),
    /// Print a skill's instructions, with arguments
    Use(UseArgs),
    /// Run a script of a skill
    Run(RunArgs),
    /// Check skill files
    Check(CheckArgs),
    /// Measure how often known prompts get the right skill
    Eval(EvalArgs),
    /// Set up the agents found here, with a first skill of your own
    Init(InitArgs),
    /// Write a new skill to start from
    New(NewArgs),
    /// Count the uses of each skill in conversations
    Stats(StatsArgs),
    /// Fetch skills from a repository, directory, archive or server
    Add(AddArgs),
    /// Put the added skills into the own directories of agents
    Export(ExportArgs),
    /// Fetch the newest state of added skills, and show what changes
    Update(UpdateArgs),
    /// List the added sources that have something newer
    Outdated(OutdatedArgs),
    /// Remove skills that were added
    Remove(RemoveArgs),
    /// Pack skills reproducibly, and upload them for others to add
    Push(PushArgs),
    /// Sign the skills of a directory, for others to verify
    Sign(SignArgs),
    /// The same as `tool`
    #[command(subcommand, hide = true)]
    Toolset(ToolsetCommand),
    /// Write, build, inspect, list and call the tools of skills
    #[command(subcommand)]
    Tool(ToolCommand),
    /// List, add and remove the code of projects that is trusted to run
    #[command(subcommand)]
    Trust(TrustCommand),
    /// Add, list and remove models of meaning
    #[command(subcommand)]
    Model(ModelCommand),
    /// Serve the skills to agents that speak the Model Context Protocol
    Mcp(McpArgs),
    /// Explain why a skill is shown for a message, or is not
    Why(WhyArgs),
    /// Serve a page to try messages on, and see their effect at once
    Play(PlayArgs),
    /// Check skills, hooks, state, tools and scripts
    Doctor(DoctorArgs),
    /// Show the settings in force, and where each is set
    Config,
    /// Turn skills on in `config.toml`
    Enable(SwitchArgs),
    /// Turn skills off in `config.toml`
    Disable(SwitchArgs),
    /// Answer the hooks of an agent, and install them
    Hook(HookArgs),
    /// Write hooks and MCP server as one package for an agent to install
    Package(PackageArgs),
    /// Serve an editor in which skills are written, as a language server
    Lsp,
    /// Write the manual pages of all commands
    Man(ManArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the skills that complete the last word of a command line; for completion scripts
    #[command(hide = true)]
    CompleteIds(CompleteIdsArgs),
}

/// The command that runs with every message of a user. Its command line is read without the arguments of
/// all others, which would take a tenth of its time.
#[derive(Debug, Subcommand)]
pub(crate) enum HookAlone {
    Hook(HookArgs),
}

impl HookAlone {
    /// The name of the command.
    pub(crate) const NAME: &str = "hook";
}

impl From<HookAlone> for Command {
    fn from(HookAlone::Hook(args): HookAlone) -> Command {
        Command::Hook(args)
    }
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The directory, such as `~/.local/share/man/man1`
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct CompleteIdsArgs {
    /// The words of the command line up to the cursor, beginning with the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}
