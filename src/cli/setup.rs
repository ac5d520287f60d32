//! From the options of every command to an engine.

use std::path::{Path, PathBuf};

use repertoire::{
    Allowlist, Code, Diagnostic, Engine, EngineBuilder, Error, ErrorCode, Severity, Source,
};

use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::report;

/// The sources of the command line, lowest precedence first.
pub(crate) fn sources(common: &Common) -> Result<Vec<Source>, Error> {
    if !common.project.is_dir() {
        return Err(Error::new(
            ErrorCode::NotFound,
            format!("the project {} is not a directory", common.project.display()),
            "name the project's directory with `--project DIR`",
        ));
    }
    if !common.sources.is_empty() {
        return Ok(common.sources.iter().map(Source::project).collect());
    }
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let mut sources: Vec<Source> = bundled_dir().map(Source::bundled).into_iter().collect();
    sources.extend(Source::standard(home.as_deref(), &common.project, &common.brand));
    Ok(sources)
}

/// The skills that come with this binary.
fn bundled_dir() -> Option<PathBuf> {
    let installed = std::env::current_exe().ok().and_then(|exe| {
        Some(exe.parent()?.parent()?.join("share").join("repertoire").join("skills"))
    });
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    installed.into_iter().chain([built]).find(|dir| dir.is_dir())
}

/// The engine of the command line, with what `options` adds.
pub(crate) fn engine(
    common: &Common,
    options: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> anyhow::Result<Engine> {
    let allow = (!common.allow.is_empty()).then_some(common.allow.as_slice());
    let builder = Engine::builder()
        .sources(sources(common)?)
        .brand(&common.brand)
        .allow(Allowlist::from_entries(allow))
        .enable_all(common.enable.iter().cloned().collect());
    Ok(options(builder).build()?)
}

/// What is wrong with a whole source that was asked for by name.
fn source_failures<'a>(
    common: &'a Common,
    engine: &'a Engine,
) -> impl Iterator<Item = &'a Diagnostic> {
    engine.diagnostics().iter().filter(|diagnostic| {
        let is_source = common.sources.contains(&diagnostic.path);
        diagnostic.code == Code::MissingSource
            || (is_source && diagnostic.severity == Severity::Error)
    })
}

/// The exit code of a command that did what it could with the sources it has.
pub(crate) fn exit_code(common: &Common, engine: &Engine) -> ExitCode {
    ExitCode::done_if(source_failures(common, engine).next().is_none())
}

/// Tells which sources could not be used, and gives the exit code that goes with it.
pub(crate) fn finish(common: &Common, engine: &Engine, out: Output) -> ExitCode {
    for failure in source_failures(common, engine) {
        out.note(&report::short(failure));
    }
    exit_code(common, engine)
}
