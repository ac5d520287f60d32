//! Tiers: how much of each skill one query discloses.

use serde::{Serialize, Serializer};

use super::reason::{Reason, Rejection};
use crate::matcher::{MetaQuestion, Relevant};
use crate::skill::SkillId;

/// The extent to which a skill, or a catalog, is disclosed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Tier {
    /// Nothing at all.
    #[default]
    Nothing = 0,
    /// Only the number of skills.
    Breadcrumb = 1,
    /// One line per skill: its id and a brief description.
    Registry = 2,
    /// The instructions in full.
    Full = 3,
}

impl Serialize for Tier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(*self as u8)
    }
}

/// The result for one query: the text for the prompt, and how much of each skill it shows.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Disclosure {
    /// The highest tier that any skill has in the text.
    pub tier: Tier,
    /// The question about the skills themselves, if the message asks one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaQuestion>,
    /// Skills shown in full, best first.
    pub full: Vec<SkillId>,
    /// The skill that is shown in full for its relevance alone, without a trigger; see
    /// [`DisclosureOptions::relevance`](super::DisclosureOptions::relevance).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevant: Option<Relevant>,
    /// Skills in a registry line, in the order of the text.
    pub registry: Vec<SkillId>,
    /// Number of skills only counted in the breadcrumb.
    pub hidden: usize,
    /// Number of skills below the limit: they match, or the message asked for all skills. The first of
    /// them, and those that the session knows, are in `omitted`.
    #[serde(skip_serializing_if = "is_zero")]
    pub below_limit: usize,
    /// Skills that the query concerns but that are shown less than they might be, each with the reasons.
    pub omitted: Vec<Rejection>,
    /// The failure of the host's retriever, if it failed: skills were ranked by words alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The text for the prompt; may be empty.
    pub text: String,
}

impl Disclosure {
    /// The skills that the message calls for and whose full text is longer than the budget has room for,
    /// each with that reason.
    pub fn too_long(&self) -> impl Iterator<Item = (&SkillId, &Reason)> {
        let is_too_long =
            |reason: &&Reason| matches!(reason, Reason::OverBudget { cost: Some(_), .. });
        self.omitted.iter().filter_map(move |of| Some((&of.id, of.reasons().find(is_too_long)?)))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
