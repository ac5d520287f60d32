//! Matches of a query, and the reasons why other skills are not among them.

use serde::Serialize;

use super::Engine;
use super::ranker::Ranker;
use super::snapshot::Snapshot;
use crate::disclosure::{Disclosure, DisclosureOptions, Reason, Rejection, Tier};
use crate::matcher::{Answer, Match, MetaQuestion, Parts, Query, Relevance, Relevant};
use crate::session::SessionState;

/// The matches of a query, and the reasons why other skills are not among them.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The matches, best first.
    pub matches: Vec<Match>,
    /// Skills that are related to the query but not among the matches, with the reasons.
    pub rejected: Vec<Rejection>,
    /// The skills that are most relevant to the query, best first, unless relevance is turned off.
    pub relevant: Vec<Weighed>,
    /// The number of matches beyond the limit. They come first in `rejected`.
    #[serde(skip)]
    pub n_beyond: usize,
    /// The kind of question about the skills themselves, if the query is one.
    #[serde(skip)]
    pub meta: Option<MetaQuestion>,
}

/// A relevant skill, and what decided how much of it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Weighed {
    /// The skill, and its relevance to the query.
    #[serde(flatten)]
    pub found: Relevant,
    /// How much of the skill the query brings into the prompt.
    pub tier: Tier,
    /// The words that skill and query share, without stop words, the heaviest first.
    pub words: Vec<String>,
    /// Everything that the skill lacks to be shown in full by relevance, as phrases; empty if nothing.
    pub lacking: Vec<String>,
}

/// The number of relevant skills that are explained.
const MAX_WEIGHED: usize = 5;

/// The maximum number of shared words that are told.
const MAX_WORDS: usize = 6;

impl Engine {
    /// Every skill that `query` matches, best first.
    pub fn matches<'q>(&self, query: impl Into<Query<'q>>) -> Vec<Match> {
        let state = SessionState::default();
        self.snapshot().search(&query.into(), &state, usize::MAX).matches
    }

    /// The best `limit` matches of `query`, with the reasons why other skills are not among them: they
    /// are vetoed, denied, below the limit, filtered or not available, or their patterns were not tried
    /// because too many patterns have no literal.
    pub fn explain<'q>(&self, query: impl Into<Query<'q>>, limit: usize) -> Explanation {
        let (state, options) = (SessionState::default(), &self.0.disclosure);
        self.explain_after(&self.snapshot(), &query.into(), &state, options, limit)
    }

    /// Explains the matches as [`Engine::explain`] does, in a conversation with the history `state`.
    pub(super) fn explain_after(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        state: &SessionState,
        options: &DisclosureOptions,
        limit: usize,
    ) -> Explanation {
        let answer = now.search(query, state, limit);
        let has_denial = !answer.denied.is_empty() || !answer.excluded.is_empty();
        let asks = options.asks_relevance();
        let shown = (asks || has_denial)
            .then(|| self.disclose_after(now, query, state, options).disclosure);
        let Answer { matches, beyond, vetoed, quoted, untried, meta, .. } = answer;
        let n_beyond = beyond.len();
        let below = beyond.iter().map(|id| Rejection::new(id, Reason::BelowLimit { limit }));
        let mut rejected: Vec<Rejection> = below.collect();
        rejected.extend(vetoed.iter().map(|(id, exclude)| Rejection::vetoed(id, exclude)));
        rejected.extend(quoted.iter().map(|(id, trigger)| Rejection::quoted(id, trigger)));
        let untried = untried.iter().map(|(id, pattern)| Rejection::untried(id, pattern));
        // Excludes and denials also keep out skills that the message would show without a match.
        let omitted = shown.as_ref().filter(|_| has_denial);
        let omitted = omitted.map_or_else(Vec::new, |shown| shown.omitted.clone());
        let is_unmatched =
            |reason: &Reason| matches!(reason, Reason::Vetoed { .. } | Reason::Denied);
        let unmatched = omitted.into_iter().filter(|of| is_unmatched(&of.reason));
        for rejection in untried.chain(unmatched) {
            let is_found = matches.iter().any(|found| found.id == rejection.id);
            if !is_found && !rejected.iter().any(|known| known.id == rejection.id) {
                rejected.push(rejection);
            }
        }
        rejected.extend(now.out_of_reach(query, &self.0.index));
        let relevant = shown.filter(|_| asks && !query.is_blank());
        let relevant =
            relevant.map_or_else(Vec::new, |shown| self.weighed(now, query, &shown, options));
        Explanation { matches, rejected, relevant, n_beyond, meta }
    }

    /// Explains the relevance of the best skills for a query, whose disclosure is `shown`.
    fn weighed(
        &self,
        now: &Snapshot,
        query: &Query<'_>,
        shown: &Disclosure,
        options: &DisclosureOptions,
    ) -> Vec<Weighed> {
        let ranked = Ranker::new(self, now).rank(&Parts::of(&query.text), MAX_WEIGHED).into_iter();
        let weigh = |(place, (skill, relevance)): (usize, (u32, Relevance))| {
            let id = now.listing.at(skill as usize).id.clone();
            let tier = match () {
                () if shown.full.contains(&id) => Tier::Full,
                () if shown.registry.contains(&id) => Tier::Registry,
                () => Tier::Breadcrumb,
            };
            let words = self.shared_terms(&query.text, &id).into_iter();
            let words = words.filter(|shared| !shared.is_common).map(|shared| shared.term);
            let lacking = match options.relevance {
                _ if tier == Tier::Full => Vec::new(),
                _ if place > 0 => vec!["another skill is more relevant".to_owned()],
                None => vec!["relevance shows no skill in full here".to_owned()],
                Some(margin) => margin.lacking(&relevance),
            };
            let words = words.take(MAX_WORDS).collect();
            Weighed { found: Relevant { id, relevance }, tier, words, lacking }
        };
        ranked.enumerate().map(weigh).collect()
    }
}
