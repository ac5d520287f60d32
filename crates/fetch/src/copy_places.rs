//! Readable places of copies: `skills/OWNER/REPO` for a user, `projects/NAME-…/OWNER/REPO` for a project.

use std::path::{Path, PathBuf};

use super::location::plain;
use repertoire::catalog::Scope;
use repertoire::trust::ContentHash;

/// The directory of the copies of a user's sources.
const OF_USER: &str = "skills";

/// The directory that has a directory for the copies of each project.
pub(super) const PROJECTS: &str = "projects";

/// The directory below `base` of the copies for the `config.toml` in `config_dir`. `is_own` tells whether a
/// directory has the copies of this configuration, or none.
pub(super) fn dir_of_copies(
    base: &Path,
    scope: Scope,
    config_dir: &Path,
    is_own: &dyn Fn(&Path) -> bool,
) -> PathBuf {
    let hash = ContentHash::of(config_dir.as_os_str().as_encoded_bytes());
    let key = &hash.as_str()[..8];
    if scope == Scope::Project {
        let name = config_dir.parent().and_then(Path::file_name).unwrap_or_default();
        return base.join(PROJECTS).join(format!("{}-{key}", plain(&name.to_string_lossy())));
    }
    let usual = base.join(OF_USER);
    // Another home directory may use the same place.
    if is_own(&usual) { usual } else { base.join(format!("{OF_USER}-{key}")) }
}

/// A directory below `dir` for a source, apart from those that are `used`: `owner/repo` if the source has its
/// usual name.
pub(super) fn free_dir(dir: &Path, used: &[String], name: &str, source: &str) -> String {
    let is_part = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_free = |new: &String| {
        let is_used = used.iter().any(|used| is_part(used, new) || is_part(new, used));
        !is_used && !dir.join(new).exists()
    };
    let more = (2..).map(|nth| format!("{name}-{nth}"));
    let mut dirs = owner_and_repo(name, source).into_iter().chain([name.to_owned()]).chain(more);
    dirs.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// The owner and the name of a repository, as two directories, if the source has its usual name.
fn owner_and_repo(name: &str, source: &str) -> Option<String> {
    let source = source.trim_end_matches('/');
    let source = source.strip_suffix(".git").unwrap_or(source);
    let mut parts = source.rsplit(['/', ':']).map(plain);
    let (repo, owner) = (parts.next()?, parts.next()?);
    (format!("{owner}-{repo}") == name).then(|| format!("{owner}/{repo}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_source_is_inside_of_another_one() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("left")).unwrap();
        let used = ["o/r".to_owned(), "team".to_owned()];
        for (name, source, wanted) in [
            ("a-b", "https://github.com/a/b", "a/b"),
            ("a-b", "git@h.org:A/B.git", "a/b"),
            ("kit", "https://github.com/a/b", "kit"),
            ("o", "./o", "o-2"),
            ("o-r", "https://github.com/o/r", "o-r"),
            ("team-x", "https://h.org/team/x", "team-x"),
            ("left", "./left", "left-2"),
        ] {
            assert_eq!(free_dir(dir.path(), &used, name, source), wanted, "{name} {source}");
        }
    }
}
