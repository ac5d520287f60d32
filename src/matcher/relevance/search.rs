//! The search: ranks the skills of an index for a message.
//!
//! Pairs, phrases and all words but stop words are summed up for all skills, term by term, in 16 bits.
//! The best skills are then refined: by the stop words they share, and by how much of their name
//! the message contains. A skill that shares nothing but stop words is not found.

#![expect(clippy::cast_precision_loss, reason = "scores are estimates")]

mod evidence;
mod words;

use repertoire_text::blocks::mask;

use super::flat::Flat;
use super::index::RelevanceIndex;
use super::meaning::{Levels, MIN_SUMMED};
use super::postings::List;
use super::scratch::{Ranked, Scratch, WordKind};
use super::{Relevance, Relevant};
use crate::catalog::PlaceSet;
use crate::skill::SkillId;
use words::rarity;

/// The share by which a skill's score grows if its whole name is in the message.
const NAME_GAIN: f32 = 0.2;

/// The minimum number of the best skills that are refined. Refining changes the order among these only.
const MIN_REFINED: usize = 16;

/// The greatest possible sum, below the limit of 16 bits, as weights are rounded.
const GREATEST_SUM: f32 = 60_000.0;

/// The factor of weights that lets the greatest impact byte, 254 of 256, add a whole weight.
const SCALE: f32 = 256.0 / 254.0;

/// The number of skills in a block, whose greatest sum is kept.
const BLOCK: usize = 32;

impl RelevanceIndex {
    /// Returns the best `limit` of the skills that share a word other than stop words with `message`,
    /// best first, equal ones in the order of ids.
    pub fn rank(&self, message: &str, limit: usize) -> Vec<Relevant> {
        let mut ranked = Vec::new();
        self.rank_into(message, limit, &mut ranked);
        let relevant = |found: &(u32, Relevance)| Relevant {
            id: self.ids[found.0 as usize].clone(),
            relevance: found.1,
        };
        ranked.iter().map(relevant).collect()
    }

    /// Ranks as [`RelevanceIndex::rank`] does, and replaces the content of `ranked` with the result, in
    /// which skills are positions in the order of ids. Does not allocate if `ranked` has room and this
    /// thread has ranked a message like this one before.
    pub fn rank_into(&self, message: &str, limit: usize, ranked: &mut Vec<(u32, Relevance)>) {
        self.rank_with(message, None, None, limit, ranked);
    }

    /// Ranks as [`RelevanceIndex::rank_into`] does, among these skills, with the nearness of each skill of the
    /// index, in the order of ids, in place of that of the table.
    pub(crate) fn rank_with(
        &self,
        message: &str,
        among: Option<&PlaceSet>,
        nearness: Option<(&[f32], Levels)>,
        limit: usize,
        ranked: &mut Vec<(u32, Relevance)>,
    ) {
        ranked.clear();
        if limit == 0 || self.is_empty() {
            return;
        }
        self.with_scratch(|scratch| {
            let rarest = self.unit();
            let levels = self.measure(message, nearness, scratch);
            scratch.read(message, &self.flat, self.languages);
            let summed = levels.filter(|_| nearness.is_some() || self.len() >= MIN_SUMMED);
            scratch.scale = scratch.scale_of(summed, rarest);
            scratch.sum_up(&self.flat);
            match (summed, levels) {
                (Some(levels), _) => scratch.add_nearness(levels, rarest),
                (None, Some(levels)) => scratch.find_near(levels),
                (None, None) => {}
            }
            if let Some(among) = among {
                scratch.keep(among);
            }
            scratch.select(limit.saturating_add(1).max(MIN_REFINED));
            scratch.refine(&self.flat);
            for (place, found) in scratch.ranked.iter().enumerate().take(limit) {
                let next = scratch.ranked.get(place + 1).map_or(0.0, |next| next.score);
                let (worth, lead) = (found.score / rarest, (found.score - next) / rarest);
                let mut relevance = Relevance { worth, lead, ..Relevance::default() };
                if let Some(levels) = levels {
                    let nearness = scratch.nearness.values[found.skill as usize];
                    relevance.nearness = Some(nearness);
                    relevance.is_near = levels.is_near(nearness);
                    relevance.is_summed = summed.is_some();
                }
                ranked.push((found.skill, relevance));
            }
            scratch.tell(&self.flat, ranked);
            if let Some((skill, relevance)) = ranked.first_mut() {
                scratch.count_words(&self.flat, *skill, relevance);
                if let Some((levels, nearness)) = summed.zip(relevance.nearness) {
                    relevance.evidence += levels.evidence(nearness);
                }
            }
        });
    }

