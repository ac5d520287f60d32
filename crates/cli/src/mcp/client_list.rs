//! The agents whose MCP client lists the skills of this program's server itself. The server records them
//! for the agent's hook, another process, which adds no second list.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use repertoire::Error;
use repertoire_agents::HookAgent;

use super::install;
use crate::agent::common_options;
use crate::args::Common;
use crate::hook::Conversation;
use crate::replace::{io_error, replace};
use crate::setup;

/// The time within which a client connects after a conversation began.
const PATIENCE: Duration = Duration::from_secs(60);

/// Tells whether the client of `agent` lists the skills of `common`: it has done so before, still connects,
/// and runs a server with the same options, which is known if there is one beside the hook.
pub(crate) fn is_listed(agent: HookAgent, conversation: Conversation, common: &Common) -> bool {
    let serves_the_same = || {
        let options = install::installed_options(agent, common);
        options.is_some_and(|server| common_options(&server) == common_options(common))
    };
    let Ok(record) = record(agent, common) else { return false };
    record.is_file()
        && (conversation.has_server || serves_the_same())
        && (!conversation.begins || still_connects(&record))
}

/// Tells whether the client still connects, as a conversation begins without the list. If the list was left
/// out of an earlier one, and no client has connected since, the user has turned the server off: the record
/// is removed.
fn still_connects(record: &Path) -> bool {
    let left_out = left_out(record);
    let time = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let connected = time(record).unwrap_or(SystemTime::UNIX_EPOCH);
    match time(&left_out).filter(|first| *first > connected) {
        None => {
            // If this cannot be written, the record counts, as without this file.
            let _ = replace(&left_out, "", &left_out);
            true
        }
        Some(first) if first.elapsed().is_ok_and(|since| since > PATIENCE) => {
            let _ = fs::remove_file(record);
            let _ = fs::remove_file(&left_out);
            false
        }
        Some(_) => true,
    }
}

/// Records whether the client of `agent` lists skills. The time of the record is that of the last
/// connection.
pub(super) fn note(agent: HookAgent, lists_skills: bool, common: &Common) -> Result<(), Error> {
    let path = record(agent, common)?;
    if lists_skills {
        let text = format!("The MCP client of {} lists skills itself.\n", agent.title());
        return replace(&path, &text, &path);
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error("remove", &path, &error))
        }
        _ => Ok(()),
    }
}

fn record(agent: HookAgent, common: &Common) -> Result<PathBuf, Error> {
    Ok(setup::state_dir(common)?.join("mcp-clients").join(agent.as_str()))
}

/// The file whose time is that of the first conversation since the last connection from which a hook left
/// the list out.
fn left_out(record: &Path) -> PathBuf {
    record.with_extension("left-out")
}
