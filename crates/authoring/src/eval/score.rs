//! The figures of an evaluation, computed from its outcomes.

#![expect(clippy::cast_precision_loss, reason = "numbers of prompts")]

use std::collections::BTreeMap;

use serde::Serialize;

use super::case::Problem;
use super::run::{Evaluation, Fired, Outcome, TooLong, UserOnly};
use repertoire::skill::SkillId;

/// The report of an evaluation. The [module](super) explains what is counted. Serialises to the output
/// of `repertoire eval --json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Number of prompts.
    pub cases: usize,
    /// The figures of all prompts together.
    #[serde(flatten)]
    pub scores: Scores,
    /// The mean number of lines for the prompts that expect no skill; `None` without such prompts.
    pub lines_for_none: Option<f64>,
    /// The cost of the prompts.
    pub tokens: Tokens,
    /// The figures of each skill that a prompt expects, forbids or fires, in the order of ids.
    pub per_skill: Vec<SkillScore>,
    /// The skills that fire instead of others, the most frequent first.
    pub confusions: Vec<Confusion>,
    /// Every prompt, in the order of the files.
    pub results: Vec<Outcome>,
    /// The entries that were left out, with the reasons.
    pub problems: Vec<Problem>,
    /// The skills that prompts expect but only the user may invoke. They are not counted.
    pub user_only: Vec<UserOnly>,
    /// The skills that prompts call for and that are too long for the budget, in the order of ids.
    pub over_budget: Vec<OverBudget>,
}

/// A skill that is too long for the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OverBudget {
    /// The skill, and the reason.
    #[serde(flatten)]
    pub skill: TooLong,
    /// Number of prompts that call for it.
    pub prompts: usize,
}

/// Shares from 0 to 1; `None` is a share of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Scores {
    /// Share of the fires that are right.
    pub precision: Option<f64>,
    /// Share of the expected skills that fire.
    pub recall: Option<f64>,
    /// Share of the prompts that expect a skill and have one of those they expect in view: in full or in
    /// a line.
    pub in_view: Option<f64>,
    /// Harmonic mean of precision and recall.
    pub f1: Option<f64>,
    /// Share of the prompts where the first skill found is expected.
    pub top1: Option<f64>,
    /// Share of the prompts where one of the first three skills found is expected.
    pub top3: Option<f64>,
    /// Share of the prompts that expect no skill, but for which one fires wrongly.
    pub false_fire: Option<f64>,
}

/// The tokens of the disclosures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Tokens {
    /// The mean over the prompts.
    pub mean: f64,
    /// The maximum for one prompt.
    pub max: usize,
    /// The sum over all prompts.
    pub total: usize,
}

/// The figures of one skill. Top 1 and top 3 count the prompts that expect the skill. False fires count
/// the prompts that expect no skill and that either forbid this one or fire it wrongly.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillScore {
    /// The skill.
    pub id: SkillId,
    /// Number of prompts that expect the skill.
    pub expected: usize,
    /// Number of fires that are right.
    pub right: usize,
    /// Number of fires that are wrong.
    pub wrong: usize,
    /// Its figures.
    #[serde(flatten)]
    pub scores: Scores,
}

/// One skill that fired where another was expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Confusion {
    /// The skill that should have fired; `None` if none should.
    pub expected: Option<SkillId>,
    /// The skill that fired; `None` if none did.
    pub got: Option<SkillId>,
    /// The number of prompts.
    pub cases: usize,
    /// The causes of the fires of `got`, the most frequent first.
    pub triggers: Vec<Cause>,
}

/// The cause of a fire: a trigger, or a word by which the skill was relevant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Cause {
    /// The kind of the trigger, or `relevance`.
    pub kind: &'static str,
    /// The trigger, or the word.
    pub trigger: String,
    /// The number of prompts.
    pub cases: usize,
}

/// The counts of all prompts, or of one skill.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    expected: usize,
    right: usize,
    wrong: usize,
    /// Prompts with a ranking to judge; those with the right skill in the first place are in `first`,
    /// those with it in the first three places in `third`.
    ranked: usize,
    in_view: usize,
    first: usize,
    third: usize,
    /// Prompts that expect no skill; those for which a skill fires wrongly are in `false_fires`.
    negatives: usize,
    false_fires: usize,
    /// The lines for the prompts that expect no skill.
    lines: usize,
}

impl Report {
    /// Computes the figures from the outcomes of the prompts.
    pub fn new(evaluation: Evaluation) -> Report {
        let Evaluation { outcomes, problems, user_only } = evaluation;
        let mut all = Counts::default();
        let mut by_skill: BTreeMap<&SkillId, Counts> = BTreeMap::new();
        let mut confusions = Confusions::default();
        let mut too_long: BTreeMap<TooLong, usize> = BTreeMap::new();
        for outcome in &outcomes {
            count(outcome, &mut all, &mut by_skill);
            confusions.add(outcome);
            for skill in &outcome.too_long {
                *too_long.entry(skill.clone()).or_default() += 1;
            }
        }
        let of_skill = |(id, counts): (&SkillId, Counts)| SkillScore {
            id: id.clone(),
            expected: counts.expected,
            right: counts.right,
            wrong: counts.wrong,
            scores: counts.scores(),
        };
        Report {
            cases: outcomes.len(),
            scores: all.scores(),
            lines_for_none: share(all.lines, all.negatives),
            tokens: Tokens::of(&outcomes),
            per_skill: by_skill.into_iter().map(of_skill).collect(),
            confusions: confusions.sorted(),
            results: outcomes,
            problems,
            user_only,
            over_budget: too_long
                .into_iter()
                .map(|(skill, prompts)| OverBudget { skill, prompts })
                .collect(),
        }
    }
}

