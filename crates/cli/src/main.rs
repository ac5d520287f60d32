//! The `repertoire` binary: one module for each subcommand.

mod agent;
mod agent_options;
mod args;
mod bundled;
mod check;
mod completions;
mod config;
mod confirm;
mod dirs;
mod disclose;
mod doctor;
mod environment;
mod eval;
mod exit_code;
mod failure;
mod fetch;
mod hook;
mod http;
mod init;
mod list;
mod live;
mod lsp;
mod man;
mod match_query;
mod mcp;
mod model;
mod nested;
mod new;
mod output;
mod package;
mod pager;
mod picker;
mod play;
mod progress_bar;
mod prompt;
mod query;
mod random;
mod replace;
mod report;
mod run;
mod sanitize;
mod sessions;
mod setup;
mod shell;
mod show;
mod signals;
mod source_text;
mod stats;
mod tool;
mod traces;
mod trust;
mod use_skill;
mod why;

use std::ffi::OsString;

use anstream::ColorChoice;
use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _, Subcommand};
use repertoire::ErrorCode;
use repertoire_agents::HookAgent;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::prelude::*;

use args::{Cli, Command, Common, HookAlone, ToolsetCommand};
use exit_code::ExitCode;
use failure::Failure;
use output::Output;
use traces::Traces;

fn main() -> std::process::ExitCode {
    // This process is a child that hosts a toolset's library: it talks to its parent process, not to
    // people.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == setup::TOOLSET_HOST) {
        repertoire::toolset::worker_main();
    }
    signals::ignore_file_size_signal();
    match parse(std::env::args_os()) {
        Ok(cli) => run(&cli).into(),
        Err(error) => refuse(&error),
    }
}

/// Parses `words` as a command line; the first word is the program.
fn parse<W: Into<OsString>>(words: impl IntoIterator<Item = W>) -> Result<Cli, clap::Error> {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    if words.get(1).is_some_and(|word| word == HookAlone::NAME)
        && let Ok(Cli { command, common }) =
            parse_as::<HookAlone>(Cli::<HookAlone>::command(), &words)
    {
        return Ok(Cli { command: command.into(), common });
    }
    parse_as(args::command(), &words)
}

/// Parses `words` as `command`, which has the subcommands of `C`.
fn parse_as<C: Subcommand>(
    command: clap::Command,
    words: &[OsString],
) -> Result<Cli<C>, clap::Error> {
    let command = args::with_repeatable_options(command);
    let matches = command.try_get_matches_from(words).map_err(environment::explain)?;
    let mut cli = Cli::<C>::from_arg_matches(&matches)?;
    cli.common.add_repeated(&matches);
    cli.common.names_project = matches.value_source("project") == Some(ValueSource::CommandLine);
    if cli.common.project.as_os_str().is_empty() {
        cli.common.project = setup::project_here();
    }
    cli.common.working_dir = setup::working_dir_here(&cli.common.project);
    Ok(cli)
}

fn run(Cli { command, common }: &Cli) -> ExitCode {
    let out = Output::of(common);
    let is_server = matches!(command, Command::Mcp(args) if args.command.is_none());
    let traces = if is_server { traces::begin(out) } else { None };
    listen(common, out, traces.as_ref());
    let code = execute(command, common, out).unwrap_or_else(|error| {
        let code = ExitCode::of(&error);
        // `Done` means that nobody reads the output any more, so there is nobody to tell.
        if code != ExitCode::Done && out.failure(&Failure::from(&error)).is_err() {
            tracing::debug!("the error could not be printed");
        }
        code
    });
    if let Some(traces) = traces {
        traces.finish();
    }
    match signals::cancelled_by() {
        Some(signal) if code != ExitCode::Done => ExitCode::Signal(signal),
        _ => code,
    }
}

