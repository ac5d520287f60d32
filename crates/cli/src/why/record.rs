//! The record of a conversation, and what its next message adds: which skills the model has in full, as a
//! line, or not any more, and why.

use std::collections::BTreeSet;

use repertoire::catalog::Entry;
use repertoire::session::{Session, SkillState};
use repertoire::{Disclosure, DisclosureOptions, Engine, Error, Query, SkillId};
use serde::Serialize;

use super::verdict::verdict;
use crate::output::{DIM, NAME, Page, styled};
use crate::sanitize;

/// The record, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    /// The name of the conversation.
    session: String,
    skills: Vec<Line>,
    /// The number of skills that the message only counts.
    n_counted: usize,
    /// The number of matching skills below the limit.
    n_below_limit: usize,
    /// The reason why the agent runs no hook, so that the message adds nothing.
    silence: Option<String>,
}

/// A skill that the conversation or the message concerns.
#[derive(Debug, Serialize)]
struct Line {
    id: String,
    /// The form in which the context has it before the message.
    has: Form,
    /// The form in which the message adds it.
    adds: Form,
    /// The reason as a code.
    code: &'static str,
    reason: String,
    /// The number of times that the model or the user loaded it.
    n_loads: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Full,
    Line,
    /// The context lost the instructions when it was shortened.
    Lost,
    Nothing,
}

impl Form {
    fn in_context(state: Option<&SkillState>) -> Form {
        match state {
            Some(state) if state.in_context => Form::Full,
            Some(state) if state.lost => Form::Lost,
            Some(state) if state.listed => Form::Line,
            _ => Form::Nothing,
        }
    }

    /// The form in a phrase about the context.
    fn title(self) -> &'static str {
        match self {
            Form::Full => "in full",
            Form::Line => "as a line",
            Form::Lost => "lost when the context was shortened",
            Form::Nothing => "not at all",
        }
    }
}

/// Reads the record of `session`, and finds out what `query` adds to it with `options`.
/// `silence` is the reason why the agent runs no hook.
pub(super) fn of(
    engine: &Engine,
    query: &Query<'_>,
    session: &Session,
    options: &DisclosureOptions,
    silence: Option<String>,
) -> Result<Record, Error> {
    let state = session.state()?;
    let disclosure = engine.turn(query, session).options(options).preview();
    let names_all = options.native.as_ref().is_some_and(|native| native.names_all);
    let catalog = engine.catalog();
    let Disclosure { full, registry, omitted, .. } = &disclosure;
    let of_message = full.iter().chain(registry).chain(omitted.iter().map(|omitted| &omitted.id));
    let of_session = state.skills.iter().map(|skill| &skill.skill);
    let mut seen = BTreeSet::new();
    let ids = of_message.chain(of_session).filter(|id| seen.insert(id.as_str()));
    let entries = ids.filter_map(|id| catalog.find_any(id.as_str()).ok());
    let line = |entry: &Entry| {
        let known = state.skills.iter().find(|skill| skill.skill == entry.id);
        let verdict = verdict(engine, entry, query, session, options);
        let has = |ids: &[SkillId]| ids.contains(&entry.id);
        let adds = match () {
            () if silence.is_some() => Form::Nothing,
            () if verdict.fires => Form::Full,
            () if has(registry) => Form::Line,
            () => Form::Nothing,
        };
        Line {
            id: verdict.id,
            has: Form::in_context(known),
            adds,
            code: verdict.code,
            reason: verdict.reason,
            n_loads: known.map_or(0, |known| known.activations),
        }
    };
    let skills = entries.map(line).collect();
    Ok(Record {
        session: session.id().to_owned(),
        skills,
        n_counted: if names_all { 0 } else { disclosure.hidden },
        n_below_limit: disclosure.below_limit,
        silence,
    })
}

/// Shows the record: a line for each skill.
pub(super) fn page(record: &Record) -> Page {
    let mut page = Page::default();
    let session = sanitize::line(&record.session).into_owned();
    page.line(format_args!("the model of {} has", styled(NAME, session)));
    let has = |line: &&Line| line.has != Form::Nothing;
    for line in record.skills.iter().filter(has) {
        let loads = match line.n_loads {
            0 => String::new(),
            1 => ", loaded once".to_owned(),
            n => format!(", loaded {n} times"),
        };
        let id = sanitize::line(&line.id).into_owned();
        page.line(format_args!("  {} {}{loads}", styled(NAME, id), line.has.title()));
    }
    if !record.skills.iter().any(|line| has(&line)) {
        page.line(format_args!("  none of the skills"));
    }
    if let Some(why) = &record.silence {
        let why = sanitize::line(why);
        page.line(format_args!("this message adds nothing: the agent runs no hook here: {why}"));
        return page;
    }
    page.line(format_args!("this message adds"));
    for line in &record.skills {
        let (id, reason) = (sanitize::line(&line.id).into_owned(), sanitize::line(&line.reason));
        let id = styled(NAME, id);
        page.line(format_args!("  {id} {}: {}", line.adds.title(), styled(DIM, reason)));
    }
    for (n, what) in [(record.n_counted, "only counted"), (record.n_below_limit, "below the limit")]
    {
        if n > 0 {
            page.line(format_args!("  {n} {what}"));
        }
    }
    page
}
