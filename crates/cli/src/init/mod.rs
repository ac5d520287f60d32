//! `repertoire init`: sets up the agents found on this machine and writes a first skill, and takes that
//! back.

mod firing;
mod record;
mod undo;

use std::path::{Path, PathBuf};

use repertoire::skill::is_identifier;
use repertoire::{Error, ErrorCode};
use serde_json::{Value as Json, json};

use self::firing::Firing;
use self::record::{Record, Written};
use crate::agent::{Changed, Place};
use crate::args::{Common, InitArgs, McpAgent};
use crate::exit_code::ExitCode;
use crate::failure::{Failure, UsageError};
use crate::output::{NAME, Output, Page, WARNING, styled};
use crate::picker::{self, Item};
use crate::replace::{io_error, missing_dirs};
use crate::{hook, mcp, new, sanitize, setup};

/// The name of the first skill, unless the user gives another.
const SKILL: &str = "release-notes";

pub(crate) fn run(args: &InitArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let (place, dry_run) = (Place::named(&args.place, common)?, args.place.dry_run);
    // The record is the user's, so its paths must mean the same wherever `--undo` is run.
    let common = &match place {
        Place::User | Place::System => common.clone(),
        _ => Common { project: absolute_project(common)?, ..common.clone() },
    };
    if args.undo {
        return undo::run(place, dry_run, common, out);
    }
    // A name that is none must be refused before anything is asked or written.
    checked(args.skill.as_deref().unwrap_or(SKILL))?;
    named_in_text(&skill_dir(SKILL, place, common)?)?;
    let Some((agents, name)) = choices(args, common, out)? else { return Ok(ExitCode::Failure) };
    let name = checked(&name)?;
    let mut record = Record::open(place, common)?;
    let mut report = Report::default();
    for agent in agents {
        let changed = add(agent, place, dry_run, common);
        if let (Ok(changed), false) = (&changed, dry_run) {
            record.add(Written::settings(changed))?;
        }
        report.agents.push((agent, changed));
    }
    let skill = skill_dir(name, place, common)?;
    report.is_new = !skill.join("SKILL.md").exists();
    if report.is_new && !dry_run {
        let made = missing_dirs(&skill.join("SKILL.md"));
        let path = new::write(&skill, name).map_err(|error| {
            let help = "check who may write there; `--project` writes into the project instead";
            Error::new(error.code(), error.message(), help)
        })?;
        record.add(Written::skill(&path, made)?)?;
    }
    report.skill = skill.join("SKILL.md");
    if !dry_run {
        let set_up = report.agents.iter().filter(|(_, changed)| changed.is_ok());
        let agents: Vec<McpAgent> = set_up.map(|(agent, _)| *agent).collect();
        report.firing = Some(Firing::of(name, &agents, common)?);
    }
    report.notes(place, common);
    report.print(dry_run, out)?;
    let is_good = report.agents.iter().all(|(_, changed)| changed.is_ok());
    Ok(ExitCode::done_if(is_good && report.firing.is_none_or(|firing| firing.fires)))
}

/// Returns the agents to set up, and the name of the first skill: what the command line names, all agents
/// that are here with `--yes` and in a dry run, or what the user chooses; `None` if the user gave up.
fn choices(
    args: &InitArgs,
    common: &Common,
    out: Output,
) -> anyhow::Result<Option<(Vec<McpAgent>, String)>> {
    let name = args.skill.clone().unwrap_or_else(|| SKILL.to_owned());
    if !args.agents.is_empty() {
        return Ok(Some((args.agents.clone(), name)));
    }
    let here: Vec<McpAgent> = McpAgent::all().filter(|agent| agent.is_here(common)).collect();
    if args.yes || args.place.dry_run || here.is_empty() {
        return Ok(Some((here, name)));
    }
    if !picker::can_choose(out) {
        let names = here.iter().map(|agent| agent.as_str()).collect::<Vec<_>>().join(",");
        let message = "nobody can say which agents to set up";
        let help = format!(
            "name them (`--agent {names}`), take all that are here (`--yes`), or look first \
             (`--dry-run`)"
        );
        return Err(Error::new(ErrorCode::ConsentRequired, message, help).into());
    }
    let item = |agent: &McpAgent| Item { text: agent.title().to_owned(), is_chosen: true };
    let items: Vec<Item> = here.iter().map(item).collect();
    let chosen = picker::choose("Which agents should get your skills?", &items, out)?;
    let Some(chosen) = chosen else { return Ok(None) };
    let name = match args.skill {
        Some(_) => name,
        None => picker::ask("Name of your first skill", &name, out)?,
    };
    Ok(Some((chosen.into_iter().map(|at| here[at]).collect(), name)))
}

