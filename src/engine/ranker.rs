//! The ranking of an engine's skills for one message: by words, and by their meaning or the scores of the
//! host's retriever.

use std::cell::RefCell;
use std::sync::PoisonError;

use repertoire_text::request::{Parts, apart};

use super::Engine;
use super::snapshot::Snapshot;
use crate::error::Error;
use crate::matcher::{Levels, Relevance};

/// The maximum number of bytes of attachments that are ranked, and in which a trigger shows a skill in full: in
/// a longer text many a phrase stands by chance.
pub(super) const MAX_ATTACHED: usize = 4_000;

/// Skills by relevance, best first, each as its place in the listing.
type Ranked = Vec<(u32, Relevance)>;

impl Engine {
    /// Returns the failure of the retriever when it was asked last, by any thread, whether for a disclosure or
    /// for [`Engine::find_skills`]; `None` if it answered, was never asked, or there is none.
    pub fn retriever_failure(&self) -> Option<String> {
        self.0.retriever_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells whether a retriever of the host takes part in the ranking, which may take its time.
    pub fn has_retriever(&self) -> bool {
        self.0.retriever.is_some()
    }

    fn note_retriever(&self, failure: Option<&Error>) {
        if self.has_retriever() {
            let mut noted = self.0.retriever_failure.lock().unwrap_or_else(PoisonError::into_inner);
            *noted = failure.map(ToString::to_string);
        }
    }
}

/// Ranks skills for the parts of one message.
pub(super) struct Ranker<'e> {
    engine: &'e Engine,
    now: &'e Snapshot,
    /// The first failure of the host's retriever.
    failure: RefCell<Option<String>>,
}

impl<'e> Ranker<'e> {
    pub(super) fn new(engine: &'e Engine, now: &'e Snapshot) -> Ranker<'e> {
        Ranker { engine, now, failure: RefCell::default() }
    }

    /// Returns the failure of the host's retriever, if it failed.
    pub(super) fn into_failure(self) -> Option<String> {
        self.failure.into_inner()
    }

    /// The best `limit` skills for a message of these parts.
    pub(super) fn rank(&self, parts: &Parts<'_>, limit: usize) -> Ranked {
        let readings = parts.readings().into_iter();
        let readings = readings.map(|request| self.rank_text(&request, limit));
        let worth = |ranked: &Ranked| ranked.first().map_or(0.0, |(_, found)| found.worth);
        let best = readings.max_by(|a, b| worth(a).total_cmp(&worth(b)));
        let mut ranked = best.unwrap_or_default();
        let is_found = ranked.first().is_some_and(|(_, first)| first.words > 0 || first.is_near);
        if !is_found && parts.has_attachments() {
            ranked = self.rank_text(&parts.attachments(MAX_ATTACHED), limit);
            for (_, found) in &mut ranked {
                found.is_attached = true;
            }
        }
        ranked
    }

    /// The best `limit` skills for each request of a text with several, but for requests that a trigger or a
    /// name decides.
    pub(super) fn rank_apart(&self, text: &str, limit: usize) -> Vec<Ranked> {
        let requests = apart::requests(text);
        let undecided = requests.into_iter().filter(|request| !self.now.decides(request));
        undecided.map(|request| self.rank_text(request, limit)).collect()
    }

    /// The best `limit` skills for a text.
    pub(super) fn rank_text(&self, text: &str, limit: usize) -> Ranked {
        let mut ranked = Vec::new();
        let message = &*self.engine.bounded(text);
        let scores = self.scores(message);
        self.engine.note_retriever(scores.as_ref().err());
        let scores = scores.unwrap_or_else(|error| {
            tracing::warn!(%error, "ranked without the host's retriever");
            self.failure.borrow_mut().get_or_insert_with(|| error.to_string());
            None
        });
        let nearness = scores.as_ref().map(|(scores, levels)| (&**scores, *levels));
        self.now.rank_into(message, nearness, limit, &mut ranked);
        ranked
    }

    /// The scores of the host's retriever for a text, and what they mean.
    fn scores(&self, message: &str) -> Result<Option<(Vec<f32>, Levels)>, Error> {
        let Some(retriever) = &self.engine.0.retriever else { return Ok(None) };
        let retrieval = self.now.retrieval(&**retriever)?;
        Ok(Some((retrieval.rank(&**retriever, message)?, retrieval.levels())))
    }
}
