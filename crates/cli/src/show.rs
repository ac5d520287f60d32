//! `repertoire show`: shows all that is known about one skill.

use std::sync::Arc;

use repertoire::activation::{BundledFiles, bundled_files};
use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::script::{Script, ScriptOptions, Scripts};
use repertoire::trust::Owner;
use repertoire::{Diagnostic, Engine, Error, ErrorCode};
use serde_json::{Value as Json, json};

use crate::args::{Common, ShowArgs};
use crate::exit_code::ExitCode;
use crate::failure::help;
use crate::list::Listed;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::{count, short};
use crate::{sanitize, setup};

/// The maximum number of a skill's files that are listed; the rest is only counted.
const MAX_FILES: usize = 1000;

/// The details that are shown in addition to those of the catalog.
struct Details<'a> {
    /// The bundled files, or the error if they could not be listed.
    files: Result<BundledFiles, Error>,
    body_bytes: Option<usize>,
    scripts: Result<Vec<Script>, Error>,
    sub_skills: Vec<&'a Entry>,
    diagnostics: Vec<&'a Diagnostic>,
}

pub(crate) fn run(args: &ShowArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let entry = match catalog.find_any(setup::skill_name(&catalog, &args.id)) {
        Ok(entry) => entry,
        Err(error) => {
            setup::finish(common, &engine, out);
            return Err(error.into());
        }
    };
    let details = details(&catalog, entry);
    if let Some(name) = &args.script {
        script(entry, &details.scripts?, name, out)?;
    } else if out.json {
        Output::json(&to_json(entry, &engine, &details)?)?;
    } else {
        out.human(text(entry, &details).as_str())?;
    }
    Ok(setup::finish(common, &engine, out))
}

/// Shows the script whose path is `name`, or `scripts/` followed by `name`.
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

/// Returns the fields that `list` prints for a skill, and the details.
fn to_json(entry: &Entry, engine: &Engine, details: &Details<'_>) -> serde_json::Result<Json> {
    let sub_skills = details.sub_skills.iter();
    let mut json = serde_json::to_value(Listed::of(entry, engine))?;
    json["manifest"] = entry.skill.manifest().to_json();
    let files = details.files.as_ref().ok();
    json["files"] = json!(files.map_or(&[][..], |files| &files.files));
    json["more_files"] = files.map_or(0, |files| files.more).into();
    json["body_bytes"] = details.body_bytes.into();
    json["scripts"] = json!(details.scripts.as_ref().map_or(&[][..], Vec::as_slice));
    json["problems"] = problems(details).collect();
    json["sub_skills"] =
        sub_skills.map(|sub| json!({"id": sub.id, "brief": sub.skill.brief()})).collect();
    json["diagnostics"] = json!(details.diagnostics);
    Ok(json)
}

fn details<'a>(catalog: &'a Catalog, entry: &'a Entry) -> Details<'a> {
    let none = BundledFiles { files: Vec::new(), more: 0, complete: true };
    let files = entry.skill.dir().map_or(Ok(none), |dir| bundled_files(dir, MAX_FILES));
    let path = entry.skill.path();
    // The operator of the command line sees the sub-skills of both audiences.
    let mut sub_skills: Vec<&Entry> = catalog.sub_skills(entry, Audience::User).collect();
    sub_skills.extend(catalog.sub_skills(entry, Audience::Model));
    sub_skills.sort_by(|a, b| a.id.cmp(&b.id));
    sub_skills.dedup_by(|a, b| a.id == b.id);
    // The scripts are listed even if the skill cannot be used.
    let scripts = Scripts::new(ScriptOptions::default(), Arc::default());
    let scripts = Owner::of(entry).map_or(Ok(Vec::new()), |owner| scripts.list(&owner));
    Details {
        scripts,
        files,
        body_bytes: entry.skill.body().ok().map(str::len),
        sub_skills,
        diagnostics: catalog
            .diagnostics()
            .iter()
            .filter(|diagnostic| path.is_some_and(|path| path == diagnostic.path))
            .collect(),
    }
}

