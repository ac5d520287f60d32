//! The plan of a disclosure for one query, before its budget applies: the table of DESIGN §5.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ptr;

use super::budget::Meter;
use super::listing::Listing;
use super::options::{DisclosureOptions, RelevanceMargin};
use super::reason::{Reason, Rejection};
use super::restore::restore;
use crate::catalog::Entry;
use crate::matcher::{Answer, MetaQuestion, Relevance, Relevant};
use crate::session::SessionState;
use crate::skill::SkillId;

/// The margin of relevance past which a word that may be the name of a skill means it; if no other
/// skill comes near, it always does.
const NAME_MARGIN: RelevanceMargin = RelevanceMargin { worth: 0.0, lead: 1.0, words: 1 };
const ALONE: f32 = 0.9;

/// The least worth of a line, as a share of that of the most relevant skill.
const LINE_SHARE: f32 = 0.23;

/// The most skills below the limit that are named, the best of them: the next that would be shown. The
/// others are counted.
pub(crate) const MAX_NEXT: usize = 3;

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
    /// Other skills already known to be left out.
    pub(super) omitted: Vec<Rejection>,
    /// The relevance of a skill that is in full without a trigger hit.
    pub(super) relevant: Option<Relevant>,
    /// The skills in full that only the user may know of: never in a line, nor counted.
    pub(super) unlisted: Vec<SkillId>,
}

/// A plan in the making.
struct Planner<'a, 'e> {
    listing: &'a Listing,
    evidence: &'e Evidence<'e>,
    state: &'e SessionState,
    options: &'e DisclosureOptions,
    plan: Plan<'a>,
    /// Skills with an exclude in the query, with that.
    excluded: BTreeMap<SkillId, String>,
    /// Those of them that would be shown.
    vetoed: BTreeMap<SkillId, String>,
    /// The best by relevance, best first.
    relevant: Vec<(&'a Entry, Relevance)>,
}

/// Plans what to show for a query with the matcher's `answer`, in a conversation with the history
/// `state`. Skills in the session's context are not shown in full again; those it lost are, as far
/// as there is `room`. Also returns, if these were considered, those that must wait for the next
/// message.
pub(super) fn plan<'a>(
    listing: &'a Listing,
    mut answer: Answer,
    evidence: &Evidence<'_>,
    state: &SessionState,
    options: &DisclosureOptions,
    room: &Meter<'_>,
) -> (Plan<'a>, Option<Vec<SkillId>>) {
    let (n_visible, limit) = (listing.len(), options.max_skills);
    let plan = Plan { n_visible, limit, meta: answer.meta, ..Plan::default() };
    if answer.meta == Some(MetaQuestion::ShowAll) {
        return (show_all(listing, plan, evidence, options), None);
    }
    let excluded = std::mem::take(&mut answer.excluded).into_iter().collect();
    let vetoed = std::mem::take(&mut answer.vetoed).into_iter().collect();
    let relevant = Vec::new();
    let mut planner =
        Planner { listing, evidence, state, options, plan, excluded, vetoed, relevant };
    planner.ask_relevance(&answer);
    let weak = planner.add_matched(&answer);
    let has_match = planner.shows_any();
    let postponed = planner.add_lost(room);
    if !has_match && answer.meta.is_none() && options.max_skills > 0 {
        planner.add_relevant(&answer);
    }
    let weak_only = weak.iter().map(|entry| Rejection::new(&entry.id, Reason::WeakMention));
    planner.plan.omitted.extend(weak_only);
    planner.add_reasons(&answer);
    if answer.meta.is_some() {
        planner.add_registry();
    } else {
        planner.add_lines(&weak);
    }
    (planner.plan, Some(postponed))
}

/// The first skills in full, and how many of how many these are.
fn show_all<'a>(
    listing: &'a Listing,
    mut plan: Plan<'a>,
    evidence: &Evidence<'_>,
    options: &DisclosureOptions,
) -> Plan<'a> {
    let mut visible = listing.visible();
    plan.limit = options.max_all_skills;
    for entry in visible.by_ref().take(plan.limit) {
        plan.add_full(entry, evidence);
    }
    plan.counts_shown = true;
    plan.beyond = visible.by_ref().take(MAX_NEXT).map(|entry| entry.id.clone()).collect();
    plan.n_below = plan.beyond.len() + visible.count();
    plan
}

impl<'a> Plan<'a> {
    /// Adds a skill in full, or as a line if its instructions are withheld.
    fn add_full(&mut self, entry: &'a Entry, evidence: &Evidence<'_>) {
        match (evidence.withheld)(entry) {
            None => self.full.push(entry),
            Some(reason) => self.withheld.push((entry, reason)),
        }
    }

