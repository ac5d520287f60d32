//! `repertoire check`: reports the problems of skill files.

pub(crate) mod agent_commands;
mod examples;
mod fix;
mod report;
mod sarif;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use repertoire::catalog::{
    Catalog, CatalogOptions, Scope, is_skill_file, near_misses, skill_files,
};
use repertoire::session::{Day, SessionStore as _};
use repertoire::skill::{Profile, check_file};
use repertoire::{Code, Diagnostic, Engine, Severity, Source};
use repertoire_agents::HookAgent;
use repertoire_authoring::lint::{self, lint};

use self::examples::{Measured, Routed};
use self::report::Report;
use crate::args::{CheckArgs, Common};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{progress_bar, sessions, setup};

/// With more files than this, a progress bar is shown.
const MANY_FILES: usize = 200;

/// The files to check.
#[derive(Default)]
struct Targets {
    files: BTreeSet<PathBuf>,
    /// Sources that were searched, lowest precedence first.
    sources: Vec<Source>,
    /// Directories whose skills the checked ones are compared with. Their precedence is lower.
    neighbours: Vec<PathBuf>,
    /// Findings made before any skill file was read.
    diagnostics: Vec<Diagnostic>,
}

impl Targets {
    /// Adds the skill files at `path`. If that is a directory, also adds the files in the hidden
    /// directories where a project keeps its skills. A directory that is a source of this machine is read
    /// as that source, with its links.
    fn add(&mut self, path: &Path, known: &[Source], common: &Common) {
        if !path.exists() {
            let help = "name a `SKILL.md`, a skill's directory, or a directory of skills";
            let missing = Diagnostic::new(Code::MissingSource, path, "path does not exist", help);
            self.diagnostics.push(missing);
        } else if path.is_dir() && !path.file_name().is_some_and(is_skill_file) {
            let is_it = |source: &&Source| source.root().map(absolute) == Some(absolute(path));
            let named = match known.iter().rev().find(is_it).map(Source::scope) {
                Some(Scope::User) => Source::user(path),
                _ => setup::named_source(path, common),
            };
            let hidden = Source::standard(None, path, &common.brand).into_iter();
            let all: Vec<Source> = std::iter::once(named).chain(hidden).collect();
            for source in &all {
                self.add_near_misses(source);
            }
            let exists = |source: &Source| source.root().is_some_and(Path::is_dir);
            let all: Vec<Source> = all.into_iter().filter(exists).collect();
            for source in &all {
                self.add_source(source, &all);
            }
        } else {
            self.files.insert(path.to_owned());
        }
    }

    /// Adds findings about what is nearly a skill of `source`.
    fn add_near_misses(&mut self, source: &Source) {
        self.diagnostics.extend(source.root().into_iter().flat_map(near_misses));
    }

    /// Adds the skill files of `source`, one of the sources `among`.
    fn add_source(&mut self, source: &Source, among: &[Source]) {
        if source.root().is_some_and(Path::is_dir) {
            let (files, findings) = skill_files(source, among);
            self.files.extend(files);
            self.diagnostics.extend(findings);
        }
        self.sources.push(source.clone());
    }

    /// Adds the sources that apply. A source that does not exist is added only if `are_asked_for` is
    /// set. Bundled skills only become neighbours, since the user cannot repair them.
    fn add_sources(&mut self, sources: &[Source], are_asked_for: bool) {
        for source in sources {
            self.add_near_misses(source);
            let Some(root) = source.root().filter(|root| are_asked_for || root.exists()) else {
                continue;
            };
            if source.scope() == Scope::Bundled {
                self.neighbours.push(root.to_owned());
            } else {
                self.add_source(source, sources);
            }
        }
    }

    /// Returns the findings that need several skills side by side, and the figures of the examples. The
    /// targets are compared with their neighbours and with the sources that the command line names; only
    /// findings about targets are returned.
    fn cross_skill_findings(&self, args: &CheckArgs, common: &Common) -> anyhow::Result<Routed> {
        let of_files = self.files.iter().filter_map(|file| file.parent());
        let named = [&common.sources, &self.neighbours].into_iter().flatten();
        let named = named.map(PathBuf::as_path).chain(of_files).map(Source::project);
        let sources = outermost(named.chain(self.sources.iter().cloned()));
        let mut options = CatalogOptions::new(sources.clone());
        options.brand.clone_from(&common.brand);
        let catalog = Catalog::load(&options);
        let codes = [Code::Shadowed, Code::PathNotUnicode, Code::MissingSource];
        let of_catalog = catalog.diagnostics().iter().filter(|d| codes.contains(&d.code)).cloned();
        let targets = self
            .files
            .iter()
            .map(PathBuf::as_path)
            .chain(self.sources.iter().filter_map(Source::root));
        let targets: BTreeSet<PathBuf> = targets.map(absolute).collect();
        let mut found: Vec<Diagnostic> = of_catalog.chain(lint(&catalog)).collect();
        if args.stats {
            found.extend(unused(args, &catalog, common)?);
        }
        if args.profile == Profile::Untrusted {
            found.extend(lint::confusable(&catalog));
        }
        // Most files require nothing, so that most checks need no engine.
        let installed = std::cell::OnceCell::new();
        found.extend(lint::missing(&catalog, |name| {
            let engine = installed.get_or_init(|| setup::engine(common, |builder| builder).ok());
            engine.as_ref().is_some_and(|engine| engine.catalog().find_any(name).is_ok())
        }));
        found.extend(agent_commands::taken(&catalog, &HookAgent::ALL));
        let is_checked = |path: &Path| targets.contains(&absolute(path));
        found.retain(|diagnostic| is_checked(&diagnostic.path));
        let engine = Engine::builder().sources(sources).brand(&common.brand);
        let mut routed = examples::route(&catalog, is_checked, engine)?;
        routed.findings.append(&mut found);
        Ok(routed)
    }
}

