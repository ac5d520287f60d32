//! Rules for triggers that other skills have too.
//!
//! *Outranked* is reported only if it is certain: so many skills with the same trigger come before this
//! one in the order of ids that they fill a disclosure of the default size. This skill is then shown
//! only if another trigger or recent use raises its rank. The name of a skill counts as a keyword.

use std::collections::HashMap;

use super::{Findings, Linted, Literal, named};
use repertoire::diagnostic::Code;
use repertoire::skill::excerpt;
use repertoire_text::fold_trigger;
use repertoire_text::mention::Name;

/// The number of skills that a disclosure shows in full by default.
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
            // Places are in the order of ids, because `skills` is.
            let before = others.iter().filter(|other| **other < place).count();
            let others: Vec<usize> =
                others.iter().copied().filter(|other| *other != place).collect();
            let (shown, others) = (excerpt(&trigger.value), named(skills, &others));
            let (code, claim) = if before >= SHOWN {
                let claim = format!("claimed by {before} skills that come before this one");
                (Code::OutrankedTrigger, format!("{claim}: {others}"))
            } else {
                (Code::SharedTrigger, format!("also claimed by {others}"))
            };
            findings.add(
                place,
                code,
                Some(&trigger.span),
                format!("{kind} `{shown}` is {claim}"),
                "write a longer phrase that only this skill is for, or let one of them `exclude` \
                 what belongs to the other",
            );
        }
    }
}

/// The skills that have each folded literal as a trigger or as a form of their name, in the order of
/// ids.
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

/// The folded forms of a skill's name and id, which count as keywords.
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
