//! Ranking: adds up the triggers that were found, and puts the skills that match in order.

use super::Search;
use super::ranking::{NOT_EXPLICIT, Ranking, Tally};
use super::scratch::{Presence, Scratch};
use crate::matcher::HitKind;
use crate::skill::SkillId;

impl Search<'_, '_> {
    /// Ranks the best `limit` matches, and with them the `named` skills and the weak mentions that match.
    /// Runs all undecided patterns. Returns the number of all matches.
    pub(super) fn rank(&mut self, recent: &[SkillId], limit: usize, named: &[&SkillId]) -> usize {
        self.confirm_all();
        self.tally(recent);
        self.settle_weak();
        let named = self.named(named);
        self.scratch.ranking.select(limit, &named)
    }

    /// The skills that are selected wherever they rank: the `named` ones, and those of weak mentions.
    pub(super) fn named(&self, named: &[&SkillId]) -> Vec<u32> {
        let place = |id: &&SkillId| self.index.tables.ids.binary_search(id).ok();
        let named = named.iter().filter_map(place).map(|skill| skill as u32);
        named.chain(self.scratch.found.weak.iter().copied()).collect()
    }

    /// Adds up the triggers that were found, skill by skill.
    fn tally(&mut self, recent: &[SkillId]) {
        let Search { index, among, scratch, .. } = self;
        let tables = &index.tables;
        let may_find = |skill: &u32| among.is_none_or(|among| among.has(*skill as usize));
        let Scratch { found, ranking: Ranking { items, tallies, .. }, .. } = &mut **scratch;
        let present = found.items().filter(|(_, presence)| *presence != Presence::Absent);
        items.clear();
        items.extend(present.map(|(item, _)| (tables.items[item as usize].subject, item)));
        items.sort_unstable();
        tallies.start(tables.ids.len());
        for &(_, item) in &*items {
            let mut declared = tables.items[item as usize];
            if among.is_some() {
                // A trigger is as rare as it is among the skills that exist for this search.
                let n_skills = tables.postings.of(item).iter().filter(|s| may_find(s)).count();
                declared.rarity = n_skills as u32;
            }
            let trigger = Tally::of(declared, found.is_attached(item));
            for &skill in tables.postings.of(item).iter().filter(|skill| may_find(skill)) {
                if let Some(tally) = tallies.add(skill, trigger) {
                    tally.add(trigger);
                }
            }
        }
        let mut with = |skill: u32, change: &dyn Fn(&mut Tally)| {
            if let Some(tally) = tallies.get_mut(skill) {
                change(tally);
            }
        };
        for &skill in &found.explicit {
            with(skill, &|tally| tally.phrase &= !NOT_EXPLICIT);
        }
        for &exclude in &found.excludes {
            with(tables.excludes[exclude as usize].0, &|tally| tally.is_vetoed = true);
        }
        // Of a skill that is there twice, the first place counts.
        for (place, id) in recent.iter().enumerate().rev() {
            if let Ok(skill) = tables.ids.binary_search(id) {
                with(skill as u32, &|tally| {
                    tally.recency = u16::try_from(place).unwrap_or(u16::MAX);
                });
            }
        }
    }

    /// Runs all undecided patterns.
    fn confirm_all(&mut self) {
        for nth in 0..self.scratch.found.n_items() {
            let (item, presence) = self.scratch.found.item(nth);
            if presence == Presence::Possible {
                self.confirm(item);
            }
        }
    }

    /// Keeps the skills with a weak mention that match by nothing else.
    fn settle_weak(&mut self) {
        let Search { index, scratch, .. } = self;
        let Scratch { found, ranking, .. } = &mut **scratch;
        let mut weak = std::mem::take(&mut found.weak);
        weak.retain(|&skill| {
            let mut triggers = index.tables.triggers.of(skill);
            ranking.tallies.get(skill).is_some_and(|tally| !tally.is_vetoed)
                && triggers.all(|(kind, _, item)| {
                    kind == HitKind::Name || found.presence(item) == Presence::Absent
                })
        });
        found.weak = weak;
    }
}
