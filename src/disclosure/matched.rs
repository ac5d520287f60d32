//! The skills that a message names, whose triggers it hits, or that are relevant to it.

use std::collections::HashSet;

use repertoire_text::words::is_everyday;

use super::case::Case;
use super::considered::{Lack, Needed};
use super::listing::Listing;
use super::options::RelevanceMargin;
use super::reason::Reason;
use crate::catalog::Entry;
use crate::matcher::Relevance;
use crate::skill::SkillId;

/// The margin of relevance at which a word that may be the name of a skill is taken to mean that skill.
/// A skill whose lead is at least the share [`ALONE`] of its worth, so that no other comes near, is also
/// meant, unless the message denies it.
const NAME_MARGIN: RelevanceMargin = RelevanceMargin { worth: 0.0, lead: 1.0, words: 1 };
const ALONE: f32 = 0.9;

/// The maximum number of skills below the limit that are listed by id: the best ones, which would be
/// shown next. The others are only counted.
pub(crate) const MAX_NEXT: usize = 3;

/// Skills by relevance, best first.
pub(super) type Ranked<'a> = Vec<(&'a Entry, Relevance)>;

/// The skills that the message names or whose triggers it hits.
#[derive(Debug, Default)]
pub(super) struct Matched<'a> {
    /// The skills to show in full, best first.
    pub(super) full: Vec<&'a Entry>,
    /// The skills whose full text is already in the context, best first.
    pub(super) above: Vec<&'a Entry>,
    /// The skills whose instructions must not be shown, each with the reason, best first.
    pub(super) withheld: Vec<(&'a Entry, Reason)>,
    /// The first skills below the limit, and all those below it that the session knows, each once.
    pub(super) beyond: Vec<SkillId>,
    /// The number of all skills below the limit, whether in `beyond` or not.
    pub(super) n_below: usize,
    /// The skills that match by a weak mention alone: the message may name them.
    pub(super) weak: Vec<&'a Entry>,
    /// The skills that match by single words only, in attachments or where relevance clearly puts another
    /// skill first; and those that match in attachments only, if the request calls for a skill or the
    /// attachments are long.
    pub(super) slight: Vec<&'a Entry>,
}

impl<'a> Matched<'a> {
    /// Adds a skill to `full`, or to `withheld` if its instructions must not be shown.
    fn add_full(&mut self, entry: &'a Entry, case: &Case<'a, '_>) {
        match (case.evidence.withheld)(entry) {
            None => self.full.push(entry),
            Some(reason) => self.withheld.push((entry, reason)),
        }
    }

    /// Tells whether no skill is in full, already in the context, or withheld.
    pub(super) fn is_empty(&self) -> bool {
        self.full.is_empty() && self.above.is_empty() && self.withheld.is_empty()
    }
}

/// Returns all skills: the first `max_all_skills` of them in full, the others below the limit.
pub(super) fn all<'a>(case: &Case<'a, '_>) -> Matched<'a> {
    let mut all = Matched::default();
    let mut visible = case.listing.own_first();
    for entry in visible.by_ref().take(case.options.max_all_skills) {
        all.add_full(entry, case);
    }
    all.beyond = visible.by_ref().take(MAX_NEXT).map(|entry| entry.id.clone()).collect();
    all.n_below = all.beyond.len() + visible.count();
    all
}

/// Returns the most relevant skills, best first, or none if they cannot change the disclosure.
pub(super) fn ranked<'a>(case: &Case<'a, '_>) -> Ranked<'a> {
    let Case { listing, answer, evidence, options, .. } = case;
    let n_wanted = match answer.meta {
        Some(_) => usize::MAX,
        None if options.asks_relevance() => options.max_lines.saturating_add(1),
        None => return Vec::new(),
    };
    let has_match = !answer.matches.is_empty() || !answer.beyond.is_empty();
    if answer.meta.is_none() && !has_match && (evidence.is_idle)() {
        return Vec::new();
    }
    let ranked = with_entries(listing, (evidence.relevant)(n_wanted));
    let is_of_project = |(entry, _): &(&Entry, Relevance)| entry.is_of_project();
    if !listing.is_mixed() || ranked.len() < n_wanted || !ranked.iter().all(is_of_project) {
        return ranked;
    }
    // However many skills of a project are relevant, the best of the user's is among them.
    let all = with_entries(listing, (evidence.relevant)(usize::MAX));
    let own = all.into_iter().find(|item| !is_of_project(item));
    ranked.into_iter().chain(own).collect()
}

