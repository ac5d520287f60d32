//! `repertoire mcp install` and `uninstall`.

use super::agents::McpAgent;
use super::entry::Server;
use crate::agent::{Place, Target, common_options, program};
use crate::args::{Common, McpInstallArgs, McpPlaceArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;

pub(super) fn install(
    McpInstallArgs { place: McpPlaceArgs { agent, place }, client }: &McpInstallArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let here = Place::named(place, common)?;
    let mut words = plain_words()?;
    words.extend(common_options(common));
    words.extend(client.words());
    target(*agent, &words, here, common)?.install(place.dry_run, out)?;
    Ok(ExitCode::Done)
}

pub(super) fn uninstall(
    McpPlaceArgs { agent, place }: &McpPlaceArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let here = Place::named(place, common)?;
    target(*agent, &plain_words()?, here, common)?.uninstall(place.dry_run, out)?;
    Ok(ExitCode::Done)
}

/// Returns the words that run the server, without options.
fn plain_words() -> Result<Vec<String>, repertoire::Error> {
    Ok(vec![program()?, "mcp".to_owned()])
}

fn target(
    agent: McpAgent,
    words: &[String],
    place: Place,
    common: &Common,
) -> Result<Target<Server>, repertoire::Error> {
    Target::read(agent.as_str(), place, agent.file(place, common)?, agent.server(words))
}
