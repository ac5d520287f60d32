//! Disclosures: the text about the skills that the matcher and the relevance index find.

use std::borrow::Cow;
use std::cell::Cell;

use repertoire_text::request::Parts;

use super::Engine;
use super::ranker::{MAX_ATTACHED, Ranker};
use super::snapshot::Snapshot;
use crate::activation::{ConsentPolicy, Typed, find_command};
use crate::catalog::{Audience, Entry, Exposure};
use crate::disclosure::idle;
use crate::disclosure::{
    self, Disclosed, Disclosure, DisclosureOptions, Evidence, Reason, TaskRunner,
};
use crate::matcher::{self, Answer, Query, Selection, find_literal};
use crate::session::{Event, Session, SessionState};
use crate::skill::{Context, SkillId};

/// A disclosure in a conversation.
pub(super) struct Told {
    pub(super) disclosed: Disclosed,
    /// The skills in the context, or lost from it, whose use the query ends by denying their names.
    pub(super) stopped: Vec<SkillId>,
    /// The number of skills that the query matches.
    pub(super) matched: usize,
    /// The number of skills that the query would match if an `exclude` did not veto them.
    pub(super) vetoed: usize,
    /// True if skills were ranked by relevance.
    pub(super) is_ranked: bool,
}

impl Engine {
    /// Returns the disclosure for `query`, outside of any conversation. In a conversation, use
    /// [`Engine::turn`], which does not repeat what was shown before.
    ///
    /// A command with arguments (`/id args`) that calls for no other skill yields the instructions of its skill with
    /// them, and so does any command of a skill that only the user can invoke. A skill that runs as a task is a line.
    pub fn disclose<'q>(&self, query: impl Into<Query<'q>>) -> Disclosure {
        let query = query.into();
        let (state, options) = (SessionState::default(), &self.0.disclosure);
        let routed = self.disclose_after(&self.snapshot(), &query, &state, options);
        self.command(&query, &routed).unwrap_or(routed)
    }

    /// Returns the answer to a command that routing cannot answer: with arguments, or of a skill that is closed
    /// to the model; `None` for any other message, for one that `routed` answers with other skills, too, and for a
    /// command that fails.
    fn command(&self, query: &Query<'_>, routed: &Disclosure) -> Option<Disclosure> {
        let typed = Typed::parse(&query.text)?;
        let catalog = self.catalog();
        let entry = find_command(&catalog, typed.word)?;
        let is_routed = entry.is_listed(Audience::Model);
        let calls_for_others = routed.full.iter().any(|id| *id != entry.id);
        let is_task = self.runs_as_task(entry, self.0.disclosure.tasks);
        if is_routed && (typed.args.is_empty() || calls_for_others || is_task) {
            return None;
        }
        let session = Session::in_memory("disclose");
        let turn = self.turn(query.clone(), &session).run().ok()?;
        turn.activation.map(|_| Disclosure { text: turn.text, ..turn.disclosure })
    }

    /// Returns the disclosure for `message` as if the skill `id` did not list it among its
    /// `examples.should`: an example that relevance knows would find its own skill. For `check`.
    #[doc(hidden)]
    pub fn disclose_without_example(&self, message: &str, id: &SkillId) -> Disclosure {
        let now = self.snapshot();
        let relevance = now.listing.get(id).and_then(|entry| {
            now.relevance().with_skill(id, &entry.skill.without_example(message))
        });
        let now =
            relevance.map_or_else(|| Snapshot::clone(&now), |index| now.with_relevance(index));
        let (query, state) = (Query::from(message), SessionState::default());
        self.disclose_after(&now, &query, &state, &self.0.disclosure)
    }

    /// The disclosure in a conversation with the history `state`.
    pub(super) fn disclose_after(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        state: &SessionState,
        options: &DisclosureOptions,
    ) -> Disclosure {
        self.tell_after(now, query, state, options, false).disclosed.disclosure
    }

    /// The disclosure in a conversation with the history `state`, and the facts about it. With `explains`,
    /// these include the decisions on relevant skills.
    pub(super) fn tell_after(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        state: &SessionState,
        options: &DisclosureOptions,
        explains: bool,
    ) -> Told {
        let parts = Parts::of(&query.text);
        let answer = (!query.is_blank()).then(|| {
            let answer = now.select(query, &parts, state, selection(state, options));
            now.with_users_place(answer, query, &parts, state, options.max_skills)
        });
        self.tell(now, &parts, answer, state, options, explains)
    }

    /// The disclosure for a query as [`Engine::tell_after`] returns it, given the parts of its text, and the `answer`
    /// of the matcher unless the query is blank.
    pub(super) fn tell(
        &self,
        now: &Snapshot,
        parts: &Parts<'_>,
        answer: Option<Answer>,
        state: &SessionState,
        options: &DisclosureOptions,
        explains: bool,
    ) -> Told {
        let stopped = answer.as_ref().map_or_else(Vec::new, |answer| stopped(answer, state));
        let state = &*without(state, &stopped);
        let (matched, vetoed) =
            answer.as_ref().map_or((0, 0), |answer| (answer.n_matches, answer.vetoed.len()));
        let topic = answer.as_ref().and_then(|answer| answer.topic.clone());
        let is_ranked = Cell::new(false);
        let ranker = Ranker::new(self, now);
        let evidence = Evidence {
            relevant: &|limit| {
                is_ranked.set(true);
                match &topic {
                    Some(topic) => ranker.rank_text(topic, limit),
                    None => ranker.rank(parts, limit),
                }
            },
            apart: &|limit| ranker.rank_apart(&parts.request(), limit),
            is_idle: &|| idle::is_idle(&parts.request()) && !parts.has_attachments(),
            has_long_attachments: parts.n_attached_bytes() > MAX_ATTACHED,
            exclude: &|entry| exclude_of(entry, &self.bounded(&parts.request())),
            denies: &|entry| matcher::denies(&entry.skill, &self.bounded(&parts.request())),
            withheld: &|entry| {
                let native = options.is_native(entry).then_some(Reason::Native);
                native.or_else(|| self.withheld(entry, state, options.tasks))
            },
            explains,
        };
        let mut disclosed =
            disclosure::disclose(&now.listing, answer, &evidence, state, options, &*self.0.tokens);
        disclosed.disclosure.failure = ranker.into_failure();
        Told { disclosed, stopped, matched, vetoed, is_ranked: is_ranked.get() }
    }

    /// Returns as much of a part of a message as is searched. What a harness wrote must be left out already.
    pub(super) fn bounded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_long = text.len() > self.query_limits().literals;
        if is_long { self.searched_part(text) } else { Cow::Borrowed(text) }
    }

    /// Tells whether a skill runs as a task: it asks for one, and the host or the model can spawn it.
    pub(super) fn runs_as_task(&self, entry: &Entry, runner: TaskRunner) -> bool {
        let asks = entry.skill.manifest().context == Context::Fork;
        asks && self.spawns_tasks() || runner.is_model_for(entry)
    }

    /// The reason why a disclosure must not show the instructions of a skill.
    fn withheld(&self, entry: &Entry, state: &SessionState, runner: TaskRunner) -> Option<Reason> {
        if self.runs_as_task(entry, runner) {
            return Some(Reason::RunsAsTask);
        }
        if entry.exposure > Exposure::Full {
            return Some(Reason::LineOnly { exposure: entry.exposure });
        }
        let is_open = match self.0.consent.policy {
            ConsentPolicy::Never => true,
            ConsentPolicy::FirstUse => state.of(&entry.id).is_some_and(|known| known.consented),
            ConsentPolicy::Always => false,
        };
        (!is_open).then_some(Reason::NeedsConsent)
    }
}

