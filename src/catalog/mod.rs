//! The catalog: the skills of all sources, and the decision on who may use them.
//!
//! Loading scans the [`Source`]s for skill files, and gives each skill an id, its precedence and a
//! [`Status`]; the [`Catalog`] decides who may see it. Loading never fails as a whole: files that could
//! not be loaded are reported in [`Catalog::diagnostics`].

mod bundled;
mod entry;
mod environment;
mod exposure;
pub(crate) mod files;
pub(crate) mod inputs;
mod levels;
mod links;
mod lookup;
pub(crate) mod naming;
mod narrow;
mod near_miss;
pub(crate) mod passed_over;
mod place_set;
pub(crate) mod provided_files;
mod reader;
mod rejected;
pub(crate) mod reload;
mod required_skills;
mod requirement;
mod resolve;
mod rule;
mod scan;
#[cfg(feature = "snapshot")]
mod shared;
mod source;
pub(crate) mod stamp;
pub mod sub_skill;
mod visibility;
#[cfg(feature = "watch")]
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorCode, Remedy};
use crate::progress::Reporter;
pub use crate::provider::{MemoryFiles, ProvidedFile, Provider};
use crate::skill::{Skill, SkillId};

use lookup::{find_in, for_the_model, not_found, unknown_to_user};
use rejected::Rejected;

#[doc(hidden)]
pub use bundled::BUNDLED_SKILLS;
pub use environment::Environment;
pub use exposure::{Exposure, ExposureChoice};
#[doc(hidden)]
pub use levels::levels;
#[doc(hidden)]
pub use links::{COPY_MARK, FETCHED_MARK};
pub use naming::may_name;
pub use near_miss::near_misses;
pub(crate) use place_set::PlaceSet;
pub use reload::Refreshed;
pub use resolve::CatalogOptions;
pub use rule::{RuleTarget, SkillChoice, SkillRule};
pub use scan::{is_skill_file, skill_files};
pub use source::{Scope, Source};
pub use visibility::{Allowlist, Audience};
#[cfg(feature = "watch")]
pub use watch::WatchOptions;
#[cfg(feature = "watch")]
pub(crate) use watch::Watching;

/// The status of a skill in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum Status {
    /// The skill can be used.
    Available,
    /// Programs or environment variables that the skill requires are missing.
    Unavailable {
        /// The missing programs and variables, in a phrase.
        reason: String,
    },
    /// Another skill with the same id wins.
    Shadowed {
        /// The file of the skill that wins; empty if it is in memory.
        by: PathBuf,
    },
    /// The skill is off until a setting enables it.
    Disabled {
        /// The setting that turned it off, in a phrase.
        reason: String,
    },
}

impl Status {
    /// The status in lower case, as in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Status::Available => "available",
            Status::Unavailable { .. } => "unavailable",
            Status::Shadowed { .. } => "shadowed",
            Status::Disabled { .. } => "disabled",
        }
    }

    /// The reason why the skill is not available, in a phrase; `None` if it is available.
    pub fn reason(&self) -> Option<String> {
        match self {
            Status::Available => None,
            Status::Unavailable { reason } | Status::Disabled { reason } => Some(reason.clone()),
            Status::Shadowed { by } if by.as_os_str().is_empty() => {
                Some("shadowed by a skill in memory".to_owned())
            }
            Status::Shadowed { by } => Some(format!("shadowed by {}", by.display())),
        }
    }
}

/// A skill in the catalog, with its id, origin and status.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Entry {
    /// Its identity.
    pub id: SkillId,
    /// The skill read from its file.
    #[cfg_attr(feature = "snapshot", serde(with = "shared"))]
    pub skill: Arc<Skill>,
    /// The scope of its source.
    pub scope: Scope,
    /// The path of its directory relative to the root of its source, `/`-separated; empty for a skill at
    /// the root itself and for skills in memory.
    pub relative_path: String,
    /// Its status, which decides whether it can be used.
    pub status: Status,
    /// The part of it that a model sees, by the settings.
    pub exposure: Exposure,
    /// The place of its source in the list of sources. If a path matches two skills, the higher place
    /// wins.
    source: usize,
    /// True if a project, and not the user, chose it.
    of_project: bool,
}

