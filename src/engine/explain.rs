//! Matches of a query, and the reasons why other skills are not among them.

use std::ops::Range;
use std::slice;

use repertoire_text::request::Parts;
use serde::Serialize;

use super::Engine;
use super::disclose::selection;
use super::snapshot::Snapshot;
use crate::disclosure::{
    Considered, Disclosed, Disclosure, DisclosureOptions, Lack, Needed, Reason, Rejection, Tier,
};
use crate::matcher::{Field, Match, MetaQuestion, Near, Query, Relevant, Shared, find_literals};
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
    /// The extent to which the query brings the skill into the prompt.
    pub tier: Tier,
    /// The words that skill and query share, without stop words, the heaviest first.
    pub terms: Vec<WeighedTerm>,
    /// The nearness of the skill to the query in meaning, and its reasons; `None` if it is not nearer than others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Near>,
    /// The margin that the skill must reach to be shown in full by relevance; `None` if there is none.
    pub needed: Option<Needed>,
    /// True if its relevance shows the skill in full.
    pub is_decisive: bool,
    /// Everything that keeps the skill from being shown in full; empty if it is.
    pub lacking: Vec<Lack>,
}

/// A word, or two adjacent words, that a skill and a query share.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WeighedTerm {
    /// The word, as the query has it.
    pub term: String,
    /// The fields of the skill that have it.
    pub fields: Vec<Field>,
    /// The share of [`Relevance::worth`](crate::matcher::Relevance::worth) that it adds, about.
    pub worth: f32,
    /// The byte ranges of the query where the word stands; none if it is a part of an identifier.
    pub places: Vec<Range<usize>>,
}

/// The maximum number of shared words that are told.
const MAX_TERMS: usize = 6;

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
        let parts = Parts::of(&query.text);
        // One search serves the list of matches and the disclosure.
        let selection = selection(state, options);
        let (answer, matches, beyond) = now.select_of_all(query, &parts, state, selection, limit);
        let answer = now.with_users_place(answer, query, &parts, state, options.max_skills);
        let (vetoed, untried, meta) = (answer.vetoed.clone(), answer.untried.clone(), answer.meta);
        let answer = (!query.is_blank()).then_some(answer);
        let Disclosed { disclosure: shown, considered, .. } =
            self.tell(now, &parts, answer, state, options, true).disclosed;
        let n_beyond = beyond.len();
        let below = beyond.iter().map(|id| Rejection::new(id, Reason::BelowLimit { limit }));
        let mut rejected: Vec<Rejection> = below.collect();
        rejected.extend(vetoed.iter().map(|(id, exclude)| Rejection::vetoed(id, exclude)));
        let untried = untried.iter().map(|(id, pattern)| Rejection::untried(id, pattern));
        // Excludes and denials also keep out skills that the message would show without a match.
        let is_unmatched =
            |reason: &Reason| matches!(reason, Reason::Vetoed { .. } | Reason::Denied);
        let unmatched = shown.omitted.iter().filter(|of| is_unmatched(&of.reason)).cloned();
        for rejection in untried.chain(unmatched) {
            let is_found = matches.iter().any(|found| found.id == rejection.id);
            if !is_found && !rejected.iter().any(|known| known.id == rejection.id) {
                rejected.push(rejection);
            }
        }
        rejected.extend(now.out_of_reach(query, &self.0.index));
        let weigh = |of| self.weigh(of, &query.text, &shown);
        let relevant = considered.into_iter().map(weigh).collect();
        Explanation { matches, rejected, relevant, n_beyond, meta }
    }

    /// Explains the decision on a relevant skill for `message`, whose disclosure is `shown`.
    fn weigh(&self, considered: Considered, message: &str, shown: &Disclosure) -> Weighed {
        let Considered { found, needed, mut lacking, .. } = considered;
        let tier = match () {
            () if shown.full.contains(&found.id) => Tier::Full,
            () if shown.registry.contains(&found.id) => Tier::Registry,
            () => Tier::Breadcrumb,
        };
        let is_decisive = tier == Tier::Full && lacking.is_empty();
        let left_out = shown.omitted.iter().find(|of| of.id == found.id);
        match left_out {
            _ if tier == Tier::Full => lacking.clear(),
            Some(left_out) if lacking.is_empty() => {
                lacking.extend(left_out.reasons().cloned().map(Lack::Other));
            }
            _ => {}
        }
        let shared = self.shared_terms(message, &found.id).into_iter();
        let shared: Vec<Shared> =
            shared.filter(|shared| !shared.is_common).take(MAX_TERMS).collect();
        let parts = Parts::of(message);
        let rarest = self.relevance().unit();
        let terms = shared.into_iter().map(|shared| WeighedTerm {
            places: places(&parts, &shared.term, found.relevance.is_attached),
            worth: shared.score / rarest,
            term: shared.term,
            fields: shared.fields,
        });
        let near = self.nearness(message, &found.id);
        Weighed { tier, terms: terms.collect(), near, needed, is_decisive, lacking, found }
    }
}

/// Returns the byte ranges at which a term stands in the request of a message, or in what is attached to it.
fn places(parts: &Parts<'_>, term: &str, is_attached: bool) -> Vec<Range<usize>> {
    let message = parts.message();
    let whole = 0..message.len();
    let ranges = match (is_attached, parts.request_ranges()) {
        (true, _) => parts.attached_ranges(),
        (false, []) => slice::from_ref(&whole),
        (false, ranges) => ranges,
    };
    let find = |range: &Range<usize>| {
        let (start, found) = (range.start, find_literals(&message[range.clone()], term));
        found.into_iter().map(move |at| at.start + start..at.end + start)
    };
    ranges.iter().flat_map(find).collect()
}