fn count<'o>(outcome: &'o Outcome, all: &mut Counts, by_skill: &mut BTreeMap<&'o SkillId, Counts>) {
    let Outcome { expected, forbidden, fired, found, .. } = outcome;
    for Fired { id, is_wrong, .. } in fired {
        let is_right = expected.contains(id);
        for counts in [&mut *all, by_skill.entry(id).or_default()] {
            counts.right += usize::from(is_right);
            counts.wrong += usize::from(*is_wrong);
        }
    }
    let place = |is_expected: &dyn Fn(&SkillId) -> bool| found.iter().position(is_expected);
    for id in expected {
        let counts = by_skill.entry(id).or_default();
        counts.expected += 1;
        counts.rank(place(&|found| found == id), outcome.is_in_view(id));
    }
    all.expected += expected.len();
    if expected.is_empty() {
        let wrong = || fired.iter().filter(|fired| fired.is_wrong);
        all.negatives += 1;
        all.lines += outcome.listed.len();
        all.false_fires += usize::from(wrong().next().is_some());
        let fired_only = wrong().map(|fired| &fired.id).filter(|id| !forbidden.contains(id));
        for id in forbidden.iter().chain(fired_only) {
            let counts = by_skill.entry(id).or_default();
            counts.negatives += 1;
            counts.false_fires += usize::from(wrong().any(|fired| fired.id == *id));
        }
    } else {
        let is_in_view = expected.iter().any(|id| outcome.is_in_view(id));
        all.rank(place(&|found| expected.contains(found)), is_in_view);
    }
}

impl Counts {
    fn rank(&mut self, place: Option<usize>, is_in_view: bool) {
        self.ranked += 1;
        self.in_view += usize::from(is_in_view);
        self.first += usize::from(place == Some(0));
        self.third += usize::from(place.is_some());
    }

    fn scores(&self) -> Scores {
        let precision = share(self.right, self.right + self.wrong);
        let recall = share(self.right, self.expected);
        Scores {
            precision,
            recall,
            in_view: share(self.in_view, self.ranked),
            f1: precision.zip(recall).map(|(precision, recall)| {
                let sum = precision + recall;
                if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 }
            }),
            top1: share(self.first, self.ranked),
            top3: share(self.third, self.ranked),
            false_fire: share(self.false_fires, self.negatives),
        }
    }
}

/// A part of a whole; `None` if there is no whole.
fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

impl Tokens {
    fn of(outcomes: &[Outcome]) -> Tokens {
        let total = outcomes.iter().map(|outcome| outcome.tokens).sum();
        Tokens {
            mean: total as f64 / outcomes.len().max(1) as f64,
            max: outcomes.iter().map(|outcome| outcome.tokens).max().unwrap_or(0),
            total,
        }
    }
}

/// An expected skill and the one that fired.
type Confused = (Option<SkillId>, Option<SkillId>);

/// The number of prompts for each cause, by its kind and text.
type Causes = BTreeMap<(&'static str, String), usize>;

#[derive(Default)]
struct Confusions(BTreeMap<Confused, (usize, Causes)>);

impl Confusions {
    fn add(&mut self, Outcome { expected, fired, .. }: &Outcome) {
        let has_fired = |id: &&SkillId| fired.iter().any(|fired| fired.id == **id);
        let missed = expected.iter().find(|id| !has_fired(id));
        let wrong: Vec<&Fired> = fired.iter().filter(|fired| fired.is_wrong).collect();
        if let Some(missed) = missed.filter(|_| wrong.is_empty()) {
            self.0.entry((Some(missed.clone()), None)).or_default().0 += 1;
        }
        let instead_of = missed.or(expected.first());
        for Fired { id, hits, terms, .. } in wrong {
            let (n_cases, triggers) =
                self.0.entry((instead_of.cloned(), Some(id.clone()))).or_default();
            *n_cases += 1;
            let mut of_case: Vec<(&'static str, &str)> =
                hits.iter().map(|hit| (hit.kind.as_str(), hit.trigger.as_str())).collect();
            of_case.extend(terms.iter().map(|term| ("relevance", term.term.as_str())));
            of_case.sort_unstable();
            of_case.dedup();
            for (kind, trigger) in of_case {
                *triggers.entry((kind, trigger.to_owned())).or_default() += 1;
            }
        }
    }

    fn sorted(self) -> Vec<Confusion> {
        let confusion = |((expected, got), (cases, causes)): (Confused, (_, Causes))| {
            let cause = |((kind, trigger), cases)| Cause { kind, trigger, cases };
            let mut triggers: Vec<Cause> = causes.into_iter().map(cause).collect();
            triggers.sort_by_key(|cause| std::cmp::Reverse(cause.cases));
            Confusion { expected, got, cases, triggers }
        };
        let mut confusions: Vec<Confusion> = self.0.into_iter().map(confusion).collect();
        confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.cases));
        confusions
    }
}
