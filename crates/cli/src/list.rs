//! `repertoire list`: lists the skills of the catalog.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use repertoire::catalog::{Entry, Scope};
use repertoire::disclosure::NativeSkills;
use repertoire::{Diagnostic, Engine, Severity, Source};
use repertoire_agents::AgentCommand;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::args::{Common, ListArgs};
use crate::exit_code::ExitCode;
use crate::output::{GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::{Counts, count, short};
use crate::{pager, sanitize, setup};

/// The index of the last column of the table, the only one whose text may wrap.
const BRIEF: usize = 4;

/// The minimum width, in columns of the terminal, at which wrapping is worthwhile.
const MIN_BRIEF_WIDTH: u16 = 20;

pub(crate) fn run(args: &ListArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let common = &args.agent.map_or_else(|| common.clone(), |agent| common.for_agent(agent));
    let native = setup::native_skills(common, &setup::config(common)?);
    let of_agent = setup::agent_state(common).map(|(agent, state)| agent.commands(state));
    let of_agent = of_agent.unwrap_or_default();
    let engine = setup::engine(common, |builder| builder)?;
    // Who turned the bundled skills off for this command does not ask for them.
    let is_shown = |entry: &Entry| entry.scope != Scope::Bundled || common.bundled != Some(false);
    if args.commands {
        commands(&engine, out)?;
    } else if out.json {
        let catalog = engine.catalog();
        let listed = |entry| {
            let refusal = native.as_ref().and_then(|native| native.refusal(entry));
            let native = native.as_ref().map(|native| native.has(entry));
            Listed { native, refusal, ..Listed::of(entry, &engine) }
        };
        let skills = catalog.entries().filter(|entry| is_shown(entry)).map(listed).collect();
        let commands = of_agent.iter().map(ListedCommand::of).collect();
        Output::json(&Listing { skills, commands, diagnostics: catalog.diagnostics() })?;
    } else {
        if engine.catalog().entries().any(is_shown) || !of_agent.is_empty() {
            let table = table(&engine, native.as_ref(), &of_agent, is_shown);
            pager::print(&format!("{table}\n{}", signatures(&engine).as_str()), out)?;
        } else {
            out.note(
                "no skills; `repertoire new NAME` writes one, `--source DIR` names a directory",
            );
        }
        tell(&engine.diagnostics(), out);
        for line in setup::passed_over(common) {
            out.note(&sanitize::line(&line));
        }
    }
    Ok(setup::exit_code(common, &engine))
}

/// Lists the slash commands.
fn commands(engine: &Engine, out: Output) -> anyhow::Result<()> {
    let commands = engine.commands();
    if out.json {
        return Ok(Output::json(&json!({"commands": commands}))?);
    }
    let mut text = Page::default();
    for command in &commands {
        let hint = command.argument_hint.as_deref().unwrap_or_default();
        let usage = format!("{} {hint}", command.command);
        let (usage, brief) = (sanitize::line(usage.trim_end()), sanitize::line(&command.brief));
        text.line(format_args!("{}  {brief}", styled(NAME, usage)));
    }
    Ok(out.human(text.as_str())?)
}

/// The catalog, as JSON.
#[derive(Serialize)]
struct Listing<'a> {
    skills: Vec<Listed<'a>>,
    /// The commands that the agent lists like skills.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commands: Vec<ListedCommand<'a>>,
    diagnostics: &'a [Diagnostic],
}

/// A command that the agent lists like a skill, as JSON.
#[derive(Serialize)]
struct ListedCommand<'a> {
    name: &'a str,
    description: &'a str,
    path: Cow<'a, str>,
    /// True if the model can call it.
    native: bool,
    /// The setting because of which the model cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> ListedCommand<'a> {
    fn of(command: &'a AgentCommand) -> ListedCommand<'a> {
        ListedCommand {
            name: &command.name,
            description: &command.description,
            path: command.path.to_string_lossy(),
            native: command.off.is_none(),
            reason: command.off.as_ref().map(ToString::to_string),
        }
    }
}

/// A skill, as JSON. The output of `show` has the same fields, and more.
#[derive(Serialize)]
pub(crate) struct Listed<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    brief: &'a str,
    path: Option<Cow<'a, str>>,
    source: Scope,
    /// The name of the fetched source that the skill is from.
    from: Option<String>,
    /// The key that signed the skill's source, if the source must be signed.
    signed_by: Option<String>,
    status: &'static str,
    reason: Option<String>,
    /// True if the agent that the command line names lists the skill by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    native: Option<bool>,
    /// The reason why the agent does not list the skill although it is where the agent looks.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    triggers: Json,
}

