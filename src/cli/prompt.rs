//! `repertoire prompt`: the list of skills for a system prompt.

use repertoire::{Budget, PromptOptions};

use crate::args::{Common, PromptArgs};
use crate::exit_code::ExitCode;
use crate::failure::UsageError;
use crate::output::Output;
use crate::{environment, query, setup};

pub(crate) fn run(args: &PromptArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let mut options = PromptOptions::default();
    options.format = args.format;
    options.budget = budget(args)?;
    options.context_window = args.window.window;
    options.locations = args.locations;
    let engine = setup::engine(common, |builder| builder.prompt(options))?;
    let prompt = engine.prompt();
    if out.json {
        Output::json(&prompt)?;
    } else {
        Output::exact(&prompt.text)?;
    }
    Ok(setup::finish(common, &engine, out))
}

/// The budget of the arguments, or of the variable that stands for it, which an error names.
fn budget(args: &PromptArgs) -> Result<Option<Budget>, UsageError> {
    query::budget(args.budget.as_deref(), args.window.window).map_err(|UsageError(error)| {
        UsageError(match environment::variable_of("--budget") {
            Some(variable) => {
                let message = format!("`{variable}`: {}", error.message());
                error.reworded(message)
            }
            None => error,
        })
    })
}