/// Returns the selection of matches for a disclosure. Skills that are in the context, or were lost from it, are
/// reported whatever their rank.
pub(super) fn selection<'s>(state: &'s SessionState, options: &DisclosureOptions) -> Selection<'s> {
    let known = state.skills.iter().filter(|known| known.in_context || known.lost);
    let limit = options.max_skills.saturating_add(disclosure::MAX_NEXT);
    let named = known.map(|known| &known.skill).collect();
    Selection { limit, named, ..Selection::default() }
}

/// The skills in the context, or lost from it, that a message denies by name, and does not call for by a
/// trigger elsewhere.
fn stopped(answer: &Answer, state: &SessionState) -> Vec<SkillId> {
    let is_in_use = |id: &SkillId| state.of(id).is_some_and(|known| known.in_context || known.lost);
    let is_matched = |id: &SkillId| {
        answer.matches.iter().any(|found| found.id == *id) || answer.beyond.contains(id)
    };
    let denied = answer.denied.iter().filter(|id| is_in_use(id) && !is_matched(id));
    denied.cloned().collect()
}

/// The state after the use of these skills ended.
fn without<'s>(state: &'s SessionState, stopped: &[SkillId]) -> Cow<'s, SessionState> {
    let mut state = Cow::Borrowed(state);
    for id in stopped {
        let ended = state.to_mut().skills.iter_mut().filter(|known| known.skill == *id);
        ended.for_each(|known| known.apply(&Event::Stopped(id)));
    }
    state
}

/// The exclude of a skill that occurs in `text`. For skills that only the user can use: the matcher does
/// not know them.
fn exclude_of(entry: &Entry, text: &str) -> Option<String> {
    let mut excludes = entry.skill.triggers().exclude.iter().map(|exclude| &exclude.value);
    excludes.find(|exclude| find_literal(text, exclude).is_some()).cloned()
}
