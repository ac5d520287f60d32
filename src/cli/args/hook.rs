//! `repertoire hook`, `repertoire package` and `repertoire doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use repertoire::integration::hook::HookAgent;

use super::routing::RoutingArgs;
use super::values::{agents, package_agents, seconds};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct HookArgs {
    /// The agent that runs this: it writes JSON to standard input, and reads JSON
    #[arg(value_parser = agents(), required = true)]
    pub(crate) agent: Option<HookAgent>,
    /// Give up after so long, and add nothing; fractions are fine
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "2")]
    pub(crate) deadline: Duration,
    /// Only make the snapshot for later messages of an agent that works there; a hook that is out
    /// of time starts this
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) prepare: Option<PathBuf>,
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

/// The agent, and which of its settings are changed.
#[derive(Debug, Args)]
pub(crate) struct HookPlaceArgs {
    /// The agent
    #[arg(value_parser = agents())]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Which settings of an agent are changed.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// In every project of this user; the default, unless there is a `--project`
    #[arg(long)]
    pub(crate) user: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Run this agent against a model on the loopback, with settings of its own, and say what
    /// reached the model
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    pub(crate) live: Option<HookAgent>,
}

#[derive(Debug, Args)]
pub(crate) struct PackageArgs {
    /// The agent
    #[arg(value_parser = package_agents())]
    pub(crate) agent: HookAgent,
    /// Write to this directory [default: repertoire-AGENT]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
}
