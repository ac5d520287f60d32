//! Triggers: what a skill declares a message must hold for the skill to matter.

use super::manifest::Spanned;

/// The triggers a skill declares. Every entry here is usable; what was refused left a
/// diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Triggers {
    /// Words and phrases, matched whole.
    pub keywords: Vec<Spanned<String>>,
    /// Action words, matched like keywords and, on request, in their regular inflections.
    pub verbs: Vec<Spanned<String>>,
    /// Patterns in the syntax of the crate `regex`.
    pub patterns: Vec<Spanned<String>>,
    /// Words and phrases that veto the skill for a query.
    pub exclude: Vec<Spanned<String>>,
    /// Globs, matched against the paths a query touches.
    pub paths: Vec<Spanned<String>>,
    /// Whether the skill declares any trigger that could select it, refused ones included: a
    /// skill whose only pattern is broken still is not a skill without triggers.
    pub declared: bool,
}
