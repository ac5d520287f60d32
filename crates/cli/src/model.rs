//! `repertoire model`: adds, lists and removes models of meaning.

use comfy_table::{Table, presets};
use repertoire::Error;
use repertoire_config::{Config, Model, ModelKind, Models, set_meaning};
use repertoire_fetch::change_config;
use serde::Serialize;
use serde_json::json;

use crate::args::{Common, ModelAddArgs, ModelCommand, ModelRemoveArgs};
use crate::exit_code::ExitCode;
use crate::list::formatted;
use crate::output::{GOOD, NAME, Output, Page, styled};
use crate::{sanitize, setup};

/// A model in a list.
#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    model: Model,
    /// True if `routing.meaning` names it.
    used: bool,
}

pub(crate) fn run(
    command: &ModelCommand,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let models = setup::models(common)?;
    match command {
        ModelCommand::Add(args) => add(args, &models, common, out),
        ModelCommand::List => list(&models, common, out),
        ModelCommand::Remove(args) => remove(args, &models, common, out),
    }
}

fn add(
    args: &ModelAddArgs,
    models: &Models,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let model = models.add(&args.dir, args.name.as_deref())?;
    let config = name_in_config(Some(&model.name), common).inspect_err(|_| {
        // What no setting names would be in the way of the next attempt.
        let _ = models.remove(&model.name);
    })?;
    if model.kind == Some(ModelKind::Transformer) {
        // The skills of this directory are read once here, with a progress bar, not when a message waits.
        setup::engine(common, |builder| builder)?;
    }
    if out.json {
        Output::json(&json!({"model": model, "config": config}))?;
    } else {
        let Model { name, path, pieces, dimensions, .. } = &model;
        let kind = model.kind.map_or("model", ModelKind::as_str);
        let (title, name) = (styled(GOOD, "added"), styled(NAME, sanitize::line(name)));
        let path = path.to_string_lossy();
        let config = sanitize::line(&config);
        out.human(&format!(
            "{title} {name}: {kind}, {pieces} word pieces, {dimensions} dimensions, {}\n\
             skills are ranked by it: `routing.meaning` in {config}",
            sanitize::line(&path)
        ))?;
    }
    tell_if_overruled(&model.name, common, out)?;
    Ok(ExitCode::Done)
}

/// Says so if another file decides by which model skills are ranked here.
fn tell_if_overruled(name: &str, common: &Common, out: Output) -> Result<(), Error> {
    if setup::config(common)?.meaning() != Some(name) {
        out.note("it is not used here: the project's `config.toml` sets `routing.meaning`");
    }
    Ok(())
}

fn list(models: &Models, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let config = setup::config(common)?;
    let used = config.meaning();
    let listed: Vec<Listed> = models
        .list()?
        .into_iter()
        .map(|model| Listed { used: used == Some(&*model.name), model })
        .collect();
    let is_sound = listed.iter().all(|listed| listed.model.problem.is_none());
    if out.json {
        Output::json(&json!({"dir": models.dir().to_string_lossy(), "models": listed}))?;
        return Ok(ExitCode::done_if(is_sound));
    }
    if listed.is_empty() {
        out.human("there are none; `repertoire model add DIR` adds one")?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["MODEL", "KIND", "PIECES", "DIMENSIONS", "BYTES", ""]);
    for Listed { model, used } in &listed {
        let Model { name, bytes, pieces, dimensions, problem, .. } = model;
        let state = problem.as_deref().unwrap_or(if *used { "in use" } else { "" });
        let (pieces, dimensions) = (pieces.to_string(), dimensions.to_string());
        let kind = model.kind.map_or("", ModelKind::as_str);
        let cells = [name, kind, &pieces, &dimensions, &bytes.to_string(), state];
        table.add_row(cells.map(|cell| sanitize::line(cell).into_owned()));
    }
    let mut page = Page::default();
    page.line(format_args!("{}", formatted(table, 0)));
    out.human(page.as_str())?;
    Ok(ExitCode::done_if(is_sound))
}

fn remove(
    args: &ModelRemoveArgs,
    models: &Models,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let name = args.name.as_str();
    let file = models.remove(name)?;
    // The user's own setting, whatever a project's file says.
    let place = repertoire_config::ConfigPlace {
        project: setup::config_home()?,
        ..setup::config_place(common)
    };
    let is_named = Config::load(&place).meaning() == Some(name);
    let config = is_named.then(|| name_in_config(None, common)).transpose()?;
    if out.json {
        let file = file.to_string_lossy();
        Output::json(&json!({"name": name, "path": file, "config": config}))?;
        return Ok(ExitCode::Done);
    }
    let (title, name) = (styled(GOOD, "removed"), styled(NAME, sanitize::line(name)));
    out.human(&format!("{title} {name}"))?;
    if let Some(config) = config {
        let config = sanitize::line(&config);
        out.human(&format!("skills are ranked by the usual table: {config} named the other"))?;
    }
    Ok(ExitCode::Done)
}

/// Lets the user's `config.toml` name a model, or none, and returns the path of the file.
fn name_in_config(name: Option<&str>, common: &Common) -> Result<String, Error> {
    let path = Config::path(&setup::config_home()?, &common.brand);
    let file = change_config(&path, None, |before| {
        set_meaning(before, name)
            .map_err(|error| error.reworded(format!("{}: {}", path.display(), error.message())))
    })?;
    Ok(file.to_string_lossy().into_owned())
}
