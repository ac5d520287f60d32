//! Builds an engine from the options that every command has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use etcetera::base_strategy::BaseStrategy as _;
use repertoire::catalog::SkillChoice;
use repertoire::disclosure::NativeSkills;
use repertoire::engine::Subscription;
use repertoire::script::ScriptOptions;
use repertoire::toolset::{HostProgram, ToolsetOptions};
use repertoire::trust::TrustStore;
use repertoire::{
    Allowlist, Catalog, Code, Diagnostic, Engine, EngineBuilder, Error, HowToLoad, Severity,
    SnapshotCache, Source, Watch, WatchOptions,
};
use repertoire_agents::{AgentState, HookAgent, Start};
use repertoire_config::{Config, ConfigPlace, PlacedCopy};
use repertoire_fetch::Fetcher;

use crate::args::{Common, IsolationArgs, Refresh};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{agent_options, bundled, dirs, progress_bar, report, sanitize};

pub(crate) use crate::dirs::{
    cache_dir, config_home, data_dir, directories, home, hook_log, models, passed_over,
    project_dir, project_here, project_of, sessions_file, state_dir, trust_file, working_dir_here,
};

/// The hidden subcommand that hosts a library in a process of its own.
pub(crate) const TOOLSET_HOST: &str = "toolset-host";

/// Returns the configuration of the user and the project, with any sources of the command line.
pub(crate) fn config(common: &Common) -> Result<Config, Error> {
    let config = settings(common)?;
    if common.sources.is_empty() {
        let of_agent = agent_state(common).map(|(_, state)| state.sources(&common.project));
        let config = config.with_agent_sources(of_agent.unwrap_or_default());
        return Ok(match fetcher_without_policy(common) {
            Some(fetcher) => fetcher.apply(config),
            None => config,
        });
    }
    Ok(config.with_sources(common.sources.iter().map(|root| named_source(root, common)).collect()))
}

/// Returns the configuration of the user and the project, without the sources of an agent or of the command line.
pub(crate) fn settings(common: &Common) -> Result<Config, Error> {
    project_dir(common)?;
    let config = Config::load(&config_place(common));
    let config = config.for_agent(common.agent.or(common.served).map(HookAgent::as_str));
    Ok(match models(common) {
        Ok(models) => config.with_models(&models),
        Err(_) => config,
    })
}

/// Returns the source of a directory that the command line names. Its author may be a stranger, so its
/// links may lead into the project only if it is a part of the project.
pub(crate) fn named_source(root: &Path, common: &Common) -> Source {
    let real = |path: &Path| path.canonicalize().ok();
    let inside =
        real(&common.project).zip(real(root)).filter(|(project, root)| root.starts_with(project));
    match inside {
        Some((project, _)) => Source::from(root).allow_links_into(project),
        None => Source::from(root),
    }
}

/// Returns the agent whose skills and settings count, if there is one, and its state.
pub(crate) fn agent_state(common: &Common) -> Option<(HookAgent, &AgentState)> {
    let agent = common.agent?;
    // Its files are read once, however many parts of a command ask.
    Some((agent, common.agent_state.get_or_init(|| agent.state(&start(common)))))
}

/// Returns the skills that the agent lists by itself, if an agent counts. Fetched skills with a copy in one
/// of its directories are among them.
pub(crate) fn native_skills(common: &Common, config: &Config) -> Option<NativeSkills> {
    let (agent, state) = agent_state(common)?;
    let mut native = state.native_skills(agent);
    for PlacedCopy { original, path } in config.placed() {
        if native.reads(path)
            && let (Ok(original), Some(name)) = (original.canonicalize(), path.file_name())
        {
            native.linked.insert(original, name.to_string_lossy().into_owned());
        }
    }
    Some(native)
}

