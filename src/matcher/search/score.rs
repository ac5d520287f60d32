//! The rank key of one skill, computed from its triggers found.

use super::Search;
use super::rank_key::RankKey;
use super::scratch::{Presence, Scratch};
use crate::skill::SkillId;

impl Search<'_, '_> {
    /// Returns the key of a skill; `None` if it does not match or is vetoed.
    pub(super) fn key(&mut self, skill: u32) -> Option<RankKey> {
        let (hopes, is_certain) = self.hopes(skill)?;
        if is_certain { Some(hopes) } else { self.settle(skill) }
    }

    /// Runs all patterns of a skill that may match, and returns its key.
    #[inline(never)] // few skills need it
    pub(super) fn settle(&mut self, skill: u32) -> Option<RankKey> {
        for trigger in self.index.tables.triggers.items_of(skill) {
            if self.scratch.found.presence(trigger.item()) == Presence::Possible {
                self.confirm(trigger.item());
            }
        }
        self.hopes(skill).map(|(key, _)| key)
    }

    /// Returns an upper bound of a skill's key, as if all of its patterns that may match did, and
    /// whether no pattern is undecided, so that the bound is the key.
    pub(super) fn hopes(&self, skill: u32) -> Option<(RankKey, bool)> {
        let mut key = RankKey::new(skill);
        let mut is_certain = true;
        let triggers = self.index.tables.triggers.items_of(skill);
        // Most triggers were not found, which the presence filter says from the first-level cache.
        let near = self.scratch.found.filter();
        let mut rest = triggers.iter();
        while let Some(trigger) = rest.next() {
            let item = trigger.item();
            if !near.may_have(item) {
                continue;
            }
            let presence = self.scratch.found.presence_of_present(item);
            if presence == Presence::Absent {
                continue;
            }
            is_certain &= presence != Presence::Possible;
            let known = self.index.tables.items[item as usize];
            key.add(known.n_words(), known.rarity);
            // Those that look for the same count once.
            let is_counted = trigger.is_same() && self.scratch.found.has_same(triggers, rest.len());
            if !is_counted {
                key.count();
            }
        }
        if key.n_triggers.0 == 0 {
            return None;
        }
        Some((self.place_among(key)?, is_certain))
    }

    /// Adds to a key the facts about the skill beside its triggers; `None` if it is vetoed.
    fn place_among(&self, mut key: RankKey) -> Option<RankKey> {
        let Scratch { found, ranking, .. } = &*self.scratch;
        let is_vetoed =
            |exclude: &u32| self.index.tables.excludes[*exclude as usize].0 == key.skill;
        if found.excludes.iter().any(is_vetoed) {
            return None;
        }
        key.explicit.0 = found.is_explicit(key.skill);
        key.recency = ranking.recency(key.skill);
        Some(key)
    }

    pub(super) fn start_ranking(&mut self, recent: &[SkillId]) {
        let ranking = &mut self.scratch.ranking;
        ranking.start(self.index.tables.ids.len());
        for (place, id) in recent.iter().enumerate() {
            if let Ok(skill) = self.index.tables.ids.binary_search(id) {
                ranking.recent.push((skill as u32, place as u32));
            }
        }
        ranking.recent.sort_unstable();
        ranking.recent.dedup_by_key(|recent| recent.0);
    }

    /// The skills that match but for an exclude entry, with that entry.
    pub(super) fn vetoed(&mut self) -> Vec<(SkillId, String)> {
        let excludes = std::mem::take(&mut self.scratch.found.excludes);
        let vetoed = excludes.iter().filter_map(|&exclude| {
            let (skill, entry) = &self.index.tables.excludes[exclude as usize];
            self.key(*skill)?;
            Some((self.index.id(*skill).clone(), entry.to_string()))
        });
        let vetoed = vetoed.collect();
        self.scratch.found.excludes = excludes;
        vetoed
    }

    /// The skills with an exclude entry in the query, with that entry.
    pub(super) fn excluded(&self) -> Vec<(SkillId, String)> {
        let entries = self.scratch.found.excludes.iter();
        let entries = entries.map(|&exclude| &self.index.tables.excludes[exclude as usize]);
        entries.map(|(skill, entry)| (self.index.id(*skill).clone(), entry.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::Query;
    use crate::matcher::{Index, IndexOptions, IndexedSkill};
    use crate::skill::Skill;

    #[test]
    fn triggers_that_look_for_the_same_count_once_also_if_only_one_of_them_is_found() {
        let sources = [
            ("a", "keywords: [git]"),
            ("b", "keywords: [git, deploy], verbs: [deploy]"),
            ("c", "verbs: [deploy]"),
        ];
        let skills = sources.map(|(id, triggers)| {
            let text =
                format!("---\nname: x-{id}\ndescription: d\ntriggers: {{{triggers}}}\n---\n");
            (SkillId::new(id), text.parse::<Skill>().unwrap())
        });
        let indexed = skills.each_ref().map(|(id, skill)| IndexedSkill {
            id,
            name: skill.name(),
            triggers: skill.triggers(),
        });
        let options = IndexOptions { inflect: true, ..IndexOptions::default() };
        let index = Index::new(&indexed, &options).unwrap();
        for (query, expected) in [
            ("git deploying", ["b", "a", "c"].as_slice()),
            ("git deploy", &["b", "a", "c"]),
            ("deploy", &["b", "c"]),
            ("deploying", &["b", "c"]),
        ] {
            let query = Query::new(query);
            for found in [index.best(&query, &[], 3), index.search(&query, &[], 3).matches] {
                let ids: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
                assert_eq!(ids, expected, "{query:?}");
            }
        }
    }
}