/// Returns the directory of the project, without links and relative parts.
fn absolute_project(common: &Common) -> Result<PathBuf, Error> {
    let project = setup::project_dir(common)?;
    project.canonicalize().map_err(|error| io_error("find", project, &error))
}

/// Returns `name`, the name of a skill. Fails if it is not one.
fn checked(name: &str) -> Result<&str, UsageError> {
    if is_identifier(name) { Ok(name) } else { Err(UsageError(new::not_an_identifier(name))) }
}

/// Fails if a path is not UTF-8: the record for `--undo` could not hold it.
fn named_in_text(path: &Path) -> Result<(), Error> {
    if path.to_str().is_some() {
        return Ok(());
    }
    let message = format!("the path {} is not UTF-8", path.display());
    Err(Error::new(ErrorCode::InvalidParam, message, "give the directory a name in UTF-8"))
}

/// Adds the hook to the settings of `agent`, or the MCP server if it has no hooks.
fn add(agent: McpAgent, place: Place, dry_run: bool, common: &Common) -> Result<Changed, Error> {
    match agent {
        McpAgent::Hooked(agent) => hook::add(agent, place, dry_run, common),
        McpAgent::VsCode => mcp::add(agent, place, &[], dry_run, common),
    }
}

/// Returns the directory of the first skill, among those of the user or of the project.
fn skill_dir(name: &str, place: Place, common: &Common) -> Result<PathBuf, Error> {
    let base = match place {
        Place::User | Place::System => setup::config_home()?,
        _ => setup::project_dir(common)?.to_owned(),
    };
    Ok(base.join(format!(".{}", common.brand)).join("skills").join(name))
}

/// The outcome of a run.
#[derive(Default)]
struct Report {
    agents: Vec<(McpAgent, Result<Changed, Error>)>,
    skill: PathBuf,
    /// True if the skill was not there before.
    is_new: bool,
    /// The effect of the skill; `None` in a dry run.
    firing: Option<Firing>,
    notes: Vec<String>,
}

impl Report {
    /// Adds the sentences about agents that need something from the user.
    fn notes(&mut self, place: Place, common: &Common) {
        for (agent, changed) in &self.agents {
            if let (McpAgent::Hooked(agent), Ok(_)) = (agent, changed) {
                self.notes.extend(hook::notes(*agent, place, common));
            }
        }
    }

    fn print(&self, dry_run: bool, out: Output) -> anyhow::Result<()> {
        if out.json {
            return Ok(Output::json(&self.json(dry_run))?);
        }
        let mut page = Page::default();
        for (agent, changed) in &self.agents {
            let title = styled(NAME, agent.title());
            let what = if matches!(agent, McpAgent::Hooked(_)) { "hook" } else { "MCP server" };
            match changed {
                Ok(changed) if changed.is_one() && dry_run => changed.show(&mut page),
                Ok(changed) if changed.is_one() => {
                    let path = changed.path.to_string_lossy();
                    page.line(format_args!("{title}: {what} in {}", sanitize::line(&path)));
                }
                Ok(_) => page.line(format_args!("{title} is set up already")),
                Err(error) => {
                    let (error, title) = (error.to_string(), styled(WARNING, agent.title()));
                    page.line(format_args!("{title} was left out: {}", sanitize::line(&error)));
                }
            }
        }
        if self.agents.is_empty() {
            page.line(format_args!(
                "none of the agents known here was found: `repertoire init --agent AGENT` sets one up"
            ));
        }
        let skill = self.skill.to_string_lossy();
        let skill = styled(NAME, sanitize::line(&skill));
        let outcome = match (self.is_new, dry_run) {
            (true, true) => "would be written",
            (true, false) => "is your first skill: edit it",
            (false, _) => "was here before, and stays as it is",
        };
        page.line(format_args!("{skill} {outcome}"));
        if let Some(firing) = &self.firing {
            firing.show(&mut page);
        }
        if !dry_run {
            page.line(format_args!("`repertoire init --undo` takes all of this back"));
        }
        out.human(page.as_str())?;
        for note in &self.notes {
            out.note(note);
        }
        Ok(())
    }

    fn json(&self, dry_run: bool) -> Json {
        let agent = |(agent, changed): &(McpAgent, Result<Changed, Error>)| match changed {
            Ok(changed) => changed.json(),
            Err(error) => json!({"agent": agent.as_str(), "error": Failure::from(error)}),
        };
        json!({
            "agents": self.agents.iter().map(agent).collect::<Json>(),
            "skill": {
                "path": self.skill.to_string_lossy(),
                "written": self.is_new && !dry_run,
            },
            "firing": self.firing,
            "notes": self.notes,
        })
    }
}
