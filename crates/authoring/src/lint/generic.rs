//! The rule for keywords and verbs that occur in messages of all kinds.
//!
//! A trigger is generic if it is a single everyday word, or if it occurs in more than [`MAX_PROMPTS`] of
//! the sample of ordinary messages. The number of descriptions with the trigger does not matter: in a
//! catalog about one subject, all descriptions name the subject, but messages about other subjects do
//! not.

use super::{Findings, Linted, Literal};
use crate::word_lists::{holds, prompts};
use repertoire::diagnostic::Code;
use repertoire::matcher::is_everyday;
use repertoire::matcher::text::boundary::is_word;
use repertoire::skill::excerpt;

/// A trigger that occurs in more messages of the sample than this is generic.
const MAX_PROMPTS: usize = 4;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, skill) in skills.iter().enumerate() {
        for Literal { kind, trigger, folded } in &skill.literals {
            let is_single = folded.chars().all(is_word);
            let n_prompts = prompts().iter().filter(|prompt| holds(&prompt.folded, folded)).count();
            let why = if is_single && is_everyday(folded) {
                "is a word of everyday messages".to_owned()
            } else if n_prompts > MAX_PROMPTS {
                format!("stands in {n_prompts} of {} ordinary messages", prompts().len())
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
                 for `test`",
            );
        }
    }
}
