//! The part of this program in the decision who lists the skills to an agent's model.

use repertoire_agents::HookAgent;
use repertoire_mcp::ListingHost;

use super::client_list;
use crate::agent::common_options;
use crate::args::Common;
use crate::hook;

/// The settings of the agents on this machine, and the records for their hooks.
#[derive(Debug)]
pub(super) struct AgentSettings(pub(super) Common);

impl ListingHost for AgentSettings {
    /// Tells whether a hook with the same options lists the skills.
    fn is_listed_elsewhere(&self, client: &str) -> bool {
        let AgentSettings(common) = self;
        let has_hook = |agent: HookAgent| {
            let options = hook::options(agent, common);
            options.is_ok_and(|(hook, _)| common_options(&hook) == common_options(common))
                && hook::runs(agent, common)
        };
        HookAgent::of_mcp_client(client).is_some_and(has_hook)
    }

    fn note(&self, client: &str, lists_skills: bool) {
        let Some(agent) = HookAgent::of_mcp_client(client) else { return };
        if let Err(error) = client_list::note(agent, lists_skills, &self.0) {
            tracing::warn!(%error, "the hook of {agent} may list skills that its client lists");
        }
    }
}
