//! `repertoire hook AGENT`: answers a hook. If anything fails, the agent continues as if there were
//! no hook.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anstream::ColorChoice;
use clap::Parser as _;
use repertoire::activation::Typed;
use repertoire::diagnostic::Code;
use repertoire::session::Session;
use repertoire::{Budget, Diagnostic, DisclosureOptions, Engine, Error, ErrorCode, PromptOptions};
use repertoire_agents::{HookAgent, HookCall, HookEvent, disclosure_options, prompt_options};
use repertoire_config::Config;

use super::deadline::Deadline;
use super::input;
use super::log::{self, said};
use super::prepare;
use super::store::{HookStore, Problems};
use super::{Conversation, IsListedByClient};
use crate::args::{Cli, Common, HookArgs, RoutingArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::sessions::Place;
use crate::{environment, nested, query, sanitize, setup};

/// The variables in which agents name the directory that they were started in, for all hooks.
const STARTING_DIR_VARIABLES: [(HookAgent, &str); 5] = [
    (HookAgent::ClaudeCode, "CLAUDE_PROJECT_DIR"),
    (HookAgent::Gemini, "GEMINI_PROJECT_DIR"),
    (HookAgent::Cursor, "CURSOR_PROJECT_DIR"),
    (HookAgent::Qwen, "QWEN_PROJECT_DIR"),
    (HookAgent::Droid, "FACTORY_PROJECT_DIR"),
];

/// The line of the log about an input without the name of its conversation.
const NAMELESS: &str =
    "the input does not name the session (`session_id`): it is answered, and nothing is remembered";

/// The answer to print, and the problems met while computing it.
#[derive(Default)]
struct Answer {
    text: String,
    problems: Vec<String>,
    session: Option<Session>,
}

pub(super) fn run(
    agent: HookAgent,
    args: &HookArgs,
    common: &Common,
    is_listed: IsListedByClient,
    out: Output,
) -> ExitCode {
    let deadline = args.deadline;
    let loading = Loading::default();
    let late = {
        let (loading, common) = (loading.clone(), common.clone());
        move || {
            loading.continue_in_background(agent, &common, out);
            tell(agent, &said(&too_late(agent, deadline)), &common, out);
        }
    };
    let answer = Deadline::start(deadline, late)
        .map_err(|error| failed("start a thread", &error, "end processes that are not needed"))
        .and_then(|deadline| {
            let answer = || answer(agent, args, common, is_listed, &loading, &deadline);
            let answer = catch_unwind(AssertUnwindSafe(answer));
            deadline.meet();
            answer.unwrap_or_else(|_| Err(panicked()))
        })
        .and_then(|Answer { text, mut problems, session }| {
            let mut stdout = io::stdout().lock();
            let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
            // Text that did not arrive is not in the context: marking the session as compacted shows
            // it again.
            let lost = session.filter(|_| written.is_err()).map(|session| session.compacted());
            problems.extend(lost.and_then(Result::err).map(|error| said(&error)));
            for problem in problems {
                tell(agent, &problem, common, out);
            }
            written.map_err(|error| {
                failed("write the answer", &error, "see that its reader has room, and waits for it")
            })
        });
    if let Err(error) = answer {
        tell(agent, &said(&error), common, out);
    }
    ExitCode::Done
}

/// Writes the snapshot that a hook had no time for.
pub(super) fn prepare(
    agent: HookAgent,
    routing: &RoutingArgs,
    common: &Common,
    out: Output,
) -> ExitCode {
    let problems = prepare::run(routing, common).unwrap_or_else(|error| vec![format!("{error:#}")]);
    for problem in problems {
        tell(agent, &format!("in the background: {problem}"), common, out);
    }
    ExitCode::Done
}

/// Tells whether a message is the command of one of the agent's files.
fn names_command(message: &str, common: &Common) -> bool {
    let Some(typed) = Typed::parse(message) else { return false };
    let commands = setup::agent_state(common).map(|(agent, state)| agent.commands(state));
    commands.is_some_and(|commands| commands.iter().any(|command| command.name == typed.word))
}

/// The options whose skills are being read at the moment; `None` at other times.
#[derive(Clone, Default)]
struct Loading(Arc<Mutex<Option<Common>>>);

impl Loading {
    fn set(&self, whose: Option<Common>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = whose;
    }

    /// If skills are being read, leaves that to a background process.
    fn continue_in_background(&self, agent: HookAgent, common: &Common, out: Output) {
        let whose = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(whose) = whose.filter(|whose| !whose.no_cache) else { return };
        if let Err(error) = prepare::start(&whose) {
            let error =
                failed("read the skills in the background", &error, "see `repertoire doctor`");
            tell(agent, &said(&error), common, out);
        }
    }
}

fn answer(
    agent: HookAgent,
    args: &HookArgs,
    common: &Common,
    is_listed: IsListedByClient,
    loading: &Loading,
    deadline: &Deadline,
) -> Result<Answer, Error> {
    let mut call = HookCall::read(agent, &input::read()?)?;
    let mut told = Vec::new();
    let working_dir = working_dir(&call, common, &mut told);
    let mut common = in_directory(agent, working_dir, common);
    let nameless = call.session.is_none().then(|| NAMELESS.to_owned());
    told.extend(nameless.filter(|what| !is_logged(what, &common)));
    if call.needs_skills(false) {
        call.listing = agent.listing_budget(&setup::start(&common), call.model.as_deref());
    }
    let conversation = Conversation { has_server: args.with_server, begins: begins(&call) };
    // Other events neither list skills nor ask whether a list was lost.
    call.is_listed_by_client =
        matches!(call.event, HookEvent::Start { .. } | HookEvent::Catalog | HookEvent::Prompt(_))
            && is_listed(agent, conversation, &common);
    if let HookEvent::Prompt(prompt) = &call.event {
        call.is_agent_command = names_command(prompt, &common);
    }
    if let HookEvent::Files(paths) = &mut call.event {
        let base = call.cwd.as_deref().unwrap_or(&common.project);
        for path in paths.iter_mut() {
            *path = query::relative(&base.join(&*path), &common.project);
        }
        if let Some(dir) = nested::directory(paths, &common) {
            common = nested::options(&common, dir.clone());
            call.nested = Some(dir);
        }
    }
    let problems = Problems::default();
    let mut config = match setup::config(&common) {
        Err(_) if !call.needs_skills(false) => Config::default(),
        // The rest of the time is for reading the skills and for the session.
        config => config?.with_retriever_time(args.deadline / 3),
    };
    if let Some(native) = nested::native_skills(call.nested.as_deref(), &common, &config) {
        call.native = native;
    }
    let needs_skills = call.needs_skills(config.keeps_messages());
    // The session store may take half of the time, once: after that, it counts as unreachable.
    let place = Place::of(&config, &common).map(|place| place.within(args.deadline / 2));
    let mut builder = Engine::builder().session_store(HookStore::open(place, &problems, deadline));
    if needs_skills {
        told.extend(unlogged(config.diagnostics().iter(), &common));
        builder = setup::with_cache(setup::with_skills(builder, &common, &config), &common);
        builder = builder.max_compile_time(args.deadline / 2);
        loading.set(Some(common.clone()));
    } else {
        config = Config::default();
    }
    let mut invalid = Vec::new();
    let options = args.routing.showing.apply(disclosure(&config, &mut invalid));
    let prompt = prompt(&config, &mut invalid);
    if needs_skills {
        told.extend(invalid.iter().map(said).filter(|what| !is_logged(what, &common)));
    }
    let builder = args.routing.matching.apply(builder).disclosure(options).prompt(prompt);
    let engine = builder.build()?;
    if engine.cache_use().stale {
        // This message is answered with the earlier skills; the next one gets the changed ones.
        prepare::start(&common).map_err(|error| {
            failed("compile skills in the background", &error, "see `repertoire doctor`")
        })?;
    }
    if needs_skills {
        let catalog = engine.catalog();
        let codes = [Code::MissingSource, Code::RefusedSetting];
        let findings = catalog.diagnostics().iter().filter(|of| codes.contains(&of.code));
        let findings = unlogged(findings, &common).into_iter().filter(|what| !told.contains(what));
        told.extend(findings.collect::<Vec<_>>());
        let refused = refused_settings(catalog.diagnostics(), call.session.as_deref());
        told.extend(refused.filter(|what| !is_logged(what, &common)));
    }
    loading.set(None);
    let text = call.answer(&engine)?.map(|answer| format!("{answer}\n")).unwrap_or_default();
    let failure = engine.retriever_failure().map(|failure| setup::ranked_by_words(&failure));
    told.extend(failure.filter(|what| !is_logged(what, &common)));
    told.extend(problems.take().iter().map(said));
    told.extend_from_slice(&engine.cache_use().problems);
    let session = call.session.filter(|_| !text.is_empty()).map(|name| engine.session(&name));
    // The process ends: the system frees memory faster, and the store tolerates this as it
    // tolerates a killed process.
    std::mem::forget(engine);
    Ok(Answer { text, problems: told, session })
}

/// Tells whether a conversation begins, in an agent that was started for it.
fn begins(call: &HookCall) -> bool {
    const NEW: HookEvent = HookEvent::Start { resumed: false, compacted: false, cleared: false };
    call.event == NEW && call.name != "SubagentStart"
}

/// Returns the agent's working directory. If it does not exist, records a problem and returns the
/// working directory of the hook.
fn working_dir(call: &HookCall, common: &Common, problems: &mut Vec<String>) -> PathBuf {
    let is_there = |dir: &PathBuf| dir.is_absolute() && dir.is_dir();
    call.cwd.clone().filter(is_there).unwrap_or_else(|| {
        let here = setup::working_dir_here(&common.project);
        // If the project is named, the directory only decides which nested sources apply.
        if let Some(cwd) = call.cwd.as_ref().filter(|_| !common.names_project) {
            let (cwd, here) = (cwd.display(), here.display());
            problems.push(format!("`{cwd}` is not a directory; {here} is used instead"));
        }
        here
    })
}

/// Returns the options for `agent`, which works in `here`. The project is the named one, otherwise that of
/// the directory which the agent was started in, otherwise that of `here`.
pub(super) fn in_directory(agent: HookAgent, here: PathBuf, common: &Common) -> Common {
    let started_in = started_in(agent, &here);
    let project = if common.names_project {
        common.project.clone()
    } else {
        setup::project_of(started_in.as_deref().unwrap_or(&here)).to_owned()
    };
    Common { project, working_dir: here, started_in, ..common.for_agent(agent) }
}

/// Returns the directory that `agent`, which works in `here`, was started in, if a variable names it. The
/// variable of another agent, in which this one may run, counts only if `here` is in that directory.
fn started_in(agent: HookAgent, here: &Path) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let here_is_in = |dir: &Path| here.starts_with(dir) || real(here).starts_with(real(dir));
    let named = STARTING_DIR_VARIABLES.iter().filter_map(|(whose, variable)| {
        let dir = PathBuf::from(std::env::var_os(variable)?);
        let is_known = dir.is_dir() && (*whose == agent || here_is_in(&dir));
        is_known.then_some((*whose != agent, dir))
    });
    named.min_by_key(|(is_other, _)| *is_other).map(|(_, dir)| dir)
}

