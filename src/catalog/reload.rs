//! Reloading of a catalog, which reads only changed files.
//!
//! Everything but the reading of files is done anew each time: a catalog that was loaded again is
//! resolved by the same steps as a fresh one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::requirement::Environment;
use super::resolve::{CatalogOptions, resolve};
use super::seen::Seen;
use super::{Catalog, Entry};
use crate::diagnostic::{Code, Diagnostic};
use crate::later::Later;
use crate::progress::Reporter;
use crate::skill::{Skill, SkillId};

#[cfg(feature = "snapshot")]
mod kept;
#[cfg(feature = "snapshot")]
pub(crate) use kept::KeptFiles;

/// The memory of a load, for the next one.
#[derive(Debug)]
pub(crate) struct Memory {
    seen: Later<Seen>,
    files: Files,
}

/// The skill files that were read.
#[derive(Debug)]
enum Files {
    Known(HashMap<PathBuf, Known>),
    /// State restored from a snapshot of another process; converted on first use, which never comes
    /// if nothing changed.
    #[cfg(feature = "snapshot")]
    Kept(Arc<Catalog>, Later<KeptFiles>),
}

/// A skill file as it was read last. Its stamp is in [`Seen`].
#[derive(Debug, Clone)]
struct Known {
    /// The last version that loaded, with the print of its text.
    good: Option<(u64, Arc<Skill>)>,
    /// The problems of the file in its current version.
    broken: Option<Broken>,
}

#[derive(Debug, Clone)]
struct Broken {
    findings: Vec<Diagnostic>,
    /// True if the current load found it broken.
    is_new: bool,
}

/// The result of reading a skill file.
pub(super) struct ReadSkill {
    pub(super) skill: Option<Arc<Skill>>,
    pub(super) findings: Vec<Diagnostic>,
}

/// Reads skill files, as far as they are not known already.
pub(super) struct Reader<'a> {
    brand: &'a str,
    before: Option<Before<'a>>,
    pub(super) seen: Seen,
    files: HashMap<PathBuf, Known>,
}

/// The memory of the load before.
struct Before<'a> {
    seen: &'a Seen,
    files: Cow<'a, HashMap<PathBuf, Known>>,
    /// True if a skill whose file no longer loads stays as it was.
    keeps: bool,
}

/// Loads a catalog for the first time.
pub(crate) fn load(options: &CatalogOptions, reporter: &Reporter) -> (Catalog, Memory) {
    load_after(options, None, reporter)
}

/// Loads a catalog, with the memory of the load before.
pub(crate) fn load_again(options: &CatalogOptions, before: &Memory) -> (Catalog, Memory) {
    load_after(options, Some(before.as_before(true)), &Reporter::default())
}

/// Loads a catalog as if for the first time, except that files on which `memory` is current are not
/// read again.
#[cfg(feature = "snapshot")]
pub(crate) fn load_anew(options: &CatalogOptions, memory: &Memory) -> (Catalog, Memory) {
    load_after(options, Some(memory.as_before(false)), &Reporter::default())
}

fn load_after(
    options: &CatalogOptions,
    before: Option<Before<'_>>,
    reporter: &Reporter,
) -> (Catalog, Memory) {
    let mut reader =
        Reader { brand: options.brand(), before, seen: Seen::begin(), files: HashMap::new() };
    let catalog = resolve(options, &mut reader, reporter);
    let Reader { seen, files, .. } = reader;
    (catalog, Memory { seen: seen.into(), files: Files::Known(files) })
}

impl Memory {
    /// The memory of a load by another process, which made `catalog` and wrote the rest.
    #[cfg(feature = "snapshot")]
    pub(crate) fn of_another_process(
        seen: Later<Seen>,
        catalog: Arc<Catalog>,
        files: Later<KeptFiles>,
    ) -> Memory {
        Memory { seen, files: Files::Kept(catalog, files) }
    }

    /// The part of the memory that another process needs besides the paths seen and `catalog`,
    /// which this load made.
    #[cfg(feature = "snapshot")]
    pub(crate) fn kept_files(&self, catalog: &Catalog) -> KeptFiles {
        KeptFiles::of(catalog, &self.files())
    }

    /// The paths seen, to be written.
    #[cfg(feature = "snapshot")]
    pub(crate) fn kept_seen(&self) -> &Later<Seen> {
        &self.seen
    }

