//! `repertoire list`: the skills there are.

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use repertoire::catalog::Entry;
use repertoire::{Diagnostic, Engine, Severity, Triggers};
use serde_json::{Value as Json, json};

use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, WARNING, styled};
use crate::report::{Counts, count, short};
use crate::sanitize;
use crate::setup;

pub(crate) fn run(common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    if out.json {
        let skills: Vec<Json> = engine.catalog().entries().map(to_json).collect();
        out.json(&json!({"skills": skills, "diagnostics": engine.diagnostics()}))?;
    } else {
        if engine.catalog().entries().next().is_some() {
            out.human(&table(&engine, out))?;
        } else {
            out.note("no skills; `repertoire new NAME` writes one, `--source DIR` names a directory");
        }
        tell(engine.diagnostics(), out);
    }
    Ok(setup::exit_code(common, &engine))
}

/// What is the same in `list` and `show`.
pub(crate) fn to_json(entry: &Entry) -> Json {
    let skill = &entry.skill;
    json!({
        "id": entry.id,
        "name": skill.name(),
        "description": skill.description(),
        "brief": skill.brief(),
        "path": skill.path().map(|path| path.to_string_lossy()),
        "source": entry.scope,
        "status": entry.status.as_str(),
        "reason": entry.status.reason(),
        "triggers": triggers(skill.triggers()),
    })
}

fn triggers(triggers: &Triggers) -> Json {
    let mut map = serde_json::Map::new();
    for (kind, entries) in trigger_kinds(triggers) {
        let entries: Json = entries.iter().map(|entry| entry.value.as_str()).collect();
        map.insert(kind.to_owned(), entries);
    }
    map.into()
}

/// Every kind of trigger with its entries.
pub(crate) fn trigger_kinds(
    triggers: &Triggers,
) -> [(&'static str, &[repertoire::Spanned<String>]); 5] {
    [
        ("keywords", &triggers.keywords),
        ("verbs", &triggers.verbs),
        ("patterns", &triggers.patterns),
        ("exclude", &triggers.exclude),
        ("paths", &triggers.paths),
    ]
}

/// The status of a skill in its colour.
pub(crate) fn status(entry: &Entry) -> String {
    let text = entry.status.as_str();
    styled(if entry.is_available() { GOOD } else { WARNING }, text)
}

/// Why a skill is not used as others are, in a phrase.
pub(crate) fn reason(entry: &Entry) -> Option<String> {
    entry.status.reason().or_else(|| {
        let manifest = entry.skill.manifest();
        manifest
            .is_model_invocation_disabled()
            .then(|| "only the user can invoke it (`disable-model-invocation`)".to_owned())
    })
}

fn table(engine: &Engine, out: Output) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    match out.width() {
        Some(width) => {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        None => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table.set_header(["STATUS", "ID", "SOURCE", "TRIGGERS", "BRIEF"]);
    for entry in engine.catalog().entries() {
        let n_triggers: usize = trigger_kinds(entry.skill.triggers())
            .iter()
            .filter(|(kind, _)| *kind != "exclude")
            .map(|(_, entries)| entries.len())
            .sum();
        let mut brief = sanitize::line(entry.skill.brief()).into_owned();
        if let Some(reason) = reason(entry) {
            brief += &format!("\n({})", sanitize::line(&reason));
        }
        table.add_row([
            entry.status.as_str().to_owned(),
            sanitize::line(entry.id.as_str()).into_owned(),
            entry.scope.as_str().to_owned(),
            n_triggers.to_string(),
            brief,
        ]);
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if place != 1 && place != 4 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| colored(line.trim_end())).collect();
    lines.join("\n")
}

/// A line of the table with its status, which comes first, in colour.
fn colored(line: &str) -> String {
    let (first, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    match first {
        "" => styled(DIM, line),
        "STATUS" => styled(NAME, line),
        "available" => styled(GOOD, first) + rest,
        _ => styled(WARNING, first) + rest,
    }
}

/// Errors and warnings in short form, and how many notes there are.
fn tell(diagnostics: &[Diagnostic], out: Output) {
    for diagnostic in diagnostics {
        if diagnostic.severity > Severity::Note {
            out.note(&short(diagnostic));
        }
    }
    let n_notes = Counts::of(diagnostics).notes;
    if n_notes > 0 {
        out.note(&format!("{}, see `repertoire check`", count(n_notes, "note")));
    }
}
