//! What each skill deserves in answer to one query.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::budget::{Budget, Meter, TokenCounter};
use super::fit::{Plan, fit};
use super::reason;
use super::render::Format;
use super::restore::restore;
use crate::catalog::{Audience, Catalog, Entry};
use crate::matcher::{Answer, Match, MetaQuestion, Rejection, Relevant};
use crate::session::SessionState;
use crate::skill::SkillId;

/// How much of a skill, or of a catalog, is disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tier {
    /// Nothing at all.
    #[default]
    Nothing = 0,
    /// That there are skills, and how many.
    Breadcrumb = 1,
    /// A line for each: id and brief description.
    Registry = 2,
    /// The instructions in full.
    Full = 3,
}

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

/// How disclosures are made.
#[derive(Debug, Clone, PartialEq)]
pub struct DisclosureOptions {
    /// Format of the text.
    pub format: Format,
    /// Matching skills shown in full, at most.
    pub max_skills: usize,
    /// Skills shown in full when all are asked for, at most.
    pub max_all_skills: usize,
    /// Skills listed in a line because they declare no triggers, because the query asks what there is,
    /// or because only a generic word of them is found, at most; the most relevant come first. The
    /// others are counted in [`Disclosure::hidden`] and in the text, not told one by one.
    pub max_lines: usize,
    /// When the most relevant skill is shown in full although no skill's triggers are hit; `None`
    /// is never. It must declare no triggers.
    pub relevance: Option<RelevanceMargin>,
    /// Whether a skill of which only a generic word is found is shown in a line, instead of in
    /// full: one that people say about anything, or that many skills of the catalog have.
    pub hint_generic_words: bool,
    /// Room for the text; `None` is without limit. The breadcrumb (about 30 characters) is
    /// written even where there is less.
    pub budget: Option<Budget>,
    /// Room for the skills that are shown again after the session's context was made shorter, the
    /// last used first.
    pub restore: Budget,
}

impl Default for DisclosureOptions {
    fn default() -> Self {
        DisclosureOptions {
            format: Format::Markdown,
            max_skills: 3,
            max_all_skills: 10,
            // About the 16,000 characters that the catalog prompt has.
            max_lines: 200,
            relevance: None,
            hint_generic_words: false,
            budget: None,
            restore: Budget::Tokens(5000),
        }
    }
}

/// How sure relevance must be to show a skill in full. Words count by their rarity: the measure is
/// a word as rare as can be in the catalog.
///
/// The default is the one that `docs/routing.md` measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevanceMargin {
    /// What the skill shares with the message is worth at least so much, see
    /// [`Relevant::worth`](crate::matcher::Relevant).
    pub worth: f32,
    /// It is ahead of the next skill by at least so much.
    pub lead: f32,
    /// It shares at least so many different words, common ones not counted.
    pub words: usize,
}

impl Default for RelevanceMargin {
    fn default() -> Self {
        RelevanceMargin { worth: 2.0, lead: 0.75, words: 3 }
    }
}

impl RelevanceMargin {
    /// Whether `found` is past the margin.
    pub fn is_passed(&self, found: &Relevant) -> bool {
        found.worth >= self.worth && found.lead >= self.lead && found.words >= self.words
    }
}

/// The decision for one query.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Disclosure {
    /// The highest tier that any skill has in the text.
    pub tier: Tier,
    /// Skills in full, best first.
    pub full: Vec<SkillId>,
    /// What is shown in full for its relevance, if [`DisclosureOptions::relevance`] allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevant: Option<Relevant>,
    /// Skills in a registry line, in the order of the text.
    pub registry: Vec<SkillId>,
    /// Number of skills only counted in the breadcrumb.
    pub hidden: usize,
    /// Skills that have to do with the query and are shown less than they might be, and why.
    pub omitted: Vec<Rejection>,
    /// What to put into the prompt; may be empty.
    pub text: String,
}

/// The skills that the model may be told of. Made once, so that a disclosure costs what it shows,
/// not what there is.
#[derive(Debug)]
pub(crate) struct Listing {
    catalog: Arc<Catalog>,
    /// Their places in the catalog, in the order of ids.
    visible: Vec<usize>,
    /// The places among these of those without triggers.
    untriggered: Vec<usize>,
}

impl Listing {
    /// Lists what `catalog` has for the model.
    pub(crate) fn new(catalog: Arc<Catalog>) -> Listing {
        let (mut visible, mut untriggered) = (Vec::new(), Vec::new());
        for (place, entry) in catalog.listed_places(Audience::Model) {
            if !entry.skill.declares_triggers() {
                untriggered.push(visible.len());
            }
            visible.push(place);
        }
        Listing { catalog, visible, untriggered }
    }

