//! Rules for triggers that other skills claim too.
//!
//! *Outranked* is reported only where it is certain: the skills before this one in the order of ids
//! that claim the same trigger fill a disclosure of the usual size. Then this one is shown only if
//! another trigger, or recent use, tells in its favour. A name is a claim like a keyword.

use std::collections::HashMap;

use super::{Findings, Linted, Literal, named};
use crate::diagnostic::Code;
use crate::matcher::text::fold_trigger;
use crate::matcher::text::mention::Name;
use crate::skill::excerpt;

/// Skills that a disclosure shows in full, unless it is told otherwise.
const SHOWN: usize = 3;

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let names: Vec<Vec<String>> = skills.iter().map(forms_of_names).collect();
    let claims = claims(skills, &names);
    for (place, skill) in skills.iter().enumerate() {
        let mut seen = Vec::new();
        for literal in &skill.literals {
            let Literal { kind, trigger, folded } = literal;
            if seen.contains(&folded) {
                continue;
            }
            seen.push(folded);
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

/// The skills that claim each folded literal, forms of their names included; in the order of ids.
fn claims<'s>(skills: &'s [Linted<'_>], names: &'s [Vec<String>]) -> HashMap<&'s str, Vec<usize>> {
    let mut claims: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, (skill, names)) in skills.iter().zip(names).enumerate() {
        let literals = skill.literals.iter().map(|literal| literal.folded.as_str());
        for text in literals.chain(names.iter().map(String::as_str)) {
            let of_text = claims.entry(text).or_default();
            if of_text.last() != Some(&place) {
                of_text.push(place);
            }
        }
    }
    claims
}

/// The literals that count as the names of a skill, and so as keywords.
fn forms_of_names(skill: &Linted<'_>) -> Vec<String> {
    let (id, name) = (skill.entry.id.as_str(), skill.entry.skill.name());
    let mut forms = Vec::new();
    for (text, is_id) in [(id, true), (name, false)] {
        let folded = fold_trigger(text);
        if !folded.is_empty() {
            forms.extend(Name::forms(&folded, is_id));
        }
    }
    forms
}
