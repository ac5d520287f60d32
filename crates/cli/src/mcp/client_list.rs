//! The agents whose MCP client lists the skills of this program's server itself. The server records them
//! for the agent's hook, another process, which adds no second list.

use std::fs;
use std::path::PathBuf;

use repertoire::Error;
use repertoire_agents::HookAgent;

use super::install;
use crate::agent::common_options;
use crate::args::Common;
use crate::replace::{io_error, replace};
use crate::setup;

/// Tells whether the client of `agent` lists the skills of `common`: it has done so before, and runs a
/// server with the same options, which is known if there is one beside the hook (`with_server`).
pub(crate) fn is_listed(agent: HookAgent, with_server: bool, common: &Common) -> bool {
    let serves_the_same = || {
        let options = install::installed_options(agent, common);
        options.is_some_and(|server| common_options(&server) == common_options(common))
    };
    record(agent, common).is_ok_and(|path| path.is_file()) && (with_server || serves_the_same())
}

/// Records whether the client of `agent` lists skills.
pub(super) fn note(agent: HookAgent, lists_skills: bool, common: &Common) -> Result<(), Error> {
    let path = record(agent, common)?;
    match (lists_skills, path.is_file()) {
        (true, false) => {
            let text = format!("The MCP client of {} lists skills itself.\n", agent.title());
            replace(&path, &text, &path)
        }
        (false, true) => fs::remove_file(&path).map_err(|error| io_error("remove", &path, &error)),
        _ => Ok(()),
    }
}

fn record(agent: HookAgent, common: &Common) -> Result<PathBuf, Error> {
    Ok(setup::state_dir(common)?.join("mcp-clients").join(agent.as_str()))
}
