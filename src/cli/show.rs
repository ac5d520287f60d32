//! `repertoire show`: all there is to know about one skill.

use std::path::Path;
use std::sync::Arc;

use repertoire::catalog::{Audience, Entry, is_skill_file};
use repertoire::script::{Script, ScriptOptions, Scripts};
use repertoire::trust::Owner;
use repertoire::{Diagnostic, Engine, Error, ErrorCode};
use serde_json::{Value as Json, json};
use walkdir::{DirEntry, WalkDir};

use crate::args::{Common, ShowArgs};
use crate::exit_code::ExitCode;
use crate::list::{Listed, reason, status, trigger_kinds};
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::report::{count, short};
use crate::{sanitize, setup};

/// So many files of a skill are named, the rest is counted.
const MAX_FILES: usize = 1000;

/// What is shown besides what the catalog knows.
struct Details<'a> {
    files: Vec<String>,
    n_more_files: usize,
    body_bytes: Option<usize>,
    scripts: Vec<Script>,
    sub_skills: Vec<&'a Entry>,
    diagnostics: Vec<&'a Diagnostic>,
}

pub(crate) fn run(args: &ShowArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    let entry = match engine.catalog().find_any(&args.id) {
        Ok(entry) => entry,
        Err(error) => {
            setup::finish(common, &engine, out);
            return Err(error.into());
        }
    };
    let details = details(&engine, entry);
    if let Some(name) = &args.script {
        script(entry, &details.scripts, name, out)?;
    } else if out.json {
        Output::json(&to_json(entry, &details)?)?;
    } else {
        out.human(text(entry, &details).as_str())?;
    }
    Ok(setup::finish(common, &engine, out))
}

/// Shows one script, by its path or its path in `scripts/`.
fn script(entry: &Entry, scripts: &[Script], name: &str, out: Output) -> anyhow::Result<()> {
    let is_meant = |script: &&Script| {
        script.path == name || script.path.strip_prefix("scripts/") == Some(name)
    };
    let script = scripts.iter().find(is_meant).ok_or_else(|| {
        let message = format!("skill `{}` has no script `{name}`", entry.id);
        let paths: Vec<&str> = scripts.iter().map(|script| script.path.as_str()).collect();
        let help = if paths.is_empty() { "none".to_owned() } else { paths.join(", ") };
        Error::new(ErrorCode::NotFound, message, format!("it has {help}"))
    })?;
    if out.json {
        Output::json(script)?;
        return Ok(());
    }
    let mut text = Page::default();
    let runner = script.interpreter.as_deref().unwrap_or("a program itself");
    let (style, how) = match &script.problem {
        Some(problem) => (WARNING, problem.as_str()),
        None => (DIM, runner),
    };
    let path = styled(NAME, sanitize::line(&script.path));
    text.line(format_args!("{path}  {}", styled(style, sanitize::line(how))));
    if let Some(help) = &script.help {
        text.line(format_args!("\n{}", sanitize::text(help)));
    }
    out.human(text.as_str())?;
    Ok(())
}

/// The fields of `list`, and the details.
fn to_json(entry: &Entry, details: &Details<'_>) -> serde_json::Result<Json> {
    let sub_skills = details.sub_skills.iter();
    let mut json = serde_json::to_value(Listed::from(entry))?;
    json["manifest"] = entry.skill.manifest().to_json();
    json["files"] = json!(details.files);
    json["more_files"] = details.n_more_files.into();
    json["body_bytes"] = details.body_bytes.into();
    json["scripts"] = json!(details.scripts);
    json["sub_skills"] =
        sub_skills.map(|sub| json!({"id": sub.id, "brief": sub.skill.brief()})).collect();
    json["diagnostics"] = json!(details.diagnostics);
    Ok(json)
}

fn details<'a>(engine: &'a Engine, entry: &'a Entry) -> Details<'a> {
    let catalog = engine.catalog();
    let (files, n_more_files) = entry.skill.dir().map(files).unwrap_or_default();
    let path = entry.skill.path();
    // A skill is shown to the operator, who sees what either audience sees.
    let mut sub_skills: Vec<&Entry> = catalog.sub_skills(entry, Audience::User).collect();
    sub_skills.extend(catalog.sub_skills(entry, Audience::Model));
    sub_skills.sort_by(|a, b| a.id.cmp(&b.id));
    sub_skills.dedup_by(|a, b| a.id == b.id);
    // Also of a skill that cannot be used; what is wrong with its directory shows in its files.
    let scripts = Owner::of(entry)
        .and_then(|owner| Scripts::new(ScriptOptions::default(), Arc::default()).list(&owner).ok());
    Details {
        scripts: scripts.unwrap_or_default(),
        files,
        n_more_files,
        body_bytes: entry.skill.body().ok().map(str::len),
        sub_skills,
        diagnostics: catalog
            .diagnostics()
            .iter()
            .filter(|diagnostic| path.is_some_and(|path| path == diagnostic.path))
            .collect(),
    }
}

