//! A catalog with its index, and the query paths that are measured.

use repertoire::matcher::Index;
use repertoire::skill::Triggers;
use repertoire::{DisclosureOptions, Engine, Query, Skill, SkillId};

use crate::measure::{Rival, rival};
use crate::support::catalog::{ids, index, index_of, skills};

/// Returns the rival that finds the best `limit` matches without allocating.
pub(crate) fn best_of<'i>(index: &'i Index, name: &'static str, limit: usize) -> Rival<'i> {
    let mut best = Vec::new();
    rival(name, move |query| {
        index.matches_into(&Query::new(query), &[], limit, &mut best);
        best.len()
    })
}

/// A catalog and its compiled index.
pub(crate) struct Compiled {
    pub(crate) skills: Vec<Skill>,
    pub(crate) ids: Vec<SkillId>,
    pub(crate) index: Index,
}

impl Compiled {
    pub(crate) fn new(skills: Vec<Skill>) -> Compiled {
        let ids = ids(&skills);
        let index = index(&skills, &ids);
        Compiled { skills, ids, index }
    }

    pub(crate) fn of_size(n_skills: usize) -> Compiled {
        Compiled::new(skills(n_skills))
    }

    pub(crate) fn engine(&self) -> Engine {
        self.engine_with(DisclosureOptions::default())
    }

    /// Builds an engine that does not rank by relevance.
    pub(crate) fn engine_without_relevance(&self) -> Engine {
        let options = DisclosureOptions::default();
        self.engine_with({
            let mut options = options;
            options.max_lines = 0;
            options.relevance = None;
            options
        })
    }

    fn engine_with(&self, options: DisclosureOptions) -> Engine {
        let builder = Engine::builder().disclosure(options);
        let add = repertoire::EngineBuilder::skill;
        self.skills.iter().cloned().fold(builder, add).build().unwrap()
    }

    /// Builds the index of the same skills without their patterns.
    pub(crate) fn index_without_patterns(&self) -> Index {
        let no_patterns =
            |skill: &Skill| Triggers { patterns: Vec::new(), ..skill.triggers().clone() };
        let triggers: Vec<Triggers> = self.skills.iter().map(no_patterns).collect();
        index_of(&self.skills, &self.ids, triggers.iter())
    }

    pub(crate) fn ranked(&self, name: &'static str, limit: usize) -> Rival<'_> {
        best_of(&self.index, name, limit)
    }

    pub(crate) fn top_3(&self) -> Rival<'_> {
        self.ranked("top 3", 3)
    }

    /// Returns the positions of all matching skills.
    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let all = self.index.search(&Query::new(query), &[], usize::MAX).matches;
        let place = |id| self.ids.iter().position(|known| known == id).unwrap();
        let mut places: Vec<usize> = all.iter().map(|found| place(&found.id)).collect();
        places.sort_unstable();
        places
    }

    /// Asserts that the best three matches are the first three of all matches.
    pub(crate) fn assert_top_3(&self, query: &str) {
        let query = Query::new(query);
        let all = self.index.search(&query, &[], 3).matches;
        assert_eq!(self.index.best(&query, &[], 3), all, "{query:?}");
    }
}
