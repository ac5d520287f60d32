//! Triggers that other skills claim too.
//!
//! *Outranked* is said only where it is sure. Either the trigger holds the name of another skill
//! in two words or more: a message with the trigger names that skill, and named skills come first.
//! Or so many skills before this one in the order of ids claim the same trigger that a disclosure
//! of the usual size is full: then this one is shown only if another trigger, or recent use, tells
//! in its favour.

use std::collections::HashMap;

use super::{Findings, Linted, Literal, named};
use crate::diagnostic::Code;
use crate::matcher::text::fold_trigger;
use crate::skill::excerpt;

/// Skills that a disclosure shows in full, unless it is told otherwise.
const SHOWN: usize = 3;

/// The longest name that is looked for, in words.
const MAX_NAME_WORDS: usize = 8;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let names = Names::of(skills);
    let claims = claims(skills, &names);
    for (place, skill) in skills.iter().enumerate() {
        let mut seen = Vec::new();
        for literal in &skill.literals {
            let Literal { kind, trigger, folded } = literal;
            if seen.contains(&folded) {
                continue;
            }
            seen.push(folded);
            let called = names.inside(folded, place);
            if !called.is_empty() {
                findings.add(
                    place,
                    Code::OutrankedTrigger,
                    Some(&trigger.span),
                    format!(
                        "{kind} `{}` names the skill {}, which always comes before this one",
                        excerpt(&trigger.value),
                        named(skills, &called)
                    ),
                    "remove it, or write a phrase without that name",
                );
                continue;
            }
            let Some(others) = claims.get(folded.as_str()).filter(|claims| claims.len() > 1) else {
                continue;
            };
            // In the order of ids, as the skills are.
            let before = others.iter().filter(|other| **other < place).count();
            let others: Vec<usize> =
                others.iter().copied().filter(|other| *other != place).collect();
            let (code, message) = if before >= SHOWN {
                let message = format!(
                    "{kind} `{}` is claimed by {before} skills that come before this one: {}",
                    excerpt(&trigger.value),
                    named(skills, &others)
                );
                (Code::OutrankedTrigger, message)
            } else {
                let message = format!(
                    "{kind} `{}` is also claimed by {}",
                    excerpt(&trigger.value),
                    named(skills, &others)
                );
                (Code::SharedTrigger, message)
            };
            findings.add(
                place,
                code,
                Some(&trigger.span),
                message,
                "write a longer phrase that only this skill is for, or let one of them `exclude` \
                 what belongs to the other",
            );
        }
    }
}

/// The skills that claim each folded literal, a name of one word included; in the order of ids.
fn claims<'s>(skills: &'s [Linted<'_>], names: &'s Names) -> HashMap<&'s str, Vec<usize>> {
    let mut claims: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, skill) in skills.iter().enumerate() {
        let literals = skill.literals.iter().map(|literal| literal.folded.as_str());
        for text in literals.chain(names.single[place].as_deref()) {
            let of_text = claims.entry(text).or_default();
            if of_text.last() != Some(&place) {
                of_text.push(place);
            }
        }
    }
    claims
}

/// What skills are called.
struct Names {
    /// Names of two words or more, their words between blanks.
    phrases: HashMap<String, Vec<usize>>,
    /// By skill, its name if it is one word, which counts as a keyword.
    single: Vec<Option<String>>,
}

impl Names {
    fn of(skills: &[Linted<'_>]) -> Names {
        let mut names = Names { phrases: HashMap::new(), single: vec![None; skills.len()] };
        for (place, skill) in skills.iter().enumerate() {
            let (id, name) = (skill.entry.id.as_str(), skill.entry.skill.name());
            for text in [Some(id), (name != id).then_some(name)].into_iter().flatten() {
                let folded = fold_trigger(text);
                let words: Vec<&str> = words(&folded).filter(|word| !word.is_empty()).collect();
                if folded.contains('/') || words.len() > MAX_NAME_WORDS {
                    continue;
                }
                if words.len() > 1 {
                    names.phrases.entry(words.join(" ")).or_default().push(place);
                } else {
                    names.single[place] = Some(folded);
                }
            }
        }
        names
    }

    /// The skills that `folded`, a trigger of the skill `of`, names; none if it names that one.
    fn inside(&self, folded: &str, of: usize) -> Vec<usize> {
        let words: Vec<&str> = words(folded).collect();
        let mut called = Vec::new();
        for start in 0..words.len() {
            let longest = words.len().min(start + MAX_NAME_WORDS);
            for end in start + 2..=longest {
                let skills = self.phrases.get(&words[start..end].join(" "));
                called.extend(skills.into_iter().flatten().copied());
            }
        }
        called.sort_unstable();
        called.dedup();
        if called.contains(&of) { Vec::new() } else { called }
    }
}

/// In a name, blanks and hyphens are equal.
fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split([' ', '-'])
}