/// Returns the place and the environment in which an agent starts.
pub(crate) fn start(common: &Common) -> Start {
    let variable = |name| Some((name, std::env::var_os(name)?));
    Start {
        home: home(),
        config_home: directories().map(|dirs| dirs.config_dir()),
        project: common.project.clone(),
        dir: common.started_in.as_ref().unwrap_or(&common.working_dir).clone(),
        variables: Start::VARIABLES.into_iter().filter_map(variable).collect(),
        environment: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        options: common.agent.map(agent_options::of).unwrap_or_default(),
        system: PathBuf::from(std::path::MAIN_SEPARATOR_STR),
    }
}

/// Returns the directories and the brand by which the configuration is found.
pub(crate) fn config_place(common: &Common) -> ConfigPlace {
    ConfigPlace {
        home: home(),
        project: common.project.clone(),
        working_dir: common.working_dir.clone(),
        brand: common.brand.clone(),
    }
}

/// Returns the fetcher of skills from elsewhere, with the user's policy about signatures; `None`
/// without a home directory.
pub(crate) fn fetcher(common: &Common) -> Option<Fetcher> {
    let policy = || Config::load(&config_place(common)).signatures();
    fetcher_without_policy(common).map(|fetcher| fetcher.signatures(policy()))
}

/// Returns the fetcher without the user's policy about signatures; `None` without a home directory.
/// It is for callers that take the policy from a configuration they read themselves:
/// `Fetcher::apply`, which hooks call, and pollers, whose policy may change while they run.
pub(crate) fn fetcher_without_policy(common: &Common) -> Option<Fetcher> {
    let cache = cache_dir(common)?.join("fetch");
    let fetcher = Fetcher::new(cache).installed_in(data_dir(common)?);
    let user = Config::path(&home()?, &common.brand);
    // Without a home for them, copies of an earlier version stay where they are until the next run.
    let moved = fetcher.migrate(user.parent().unwrap_or(&user)).unwrap_or_default();
    if let (false, Ok(store)) = (moved.is_empty(), trust_store(common)) {
        for (from, to) in moved {
            let _ = store.moved(&from, &to);
        }
    }
    Some(fetcher)
}

/// Returns the sources, lowest precedence first.
pub(crate) fn sources(common: &Common) -> Result<Vec<Source>, Error> {
    let config = config(common)?;
    Ok(bundled_source(common).into_iter().chain(config.sources()).collect())
}

/// Returns the source of bundled skills. If the command line names sources, bundled skills are
/// included only with `--bundled`.
fn bundled_source(common: &Common) -> Option<Source> {
    let is_wanted = common.sources.is_empty() || common.bundled == Some(true);
    is_wanted.then(|| bundled::dir(common)).flatten().map(Source::bundled)
}

/// Explains why bundled skills are off, although they exist.
fn bundled_off(common: &Common, config: &Config) -> Option<String> {
    bundled_source(common)?;
    match common.bundled {
        Some(true) => None,
        Some(false) => Some("bundled skills are off (`--bundled=off`)".to_owned()),
        None => config.bundled_off(common.channel),
    }
}

/// Returns the sentence with which lists of this program say how to load a skill.
pub(crate) fn how_to_load() -> HowToLoad {
    HowToLoad::Sentence("Load one with `repertoire use ID`.".to_owned())
}

/// Returns the id of the skill that the user means by `name` if that is the path of its directory or file
/// from the working directory; otherwise `name`.
pub(crate) fn skill_name<'a>(catalog: &'a Catalog, name: &'a str) -> &'a str {
    let Ok(wanted) = Path::new(name).canonicalize() else { return name };
    if catalog.find_any(name).is_ok() {
        return name;
    }
    let is_wanted = |path: &Path| path.canonicalize().is_ok_and(|path| path == wanted);
    let mut entries = catalog.entries().filter(|entry| !entry.is_shadowed());
    let meant = entries
        .find(|entry| [entry.skill.dir(), entry.skill.path()].into_iter().flatten().any(is_wanted));
    meant.map_or(name, |entry| entry.id.as_str())
}

