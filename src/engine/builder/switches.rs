//! The options that turn skills off, or show less or more of them.

use super::EngineBuilder;
use crate::catalog::{ExposureChoice, SkillRule};

impl EngineBuilder {
    /// Disables all bundled skills that are not [enabled](EngineBuilder::enable). `reason` is a phrase,
    /// shown with their status.
    #[must_use]
    pub fn bundled_off(mut self, reason: impl Into<String>) -> EngineBuilder {
        self.catalog.bundled_off = Some(reason.into());
        self
    }

    /// Adds rules by which the host's agent turns skills off, even those that are enabled. Of several
    /// rules that apply to a skill, the last one decides.
    #[must_use]
    pub fn rules(mut self, rules: Vec<SkillRule>) -> EngineBuilder {
        self.catalog.rules.extend(rules);
        self
    }

    /// Adds settings that decide how much of some skills a model sees. Of several settings that name a skill, the
    /// last one decides.
    ///
    /// ```
    /// use repertoire::Engine;
    /// use repertoire::catalog::{Exposure, ExposureChoice};
    ///
    /// let skill = "---\nname: review\ndescription: Reviews code.\ntriggers: [review]\n---\nSteps.\n";
    /// let line = ExposureChoice::new("review", Exposure::Line);
    /// let engine = Engine::builder().skill(skill.parse()?).expose([line]).build()?;
    /// assert_eq!(engine.disclose("review this").registry, ["review"]);
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    #[must_use]
    pub fn expose(mut self, choices: impl IntoIterator<Item = ExposureChoice>) -> EngineBuilder {
        self.catalog.exposures.extend(choices);
        self
    }
}
