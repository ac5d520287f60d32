//! The skills that are shown in a line.

use std::collections::BTreeSet;
use std::ptr;

use super::case::{Case, Vetoes};
use super::matched::Ranked;
use crate::catalog::Entry;
use crate::matcher::Relevance;

/// The minimum worth of a skill that gets a line, as a share of the worth of the most relevant skill.
const LINE_SHARE: f32 = 0.23;

/// The minimum worth of a skill that gets a line, if its nearness adds to it: most skills have some.
const LEAST_WORTH: f32 = 0.8;

/// Returns every skill that is neither `shown` nor native, the most relevant first.
pub(super) fn all<'a>(
    case: &Case<'a, '_>,
    ranked: &Ranked<'a>,
    shown: impl Iterator<Item = &'a Entry>,
) -> Vec<&'a Entry> {
    let all = ranked.iter().map(|(entry, _)| *entry).chain(case.listing.own_first());
    new_lines(all.filter(|entry| !case.options.is_native(entry)), shown).collect()
}

/// Tells whether the message asks which skills there are for something, and some skill shares a word with
/// that.
pub(super) fn fits_topic(case: &Case<'_, '_>, ranked: &Ranked<'_>) -> bool {
    case.answer.topic.is_some() && !ranked.is_empty()
}

/// Returns the skills that the message may name (`weak`), then relevant ones, then those of single words
/// (`slight`). If there are none, `has_shown` is false and the message is not idle, returns the skills without
/// triggers if they are few, as nothing else would find them. Vetoed and denied skills are left out. The caller
/// drops lines that the session was already given. Of the agent's own skills, those with a description are left out.
pub(super) fn near<'a>(
    case: &Case<'a, '_>,
    [weak, slight]: [&[&'a Entry]; 2],
    ranked: &Ranked<'a>,
    has_shown: bool,
    shown: impl Iterator<Item = &'a Entry>,
    vetoes: &mut Vetoes,
) -> Vec<&'a Entry> {
    let Case { listing, evidence, options, .. } = case;
    let worth = ranked.first().map_or(0.0, |(_, found)| found.worth);
    // In a small catalog, rarity says nothing: a relevant skill needs a word that not all skills have.
    let is_handful = listing.len() <= options.max_lines;
    let is_near = |found: &Relevance| {
        let least = if found.is_summed { LEAST_WORTH } else { 0.0 };
        found.worth >= (worth * LINE_SHARE).max(least)
            && (found.is_telling || found.is_near || !is_handful)
    };
    // Who asks for skills for something wants to see the nearest ones, however near they are.
    let asks_near = fits_topic(case, ranked);
    let is_plausible =
        asks_near || ranked.first().is_some_and(|(_, found)| found.is_plausible(listing.len()));
    let near =
        ranked.iter().filter(|(_, found)| is_plausible && is_near(found) || found.is_near_alone());
    let mut lines: Vec<&Entry> = weak.to_vec();
    lines.extend(near.map(|(entry, _)| *entry));
    lines.extend(slight);
    let untriggered = listing.untriggered();
    let is_small = untriggered.len() <= options.max_lines;
    if lines.is_empty() && !has_shown && is_small && !(evidence.is_idle)() {
        lines.extend(untriggered);
    }
    let shown: Vec<&Entry> = shown.collect();
    let has_own = shown.iter().any(|entry| !entry.is_of_project());
    let undescribed = lines.into_iter().filter(|entry| !options.is_described(entry));
    let lines = new_lines(undescribed, shown.into_iter());
    let is_wanted = |entry: &&Entry| !vetoes.veto(entry) && !case.denies(&entry.id);
    let mut lines = lines.filter(is_wanted);
    let mut first: Vec<&Entry> = lines.by_ref().take(options.max_lines).collect();
    // However many lines a project's skills would have, one is left for the user's.
    let is_full = first.len() == options.max_lines && first.len() > 1;
    if is_full && !has_own && first.iter().all(|entry| entry.is_of_project()) {
        let own = lines.find(|entry| !entry.is_of_project());
        first.truncate(first.len() - usize::from(own.is_some()));
        first.extend(own);
    }
    first
}

/// Tells whether the session was given a line or the full text of a skill.
pub(super) fn is_told(case: &Case<'_, '_>, entry: &Entry) -> bool {
    case.state.was_listed(&entry.id) || case.state.shows(&entry.id, &entry.skill)
}

/// Returns the skills of `lines` that are not `shown`, each once.
fn new_lines<'a>(
    lines: impl Iterator<Item = &'a Entry>,
    shown: impl Iterator<Item = &'a Entry>,
) -> impl Iterator<Item = &'a Entry> {
    // Compare addresses: the catalog holds each entry once, and numbers compare faster than ids.
    let mut shown: BTreeSet<*const Entry> = shown.map(ptr::from_ref).collect();
    lines.filter(move |entry| shown.insert(ptr::from_ref(*entry)))
}
