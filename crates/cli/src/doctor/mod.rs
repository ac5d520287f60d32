//! `repertoire doctor`: checks the installation, and says where problems are.

mod code;
mod fetched;
mod listed;
mod page;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use repertoire::catalog::near_misses;
use repertoire::script::{self, FilesystemLevel};
use repertoire::session::Session;
use repertoire::snapshot::SnapshotFile;
use repertoire::{Catalog, Diagnostic, Engine, Severity, Source};
use repertoire_agents::HookAgent;
use repertoire_config::ConfigFile;
use repertoire_fetch::Kept;
use serde::Serialize;

use crate::args::Common;
use crate::check::agent_commands;
use crate::exit_code::ExitCode;
use crate::hook::{self, Installed};
use crate::output::Output;
use crate::sessions::{self, Place};
use crate::{agent, mcp, setup};

use code::CodeProblem;

/// The number of lines of the hooks' log that are shown.
const LOG_LINES: usize = 5;

#[derive(Serialize)]
struct Report {
    sources: Vec<SourceReport>,
    /// Sources that `config.toml` fetches from elsewhere.
    fetched: Vec<fetched::FetchedReport>,
    /// The contents in the cache that were fetched for any source on this machine.
    fetch_cache: Option<Kept>,
    config: ConfigReport,
    /// Skills that cannot be used, with reasons.
    unused: Vec<Unused>,
    /// Files that could not be read as skills.
    rejected: Vec<Diagnostic>,
    agents: Vec<AgentReport>,
    state: StateReport,
    /// Toolsets and scripts that cannot run.
    code: Vec<CodeProblem>,
    sandbox: Sandbox,
    /// Deviations that do no harm, a sentence each.
    notes: Vec<String>,
    /// Faults, a phrase each.
    broken: Vec<String>,
}

#[derive(Serialize)]
struct SourceReport {
    scope: &'static str,
    path: String,
    exists: bool,
    skills: usize,
}

