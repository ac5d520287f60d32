//! The command line.

mod code;
mod common;
mod config;
mod eval;
mod hook;
mod message;
mod routing;
mod serving;
mod skills;
mod values;

use clap::{Args, Parser, Subcommand};

pub(crate) use code::{
    IsolationArgs, ToolCallArgs, ToolCommand, ToolListArgs, ToolsetCommand, ToolsetInspectArgs,
    ToolsetNewArgs, TrustCommand, TrustPathsArgs,
};
pub(crate) use common::{BRAND, Color, Common};
pub(crate) use config::SwitchArgs;
pub(crate) use eval::{EvalArgs, SuggestArgs, Threshold};
pub(crate) use hook::{HookArgs, HookCommand, HookInstallArgs, HookPlaceArgs};
pub(crate) use message::{DiscloseArgs, MatchArgs, PromptArgs, QueryArgs, WhyArgs};
pub(crate) use routing::RoutingArgs;
pub(crate) use serving::{McpArgs, PlayArgs, Refresh};
pub(crate) use skills::{CheckArgs, ListArgs, NewArgs, RunArgs, ShowArgs, UseArgs};

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
    /// Show which settings are in force, and where they are from
    Config,
    /// Turn skills on in `config.toml`
    Enable(SwitchArgs),
    /// Turn skills off in `config.toml`
    Disable(SwitchArgs),
    /// Answer the hooks of an agent, and set them up
    Hook(HookArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