    /// Writes the nearness of each skill to the scratch, if it is known, and returns what it means.
    fn measure(
        &self,
        message: &str,
        given: Option<(&[f32], Levels)>,
        scratch: &mut Scratch,
    ) -> Option<Levels> {
        if let Some((given, levels)) = given {
            let values = &mut scratch.nearness.values;
            values.clear();
            values.extend_from_slice(given);
            values.resize(self.len(), levels.floor);
            return Some(levels);
        }
        let meaning = self.meaning.as_ref()?;
        meaning.measure(message, &mut scratch.nearness);
        Some(meaning.levels())
    }

    /// Returns all skills that share a word other than stop words with `message`, in the order of
    /// [`RelevanceIndex::rank`].
    pub fn order(&self, message: &str) -> Vec<SkillId> {
        self.rank(message, usize::MAX).into_iter().map(|found| found.id).collect()
    }

    /// Returns the weight of the rarest possible word, the unit of [`Relevance`].
    pub(crate) fn unit(&self) -> f32 {
        rarity(self.len(), 0)
    }

    /// Calls `run` with the working memory of this thread.
    pub(super) fn with_scratch<T>(&self, run: impl FnOnce(&mut Scratch) -> T) -> T {
        match self.scratch.get_or_default().try_borrow_mut() {
            Ok(mut scratch) => run(&mut scratch),
            // A reentrant call: a subscriber to log messages searches while a search logs.
            Err(_) => run(&mut Scratch::default()),
        }
    }
}

impl Scratch {
    /// Sums up for every skill the scores of words other than stop words, of pairs and of phrases.
    fn sum_up(&mut self, flat: &Flat) {
        self.sums.clear();
        self.sums.resize(flat.n_skills().next_multiple_of(BLOCK), 0);
        for word in self.words.iter().filter(|word| word.kind != WordKind::Common) {
            if let Some(list) = flat.list_at(word.place) {
                list.add_to(&mut self.sums[..flat.n_skills()], scaled(word.weight, self.scale));
            }
        }
    }

    /// Adds what nearness is worth to the sums of skills that share a word, and of those that are near enough
    /// without one.
    fn add_nearness(&mut self, levels: Levels, rarest: f32) {
        let found = levels.found();
        for (sum, nearness) in self.sums.iter_mut().zip(&self.nearness.values) {
            if *sum > 0 || *nearness > found {
                let worth = scaled_whole(rarest * levels.worth(*nearness), self.scale);
                *sum = sum.saturating_add(worth);
            }
        }
    }

    /// Lets skills that are near without sharing a word be found, after all others.
    fn find_near(&mut self, levels: Levels) {
        let found = levels.found();
        for (sum, nearness) in self.sums.iter_mut().zip(&self.nearness.values) {
            *sum = (*sum).max(u16::from(*nearness > found));
        }
    }

    /// Clears the sums of all skills but these.
    fn keep(&mut self, among: &PlaceSet) {
        for (skill, sum) in self.sums.iter_mut().enumerate() {
            if !among.has(skill) {
                *sum = 0;
            }
        }
    }

    /// Returns the factor by which scores are multiplied in sums.
    fn scale_of(&self, levels: Option<Levels>, rarest: f32) -> f32 {
        let words = self.words.iter().filter(|word| word.kind != WordKind::Common);
        let words: f32 = words.map(|word| word.weight).sum();
        let nearness = self.nearness.values.iter().copied().reduce(f32::max);
        let nearest = levels.zip(nearness).map_or(0.0, |(levels, of)| levels.worth(of));
        GREATEST_SUM / (words + rarest * nearest).max(f32::MIN_POSITIVE)
    }

    /// Selects the `n_best` greatest sums, equal ones in the order of ids.
    fn select(&mut self, n_best: usize) {
        let Scratch { sums, maxima, best_maxima, ranked, scale, .. } = self;
        let (blocks, _) = sums.as_chunks::<BLOCK>();
        let greatest = |sums: &[u16; BLOCK]| sums.iter().fold(0, |most, sum| most.max(*sum));
        maxima.clear();
        maxima.extend(blocks.iter().map(greatest));
        // At least `n_best` blocks have a sum of at least `least`, so a lesser sum is not among the
        // best.
        let mut least = 1;
        if n_best <= maxima.len() {
            best_maxima.clone_from(maxima);
            let place = maxima.len() - n_best;
            least = (*best_maxima.select_nth_unstable(place).1).max(1);
        }
        ranked.clear();
        for (block, (sums, most)) in blocks.iter().zip(&*maxima).enumerate() {
            if *most < least {
                continue;
            }
            let mut found = mask(sums, |sum| sum >= least);
            while found != 0 {
                let at = found.trailing_zeros() as usize;
                let skill = (block * BLOCK + at) as u32;
                ranked.push(Ranked { skill, score: f32::from(sums[at]) / *scale });
                found &= found - 1;
            }
        }
        if n_best < ranked.len() {
            ranked.select_nth_unstable_by(n_best, Ranked::compare);
            ranked.truncate(n_best);
        }
    }

