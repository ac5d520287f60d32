//! A query with all that decides what is disclosed for it.

use std::collections::BTreeMap;

use super::listing::Listing;
use super::options::DisclosureOptions;
use super::reason::{Reason, Rejection};
use crate::catalog::Entry;
use crate::matcher::{Answer, Relevance};
use crate::session::SessionState;
use crate::skill::SkillId;

/// Evidence about a query beyond its matches, each computed only when it decides something.
pub(crate) struct Evidence<'e> {
    /// The best skills by relevance, up to a limit, best first; by their places in the listing.
    pub(crate) relevant: &'e dyn Fn(usize) -> Vec<(u32, Relevance)>,
    /// Tells whether the query says nothing but "thanks" and the like.
    pub(crate) is_idle: &'e dyn Fn() -> bool,
    /// The exclude in the query of a skill that the matcher does not know.
    pub(crate) exclude: &'e dyn Fn(&Entry) -> Option<String>,
    /// The reason why the instructions of a skill must not be shown: it runs as a task, or needs
    /// consent.
    pub(crate) withheld: &'e dyn Fn(&Entry) -> Option<Reason>,
}

/// A query, and what is known of the skills, the conversation and the host.
#[derive(Clone, Copy)]
pub(super) struct Case<'a, 'e> {
    pub(super) listing: &'a Listing,
    /// The matcher's answer.
    pub(super) answer: &'e Answer,
    pub(super) evidence: &'e Evidence<'e>,
    /// The history of the conversation.
    pub(super) state: &'e SessionState,
    pub(super) options: &'e DisclosureOptions,
}

/// The skills that the query vetoes by one of their excludes.
pub(super) struct Vetoes {
    /// Skills with an exclude in the query, with that.
    excluded: BTreeMap<SkillId, String>,
    /// Those of them that would be shown.
    vetoed: BTreeMap<SkillId, String>,
}

impl Vetoes {
    /// Takes the vetoes out of the matcher's answer.
    pub(super) fn take_from(answer: &mut Answer) -> Vetoes {
        let excluded = std::mem::take(&mut answer.excluded).into_iter().collect();
        let vetoed = std::mem::take(&mut answer.vetoed).into_iter().collect();
        Vetoes { excluded, vetoed }
    }

    /// Tells whether an exclude vetoes a listed skill, and notes it among those vetoed.
    pub(super) fn veto(&mut self, entry: &Entry) -> bool {
        let exclude = self.excluded.get(&entry.id);
        self.vetoed.extend(exclude.map(|exclude| (entry.id.clone(), exclude.clone())));
        self.vetoed.contains_key(&entry.id)
    }

    /// The same of a skill that the session lost, which only the user may know of.
    pub(super) fn veto_lost(&mut self, entry: &Entry, case: &Case<'_, '_>) -> bool {
        if !case.listing.has(&entry.id) {
            let exclude = (case.evidence.exclude)(entry);
            self.vetoed.extend(exclude.map(|exclude| (entry.id.clone(), exclude)));
        }
        self.veto(entry)
    }

    /// The skills vetoed so far.
    pub(super) fn rejections(&self) -> impl Iterator<Item = Rejection> {
        self.vetoed.iter().map(|(id, exclude)| Rejection::vetoed(id, exclude))
    }
}
