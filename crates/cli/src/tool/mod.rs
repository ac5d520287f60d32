//! `repertoire tool`: writes, builds, inspects, lists and calls the tools of the skills.

pub(crate) mod build;
pub(crate) mod dev;
pub(crate) mod inspect;
pub(crate) mod new;
pub(crate) mod texts;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Read as _};
use std::time::{Duration, Instant};

use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use repertoire::toolset::{Host, LogLevel, Tool, ToolFailure, Tools};
use repertoire::{Audience, Engine, Error, ErrorCode};
use serde_json::{Value as Json, json};

use crate::args::{Common, ToolCallArgs, ToolCommand, ToolListArgs};
use crate::exit_code::ExitCode;
use crate::failure::{Failure, UsageError};
use crate::list::formatted;
use crate::output::{NAME, Output, Page, styled};
use crate::{sanitize, sessions, setup};
use texts::{first_line, show_others};

/// The number of steps of a progress bar.
const STEPS: u32 = 1000;

pub(crate) fn run(command: &ToolCommand, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    match command {
        ToolCommand::New(args) => new::run(args, common, out),
        ToolCommand::Build(args) => build::run(args, common, out),
        ToolCommand::Dev(args) => dev::run(args, common, out),
        ToolCommand::Inspect(args) => inspect::run(args, out),
        ToolCommand::List(args) => list(args, common, out),
        ToolCommand::Call(args) => call(args, common, out),
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

/// `tool call`.
fn call(args: &ToolCallArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let arguments = arguments(&args.arguments)?;
    let engine = setup::engine_with_tools(common, &args.isolation)?;
    let session = sessions::named(common, args.session.as_deref())?;
    let host = Terminal::new(args.timeout, out);
    let tool = find(&engine, &args.name, &host, common)?;
    let output = tool.call(&arguments, &host);
    host.bar.finish_and_clear();
    let output = output?;
    // The tool has already run, so this is not a failure.
    if let Err(error) = session.record_use(&tool.skill) {
        out.note(&format!("its use is not noted: {}", sanitize::line(error.message())));
    }
    if out.json {
        Output::json(&json!({
            "status": "success",
            "data": {"title": output.title, "metadata": output.metadata},
            "text": output.output,
        }))?;
    } else {
        Output::exact(output.output.trim_end_matches('\n'))?;
    }
    Ok(ExitCode::Done)
}

fn arguments(text: &str) -> anyhow::Result<Json> {
    let mut input = String::new();
    let text = if text == "-" {
        io::stdin().read_to_string(&mut input)?;
        &input
    } else {
        text
    };
    Ok(serde_json::from_str(text).map_err(|error| {
        let message = format!("the arguments are no JSON: {error}");
        let help = "write an object in single quotes, such as '{\"name\": \"Ada\"}'";
        UsageError(Error::new(ErrorCode::InvalidParam, message, help))
    })?)
}

/// Finds the tool that `name` means. If the name contains the id of a skill, opens only the libraries
/// of that skill.
fn find(engine: &Engine, name: &str, host: &Terminal, common: &Common) -> anyhow::Result<Tool> {
    let out = host.out;
    let catalog = engine.catalog();
    let skill = name.rsplit_once('.').and_then(|(skill, _)| catalog.get(skill));
    let tools = engine.tools_named(name, host);
    tools.find(name).cloned().map_err(|error| {
        let Tools { tools, failures, .. } = &tools;
        // The tool is missing only because its library failed, so that error is returned.
        if let (Some(_), true, [first, others @ ..]) = (skill, tools.is_empty(), &failures[..]) {
            let first = &first.error;
            let is_other = |other: &&ToolFailure| other.error.message() != first.message();
            tell(others.iter().filter(is_other), out);
            return first.reworded(first.message()).into();
        }
        tell(failures, out);
        setup::finish(common, engine, out);
        error.into()
    })
}

/// The host of a call from the command line.
struct Terminal {
    bar: ProgressBar,
    deadline: Option<Instant>,
    out: Output,
}

impl Terminal {
    fn new(timeout: Option<Duration>, out: Output) -> Terminal {
        let bar = if io::stderr().is_terminal() {
            let bar = ProgressBar::new(STEPS.into());
            let style = ProgressStyle::with_template("{bar:30} {percent}% {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        } else {
            ProgressBar::hidden()
        };
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Terminal { bar, deadline, out }
    }
}

impl Host for Terminal {
    #[expect(clippy::cast_sign_loss, reason = "it is clamped")]
    fn progress(&self, fraction: f64, message: &str) {
        let message = sanitize::line(message);
        if self.bar.is_hidden() {
            if self.out.verbose {
                self.out.note(&format!("{:.0}% {message}", fraction.clamp(0.0, 1.0) * 100.0));
            }
        } else {
            self.bar.set_message(message.into_owned());
            self.bar.set_position((fraction.clamp(0.0, 1.0) * f64::from(STEPS)) as u64);
        }
    }

    fn log(&self, level: LogLevel, message: &str) {
        if self.out.verbose {
            self.bar.suspend(|| self.out.note(&format!("{level:?}: {}", sanitize::line(message))));
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}
