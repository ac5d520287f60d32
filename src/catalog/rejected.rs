//! Rejected skills: those that would exist if their files could be loaded.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use repertoire_system::open_options::without_waiting;

use super::naming::{is_below_root, leads_to, readings};
use super::visibility::Allowlist;
use super::{Entry, is_skill_file};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::error::{Error, ErrorCode};

/// A directory that should hold a skill, or a link that should lead to one, but from which no skill was
/// loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Rejected {
    dir: PathBuf,
    /// The path of the directory from the root of its source, `/`-separated.
    relative_path: String,
    /// The file or link that the finding is about.
    file: PathBuf,
}

/// The skills that `diagnostics` refuse and that `allowlist` includes, lowest source first.
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
    let loaded: BTreeSet<&Path> =
        entries.iter().filter_map(|entry| entry.skill.location()).collect();
    let mut rejected: Vec<Rejected> = Vec::new();
    for root in roots {
        for (finding, dir) in &findings {
            let Ok(below) = dir.strip_prefix(root) else { continue };
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            let (dir, file) = (dir.to_path_buf(), finding.path.clone());
            let found = Rejected { dir, relative_path: parts.join("/"), file };
            let is_allowed = allowlist.may_allow(&found.names());
            if is_allowed && !loaded.contains(&*found.file) && !rejected.contains(&found) {
                rejected.push(found);
            }
        }
    }
    rejected
}

/// The directory of the skill that `finding` refuses; `None` if it does not refuse a skill.
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

/// The error for a skill `name` whose file was refused, with the finding that refused it; `None` if no
/// rejected skill has this name or path.
pub(super) fn error(rejected: &[Rejected], findings: &[Diagnostic], name: &str) -> Option<Error> {
    let meant = readings(name).find_map(|name| {
        let by_path = |found: &&Rejected| found.is_at(&name);
        let by_name = |found: &&Rejected| found.name() == Some(&*name);
        let meant = || rejected.iter().rev();
        meant().find(by_path).or_else(|| meant().find(by_name))
    })?;
    let mut findings = findings.iter().filter(|finding| finding.path == meant.file);
    let finding = findings.find(|finding| refused(finding).is_some())?;
    let message = format!("the file of the skill `{name}` was rejected: {finding}");
    Some(Error::new(code(finding), message, finding.help.as_str()))
}

/// The code of the error for a skill that a finding refuses: the skill is there, but cannot be read or
/// understood.
fn code(finding: &Diagnostic) -> ErrorCode {
    let is_denied = || {
        // Reading it again tells why; the finding has that only in words.
        let error = without_waiting(OpenOptions::new().read(true)).open(&finding.path).err();
        error.is_some_and(|error| error.kind() == ErrorKind::PermissionDenied)
    };
    match finding.code {
        Code::LinkOutside | Code::LinkBroken => ErrorCode::NotFound,
        Code::Unreadable if is_denied() => ErrorCode::PermissionDenied,
        Code::Unreadable | Code::NotAFile => ErrorCode::ExecutionError,
        _ => ErrorCode::InternalError,
    }
}

impl Rejected {
    /// The name that the skill would have if it is named after its directory.
    fn name(&self) -> Option<&str> {
        self.dir.file_name()?.to_str()
    }

    /// The names by which an allowlist may mean the skill: its directory's name, and its path as the id.
    pub(super) fn names(&self) -> Vec<&str> {
        self.name().into_iter().chain([&*self.relative_path]).collect()
    }

    /// Tells whether `name` is the path of the directory or file: relative to the source's root, beginning
    /// with the root as the source gives it, or absolute.
    fn is_at(&self, name: &str) -> bool {
        let path = Path::new(name);
        is_below_root(path, &self.relative_path)
            || [&self.dir, &self.file].into_iter().any(|known| leads_to(path, known))
    }
}
