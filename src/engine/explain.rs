//! Matches of a query, and the reasons why other skills are not among them.

use serde::Serialize;

use super::Engine;
use super::snapshot::Snapshot;
use crate::disclosure::{DisclosureOptions, Reason, Rejection};
use crate::matcher::{Answer, Match, MetaQuestion, Query};
use crate::session::SessionState;

/// The matches of a query, and the reasons why other skills are not among them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The matches, best first.
    pub matches: Vec<Match>,
    /// Skills that are related to the query but not among the matches, with the reasons.
    pub rejected: Vec<Rejection>,
    /// The number of matches beyond the limit. They come first in `rejected`.
    #[serde(skip)]
    pub n_beyond: usize,
    /// The kind of question about the skills themselves, if the query is one.
    #[serde(skip)]
    pub meta: Option<MetaQuestion>,
}

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
        let Answer { matches, beyond, vetoed, quoted, untried, meta, .. } = answer;
        let n_beyond = beyond.len();
        let below = beyond.iter().map(|id| Rejection::new(id, Reason::BelowLimit { limit }));
        let mut rejected: Vec<Rejection> = below.collect();
        rejected.extend(vetoed.iter().map(|(id, exclude)| Rejection::vetoed(id, exclude)));
        rejected.extend(quoted.iter().map(|(id, trigger)| Rejection::quoted(id, trigger)));
        let untried = untried.iter().map(|(id, pattern)| Rejection::untried(id, pattern));
        // Excludes and denials also keep out skills that the message would show without a match.
        let omitted = if has_denial {
            self.disclose_after(now, query, state, options).disclosure.omitted
        } else {
            Vec::new()
        };
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
        Explanation { matches, rejected, n_beyond, meta }
    }
}