fn execute(command: &Command, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list::run(args, common, out),
        Command::Match(args) => match_query::run(args, common, out),
        Command::Disclose(args) => disclose::run(args, common, out),
        Command::Prompt(args) => prompt::run(args, common, out),
        Command::Show(args) => show::run(args, common, out),
        Command::Use(args) => use_skill::run(args, common, out),
        Command::Run(args) => run::run(args, common, out),
        Command::Check(args) => check::run(args, common, out),
        Command::Init(args) => init::run(args, common, out),
        Command::New(args) => new::run(args, common, out),
        Command::Stats(args) => stats::run(args, common, out),
        Command::Add(args) => fetch::add::run(args, common, out),
        Command::Export(args) => fetch::export::run(args, common, out),
        Command::Update(args) => fetch::update::run(args, common, out),
        Command::Outdated(args) => fetch::outdated::run(args, common, out),
        Command::Remove(args) => fetch::remove::run(args, common, out),
        Command::Push(args) => fetch::push::run(args, common, out),
        Command::Sign(args) => fetch::sign::run(args, out),
        Command::Toolset(ToolsetCommand::New(args)) => tool::new::run(args, common, out),
        Command::Toolset(ToolsetCommand::Build(args)) => tool::build::run(args, common, out),
        Command::Toolset(ToolsetCommand::Dev(args)) => tool::dev::run(args, common, out),
        Command::Toolset(ToolsetCommand::Inspect(args)) => tool::inspect::run(args, out),
        Command::Tool(command) => tool::run(command, common, out),
        Command::Trust(command) => trust::run(command, common, out),
        Command::Model(command) => model::run(command, common, out),
        Command::Mcp(args) => mcp::run(args, common, out),
        Command::Eval(args) => eval::run(args, common, out),
        Command::Why(args) => why::run(args, common, out),
        Command::Play(args) => play::run(args, common, out),
        Command::Doctor(args) => match args.live {
            Some(agent) => live::run(agent, common, out),
            None => doctor::run(common, out),
        },
        Command::Config => config::run(common, out),
        Command::Enable(args) => config::switch(args, common, out, true),
        Command::Disable(args) => config::switch(args, common, out, false),
        Command::Hook(args) => hook::run(args, common, mcp::is_listed, out),
        Command::Package(args) => package::run(args, common, out),
        Command::Lsp => lsp::run(common, out),
        Command::Man(args) => man::run(args, out),
        Command::Completions(args) => completions::run(args, out),
        Command::CompleteIds(args) => completions::ids::run(args),
    }
}

/// Responds to a command line that clap rejected, or that asks for help, and returns the exit code.
fn refuse(error: &clap::Error) -> std::process::ExitCode {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(agent) = agent_of_hook(&words).filter(|_| error.use_stderr()) {
        hook::refuse(agent, &error.to_string());
        return ExitCode::Done.into();
    }
    let wants_json = words.iter().any(|word| word == "--json");
    // Printing fails only if nobody reads the output.
    if error.use_stderr() && wants_json {
        let message = error.to_string();
        // The paragraphs after the first are usage and tips.
        let lines = message.lines().map(str::trim).take_while(|line| !line.is_empty());
        let message = lines.collect::<Vec<_>>().join(" ");
        let failure = Failure {
            code: ErrorCode::InvalidParam.as_str(),
            message: message.trim_start_matches("error: ").to_owned(),
            help: "see `repertoire --help`".to_owned(),
        };
        let out = Output { json: true, color: ColorChoice::Auto, verbose: false };
        let _ = out.failure(&failure);
    } else {
        let _ = error.print();
    }
    if error.use_stderr() { ExitCode::Usage.into() } else { ExitCode::Done.into() }
}

/// Returns the agent whose hook this invalid command line was meant to run. Some agents take an error
/// of a hook for a veto of the user's message, so such a call must not fail. `install` and
/// `uninstall` are run by people, who need to see the error.
fn agent_of_hook(words: &[String]) -> Option<&str> {
    let is_subcommand = |word: &&String| args::command().find_subcommand(word).is_some();
    let (place, _) = words.iter().enumerate().find(|(_, word)| is_subcommand(word))?;
    let (subcommand, rest) = words[place..].split_first()?;
    let of_people = ["install", "uninstall", "help"];
    if subcommand != "hook" || rest.iter().any(|word| of_people.contains(&word.as_str())) {
        return None;
    }
    let is_agent = |word: &&String| word.parse::<HookAgent>().is_ok();
    rest.iter().find(is_agent).or(rest.first()).map(String::as_str)
}

/// Sends the library's log to standard error, if `--verbose` asks for it, and its spans to `traces`.
fn listen(common: &Common, out: Output, traces: Option<&Traces>) {
    let level = match common.verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    if level == LevelFilter::OFF && traces.is_none() {
        return;
    }
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(out.colors(&std::io::stderr()))
        .without_time();
    // Only events are logged: each is complete without the spans around it.
    let is_logged = filter_fn(move |metadata| metadata.is_event() && *metadata.level() <= level);
    let listeners =
        tracing_subscriber::registry().with(log.with_filter(is_logged.with_max_level_hint(level)));
    #[cfg(feature = "otlp")]
    let listeners = listeners.with(traces.map(Traces::layer));
    listeners.init();
}