/// The resolved set of skills.
///
/// ```
/// use repertoire::catalog::{Audience, Catalog, CatalogOptions, Source};
///
/// let options = CatalogOptions::new(vec![Source::bundled("skills")]);
/// let catalog = Catalog::load(&options);
/// let skill = catalog.find("commit-message", Audience::Model)?;
/// assert_eq!(skill.id, "commit-message");
/// let error = catalog.find("comit-mesage", Audience::Model).unwrap_err();
/// assert!(error.help().contains("commit-message"));
/// # Ok::<(), repertoire::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Catalog {
    /// The entries in the order of ids. Among entries with the same id, the winner comes first.
    #[cfg_attr(feature = "snapshot", serde(with = "shared"))]
    entries: Arc<Vec<Entry>>,
    /// The places of the entries that the allowlist includes.
    allowed: PlaceSet,
    #[cfg_attr(feature = "snapshot", serde(with = "crate::diagnostic::as_values"))]
    diagnostics: Arc<[Diagnostic]>,
    /// The skills that would exist for this agent if their files could be loaded.
    rejected: Vec<Rejected>,
}

impl Catalog {
    /// Reads all sources and resolves their skills.
    pub fn load(options: &CatalogOptions) -> Catalog {
        reload::load(options, &Reporter::default()).0
    }

