//! Arguments of `repertoire init`.

use clap::Args;

use super::agents::McpAgent;
use super::hook::PlaceArgs;
use super::values::one_of;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The agents to set up, without a question; may be repeated [default: asks which of those found here]
    #[arg(long = "agent", value_name = "AGENT", value_delimiter = ',')]
    #[arg(value_parser = one_of::<McpAgent>(McpAgent::all().map(McpAgent::as_str)))]
    pub(crate) agents: Vec<McpAgent>,
    /// Name of the first skill [default: release-notes]
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// Set up all agents found here, without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Take back what `init` did; what you changed since stays
    #[arg(long, conflicts_with_all = ["agents", "skill", "yes"])]
    pub(crate) undo: bool,
}
