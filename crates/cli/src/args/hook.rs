//! Arguments of `repertoire hook`, `repertoire package` and `repertoire doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use repertoire_agents::HookAgent;

use super::agents::{PACKAGE_AGENTS, hook_agents};
use super::routing::RoutingArgs;
use super::values::{one_of, seconds};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct HookArgs {
    /// The agent that runs the hook: it sends JSON on standard input, and reads JSON from standard
    /// output
    #[arg(value_parser = hook_agents(), required = true)]
    pub(crate) agent: Option<HookAgent>,
    /// Give up after this many seconds, and add nothing; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    pub(crate) deadline: Duration,
    /// Only write the snapshot for later messages of an agent that works in this directory. A hook
    /// that runs out of time starts this in the background
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) prepare: Option<PathBuf>,
    /// A package has the MCP server of the same options beside this hook
    #[arg(long, hide = true)]
    pub(crate) with_server: bool,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    #[command(subcommand)]
    pub(crate) command: Option<HookCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    /// Install the hooks in an agent's settings
    Install(HookInstallArgs),
    /// Remove the hooks from an agent's settings
    Uninstall(HookPlaceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HookInstallArgs {
    #[command(flatten)]
    pub(crate) place: HookPlaceArgs,
    #[command(flatten)]
    pub(crate) options: HookOptions,
}

/// The options of a hook that are written into its command.
#[derive(Debug, Args)]
pub(crate) struct HookOptions {
    /// The seconds after which the hook gives up [default: 2]; the agent waits a second longer
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) deadline: Option<Duration>,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
}

/// An agent, and the choice of its settings.
#[derive(Debug, Args)]
pub(crate) struct HookPlaceArgs {
    /// The agent
    #[arg(value_parser = hook_agents())]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// The settings of an agent to change.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Change the settings for all projects of this user; the default, unless `--project` is given
    #[arg(long)]
    pub(crate) user: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Run this agent against a fake model on this machine, apart from the user's settings, and
    /// report the text that reached the model
    #[arg(long, value_name = "AGENT", value_parser = hook_agents())]
    pub(crate) live: Option<HookAgent>,
}

#[derive(Debug, Args)]
pub(crate) struct PackageArgs {
    /// The agent
    #[arg(value_parser = one_of::<HookAgent>(PACKAGE_AGENTS.map(HookAgent::as_str)))]
    pub(crate) agent: HookAgent,
    /// Write to this directory [default: repertoire-AGENT]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: HookOptions,
}
