//! A query and the facts that decide what is disclosed for it.

use std::collections::BTreeMap;

use super::listing::Listing;
use super::options::DisclosureOptions;
use super::reason::{Reason, Rejection};
use crate::catalog::Entry;
use crate::matcher::{Answer, Relevance};
use crate::session::SessionState;
use crate::skill::SkillId;

/// Evidence about a query beyond its matches. Each fact is a closure, called only when it decides
/// something.
pub(crate) struct Evidence<'e> {
    /// Returns the best skills by relevance, best first, at most the given number. Skills are given by
    /// their positions in the listing.
    pub(crate) relevant: &'e dyn Fn(usize) -> Vec<(u32, Relevance)>,
    /// Returns, for each request of a query that has several, the best skills by relevance. A request that
    /// a trigger or a name decides has none.
    pub(crate) apart: &'e dyn Fn(usize) -> Vec<Vec<(u32, Relevance)>>,
    /// Tells whether the query says nothing but "thanks" and the like.
    pub(crate) is_idle: &'e dyn Fn() -> bool,
    /// True if so much is attached that a trigger in it may stand there by chance.
    pub(crate) has_long_attachments: bool,
    /// Returns an exclude of the given skill that the query contains. For skills that the matcher does
    /// not know, as only the user can use them.
    pub(crate) exclude: &'e dyn Fn(&Entry) -> Option<String>,
    /// Tells whether the query is about what the description of the given skill denies.
    pub(crate) denies: &'e dyn Fn(&Entry) -> bool,
    /// Returns the reason why the instructions of a skill must not be shown: the host's agent loads the
    /// skill by itself, or the skill runs as a task or needs consent.
    pub(crate) withheld: &'e dyn Fn(&Entry) -> Option<Reason>,
    /// True if the decisions on relevant skills are to be reported.
    pub(crate) explains: bool,
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

impl Case<'_, '_> {
    /// Tells whether the query names a skill only to deny it.
    pub(super) fn denies(&self, id: &SkillId) -> bool {
        self.answer.denied.binary_search(id).is_ok()
    }
}

/// The skills that the query vetoes by one of their excludes.
pub(super) struct Vetoes {
    /// The skills with an exclude in the query, each with that exclude.
    excluded: BTreeMap<SkillId, String>,
    /// The skills that would be shown but for such an exclude, each with it.
    vetoed: BTreeMap<SkillId, String>,
}

impl Vetoes {
    /// Moves the vetoes out of the matcher's answer.
    pub(super) fn take_from(answer: &mut Answer) -> Vetoes {
        let excluded = std::mem::take(&mut answer.excluded).into_iter().collect();
        let vetoed = std::mem::take(&mut answer.vetoed).into_iter().collect();
        Vetoes { excluded, vetoed }
    }

    /// Tells whether an exclude vetoes a listed skill, and if so records the skill as vetoed.
    pub(super) fn veto(&mut self, entry: &Entry) -> bool {
        let exclude = self.excluded.get(&entry.id);
        self.vetoed.extend(exclude.map(|exclude| (entry.id.clone(), exclude.clone())));
        self.vetoed.contains_key(&entry.id)
    }

    /// Tells whether an exclude vetoes a skill that the session lost, and if so records the skill as
    /// vetoed. The skill need not be listed: perhaps only the user may know of it.
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
