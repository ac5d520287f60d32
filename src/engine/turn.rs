//! A turn of a conversation: everything that a host needs for one message, in one call.

use std::borrow::Cow;

use tracing::Span;

use super::disclose::Told;
use super::{Engine, EngineCounts, Explanation, FoundSkill, SessionTools};
use crate::activation::Activation;
use crate::disclosure::{
    Budget, Considered, Disclosed, Disclosure, DisclosureOptions, HowToLoad, Lack, NativeSkills,
    Tier, model_text,
};
use crate::error::{Error, ErrorCode};
use crate::matcher::{Match, Query};
use crate::session::{Event, Session, SessionState};
use crate::spans;

/// A message of a conversation, and the options of its answer. Made by [`Engine::turn`].
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `run`"]
pub struct TurnBuilder<'t> {
    engine: &'t Engine,
    session: &'t Session,
    query: Query<'t>,
    options: Cow<'t, DisclosureOptions>,
    max_command_chars: Option<usize>,
    is_refusal: fn(&Error) -> bool,
}

/// The answer to one message of a conversation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The text to put into the context with the message: the instructions of a skill if the message is
    /// that skill's command, otherwise the disclosure. May be empty.
    pub text: String,
    /// The skills disclosed, and those left out with the reasons; for a command, its skill only.
    pub disclosure: Disclosure,
    /// The skill that the message activated, if it is a command such as `/review PR 42`.
    pub activation: Option<Activation>,
    /// The reason why the message activated nothing although it is the command of a skill: the skill is
    /// not available, or the host took the error for a refusal ([`TurnBuilder::refuse`]). The text says
    /// so as well.
    pub refused: Option<Error>,
    /// The failure of the session's store because of which this answer comes from memory, or is kept in memory
    /// only; see [`Session::unsaved`].
    pub unsaved: Option<Error>,
    /// The model's tools. The list is always current: skills that are loaded later add their tools.
    pub tools: SessionTools,
}

impl Turn {
    /// Records the answer in the span of its turn.
    fn note(&self, span: &Span) {
        if span.is_disabled() {
            return;
        }
        let Disclosure { tier, full, relevant, registry, hidden, .. } = &self.disclosure;
        span.record("tier", *tier as i64);
        span.record("full", spans::list(full));
        span.record("relevance", relevant.is_some());
        span.record("lines", spans::list(registry));
        span.record("counted", spans::int(*hidden));
        if let Some(activation) = &self.activation {
            span.record("command", activation.id.as_str());
        }
        span.record("text.bytes", spans::int(self.text.len()));
    }
}

impl Engine {
    /// Prepares the answer to `message`, which the user wrote in `session`; see [`TurnBuilder::run`].
    ///
    /// ```
    /// use repertoire::{Engine, Skill, ToolFormat};
    ///
    /// let skill: Skill = "---\nname: review\ndescription: Reviews code.\n---\nReview $ARGUMENTS.".parse()?;
    /// let engine = Engine::builder().skill(skill).build()?;
    /// let session = engine.session("chat-7");
    ///
    /// let turn = engine.turn("/review PR 42", &session).run()?;
    /// assert!(turn.text.contains("Review PR 42."));
    /// assert_eq!(turn.tools.definitions(ToolFormat::Anthropic)[0]["name"], "use_skill");
    ///
    /// // The instructions stand in the context: they are referred to, not repeated.
    /// let turn = engine.turn("use the review skill on PR 43", &session).run()?;
    /// assert!(turn.disclosure.full.is_empty() && turn.text.contains("review"));
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn turn<'t>(
        &'t self,
        message: impl Into<Query<'t>>,
        session: &'t Session,
    ) -> TurnBuilder<'t> {
        let options = Cow::Borrowed(&self.0.disclosure);
        let query = message.into();
        let (max_command_chars, is_refusal): (_, fn(&Error) -> bool) = (None, |_| false);
        TurnBuilder { engine: self, session, query, options, max_command_chars, is_refusal }
    }
}

