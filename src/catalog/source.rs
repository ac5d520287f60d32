//! Sources: root directories of skills.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::levels::{is_planted, is_same, levels};
use crate::provider::{Provided, Provider};
use crate::skill::Skill;

/// The origin of a source's skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Scope {
    /// Shipped with the agent.
    Bundled,
    /// Installed by the user.
    User,
    /// Part of the current project: written by the author of the project.
    Project,
    /// Given by the host program.
    Memory,
    /// Fetched from a repository, a directory, an archive or a server: written by its author.
    Fetched,
}

impl Scope {
    /// The scope in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Bundled => "bundled",
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Memory => "memory",
            Scope::Fetched => "fetched",
        }
    }

    /// Tells whether code of this scope may run without the user's approval.
    pub fn is_trusted(self) -> bool {
        !matches!(self, Scope::Project | Scope::Fetched)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A root directory of skills, a [`Provider`] of them, or skills in memory. Its place in the list of sources is its precedence:
/// a later source wins over an earlier one.
///
/// Symbolic links are followed inside the root. In a source of the user ([`Scope::User`]), they are
/// followed wherever they lead, as the user made them. In a standard source of a project, they are also
/// followed inside the project. A link into another source is skipped, as that source has the skill. Any
/// other link is reported and not followed; [`Source::allow_links_outside`] and
/// [`Source::allow_links_into`] allow more.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Source {
    pub(super) origin: Origin,
    pub(super) scope: Scope,
    pub(super) optional: bool,
    pub(super) links_outside: bool,
    /// A directory besides the root into which links may lead.
    pub(super) links_into: Option<PathBuf>,
    /// The brand of the host, if it is one of the host's standard sources.
    pub(super) brand: Option<String>,
    /// The name under which the source was fetched, or that the host gave to its provider.
    name: Option<String>,
    /// True if the ids of its skills begin with its name.
    pub(super) namespaced: bool,
    /// The prefix of the ids of its skills, in place of its name.
    alias: Option<String>,
    /// The key whose signature was verified, if a signature was required.
    signed_by: Option<String>,
    /// True if the file of a project names the source, although its skills were fetched from elsewhere.
    named_by_project: bool,
    /// The real paths of the directories below the root that are skipped.
    pub(super) without: Vec<PathBuf>,
}

#[derive(Debug, Clone)]
pub(super) enum Origin {
    Directory(PathBuf),
    Memory(Vec<Arc<Skill>>),
    Provided(Arc<Provided>),
}

impl Source {
    /// A directory of skills of this scope.
    pub fn new(scope: Scope, root: impl Into<PathBuf>) -> Source {
        let origin = Origin::Directory(root.into());
        Source {
            origin,
            scope,
            optional: false,
            links_outside: scope == Scope::User,
            links_into: None,
            brand: None,
            name: None,
            namespaced: false,
            alias: None,
            signed_by: None,
            named_by_project: false,
            without: Vec::new(),
        }
    }

