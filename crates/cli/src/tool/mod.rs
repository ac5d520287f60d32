//! `repertoire tool`: writes, builds, inspects, lists and calls the tools of the skills.

pub(crate) mod build;
mod call;
mod cargo_help;
pub(crate) mod dev;
pub(crate) mod inspect;
pub(crate) mod new;
mod not_a_library;
pub(crate) mod texts;

use std::collections::BTreeSet;

use comfy_table::{Table, presets};
use repertoire::Audience;
use repertoire::toolset::{Tool, ToolFailure};
use serde_json::json;

use crate::args::{Common, ToolCommand, ToolListArgs};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::list::formatted;
use crate::output::{NAME, Output, Page, styled};
use crate::{sanitize, setup};
use texts::{first_line, show_others};

pub(crate) fn run(command: &ToolCommand, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    match command {
        ToolCommand::New(args) => new::run(args, common, out),
        ToolCommand::Build(args) => build::run(args, common, out),
        ToolCommand::Dev(args) => dev::run(args, common, out),
        ToolCommand::Inspect(args) => inspect::run(args, out),
        ToolCommand::List(args) => list(args, common, out),
        ToolCommand::Call(args) => call::run(args, common, out),
    }
}

/// `tool list`.
fn list(args: &ToolListArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine_with_tools(common, &args.isolation)?;
    let tools = match &args.skill {
        Some(name) => match engine.catalog().find(name, Audience::Model) {
            Ok(entry) => engine.tools_of(&entry.id),
            Err(error) => {
                setup::finish(common, &engine, out);
                return Err(error.into());
            }
        },
        None => engine.all_tools(),
    };
    if let Some(format) = args.format {
        Output::json(&tools.to_json(format))?;
    } else if out.json {
        Output::json(&json!({"tools": tools.tools}))?;
    } else if !tools.tools.is_empty() {
        out.human(&table(&tools.tools))?;
        out.human(all_texts(&tools.tools).as_str())?;
    } else if tools.failures.is_empty() {
        out.note("no tools; `repertoire tool new NAME` writes some to start from");
    }
    tell(&tools.failures, out);
    let code = setup::finish(common, &engine, out);
    Ok(if tools.failures.is_empty() { code } else { ExitCode::Failure })
}

/// Formats the tools as a table for people.
fn table(tools: &[Tool]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let trouble = |tool: &Tool| tool.worker_state().filter(|state| state.reason().is_some());
    let is_troubled = tools.iter().any(|tool| trouble(tool).is_some());
    let header = ["TOOL", "TOOLSET"].into_iter().chain(is_troubled.then_some("STATE"));
    table.set_header(header.chain(["DESCRIPTION"]));
    for tool in tools {
        let state = is_troubled.then(|| trouble(tool).map_or("ready", |state| state.as_str()));
        let names = [sanitize::line(&tool.name), sanitize::line(&tool.toolset)].into_iter();
        table.add_row(names.chain(state.map(Into::into)).chain([first_line(tool).into()]));
    }
    formatted(table, 2 + usize::from(is_troubled))
}

/// Writes all texts of the tools, of which the table has the first lines, as their authors wrote them.
fn all_texts(tools: &[Tool]) -> Page {
    let mut page = Page::default();
    for tool in tools {
        page.line(format_args!(
            "\n{}: {}",
            styled(NAME, sanitize::line(&tool.name)),
            first_line(tool)
        ));
        show_others(tool, "  ", &mut page);
    }
    page
}

/// Reports the toolsets that could not be loaded. Classes of one library often fail with the same
/// message, which is reported once.
fn tell<'a>(failures: impl IntoIterator<Item = &'a ToolFailure>, out: Output) {
    let mut told = BTreeSet::new();
    for ToolFailure { skill, error, .. } in failures {
        let mut failure = Failure::from(&**error);
        failure.message = format!("skill `{skill}`: {}", failure.message);
        if told.insert(failure.message.clone()) {
            out.partial_failure(&failure);
        }
    }
}
