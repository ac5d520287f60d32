//! The run of an evaluation: asks an engine each prompt.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::case::{Case, Problem};
use crate::catalog::Audience;
use crate::engine::Engine;
use crate::matcher::{Hit, Shared};
use crate::skill::SkillId;

/// The number of skills found that count: those of *top 3*.
const N_FOUND: usize = 3;

/// The outcome of one prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The file the prompt stands in.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The prompt.
    pub query: String,
    /// The skills that should fire.
    pub expected: Vec<SkillId>,
    /// Skills that must not fire.
    pub forbidden: Vec<SkillId>,
    /// Skills that may fire.
    pub acceptable: Vec<SkillId>,
    /// The skills that fire, best first.
    pub fired: Vec<Fired>,
    /// The first three that are found, best first.
    pub found: Vec<SkillId>,
    /// The most relevant skill by its words, whatever the triggers say.
    pub nearest: Option<Nearest>,
    /// Tokens that the disclosure takes.
    pub tokens: usize,
    /// True if every expected skill fires and no wrong one does.
    pub is_right: bool,
}

/// A skill that fires, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fired {
    /// The skill.
    pub id: SkillId,
    /// True if that is wrong.
    pub is_wrong: bool,
    /// The triggers found, as in [`Match::hits`](crate::Match::hits); none if the skill fires by
    /// its relevance, or because all skills are asked for.
    pub hits: Vec<Hit>,
    /// The words it shares with the prompt, weightiest first, where it has no hits.
    pub terms: Vec<Shared>,
}

/// The most relevant skill of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Nearest {
    /// The skill.
    pub id: SkillId,
    /// The lead over the next, as a share of its worth: from 0 to 1.
    pub margin: f32,
    /// True if it would be right to fire it; `None` if the prompt says nothing about it.
    pub is_right: Option<bool>,
}

/// The outcomes of all prompts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evaluation {
    /// The prompts that were asked, in the order of the cases.
    pub outcomes: Vec<Outcome>,
    /// The cases that name a skill the catalog does not have.
    pub problems: Vec<Problem>,
    /// The skills that only the user may invoke and that prompts expect, in the order of ids. The
    /// model never sees them, so it is not counted that they do not fire; a prompt that expects no
    /// other skill is not asked.
    pub user_only: Vec<UserOnly>,
}

/// A skill that only the user may invoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserOnly {
    /// The skill.
    pub id: SkillId,
    /// Number of prompts that expect it.
    pub prompts: usize,
}

/// A case whose skills are known to the catalog.
struct Judge {
    expected: Vec<SkillId>,
    forbidden: Vec<SkillId>,
    acceptable: Vec<SkillId>,
}

/// Asks `engine` the prompts of `cases`, each in a conversation of its own, and calls `each` after
/// every one.
pub fn evaluate(engine: &Engine, cases: &[Case], mut each: impl FnMut()) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let mut user_only: BTreeMap<SkillId, usize> = BTreeMap::new();
    for case in cases {
        match Judge::new(engine, case) {
            Ok(mut judge) => {
                let exempt = judge.exempt_user_only(engine);
                let expects_no_other = judge.expected.is_empty() && !exempt.is_empty();
                for id in exempt {
                    *user_only.entry(id).or_default() += 1;
                }
                if !expects_no_other {
                    evaluation.outcomes.push(judge.ask(engine, case));
                }
            }
            Err(message) => {
                let Case { file, line, .. } = case;
                evaluation.problems.push(Problem { file: file.clone(), line: *line, message });
            }
        }
        each();
    }
    let told = |(id, prompts)| UserOnly { id, prompts };
    evaluation.user_only = user_only.into_iter().map(told).collect();
    evaluation
}

impl Judge {
    fn new(engine: &Engine, case: &Case) -> Result<Judge, String> {
        let ids = |names: &[String]| -> Result<Vec<SkillId>, String> {
            let ids: Result<BTreeSet<SkillId>, String> =
                names.iter().map(|name| resolve(engine, name)).collect();
            Ok(ids?.into_iter().collect())
        };
        Ok(Judge {
            expected: ids(&case.expected)?,
            forbidden: ids(&case.forbidden)?,
            acceptable: ids(&case.acceptable)?,
        })
    }

    /// Expects no skill that only the user may invoke, and gives those that were expected.
    fn exempt_user_only(&mut self, engine: &Engine) -> Vec<SkillId> {
        let catalog = engine.catalog();
        let is_user_only = |id: &SkillId| {
            catalog.get(id.as_str()).is_some_and(|entry| !entry.is_matched(Audience::Model))
        };
        let (exempt, expected) =
            std::mem::take(&mut self.expected).into_iter().partition(is_user_only);
        self.expected = expected;
        exempt
    }

    fn ask(self, engine: &Engine, case: &Case) -> Outcome {
        let disclosure = engine.disclose(&case.query);
        let mut all = engine.matches(&case.query);
        let relevant = engine.relevance().rank(&case.query, 1);
        let fired = disclosure.full.iter().map(|id| {
            let matched = all.iter_mut().find(|matched| matched.id == *id);
            let hits = matched.map(|matched| std::mem::take(&mut matched.hits)).unwrap_or_default();
            let terms =
                if hits.is_empty() { engine.shared_terms(&case.query, id) } else { Vec::new() };
            Fired { id: id.clone(), is_wrong: self.verdict(id) == Some(false), hits, terms }
        });
        let fired: Vec<Fired> = fired.collect();
        let found = engine.find_skills(&case.query, N_FOUND);
        let has_fired = |id: &SkillId| fired.iter().any(|fired| fired.id == *id);
        Outcome {
            file: case.file.clone(),
            line: case.line,
            query: case.query.clone(),
            is_right: self.expected.iter().all(has_fired)
                && !fired.iter().any(|fired| fired.is_wrong),
            fired,
            found: found.into_iter().map(|found| found.id).collect(),
            nearest: relevant.first().map(|near| Nearest {
                id: near.id.clone(),
                margin: near.relevance.lead / near.relevance.worth,
                is_right: self.verdict(&near.id),
            }),
            tokens: engine.count_tokens(&disclosure.text),
            expected: self.expected,
            forbidden: self.forbidden,
            acceptable: self.acceptable,
        }
    }

    /// Tells whether `id` fires rightly, if the case decides that; see the module.
    fn verdict(&self, id: &SkillId) -> Option<bool> {
        let is_open = self.expected.is_empty() && !self.forbidden.is_empty();
        if self.expected.contains(id) {
            Some(true)
        } else if self.forbidden.contains(id) {
            Some(false)
        } else if self.acceptable.contains(id) || is_open {
            None
        } else {
            Some(false)
        }
    }
}

/// The id of the skill that `name` stands for. Agents put the name of a plugin before a colon.
fn resolve(engine: &Engine, name: &str) -> Result<SkillId, String> {
    let catalog = engine.catalog();
    let unqualified = name.rsplit_once(':').map_or(name, |(_, name)| name);
    let found = catalog.find_any(name).or_else(|error| {
        catalog.find_any(unqualified).map_err(|_| format!("{}; {}", error.message(), error.help()))
    });
    Ok(found?.id.clone())
}