fn with_entries(listing: &Listing, found: Vec<(u32, Relevance)>) -> Ranked<'_> {
    let found = found.into_iter();
    found.map(|(place, relevance)| (listing.at(place as usize), relevance)).collect()
}

/// Returns the most relevant skills of each request that no trigger decides, if the message has several.
pub(super) fn apart<'a>(case: &Case<'a, '_>) -> Vec<Ranked<'a>> {
    let Case { listing, evidence, options, .. } = case;
    if options.relevance.is_none() || options.max_skills == 0 {
        return Vec::new();
    }
    let apart = (evidence.apart)(options.max_lines.saturating_add(1)).into_iter();
    apart.map(|found| with_entries(listing, found)).collect()
}

/// Returns the most relevant skills of the message, and among them the best of each request.
pub(super) fn united<'a>(ranked: Ranked<'a>, apart: &[Ranked<'a>]) -> Ranked<'a> {
    let mut united = ranked;
    for (entry, found) in apart.iter().filter_map(|ranked| ranked.first()) {
        if !united.iter().take(MAX_NEXT).any(|(known, _)| known.id == entry.id) {
            united.retain(|(known, _)| known.id != entry.id);
            united.insert(united.len().min(1), (entry, *found));
        }
    }
    united
}

/// The minimum worth and lead of the most relevant skill of one request of several, however many of its
/// words are shared: a sentence says less than a whole message. Fitted on pairs of prompts (`docs/routing.md`).
const MIN_WORTH_APART: f32 = 1.45;
const MIN_LEAD_APART: f32 = 0.8;

fn is_near_apart(ranked: &Ranked<'_>) -> bool {
    let first = ranked.first();
    first.is_some_and(|(_, of)| of.worth >= MIN_WORTH_APART && of.lead >= MIN_LEAD_APART)
}

/// Returns the margin that the most relevant skill of a message must reach, or that of one request of
/// several if it `is_apart`.
pub(super) fn needed(margin: RelevanceMargin, found: &Relevance, is_apart: bool) -> Needed {
    let Needed { worth, lead, words, evidence } = margin.needed(found);
    let (min_worth, min_lead) =
        if is_apart { (MIN_WORTH_APART, MIN_LEAD_APART) } else { (0.0, 0.0) };
    Needed { worth: worth.max(min_worth), lead: lead.max(min_lead), words, evidence }
}

/// Groups the skills that the message names or whose triggers it hits. A skill that is only mentioned
/// weakly counts as named if it is the first of `ranked`, the most relevant skills, by a clear margin, and
/// the message is about its use.
pub(super) fn matched<'a>(
    case: &Case<'a, '_>,
    ranked: &Ranked<'a>,
    apart: &[Ranked<'a>],
) -> Matched<'a> {
    let Case { listing, answer, evidence, state, options } = case;
    let is_meant = |found: &Relevance| {
        let is_alone = found.lead >= found.worth * ALONE;
        NAME_MARGIN.is_passed(found) || is_alone && !found.is_denied && !found.is_attached
    };
    let is_in = |ids: &[SkillId], id: &SkillId| ids.binary_search(id).is_ok();
    // A name of one word is a word that anybody may say ("open the demo in a browser"): in a catalog large enough for
    // nearness, the message must be about the skill, too.
    let has_evidence = |found: &Relevance| {
        found.evidence >= options.relevance.unwrap_or_default().needed(found).evidence
    };
    let is_said = |(entry, found): &&(&Entry, Relevance)| {
        is_meant(found) && (!answer.words.contains(&entry.id) || has_evidence(found))
    };
    let first = ranked.first().filter(is_said).map(|(entry, _)| *entry);
    let first = first.filter(|entry| is_in(&answer.weak, &entry.id));
    let first = first.filter(|entry| !is_in(&answer.about, &entry.id));
    // "hello there" is a greeting: a skill `hello` with keywords of its own is called by these.
    let has_keywords = |entry: &Entry| !entry.skill.triggers().keywords.is_empty();
    let first = first.filter(|entry| !is_everyday(entry.id.as_str()) || !has_keywords(entry));
    let first = first.filter(|entry| !(evidence.denies)(entry)).map(|entry| &entry.id);
    let is_weak = |id: &SkillId| is_in(&answer.weak, id) && Some(id) != first;
    let outdoing = outdoing(case, ranked);
    let is_attached =
        |id: &SkillId| answer.attached.binary_search_by(|(known, _)| known.cmp(id)).is_ok();
    let mut ids = answer.matches.iter().map(|found| &found.id).chain(&answer.beyond);
    let is_requested = outdoing.is_some()
        || apart.iter().any(is_near_apart)
        || ids.any(|id| !is_weak(id) && !is_attached(id));
    let is_chance = is_requested || evidence.has_long_attachments;
    let is_slight = |id: &SkillId| {
        let is_word = answer.words.contains(id);
        // A skill of a project outdoes none of the user's.
        let is_own = listing.get(id).is_some_and(|entry| !entry.is_of_project());
        let outdoes = |better: &Entry| better.id != *id && !(is_own && better.is_of_project());
        let is_outdone = is_word && outdoing.is_some_and(outdoes);
        is_outdone || is_attached(id) && (is_word || is_chance)
    };
    let in_context = state.skills.iter().filter(|known| known.in_context || known.lost);
    let is_known: HashSet<&SkillId> = in_context.map(|known| &known.skill).collect();
    let ids = answer.matches.iter().map(|found| &found.id).chain(&answer.beyond);
    let (weak, ids): (Vec<&SkillId>, Vec<&SkillId>) = ids.partition(|id| is_weak(id));
    let (slight, ids): (Vec<&SkillId>, Vec<&SkillId>) =
        ids.into_iter().partition(|id| is_slight(id));
    let mut matched = Matched::default();
    let mut n_full = 0;
    let mut n_next = 0;
    for id in ids {
        let is_known = is_known.contains(id);
        let entry = is_known.then(|| listing.get(id)).flatten();
        if let Some(entry) = entry.filter(|entry| state.shows(id, &entry.skill)) {
            matched.above.push(entry);
        } else if n_full < options.max_skills {
            n_full += 1;
            if let Some(entry) = listing.get(id) {
                matched.add_full(entry, case);
            }
        } else if is_known || n_next < MAX_NEXT {
            n_next += usize::from(!is_known);
            matched.beyond.push(id.clone());
        }
    }
    let n_matches = answer.n_matches.saturating_sub(weak.len() + slight.len());
    matched.n_below = n_matches.saturating_sub(n_full + matched.above.len());
    matched.weak = weak.into_iter().filter_map(|id| listing.get(id)).collect();
    matched.slight = slight.into_iter().filter_map(|id| listing.get(id)).collect();
    matched
}