    /// Skills that ship with the agent.
    pub fn bundled(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::Bundled, root)
    }

    /// Skills that the user installed.
    pub fn user(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::User, root)
    }

    /// Skills of the current project.
    pub fn project(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::Project, root)
    }

    /// Skills that the host made itself. One that was loaded from a file counts as one of a project.
    pub fn memory(skills: Vec<Skill>) -> Source {
        let origin = Origin::Memory(skills.into_iter().map(Arc::new).collect());
        Source { origin, optional: true, ..Source::new(Scope::Memory, "") }
    }

    /// Skills that `provider` serves, such as rows of a database. Their texts are read as those of files are,
    /// with the same diagnostics; as they are in no directory, their scripts and toolsets do not run. The
    /// name tells providers apart, and begins the paths in diagnostics (`table:/ship/SKILL.md`): of two with
    /// the same name, the later one is used.
    ///
    /// [`Engine::refresh`](crate::Engine::refresh) takes up the changes; an engine that is watched asks the
    /// provider at the interval of `WatchOptions::poll`.
    pub fn provided(
        scope: Scope,
        name: impl Into<String>,
        provider: impl Provider + 'static,
    ) -> Source {
        let name = name.into();
        let origin = Origin::Provided(Arc::new(Provided::new(&name, provider)));
        Source { origin, name: Some(name), ..Source::new(scope, "") }
    }

    /// Skills that were fetched from elsewhere, in a directory that need not exist. Their code runs only
    /// after the user has trusted it.
    pub fn fetched(name: impl Into<String>, root: impl Into<PathBuf>) -> Source {
        let name = Some(name.into());
        Source { name, optional: true, ..Source::new(Scope::Fetched, root) }
    }

    /// Prefixes the ids of the source's skills with its name: the id is the name of the source and the
    /// skill's path in it, such as `acme/billing/refunds`. This way a skill of a server cannot hide a
    /// skill of the same name from another source.
    #[must_use]
    pub fn namespaced(mut self) -> Source {
        self.namespaced = self.name.is_some();
        self
    }

    /// Prefixes the ids of the source's skills with `alias`: of two sources that have a skill `review`, one may be
    /// `r1/review`. An empty alias changes nothing.
    ///
    /// ```
    /// use repertoire::{Engine, Source};
    ///
    /// let engine = Engine::builder().source(Source::bundled("skills").alias("r1")).build()?;
    /// assert!(engine.catalog().get("r1/code-review").is_some());
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Source {
        self.alias = Some(alias.into()).filter(|alias| !alias.is_empty());
        self
    }

    /// Records the key whose signature of the source was verified; `None` if no signature was required.
    #[must_use]
    pub fn signed_with(mut self, key: Option<String>) -> Source {
        self.signed_by = key;
        self
    }

    /// Marks a fetched source as one that the file of a project names: its skills count as the project's.
    #[must_use]
    pub fn named_by_project(mut self) -> Source {
        self.named_by_project = true;
        self
    }

    /// Tells whether a project, and not the user, chose the skills of the source.
    pub(super) fn is_of_project(&self) -> bool {
        self.scope == Scope::Project || self.named_by_project
    }

    /// Marks the source as optional: its directory need not exist.
    #[must_use]
    pub fn optional(mut self) -> Source {
        self.optional = true;
        self
    }

    /// Allows symbolic links that lead outside of the source's root.
    #[must_use]
    pub fn allow_links_outside(mut self) -> Source {
        self.links_outside = true;
        self
    }

    /// Allows symbolic links that lead into `dir`, such as the project of the source.
    #[must_use]
    pub fn allow_links_into(mut self, dir: impl Into<PathBuf>) -> Source {
        self.links_into = Some(dir.into());
        self
    }

    /// Skips the directories with these real paths, such as copies of skills that another source has.
    #[must_use]
    pub fn without(mut self, dirs: impl IntoIterator<Item = PathBuf>) -> Source {
        self.without.extend(dirs);
        self
    }

    /// The standard sources: those of [`Source::standard_in`] with `project` as the working directory.
    pub fn standard(home: Option<&Path>, project: &Path, brand: &str) -> Vec<Source> {
        Source::standard_in(home, project, project, brand)
    }

    /// The standard sources, lowest precedence first. None of them needs to exist. An engine without a
    /// brand of its own takes `brand`.
    ///
    /// - of the user: `.{brand}/skills`, `.agents/skills` and `.claude/skills` in `home`;
    /// - of the project: `.agents/skills`, `.claude/skills`, `.github/skills` and `.{brand}/skills` in
    ///   each directory from `project` down to `working_dir`, so that the nearest directory wins. A working
    ///   directory outside of the project adds no sources, and those of the user in `home` stay the user's.
    ///   In a directory such as `/tmp`, where everybody can write, those of other users are left out.
    ///
    /// ```
    /// use std::path::Path;
    /// use repertoire::Source;
    ///
    /// let (project, here) = (Path::new("/work"), Path::new("/work/packages/api"));
    /// let sources = Source::standard_in(None, project, here, "acme");
    /// assert_eq!(sources.len(), 3 * 4);
    /// let highest = sources.last().and_then(Source::root);
    /// assert_eq!(highest, Some(Path::new("/work/packages/api/.acme/skills")));
    /// ```
    pub fn standard_in(
        home: Option<&Path>,
        project: &Path,
        working_dir: &Path,
        brand: &str,
    ) -> Vec<Source> {
        let own = format!(".{brand}");
        let of = |scope, base: &Path, names: &[&str]| -> Vec<Source> {
            let roots = names.iter().map(|name| base.join(name).join("skills"));
            let brand = || Some(brand.to_owned());
            let source =
                |root| Source { optional: true, brand: brand(), ..Source::new(scope, root) };
            roots.map(source).collect()
        };
        let user = home.map(|home| of(Scope::User, home, &[&own, ".agents", ".claude"]));
        let names = [".agents", ".claude", ".github", &own];
        let of_project = levels(project, working_dir).into_iter().flat_map(|dir| {
            // The user may work in the home directory. What is there stays theirs.
            let is_home = home.is_some_and(|home| is_same(&dir, home));
            of(Scope::Project, &dir, if is_home { &[".github"] } else { &names })
        });
        let of_project = of_project.filter(|source| !source.root().is_some_and(is_planted));
        let of_project = of_project.map(|source| source.allow_links_into(project));
        user.into_iter().flatten().chain(of_project).collect()
    }

    /// The fields that decide a catalog, serialised; `None` for skills that are not in a
    /// directory.
    #[cfg(feature = "snapshot")]
    pub(super) fn written(&self) -> Option<impl Serialize + '_> {
        // The brand is written with the options; the name matters only as a namespace.
        let Source { origin, scope, optional, links_outside, links_into, without, .. } = self;
        let Origin::Directory(root) = origin else { return None };
        let of_project = self.is_of_project();
        let links = (links_outside, links_into);
        Some((root, scope, optional, links, self.namespace(), of_project, without))
    }

    /// The scope of its skills.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The name under which it was fetched, or that of its provider; `None` for any other source.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The `minisign` public key that signed the source, verified when the configuration was loaded;
    /// `None` if the source need not be signed.
    pub fn signed_by(&self) -> Option<&str> {
        self.signed_by.as_deref()
    }

    /// The prefix of the ids of its skills, if it has an alias or is namespaced.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.alias.as_deref().or_else(|| self.name().filter(|_| self.namespaced))
    }

    /// Its root directory; `None` for skills in memory or of a provider.
    pub fn root(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Directory(root) => Some(root),
            Origin::Memory(_) | Origin::Provided(_) => None,
        }
    }

    /// Its provider, if it has one.
    pub(crate) fn provider(&self) -> Option<&Arc<Provided>> {
        match &self.origin {
            Origin::Provided(provided) => Some(provided),
            Origin::Directory(_) | Origin::Memory(_) => None,
        }
    }

    /// The first part of the locations of its skills: its root directory, or the name of its provider.
    pub(crate) fn location(&self) -> Option<&Path> {
        self.root().or_else(|| self.provider().map(|provided| provided.root()))
    }
}

