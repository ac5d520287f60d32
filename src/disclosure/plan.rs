//! The plan of a disclosure for one query, before its budget applies: the table of DESIGN §5.

use std::collections::HashSet;

use super::budget::Meter;
use super::case::{Case, Vetoes};
use super::matched::{ByRelevance, Matched, matched, ranked, relevant};
use super::reason::{Reason, Rejection};
use super::restore::{Lost, lost};
use super::{lines, matched as matches};
use crate::catalog::Entry;
use crate::matcher::{Answer, MetaQuestion, Relevant};
use crate::skill::SkillId;

/// The skills to show, by tier, if there is room for all of them.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// In full, best first.
    pub(super) full: Vec<&'a Entry>,
    /// In a line that says that the full text stands in the context already, best first.
    pub(super) above: Vec<&'a Entry>,
    /// In a line that says why not in full, best first.
    pub(super) withheld: Vec<(&'a Entry, Reason)>,
    /// In a line, best first.
    pub(super) registry: Vec<&'a Entry>,
    /// All else.
    pub(super) account: Account,
}

/// The account that a disclosure gives besides the skills in its text.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// The question about the skills themselves that the query is.
    pub(super) meta: Option<MetaQuestion>,
    /// All skills that are shown or counted.
    pub(super) n_visible: usize,
    /// True if the numbers of shown and of all skills are stated, instead of the number not shown.
    pub(super) counts_shown: bool,
    /// The first skills below the limit, and those that the session knows, each once.
    pub(super) beyond: Vec<SkillId>,
    /// The number of all below the limit.
    pub(super) n_below: usize,
    /// The most skills shown in full.
    pub(super) limit: usize,
    /// Other skills known to be left out.
    pub(super) omitted: Vec<Rejection>,
    /// The relevance of a skill that is in full without a trigger hit.
    pub(super) relevant: Option<Relevant>,
    /// The skills in full that only the user may know of: never in a line, nor counted.
    pub(super) unlisted: Vec<SkillId>,
}

/// Plans what to show for a query. Skills in the session's context are not shown in full again;
/// those it lost are, as far as there is `room`. Also returns, if these were considered, those that
/// must wait for the next message.
pub(super) fn plan<'a>(
    case: &Case<'a, '_>,
    mut vetoes: Vetoes,
    room: &Meter<'_>,
) -> (Plan<'a>, Option<Vec<SkillId>>) {
    let meta = case.answer.meta;
    if meta == Some(MetaQuestion::ShowAll) {
        return (show_all(case), None);
    }
    // What the message calls for, by triggers and names; then what the conversation lost.
    let ranked = ranked(case);
    let mut matched = matched(case, &ranked);
    let weak = std::mem::take(&mut matched.weak);
    let has_match = !matched.is_empty();
    let lost = lost(case, &matched, &mut vetoes, room);
    // If neither triggers nor a question decide, relevance may.
    let is_undecided = !has_match && meta.is_none();
    let by_relevance =
        is_undecided.then(|| relevant(case, &ranked, &lost.full, &mut vetoes)).flatten();

    let (mut plan, postponed) = Plan::of(case, matched, lost);
    plan.add_by_relevance(by_relevance);
    plan.add_reasons(case, &weak, &vetoes);

    // Lines for the rest, each for a skill that has no other place.
    let lines = if meta.is_some() {
        lines::all(case, &ranked, plan.shown())
    } else {
        lines::near(case, &weak, &ranked, plan.shows_any(), plan.shown(), &mut vetoes)
    };
    plan.registry.extend(lines);
    if meta.is_none() {
        plan.registry.retain(|entry| !lines::is_told(case, entry));
    }
    (plan, Some(postponed))
}

/// The first skills in full, and how many of how many these are.
fn show_all<'a>(case: &Case<'a, '_>) -> Plan<'a> {
    let (mut plan, _) = Plan::of(case, matches::all(case), Lost::default());
    plan.account.limit = case.options.max_all_skills;
    plan.account.counts_shown = true;
    plan
}

impl<'a> Plan<'a> {
    /// The skills that match, then those that the session lost; and the lost ones that must wait.
    fn of(case: &Case<'a, '_>, matched: Matched<'a>, lost: Lost<'a>) -> (Plan<'a>, Vec<SkillId>) {
        let Matched { mut full, above, withheld, beyond, n_below, weak: _ } = matched;
        full.extend(lost.full);
        let account = Account {
            meta: case.answer.meta,
            n_visible: case.listing.len(),
            counts_shown: false,
            beyond,
            n_below,
            limit: case.options.max_skills,
            omitted: lost.rejections,
            relevant: None,
            unlisted: lost.unlisted,
        };
        (Plan { full, above, withheld, registry: lost.lines, account }, lost.postponed)
    }

    /// The skills that have a place in the text.
    fn shown(&self) -> impl Iterator<Item = &'a Entry> {
        let withheld = self.withheld.iter().map(|(entry, _)| entry);
        self.full.iter().chain(&self.above).chain(withheld).chain(&self.registry).copied()
    }

    /// Tells whether there are any skills to show in full, or that stand in the context.
    fn shows_any(&self) -> bool {
        !self.full.is_empty() || !self.above.is_empty() || !self.withheld.is_empty()
    }

    fn add_by_relevance(&mut self, found: Option<ByRelevance<'a>>) {
        match found {
            Some(ByRelevance::Full(entry, relevance)) => {
                self.full.insert(0, entry);
                self.account.relevant = Some(Relevant { id: entry.id.clone(), relevance });
            }
            Some(ByRelevance::Withheld(entry, reason)) => self.withheld.push((entry, reason)),
            None => {}
        }
    }

    /// Adds why skills that have to do with the query are left out.
    fn add_reasons(&mut self, case: &Case<'_, '_>, weak: &[&Entry], vetoes: &Vetoes) {
        let Answer { quoted, untried, .. } = case.answer;
        let shown: HashSet<&SkillId> = match untried[..] {
            [] => HashSet::new(),
            _ => self.shown().map(|entry| &entry.id).collect(),
        };
        let weak = weak.iter().map(|entry| Rejection::new(&entry.id, Reason::WeakMention));
        let quoted = quoted.iter().map(|(id, trigger)| Rejection::quoted(id, trigger));
        let untried = untried.iter().filter(|(id, _)| !shown.contains(id));
        let untried = untried.map(|(id, pattern)| Rejection::untried(id, pattern));
        let reasons = weak.chain(vetoes.rejections()).chain(quoted).chain(untried);
        self.account.omitted.extend(reasons);
    }
}
