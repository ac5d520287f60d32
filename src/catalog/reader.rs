//! The reader of skill files, which skips files whose content is known already.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inputs::Inputs;
use super::source::Source;
use crate::diagnostic::{Code, Diagnostic};
use crate::provider::{Listing, Provided};
use crate::skill::{Policy, Skill};

/// A skill file as it was last read. Its stamp is in [`Inputs`].
#[derive(Debug, Clone)]
pub(super) struct CachedFile {
    /// The last version that loaded, with the hash of its text.
    pub(super) good: Option<(u64, Arc<Skill>)>,
    /// The problems of the current version of the file; `None` if it loads.
    pub(super) broken: Option<Broken>,
}

#[derive(Debug, Clone)]
pub(super) struct Broken {
    pub(super) findings: Vec<Diagnostic>,
    /// True if the current load is the first to find these problems.
    pub(super) is_new: bool,
}

/// The result of reading a skill file.
pub(super) struct ReadSkill {
    pub(super) skill: Option<Arc<Skill>>,
    pub(super) findings: Vec<Diagnostic>,
}

/// Reads skill files, and skips those whose content is known already.
pub(super) struct Reader<'a> {
    pub(super) brand: &'a str,
    pub(super) before: Option<PreviousLoad<'a>>,
    pub(super) inputs: Inputs,
    pub(super) files: HashMap<PathBuf, CachedFile>,
}

/// The memory of the previous load.
pub(super) struct PreviousLoad<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) files: Cow<'a, HashMap<PathBuf, CachedFile>>,
    /// True to keep the previous version of a skill whose file no longer loads.
    pub(super) keeps: bool,
}

impl CachedFile {
    /// The same version of the file, seen again.
    fn unchanged(&self) -> CachedFile {
        let mut known = self.clone();
        known.broken.iter_mut().for_each(|broken| broken.is_new = false);
        known
    }
}

impl Reader<'_> {
    /// Reads the skill of `source` in the file at `path`. If the current version does not load, returns the last one
    /// that did.
    pub(super) fn read(&mut self, source: &Source, path: &Path) -> ReadSkill {
        let known = match source.provider() {
            Some(provided) => self.provided(provided, path),
            None => self.file(path),
        };
        let skill = known.good.as_ref().map(|(_, skill)| Arc::clone(skill));
        let findings = match (&known.broken, &skill) {
            (Some(broken), _) => broken.findings.clone(),
            (None, Some(skill)) => skill.diagnostics().to_vec(),
            (None, None) => Vec::new(),
        };
        self.files.insert(path.to_owned(), known);
        ReadSkill { skill, findings }
    }

    fn file(&mut self, path: &Path) -> CachedFile {
        let stamp = self.inputs.path(path).clone();
        // A policy that is added or removed changes its directory, which is an input already.
        let policy_path = Policy::path(path);
        let policy_stamp = policy_path.exists().then(|| self.inputs.path(&policy_path).clone());
        let before = self.before.as_ref();
        let known = before.and_then(|before| before.files.get(path));
        let is_current = || {
            before.is_some_and(|PreviousLoad { inputs, .. }| {
                let is_policy_current = match &policy_stamp {
                    Some(stamp) => inputs.proves_unchanged(&policy_path, stamp),
                    None => !inputs.has(&policy_path),
                };
                inputs.proves_unchanged(path, &stamp) && is_policy_current
            })
        };
        match known {
            Some(known) if is_current() => known.unchanged(),
            known => {
                let read = Skill::read(path).map(|text| (text, Policy::read(&policy_path)));
                self.read_again(path, known, read, None)
            }
        }
    }

    /// Reads the file that a provider has at `location`, if its revision or that of its policy changed.
    fn provided(&mut self, provided: &Arc<Provided>, location: &Path) -> CachedFile {
        let listing = self.inputs.listing(provided);
        let policy_location = Policy::path(location);
        let paths = [location, &policy_location].map(|location| provided.path_of(location));
        let revisions = |of: &Listing| paths.each_ref().map(|path| of.files.get(path).cloned());
        let before = self.before.as_ref();
        let listed = before.and_then(|before| before.inputs.listed(provided));
        let is_current = listed.is_some_and(|before| revisions(before) == revisions(&listing));
        match before.and_then(|before| before.files.get(location)) {
            Some(known) if is_current => known.unchanged(),
            _ => {
                let has_policy = listing.files.contains_key(&paths[1]);
                let read = Skill::read_provided(provided, location).and_then(|text| {
                    let policy =
                        has_policy.then(|| Policy::read_provided(provided, &policy_location));
                    Ok((text, policy.transpose()?))
                });
                if read.is_err() {
                    self.inputs.forget(provided, &paths);
                }
                let known = before.and_then(|before| before.files.get(location));
                self.read_again(location, known, read, Some(provided))
            }
        }
    }

    /// Makes the record of a file of which this was `read`, at a path or from a provider.
    fn read_again(
        &self,
        path: &Path,
        before: Option<&CachedFile>,
        read: Result<(String, Option<Policy>), Diagnostic>,
        provided: Option<&Arc<Provided>>,
    ) -> CachedFile {
        let good = before.and_then(|known| known.good.clone());
        tracing::debug!(path = %path.display(), "a skill file is read");
        let findings = match read {
            Ok((text, policy)) => {
                // Versions of a file with the same hash count as equal.
                let hasher = BuildHasherDefault::<DefaultHasher>::default();
                let text_hash = hasher.hash_one((&text, &policy));
                if good.as_ref().is_some_and(|(known, _)| *known == text_hash) {
                    return CachedFile { good, broken: None };
                }
                let (policy, brand) = (policy.as_ref(), self.brand);
                let skill = match provided {
                    Some(provided) => Skill::of_provider(provided, path, &text, policy, brand),
                    None => Skill::of_file(path, &text, policy, brand),
                };
                match skill {
                    Ok(skill) => {
                        let good = Some((text_hash, Arc::new(skill)));
                        return CachedFile { good, broken: None };
                    }
                    Err(findings) => findings,
                }
            }
            Err(finding) => vec![finding],
        };
        // A file that was removed after the scan of its directory is not broken: its skill is not kept.
        let keeps = self.before.as_ref().is_some_and(|before| before.keeps);
        let is_there = provided.is_some() || path.symlink_metadata().is_ok();
        let good = good.filter(|_| keeps && is_there);
        broken(path, good, findings, before)
    }
}

/// The record of a file that does not load.
fn broken(
    path: &Path,
    good: Option<(u64, Arc<Skill>)>,
    mut findings: Vec<Diagnostic>,
    before: Option<&CachedFile>,
) -> CachedFile {
    if good.is_some() {
        findings.push(Diagnostic::new(
            Code::KeptBefore,
            path,
            "the file no longer loads; the skill stays as it was before",
            "fix what the other finding reports, or remove the file",
        ));
    }
    let before = before.and_then(|known| known.broken.as_ref());
    let is_new = before.is_none_or(|before| before.findings != findings);
    CachedFile { good, broken: Some(Broken { findings, is_new }) }
}
