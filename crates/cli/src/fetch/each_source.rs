//! The sources of one `add`, one after the other.

use std::path::Path;

use repertoire::{Error, ErrorCode};
use repertoire_agents::HookAgent;
use repertoire_config::FetchSettings;
use repertoire_fetch::Location;
use serde_json::{Value as Json, json};

use super::failure_of;
use crate::args::AddArgs;
use crate::output::Output;
use crate::signals;

/// Calls `add` with the settings of each source. If there are several, reports the failure of one, and goes
/// on with the next. Returns whether all succeeded.
pub(super) fn each_source(
    args: &AddArgs,
    out: Output,
    mut add: impl FnMut(&FetchSettings) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let mut is_good = true;
    let addresses = addresses(args);
    for source in &addresses {
        let mut settings = args.choice.settings(&address(source, &args.command)?);
        settings.signed_by.clone_from(&args.signed_by);
        settings.alias.clone_from(&args.alias);
        settings.agents = args.agents.iter().map(HookAgent::to_string).collect();
        match add(&settings) {
            Err(error) if addresses.len() > 1 && signals::cancelled_by().is_none() => {
                is_good = false;
                match error.downcast::<Error>() {
                    Ok(error) => out.partial_failure(&failure_of(source, &error)),
                    Err(error) => return Err(error),
                }
            }
            result => result?,
        }
    }
    Ok(is_good)
}

/// The sources that the command line names. The words of a command that was copied, such as `npx skills add
/// owner/repo`, are one.
pub(super) fn addresses(args: &AddArgs) -> Vec<String> {
    // A lone `$` is the prompt that was copied with the command.
    let words: Vec<&str> = args.addresses.iter().map(String::as_str).collect();
    let words = words.strip_prefix(&["$"]).unwrap_or(&words);
    match words.first().filter(|first| Location::is_command(words) && !Path::new(first).exists()) {
        Some(_) => vec![words.join(" ")],
        None => args.addresses.clone(),
    }
}

/// Prints the JSON of one source, or of all that succeeded if several were named.
pub(super) fn print_all(args: &AddArgs, mut reports: Vec<Json>) -> anyhow::Result<()> {
    let only = (addresses(args).len() == 1).then(|| reports.pop()).flatten();
    Output::json(&only.unwrap_or_else(|| json!({ "sources": reports })))?;
    Ok(())
}

/// Returns the address of a source, completed by the words of `command`, which follow `mcp:`.
fn address(source: &str, command: &[String]) -> Result<String, Error> {
    if command.is_empty() {
        return Ok(source.to_owned());
    }
    let invalid = |message: &str| {
        let help = "write `repertoire add mcp: -- COMMAND…`";
        Error::new(ErrorCode::InvalidParam, message, help)
    };
    if !source.starts_with("mcp:") {
        return Err(invalid("a command follows a source that is not `mcp:`"));
    }
    let words = shlex::try_join(command.iter().map(String::as_str));
    let words = words.map_err(|_| invalid("the command holds a NUL byte"))?;
    Ok(format!("{source} {words}"))
}
