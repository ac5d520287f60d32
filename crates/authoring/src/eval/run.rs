//! The run of an evaluation: sends each prompt to an engine.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::case::{Case, Problem};
use repertoire::catalog::Audience;
use repertoire::engine::Engine;
use repertoire::matcher::{Hit, Shared};
use repertoire::skill::SkillId;

/// The number of skills to find for a prompt, as *top 3* needs them.
const N_FOUND: usize = 3;

/// The outcome of one prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The file with the prompt.
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
    /// The skills that the disclosure shows in a line, best first.
    pub listed: Vec<SkillId>,
    /// The skills that the prompt calls for and that are too long for the budget, so that they do not fire.
    pub too_long: Vec<TooLong>,
    /// The first three skills found, best first.
    pub found: Vec<SkillId>,
    /// The most relevant skill by the words of the prompt, regardless of triggers.
    pub nearest: Option<Nearest>,
    /// The number of tokens in the disclosure.
    pub tokens: usize,
    /// True if every expected skill fires and no wrong one does.
    pub is_right: bool,
}

/// A skill that a prompt calls for and that is too long to be shown in full.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct TooLong {
    /// The skill.
    pub id: SkillId,
    /// Its length, and what is shown instead, as a phrase.
    pub reason: String,
}

/// A skill that fires, with the reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Fired {
    /// The skill.
    pub id: SkillId,
    /// True if the skill should not have fired.
    pub is_wrong: bool,
    /// The triggers found, as in [`Match::hits`](repertoire::Match::hits); none if the skill fires by its
    /// relevance, or because the prompt asks for all skills.
    pub hits: Vec<Hit>,
    /// The words that the skill shares with the prompt, the highest weight first; none if it has hits.
    pub terms: Vec<Shared>,
}

/// The most relevant skill for a prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Nearest {
    /// The skill.
    pub id: SkillId,
    /// The lead of the skill's relevance over that of the next skill, divided by the skill's relevance:
    /// from 0 to 1.
    pub margin: f32,
    /// True if it would be right for the skill to fire; `None` if the prompt does not decide that.
    pub is_right: Option<bool>,
}

/// The outcomes of all prompts.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Evaluation {
    /// The outcomes of the prompts, in the order of the cases.
    pub outcomes: Vec<Outcome>,
    /// The cases that name a skill the catalog does not have.
    pub problems: Vec<Problem>,
    /// The skills that prompts expect but only the user may invoke, in the order of ids. The model never
    /// sees them, so they are not counted as missing; a prompt that expects only such skills is skipped.
    pub user_only: Vec<UserOnly>,
}

/// A skill that only the user may invoke.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UserOnly {
    /// The skill.
    pub id: SkillId,
    /// Number of prompts that expect it.
    pub prompts: usize,
}

impl UserOnly {
    /// Tells the number of prompts that expect each skill.
    pub(crate) fn all(prompts: BTreeMap<SkillId, usize>) -> Vec<UserOnly> {
        prompts.into_iter().map(|(id, prompts)| UserOnly { id, prompts }).collect()
    }
}

/// The skills of a case, as ids of the catalog.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) expected: Vec<SkillId>,
    forbidden: Vec<SkillId>,
    acceptable: Vec<SkillId>,
}

/// Sends the prompts of `cases` to `engine`, each in its own conversation. Calls `each` after every
/// case.
pub fn evaluate(engine: &Engine, cases: &[Case], mut each: impl FnMut()) -> Evaluation {
    let mut evaluation = Evaluation::default();
    let mut user_only: BTreeMap<SkillId, usize> = BTreeMap::new();
    for case in cases {
        match Judge::of_model(engine, case) {
            Ok((judge, exempt)) => {
                for id in exempt {
                    *user_only.entry(id).or_default() += 1;
                }
                evaluation.outcomes.extend(judge.map(|judge| judge.ask(engine, case)));
            }
            Err(message) => {
                let Case { file, line, .. } = case;
                evaluation.problems.push(Problem { file: file.clone(), line: *line, message });
            }
        }
        each();
    }
    evaluation.user_only = UserOnly::all(user_only);
    evaluation
}

impl Outcome {
    /// Tells whether the disclosure shows a skill, in full or in a line.
    pub fn is_in_view(&self, id: &SkillId) -> bool {
        self.listed.contains(id) || self.fired.iter().any(|fired| fired.id == *id)
    }
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

    /// The skills of a case that a model can load, and those that only the user may invoke; the former are `None` if the
    /// case expects the latter and no others. Fails if the catalog does not have a skill.
    pub(crate) fn of_model(
        engine: &Engine,
        case: &Case,
    ) -> Result<(Option<Judge>, Vec<SkillId>), String> {
        let mut judge = Judge::new(engine, case)?;
        let exempt = judge.exempt_user_only(engine);
        let expects_no_other = judge.expected.is_empty() && !exempt.is_empty();
        Ok(((!expects_no_other).then_some(judge), exempt))
    }

    /// Removes the skills that only the user may invoke from those expected, and returns them.
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
        let too_long = disclosure.too_long();
        let too_long =
            too_long.map(|(id, why)| TooLong { id: id.clone(), reason: why.to_string() });
        let too_long = too_long.collect();
        let found = engine.find_ids(&case.query, N_FOUND);
        let has_fired = |id: &SkillId| fired.iter().any(|fired| fired.id == *id);
        Outcome {
            file: case.file.clone(),
            line: case.line,
            query: case.query.clone(),
            is_right: self.expected.iter().all(has_fired)
                && !fired.iter().any(|fired| fired.is_wrong),
            fired,
            too_long,
            listed: disclosure.registry,
            found,
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

    /// Tells whether `id` may rightly fire; `None` if the case does not decide that. The module explains
    /// the rules.
    pub(crate) fn verdict(&self, id: &SkillId) -> Option<bool> {
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

/// The id of the skill that `name` means. A prefix up to a colon may be dropped, as agents put the name
/// of a plugin there.
fn resolve(engine: &Engine, name: &str) -> Result<SkillId, String> {
    let catalog = engine.catalog();
    let unqualified = name.rsplit_once(':').map_or(name, |(_, name)| name);
    let found = catalog.find_any(name).or_else(|error| {
        catalog.find_any(unqualified).map_err(|_| format!("{}; {}", error.message(), error.help()))
    });
    Ok(found?.id.clone())
}
