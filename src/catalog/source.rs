//! Root directories of skills.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::skill::Skill;

/// Whose skills a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "snapshot", derive(serde::Deserialize))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Shipped with the agent.
    Bundled,
    /// Installed by the user.
    User,
    /// Part of the project at hand: written by whoever wrote the project.
    Project,
    /// Given by the host program.
    Memory,
}

impl Scope {
    /// The scope in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Bundled => "bundled",
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Memory => "memory",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A root directory of skills, or skills in memory. Its precedence is its place in the list of
/// sources: a later one wins over an earlier one.
#[derive(Debug, Clone)]
pub struct Source {
    pub(super) origin: Origin,
    pub(super) scope: Scope,
    pub(super) optional: bool,
    pub(super) links_outside: bool,
    /// The brand of the host whose standard source it is.
    pub(super) brand: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Origin {
    Directory(PathBuf),
    Memory(Vec<Arc<Skill>>),
}

impl Source {
    /// A directory of skills of this scope.
    pub fn new(scope: Scope, root: impl Into<PathBuf>) -> Source {
        let origin = Origin::Directory(root.into());
        Source { origin, scope, optional: false, links_outside: false, brand: None }
    }

    /// Skills that ship with the agent.
    pub fn bundled(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::Bundled, root)
    }

    /// Skills that the user installed.
    pub fn user(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::User, root)
    }

    /// Skills of the project at hand.
    pub fn project(root: impl Into<PathBuf>) -> Source {
        Source::new(Scope::Project, root)
    }

    /// Skills that the host made itself.
    pub fn memory(skills: Vec<Skill>) -> Source {
        let origin = Origin::Memory(skills.into_iter().map(Arc::new).collect());
        Source { origin, scope: Scope::Memory, optional: true, links_outside: false, brand: None }
    }

    /// The same source, which need not exist.
    #[must_use]
    pub fn optional(mut self) -> Source {
        self.optional = true;
        self
    }

    /// The same source, in which symbolic links may lead outside its root.
    #[must_use]
    pub fn allow_links_outside(mut self) -> Source {
        self.links_outside = true;
        self
    }

    /// The standard sources, none of which need exist: of the user `.{brand}/skills`,
    /// `.agents/skills`, `.claude/skills` in `home`; of the project `.agents/skills`,
    /// `.claude/skills`, `.{brand}/skills` in `project`.
    ///
    /// An engine that is given no brand takes this one.
    pub fn standard(home: Option<&Path>, project: &Path, brand: &str) -> Vec<Source> {
        let own = format!(".{brand}");
        let of = |scope, base: &Path, names: [&str; 3]| {
            names.map(|name| Source {
                optional: true,
                brand: Some(brand.to_owned()),
                ..Source::new(scope, base.join(name).join("skills"))
            })
        };
        let user = home.map(|home| of(Scope::User, home, [&own, ".agents", ".claude"]));
        let project = of(Scope::Project, project, [".agents", ".claude", &own]);
        user.into_iter().flatten().chain(project).collect()
    }

    /// All that it is, written down; `None` for skills in memory.
    #[cfg(feature = "snapshot")]
    pub(super) fn written(&self) -> Option<impl Serialize + '_> {
        // The brand is written with the options.
        let Source { origin, scope, optional, links_outside, brand: _ } = self;
        let Origin::Directory(root) = origin else { return None };
        Some((root, scope, optional, links_outside))
    }

    /// Whose skills it holds.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Its root directory; `None` for skills in memory.
    pub fn root(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Directory(root) => Some(root),
            Origin::Memory(_) => None,
        }
    }
}

/// Each directory once, where it has the highest precedence: the project may be the home
/// directory, and `.claude/skills` a link to `.agents/skills`.
pub(super) fn without_repetitions(sources: &[Source]) -> Vec<&Source> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<&Source> = sources
        .iter()
        .rev()
        .filter(|source| match source.root().map(Path::canonicalize) {
            Some(Ok(root)) => seen.insert(root),
            _ => true,
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
                "./.sven/skills",
            ]
        );
        assert_eq!(Source::standard(None, Path::new("."), "sven").len(), 3);
    }
}