#[derive(Serialize)]
struct ConfigReport {
    files: Vec<ConfigFile>,
    /// By which skills are near in meaning: the retriever's command, the name of a model, `the usual table` or
    /// `words alone`.
    meaning: String,
    findings: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Unused {
    id: String,
    status: &'static str,
    reason: String,
    path: Option<String>,
}

#[derive(Serialize)]
struct AgentReport {
    agent: &'static str,
    place: agent::Place,
    /// `no`, `yes`, `outdated`, `in vain`, `untrusted` or `unreadable`.
    hooks: &'static str,
    detail: String,
}

#[derive(Serialize)]
struct StateReport {
    sessions: FileReport,
    /// Damaged session stores that were replaced.
    set_aside: Vec<String>,
    trust: FileReport,
    hook_log: FileReport,
    last_log_lines: Vec<String>,
    snapshots: SnapshotReport,
}

#[derive(Serialize, Default)]
struct SnapshotReport {
    path: String,
    files: usize,
    /// The total size of the files, in bytes.
    size: u64,
    /// Unusable files: the next process writes them anew.
    problems: Vec<String>,
}

#[derive(Serialize, Default)]
struct FileReport {
    path: String,
    /// True if `path` is the address of a server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    server: bool,
    /// The size in bytes; `None` if there is no store yet, or it is on a server.
    size: Option<u64>,
    problem: Option<String>,
}

#[derive(Serialize)]
struct Sandbox {
    /// `None` if the sandbox cannot be tried.
    landlock: Option<bool>,
    seccomp: Option<bool>,
    /// The restriction of the file system.
    filesystem: Option<FilesystemLevel>,
}

pub(crate) fn run(common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let mut broken = Vec::new();
    let state = state(common, &mut broken)?;
    let engine = setup::engine_with_scripts(common, setup::script_options(common)?)
        .or_else(|_| setup::engine(common, |builder| builder))?;
    let rejected: Vec<Diagnostic> = engine
        .diagnostics()
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .cloned()
        .collect();
    broken.extend(rejected.iter().map(ToString::to_string));
    // A trust store that cannot be read is reported with the state.
    let store = setup::trust_store(common).unwrap_or_default();
    let code = code::problems(&engine, &store);
    let is_broken = code.iter().filter(|problem| problem.is_broken);
    broken.extend(is_broken.map(|CodeProblem { skill, what, problem, .. }| {
        format!("`{what}` of the skill `{skill}` cannot run: {problem}")
    }));
    let fetched = fetched::reports(common, &mut broken);
    let agents = agents(common, &mut broken);
    broken.extend(servers_off(common));
    let config = setup::config(common)?;
    let report = Report {
        sources: sources(common, &engine)?,
        fetched,
        fetch_cache: fetched::kept(common),
        config: ConfigReport {
            files: config.files().to_vec(),
            meaning: settings::meaning(&config),
            findings: [config.diagnostics(), &settings::unknown_skills(&engine)].concat(),
        },
        unused: unused(&engine),
        rejected,
        notes: notes(&agents, &engine.catalog(), common)
            .into_iter()
            .chain(near_misses_of(common)?)
            .chain(setup::passed_over(common))
            .collect(),
        agents,
        state,
        code,
        sandbox: sandbox(),
        broken,
    };
    if out.json {
        Output::json(&report)?;
    } else {
        out.human(page::page(&report).as_str())?;
    }
    Ok(ExitCode::done_if(report.broken.is_empty()))
}

fn sources(common: &Common, engine: &Engine) -> anyhow::Result<Vec<SourceReport>> {
    let catalog = engine.catalog();
    let report = |root: &Path, scope| {
        let is_in = |path: &Path| path.starts_with(root);
        let found = catalog.entries().filter_map(|entry| entry.skill.path());
        SourceReport {
            scope,
            path: root.display().to_string(),
            exists: root.is_dir(),
            skills: found.filter(|path| is_in(path)).count(),
        }
    };
    let sources = setup::sources(common)?;
    Ok(sources.iter().filter_map(|s| Some(report(s.root()?, s.scope().as_str()))).collect())
}

fn unused(engine: &Engine) -> Vec<Unused> {
    let catalog = engine.catalog();
    let unused = catalog.entries().filter_map(|entry| {
        Some(Unused {
            id: entry.id.to_string(),
            status: entry.status.as_str(),
            reason: entry.reason()?,
            path: entry.skill.path().map(|path| path.display().to_string()),
        })
    });
    let filtered = catalog.filtered().map(|entry| Unused {
        id: entry.id.to_string(),
        status: "filtered",
        reason: "not in the allowlist".to_owned(),
        path: entry.skill.path().map(|path| path.display().to_string()),
    });
    unused.chain(filtered).collect()
}

fn agents(common: &Common, broken: &mut Vec<String>) -> Vec<AgentReport> {
    let mut reports = Vec::new();
    for agent in HookAgent::ALL {
        // The options of the agent that runs this program count.
        let common = &common.for_agent(agent);
        for place in hook::places(agent, common) {
            let (hooks, detail) = match hook::installed(agent, place, common) {
                Installed::No | Installed::Unreadable(_) if place == agent::Place::System => {
                    continue;
                }
                Installed::No => ("no", String::new()),
                Installed::Yes(path) => ("yes", path.display().to_string()),
                Installed::Outdated(path) => ("outdated", path.display().to_string()),
                Installed::Ineffective(why) => {
                    broken.push(format!("hooks of {agent}: {why}"));
                    ("in vain", why)
                }
                Installed::Untrusted(why) => {
                    broken.push(format!("hooks of {agent}: {why}"));
                    ("untrusted", why)
                }
                Installed::Unreadable(error) => {
                    broken.push(format!("hooks of {agent}: {}", error.message()));
                    ("unreadable", error.message().to_owned())
                }
            };
            reports.push(AgentReport { agent: agent.as_str(), place, hooks, detail });
        }
    }
    reports
}

/// Returns the faults of agents that have our MCP server, and a setting that takes it away from the model.
fn servers_off(common: &Common) -> Vec<String> {
    let fault = |agent: HookAgent| {
        Some(format!("MCP server of {agent}: {}", mcp::hidden_tools(agent, common)?))
    };
    HookAgent::ALL.into_iter().filter_map(fault).collect()
}

fn notes(agents: &[AgentReport], catalog: &Catalog, common: &Common) -> Vec<String> {
    let is_set_up =
        |report: &&AgentReport| matches!(report.hooks, "yes" | "outdated" | "untrusted");
    let places = |agent: HookAgent| {
        let of_agent = agents.iter().filter(|report| report.agent == agent.as_str());
        of_agent.filter(is_set_up).map(|report| report.place).collect::<Vec<_>>()
    };
    let twice = |agent| hook::twice(agent, &places(agent), common);
    let with_hooks = HookAgent::ALL.into_iter().filter(|agent| !places(*agent).is_empty());
    let with_hooks: Vec<HookAgent> = with_hooks.collect();
    let cut = with_hooks.iter().flat_map(|agent| listed::notes(*agent, common));
    let taken = taken_commands(&with_hooks, catalog);
    // Hooks of the project without trust are told by themselves.
    let is_told = |agent: HookAgent| {
        agents.iter().any(|of| of.agent == agent.as_str() && of.hooks == "untrusted")
    };
    let silent = with_hooks.iter().copied().filter(|agent| !is_told(*agent));
    let asked = silent.filter_map(|agent| hook::untrusted_folder(agent, common));
    HookAgent::ALL.into_iter().filter_map(twice).chain(cut).chain(taken).chain(asked).collect()
}

/// Returns notes about skills whose slash command one of `agents` has by itself.
fn taken_commands(agents: &[HookAgent], catalog: &Catalog) -> Vec<String> {
    let taken = agent_commands::taken(catalog, agents).into_iter();
    taken.map(|finding| format!("{finding}; {}", finding.help)).collect()
}

/// Returns notes about files in the sources that are nearly skills.
fn near_misses_of(common: &Common) -> anyhow::Result<Vec<String>> {
    let sources = setup::sources(common)?;
    let found = sources.iter().filter_map(Source::root).flat_map(near_misses);
    Ok(found.map(|finding| format!("{finding}; {}", finding.help)).collect())
}

fn state(common: &Common, broken: &mut Vec<String>) -> anyhow::Result<StateReport> {
    let (sessions, set_aside) = sessions(common)?;
    let mut trust = file(&setup::trust_file(common)?);
    trust.problem = setup::trust_store(common).err().map(|error| error.message().to_owned());
    let log = setup::hook_log(common)?;
    let mut hook_log = file(&log);
    let last_log_lines = hook::tail(&log, LOG_LINES).unwrap_or_else(|error| {
        hook_log.problem = Some(error.to_string());
        Vec::new()
    });
    let problems = [&sessions, &trust, &hook_log].into_iter().filter_map(|f| f.problem.clone());
    broken.extend(problems);
    let dirs = [Some(setup::state_dir(common)?), setup::cache_dir(common)];
    broken.extend(dirs.into_iter().flatten().filter_map(|dir| unwritable(&dir)));
    let snapshots = snapshots(common);
    Ok(StateReport { sessions, set_aside, trust, hook_log, last_log_lines, snapshots })
}

/// Checks the session store, and lists the damaged files beside it.
fn sessions(common: &Common) -> anyhow::Result<(FileReport, Vec<String>)> {
    let place = Place::of(&setup::config(common)?, common)?;
    let problem = |place: Place| {
        let store = sessions::open_at(place, common);
        let state = store.and_then(|store| Session::new("doctor", store).state());
        state.err().map(|error| error.message().to_owned())
    };
    if let Place::File(path, _) = &place {
        let (path, mut report) = (path.clone(), file(path));
        // A check must not create anything: a store that does not exist yet is fine.
        if report.size.is_some() {
            report.problem = problem(place);
        }
        return Ok((report, set_aside(&path)));
    }
    let (path, server) = (place.shown(), true);
    Ok((FileReport { path, server, size: None, problem: problem(place) }, Vec::new()))
}

fn snapshots(common: &Common) -> SnapshotReport {
    let Some(cache) = setup::snapshots(common) else { return SnapshotReport::default() };
    let path = cache.dir().display().to_string();
    let files = match cache.files() {
        Ok(files) => files,
        Err(error) => {
            let problems = vec![format!("{path} cannot be read: {error}")];
            return SnapshotReport { path, problems, ..SnapshotReport::default() };
        }
    };
    let problem = |file: &SnapshotFile| {
        let problem = file.problem.as_ref()?;
        Some(format!("{} is not used: {problem}", file.path.display()))
    };
    SnapshotReport {
        path,
        files: files.len(),
        size: files.iter().map(|file| file.size).sum(),
        problems: files.iter().filter_map(problem).collect(),
    }
}

/// Explains why no file can be written below `dir`, which need not exist yet; `None` if one can.
/// Creates nothing.
fn unwritable(dir: &Path) -> Option<String> {
    let nearest = dir.ancestors().find(|dir| dir.symlink_metadata().is_ok())?;
    if !nearest.is_dir() {
        return Some(format!("{} is not a directory", nearest.display()));
    }
    #[cfg(unix)]
    {
        use rustix::fs::Access;
        let error = rustix::fs::access(nearest, Access::WRITE_OK | Access::EXEC_OK).err()?;
        Some(format!("nothing can be written to {}: {error}", nearest.display()))
    }
    #[cfg(not(unix))]
    None
}

fn file(path: &Path) -> FileReport {
    let size = fs::metadata(path).ok().map(|metadata| metadata.len());
    FileReport { path: path.display().to_string(), size, ..FileReport::default() }
}

fn set_aside(sessions: &Path) -> Vec<String> {
    let name = sessions.file_name().unwrap_or_default().to_string_lossy();
    let start = format!("{name}.damaged-");
    let dir = sessions.parent().and_then(|dir| fs::read_dir(dir).ok());
    let files = dir.into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = files
        .filter(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            // The files that SQLite keeps beside a store are part of it.
            name.starts_with(&start) && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .map(|file| file.path())
        .collect();
    files.sort();
    files.iter().map(|path| path.display().to_string()).collect()
}

/// Reports the sandbox that scripts get.
fn sandbox() -> Sandbox {
    let level = script::sandbox().ok();
    let filesystem = level.map(|level| level.filesystem);
    let landlock = filesystem.map(|filesystem| filesystem > FilesystemLevel::None);
    Sandbox { landlock, seccomp: level.map(|level| level.contained), filesystem }
}