/// Builds an engine that uses the snapshot cache; `options` adds further settings.
pub(crate) fn engine(
    common: &Common,
    options: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> anyhow::Result<Engine> {
    engine_without_cache(common, |builder| options(with_cache(builder, common)))
}

/// Builds an engine that reads all skills instead of a snapshot, for commands that run their code
/// once.
fn engine_without_cache(
    common: &Common,
    options: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> anyhow::Result<Engine> {
    silent_engine(common, |builder| progress_bar::with_progress(options(builder)))
}

/// Builds an engine without progress reports.
fn silent_engine(
    common: &Common,
    options: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> anyhow::Result<Engine> {
    let config = config(common)?;
    Ok(options(with_skills(Engine::builder(), common, &config)).build()?)
}

/// Adds the skills of the command line, and the settings that `config` has for all skills.
pub(crate) fn with_skills(
    builder: EngineBuilder,
    common: &Common,
    config: &Config,
) -> EngineBuilder {
    let allow = (!common.allow.is_empty()).then_some(common.allow.as_slice());
    let builder = config
        .apply(builder.sources(bundled_source(common)))
        .allow(Allowlist::from_entries(allow))
        .choose(common.enable.iter().map(SkillChoice::on))
        .rules(agent_state(common).map(|(agent, state)| state.rules(agent)).unwrap_or_default());
    match bundled_off(common, config) {
        Some(reason) => builder.bundled_off(reason),
        None => builder,
    }
}

/// Lets the engine use snapshots, unless `--no-cache` declines them.
pub(crate) fn with_cache(builder: EngineBuilder, common: &Common) -> EngineBuilder {
    match snapshots(common) {
        Some(cache) if !common.no_cache => builder.cache(cache),
        _ => builder,
    }
}

/// Returns the snapshot cache; `None` without a home directory.
pub(crate) fn snapshots(common: &Common) -> Option<SnapshotCache> {
    Some(SnapshotCache::new(cache_dir(common)?.join("snapshots")))
}

/// Builds the engine of the command line, with the tools of its skills.
pub(crate) fn engine_with_tools(
    common: &Common,
    isolation: &IsolationArgs,
) -> anyhow::Result<Engine> {
    let toolsets = cached_toolset_options_in(common, isolation)?;
    let trust = Arc::new(trust_store(common)?);
    engine_without_cache(common, |builder| builder.toolsets(toolsets).trust(trust).meaning(None))
}

/// Returns the options for scripts, from the configuration. Scripts cannot read what this program
/// records, its cache, and its lock files beside copies of skills: with a lock on one of these files, a script would
/// hold up every later command.
pub(crate) fn script_options(common: &Common) -> Result<ScriptOptions, Error> {
    let mut options = config(common)?.scripts(ScriptOptions::default());
    options.hidden.extend(state_dir(common));
    options.hidden.extend(cache_dir(common));
    options.hidden.extend(data_dir(common).iter().flat_map(|data| dirs::lock_files(data)));
    Ok(options)
}

/// Builds the engine of the command line, with the scripts of its skills.
pub(crate) fn engine_with_scripts(
    common: &Common,
    options: ScriptOptions,
) -> anyhow::Result<Engine> {
    let trust = Arc::new(trust_store(common)?);
    engine_without_cache(common, |builder| builder.scripts(options).trust(trust).meaning(None))
}

/// Builds the engine of a server, with toolsets and scripts; `options` adds further settings. If it cannot be read
/// what the user trusts and refused, the server has the texts of skills and runs no code, and standard error says so.
pub(crate) fn engine_with_everything(
    common: &Common,
    scripts: ScriptOptions,
    options: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> anyhow::Result<Engine> {
    let toolsets = cached_toolset_options(common)?;
    let trust = trust_store(common).inspect_err(|error| {
        let line = format!("no code of skills runs: {error}");
        Output::of(common).note(&sanitize::line(&line));
    });
    silent_engine(common, |builder| {
        let builder = with_cache(builder, common);
        options(match trust {
            Ok(trust) => builder.toolsets(toolsets).scripts(scripts).trust(Arc::new(trust)),
            Err(_) => builder,
        })
    })
}

/// Refreshes changed skills, and reports those that no longer load, as long as the returned guards
/// live.
pub(crate) fn watch(
    engine: &Engine,
    refresh: Refresh,
    out: Output,
) -> Result<Option<(Watch, Subscription)>, Error> {
    let options = match refresh {
        Refresh::Off => return Ok(None),
        Refresh::Watch => WatchOptions::default(),
        Refresh::Every(poll) => {
            let mut options = WatchOptions::default();
            (options.events, options.poll) = (false, poll);
            options
        }
    };
    let subscription = tell_kept(engine, out);
    Ok(Some((engine.watch(options)?, subscription)))
}

/// Reports each skill whose changed file does not load, so that the earlier state is kept, with all
/// findings about the file; each finding is reported once.
fn tell_kept(engine: &Engine, out: Output) -> Subscription {
    let told = Mutex::new(BTreeSet::new());
    let asked = engine.clone();
    engine.subscribe(move |_| {
        let diagnostics = asked.diagnostics();
        let kept = diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::KeptBefore);
        let files: BTreeSet<&Path> = kept.map(|diagnostic| diagnostic.path.as_path()).collect();
        let kept = diagnostics.iter().filter(|finding| files.contains(finding.path.as_path()));
        let kept: BTreeSet<String> = kept.map(report::short).collect();
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        for line in kept.difference(&told) {
            out.note(line);
        }
        *told = kept;
    })
}

/// Returns the options for libraries, with a cache of copies that later processes reuse.
fn cached_toolset_options_in(
    common: &Common,
    isolation: &IsolationArgs,
) -> anyhow::Result<ToolsetOptions> {
    let mut options = config(common)?.toolsets(toolset_options(isolation)?);
    options.cache = toolset_cache(common);
    Ok(options)
}

/// Returns the directory of private copies of toolsets; `None` without a home directory.
pub(crate) fn toolset_cache(common: &Common) -> Option<PathBuf> {
    cache_dir(common).map(|dir| dir.join("plugins"))
}

/// Returns the options for libraries that run in children of this binary, with the cache of copies.
pub(crate) fn cached_toolset_options(common: &Common) -> anyhow::Result<ToolsetOptions> {
    cached_toolset_options_in(common, &IsolationArgs { in_process: false })
}

/// Returns the options for libraries: in children of this binary, unless `--in-process` is given.
pub(crate) fn toolset_options(isolation: &IsolationArgs) -> anyhow::Result<ToolsetOptions> {
    if isolation.in_process {
        return Ok(ToolsetOptions::in_process());
    }
    let program = std::env::current_exe()?;
    Ok(ToolsetOptions::in_processes_of(HostProgram { program, args: vec![TOOLSET_HOST.into()] }))
}

/// Returns the store of trusted files.
pub(crate) fn trust_store(common: &Common) -> Result<TrustStore, Error> {
    TrustStore::open(trust_file(common)?)
}

/// Says what the failure of a retriever means.
pub(crate) fn ranked_by_words(failure: &str) -> String {
    format!("skills were ranked by words alone: {failure}")
}

/// Iterates over the errors of the sources that were named explicitly.
fn source_failures<'a>(
    common: &'a Common,
    diagnostics: &'a [Diagnostic],
) -> impl Iterator<Item = &'a Diagnostic> {
    diagnostics.iter().filter(|diagnostic| {
        let is_source = common.sources.contains(&diagnostic.path);
        diagnostic.code == Code::MissingSource
            || (is_source && diagnostic.severity == Severity::Error)
    })
}

/// Returns `Failure` if a source that was named explicitly could not be used, otherwise `Done`.
pub(crate) fn exit_code(common: &Common, engine: &Engine) -> ExitCode {
    ExitCode::done_if(source_failures(common, &engine.diagnostics()).next().is_none())
}

/// Reports the sources that could not be used, and a retriever that failed, and returns the exit code.
pub(crate) fn finish(common: &Common, engine: &Engine, out: Output) -> ExitCode {
    if let Some(failure) = engine.retriever_failure() {
        out.note(&sanitize::line(&ranked_by_words(&failure)));
    }
    for failure in source_failures(common, &engine.diagnostics()) {
        out.note(&report::short(failure));
    }
    exit_code(common, engine)
}