/// The files of the skill in `dir`, relative to it and sorted, and how many there are beyond the
/// limit.
fn files(dir: &Path) -> (Vec<String>, usize) {
    let is_own = |entry: &DirEntry| {
        let name = entry.file_name().as_encoded_bytes();
        let is_dir = entry.file_type().is_dir();
        entry.depth() == 0
            || !(is_dir && (name == b".git" || name == b"node_modules" || is_skill(entry.path())))
    };
    let mut files = Vec::new();
    let walk = WalkDir::new(dir).sort_by_file_name().into_iter().filter_entry(is_own);
    // What cannot be read was reported when the catalog was loaded.
    for entry in walk.filter_map(Result::ok) {
        let is_skill_file = entry.depth() == 1 && is_skill_file(entry.file_name());
        if entry.file_type().is_dir() || is_skill_file || !entry.path().is_file() {
            continue;
        }
        let relative = entry.path().strip_prefix(dir).unwrap_or(entry.path());
        let names = relative.components().map(|part| part.as_os_str().to_string_lossy());
        files.push(names.collect::<Vec<_>>().join("/"));
    }
    files.sort_unstable();
    let n_more = files.len().saturating_sub(MAX_FILES);
    files.truncate(MAX_FILES);
    (files, n_more)
}

/// Whether `dir` is a skill of its own.
fn is_skill(dir: &Path) -> bool {
    let entries = WalkDir::new(dir).min_depth(1).max_depth(1);
    entries.into_iter().filter_map(Result::ok).any(|entry| is_skill_file(entry.file_name()))
}

fn text(entry: &Entry, details: &Details<'_>) -> Page {
    let skill = &entry.skill;
    let id = styled(NAME, sanitize::line(entry.id.as_str()));
    let mut text = Page::default();
    text.line(format_args!("{id}  {}, {}", status(entry), entry.scope));
    if let Some(reason) = reason(entry) {
        text.line(format_args!("{}", styled(WARNING, sanitize::line(&reason))));
    }
    let mut field = |name: &str, value: &str| {
        text.line(format_args!("{}: {}", styled(NAME, name), sanitize::line(value)));
    };
    if skill.name() != entry.id.as_str() {
        field("name", skill.name());
    }
    field("description", skill.description());
    if let Some(path) = skill.path() {
        field("path", &path.to_string_lossy());
    }
    if let Json::Object(manifest) = skill.manifest().to_json() {
        for (key, value) in &manifest {
            match value {
                // Shown above and below.
                _ if matches!(key.as_str(), "name" | "description" | "triggers") => {}
                Json::String(value) => field(key, value),
                value => field(key, &without_triggers(key, value).to_string()),
            }
        }
    }
    for (kind, entries) in trigger_kinds(skill.triggers()) {
        if !entries.is_empty() {
            let entries: Vec<&str> = entries.iter().map(|entry| entry.value.as_str()).collect();
            let separator = if kind == "patterns" { "  " } else { ", " };
            field(kind, &entries.join(separator));
        }
    }
    if let Some(n_bytes) = details.body_bytes {
        field("body", &count(n_bytes, "byte"));
    }
    if !details.sub_skills.is_empty() {
        text.line(format_args!("{}:", styled(NAME, "sub-skills")));
        for sub in &details.sub_skills {
            let id = sanitize::line(sub.id.as_str());
            text.line(format_args!("  {id}  {}", sanitize::line(sub.skill.brief())));
        }
    }
    if !details.scripts.is_empty() {
        text.line(format_args!("{}:", styled(NAME, "scripts")));
    }
    for script in &details.scripts {
        let path = sanitize::line(&script.path);
        let help = script.help.as_deref().and_then(|help| help.lines().next());
        match (&script.problem, help) {
            (Some(problem), _) => {
                let problem = sanitize::line(problem);
                text.line(format_args!("  {path}  {}", styled(WARNING, problem)));
            }
            (None, Some(help)) => text.line(format_args!("  {path}  {}", sanitize::line(help))),
            (None, None) => text.line(format_args!("  {path}")),
        }
    }
    let n_files = details.files.len() + details.n_more_files;
    text.line(format_args!("{}: {n_files}", styled(NAME, "files")));
    for file in &details.files {
        text.line(format_args!("  {}", sanitize::line(file)));
    }
    if details.n_more_files > 0 {
        text.line(format_args!("  and {} more", details.n_more_files));
    }
    for diagnostic in &details.diagnostics {
        text.line(format_args!("{}", short(diagnostic)));
    }
    text
}

/// `metadata` without the triggers, which are shown as such.
fn without_triggers(key: &str, value: &Json) -> Json {
    let mut value = value.clone();
    if let (true, Some(map)) = (key == "metadata", value.as_object_mut()) {
        map.remove("triggers");
    }
    value
}