    /// The skills, in the order of ids.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Entry> {
        self.visible.iter().map(|place| self.catalog.at(*place))
    }

    fn at(&self, place: usize) -> &Entry {
        self.catalog.at(self.visible[place])
    }

    /// The skill with this id.
    pub(crate) fn get(&self, id: &SkillId) -> Option<&Entry> {
        self.place(id).map(|place| self.at(place))
    }

    /// The same, also of a skill that only the user can activate: what the user had shown once may be
    /// shown again.
    pub(crate) fn get_for_anyone(&self, id: &SkillId) -> Option<&Entry> {
        let is_for_user = |of: &&Entry| of.is_available() && of.is_loadable(Audience::User);
        self.get(id).or_else(|| self.catalog.get(id.as_str()).filter(is_for_user))
    }

    fn has(&self, id: &SkillId) -> bool {
        self.place(id).is_some()
    }

    fn place(&self, id: &SkillId) -> Option<usize> {
        self.visible.binary_search_by(|place| self.catalog.at(*place).id.cmp(id)).ok()
    }

    /// Those without triggers: first what is among `relevant`, in that order, then the rest in
    /// the order of ids.
    fn untriggered_by_relevance(&self, relevant: &[SkillId]) -> Vec<&Entry> {
        let is_untriggered = |place: &usize| self.untriggered.binary_search(place).is_ok();
        let places = relevant.iter().filter_map(|id| self.place(id)).filter(is_untriggered);
        let mut places: Vec<usize> = places.collect();
        let first: BTreeSet<usize> = places.iter().copied().collect();
        places.extend(self.untriggered.iter().filter(|place| !first.contains(place)));
        places.into_iter().map(|place| self.at(place)).collect()
    }
}

/// What is known of a query beyond its matches. Each is only asked for where it decides something.
pub(crate) struct Evidence<'e> {
    /// All skills that have to do with it, best first.
    pub(crate) relevant: &'e dyn Fn() -> Vec<SkillId>,
    /// The most relevant skill, if it is past the margin.
    pub(crate) sure: &'e dyn Fn() -> Option<Relevant>,
    /// The generic word that is all that a skill matches by.
    pub(crate) generic_word: &'e dyn Fn(&Match) -> Option<String>,
    /// The exclude that vetoes a skill, whether or not anything else of it matches.
    pub(crate) exclude: &'e dyn Fn(&Entry) -> Option<String>,
}

