//! The directories in which a project may have skills.

use std::path::{Component, Path, PathBuf};

use repertoire_system::project;

/// The directories from `project` down to `working_dir`, `project` first; only `project` if
/// `working_dir` is not inside it. The comparison also resolves links, as agents may give either form.
#[doc(hidden)]
pub fn levels(project: &Path, working_dir: &Path) -> Vec<PathBuf> {
    let below = |dir: &Path, root: &Path| dir.strip_prefix(root).ok().map(Path::to_owned);
    let real = |path: &Path| path.canonicalize().ok();
    let is_plain = |path: &PathBuf| path.components().all(|c| matches!(c, Component::Normal(_)));
    let rest = below(working_dir, project).filter(is_plain);
    let rest = rest.or_else(|| below(&real(working_dir)?, &real(project)?)).unwrap_or_default();
    let mut levels = vec![project.to_owned()];
    for name in rest.components() {
        levels.extend(levels.last().map(|above| above.join(name)));
    }
    levels
}

/// Tells whether another user may have put the directory above `root`, such as `.agents`, into the project.
pub(super) fn is_planted(root: &Path) -> bool {
    root.parent().is_some_and(project::is_planted)
}

/// Tells whether two paths lead to the same directory.
pub(super) fn is_same(path: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    path == other || real(path).is_some_and(|path| real(other) == Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lead_from_the_project_to_a_working_directory_inside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("mono/packages/api")).unwrap();
        std::fs::create_dir_all(path("monolith")).unwrap();
        let both = ["mono", "mono/packages", "mono/packages/api"];
        for (project, here, wanted) in [
            ("mono", "mono", &["mono"][..]),
            ("mono", "mono/packages/api", &both),
            ("mono", "mono/packages/api/", &both),
            ("mono", "mono/not/there", &["mono", "mono/not", "mono/not/there"]),
            ("mono", "mono/packages/../packages/api", &both),
            ("mono", "mono/../monolith", &["mono"]),
            ("mono", "monolith", &["mono"]),
            ("mono/packages", "mono", &["mono/packages"]),
        ] {
            let wanted: Vec<_> = wanted.iter().map(|name| path(name)).collect();
            assert_eq!(levels(&path(project), &path(here)), wanted, "{project} {here}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("mono", path("link")).unwrap();
            let wanted = ["link", "link/packages"].map(&path);
            assert_eq!(levels(&path("link"), &path("mono/packages")), wanted);
        }
    }
}
