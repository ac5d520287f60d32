//! Selection for disclosures: the best few matches, and the number of all.

use super::Search;
use super::top_n::MAX_BEST;
use crate::skill::SkillId;

/// The matches that [`Index::select`](crate::matcher::Index::select) is asked for.
#[derive(Debug, Clone, Default)]
pub struct Selection<'s> {
    /// The skills used recently, the last one first.
    pub recent: &'s [SkillId],
    /// The number of matches wanted, beside those that are in the answer anyway.
    pub limit: usize,
    /// Skills that are in the answer if they match, wherever they rank.
    pub named: Vec<&'s SkillId>,
    /// True if the matches are wanted with their hits.
    pub hits: bool,
}

impl Search<'_, '_> {
    /// Ranks what `selection` wants. Returns the skills that match by a weak mention alone.
    pub(super) fn rank_selected(&mut self, selection: &Selection<'_>) -> Vec<u32> {
        self.start_ranking(selection.recent);
        let weak = self.weak();
        let place = |id: &&SkillId| self.index.tables.ids.binary_search(id).ok();
        let named = selection.named.iter().filter_map(place).map(|skill| skill as u32);
        let mut named: Vec<u32> = named.chain(weak.iter().copied()).collect();
        named.sort_unstable();
        named.dedup();
        if selection.limit > MAX_BEST {
            self.rank_all(selection.recent);
            let mut n_others = 0;
            self.scratch.ranking.best.retain(|key| {
                let is_named = named.binary_search(&key.skill).is_ok();
                n_others += usize::from(!is_named);
                is_named || n_others <= selection.limit
            });
            return weak;
        }
        let mut keys = Vec::with_capacity(named.len());
        for &skill in &named {
            self.open_own(skill);
            keys.extend(self.key(skill));
            self.scratch.ranking.epochs.visitor().visit(skill);
        }
        self.rank_best_of_others(selection.limit);
        if !keys.is_empty() {
            self.scratch.ranking.best.extend(keys);
            self.scratch.ranking.best.sort_unstable();
        }
        weak
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::{Answer, Index, IndexOptions, IndexedSkill, Query};
    use crate::skill::Skill;

    fn index(mask_quoted: bool) -> Index {
        let skills: Vec<(SkillId, Skill)> = (0..40)
            .map(|i| {
                let triggers = match i % 4 {
                    0 => "keywords: [git]".to_owned(),
                    1 => format!("keywords: [git, word{i}], exclude: [veto{i}]"),
                    2 => format!("patterns: ['git.*w{i}', 'w\\d+']"),
                    _ => "keywords: [unheard]".to_owned(),
                };
                let text =
                    format!("---\nname: red{i}\ndescription: d\ntriggers: {{{triggers}}}\n---\n");
                (SkillId::new(&format!("red{i}")), text.parse().unwrap())
            })
            .collect();
        let indexed = skills.iter().map(|(id, skill)| IndexedSkill {
            id,
            name: skill.name(),
            triggers: skill.triggers(),
        });
        let options = IndexOptions { mask_quoted, ..IndexOptions::default() };
        Index::new(&indexed.collect::<Vec<_>>(), &options).unwrap()
    }

    #[test]
    fn a_selection_is_the_first_of_all_with_those_that_are_named_and_the_number_of_all() {
        let index = index(false);
        let ids: Vec<SkillId> =
            [3, 12, 13, 18, 39].map(|i| SkillId::new(&format!("red{i}"))).into();
        for message in
            ["git", "git w6 and w12", "red7 and red8: git", "veto13 git", "", "/red39 git"]
        {
            let query = Query::new(message);
            for recent in [&[], &ids[1..3]] {
                let all = index.search(&query, recent, 0);
                for limit in [0, 1, 3, 30, MAX_BEST + 1] {
                    for named in [&[], &ids[..]] {
                        let named: Vec<&SkillId> = named.iter().collect();
                        let is_there = |id: &&SkillId| named.contains(id) || all.weak.contains(id);
                        let mut n_others = 0;
                        let expected = all.beyond.iter().filter(|id| {
                            n_others += usize::from(!is_there(id));
                            is_there(id) || n_others <= limit
                        });
                        let expected: Vec<SkillId> = expected.cloned().collect();
                        let selection =
                            Selection { recent, limit, named: named.clone(), hits: false };
                        let answer = index.select(&query, &selection);
                        assert_eq!(answer.beyond, expected, "{message}: {limit} and {named:?}");
                        let rest = Answer { beyond: all.beyond.clone(), ..answer };
                        assert_eq!(rest, all, "{message}");
                        let hits = index.select(&query, &Selection { hits: true, ..selection });
                        let found: Vec<&SkillId> = hits.matches.iter().map(|of| &of.id).collect();
                        assert_eq!(found, expected.iter().collect::<Vec<_>>(), "{message}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_quoted_only_is_told_of_every_skill() {
        let (index, query) = (index(true), Query::new("`git` and word9"));
        let selection = Selection { limit: 1, ..Selection::default() };
        assert_eq!(index.select(&query, &selection), index.search(&query, &[], 0));
        assert!(index.select(&query, &selection).quoted.len() > 15);
    }
}
