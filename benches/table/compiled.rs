//! A catalog with its engine, and the calls that are measured.

use repertoire::{DisclosureOptions, Engine, EngineBuilder, HitKind, Match, Skill, SkillId};

use crate::measure::{Rival, rival};
use crate::support::catalog::skills;

/// The name of the rows that [`Compiled::plain`] measures.
pub(crate) const PLAIN: &str = "disclosure without relevance";

/// A catalog and an engine of it that does not rank by relevance.
pub(crate) struct Compiled {
    pub(crate) skills: Vec<Skill>,
    pub(crate) engine: Engine,
}

impl Compiled {
    pub(crate) fn new(skills: Vec<Skill>) -> Compiled {
        let mut options = DisclosureOptions::default();
        options.max_lines = 0;
        options.relevance = None;
        let engine = engine(&skills, options);
        Compiled { skills, engine }
    }

    pub(crate) fn of_size(n_skills: usize) -> Compiled {
        Compiled::new(skills(n_skills))
    }

    /// Builds an engine of the same skills with the default options.
    pub(crate) fn engine_with_relevance(&self) -> Engine {
        engine(&self.skills, DisclosureOptions::default())
    }

    pub(crate) fn plain(&self) -> Rival<'_> {
        rival(PLAIN, |query| self.engine.disclose(query).full.len())
    }

    pub(crate) fn matches(&self) -> Rival<'_> {
        rival("every match, with hits", |query| self.engine.matches(query).len())
    }

    /// Returns the positions of all matching skills.
    pub(crate) fn matching(&self, query: &str) -> Vec<usize> {
        let place = |of: &Match| self.skills.iter().position(|skill| of.id == *skill.name());
        let mut places: Vec<usize> = self.engine.matches(query).iter().filter_map(place).collect();
        places.sort_unstable();
        places
    }

    /// Asserts that the skills of a disclosure are the first of all matches, weak mentions aside.
    pub(crate) fn assert_first(&self, query: &str) {
        let (first, shown) = self.first_and_shown(query);
        assert_eq!(first, shown, "{query:?}");
    }

    /// Asserts that the skills of a disclosure begin the list of matches. What is code or no text at all counts as
    /// attached to a message, so that some of its matches are not in full.
    pub(crate) fn assert_order(&self, query: &str) {
        let (first, shown) = self.first_and_shown(query);
        assert!(first.starts_with(&shown), "{query:?}: {first:?}, {shown:?}");
    }

    /// Returns the first of all matches, weak mentions aside, and the skills in full.
    fn first_and_shown(&self, query: &str) -> (Vec<SkillId>, Vec<SkillId>) {
        let is_weak =
            |of: &Match| !of.explicit && of.hits.iter().all(|hit| hit.kind == HitKind::Name);
        let all = self.engine.matches(query).into_iter().filter(|of| !is_weak(of));
        (all.map(|of| of.id).take(3).collect(), self.engine.disclose(query).full)
    }
}

fn engine(skills: &[Skill], options: DisclosureOptions) -> Engine {
    let builder = Engine::builder().disclosure(options);
    skills.iter().cloned().fold(builder, EngineBuilder::skill).build().unwrap()
}
