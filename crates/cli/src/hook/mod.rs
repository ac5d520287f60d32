//! `repertoire hook`: answers the hooks of agents, and installs them.

mod agents;
mod answer;
mod deadline;
mod entry;
mod input;
mod install;
mod log;
mod places;
mod prepare;
mod settings;
mod several;
mod store;
mod trust;

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use repertoire_config::Channel;

use crate::args::{Common, HookArgs, HookCommand};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::Output;

pub(crate) use agents::{package, plugin_words};
pub(crate) use answer::{disclosure, refuse};
pub(crate) use entry::is_own;
pub(crate) use install::{Installed, add, installed, notes, options, remove, runs, silence};
pub(crate) use log::{note, tail};
pub(crate) use places::places;
pub(crate) use several::twice;
pub(crate) use trust::untrusted_folder;

/// The conversation in which a hook asks who lists the skills.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversation {
    /// True if the hook belongs to a package that has the server.
    pub(crate) has_server: bool,
    /// True if the conversation begins: the agent has started its servers, or starts them now.
    pub(crate) begins: bool,
}

/// Tells whether an agent's MCP client lists the skills itself.
pub(crate) type IsListedByClient = fn(HookAgent, Conversation, &Common) -> bool;

pub(crate) fn run(
    args: &HookArgs,
    common: &Common,
    is_listed: IsListedByClient,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let common = &Common { channel: Channel::Hooks, ..common.clone() };
    match (&args.command, args.agent) {
        (Some(HookCommand::Install(place)), _) => install::install(place, common, out),
        (Some(HookCommand::Uninstall(place)), _) => install::uninstall(place, common, out),
        (None, Some(agent)) => Ok(match &args.prepare {
            Some(working_dir) => {
                let common = answer::in_directory(agent, working_dir.clone(), common);
                answer::prepare(agent, &args.routing, &common, out)
            }
            None => answer::run(agent, args, common, is_listed, out),
        }),
        (None, None) => Err(UsageError(Error::new(
            ErrorCode::InvalidParam,
            "no agent is named",
            "write `repertoire hook AGENT`",
        ))
        .into()),
    }
}