impl<'t> TurnBuilder<'t> {
    /// Discloses with these options instead of the engine's.
    pub fn options(mut self, options: &'t DisclosureOptions) -> TurnBuilder<'t> {
        self.options = Cow::Borrowed(options);
        self
    }

    /// Discloses within this budget.
    pub fn budget(mut self, budget: Budget) -> TurnBuilder<'t> {
        self.options.to_mut().budget = Some(budget);
        self
    }

    /// Does not record the instructions of a command as shown if their text has more than `n`
    /// characters, since the host leaves such a text out.
    pub fn max_command_chars(mut self, n: usize) -> TurnBuilder<'t> {
        self.max_command_chars = Some(n);
        self
    }

    /// Discloses for an agent that lists and loads the skills in `native` by itself.
    pub fn native(mut self, native: NativeSkills) -> TurnBuilder<'t> {
        self.options.to_mut().native = Some(native);
        self
    }

    /// Adds the paths of files that the message is about, `/`-separated and relative to the project.
    pub fn paths<P: Into<Cow<'t, str>>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
    ) -> TurnBuilder<'t> {
        self.query.paths.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Takes the errors of a command for which `is_refusal` returns true as it takes `NOT_FOUND`: they are
    /// reported in [`Turn::refused`], beside a disclosure. For hosts that cannot act on such errors, as
    /// they neither ask the user nor spawn tasks.
    pub fn refuse(mut self, is_refusal: fn(&Error) -> bool) -> TurnBuilder<'t> {
        self.is_refusal = is_refusal;
        self
    }

    /// Answers the message. A command such as `/review PR 42` activates its skill; if the skill asks for
    /// a task and the host spawns none, its instructions join the conversation. Any other message is
    /// answered with a disclosure of the skills that matter to it. The session records the skills shown,
    /// so that their instructions are not repeated unless the message asks to see all skills.
    ///
    /// While the session's store fails, the answer comes from memory, and [`Turn::unsaved`] says why. A command
    /// fails as [`Engine::activate`] does, except that `NOT_FOUND` and other refusals
    /// ([`TurnBuilder::refuse`]) are reported in [`Turn::refused`] instead.
    pub fn run(self) -> Result<Turn, Error> {
        let span = spans::turn(&self.query.text);
        let turn = spans::within(&span, || self.answer(&span))?;
        turn.note(&span);
        Ok(turn)
    }

    fn answer(&self, span: &Span) -> Result<Turn, Error> {
        let TurnBuilder { engine, max_command_chars: max, is_refusal, .. } = *self;
        let session = &self.session.tolerant();
        let state = session.state()?;
        let tools = engine.tools(session);
        let refused = match engine.user_message_within(max, &self.query.text, session) {
            Ok(Some(activation)) => {
                let text = activation.to_text();
                let disclosure = disclosure_of(&activation, &text);
                let (activation, unsaved) = (Some(activation), session.unsaved());
                return Ok(Turn { text, disclosure, activation, refused: None, unsaved, tools });
            }
            Ok(None) => None,
            Err(error) if error.code() == ErrorCode::NotFound || is_refusal(&error) => Some(error),
            Err(error) => return Err(error),
        };
        let disclosure = self.disclose(session, &state, span)?;
        let text = match &refused {
            None => disclosure.text.clone(),
            Some(error) => {
                let message = model_text(error.message());
                let note = format!("The user asked for a skill by name: {message}.");
                let gap = if disclosure.text.is_empty() { "" } else { "\n\n" };
                note + gap + &disclosure.text
            }
        };
        let unsaved = session.unsaved();
        Ok(Turn { text, disclosure, activation: None, refused, unsaved, tools })
    }

    /// Returns the disclosure for the message without recording it in the session. While
    /// the session cannot be read, memory stands in for it.
    pub fn preview(&self) -> Disclosure {
        let (engine, state) = (self.engine, self.known());
        engine.disclose_after(&engine.snapshot(), &self.query, &state, &self.worded())
    }

    /// All skills that the message matches, best first. Skills that were used in the session rank
    /// higher.
    pub fn matches(&self) -> Vec<Match> {
        self.engine.snapshot().search(&self.query, &self.known(), usize::MAX).matches
    }

    /// The best `limit` matches, and the reasons why other skills are not among them; see
    /// [`Engine::explain`].
    pub fn explain(&self, limit: usize) -> Explanation {
        let engine = self.engine;
        engine.explain_after(&engine.snapshot(), &self.query, &self.known(), &self.options, limit)
    }

    /// The best `limit` skills for the message; see [`Engine::find_skills`].
    pub fn find_skills(&self, limit: usize) -> Vec<FoundSkill> {
        self.find_or_failure(limit).0
    }

    /// Finds skills as [`TurnBuilder::find_skills`] does, and returns the failure of the retriever, if it failed.
    pub(super) fn find_or_failure(&self, limit: usize) -> (Vec<FoundSkill>, Option<String>) {
        self.engine.find_after(&self.query, &self.known(), limit)
    }

    /// Makes the disclosure, and records in the session the skills it shows.
    fn disclose(
        &self,
        session: &Session,
        state: &SessionState,
        span: &Span,
    ) -> Result<Disclosure, Error> {
        let (engine, now) = (self.engine, self.engine.snapshot());
        let explains = !span.is_disabled();
        let told = engine.tell_after(&now, &self.query, state, &self.worded(), explains);
        let Told { disclosed, stopped, matched, vetoed, is_ranked } = told;
        let Disclosed { disclosure, postponed, considered } = disclosed;
        if let Some(nearest) = considered.first() {
            note_nearest(nearest, span);
        }
        span.record("matched", spans::int(matched));
        span.record("vetoed", spans::int(vetoed));
        span.record("ranked", is_ranked);
        engine.1.counters.add(EngineCounts {
            queries: 1,
            matched: matched as u64,
            vetoed: vetoed as u64,
            full: disclosure.full.len() as u64,
            lines: disclosure.registry.len() as u64,
            counted: disclosure.hidden as u64,
            used: 0,
        });
        engine.keep_message(session, &self.query, &disclosure, &self.worded());
        let mut events = Vec::new();
        // The best skill comes last, so that it counts as the last used.
        for entry in disclosure.full.iter().rev().filter_map(|id| now.listing.get_for_anyone(id)) {
            events.push(Event::Shown { skill: &entry.id, body: entry.skill.body_hash()? });
        }
        let listed = disclosure.registry.iter().filter(|id| !state.was_listed(id));
        events.extend(listed.map(Event::Listed));
        let has_lost = state.skills.iter().any(|skill| skill.lost);
        if let Some(postponed) = postponed.as_ref().filter(|_| has_lost) {
            events.push(Event::Restored);
            events.extend(postponed.iter().map(Event::Postponed));
        }
        events.extend(stopped.iter().map(Event::Stopped));
        session.record_all(&events)?;
        Ok(disclosure)
    }

    /// The options of the disclosure. Unless the host set its own wording, lists name the tool with
    /// which the model loads a skill.
    fn worded(&self) -> Cow<'_, DisclosureOptions> {
        let mut options = Cow::Borrowed(&*self.options);
        if options.how_to_load == HowToLoad::Unsaid {
            options.to_mut().how_to_load = HowToLoad::Tool(SessionTools::USE_SKILL.to_owned());
        }
        options
    }

    /// The session's history; from memory if the store cannot be read, so that there is still an answer.
    fn known(&self) -> SessionState {
        self.session.tolerant().state().unwrap_or_default()
    }
}

/// Records the most relevant skill, and what it lacks to be shown in full for that.
fn note_nearest(Considered { found, lacking, .. }: &Considered, span: &Span) {
    span.record("nearest.skill", found.id.as_str());
    span.record("nearest.worth", f64::from(found.relevance.worth));
    span.record("nearest.lead", f64::from(found.relevance.lead));
    let codes: Vec<&str> = lacking.iter().map(Lack::code).collect();
    span.record("nearest.lacking", spans::list(&codes));
}

/// The disclosure of a command: the skill in full if its instructions joined the conversation, nothing
/// if they went to a task.
fn disclosure_of(activation: &Activation, text: &str) -> Disclosure {
    let (tier, full) = match activation.task {
        None => (Tier::Full, vec![activation.id.clone()]),
        Some(_) => (Tier::Nothing, Vec::new()),
    };
    Disclosure { tier, full, text: text.to_owned(), ..Disclosure::default() }
}
