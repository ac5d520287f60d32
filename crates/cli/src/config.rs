//! `repertoire config`, `enable` and `disable`: shows the settings in force, and changes them.

use comfy_table::{Table, presets};
use repertoire::catalog::Status;
use repertoire::{Diagnostic, Error};
use repertoire_config::{self as config, Config, ConfigFile, Setting};
use repertoire_fetch::change_config;
use repertoire_sessions::without_secrets;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::args::{Common, SwitchArgs};
use crate::exit_code::ExitCode;
use crate::list::formatted;
use crate::output::{NAME, Output, Page, styled};
use crate::report::short;
use crate::{sanitize, sessions, setup};

/// The settings in force, as JSON.
#[derive(Serialize)]
struct Report<'a> {
    files: &'a [ConfigFile],
    settings: Vec<InForce>,
    diagnostics: &'a [Diagnostic],
}

/// A setting, and its origin.
#[derive(Serialize)]
struct InForce {
    #[serde(flatten)]
    setting: Setting,
    /// `default`, `user`, `project`, `environment` or `command line`.
    from: &'static str,
}

pub(crate) fn run(common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let config = setup::config(common)?;
    let mut settings: Vec<InForce> = config.settings().into_iter().map(in_file).collect();
    for (key, value, from) in overrides(common) {
        settings.retain(|known| known.setting.key != key);
        let mut setting = Setting::default();
        key.clone_into(&mut setting.key);
        setting.value = value;
        settings.push(InForce { setting, from });
    }
    settings.sort_by(|a, b| section(&a.setting.key).cmp(section(&b.setting.key)));
    if out.json {
        let (files, diagnostics) = (config.files(), config.diagnostics());
        Output::json(&Report { files, settings, diagnostics })?;
    } else {
        out.human(page(&config, &settings).as_str())?;
        for finding in config.diagnostics() {
            out.note(&short(finding));
        }
    }
    Ok(ExitCode::done_if(config.diagnostics().is_empty()))
}

const COMMAND_LINE: &str = "command line";

fn in_file(setting: Setting) -> InForce {
    let from = setting.scope.map_or("default", |scope| scope.as_str());
    InForce { setting, from }
}

fn section(key: &str) -> &str {
    key.split('.').next().unwrap_or(key)
}

/// Returns the settings that come from the environment and from this command line, each with its
/// origin.
fn overrides(common: &Common) -> Vec<(&'static str, Json, &'static str)> {
    let mut all = Vec::new();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let of_environment = [
        ("limits.max_skills", "REPERTOIRE_MAX_SKILLS"),
        ("limits.prompt_budget", "REPERTOIRE_PROMPT_BUDGET"),
    ];
    for (key, name) in of_environment {
        let value = variable(name).map(|text| text.parse::<u64>().map_or(text.into(), Json::from));
        all.extend(value.map(|value| (key, value, "environment")));
    }
    if let Some(url) = variable(sessions::VARIABLE) {
        all.push(("sessions.store", without_secrets(&url).into(), "environment"));
    }
    if !common.sources.is_empty() {
        let paths: Json = common.sources.iter().map(|path| path.to_string_lossy()).collect();
        all.push(("sources.standard", false.into(), COMMAND_LINE));
        all.push(("sources.add", paths, COMMAND_LINE));
    }
    if !common.enable.is_empty() {
        all.push(("skills.enabled", common.enable.clone().into(), COMMAND_LINE));
    }
    if let Some(is_on) = common.bundled {
        let channels = ["bundled.command_line", "bundled.hooks", "bundled.mcp"];
        all.extend(channels.map(|key| (key, is_on.into(), COMMAND_LINE)));
    }
    all
}

fn page(config: &Config, settings: &[InForce]) -> Page {
    let mut page = Page::default();
    for ConfigFile { scope, path, exists, .. } in config.files() {
        let (state, path) = (if *exists { "" } else { "  (not there)" }, path.to_string_lossy());
        page.line(format_args!("{:<8} {}{state}", scope.as_str(), sanitize::line(&path)));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["SETTING", "FROM", "VALUE"]);
    for InForce { setting, from } in settings {
        let line = setting.line.map_or(String::new(), |line| format!(":{line}"));
        let value = match &setting.value {
            Json::Null => "-".to_owned(),
            value => value.to_string(),
        };
        let cells = [setting.key.as_str(), &format!("{from}{line}"), &value];
        table.add_row(cells.map(|cell| sanitize::line(cell).into_owned()));
    }
    page.line(format_args!("{}", formatted(table, 2)));
    page
}

/// `repertoire enable` if `is_on`, otherwise `repertoire disable`.
pub(crate) fn switch(
    args: &SwitchArgs,
    common: &Common,
    out: Output,
    is_on: bool,
) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    let names = args.ids.iter().map(|name| setup::skill_name(&catalog, name));
    let ids = names.map(|name| Ok(catalog.find_any(name)?.id.as_str()));
    let ids: Vec<&str> = ids.collect::<Result<_, Error>>()?;
    let project = (common.names_project && !args.user).then_some(&*common.project);
    let base = project.map_or_else(setup::config_home, |project| Ok(project.to_owned()))?;
    let path = Config::path(&base, &common.brand);
    let edit = if is_on { config::enable } else { config::disable };
    let file = change_config(&path, project, |before| {
        edit(before, &ids)
            .map_err(|error| error.reworded(format!("{}: {}", path.display(), error.message())))
    })?;
    let done = if is_on { "enabled" } else { "disabled" };
    if out.json {
        Output::json(&json!({"file": file.to_string_lossy(), done: ids}))?;
    } else {
        let path = file.to_string_lossy();
        for id in &ids {
            let (id, path) = (styled(NAME, sanitize::line(id)), sanitize::line(&path));
            out.human(&format!("{done} {id} in {path}"))?;
        }
    }
    tell_without_effect(&ids, common, out, is_on)?;
    Ok(ExitCode::Done)
}

/// Reports each skill that stays on or off because another setting takes precedence.
fn tell_without_effect(
    ids: &[&str],
    common: &Common,
    out: Output,
    is_on: bool,
) -> anyhow::Result<()> {
    let engine = setup::engine(common, |builder| builder)?;
    let catalog = engine.catalog();
    for entry in ids.iter().filter_map(|id| catalog.get(id)) {
        let id = sanitize::line(entry.id.as_str());
        match &entry.status {
            Status::Disabled { reason } if is_on => {
                out.note(&format!("`{id}` is still off: {}", sanitize::line(reason)));
            }
            Status::Available | Status::Unavailable { .. } if !is_on => {
                out.note(&format!(
                    "`{id}` is still on: `--enable`, or the project's file, says so"
                ));
            }
            _ => {}
        }
    }
    Ok(())
}
