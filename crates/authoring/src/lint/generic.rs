//! The rule for keywords and verbs that occur in messages of all kinds.
//!
//! A trigger is generic if it is a single everyday word, or if it occurs in more than [`MAX_PROMPTS`] of
//! the sample of ordinary messages. The number of descriptions with the trigger does not matter: in a
//! catalog about one subject, all descriptions name the subject, but messages about other subjects do
//! not.

use super::{Findings, Linted, Literal};
use crate::word_lists::{holds, prompts};
use repertoire::diagnostic::Code;
use repertoire::skill::excerpt;
use repertoire_text::boundary::is_word;
use repertoire_text::fold_trigger;
use repertoire_text::words::is_everyday;

/// A trigger that occurs in more messages of the sample than this is generic.
const MAX_PROMPTS: usize = 4;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, skill) in skills.iter().enumerate() {
        for Literal { kind, trigger, folded } in &skill.literals {
            let Some(why) = why(folded) else { continue };
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

/// Tells whether a keyword or verb occurs in messages of all kinds, so that `check` would flag it.
pub fn is_generic(trigger: &str) -> bool {
    why(&fold_trigger(trigger)).is_some()
}

/// Says of a folded trigger why it is generic; `None` if it is not.
fn why(folded: &str) -> Option<String> {
    let n_prompts = prompts().iter().filter(|prompt| holds(&prompt.folded, folded)).count();
    if folded.chars().all(is_word) && is_everyday(folded) {
        Some("is a word of everyday messages".to_owned())
    } else if n_prompts > MAX_PROMPTS {
        Some(format!("stands in {n_prompts} of {} ordinary messages", prompts().len()))
    } else {
        None
    }
}
