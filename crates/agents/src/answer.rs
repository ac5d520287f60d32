//! The context that a hook adds to a conversation.

use std::path::{Path, absolute};

use serde_json::Value;

use super::agent::HookAgent;
use super::call::HookCall;
use super::channel::List;
use super::command::is_agent_command;
use super::event::HookEvent;
use super::gaps::{listed, with_gaps};
use super::notes::{GAP, NOTES, as_task, is_command, too_long, with_notes};
use super::repeated_context::without_repeated_context;
use super::skill_use::{SkillUse, owner};
use super::transcript;
use repertoire::Error;
use repertoire::activation::{Typed, find_command};
use repertoire::catalog::{Audience, Entry};
use repertoire::disclosure::{
    Budget, CatalogPrompt, DisclosureOptions, HowToLoad, NativeSkills, PromptOptions, Reason,
    Rejection, TaskRunner, Tier, model_text, path_line,
};
use repertoire::engine::{Engine, Turn, TurnBuilder};
use repertoire::session::{Event, Session, SkillState};
use repertoire::skill::SkillId;

/// The longest context that agents accept without cutting it, in characters. Claude Code, Codex and
/// Cursor cut it off at 10,000 or write the rest to a file; Copilot accepts 10 KB after a tool.
const CONTEXT: usize = 10_000;
/// The part of [`CONTEXT`] that is reserved for the sentence before the instructions of a command.
const SENTENCE: usize = 500;

/// Returns disclosure options for hooks, within the length that agents accept without cutting it.
pub fn disclosure_options() -> DisclosureOptions {
    let mut options = DisclosureOptions::default();
    options.budget = Some(Budget::Characters(CONTEXT - NOTES));
    options.how_to_load = HowToLoad::File;
    options.tasks = TaskRunner::Model;
    options
}

/// Returns catalog prompt options for hooks, within the length that agents accept without cutting it.
pub fn prompt_options() -> PromptOptions {
    let mut options = PromptOptions::default();
    options.budget = Some(Budget::Characters(CONTEXT));
    options.how_to_load = HowToLoad::File;
    options.tasks = TaskRunner::Model;
    options
}

