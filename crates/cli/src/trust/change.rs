//! A difference between what was trusted and what is there now.

use std::path::Path;

use serde::Serialize;
use similar::TextDiff;

use crate::output::{NAME, Page, WARNING, styled};
use crate::sanitize;

/// One difference from what was trusted.
#[derive(Serialize)]
pub(super) struct Change {
    pub(super) path: String,
    what: &'static str,
    /// The meaning of the change.
    note: String,
    /// The lines that changed, if the old text was kept.
    diff: Option<String>,
}

/// Returns the lines that differ between two texts.
pub(super) fn difference(trusted: &str, now: &str) -> String {
    let diff = TextDiff::from_lines(trusted, now);
    diff.unified_diff().context_radius(2).header("trusted", "now").to_string()
}

impl Change {
    pub(super) fn new(path: &Path, what: &'static str, note: &str) -> Change {
        let path = path.to_string_lossy().into_owned();
        Change { path, what, note: note.to_owned(), diff: None }
    }

    /// Adds the lines that changed.
    pub(super) fn with_diff(self, diff: Option<String>) -> Change {
        Change { diff, ..self }
    }

    pub(super) fn show(&self, text: &mut Page) {
        text.line(format_args!(
            "{} {}: {}",
            styled(WARNING, format_args!("{:7}", self.what)),
            styled(NAME, sanitize::line(&self.path)),
            sanitize::line(&self.note)
        ));
        for line in self.diff.iter().flat_map(|diff| diff.lines()) {
            text.line(format_args!("  {}", sanitize::line(line)));
        }
    }
}
