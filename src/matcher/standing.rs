//! Where one skill stands in the ranking, by what was found of it.

use super::excerpt::Excerpt;
use super::found::{Presence, Scratch};
use super::index::Index;
use super::rank::RankKey;
use crate::skill::SkillId;

impl Index {
    /// The key of a skill: `None` if it does not match or is vetoed.
    pub(super) fn key(
        &self,
        skill: u32,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Option<RankKey> {
        let (hopes, is_certain) = self.hopes(skill, scratch)?;
        if is_certain { Some(hopes) } else { self.settle(skill, text, scratch) }
    }

    /// The key of a skill after all of its patterns that may match were run.
    #[inline(never)] // few skills need it
    pub(super) fn settle(
        &self,
        skill: u32,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Option<RankKey> {
        for trigger in self.tables.triggers.items_of(skill) {
            if scratch.found.presence(trigger.item()) == Presence::Possible {
                self.confirm(trigger.item(), text, scratch);
            }
        }
        self.hopes(skill, scratch).map(|(key, _)| key)
    }

    /// The key of a skill as if all of its patterns that may match did, and whether there are no
    /// such patterns.
    pub(super) fn hopes(&self, skill: u32, scratch: &Scratch) -> Option<(RankKey, bool)> {
        let mut key = RankKey::new(skill);
        let mut is_certain = true;
        let triggers = self.tables.triggers.items_of(skill);
        // Most are not found, which a small table says that stays at hand from trigger to trigger.
        let near = scratch.found.near();
        let mut rest = triggers.iter();
        while let Some(trigger) = rest.next() {
            let item = trigger.item();
            if !near.may_have(item) {
                continue;
            }
            let presence = scratch.found.presence_of_near(item);
            if presence == Presence::Absent {
                continue;
            }
            is_certain &= presence != Presence::Possible;
            let known = self.tables.items[item as usize];
            key.add(known.n_words(), known.rarity);
            // Those that look for the same count once.
            let is_counted = trigger.is_same() && scratch.found.has_same(triggers, rest.len());
            if !is_counted {
                key.count();
            }
        }
        if key.n_triggers.0 == 0 {
            return None;
        }
        Some((self.place_among(key, scratch)?, is_certain))
    }

    /// Adds to a key what is known of the skill beside its triggers: `None` if it is vetoed.
    fn place_among(&self, mut key: RankKey, scratch: &Scratch) -> Option<RankKey> {
        let Scratch { found, ranking, .. } = scratch;
        let is_vetoed = |exclude: &u32| self.tables.excludes[*exclude as usize].0 == key.skill;
        if found.excludes.iter().any(is_vetoed) {
            return None;
        }
        key.explicit.0 = found.is_explicit(key.skill);
        key.recency = ranking.recency(key.skill);
        Some(key)
    }

    pub(super) fn start_ranking(&self, recent: &[SkillId], scratch: &mut Scratch) {
        let ranking = &mut scratch.ranking;
        ranking.start(self.tables.ids.len());
        for (place, id) in recent.iter().enumerate() {
            if let Ok(skill) = self.tables.ids.binary_search(id) {
                ranking.recent.push((skill as u32, place as u32));
            }
        }
        ranking.recent.sort_unstable();
        ranking.recent.dedup_by_key(|recent| recent.0);
    }

    /// The skills that match but for an exclude entry, with that entry.
    pub(super) fn vetoed(
        &self,
        text: &Excerpt<'_>,
        scratch: &mut Scratch,
    ) -> Vec<(SkillId, String)> {
        let excludes = std::mem::take(&mut scratch.found.excludes);
        let vetoed = excludes.iter().filter_map(|&exclude| {
            let (skill, entry) = &self.tables.excludes[exclude as usize];
            self.key(*skill, text, scratch)?;
            Some((self.id(*skill).clone(), entry.to_string()))
        });
        let vetoed = vetoed.collect();
        scratch.found.excludes = excludes;
        vetoed
    }

    /// The skills with an exclude entry in the query, with that entry.
    pub(super) fn excluded(&self, scratch: &Scratch) -> Vec<(SkillId, String)> {
        let entries = scratch.found.excludes.iter();
        let entries = entries.map(|&exclude| &self.tables.excludes[exclude as usize]);
        entries.map(|(skill, entry)| (self.id(*skill).clone(), entry.to_string())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Query;
    use super::super::index::{IndexOptions, IndexedSkill};
    use super::*;
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
