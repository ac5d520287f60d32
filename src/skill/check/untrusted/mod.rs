//! The review of a skill from an unknown author. It finds text that addresses the agent about trust or
//! secrets, what an agent runs by itself, credentials, hidden files, links that leave the skill, scripts that
//! fetch, and names that look like other names.
//!
//! Every finding is a place to look at, not a verdict, since the rules are lexical. The words before the
//! verb decide whether text warns the agent ("never print a token") or asks it to do something.

mod agent_code;
mod confusable;
mod files;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::{invisible_text, links};
use crate::diagnostic::{Code, Diagnostic};
use crate::skill::finding::{Finding, diagnostics};
use crate::skill::load::Loaded;

pub use confusable::skeleton;
pub(crate) use rules::has_secret;

/// The most findings of one code in one file; the others are only counted.
const MAX_REPORTED: usize = 10;

/// Returns all findings about the skill in `directory`, whose `SKILL.md` at `path` has this `text`.
pub(super) fn check(loaded: &Loaded, text: &str, path: &Path, directory: &Path) -> Vec<Diagnostic> {
    let mut found = confusable::names(loaded, directory);
    let body = loaded.parts.as_ref().map_or(text.len(), |parts| parts.body);
    found.extend(links::leaving(text, body));
    found.extend(agent_code::find(loaded, text, body));
    found.extend(in_text(text, true));
    let mut all = diagnostics(found, path, text);
    let files = files::below(directory);
    all.extend(files.findings);
    for (path, text) in files.texts {
        let is_script = path.strip_prefix(directory).is_ok_and(|path| path.starts_with("scripts"));
        let mut found = in_text(&text, !is_script);
        found.extend(invisible_text::in_text("the file", &text, 0..text.len()));
        all.extend(diagnostics(found, &path, &text));
    }
    all
}

/// Returns the findings in a text, at most [`MAX_REPORTED`] for each code. All rules apply to prose and
/// to programs, but prose is not searched for commands that only fetch: the agent who reads it runs
/// those.
fn in_text(text: &str, is_prose: bool) -> Vec<Finding> {
    let mut found = rules::addressing(text);
    found.extend(rules::secrets(text));
    found.extend(rules::fetching(text, is_prose));
    let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
    found.retain(|finding| {
        let count = counts.entry(finding.code).or_default();
        *count += 1;
        *count <= MAX_REPORTED
    });
    for (code, n) in counts.into_iter().filter(|(_, n)| *n > MAX_REPORTED) {
        let last = found.iter_mut().rev().find(|finding| finding.code == code);
        if let Some(last) = last {
            let _ = write!(last.message, ", and such in {} more places", n - MAX_REPORTED);
        }
    }
    found
}
