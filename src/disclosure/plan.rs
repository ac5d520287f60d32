//! The plan of a disclosure for one query, before its budget applies: the table in
//! `docs/matching.md`, *Disclosure*.

use super::budget::Meter;
use super::case::{Case, Vetoes};
use super::considered::{Considered, Lack};
use super::matched::{Matched, Ranked, apart, lacking, matched, needed, ranked, united};
use super::reason::{Reason, Rejection};
use super::restore::{Lost, lost};
use super::{lines, matched as matches};
use crate::catalog::Entry;
use crate::matcher::{Answer, MetaQuestion, Relevance, Relevant};
use crate::skill::SkillId;

/// The skills to show, by tier, if the budget has room for all of them.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    /// The skills to show in full, best first.
    pub(super) full: Vec<&'a Entry>,
    /// The skills whose full text is already in the context, best first. Their line says so.
    pub(super) above: Vec<&'a Entry>,
    /// The skills whose instructions must not be shown, each with the reason, best first. Their
    /// line says why.
    pub(super) withheld: Vec<(&'a Entry, Reason)>,
    /// The skills to show in a line, best first.
    pub(super) registry: Vec<&'a Entry>,
    /// The facts that the disclosure reports besides these skills.
    pub(super) summary: Summary,
}

/// The facts that a disclosure reports besides the skills in its text.
#[derive(Debug, Default)]
pub(super) struct Summary {
    /// The question about the skills themselves, if the query asks one.
    pub(super) meta: Option<MetaQuestion>,
    /// The number of skills that the model may know of: each is shown or counted.
    pub(super) n_visible: usize,
    /// True if the text states how many of all skills are shown, instead of how many are not.
    pub(super) counts_shown: bool,
    /// The first skills below the limit, and all those below it that the session knows, each once.
    pub(super) beyond: Vec<SkillId>,
    /// The number of all skills below the limit, whether in `beyond` or not.
    pub(super) n_below: usize,
    /// The maximum number of skills shown in full.
    pub(super) limit: usize,
    /// The skills left out for other reasons than the limit.
    pub(super) omitted: Vec<Rejection>,
    /// The skill that is in full for its relevance alone, without a trigger hit.
    pub(super) relevant: Option<Relevant>,
    /// The skills that relevance ranked, with the decisions, if the evidence asks for them.
    pub(super) considered: Vec<Considered>,
    /// The skills in full that only the user may know of. They never get a line and are not counted.
    pub(super) unlisted: Vec<SkillId>,
}

/// Plans what to show for a query. A skill whose text is in the session's context is not shown in full
/// again; a skill whose text the session lost is, as far as there is `room`. Also returns the lost
/// skills that must wait for the next message, or `None` if lost skills were not considered.
pub(super) fn plan<'a>(
    case: &Case<'a, '_>,
    mut vetoes: Vetoes,
    room: &Meter<'_>,
) -> (Plan<'a>, Option<Vec<SkillId>>) {
    let meta = case.answer.meta;
    if meta == Some(MetaQuestion::ShowAll) {
        return (show_all(case), None);
    }
    // First the skills that the message calls for, by triggers and names; then those that the
    // conversation lost.
    let ranked = ranked(case);
    let may_part = meta.is_none() && !ranked.is_empty();
    let apart = if may_part { apart(case) } else { Vec::new() };
    let mut matched = matched(case, &ranked, &apart);
    let weak = std::mem::take(&mut matched.weak);
    let slight = std::mem::take(&mut matched.slight);
    let has_match = !matched.is_empty();
    let lost = lost(case, &matched, &mut vetoes, room);
    // If neither triggers nor a question decide, relevance may; if the message has several requests, for
    // each of them.
    let is_undecided = !has_match && meta.is_none();

    let (mut plan, postponed) = Plan::of(case, matched, lost);
    let mut decisions = Vec::with_capacity(1 + apart.len());
    let out = (!is_undecided).then_some(Lack::Undecided);
    decisions.extend(plan.decide(case, &ranked, false, out, &mut vetoes));
    for ranked in &apart {
        let out = (plan.full.len() >= case.options.max_skills).then_some(Lack::First);
        decisions.extend(plan.decide(case, ranked, true, out, &mut vetoes));
    }
    let ranked = united(ranked, &apart);
    if case.evidence.explains {
        plan.summary.considered = considered(case, &ranked, &decisions);
    }
    // Lines for skills that have no other place in the text.
    let asks_all = meta.is_some() && !lines::fits_topic(case, &ranked);
    let lines = if asks_all {
        lines::all(case, &ranked, plan.shown())
    } else {
        let has_shown = plan.called_for().next().is_some();
        let perhaps = [&*weak, &*slight];
        lines::near(case, perhaps, &ranked, has_shown, plan.shown(), &mut vetoes)
    };
    plan.registry.extend(lines);
    if meta.is_none() {
        plan.registry.retain(|entry| !lines::is_told(case, entry));
    }
    // The choice of lines may have met further vetoes.
    plan.add_reasons(case, &weak, &slight, &vetoes);
    (plan, Some(postponed))
}

/// Plans to show the first skills in full, and to state how many of all skills these are.
fn show_all<'a>(case: &Case<'a, '_>) -> Plan<'a> {
    let (mut plan, _) = Plan::of(case, matches::all(case), Lost::default());
    plan.summary.limit = case.options.max_all_skills;
    plan.summary.counts_shown = true;
    plan
}

/// The decision on the most relevant skill of a message, or of one request of several.
struct Decision<'a> {
    entry: &'a Entry,
    found: Relevance,
    is_apart: bool,
    lacking: Vec<Lack>,
}

/// The maximum number of ranked skills whose decisions are reported.
const MAX_CONSIDERED: usize = 5;