/// A bare path is a directory of the project: its text is read, and its code runs only once the user or the
/// host has trusted it. To vouch for the code of a directory, name its scope, as in [`Source::user`].
impl From<PathBuf> for Source {
    fn from(root: PathBuf) -> Source {
        Source::project(root)
    }
}

/// See the conversion from a [`PathBuf`].
impl From<&Path> for Source {
    fn from(root: &Path) -> Source {
        Source::from(root.to_owned())
    }
}

/// See the conversion from a [`PathBuf`].
impl From<&str> for Source {
    fn from(root: &str) -> Source {
        Source::from(PathBuf::from(root))
    }
}

/// Removes repeated directories and providers, keeping the place with the highest precedence. Repetitions are common:
/// the project may be the home directory, or `.claude/skills` a link to `.agents/skills`.
pub(super) fn without_repetitions(sources: &[Source]) -> Vec<&Source> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<&Source> = sources
        .iter()
        .rev()
        .filter(|source| {
            let real = source.root().and_then(|root| root.canonicalize().ok());
            let place = real.or_else(|| source.provider().map(|of| of.root().to_owned()));
            place.is_none_or(|place| seen.insert(place))
        })
        .collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_sources_come_lowest_first() {
        let sources = Source::standard(Some(Path::new("/home/ana")), Path::new("."), "sven");
        let roots: Vec<_> = sources.iter().map(|s| s.root().unwrap().to_str().unwrap()).collect();
        assert_eq!(
            roots,
            [
                "/home/ana/.sven/skills",
                "/home/ana/.agents/skills",
                "/home/ana/.claude/skills",
                "./.agents/skills",
                "./.claude/skills",
                "./.github/skills",
                "./.sven/skills",
            ]
        );
        assert_eq!(Source::standard(None, Path::new("."), "sven").len(), 4);
    }
}