/// Returns the options of disclosures in hooks. The budget is at most the length that agents accept.
/// If the environment sets an option to an invalid value, the option keeps its value and the error is
/// added to `invalid`.
pub(crate) fn disclosure(config: &Config, invalid: &mut Vec<Error>) -> DisclosureOptions {
    let room = disclosure_options().budget;
    let mut options = config.disclosure(disclosure_options());
    let budget = options.budget.into_iter().chain(room);
    options.budget = budget.min_by(|a, b| characters(*a).total_cmp(&characters(*b)));
    invalid.extend(environment::limit_skills(&mut options).err());
    options
}

/// Converts a budget to an approximate number of characters.
#[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
fn characters(budget: Budget) -> f64 {
    const A_TOKEN: f64 = 4.0;
    match budget {
        Budget::Characters(n) => n as f64,
        Budget::Tokens(n) => n as f64 * A_TOKEN,
        Budget::Share { percent, window } => window as f64 * percent / 100.0 * A_TOKEN,
    }
}

/// Returns the options of the list of skills. If the environment sets an option to an invalid value,
/// the option keeps its value and the error is added to `invalid`.
fn prompt(config: &Config, invalid: &mut Vec<Error>) -> PromptOptions {
    let mut options = config.prompt(prompt_options());
    invalid.extend(environment::limit_prompt(&mut options).err());
    options
}