/// Decides what to disclose of `listing`, given the matcher's `answer` (`None` stands for a blank
/// query) and what the session did so far. Also says, if what the session lost was considered, which of it
/// is to be once more.
pub(crate) fn disclose(
    listing: &Listing,
    answer: Option<Answer>,
    evidence: &Evidence<'_>,
    state: &SessionState,
    options: &DisclosureOptions,
    tokens: &dyn TokenCounter,
) -> (Disclosure, Option<Vec<SkillId>>) {
    let room = Meter::new(Some(options.restore), tokens);
    let planned = answer.map(|answer| plan(listing, answer, evidence, state, options, &room));
    let is_any = |(plan, _): &(Plan<'_>, _)| plan.n_visible > 0 || !plan.full.is_empty();
    let Some((plan, postponed)) = planned.filter(is_any) else { return Default::default() };
    (fit(plan, options.format, &Meter::new(options.budget, tokens)), postponed)
}

/// The table of DESIGN §5: the first case that applies. What the session has in its context is
/// not shown in full again, what it lost is, as far as there is `room`.
fn plan<'a>(
    listing: &'a Listing,
    answer: Answer,
    evidence: &Evidence<'_>,
    state: &SessionState,
    options: &DisclosureOptions,
    room: &Meter<'_>,
) -> (Plan<'a>, Option<Vec<SkillId>>) {
    let Answer { matches, beyond, vetoed, quoted, untried, meta, .. } = answer;
    let mut plan =
        Plan { n_visible: listing.visible.len(), limit: options.max_skills, ..Plan::default() };
    if meta == Some(MetaQuestion::ShowAll) {
        let mut visible = listing.visible();
        plan.limit = options.max_all_skills;
        plan.full = visible.by_ref().take(plan.limit).collect();
        plan.counts_shown = true;
        plan.beyond = visible.map(|entry| entry.id.clone()).collect();
        return (plan, None);
    }

    let hinted: Vec<(SkillId, String)> = matches
        .iter()
        .filter(|_| options.hint_generic_words)
        .filter_map(|found| Some((found.id.clone(), (evidence.generic_word)(found)?)))
        .collect();
    // There may be thousands of matches: of most these tell at once that they are neither.
    let is_hinted: HashSet<&SkillId> = hinted.iter().map(|(id, _)| id).collect();
    let is_known: HashSet<&SkillId> = state.skills.iter().map(|known| &known.skill).collect();
    let is_in_context = |id: &SkillId| {
        is_known.contains(id) && listing.get(id).is_some_and(|entry| state.shows(id, &entry.skill))
    };
    let matched = matches.into_iter().map(|found| found.id).chain(beyond);
    let (above, mut matched): (Vec<SkillId>, Vec<SkillId>) =
        matched.filter(|id| !is_hinted.contains(id)).partition(is_in_context);
    let beyond = matched.split_off(options.max_skills.min(matched.len()));
    let has_match = !matched.is_empty() || !beyond.is_empty() || !above.is_empty();
    plan.full = matched.iter().filter_map(|id| listing.get(id)).collect();
    plan.above = above.iter().filter_map(|id| listing.get(id)).collect();

    // What matches is shown anyway; the rest of what is shown must be asked for its excludes.
    let mut vetoed: BTreeMap<SkillId, String> = vetoed.into_iter().collect();
    let lost = state.skills.iter().filter(|known| known.lost && !matched.contains(&known.skill));
    let lost = lost.filter_map(|known| listing.get_for_anyone(&known.skill));
    let (held_back, lost): (Vec<_>, Vec<_>) =
        lost.partition(|entry| is_vetoed(entry, &mut vetoed, evidence));
    let postponed = held_back.into_iter().map(|entry| entry.id.clone()).collect();
    let restored = restore(lost.into_iter(), options.format, room);
    let unlisted = restored.full.iter().filter(|entry| !listing.has(&entry.id));
    plan.unlisted = unlisted.map(|entry| entry.id.clone()).collect();
    plan.beyond = beyond;
    plan.beyond.retain(|id| !restored.contains(id));
    plan.omitted.extend(restored.rejections());
    plan.full.extend(restored.full);
    plan.registry.extend(restored.too_long.into_iter().filter(|entry| listing.has(&entry.id)));
    if !has_match && meta.is_none() {
        let sure = (evidence.sure)().and_then(|found| Some((listing.get(&found.id)?, found)));
        let is_wanted = |(entry, _): &(&Entry, Relevant)| {
            let is_in_context = state.shows(&entry.id, &entry.skill);
            let is_shown = plan.full.iter().any(|shown| shown.id == entry.id);
            !entry.skill.declares_triggers()
                && !is_in_context
                && !is_shown
                && !is_vetoed(entry, &mut vetoed, evidence)
        };
        if let Some((entry, found)) = sure.filter(is_wanted) {
            plan.full.insert(0, entry);
            plan.relevant = Some(found);
        }
    }
    plan.omitted.extend(vetoed.iter().map(|(id, exclude)| reason::veto(id, exclude)));
    plan.omitted.extend(quoted.iter().map(|(id, trigger)| reason::quoted(id, trigger)));
    let shown = plan.full.iter().chain(&plan.registry);
    let is_shown: HashSet<&SkillId> = shown.map(|entry| &entry.id).collect();
    let hinted = hinted.iter().filter(|(id, _)| !is_shown.contains(id));
    let mut max_lines = options.max_lines;
    for (id, word) in hinted {
        let has_line = max_lines > 0;
        max_lines = max_lines.saturating_sub(1);
        plan.registry.extend(listing.get(id).filter(|_| has_line));
        plan.omitted.push(reason::hint(id, word, has_line));
    }
    let has_match = has_match || plan.relevant.is_some();

    let shown = plan.full.iter().chain(&plan.above).chain(&plan.registry);
    let shown: BTreeSet<&SkillId> = shown.map(|entry| &entry.id).collect();
    let is_new = |entry: &&Entry| !shown.contains(&entry.id);
    let untried = untried.iter().filter(|(id, _)| !shown.contains(id));
    plan.omitted.extend(untried.map(|(id, pattern)| reason::untried(id, pattern)));
    if meta.is_some() {
        // A question about the skills themselves has to do with all of them alike.
        plan.registry.extend(listing.visible().filter(is_new).take(max_lines));
    } else if !has_match && !listing.untriggered.is_empty() {
        let untriggered = listing.untriggered_by_relevance(&(evidence.relevant)());
        plan.registry.extend(untriggered.into_iter().filter(is_new).take(max_lines));
    }
    (plan, Some(postponed))
}

/// Whether an exclude vetoes a skill, which is noted among those `vetoed`.
fn is_vetoed(
    entry: &Entry,
    vetoed: &mut BTreeMap<SkillId, String>,
    evidence: &Evidence<'_>,
) -> bool {
    if !vetoed.contains_key(&entry.id) {
        vetoed.extend((evidence.exclude)(entry).map(|exclude| (entry.id.clone(), exclude)));
    }
    vetoed.contains_key(&entry.id)
}
