//! The findings as text, JSON or SARIF.

use std::path::Path;

use repertoire::skill::is_key_of_others;
use repertoire::{Code, Diagnostic, Severity};
use serde::Serialize;

use super::examples::Measured;
use super::fix::{self, Fixed};
use super::sarif;
use crate::output::{ERROR, GOOD, Output, Page, WARNING, styled};
use crate::report::{Counts, count, excerpt, renderer};

/// The findings. Serialises to the output of `repertoire check --json`.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Number of checked skills.
    pub(super) skills: usize,
    /// Number of keys of other programs whose findings are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) unknown_keys: usize,
    #[serde(skip_serializing_if = "Measured::is_empty")]
    pub(super) examples: Measured,
    /// The lines that `--fix` changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fixed: Option<Vec<Fixed>>,
}

impl Report {
    /// Prints the report as JSON if `out` says so, and else in `format`.
    pub(super) fn print(self, format: &str, with_notes: bool, out: Output) -> anyhow::Result<()> {
        match format {
            "sarif" => Output::json(&sarif::log(&self.for_programs(with_notes).diagnostics))?,
            "json" => Output::json(&self.for_programs(with_notes))?,
            _ if out.json => Output::json(&self.for_programs(with_notes))?,
            _ => out.human(self.text(with_notes, out).as_str())?,
        }
        Ok(())
    }

    /// Leaves out the findings about keys of other programs, nine of ten in published skills, unless notes were
    /// asked for.
    fn for_programs(mut self, with_notes: bool) -> Report {
        let n_found = self.diagnostics.len();
        self.diagnostics.retain(|found| with_notes || !is_key_of_others(found));
        self.unknown_keys = n_found - self.diagnostics.len();
        self
    }

    fn text(&self, with_notes: bool, out: Output) -> Page {
        let draw = renderer(out);
        let mut page = Page::default();
        fix::text(self.fixed.as_deref().unwrap_or_default(), &mut page);
        let mut source: Option<(&Path, Option<String>)> = None;
        // Unused skills are notes, but the user asked for them with `--stats`.
        let is_shown = |diagnostic: &&Diagnostic| {
            with_notes
                || diagnostic.severity > Severity::Note
                || diagnostic.code == Code::UnusedSkill
        };
        for diagnostic in self.diagnostics.iter().filter(is_shown) {
            let path = diagnostic.path.as_path();
            if diagnostic.span.is_some() && source.as_ref().is_none_or(|(known, _)| *known != path)
            {
                source = Some((path, std::fs::read_to_string(path).ok()));
            }
            let of_file = source.as_ref().filter(|(known, _)| *known == path);
            let content = of_file.and_then(|(_, content)| content.as_deref());
            page.line(format_args!("{}\n", excerpt(diagnostic, content, &draw)));
        }
        if !self.examples.is_empty() {
            page.line(format_args!("{}", self.examples.sentence()));
        }
        page.push(&self.summary(with_notes));
        page
    }

    fn summary(&self, with_notes: bool) -> String {
        let Counts { errors, warnings, notes } = Counts::of(&self.diagnostics);
        let style = match (errors, warnings) {
            (0, 0) => GOOD,
            (0, _) => WARNING,
            _ => ERROR,
        };
        let findings = format!(
            "{}, {}, {}",
            count(errors, "error"),
            count(warnings, "warning"),
            count(notes, "note")
        );
        let n_shown = self.diagnostics.iter().filter(|d| d.code == Code::UnusedSkill).count();
        let hint = if notes > n_shown && !with_notes { "; `--notes` shows them" } else { "" };
        format!("checked {}: {}{hint}", count(self.skills, "skill"), styled(style, findings))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}