    /// The skills that have a place in the text.
    fn shown(&self) -> impl Iterator<Item = &'a Entry> {
        let withheld = self.withheld.iter().map(|(entry, _)| entry);
        self.full.iter().chain(&self.above).chain(withheld).chain(&self.registry).copied()
    }
}

impl<'a> Planner<'a, '_> {
    /// Tells whether anything was found to show in full, or stands in the context.
    fn shows_any(&self) -> bool {
        let Plan { full, above, withheld, .. } = &self.plan;
        !full.is_empty() || !above.is_empty() || !withheld.is_empty()
    }

    /// Asks for the most relevant skills, where they decide anything.
    fn ask_relevance(&mut self, answer: &Answer) {
        let n_wanted = match answer.meta {
            Some(_) => usize::MAX,
            None if self.options.asks_relevance() => self.options.max_lines.saturating_add(1),
            None => return,
        };
        let has_match = !answer.matches.is_empty() || !answer.beyond.is_empty();
        if answer.meta.is_none() && !has_match && (self.evidence.is_idle)() {
            return;
        }
        let found = (self.evidence.relevant)(n_wanted).into_iter();
        self.relevant =
            found.map(|(place, relevance)| (self.listing.at(place as usize), relevance)).collect();
    }

    /// Adds the skills that the message names or whose triggers it hits. Returns those that it may
    /// name.
    fn add_matched(&mut self, answer: &Answer) -> Vec<&'a Entry> {
        let is_meant = |found: &Relevance| {
            NAME_MARGIN.is_passed(found) || found.lead >= found.worth * ALONE && !found.is_denied
        };
        let first = self.relevant.first().filter(|(_, found)| is_meant(found));
        let first = first.map(|(entry, _)| &entry.id);
        let is_weak = |id: &SkillId| answer.weak.binary_search(id).is_ok() && Some(id) != first;
        let in_context = self.state.skills.iter().filter(|known| known.in_context || known.lost);
        let is_known: HashSet<&SkillId> = in_context.map(|known| &known.skill).collect();
        let matched = answer.matches.iter().map(|found| &found.id).chain(&answer.beyond);
        let (weak, matched): (Vec<&SkillId>, Vec<&SkillId>) = matched.partition(|id| is_weak(id));
        let n_matches = answer.n_matches.saturating_sub(weak.len());
        let mut n_full = 0;
        let mut n_next = 0;
        for id in matched {
            let is_known = is_known.contains(id);
            let entry = is_known.then(|| self.listing.get(id)).flatten();
            if let Some(entry) = entry.filter(|entry| self.state.shows(id, &entry.skill)) {
                self.plan.above.push(entry);
            } else if n_full < self.options.max_skills {
                n_full += 1;
                if let Some(entry) = self.listing.get(id) {
                    self.plan.add_full(entry, self.evidence);
                }
            } else if is_known || n_next < MAX_NEXT {
                n_next += usize::from(!is_known);
                self.plan.beyond.push(id.clone());
            }
        }
        self.plan.n_below = n_matches.saturating_sub(n_full + self.plan.above.len());
        weak.into_iter().filter_map(|id| self.listing.get(id)).collect()
    }

    /// Adds the skills that the session's context lost; returns those that wait for the next
    /// message, as this one vetoes them or ranks them below the limit.
    fn add_lost(&mut self, room: &Meter<'_>) -> Vec<SkillId> {
        let is_shown = |id: &SkillId| self.plan.full.iter().any(|entry| entry.id == *id);
        let lost = self.state.skills.iter().filter(|known| known.lost && !is_shown(&known.skill));
        let lost: Vec<&Entry> =
            lost.filter_map(|known| self.listing.get_for_anyone(&known.skill)).collect();
        let (held_back, lost): (Vec<_>, Vec<_>) =
            lost.into_iter().partition(|entry| self.is_beyond(entry) || self.is_lost_vetoed(entry));
        let restored = restore(lost.into_iter(), self.options.format, room);
        let plan = &mut self.plan;
        let unlisted = restored.full.iter().filter(|entry| !self.listing.has(&entry.id));
        plan.unlisted = unlisted.map(|entry| entry.id.clone()).collect();
        plan.omitted.extend(restored.rejections());
        plan.full.extend(restored.full);
        let listed = restored.too_long.into_iter().filter(|entry| self.listing.has(&entry.id));
        plan.registry.extend(listed);
        held_back.into_iter().map(|entry| entry.id.clone()).collect()
    }

    /// Adds the most relevant skill, if it is past the margin.
    fn add_relevant(&mut self, answer: &Answer) {
        let Some(margin) = self.options.relevance else { return };
        let Some(&(entry, found)) = self.relevant.first() else { return };
        // The message says when another skill is wanted, and not when this one is.
        let is_outdone =
            !found.says_phrase && self.relevant.iter().any(|(_, other)| other.says_phrase);
        let is_denied = answer.denied.binary_search(&entry.id).is_ok();
        if !margin.is_passed(&found) || is_outdone || is_denied || self.is_vetoed(entry) {
            return;
        }
        let stands = self.state.shows(&entry.id, &entry.skill);
        if stands || self.plan.full.iter().any(|shown| shown.id == entry.id) {
            return;
        }
        if let Some(reason) = (self.evidence.withheld)(entry) {
            self.plan.withheld.push((entry, reason));
        } else {
            self.plan.full.insert(0, entry);
            self.plan.relevant = Some(Relevant { id: entry.id.clone(), relevance: found });
        }
    }

    /// Adds why skills that have to do with the query are left out.
    fn add_reasons(&mut self, answer: &Answer) {
        let shown: HashSet<&SkillId> = match answer.untried[..] {
            [] => HashSet::new(),
            _ => self.plan.shown().map(|entry| &entry.id).collect(),
        };
        let vetoed = self.vetoed.iter().map(|(id, exclude)| Rejection::vetoed(id, exclude));
        let quoted = answer.quoted.iter().map(|(id, trigger)| Rejection::quoted(id, trigger));
        let untried = answer.untried.iter().filter(|(id, _)| !shown.contains(id));
        let untried = untried.map(|(id, pattern)| Rejection::untried(id, pattern));
        self.plan.omitted.extend(vetoed.chain(quoted).chain(untried));
    }

    /// Adds a line for every skill, the most relevant first.
    fn add_registry(&mut self) {
        let relevant = self.relevant.iter().map(|(entry, _)| *entry);
        let all: Vec<&Entry> = relevant.chain(self.listing.visible()).collect();
        self.extend_registry(all, usize::MAX);
    }

    /// Adds lines for skills that the message may name and relevant ones; if there are neither, for
    /// the few skills that nothing else would find. A line that the session was given is not
    /// repeated.
    fn add_lines(&mut self, weak: &[&'a Entry]) {
        let worth = self.relevant.first().map_or(0.0, |(_, found)| found.worth);
        // Among a handful of skills rarity says nothing: a word that half of them have is common.
        let is_handful = self.listing.len() <= self.options.max_lines;
        let is_near = |found: &Relevance| {
            found.worth >= worth * LINE_SHARE && (found.is_telling || !is_handful)
        };
        let near = self.relevant.iter().filter(|(_, found)| is_near(found));
        let mut lines: Vec<&Entry> = weak.to_vec();
        lines.extend(near.map(|(entry, _)| *entry));
        let untriggered = self.listing.untriggered();
        let has_other = self.shows_any();
        let is_small = untriggered.len() <= self.options.max_lines;
        if lines.is_empty() && !has_other && is_small && !(self.evidence.is_idle)() {
            lines.extend(untriggered);
        }
        lines.retain(|entry| !self.is_vetoed(entry));
        self.extend_registry(lines, self.options.max_lines);
        let state = self.state;
        let is_told = |e: &Entry| state.was_listed(&e.id) || state.shows(&e.id, &e.skill);
        self.plan.registry.retain(|entry| !is_told(entry));
    }

    /// Adds lines of skills that are not shown yet, each once, up to a number of them.
    fn extend_registry(&mut self, lines: Vec<&'a Entry>, limit: usize) {
        // By their addresses in the catalog: there is one of each, and numbers compare at once.
        let mut shown: BTreeSet<*const Entry> = self.plan.shown().map(ptr::from_ref).collect();
        let lines = lines.into_iter().filter(|entry| !self.options.is_native(entry));
        let new = lines.filter(|entry| shown.insert(ptr::from_ref(*entry))).take(limit);
        self.plan.registry.extend(new);
    }

    fn is_beyond(&self, entry: &Entry) -> bool {
        self.plan.beyond.contains(&entry.id)
    }

    /// Tells whether an exclude vetoes a listed skill, and notes it among those vetoed.
    fn is_vetoed(&mut self, entry: &Entry) -> bool {
        let exclude = self.excluded.get(&entry.id);
        self.vetoed.extend(exclude.map(|exclude| (entry.id.clone(), exclude.clone())));
        self.vetoed.contains_key(&entry.id)
    }

    /// The same of a skill that the session lost, which only the user may know of.
    fn is_lost_vetoed(&mut self, entry: &Entry) -> bool {
        if !self.listing.has(&entry.id) {
            let exclude = (self.evidence.exclude)(entry);
            self.vetoed.extend(exclude.map(|exclude| (entry.id.clone(), exclude)));
        }
        self.is_vetoed(entry)
    }
}
