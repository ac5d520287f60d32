//! Keywords and verbs that stand in messages of all kinds.
//!
//! A trigger is generic if it is a single everyday word; or if it is found in more than
//! [`MAX_PROMPTS`] of the sample of ordinary messages; or, in a catalog of [`MIN_SKILLS`] skills or
//! more, if a quarter of all descriptions hold it.

use std::collections::HashMap;

use super::{Findings, Linted, Literal};
use crate::background::{holds, is_everyday, prompts};
use crate::diagnostic::Code;
use crate::matcher::boundary::is_word;
use crate::matcher::text::fold_trigger;
use crate::skill::excerpt;

/// More messages of the sample than this make a trigger generic.
const MAX_PROMPTS: usize = 4;

/// Below this number of skills a share of them says nothing.
const MIN_SKILLS: usize = 20;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let n_described = count_words(skills);
    for (place, skill) in skills.iter().enumerate() {
        for Literal { kind, trigger, folded } in &skill.literals {
            let is_single = folded.chars().all(is_word);
            let n_prompts = prompts().iter().filter(|prompt| holds(&prompt.folded, folded)).count();
            let n_skills = n_described.get(folded.as_str()).copied().unwrap_or(0);
            let why = if is_single && is_everyday(folded) {
                "is a word of everyday messages".to_owned()
            } else if n_prompts > MAX_PROMPTS {
                format!("stands in {n_prompts} of {} ordinary messages", prompts().len())
            } else if is_single && skills.len() >= MIN_SKILLS && n_skills * 4 > skills.len() {
                format!("stands in the descriptions of {n_skills} of {} skills", skills.len())
            } else {
                continue;
            };
            findings.add(
                place,
                Code::GenericTrigger,
                Some(&trigger.span),
                format!(
                    "{kind} `{}` {why}, so the skill fires for many of them",
                    excerpt(&trigger.value)
                ),
                "write the phrase a user of this skill would type, such as `unit test coverage` \
                 for `test`; `repertoire suggest` proposes some",
            );
        }
    }
}

/// In how many descriptions each single word stands that is a trigger.
fn count_words(skills: &[Linted<'_>]) -> HashMap<String, usize> {
    let literals = skills.iter().flat_map(|skill| &skill.literals);
    let single = literals.filter(|literal| literal.folded.chars().all(is_word));
    let mut n_described: HashMap<String, usize> =
        single.map(|literal| (literal.folded.clone(), 0)).collect();
    for skill in skills {
        let description = fold_trigger(skill.entry.skill.description());
        let mut words: Vec<&str> = description.split(|c| !is_word(c)).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            if let Some(n) = n_described.get_mut(word) {
                *n += 1;
            }
        }
    }
    n_described
}
