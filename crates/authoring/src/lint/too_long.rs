//! The rule for skills whose instructions no disclosure shows, because they are longer than its budget.

use super::{Findings, Linted};
use repertoire::DisclosureOptions;
use repertoire::diagnostic::Code;
use repertoire::disclosure::{BytesPerToken, over_budget};

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    let (options, tokens) = (DisclosureOptions::default(), BytesPerToken::default());
    for (place, linted) in skills.iter().enumerate() {
        let Some(reason) = over_budget(linted.entry, &options, &tokens) else { continue };
        let message = format!("{reason}, whenever a message calls for the skill");
        findings.add(place, Code::OverBudget, None, message, reason.help());
    }
}
