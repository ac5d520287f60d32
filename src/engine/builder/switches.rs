//! The options that turn skills off.

use super::EngineBuilder;
use crate::catalog::SkillRule;

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
}
