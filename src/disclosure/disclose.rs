//! Makes the text for the prompt from the skills that a message matches.

use super::budget::{Meter, TokenCounter};
use super::case::{Case, Evidence, Vetoes};
use super::considered::Considered;
use super::fit::fit;
use super::listing::Listing;
use super::options::DisclosureOptions;
use super::plan::plan;
use super::reason::Reason;
use super::tier::Disclosure;
use crate::catalog::Entry;
use crate::matcher::Answer;
use crate::session::SessionState;
use crate::skill::SkillId;

/// The result of [`disclose`].
#[derive(Debug, Default)]
pub(crate) struct Disclosed {
    pub(crate) disclosure: Disclosure,
    /// The lost skills that must wait for the next message; `None` if lost skills were not considered.
    pub(crate) postponed: Option<Vec<SkillId>>,
    /// The most relevant skills with the decisions on them, if the evidence asks for them.
    pub(crate) considered: Vec<Considered>,
}

/// Decides what to disclose of `listing`, from the matcher's `answer` (`None` for a blank query) and the
/// history of the session.
pub(crate) fn disclose(
    listing: &Listing,
    answer: Option<Answer>,
    evidence: &Evidence<'_>,
    state: &SessionState,
    options: &DisclosureOptions,
    tokens: &dyn TokenCounter,
) -> Disclosed {
    let Some(mut answer) = answer else { return Disclosed::default() };
    let vetoes = Vetoes::take_from(&mut answer);
    let case = Case { listing, answer: &answer, evidence, state, options };

    let (mut plan, postponed) = plan(&case, vetoes, &Meter::new(Some(options.restore), tokens));
    if listing.len() == 0 && plan.full.is_empty() {
        return Disclosed::default();
    }
    let considered = std::mem::take(&mut plan.summary.considered);
    let runs_as_task =
        |entry: &Entry| matches!((evidence.withheld)(entry), Some(Reason::RunsAsTask));
    let meter = Meter::new(options.budget, tokens);
    Disclosed { disclosure: fit(plan, options, &runs_as_task, &meter), postponed, considered }
}
