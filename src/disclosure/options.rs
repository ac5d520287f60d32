//! The options of disclosures.

use super::budget::Budget;
use super::how_to_load::HowToLoad;
use super::native::NativeSkills;
use super::render::Format;
use crate::catalog::Entry;
use crate::matcher::Relevance;

/// The options of disclosures.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DisclosureOptions {
    /// Format of the text.
    pub format: Format,
    /// Matching skills shown in full, at most.
    pub max_skills: usize,
    /// Skills shown in full when all are asked for, at most.
    pub max_all_skills: usize,
    /// Skills listed in a line because they are relevant, at most. A question about the skills
    /// themselves lists all of them.
    pub max_lines: usize,
    /// The margin by which the most relevant skill is shown in full if no trigger is hit and no
    /// skill is named; never if `None`.
    pub relevance: Option<RelevanceMargin>,
    /// Room for the text; `None` is without limit. The breadcrumb (about 30 characters) is
    /// written even where there is less.
    pub budget: Option<Budget>,
    /// The sentence in lists about how to load a skill. [`Engine::turn`](crate::Engine::turn),
    /// which gives the model a tool for it, names that tool unless this says otherwise.
    pub how_to_load: HowToLoad,
    /// The skills that the host's agent lists and loads by itself; by default there are none.
    pub native: Option<NativeSkills>,
    /// Room for the skills that are shown again after the session's context was made shorter, the
    /// last used first.
    pub restore: Budget,
}

impl Default for DisclosureOptions {
    fn default() -> Self {
        DisclosureOptions {
            format: Format::Markdown,
            max_skills: 3,
            max_all_skills: 10,
            max_lines: 5,
            relevance: Some(RelevanceMargin::default()),
            // Three skills of the usual length, or one of the longest hundredth.
            budget: Some(Budget::Characters(40_000)),
            how_to_load: HowToLoad::Unsaid,
            native: None,
            restore: Budget::Tokens(5000),
        }
    }
}

impl DisclosureOptions {
    /// Tells whether the host's agent lists and loads this skill by itself.
    pub(crate) fn is_native(&self, entry: &Entry) -> bool {
        self.native.as_ref().is_some_and(|native| native.has(entry))
    }

    /// Tells whether relevance can show anything.
    pub(crate) fn asks_relevance(&self) -> bool {
        self.max_lines > 0 || self.relevance.is_some()
    }
}

/// The margin of relevance past which a skill is shown in full; see [`Relevance`] for the unit.
///
/// The default was fitted on one half of the catalogs of `docs/routing.md` and is measured on the
/// other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevanceMargin {
    /// The least worth of the words that the skill shares with the message.
    pub worth: f32,
    /// The least lead over the next skill.
    pub lead: f32,
    /// The skill says at least this many of the shared words of itself: in its name, description
    /// or another field of its front matter.
    pub words: usize,
}

impl Default for RelevanceMargin {
    fn default() -> Self {
        RelevanceMargin { worth: 1.6, lead: 0.9, words: 2 }
    }
}

impl RelevanceMargin {
    /// Tells whether a skill is past the margin. With one word more than asked for, two thirds of
    /// worth and lead are enough. A [`Retriever`](crate::matcher::Retriever) that is sure decides.
    pub fn is_passed(&self, found: &Relevance) -> bool {
        let enough = if found.head_words > self.words { 2.0 / 3.0 } else { 1.0 };
        let is_near = found.worth >= self.worth * enough && found.lead >= self.lead * enough;
        found.is_sure || is_near && found.head_words >= self.words && !found.is_denied
    }
}
