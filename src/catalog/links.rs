//! The rules for symbolic links in sources.
//!
//! A link that users made in a directory of their own is followed wherever it leads. A link in a project,
//! whose author may be a stranger, is followed only inside the source and the project: it must not turn
//! other files of the user into skills.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Scope, Source};

/// The directories into which links of one source are followed.
#[derive(Debug, Default)]
pub(super) struct LinkRules {
    anywhere: bool,
    /// The real paths of the directories into which links are followed: the root, and the project.
    inside: Vec<PathBuf>,
    /// The real roots of the other sources, in which the target is found by itself.
    elsewhere: Vec<PathBuf>,
}

/// The rule for one link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To a place from which skills may be read.
    Inside,
    /// Into another source, which has the same skill.
    ToAnotherSource,
    /// Out of the source, or nowhere.
    Outside,
}

impl LinkRules {
    /// The rules for `source`, one of the sources `among` which it is used.
    pub(super) fn of(source: &Source, among: &[Source]) -> LinkRules {
        let real = |path: &Path| path.canonicalize().ok();
        let root = source.root().and_then(real);
        let into = source.links_into.as_deref().and_then(real);
        let roots = among.iter().filter_map(Source::root).filter_map(real);
        let elsewhere = roots.filter(|other| Some(other) != root.as_ref()).collect();
        let inside = root.into_iter().chain(into).collect();
        LinkRules { anywhere: source.links_outside, inside, elsewhere }
    }

    /// Decides about `link`, whose real path is `target`; `None` if it leads nowhere.
    pub(super) fn decide(&self, link: &Path, target: Option<&Path>) -> Leads {
        let Some(target) = target else { return Leads::Outside };
        let [root, ..] = &self.inside[..] else { return Leads::Outside };
        if target.starts_with(root) {
            return Leads::Inside;
        }
        // A link of another source may lead on to a place of which only that source may read.
        let is_elsewhere = |path: &Path| self.elsewhere.iter().any(|root| is_scanned(root, path));
        if is_elsewhere(target) || next(link).is_some_and(|next| is_elsewhere(&next)) {
            Leads::ToAnotherSource
        } else if self.anywhere || self.inside.iter().any(|dir| target.starts_with(dir)) {
            Leads::Inside
        } else {
            Leads::Outside
        }
    }
}

/// The file that marks a directory of fetched skills, from which engines read them.
pub const FETCHED_MARK: &str = ".config-dir";

/// The file that marks a copy of a fetched skill in a directory of the user, where an agent lists it.
pub const COPY_MARK: &str = ".fetched";

/// Tells whether the file at the real path `file` was fetched: a link in a directory of the user leads to it
/// because an agent should list the skill, which says nothing about its code.
pub(super) fn is_fetched(file: &Path) -> bool {
    let marks = [FETCHED_MARK, COPY_MARK];
    file.ancestors().skip(1).any(|dir| marks.iter().any(|mark| dir.join(mark).is_file()))
}

/// Returns the scope of a skill in a source of this scope, by whether it has files and whether they were fetched.
pub(super) fn scope_of(source: Scope, has_files: bool, is_fetched: &dyn Fn() -> bool) -> Scope {
    match source {
        // A file that the host only loaded is one at a bare path, and so is the code beside it.
        Scope::Memory if has_files => Scope::Project,
        scope if scope.is_trusted() && is_fetched() => Scope::Fetched,
        scope => scope,
    }
}

/// Returns the path that `link` names, which may be another link, in a directory without links.
fn next(link: &Path) -> Option<PathBuf> {
    let named = link.parent()?.join(fs::read_link(link).ok()?);
    Some(named.parent()?.canonicalize().ok()?.join(named.file_name()?))
}

/// Tells whether a scan of `root` reaches `path`.
fn is_scanned(root: &Path, path: &Path) -> bool {
    path.strip_prefix(root).is_ok_and(|rest| !rest.iter().any(is_hidden))
}

/// Tells whether a scan skips directories of this name.
pub(super) fn is_hidden(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(b".") || name == b"node_modules"
}
