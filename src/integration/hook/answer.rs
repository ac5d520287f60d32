//! What is added to the agent's context.

use std::fmt::Write as _;

use serde_json::Value;

use super::call::{HookCall, HookEvent};
use super::command::is_agent_command;
use crate::activation::{Typed, find_command};
use crate::catalog::{Audience, Entry};
use crate::disclosure::{Budget, Disclosure, DisclosureOptions, HowToLoad, PromptOptions, Reason};
use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::session::Session;

/// The most that agents take whole from a hook, in characters: Claude Code, Codex and Cursor cut
/// off at 10,000 or write the rest to a file; Copilot takes 10 KB after a tool.
const CONTEXT: usize = 10_000;
/// Of that, room for lines that say where instructions are that are too long.
const NOTES: usize = 1_000;

/// How disclosures are made for hooks: within what agents take whole.
pub fn disclosure_options() -> DisclosureOptions {
    DisclosureOptions {
        budget: Some(Budget::Characters(CONTEXT - NOTES)),
        how_to_load: HowToLoad::File,
        ..DisclosureOptions::default()
    }
}

/// How the catalog prompt is made for hooks: within what agents take whole.
pub fn prompt_options() -> PromptOptions {
    PromptOptions {
        budget: Some(Budget::Characters(CONTEXT)),
        how_to_load: HowToLoad::File,
        ..PromptOptions::default()
    }
}

impl HookCall {
    /// The agent's JSON for what is to be added to its context; `None` for nothing. The session of
    /// `engine` notes what is added, so that it is not repeated, and what the agent says it lost.
    /// The paths of [`HookEvent::Files`] are to be relative to the project by now.
    ///
    /// Fails with `EXECUTION_ERROR` if the session store cannot be read or written, and as
    /// [`Engine::activate`] does for a message that is a skill's slash command, but for one that is not
    /// available: then the answer says so.
    pub fn answer(&self, engine: &Engine) -> Result<Option<Value>, Error> {
        let session = engine.session(&self.session);
        let takes_context = self.agent.takes_context(&self.event, &self.name);
        let context = match &self.event {
            HookEvent::Start { resumed, compacted } => {
                match (resumed, compacted) {
                    (_, true) => session.compacted()?,
                    (true, _) => return Ok(None),
                    // Whatever had this name before: its context is empty.
                    _ => session.end()?,
                }
                engine.prompt().text
            }
            HookEvent::Catalog => engine.prompt().text,
            HookEvent::Prompt(message) => self.prompted(message, engine, &session)?,
            HookEvent::Files(paths) if takes_context => touched(paths, engine, &session)?,
            HookEvent::Files(_) => String::new(),
            HookEvent::Compacted => {
                session.compacted()?;
                String::new()
            }
            HookEvent::End => {
                session.end()?;
                String::new()
            }
        };
        let is_empty = context.trim().is_empty();
        Ok((!is_empty).then(|| self.agent.wrap(&self.event, &self.name, &context)))
    }

    /// What a message calls for.
    fn prompted(&self, message: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
        let Some(typed) = Typed::parse(message) else { return said(message, engine, session) };
        let catalog = engine.catalog();
        let Some(entry) = find_command(&catalog, typed.word) else {
            let is_left_alone = is_agent_command(message);
            return if is_left_alone { Ok(String::new()) } else { said(message, engine, session) };
        };
        // The agent finds the skill where we do, and answers its command.
        if entry.skill.dir().is_some_and(|dir| self.agent.reads_skills_of(dir)) {
            return Ok(String::new());
        }
        said(message, engine, session)
    }
}

/// What a message calls for.
fn said(message: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
    let Turn { text, disclosure, activation, .. } = engine.turn(message, session).run()?;
    let Some(activation) = activation else { return Ok(with_notes(text, &disclosure, engine)) };
    if text.chars().count() <= CONTEXT {
        return Ok(text);
    }
    let catalog = engine.catalog();
    Ok(catalog.get(activation.id.as_str()).map_or(text, too_long))
}

/// What the files of a tool call call for: skills whose `paths` they match, and nothing else.
fn touched(paths: &[String], engine: &Engine, session: &Session) -> Result<String, Error> {
    let paths = || paths.iter().map(String::as_str);
    if engine.turn("", session).paths(paths()).preview().full.is_empty() {
        return Ok(String::new());
    }
    let Turn { text, disclosure, .. } = engine.turn("", session).paths(paths()).run()?;
    Ok(with_notes(text, &disclosure, engine))
}

/// A text, and where the instructions are that did not fit.
fn with_notes(mut text: String, disclosure: &Disclosure, engine: &Engine) -> String {
    let is_too_long = |reason: &Reason| matches!(reason, Reason::OverBudget { cost: Some(_), .. });
    let mut room = NOTES;
    let catalog = engine.catalog();
    for omitted in disclosure.omitted.iter().filter(|of| of.reasons().any(is_too_long)) {
        let entry = catalog.find(omitted.id.as_str(), Audience::Model).ok();
        let Some(note) = entry.map(too_long) else { continue };
        let n_chars = note.chars().count() + 2;
        if n_chars <= room {
            room -= n_chars;
            let _ = write!(text, "\n\n{note}");
        }
    }
    text
}

/// What stands for instructions that do not fit.
fn too_long(entry: &Entry) -> String {
    let id = &entry.id;
    match entry.skill.path() {
        Some(path) => format!(
            "The instructions of the skill `{id}` are too long to stand here. Read them before you \
             go on: {}",
            path.display()
        ),
        None => format!("The instructions of the skill `{id}` are too long to stand here."),
    }
}
