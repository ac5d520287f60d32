//! The options of disclosures.

use super::budget::Budget;
use super::considered::{Lack, Needed};
use super::how_to_load::HowToLoad;
use super::native::NativeSkills;
use super::render::Format;
use super::task::TaskRunner;
use crate::catalog::Entry;
use crate::matcher::Relevance;

/// The options of disclosures.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DisclosureOptions {
    /// Format of the text.
    pub format: Format,
    /// The maximum number of matching skills shown in full.
    pub max_skills: usize,
    /// The maximum number of skills shown in full when the user asks for all of them.
    pub max_all_skills: usize,
    /// The maximum number of skills listed in a line because they are relevant or perhaps named, and of
    /// skills without triggers listed if nothing matches. A question about the skills themselves lists
    /// all skills.
    pub max_lines: usize,
    /// The margin that the most relevant skill must reach to be shown in full when no trigger is hit and
    /// no skill is named. If this is `None`, relevance never shows a skill in full.
    pub relevance: Option<RelevanceMargin>,
    /// The length limit of the text; `None` means no limit. The breadcrumb (about 30 characters) is
    /// written even if the limit is smaller.
    pub budget: Option<Budget>,
    /// The sentence in each list that tells the model how to load a skill. If it is
    /// [`HowToLoad::Unsaid`], [`Engine::turn`](crate::Engine::turn) names the tool that it gives the
    /// model for this.
    pub how_to_load: HowToLoad,
    /// The skills that the host's agent lists and loads by itself; by default there are none.
    pub native: Option<NativeSkills>,
    /// The length limit of the skills that are shown again after the session's context was shortened,
    /// the last used first.
    pub restore: Budget,
    /// The party that runs skills with `context: fork`; by default the host.
    pub tasks: TaskRunner,
}

impl Default for DisclosureOptions {
    fn default() -> Self {
        DisclosureOptions {
            format: Format::Markdown,
            max_skills: 3,
            max_all_skills: 10,
            max_lines: 5,
            relevance: Some(RelevanceMargin::default()),
            // Enough for three skills of the usual length, or for one of the longest 1 %.
            budget: Some(Budget::Characters(40_000)),
            how_to_load: HowToLoad::Unsaid,
            native: None,
            restore: Budget::Tokens(5000),
            tasks: TaskRunner::Host,
        }
    }
}

impl DisclosureOptions {
    /// Tells whether the host's agent lists and loads this skill by itself.
    pub(crate) fn is_native(&self, entry: &Entry) -> bool {
        self.native.as_ref().is_some_and(|native| native.has(entry))
    }

    /// Tells whether the host's agent lists this skill with a description.
    pub(crate) fn is_described(&self, entry: &Entry) -> bool {
        self.native.as_ref().is_some_and(|native| native.describes(entry))
    }

    /// Tells whether these options let relevance show any skill.
    pub(crate) fn asks_relevance(&self) -> bool {
        self.max_lines > 0 || self.relevance.is_some()
    }
}

/// The minimum relevance for showing a skill in full without a trigger; see [`Relevance`] for the unit.
///
/// The default was fitted on one half of the catalogs of `docs/routing.md` and is measured on the
/// other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevanceMargin {
    /// The minimum of [`Relevance::worth`]: the weight of the words that the skill shares with the
    /// message.
    pub worth: f32,
    /// The minimum of [`Relevance::lead`]: the distance to the next skill.
    pub lead: f32,
    /// The minimum of [`Relevance::head_words`]: the number of shared words that are in the skill's
    /// name, description or another field of its front matter. If the nearness to the message is known, one
    /// word less is enough with a [`Relevance::evidence`] of 1.85 for each of these words, and the lead must also be
    /// 0.17 of the worth.
    pub words: usize,
}

impl Default for RelevanceMargin {
    fn default() -> Self {
        RelevanceMargin { worth: 1.6, lead: 0.65, words: 2 }
    }
}

/// The evidence that is needed for each word of a margin, where nearness adds to it. Fitted on the catalogs of
/// `docs/routing.md` and on messages of people who did not know the skills.
const EVIDENCE_A_WORD: f32 = 1.85;

/// The least share of its worth by which a skill must lead, where nearness adds to it: a long message shares many
/// words with siblings of a skill. Fitted as [`EVIDENCE_A_WORD`] was.
const LEAD_SHARE: f32 = 0.17;

impl RelevanceMargin {
    /// Tells whether a skill reaches the margin. If it has more than the minimum of `words`, and its nearness is
    /// not known, two thirds of `worth` and `lead` are enough. A skill that the message denies fails.
    pub fn is_passed(&self, found: &Relevance) -> bool {
        self.needed(found).lacking(found).is_empty()
    }

    /// Returns the margin that a skill must reach, given its words.
    #[expect(clippy::cast_precision_loss, reason = "a number of words")]
    pub fn needed(&self, found: &Relevance) -> Needed {
        let RelevanceMargin { worth, lead, words } = *self;
        if found.is_summed {
            let evidence = EVIDENCE_A_WORD * words as f32;
            let lead = lead.max(LEAD_SHARE * found.worth);
            return Needed { worth, lead, words: words.saturating_sub(1), evidence };
        }
        let enough = if found.head_words > words { 2.0 / 3.0 } else { 1.0 };
        Needed { worth: worth * enough, lead: lead * enough, words, evidence: 0.0 }
    }
}

impl Needed {
    /// Returns everything that a skill lacks of this margin.
    pub(super) fn lacking(&self, found: &Relevance) -> Vec<Lack> {
        let mut lacking = Vec::new();
        if found.worth < self.worth {
            lacking.push(Lack::Worth { has: found.worth, needs: self.worth });
        }
        if found.lead < self.lead {
            lacking.push(Lack::Lead { has: found.lead, needs: self.lead });
        }
        if found.head_words < self.words {
            lacking.push(Lack::Words { has: found.head_words, needs: self.words });
        }
        if found.evidence < self.evidence {
            lacking.push(Lack::Evidence { has: found.evidence, needs: self.evidence });
        }
        if found.is_denied {
            lacking.push(Lack::Denied);
        }
        if found.is_attached {
            lacking.push(Lack::Attached);
        }
        lacking
    }
}
