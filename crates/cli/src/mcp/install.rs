//! `repertoire mcp install` and `uninstall`.

use clap::Parser as _;
use repertoire::Error;
use repertoire_agents::HookAgent;

use super::entry::{Form, Server};
use super::{json, toml};
use crate::agent::{
    BACKUPS, Changed, Entry, Place, Problem, Target, common_options, program,
    warn_of_missing_sources,
};
use crate::args::{Cli, Common, McpAgent, McpInstallArgs, McpPlaceArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::setup;

pub(super) fn install(
    McpInstallArgs { place: McpPlaceArgs { agent, place }, client }: &McpInstallArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let here = Place::named(place, common)?;
    add(*agent, here, &client.words(), place.dry_run, common)?.print(out)?;
    warn_of_missing_sources(common, out);
    Ok(ExitCode::Done)
}

pub(super) fn uninstall(
    McpPlaceArgs { agent, place }: &McpPlaceArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let here = Place::named(place, common)?;
    remove(*agent, here, place.dry_run, common)?.print(out)?;
    Ok(ExitCode::Done)
}

/// Returns the options of the server that the settings of `agent` run here: those of the project's
/// settings, if both have one. `None` without a server, or if its words are not a command line.
pub(crate) fn installed_options(agent: HookAgent, common: &Common) -> Option<Common> {
    let agent = McpAgent::Hooked(agent);
    let words = |place| target(agent, &plain_words().ok()?, place, common).ok()?.words().ok()?;
    let words = [Place::Project, Place::User].into_iter().find_map(words)?;
    <Cli>::try_parse_from(words).ok().map(|cli| cli.common)
}

/// Explains why the model of `agent` does not have the tools of our MCP server, which is installed.
pub(crate) fn hidden_tools(agent: HookAgent, common: &Common) -> Option<String> {
    installed_options(agent, common)?;
    let by = agent.server_off(&setup::start(&common.for_agent(agent)))?;
    Some(format!("{} does not show its tools to the model because of {by}", agent.title()))
}

/// Adds the server, with `options`, to the settings of `agent` in `place`. A dry run changes nothing.
pub(crate) fn add(
    agent: McpAgent,
    place: Place,
    options: &[String],
    dry_run: bool,
    common: &Common,
) -> Result<Changed, Error> {
    let mut words = plain_words()?;
    words.extend(common_options(common));
    words.extend(agent_option(agent, place));
    words.extend_from_slice(options);
    target(agent, &words, place, common)?.install(dry_run)
}

/// Returns the option that tells the server its agent, so that settings by agent count. The `.mcp.json` of a
/// project is read by several agents, so the server there has none.
fn agent_option(agent: McpAgent, place: Place) -> Vec<String> {
    match agent {
        McpAgent::Hooked(HookAgent::ClaudeCode | HookAgent::Copilot) if place != Place::User => {
            Vec::new()
        }
        McpAgent::Hooked(agent) => vec!["--agent".to_owned(), agent.as_str().to_owned()],
        McpAgent::VsCode => Vec::new(),
    }
}

/// Removes the server from the settings of `agent` in `place`. A dry run changes nothing.
pub(crate) fn remove(
    agent: McpAgent,
    place: Place,
    dry_run: bool,
    common: &Common,
) -> Result<Changed, Error> {
    target(agent, &plain_words()?, place, common)?.uninstall(dry_run)
}

/// Returns the words that run the server, without options.
fn plain_words() -> Result<Vec<String>, Error> {
    Ok(vec![program()?, "mcp".to_owned()])
}

fn target(
    agent: McpAgent,
    words: &[String],
    place: Place,
    common: &Common,
) -> Result<Target<Server>, Error> {
    Target::read(agent.as_str(), place, agent.file(place, common)?, agent.server(words))
}

impl Entry for Server {
    const BACKUP: &'static str = BACKUPS[1];

    fn words(&self, text: &str) -> Result<Option<Vec<String>>, Problem> {
        match self.form {
            Form::Json(field) => json::words(text, field),
            Form::Toml => toml::words(text),
        }
    }

    fn running(&self, words: &[String]) -> Result<Server, Error> {
        Ok(self.agent.server(words))
    }

    fn add(&self, text: &str) -> Result<String, Problem> {
        match self.form {
            Form::Json(field) => json::add(text, field, self),
            Form::Toml => toml::add(text, self),
        }
    }

    fn remove(&self, text: &str, before: Option<&str>) -> Result<Option<String>, Problem> {
        match self.form {
            Form::Json(field) => json::remove(text, field, before),
            Form::Toml => toml::remove(text, before),
        }
    }
}
