//! `repertoire prompt`: prints the list of skills for a system prompt.

use repertoire::{Budget, PromptOptions};

use crate::args::{Common, PromptArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::Output;
use crate::{environment, query, sessions, setup};

pub(crate) fn run(args: &PromptArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let config = setup::config(common)?.with_window(args.window.window);
    let mut options = config.prompt(PromptOptions::default());
    options.format = args.format;
    options.budget = budget(args, config.window())?.or(options.budget);
    options.locations = args.locations;
    options.how_to_load = setup::how_to_load();
    let engine = setup::engine(common, |builder| builder.prompt(options))?;
    let session = sessions::named(common, args.session.as_deref())?;
    if args.event.is_some() {
        session.compacted()?;
    }
    let prompt = engine.session_prompt(&session);
    if out.json {
        Output::json(&prompt)?;
    } else {
        Output::exact(&prompt.text)?;
    }
    Ok(setup::finish(common, &engine, out))
}

/// Parses the budget of the arguments. If an environment variable set it, an error names that
/// variable.
fn budget(args: &PromptArgs, window: Option<usize>) -> Result<Option<Budget>, UsageError> {
    query::budget(args.budget.as_deref(), window).map_err(|UsageError(error)| {
        UsageError(match environment::variable_of("--budget") {
            Some(variable) => {
                let message = format!("`{variable}`: {}", error.message());
                error.reworded(message)
            }
            None => error,
        })
    })
}
