//! Rejected skills: those that would exist if their files loaded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::visibility::Allowlist;
use super::{Entry, is_skill_file};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::error::{Error, ErrorCode};

/// A directory that gave no skill, although it, or a link in its place, should.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Rejected {
    dir: PathBuf,
    /// The path of the directory from the root of its source, `/`-separated.
    relative_path: String,
    /// The file or link that the finding is about.
    file: PathBuf,
}

/// The skills that `diagnostics` refuse, lowest source first, as far as `allowlist` lets them
/// exist.
pub(super) fn rejected<'a>(
    roots: impl Iterator<Item = &'a Path> + Clone,
    entries: &[Entry],
    diagnostics: &[Diagnostic],
    allowlist: &Allowlist,
) -> Vec<Rejected> {
    let findings: Vec<(&Diagnostic, &Path)> =
        diagnostics.iter().filter_map(|finding| Some((finding, refused(finding)?))).collect();
    if findings.is_empty() {
        return Vec::new();
    }
    let loaded: BTreeSet<&Path> = entries.iter().filter_map(|entry| entry.skill.path()).collect();
    let mut rejected: Vec<Rejected> = Vec::new();
    for root in roots {
        for (finding, dir) in &findings {
            let Ok(below) = dir.strip_prefix(root) else { continue };
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            let (dir, file) = (dir.to_path_buf(), finding.path.clone());
            let found = Rejected { dir, relative_path: parts.join("/"), file };
            let is_allowed = found.names().any(|name| allowlist.allows(name));
            if is_allowed && !loaded.contains(&*found.file) && !rejected.contains(&found) {
                rejected.push(found);
            }
        }
    }
    rejected
}

/// The directory of the skill that `finding` refuses, if it refuses one.
fn refused(finding: &Diagnostic) -> Option<&Path> {
    let path = finding.path.as_path();
    let is_file = path.file_name().is_some_and(is_skill_file);
    let is_link = matches!(finding.code, Code::LinkBroken | Code::LinkOutside);
    match (is_file, is_link) {
        (true, true) => path.parent(),
        (true, false) if finding.severity == Severity::Error => path.parent(),
        (false, true) => Some(path),
        _ => None,
    }
}

/// The error for a missing skill `name`: the finding that refused the file of the one that is
/// meant.
pub(super) fn error(rejected: &[Rejected], findings: &[Diagnostic], name: &str) -> Option<Error> {
    let by_path = |found: &&Rejected| found.is_at(name);
    let by_name = |found: &&Rejected| found.name() == Some(name);
    let meant = || rejected.iter().rev();
    let meant = meant().find(by_path).or_else(|| meant().find(by_name))?;
    let mut findings = findings.iter().filter(|finding| finding.path == meant.file);
    let finding = findings.find(|finding| refused(finding).is_some())?;
    let message = format!("the file of the skill `{name}` was rejected: {finding}");
    Some(Error::new(ErrorCode::NotFound, message, finding.help.as_str()))
}

impl Rejected {
    /// The name that the skill would have by its directory.
    fn name(&self) -> Option<&str> {
        self.dir.file_name()?.to_str()
    }

    /// The names that an allowlist may use: the id that it would have, and its name.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.name().into_iter().chain([&*self.relative_path])
    }

    /// Tells whether `name` is the path of the directory or the file, from the source's root or as
    /// the source is named.
    fn is_at(&self, name: &str) -> bool {
        let path = Path::new(name);
        let path = path.strip_prefix(".").unwrap_or(path);
        let is_relative = !self.relative_path.is_empty() && Path::new(&self.relative_path) == path;
        is_relative || [&self.dir, &self.file].into_iter().any(|known| known == path)
    }
}