impl HookCall {
    /// Returns the agent's JSON with the text to add to its context; `None` to add nothing. Records the
    /// added text in the session of `engine`, if the call names one, so that it is not repeated, and the
    /// text that the agent reports as lost. The paths of [`HookEvent::Files`] must already be relative to the project.
    ///
    /// While the session store fails, the answer comes from memory. Fails like
    /// [`Engine::activate`] for a message that is a skill's slash command; an unavailable skill is not
    /// an error, but named in the answer.
    pub fn answer(&self, engine: &Engine) -> Result<Option<Value>, Error> {
        let session = match &self.session {
            Some(session) => engine.session(session).tolerant(),
            None => Session::in_memory(self.agent.as_str()),
        };
        if let Some(shown) = &self.skill {
            self.note_use(shown, engine, &session)?;
        }
        let takes_context = self.agent.takes_context(&self.event, &self.name);
        let context = match &self.event {
            HookEvent::Start { resumed, compacted, cleared } => {
                if *compacted {
                    session.compacted()?;
                }
                if *cleared {
                    session.end()?;
                }
                // A conversation that starts may have had its first message answered already: Copilot
                // runs the hooks for the start and for the first message at the same time.
                let is_listed = self.agent.channel().lists_at_start(*resumed);
                if is_listed { self.list(engine, &session, CONTEXT)? } else { String::new() }
            }
            HookEvent::Catalog => self.list(engine, &session, CONTEXT)?,
            HookEvent::Prompt(prompt) => self.prompted(prompt, engine, &session)?,
            HookEvent::Files(paths) if takes_context => self.touched(paths, engine, &session)?,
            HookEvent::Files(_) | HookEvent::Compacting | HookEvent::Exit => String::new(),
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
        Ok((!is_empty).then(|| self.agent.wrap(&self.event, &self.name, &model_text(&context))))
    }

    /// Lists the skills that the agent does not list by itself, in at most `room` characters, and
    /// records them in the session. Describes native skills that the agent's own list only names.
    fn list(&self, engine: &Engine, session: &Session, room: usize) -> Result<String, Error> {
        let text = if self.is_listed_by_client {
            let catalog = engine.catalog();
            let ids = catalog.listed(Audience::Model).map(|entry| entry.id.clone());
            session.listed(&ids.collect::<Vec<_>>())?;
            String::new()
        } else {
            let n_chars = |prompt: &CatalogPrompt| prompt.text.chars().count();
            let of_length = |n| self.catalog(engine, Some(Budget::Characters(n)));
            let mut prompt = self.catalog(engine, None);
            if n_chars(&prompt) > room {
                prompt = of_length(room);
            }
            if n_chars(&prompt) > room {
                // What is always listed does not count towards a budget, but the agent cuts it, too.
                prompt = of_length(room.saturating_sub(n_chars(&of_length(0))));
            }
            session.listed(&prompt.included)?;
            prompt.text
        };
        let n_chars = text.chars().count() + GAP.len();
        let left = room.saturating_sub(n_chars);
        let described = self.descriptions(engine, session, left)?;
        let parts = [text, described].into_iter().filter(|part| !part.is_empty());
        Ok(parts.collect::<Vec<_>>().join(GAP))
    }

    /// Returns the list of the skills that the agent does not list by itself, within `budget` if there is
    /// one, else within the engine's.
    fn catalog(&self, engine: &Engine, budget: Option<Budget>) -> CatalogPrompt {
        let mut options = engine.prompt_options().clone();
        options.native = Some(self.native.clone());
        options.budget = budget.or(options.budget);
        engine.prompt_with(&options)
    }

    /// Returns the context for a message. Includes the list of skills if this is where the agent gets
    /// it.
    fn prompted(&self, prompt: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
        let message = without_repeated_context(prompt, || self.catalog(engine, None).text);
        self.note_lost(message, session, engine)?;
        if self.agent.channel().list != List::FirstPrompt
            || session.state()?.skills.iter().any(|skill| skill.listed)
        {
            return self.called_for(message, engine, session);
        }
        // The list gets the room that the other text leaves.
        let list = |text: &str| {
            let n_chars = text.chars().count();
            let gap = if n_chars == 0 { 0 } else { GAP.len() };
            self.list(engine, session, CONTEXT.saturating_sub(n_chars + gap))
        };
        let catalog = engine.catalog();
        let command = Typed::parse(message).and_then(|typed| find_command(&catalog, typed.word));
        let (list, text) = if command.is_some() {
            // The list does not change the text of a command.
            let text = self.called_for(message, engine, session)?;
            (list(&text)?, text)
        } else {
            // What the list names, the text does not name again, so it only becomes shorter.
            let preview = self.turn(message, engine, session).preview();
            let list = list(&with_notes(preview.text.clone(), &preview, engine))?;
            (list, self.called_for(message, engine, session)?)
        };
        let parts = [list, text].into_iter().filter(|part| !part.is_empty());
        Ok(parts.collect::<Vec<_>>().join(GAP))
    }

    fn turn<'t>(
        &self,
        message: &'t str,
        engine: &'t Engine,
        session: &'t Session,
    ) -> TurnBuilder<'t> {
        let turn = engine.turn(message, session);
        // A retriever is asked once.
        let is_native = engine.has_retriever() || {
            let shown = turn.preview();
            self.meets_native(shown.full.iter().chain(&shown.registry), engine)
        };
        turn.native(self.native_if(is_native, engine, session))
    }

    /// Tells whether the agent lists one of these skills by itself. Only then its whole list matters, which takes a
    /// look at each skill.
    fn meets_native<'s>(
        &self,
        ids: impl IntoIterator<Item = &'s SkillId>,
        engine: &Engine,
    ) -> bool {
        let catalog = engine.catalog();
        let mut entries = ids.into_iter().filter_map(|id| catalog.get(id.as_str()));
        entries.any(|entry| self.native.has(entry))
    }

    /// Returns the skills that the agent lists by itself; with what its list lacks if one of them `is_met`.
    fn native_if(&self, is_met: bool, engine: &Engine, session: &Session) -> NativeSkills {
        let native = self.native.clone();
        if !is_met {
            return native;
        }
        with_gaps(native, self.listing.as_ref(), engine, &session.state().unwrap_or_default())
    }

    /// Records in the session which text of the engine is missing from the agent's record of the conversation: Gemini
    /// has shortened the context then, and the user of Claude Code has rewound the conversation.
    fn note_lost(&self, message: &str, session: &Session, engine: &Engine) -> Result<(), Error> {
        let Some(record) = &self.transcript else { return Ok(()) };
        let state = session.state()?;
        // Claude Code gives the list again itself where it needs to.
        let has_list = self.agent == HookAgent::Gemini && !self.is_listed_by_client;
        let is_any = state.skills.iter().any(|skill| skill.in_context || has_list && skill.listed);
        let is_any = is_any
            && (self.agent == HookAgent::Gemini || calls_for_known(message, engine, session));
        let standing = || transcript::standing(record, self.agent);
        let Some(messages) = is_any.then(standing).flatten() else {
            return Ok(());
        };
        let catalog = engine.catalog();
        let lacks = |text: &str| !transcript::holds(&messages, text);
        let has_no_body = |skill: &&SkillState| {
            let entry = catalog.get(skill.skill.as_str()).filter(|_| skill.in_context);
            let dir = entry.and_then(|entry| absolute(entry.skill.dir()?).ok());
            dir.is_some_and(|dir| {
                lacks(&format!("Base directory: {}", path_line(&dir.display().to_string())))
            })
        };
        if self.agent != HookAgent::Gemini {
            let mut gone = state.skills.iter().filter(has_no_body);
            return gone
                .try_for_each(|skill| session.record(&Event::Stopped(&skill.skill)).map(drop));
        }
        let has_no_line = |skill: &SkillState| {
            let entry = catalog.get(skill.skill.as_str());
            // The line of a native skill may stand without the heading.
            let is_in_list = has_list && !entry.is_some_and(|entry| self.native.has(entry));
            skill.listed && is_in_list && lacks("## Available skills")
        };
        let is_lost = |skill: &SkillState| has_no_body(&skill) || has_no_line(skill);
        if state.skills.iter().any(is_lost) { session.compacted() } else { Ok(()) }
    }

    /// Returns the text that a message calls for; nothing if the agent handles the message itself.
    fn called_for(
        &self,
        message: &str,
        engine: &Engine,
        session: &Session,
    ) -> Result<String, Error> {
        let Some(typed) = Typed::parse(message) else { return self.said(message, engine, session) };
        let is_left_alone = match find_command(&engine.catalog(), typed.word) {
            // The agent finds the skill in the same place, and handles its command.
            Some(entry) => self.is_agent_command || self.native.finds(entry),
            None => self.is_agent_command || is_agent_command(message),
        };
        if is_left_alone {
            session.other_message();
            return Ok(String::new());
        }
        self.said(message, engine, session)
    }

    /// Returns the text that an ordinary message, not a command of the agent, calls for.
    fn said(&self, message: &str, engine: &Engine, session: &Session) -> Result<String, Error> {
        let catalog = engine.catalog();
        let command = Typed::parse(message).and_then(|typed| find_command(&catalog, typed.word));
        let tasks = engine.disclosure_options().tasks;
        let is_task = command.is_some_and(|entry| tasks.is_model_for(entry));
        // The instructions of a task are not shown to this model.
        let room = if is_task { 0 } else { CONTEXT - SENTENCE };
        let turn = self.turn(message, engine, session).max_command_chars(room);
        let Turn { text, disclosure, activation, refused, .. } = turn.run()?;
        let Some(activation) = activation else {
            let is_count = refused.is_none() && disclosure.tier == Tier::Breadcrumb;
            if is_count && self.knows_all(engine, session)? {
                return Ok(String::new());
            }
            return Ok(with_notes(text, &disclosure, engine));
        };
        let id = activation.id.as_str();
        let (follow, text) = match catalog.get(id) {
            Some(entry) if is_task => ("", as_task(entry)),
            Some(entry) if text.chars().count() > room => ("", too_long(entry)),
            _ => (" These are its instructions.", text),
        };
        Ok(match self.agent {
            // Claude Code's own reminder says that no such command is installed.
            HookAgent::ClaudeCode => format!("{}{follow}{GAP}{text}", is_command(id)),
            _ => text,
        })
    }

    /// Records in the session the use of a skill that a tool call shows, if messages are kept. Nothing
    /// else depends on it: the calls are those of a model, which must not get any rights by them.
    fn note_use(&self, shown: &SkillUse, engine: &Engine, session: &Session) -> Result<(), Error> {
        if !session.keeps_messages() {
            return Ok(());
        }
        let (catalog, state) = (engine.catalog(), session.state()?);
        let note = |entry: &Entry, is_load: bool| {
            // A skill whose instructions are in the context is only used again.
            if is_load && !state.shows(&entry.id, &entry.skill) {
                session.note_load(&entry.id);
            } else {
                session.note_use(&entry.id);
            }
        };
        let named = |name: &str| catalog.find(name, Audience::Model).ok();
        match shown {
            SkillUse::Loaded(name) => named(name).into_iter().for_each(|entry| note(entry, true)),
            SkillUse::Used(name) => named(name).into_iter().for_each(|entry| note(entry, false)),
            SkillUse::Read(paths) => {
                let base = self.cwd.as_deref().unwrap_or(Path::new(""));
                let owners = paths.iter().filter_map(|path| owner(&catalog, &base.join(path)));
                owners.for_each(|(entry, is_its_file)| note(entry, is_its_file));
            }
        }
        Ok(())
    }

    /// Tells whether the conversation names all skills already, so that their number adds nothing.
    fn knows_all(&self, engine: &Engine, session: &Session) -> Result<bool, Error> {
        let state = session.state()?;
        let (listed, catalog) = (listed(&state), engine.catalog());
        let mut entries = catalog.listed(Audience::Model);
        Ok(entries.all(|entry| listed.contains(&entry.id) || self.native.has(entry)))
    }

    /// Returns the text for the files of a tool call: only skills with matching `paths`.
    fn touched(
        &self,
        paths: &[String],
        engine: &Engine,
        session: &Session,
    ) -> Result<String, Error> {
        let turn = |native| {
            engine.turn("", session).native(native).paths(paths.iter().map(String::as_str))
        };
        let preview = turn(self.native.clone()).preview();
        let is_native = |left_out: &Rejection| left_out.reasons().any(|r| *r == Reason::Native);
        let told = |id: &SkillId| session.state().is_ok_and(|state| state.was_listed(id));
        let mut native = preview.omitted.iter().filter(|left_out| is_native(left_out));
        // A line that names the agent's own skills is given once.
        let meets_native = native.any(|native| !told(&native.id));
        if preview.full.is_empty() && !meets_native {
            return self.list_nested(engine, session);
        }
        let native = self.native_if(meets_native, engine, session);
        let Turn { text, disclosure, .. } = turn(native).run()?;
        let text = with_notes(text, &disclosure, engine);
        let parts = [text, self.list_nested(engine, session)?].into_iter();
        Ok(parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(GAP))
    }

    /// Lists the skills near the touched files that neither the agent nor the conversation has yet.
    fn list_nested(&self, engine: &Engine, session: &Session) -> Result<String, Error> {
        let Some(dir) = &self.nested else { return Ok(String::new()) };
        let (catalog, state) = (engine.catalog(), session.state()?);
        let has = |known: &SkillState| known.listed || known.in_context;
        let told = |id: &SkillId| state.skills.iter().any(|known| known.skill == *id && has(known));
        let is_near = |entry: &&Entry| entry.skill.dir().is_some_and(|at| at.starts_with(dir));
        let near = catalog.listed(Audience::Model).filter(is_near);
        let new: Vec<SkillId> = near
            .filter(|entry| !told(&entry.id) && !self.native.has(entry))
            .map(|entry| entry.id.clone())
            .collect();
        if new.is_empty() {
            return Ok(String::new());
        }
        let mut options = engine.prompt_options().clone();
        options.only = Some(new);
        let prompt = engine.prompt_with(&options);
        session.listed(&prompt.included)?;
        Ok(prompt.text)
    }
}

/// Tells whether `message` calls for a skill whose instructions the session has in the context. Only then it matters
/// whether they stand there, and telling takes a look at megabytes.
fn calls_for_known(message: &str, engine: &Engine, session: &Session) -> bool {
    // A retriever is asked once, for the answer.
    engine.has_retriever() || {
        let preview = engine.turn(message, session).preview();
        let mut reasons = preview.omitted.iter().flat_map(Rejection::reasons);
        reasons.any(|reason| *reason == Reason::InContext)
    }
}
