//! The outcome of a change of an agent's settings, for people and as JSON.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::place::Place;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::sanitize;

/// A change of a settings file that was made, or that a dry run would make.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) agent: &'static str,
    pub(crate) place: Place,
    /// The path with links followed.
    pub(crate) path: PathBuf,
    /// The content before; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// The content after; `None` if the file is removed.
    pub(crate) after: Option<String>,
    /// The difference, as a unified diff.
    pub(super) diff: String,
    /// The file that keeps the content before, if one was written.
    pub(crate) backup: Option<PathBuf>,
    /// The directories that were made for the file, innermost first.
    pub(crate) made_dirs: Vec<PathBuf>,
    pub(super) dry_run: bool,
}

impl Changed {
    /// Tells whether the content differs, be it only in a dry run.
    pub(crate) fn is_one(&self) -> bool {
        self.before != self.after
    }

    pub(crate) fn print(&self, out: Output) -> anyhow::Result<()> {
        if out.json {
            return Ok(Output::json(&self.json())?);
        }
        let mut page = Page::default();
        self.show(&mut page);
        Ok(out.human(page.as_str())?)
    }

    pub(crate) fn json(&self) -> Json {
        json!({
            "agent": self.agent,
            "place": self.place.as_str(),
            "path": self.path.to_string_lossy(),
            "changed": self.is_one() && !self.dry_run,
            "diff": self.diff,
            "backup": self.backup.as_ref().map(|path| path.to_string_lossy()),
        })
    }

    pub(crate) fn show(&self, page: &mut Page) {
        for line in self.diff.lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => WARNING,
                _ => DIM,
            };
            page.line(format_args!("{}", styled(style, sanitize::line(line))));
        }
        let name = self.path.to_string_lossy();
        let name = styled(NAME, sanitize::line(&name));
        match (self.is_one(), self.dry_run) {
            (false, _) => page.line(format_args!("{name} needs no change")),
            (true, true) => page.line(format_args!("{name} would be changed")),
            (true, false) if self.after.is_none() => page.line(format_args!("{name} is removed")),
            (true, false) => page.line(format_args!("{name} is changed")),
        }
        if let Some(kept) = self.backup.as_ref().filter(|_| !self.dry_run) {
            let kept = kept.to_string_lossy();
            page.line(format_args!("the earlier content is in {}", sanitize::line(&kept)));
        }
    }
}