    /// Adds the scores of stop words and of the name, and puts the best first.
    fn refine(&mut self, flat: &Flat) {
        let Scratch { words, ranked, .. } = self;
        for word in words.iter().filter(|word| word.kind == WordKind::Common) {
            let Some(list) = flat.list_at(word.place) else { continue };
            for found in &mut *ranked {
                found.score += word.weight * share(&list, found.skill);
            }
        }
        // A small filter of the positions in `words`: most terms of names are not in the message.
        let mut said = [0_u64; 4];
        for word in &*words {
            said[(word.place >> 6) as usize % 4] |= 1 << (word.place % 64);
        }
        let is_said = |term: u32| {
            said[(term >> 6) as usize % 4] >> (term % 64) & 1 != 0
                && words.iter().any(|word| word.place == term)
        };
        for found in &mut *ranked {
            let share = share_of_name(flat, is_said, found.skill);
            found.score *= 1.0 + NAME_GAIN * share * share;
        }
        ranked.sort_unstable_by(Ranked::compare);
    }

    /// Records which skills share a word that distinguishes skills, and which share a phrase.
    fn tell(&self, flat: &Flat, ranked: &mut [(u32, Relevance)]) {
        let mut n_left = ranked.len();
        for word in &self.words {
            let is_phrase = word.kind == WordKind::Phrase;
            let is_word = word.kind.is_evidence() && word.is_telling && n_left > 0;
            let list = if is_phrase || is_word { flat.list_at(word.place) } else { None };
            let Some(list) = list else { continue };
            for (skill, relevance) in &mut *ranked {
                let is_open = is_phrase || !relevance.is_telling;
                if is_open && list.impact(*skill).value() > 0 {
                    relevance.says_phrase |= is_phrase;
                    relevance.is_telling |= is_word;
                    n_left -= usize::from(is_word);
                }
            }
        }
    }
}

/// Returns the impact of a term in a skill, as a share of the greatest.
pub(super) fn share(list: &List<'_>, skill: u32) -> f32 {
    f32::from(list.impact(skill).value()) / f32::from(super::impact::MAX_IMPACT)
}

/// Returns the share of a skill's name that the message contains, from 0 to 1. Terms count by their
/// rarity.
fn share_of_name(flat: &Flat, is_said: impl Fn(u32) -> bool, skill: u32) -> f32 {
    if !flat.name_terms(skill).any(&is_said) {
        return 0.0;
    }
    let (mut said, mut all) = (0.0, 0.0);
    for (term, list) in flat.name(skill) {
        let rarity = rarity(flat.n_skills(), list.n_skills);
        all += rarity;
        if is_said(term) {
            said += rarity;
        }
    }
    if all > 0.0 { said / all } else { 0.0 }
}

fn scaled(weight: f32, scale: f32) -> u16 {
    scaled_whole(weight * SCALE, scale)
}

#[expect(clippy::cast_sign_loss, reason = "weights are positive")]
fn scaled_whole(weight: f32, scale: f32) -> u16 {
    (weight * scale).min(f32::from(u16::MAX)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::relevance::scratch::Word;
    use repertoire_text::words::terms::Term;

    #[test]
    fn the_greatest_sums_are_selected_wherever_they_are() {
        let term = Term::default();
        let word = Word { term, kind: WordKind::Telling, place: 0, is_telling: true, weight: 1.0 };
        let mut scratch = Scratch { words: vec![word], scale: 1.0, ..Scratch::default() };
        for (n_skills, n_values) in [(1, 2), (32, 9), (33, 9), (500, 3), (900, 60_000), (5_000, 60)]
        {
            let sum = |skill: u32| ((skill.wrapping_mul(2_654_435_761) >> 8) % n_values) as u16;
            scratch.sums = (0..n_skills).map(sum).collect();
            scratch.sums.resize((n_skills as usize).next_multiple_of(BLOCK), 0);
            for n_best in [1, 16, 40] {
                scratch.select(n_best);
                let mut found: Vec<u32> = scratch.ranked.iter().map(|of| of.skill).collect();
                let mut expected: Vec<u32> = (0..n_skills).filter(|&of| sum(of) > 0).collect();
                expected.sort_by_key(|&of| std::cmp::Reverse(sum(of)));
                expected.truncate(n_best);
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{n_best} of {n_skills}");
            }
        }
    }
}