/// Reports an invalid command line without failing: the author of the agent's settings is not there
/// to see it, and the agent would treat a failure as its own.
pub(crate) fn refuse(agent: &str, error: &str) {
    let out = Output { json: false, color: ColorChoice::Auto, verbose: false };
    let Ok(Cli { common, .. }) = <Cli>::try_parse_from(["repertoire", "doctor"]) else { return };
    let first = error.lines().next().unwrap_or_default().trim_start_matches("error: ");
    tell(agent, &format!("{first}; see `repertoire hook --help`"), &common, out);
}

/// Returns the findings that the log does not have yet, as text: each of a few, and how many more there are.
/// The author of a project must not fill the log, nor the time that a hook has.
fn unlogged<'a>(findings: impl Iterator<Item = &'a Diagnostic>, common: &Common) -> Vec<String> {
    const MAX_NAMED: usize = 12;
    let findings: Vec<&Diagnostic> = findings.collect();
    let named = findings.iter().take(MAX_NAMED).map(|finding| found(finding));
    let n_more = findings.len().saturating_sub(MAX_NAMED);
    let more = (n_more > 0).then(|| {
        format!("{n_more} more findings about the configuration, which `repertoire check` lists")
    });
    named.chain(more).filter(|what| !is_logged(what, common)).collect()
}