/// Returns the skill that relevance would show in full if no trigger decided.
fn outdoing<'a>(case: &Case<'a, '_>, ranked: &Ranked<'a>) -> Option<&'a Entry> {
    let (entry, found) = ranked.first()?;
    case.options.relevance?.is_passed(found).then_some(*entry)
}

/// Returns everything that the most relevant skill of `ranked` lacks to be shown in full for a message, or
/// for one request of several if it `is_apart`, that no trigger decides: it misses the margin, is outdone
/// by a phrase of another skill, is denied, or is only talked about.
pub(super) fn lacking(case: &Case<'_, '_>, ranked: &Ranked<'_>, is_apart: bool) -> Vec<Lack> {
    let Some(margin) = case.options.relevance.filter(|_| case.options.max_skills > 0) else {
        return vec![Lack::Off];
    };
    let Some((entry, found)) = ranked.first() else { return vec![Lack::First] };
    let mut lacking = needed(margin, found, is_apart).lacking(found);
    // The message contains a phrase by which another skill says when it is wanted, and none of this
    // skill.
    if !found.says_phrase && ranked.iter().any(|(_, other)| other.says_phrase) {
        lacking.push(Lack::Phrase);
    }
    if case.answer.about.binary_search(&entry.id).is_ok() {
        lacking.push(Lack::About);
    }
    if case.denies(&entry.id) && !lacking.contains(&Lack::Denied) {
        lacking.push(Lack::Denied);
    }
    lacking
}