/// Returns the findings about settings that name no skill.
fn unknown_skills(common: &Common) -> anyhow::Result<Vec<Diagnostic>> {
    let diagnostics = setup::engine(common, |builder| builder)?.diagnostics();
    let is_unknown = |finding: &&Diagnostic| finding.code == Code::UnknownSkill;
    Ok(diagnostics.iter().filter(is_unknown).cloned().collect())
}

/// Reports the skills that had no effect in conversations. If the command line names no paths, these
/// are skills of the engine, with the ids under which agents see them here.
fn unused(args: &CheckArgs, named: &Catalog, common: &Common) -> anyhow::Result<Vec<Diagnostic>> {
    let since = Day::today().before(args.since - 1);
    let Some(store) = sessions::open_existing(common)? else { return Ok(Vec::new()) };
    let tallies = store.tallies(since)?;
    if !args.paths.is_empty() {
        return Ok(lint::unused(named, &tallies, since));
    }
    let engine = setup::engine(common, |builder| builder)?;
    Ok(lint::unused(&engine.catalog(), &tallies, since))
}

/// Returns the sources that no search of another one of them reaches, in their order. Of sources with the
/// same root, returns the last.
fn outermost(sources: impl Iterator<Item = Source>) -> Vec<Source> {
    let mut all: Vec<(PathBuf, Source)> = Vec::new();
    for source in sources {
        let Some(real) = source.root().map(absolute) else { continue };
        if !all.iter().any(|(known, _)| *known != real && covers(known, &real)) {
            all.retain(|(known, _)| !covers(&real, known));
            all.push((real, source));
        }
    }
    all.into_iter().map(|(_, source)| source).collect()
}

/// Tells whether a search of `outer` reaches `inner`. A search skips hidden directories.
fn covers(outer: &Path, inner: &Path) -> bool {
    let is_hidden = |part: &OsStr| part.to_string_lossy().starts_with('.');
    inner.strip_prefix(outer).is_ok_and(|rest| !rest.iter().any(is_hidden))
}

/// Returns the canonical form of `path`, or `path` itself if the system cannot resolve it.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn run(args: &CheckArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let mut targets = Targets::default();
    let sources = setup::sources(common)?;
    if args.paths.is_empty() {
        targets.diagnostics.extend_from_slice(setup::config(common)?.diagnostics());
        targets.diagnostics.extend(unknown_skills(common)?);
        targets.add_sources(&sources, !common.sources.is_empty());
    } else {
        args.paths.iter().for_each(|path| targets.add(path, &sources, common));
    }

    // First, so that the findings are those of the files as they are now.
    let fixed = args.fix.then(|| fix::fix(&targets.files)).transpose()?;
    let (diagnostics, examples) = findings(&mut targets, args, common)?;
    let fail_on = args.fail_on.unwrap_or(match args.profile {
        Profile::Untrusted => Severity::Warning,
        _ => Severity::Error,
    });
    let is_fine = diagnostics.iter().all(|diagnostic| diagnostic.severity < fail_on);
    let skills = targets.files.len();
    let with_notes = args.notes || fail_on == Severity::Note;
    let report = Report { diagnostics, skills, unknown_keys: 0, examples, fixed };
    report.print(&args.format, with_notes, out)?;
    if skills == 0 {
        out.note(if args.paths.is_empty() {
            "nothing was checked: neither project nor user has skills; name a `PATH` to check others"
        } else {
            "nothing was checked: there is no `SKILL.md` in what was named"
        });
    }
    Ok(ExitCode::done_if(is_fine))
}

/// Returns all findings about the targets, in the order of files and lines, and the figures of examples.
fn findings(
    targets: &mut Targets,
    args: &CheckArgs,
    common: &Common,
) -> anyhow::Result<(Vec<Diagnostic>, Measured)> {
    let Routed { findings: mut diagnostics, measured } =
        targets.cross_skill_findings(args, common)?;
    diagnostics.append(&mut targets.diagnostics);
    let progress = progress_bar::counting("checking", targets.files.len(), MANY_FILES);
    for file in &targets.files {
        diagnostics.extend(check_file(file, args.profile, &common.brand));
        progress.inc(1);
    }
    progress.finish_and_clear();
    diagnostics.sort_by(|a, b| {
        (&a.path, a.line, a.column, a.code).cmp(&(&b.path, b.line, b.column, b.code))
    });
    diagnostics.dedup();
    Ok((diagnostics, measured))
}
