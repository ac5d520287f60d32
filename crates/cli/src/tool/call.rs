//! `repertoire tool call`: calls a tool of a toolset, or one that every model has, as the model would.

use std::io::{self, IsTerminal as _, Read as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use repertoire::toolset::{Host, LogLevel, Tool, ToolFailure, Tools};
use repertoire::{CallIo, Engine, Error, ErrorCode, SessionTools};
use serde_json::{Value as Json, json};

use super::tell;
use crate::args::{Common, ToolCallArgs};
use crate::exit_code::ExitCode;
use crate::failure::{Failure, UsageError};
use crate::output::Output;
use crate::{sanitize, sessions, setup};

/// The number of steps of a progress bar.
const STEPS: u32 = 1000;

pub(super) fn run(args: &ToolCallArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let arguments = arguments(&args.arguments)?;
    if SessionTools::NAMES.contains(&&*args.name) {
        return built_in(args, &arguments, common, out);
    }
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

/// Calls a built-in tool, and prints what the model gets.
fn built_in(
    args: &ToolCallArgs,
    arguments: &Json,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let engine = setup::engine_with_everything(common, setup::script_options(common)?, |all| all)?;
    let session = sessions::named(common, args.session.as_deref())?;
    let mut io = CallIo::default();
    if let Some(deadline) = deadline(args.timeout) {
        io = io.deadline(deadline);
    }
    let answer = engine.tools(&session).call_with(&args.name, arguments, io);
    let text = answer.text();
    match answer.code().filter(|_| !out.json) {
        Some(code) => {
            let message = text.strip_prefix(&format!("{}: ", code.as_str())).unwrap_or(&text);
            let (message, help) = (message.to_owned(), String::new());
            out.partial_failure(&Failure { code: code.as_str(), message, help });
        }
        None if out.json => Output::json(&answer)?,
        None => Output::exact(text.trim_end_matches('\n'))?,
    }
    Ok(if answer.code().is_some() { ExitCode::Failure } else { ExitCode::Done })
}

fn deadline(timeout: Option<Duration>) -> Option<Instant> {
    timeout.and_then(|timeout| Instant::now().checked_add(timeout))
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
        let message = format!("the arguments are not JSON: {error}");
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
        Terminal { bar, deadline: deadline(timeout), out }
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