    /// All skills that exist for this agent, in the order of ids. Shadowed skills come after those that
    /// shadow them.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.places().filter(|(place, _)| self.allowed.has(*place)).map(|(_, entry)| entry)
    }

    /// The skills that the allowlist leaves out, for explanations to the operator.
    pub fn filtered(&self) -> impl Iterator<Item = &Entry> {
        let left_out = self.places().filter(|(place, _)| !self.allowed.has(*place));
        left_out.map(|(_, entry)| entry).filter(|entry| !entry.is_shadowed())
    }

    /// All entries with their places, whether they are allowed or not.
    fn places(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate()
    }

    /// The skills listed for `audience`, in the order of ids.
    pub fn listed(&self, audience: Audience) -> impl Iterator<Item = &Entry> {
        self.listed_places(audience).map(|(_, entry)| entry)
    }

    /// The skills listed for `audience`, in the order of ids, with their places among all entries.
    pub(crate) fn listed_places(
        &self,
        audience: Audience,
    ) -> impl Iterator<Item = (usize, &Entry)> {
        self.places().filter(move |(place, entry)| {
            self.allowed.has(*place) && entry.is_available() && entry.is_listed(audience)
        })
    }

    /// The entry at a place, as [`Catalog::listed_places`] gives it.
    pub(crate) fn at(&self, place: usize) -> &Entry {
        &self.entries[place]
    }

    /// The problems found in files and sources, by path.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The problems found in files and sources, for callers that outlive the catalog.
    pub(crate) fn shared_diagnostics(&self) -> Arc<[Diagnostic]> {
        Arc::clone(&self.diagnostics)
    }

    /// The skill with this id, whatever its status.
    pub fn get(&self, id: &str) -> Option<&Entry> {
        self.entries().find(|entry| entry.id == id && !entry.is_shadowed())
    }

    /// The available skill that `audience` means by `name`: an id, a path (of its directory from
    /// the source's root, of the directory, or of the file), or a name if it is unique; also as it is
    /// written in messages (`/id`, `$id`, `plugin:id`), and in any letter case.
    ///
    /// Fails with `NOT_FOUND` if there is no such skill, or if the audience may not load it. The error
    /// has the finding that refused the skill's file, if there is one, otherwise the nearest ids.
    pub fn find(&self, name: &str, audience: Audience) -> Result<&Entry, Error> {
        let loadable: Vec<&Entry> = self
            .entries()
            .filter(|entry| entry.is_available() && entry.is_loadable(audience))
            .collect();
        find_in(&loadable, name).ok_or_else(|| self.not_found(name, &loadable, audience))
    }

    /// The skill that the operator means by `name`, whatever its status. Fails as [`Catalog::find`]
    /// does.
    pub fn find_any(&self, name: &str) -> Result<&Entry, Error> {
        let all: Vec<&Entry> = self.entries().filter(|entry| !entry.is_shadowed()).collect();
        let rejected = || rejected::error(&self.rejected, &self.diagnostics, name);
        let not_found = || rejected().unwrap_or_else(|| unknown_to_user(name, &all));
        find_in(&all, name).ok_or_else(not_found)
    }

    /// The skill that the allowlist leaves out and that the operator means by `name`.
    pub fn find_filtered(&self, name: &str) -> Option<&Entry> {
        find_in(&self.filtered().collect::<Vec<_>>(), name)
    }

    /// The direct sub-skills of `parent` that `audience` may load. A skill at the root of its source has
    /// no sub-skills.
    pub fn sub_skills<'a>(
        &'a self,
        parent: &'a Entry,
        audience: Audience,
    ) -> impl Iterator<Item = &'a Entry> {
        let below: Vec<(&Entry, &Path)> = self.below(parent).collect();
        let dirs: Vec<&Path> = below.iter().map(|(_, dir)| *dir).collect();
        let is_direct =
            move |dir: &Path| dirs.iter().all(|above| *above == dir || !dir.starts_with(above));
        below
            .into_iter()
            .filter(move |(entry, dir)| {
                entry.is_available() && entry.is_loadable(audience) && is_direct(dir)
            })
            .map(|(entry, _)| entry)
    }

    /// The skills at any depth below `parent` that are not shadowed, with their directories.
    fn below<'a>(&'a self, parent: &'a Entry) -> impl Iterator<Item = (&'a Entry, &'a Path)> {
        let above = parent.dir_of_sub_skills();
        self.entries()
            .filter(|entry| !entry.is_shadowed() && entry.id != parent.id)
            .filter_map(|entry| Some((entry, entry.skill.dir_location()?)))
            .filter(move |(_, dir)| above.is_some_and(|above| dir.starts_with(above)))
    }

    /// The skills at any depth below `parent` that are listed for `audience`, with the paths of their
    /// directories relative to that of `parent`, `/`-separated. Leaves out skills whose path is not
    /// UTF-8.
    pub fn nested<'a>(
        &'a self,
        parent: &'a Entry,
        audience: Audience,
    ) -> impl Iterator<Item = (String, &'a Entry)> {
        let root = parent.skill.dir_location();
        let listed = self
            .below(parent)
            .filter(move |(entry, _)| entry.is_available() && entry.is_listed(audience));
        listed.filter_map(move |(entry, dir)| {
            let path = dir.strip_prefix(root?).ok()?;
            let parts: Option<Vec<&str>> = path.iter().map(std::ffi::OsStr::to_str).collect();
            Some((parts?.join("/"), entry))
        })
    }

    /// The skill of which `entry` is a sub-skill, if any.
    pub fn parent(&self, entry: &Entry) -> Option<&Entry> {
        let dir = entry.skill.dir_location()?;
        let mut above = dir.ancestors().skip(1);
        above.find_map(|ancestor| {
            self.entries().find(|e| !e.is_shadowed() && e.dir_of_sub_skills() == Some(ancestor))
        })
    }

    /// Tells whether `other` has the same entries and diagnostics.
    pub(crate) fn is_the_same_as(&self, other: &Catalog) -> bool {
        let same =
            |(entry, other): (&Entry, &Entry)| entry.id == other.id && entry.is_the_same_as(other);
        self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&*other.entries).all(same)
            && self.allowed == other.allowed
            && self.diagnostics == other.diagnostics
    }

    fn not_found(&self, name: &str, loadable: &[&Entry], audience: Audience) -> Error {
        let rejected = rejected::error(&self.rejected, &self.diagnostics, name);
        if audience == Audience::Model {
            let help = "use `find_skills` to see the available skills";
            return rejected.unwrap_or_else(|| not_found(name, loadable, help));
        }
        // Only users are told that a skill exists but cannot be used right now.
        let all: Vec<&Entry> = self.entries().filter(|entry| !entry.is_shadowed()).collect();
        let meant = find_in(&all, name);
        match meant.and_then(|entry| Some((entry, entry.reason()?, entry.remedy()?))) {
            Some((entry, reason, help)) => {
                let message = format!("skill `{name}` is not available: {reason}");
                let error = Error::new(ErrorCode::NotFound, message, help);
                if !matches!(entry.status, Status::Disabled { .. }) {
                    return error;
                }
                error.with_remedy(Remedy::Enable(entry.id.to_string()))
            }
            None if meant.is_some_and(Entry::is_available) => for_the_model(name),
            None => rejected.unwrap_or_else(|| unknown_to_user(name, loadable)),
        }
    }
}
