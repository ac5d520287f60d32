//! The notes about skills that an agent finds and does not list, or lists without a description.

use repertoire::catalog::Audience;
use repertoire::disclosure::NativeSkills;
use repertoire::{Catalog, Engine};
use repertoire_agents::{HookAgent, undescribed};
use repertoire_config::Channel;

use crate::args::Common;
use crate::report::count;
use crate::setup;

/// The number of skills that a note names.
const NAMED: usize = 3;

/// Returns the notes about the own list of an agent that has our hook.
pub(super) fn notes(agent: HookAgent, common: &Common) -> Vec<String> {
    // Looking mends nothing: a damaged snapshot is told by the hook that finds it.
    let common = Common { channel: Channel::Hooks, no_cache: true, ..common.for_agent(agent) };
    let Ok(config) = setup::config(&common) else { return Vec::new() };
    let Some(native) = setup::native_skills(&common, &config) else { return Vec::new() };
    let Ok(engine) = setup::engine(&common, |builder| builder) else { return Vec::new() };
    let cut = cut_descriptions(agent, &common, &native, &engine);
    refusals(agent, &native, &engine.catalog()).into_iter().chain(cut).collect()
}

/// Returns the note about skills in the directories of an agent that it does not list.
fn refusals(agent: HookAgent, native: &NativeSkills, catalog: &Catalog) -> Option<String> {
    let listed = catalog.listed(Audience::Model);
    let refused: Vec<String> = listed
        .filter_map(|entry| Some(format!("`{}`, because {}", entry.id, native.refusal(entry)?)))
        .collect();
    let named = refused.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let more = refused.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!refused.is_empty()).then(|| {
        format!(
            "{} does not list {} of its own directories, which the hook adds like any other: \
             {named}{more}",
            agent.title(),
            count(refused.len(), "skill")
        )
    })
}

/// Returns the note about an agent whose own list cuts descriptions, which its hook adds.
fn cut_descriptions(
    agent: HookAgent,
    common: &Common,
    native: &NativeSkills,
    engine: &Engine,
) -> Option<String> {
    let listing = agent.listing_budget(&setup::start(common), None)?;
    let n_cut = undescribed(engine, native, &listing).len();
    let catalog = engine.catalog();
    let n_listed = catalog.listed(Audience::Model).filter(|entry| native.has(entry)).count();
    (n_cut > 0).then(|| {
        format!(
            "{} lists {n_listed} skills, {n_cut} without a description; the hook adds \
             descriptions of those, the most used first, when a conversation begins",
            agent.title()
        )
    })
}
