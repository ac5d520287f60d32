//! The way from the skills that a message matches to the text for the prompt.

use super::budget::{Meter, TokenCounter};
use super::fit::fit;
use super::listing::Listing;
use super::options::DisclosureOptions;
use super::plan::{Evidence, Plan, plan};
use super::reason::Reason;
use super::tier::Disclosure;
use crate::catalog::Entry;
use crate::matcher::Answer;
use crate::session::SessionState;
use crate::skill::SkillId;

/// Decides what to disclose of `listing`, given the matcher's `answer` (`None` stands for a blank
/// query) and the history of the session. Also returns, if the skills that the session lost were
/// considered, those that must wait for the next message.
pub(crate) fn disclose(
    listing: &Listing,
    answer: Option<Answer>,
    evidence: &Evidence<'_>,
    state: &SessionState,
    options: &DisclosureOptions,
    tokens: &dyn TokenCounter,
) -> (Disclosure, Option<Vec<SkillId>>) {
    let room = Meter::new(Some(options.restore), tokens);
    let planned = answer.map(|answer| plan(listing, answer, evidence, state, options, &room));
    let is_any = |(plan, _): &(Plan<'_>, _)| plan.n_visible > 0 || !plan.full.is_empty();
    let Some((plan, postponed)) = planned.filter(is_any) else { return Default::default() };
    let runs_as_task =
        |entry: &Entry| matches!((evidence.withheld)(entry), Some(Reason::RunsAsTask));
    let meter = Meter::new(options.budget, tokens);
    (fit(plan, options, &runs_as_task, &meter), postponed)
}