/// Returns the errors of the parts that could not be listed.
fn problems(details: &Details<'_>) -> impl Iterator<Item = String> {
    let problems = [details.scripts.as_ref().err(), details.files.as_ref().err()];
    problems.into_iter().flatten().map(|error| format!("{error}; {}", help(error)))
}

fn text(entry: &Entry, details: &Details<'_>) -> Page {
    let id = styled(NAME, sanitize::line(entry.id.as_str()));
    let mut text = Page::default();
    let style = if entry.is_available() { GOOD } else { WARNING };
    let status = styled(style, entry.status.as_str());
    text.line(format_args!("{id}  {status}, {}", entry.scope));
    if let Some(reason) = entry.reason() {
        text.line(format_args!("{}", styled(WARNING, sanitize::line(&reason))));
    }
    fields(&mut text, entry, details);
    lists(&mut text, details);
    for problem in problems(details) {
        text.line(format_args!("{}", styled(WARNING, sanitize::line(&problem))));
    }
    for diagnostic in &details.diagnostics {
        text.line(format_args!("{}", short(diagnostic)));
    }
    text
}

/// Writes the fields that take one line each.
fn fields(text: &mut Page, entry: &Entry, details: &Details<'_>) {
    let skill = &entry.skill;
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
                // These keys are shown separately, above and below.
                _ if matches!(key.as_str(), "name" | "description" | "triggers") => {}
                Json::String(value) => field(key, value),
                value => field(key, &without_shown(key, value).to_string()),
            }
        }
    }
    let kinds = skill.triggers().kinds();
    for (kind, entries) in kinds.iter().filter(|(kind, of)| *kind != "patterns" && !of.is_empty()) {
        let entries: Vec<&str> = entries.iter().map(|entry| entry.value.as_str()).collect();
        field(kind, &entries.join(", "));
    }
    if let Some(n_bytes) = details.body_bytes {
        field("body", &count(n_bytes, "byte"));
    }
    for (kind, patterns) in kinds.iter().filter(|(kind, of)| *kind == "patterns" && !of.is_empty())
    {
        text.line(format_args!("{}:", styled(NAME, kind)));
        for pattern in *patterns {
            text.line(format_args!("  {}", Output::fitted(&sanitize::line(&pattern.value), 2)));
        }
    }
}

/// Writes the sub-skills, the scripts and the files.
fn lists(text: &mut Page, details: &Details<'_>) {
    if !details.sub_skills.is_empty() {
        text.line(format_args!("{}:", styled(NAME, "sub-skills")));
        for sub in &details.sub_skills {
            let id = sanitize::line(sub.id.as_str());
            text.line(format_args!("  {id}  {}", sanitize::line(sub.skill.brief())));
        }
    }
    let scripts = details.scripts.as_ref().map_or(&[][..], Vec::as_slice);
    if !scripts.is_empty() {
        text.line(format_args!("{}:", styled(NAME, "scripts")));
    }
    for script in scripts {
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
    if let Ok(BundledFiles { files, more, .. }) = &details.files {
        text.line(format_args!("{}: {}", styled(NAME, "files"), files.len() + more));
        for file in files {
            text.line(format_args!("  {}", sanitize::line(file)));
        }
        if *more > 0 {
            text.line(format_args!("  and {more} more"));
        }
    }
}

/// Returns `value` without the entries of `metadata` that are shown as fields of their own.
fn without_shown(key: &str, value: &Json) -> Json {
    let mut value = value.clone();
    if let (true, Some(map)) = (key == "metadata", value.as_object_mut()) {
        map.retain(|key, _| {
            !matches!(key.replace('-', "_").as_str(), "triggers" | "trigger_phrases" | "examples")
        });
    }
    value
}
