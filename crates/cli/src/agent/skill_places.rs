//! The directories in which agents find skills, for a fetcher that puts skills there.

use repertoire_agents::HookAgent;
use repertoire_fetch::AgentPlace;

use crate::args::Common;
use crate::setup;

/// Returns the directories in which each agent finds skills.
pub(crate) fn skill_places(common: &Common) -> Vec<AgentPlace> {
    let start = setup::start(common);
    let place = |agent: HookAgent| {
        let own = agent.skill_place(&start);
        AgentPlace {
            agent: agent.as_str().to_owned(),
            user: own.user,
            project: own.project.into(),
            reads: agent.state(&start).roots.into_iter().map(|root| root.path).collect(),
            follows_links: own.follows_links,
        }
    };
    HookAgent::ALL.into_iter().map(place).collect()
}