/// Returns the first of the `ranked` skills with the `decisions` on them; all others are not the first.
fn considered(
    case: &Case<'_, '_>,
    ranked: &Ranked<'_>,
    decisions: &[Decision<'_>],
) -> Vec<Considered> {
    let consider = |(entry, found): &(&Entry, Relevance)| {
        let of_entry = decisions.iter().filter(|decision| decision.entry.id == entry.id);
        let decision = of_entry.min_by_key(|decision| decision.lacking.len());
        let relevance = decision.map_or(*found, |decision| decision.found);
        let is_apart = decision.is_some_and(|decision| decision.is_apart);
        let margin = case.options.relevance;
        Considered {
            found: Relevant { id: entry.id.clone(), relevance },
            needed: margin.map(|margin| needed(margin, &relevance, is_apart)),
            lacking: decision.map_or_else(|| vec![Lack::First], |of| of.lacking.clone()),
        }
    };
    ranked.iter().take(MAX_CONSIDERED).map(consider).collect()
}

impl<'a> Plan<'a> {
    /// Plans the skills that match, then those that the session lost. Also returns the lost skills that
    /// must wait for the next message.
    fn of(case: &Case<'a, '_>, matched: Matched<'a>, lost: Lost<'a>) -> (Plan<'a>, Vec<SkillId>) {
        let Matched { mut full, above, withheld, beyond, n_below, .. } = matched;
        full.extend(lost.full);
        let summary = Summary {
            meta: case.answer.meta,
            n_visible: case.listing.len(),
            counts_shown: false,
            beyond,
            n_below,
            limit: case.options.max_skills,
            omitted: lost.rejections,
            relevant: None,
            considered: Vec::new(),
            unlisted: lost.unlisted,
        };
        (Plan { full, above, withheld, registry: lost.lines, summary }, lost.postponed)
    }

    /// The skills that are in full, already in the context, or withheld.
    fn called_for(&self) -> impl Iterator<Item = &'a Entry> {
        let withheld = self.withheld.iter().map(|(entry, _)| entry);
        self.full.iter().chain(&self.above).chain(withheld).copied()
    }

    /// The skills that have a place in the text.
    fn shown(&self) -> impl Iterator<Item = &'a Entry> {
        self.called_for().chain(self.registry.iter().copied())
    }

    /// Adds the most relevant skill of `ranked`, of a message or of one request of several, unless it lacks
    /// something, is `out`, vetoed, or has its place already. Returns the decision.
    fn decide(
        &mut self,
        case: &Case<'a, '_>,
        ranked: &Ranked<'a>,
        is_apart: bool,
        out: Option<Lack>,
        vetoes: &mut Vetoes,
    ) -> Option<Decision<'a>> {
        let &(entry, found) = ranked.first()?;
        let lacking = out.map_or_else(|| lacking(case, ranked, is_apart), |out| vec![out]);
        let has_place = self.called_for().any(|shown| shown.id == entry.id);
        if lacking.is_empty() && !vetoes.veto(entry) && !has_place {
            self.registry.retain(|line| line.id != entry.id);
            self.add_by_relevance(entry, found, case);
        }
        Some(Decision { entry, found, is_apart, lacking })
    }

    /// Adds a skill to `full`, or to `withheld` if its instructions must not be shown. If they are already
    /// in the context, only gives the reason: a reminder with each message on the same subject would be
    /// noise.
    fn add_by_relevance(&mut self, entry: &'a Entry, relevance: Relevance, case: &Case<'a, '_>) {
        if case.state.shows(&entry.id, &entry.skill) {
            self.summary.omitted.push(Rejection::new(&entry.id, Reason::InContext));
        } else if let Some(reason) = (case.evidence.withheld)(entry) {
            self.withheld.push((entry, reason));
        } else {
            self.full.insert(0, entry);
            self.summary.relevant = Some(Relevant { id: entry.id.clone(), relevance });
        }
    }

    /// Adds the reasons why skills that the query touches are left out: weak mentions, vetoes, triggers in
    /// attachments, patterns that were not tried, and denials.
    fn add_reasons(
        &mut self,
        case: &Case<'_, '_>,
        weak: &[&Entry],
        slight: &[&Entry],
        vetoes: &Vetoes,
    ) {
        let Answer { matches, beyond, attached, untried, denied, .. } = case.answer;
        let is_called_for = |id: &SkillId| self.called_for().any(|entry| entry.id == *id);
        let weak = weak.iter().filter(|entry| !is_called_for(&entry.id));
        let weak = weak.map(|entry| Rejection::new(&entry.id, Reason::WeakMention));
        let outdone = slight.iter().filter(|entry| !attached.iter().any(|(id, _)| *id == entry.id));
        let outdone = outdone.filter(|entry| !is_called_for(&entry.id));
        let outdone = outdone.map(|entry| Rejection::new(&entry.id, Reason::Outdone));
        let weak = weak.chain(outdone);
        let attached = attached.iter().filter(|(id, _)| !is_called_for(id));
        let attached = attached.map(|(id, trigger)| Rejection::quoted(id, trigger));
        let untried = untried.iter().filter(|(id, _)| !is_called_for(id));
        let untried = untried.map(|(id, pattern)| Rejection::untried(id, pattern));
        let is_match = |id: &SkillId| beyond.contains(id) || matches.iter().any(|of| of.id == *id);
        let denied = denied.iter().filter(|id| !is_called_for(id) && !is_match(id));
        let denied = denied.map(|id| Rejection::new(id, Reason::Denied));
        let reasons = weak.chain(vetoes.rejections()).chain(attached).chain(untried).chain(denied);
        let reasons: Vec<Rejection> = reasons.collect();
        self.summary.omitted.extend(reasons);
    }
}