    fn files(&self) -> Cow<'_, HashMap<PathBuf, Known>> {
        match &self.files {
            Files::Known(files) => Cow::Borrowed(files),
            #[cfg(feature = "snapshot")]
            Files::Kept(catalog, files) => Cow::Owned(files.get().known(catalog)),
        }
    }

    fn as_before(&self, keeps: bool) -> Before<'_> {
        Before { seen: self.seen.get(), files: self.files(), keeps }
    }

    /// Tells whether another load would find the same.
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        self.seen.get().is_current(environment)
    }

    /// The paths seen.
    #[cfg(any(feature = "snapshot", feature = "watch"))]
    pub(crate) fn seen(&self) -> &Seen {
        self.seen.get()
    }

    /// Tells whether the file of a skill was changed since the load before, so that it no longer
    /// loads, and the skill is as it was.
    fn was_kept(&self, entry: &Entry) -> bool {
        let files = self.files();
        let known = entry.skill.path().and_then(|path| files.get(path));
        known.is_some_and(|known| {
            known.good.is_some() && known.broken.as_ref().is_some_and(|broken| broken.is_new)
        })
    }
}

impl Reader<'_> {
    /// The skill in the file at `path`: the last version that loaded, if this one does not.
    pub(super) fn read(&mut self, path: &Path) -> ReadSkill {
        let stamp = self.seen.path(path).clone();
        let before = self.before.as_ref();
        let known = before.and_then(|before| before.files.get(path));
        let is_current = || before.is_some_and(|before| before.seen.vouches_for(path, &stamp));
        let known = match known {
            Some(known) if is_current() => {
                let mut known = known.clone();
                known.broken.iter_mut().for_each(|broken| broken.is_new = false);
                known
            }
            known => self.read_again(path, known),
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

    fn read_again(&self, path: &Path, before: Option<&Known>) -> Known {
        let good = before.and_then(|known| known.good.clone());
        tracing::debug!(path = %path.display(), "a skill file is read");
        let findings = match Skill::read(path) {
            Ok(text) => {
                let print = print(&text);
                if good.as_ref().is_some_and(|(known, _)| *known == print) {
                    return Known { good, broken: None };
                }
                match Skill::of_file(path, &text, self.brand) {
                    Ok(skill) => {
                        let good = Some((print, Arc::new(skill)));
                        return Known { good, broken: None };
                    }
                    Err(findings) => findings,
                }
            }
            Err(finding) => vec![finding],
        };
        // A file that went between the look at its directory and this one is not broken.
        let keeps = self.before.as_ref().is_some_and(|before| before.keeps);
        let good = good.filter(|_| keeps && path.symlink_metadata().is_ok());
        broken(path, good, findings, before)
    }
}

/// A file that does not load.
fn broken(
    path: &Path,
    good: Option<(u64, Arc<Skill>)>,
    mut findings: Vec<Diagnostic>,
    before: Option<&Known>,
) -> Known {
    if good.is_some() {
        findings.push(Diagnostic::new(
            Code::KeptBefore,
            path,
            "the file no longer loads; the skill stays as it was before",
            "mend what the other finding says, or remove the file",
        ));
    }
    let before = before.and_then(|known| known.broken.as_ref());
    let is_new = before.is_none_or(|before| before.findings != findings);
    Known { good, broken: Some(Broken { findings, is_new }) }
}

/// A print of a text: two versions of a file with the same print are the same.
fn print(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The difference of a catalog from the one before, by ids, each list in their order. Skills that
/// do not exist for the agent are in none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Refreshed {
    /// Skills that were not there before.
    pub added: Vec<SkillId>,
    /// Skills with a change: in their file, or in whether they can be used.
    pub changed: Vec<SkillId>,
    /// Skills that are no longer there.
    pub removed: Vec<SkillId>,
    /// Skills whose file was changed so that it no longer loads. They stay as they were, with a
    /// diagnostic.
    pub kept: Vec<SkillId>,
}

impl Refreshed {
    /// Tells whether the skills are those of before.
    pub fn is_empty(&self) -> bool {
        let Refreshed { added, changed, removed, kept } = self;
        [added, changed, removed, kept].into_iter().all(Vec::is_empty)
    }

    /// The changes from `before` to `now`, whose memory is `memory`.
    pub(crate) fn between(before: &Catalog, now: &Catalog, memory: &Memory) -> Refreshed {
        let ids = |entries: Vec<&Entry>| entries.into_iter().map(|e| e.id.clone()).collect();
        let (old, new) = (by_id(before), by_id(now));
        let added = new.values().filter(|entry| !old.contains_key(&entry.id)).copied();
        let removed = old.values().filter(|entry| !new.contains_key(&entry.id)).copied();
        let changed = new
            .values()
            .filter(|now| old.get(&now.id).is_some_and(|before| !now.is_the_same_as(before)));
        let kept = new.values().filter(|entry| memory.was_kept(entry)).copied();
        Refreshed {
            added: ids(added.collect()),
            changed: ids(changed.copied().collect()),
            removed: ids(removed.collect()),
            kept: ids(kept.collect()),
        }
    }
}

/// The skills that exist and are not shadowed.
fn by_id(catalog: &Catalog) -> BTreeMap<&SkillId, &Entry> {
    let winners = catalog.entries().filter(|entry| !entry.is_shadowed());
    winners.map(|entry| (&entry.id, entry)).collect()
}