/// Formats a finding about the configuration.
fn found(finding: &Diagnostic) -> String {
    format!("{finding}; {}", finding.help)
}

/// Says in one line for a session which settings of the project are refused.
fn refused_settings(findings: &[Diagnostic], session: Option<&str>) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let refused = findings.iter().filter(|finding| finding.code == Code::RefusedSetting);
    let all: Vec<&str> = refused.map(|finding| finding.message.as_str()).collect();
    let named = all.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join("; ");
    let more = match all.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n_more => format!("; and {n_more} more, which `repertoire check` lists"),
    };
    let session = session.map(|session| format!("session {session}: ")).unwrap_or_default();
    (!all.is_empty()).then(|| format!("{session}{named}{more}"))
}

/// Tells whether the log already holds `what`: otherwise each message would add it again.
fn is_logged(what: &str, common: &Common) -> bool {
    setup::hook_log(common).is_ok_and(|path| log::has(&path, what))
}

/// Reports a problem on standard error and in the log.
fn tell(agent: impl Display, what: &str, common: &Common, out: Output) {
    let what = format!("{agent}: {what}");
    out.note(&format!("repertoire hook {}", sanitize::line(&what)));
    log::note(&what, common);
}

fn too_late(agent: HookAgent, deadline: Duration) -> Error {
    let message = format!("there was no answer within {} s", deadline.as_secs_f64());
    let help = format!(
        "see `repertoire doctor`, or give it more time: `repertoire hook install {agent} \
         --deadline 10`"
    );
    Error::new(ErrorCode::Timeout, message, help)
}

fn panicked() -> Error {
    Error::new(ErrorCode::InternalError, "the hook panicked", "report it, with its input")
}

fn failed(what: &str, error: &io::Error, help: &str) -> Error {
    Error::new(ErrorCode::ExecutionError, format!("cannot {what}: {error}"), help)
}
