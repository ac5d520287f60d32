//! Keeps the messages of conversations, with the skills that were shown for them.

use repertoire_text::boundary::char_boundary;
use repertoire_text::request::Parts;

use super::{Engine, EngineBuilder, FoundSkill};
use crate::disclosure::{Disclosure, DisclosureOptions, Reason, idle, one_line};
use crate::matcher::Query;
use crate::session::{Day, KeptMessage, Said, Session, SessionState, TrailEntry};
use crate::skill::has_secret;

impl EngineBuilder {
    /// Keeps the texts of messages in the store of sessions, so that [`Engine::missed`] finds those that
    /// were routed wrongly; off by default. The text of a message is its request, without what is
    /// attached to it, cut to [`KeptMessage::MAX_BYTES`]; it is otherwise kept as it was written. Messages
    /// with what looks like a key or another credential, commands, and messages that say nothing are not
    /// kept. A text is deleted with its session.
    ///
    /// [`KeptMessage::MAX_BYTES`]: crate::session::KeptMessage::MAX_BYTES
    #[must_use]
    pub fn keep_messages(mut self, keep: bool) -> EngineBuilder {
        self.keep_messages = keep;
        self
    }
}

impl Engine {
    /// Keeps the message of a turn, with what is shown for it, if messages are kept.
    pub(super) fn keep_message(
        &self,
        session: &Session,
        query: &Query<'_>,
        shown: &Disclosure,
        options: &DisclosureOptions,
    ) {
        if !session.keeps_messages() || query.text.trim().is_empty() {
            return;
        }
        let parts = Parts::of(&query.text);
        let text = kept_text(&parts.request()).filter(|_| shown.meta.is_none());
        let said = text.map(|text| self.said(text, query, shown, options));
        session.extend_trail([said.map_or(TrailEntry::Other, TrailEntry::Message)]);
    }

    /// Returns a message with the skills that are in view after it. A new conversation would also show those
    /// that the context of this one has already.
    fn said(
        &self,
        text: String,
        query: &Query<'_>,
        shown: &Disclosure,
        options: &DisclosureOptions,
    ) -> Said {
        let (now, state) = (self.snapshot(), SessionState::default());
        let anew = self.disclose_after(&now, query, &state, options);
        let told = shown.omitted.iter().filter(|of| of.reason == Reason::InContext);
        let told = told.map(|of| &of.id).chain(&anew.full).chain(&anew.registry);
        let mut lines = shown.registry.clone();
        for id in told {
            if !shown.full.contains(id) && !lines.contains(id) {
                lines.push(id.clone());
            }
        }
        Said { text, day: Day::today().number(), full: shown.full.clone(), lines }
    }
}

/// Keeps the query with which a model looked for skills, if messages are kept.
pub(super) fn keep_query(session: &Session, query: &str, found: &[FoundSkill]) {
    if !session.keeps_messages() {
        return;
    }
    if let Some(text) = kept_text(query) {
        let lines = found.iter().map(|skill| skill.id.clone()).collect();
        let said = Said { text, day: Day::today().number(), full: Vec::new(), lines };
        session.extend_trail([TrailEntry::Query(said)]);
    }
}

/// Returns the text to keep of a request; `None` if it says nothing, or has what looks like a key or
/// another secret.
fn kept_text(request: &str) -> Option<String> {
    if idle::is_idle(request) || has_secret(request) {
        return None;
    }
    let line = one_line(request);
    let end = char_boundary(&line, line.len().min(KeptMessage::MAX_BYTES));
    Some(line[..end].to_owned())
}
