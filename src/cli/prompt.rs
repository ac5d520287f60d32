//! `repertoire prompt`: the list of skills for a system prompt.

use repertoire::PromptOptions;

use crate::args::{Common, PromptArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{query, setup};

pub(crate) fn run(args: &PromptArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let options = PromptOptions {
        format: args.format,
        budget: query::budget(args.budget.as_deref(), args.window.window)?,
        context_window: args.window.window,
        locations: args.locations,
    };
    let engine = setup::engine(common, |builder| builder.prompt(options))?;
    let prompt = engine.prompt();
    if out.json {
        Output::json(&prompt)?;
    } else {
        Output::exact(&prompt.text)?;
    }
    Ok(setup::finish(common, &engine, out))
}