impl<'a> Listed<'a> {
    pub(crate) fn of(entry: &'a Entry, engine: &Engine) -> Listed<'a> {
        let skill = &entry.skill;
        let triggers = skill.triggers().kinds().into_iter();
        let triggers = triggers.map(|(kind, entries)| {
            let entries: Json = entries.iter().map(|entry| entry.value.as_str()).collect();
            (kind.to_owned(), entries)
        });
        Listed {
            id: entry.id.as_str(),
            name: skill.name(),
            description: skill.description(),
            brief: skill.brief(),
            path: skill.path().map(Path::to_string_lossy),
            source: entry.scope,
            from: name_of_source(entry, engine),
            signed_by: engine.source_of(entry).and_then(Source::signed_by).map(str::to_owned),
            status: entry.status.as_str(),
            reason: entry.reason(),
            native: None,
            refusal: None,
            triggers: triggers.collect::<serde_json::Map<_, _>>().into(),
        }
    }
}

/// Returns the name of the fetched source that a skill is from.
fn name_of_source(entry: &Entry, engine: &Engine) -> Option<String> {
    engine.source_of(entry)?.name().map(str::to_owned)
}

/// Formats the catalog as a table, which marks the skills that are `native` to the agent, with the agent's own
/// `commands` below.
fn table(
    engine: &Engine,
    native: Option<&NativeSkills>,
    commands: &[AgentCommand],
    is_shown: impl Fn(&Entry) -> bool,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["STATUS", "ID", "SOURCE", "TRIGGERS", "BRIEF"]);
    for entry in engine.catalog().entries().filter(|entry| is_shown(entry)) {
        let n_triggers: usize = entry
            .skill
            .triggers()
            .kinds()
            .iter()
            .filter(|(kind, _)| *kind != "exclude")
            .map(|(_, entries)| entries.len())
            .sum();
        let mut brief = sanitize::line(entry.skill.brief()).into_owned();
        if let Some(reason) = entry.reason() {
            brief = format!("{brief}\n({})", sanitize::line(&reason));
        } else if native.is_some_and(|native| native.has(entry)) {
            brief.push_str("\n(the agent lists it by itself)");
        } else if let Some(refusal) = native.and_then(|native| native.refusal(entry)) {
            let refusal = sanitize::line(&refusal);
            brief = format!("{brief}\n(the agent does not list it by itself, because {refusal})");
        }
        table.add_row([
            entry.status.as_str().to_owned(),
            sanitize::line(entry.id.as_str()).into_owned(),
            match name_of_source(entry, engine) {
                Some(name) => sanitize::line(&format!("{} {name}", entry.scope)).into_owned(),
                None => entry.scope.as_str().to_owned(),
            },
            n_triggers.to_string(),
            brief,
        ]);
    }
    for AgentCommand { name, description, off, .. } in commands {
        let (status, note) = match off {
            None => ("available", "the agent lists it by itself".to_owned()),
            Some(by) => ("disabled", by.to_string()),
        };
        let name = sanitize::line(&format!("/{name}")).into_owned();
        let brief = format!("{}\n({})", sanitize::line(description), sanitize::line(&note));
        table.add_row([status.to_owned(), name, "command".to_owned(), "0".to_owned(), brief]);
    }
    arrange(&mut table, BRIEF);
    let lines: Vec<String> = table.lines().map(|line| colored(line.trim_end())).collect();
    lines.join("\n")
}

/// Returns one line for each signed source of the listed skills, with the key.
fn signatures(engine: &Engine) -> Page {
    let catalog = engine.catalog();
    let sources = catalog.entries().filter_map(|entry| engine.source_of(entry));
    let signed = sources.filter_map(|source| Some((source.name()?, source.signed_by()?)));
    let mut page = Page::default();
    for (name, key) in signed.collect::<BTreeSet<_>>() {
        let (name, key) = (sanitize::line(name), sanitize::line(key));
        page.line(format_args!("`{name}` is signed by {key}"));
    }
    page
}

/// Formats a table with a header; its column `last` may wrap.
pub(crate) fn formatted(mut table: Table, last: usize) -> String {
    arrange(&mut table, last);
    let style = |(i, line): (usize, String)| {
        let line = line.trim_end();
        if i == 0 { styled(NAME, line) } else { line.to_owned() }
    };
    table.lines().enumerate().map(style).collect::<Vec<_>>().join("\n")
}

/// Pads the columns, and fits the table to the width of the terminal by wrapping its column `last`.
/// Without a terminal, or on one that is too narrow, nothing wraps.
fn arrange(table: &mut Table, last: usize) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let widths = table.column_max_content_widths();
    let others: u16 =
        widths.iter().take(last).fold(0, |sum, width| sum.saturating_add(width.saturating_add(2)));
    let width = Output::width().filter(|width| *width >= others.saturating_add(MIN_BRIEF_WIDTH));
    let Some(width) = width else {
        table.set_content_arrangement(ContentArrangement::Disabled);
        return;
    };
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    for column in table.column_iter_mut().take(last) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// Colours the status at the beginning of a line of the table.
fn colored(line: &str) -> String {
    let (first, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
    match first {
        "" => line.to_owned(),
        "STATUS" => styled(NAME, line),
        "available" => styled(GOOD, first) + rest,
        _ => styled(WARNING, first) + rest,
    }
}

/// Reports errors and warnings in short form, and the number of notes.
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
