//! The project of a directory: the nearest one above it that has `.git`, unless another user may have put
//! it there.
//!
//! Anybody can make `/tmp/.git`, and so claim every directory below it. Git refuses such a repository
//! (CVE-2022-24765); here, the search goes on above it.

use std::path::Path;

/// The names that mark the root of a project.
const MARKERS: [&str; 1] = [".git"];

/// The project of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Project<'a> {
    /// The root; the directory itself if nothing marks one.
    pub root: &'a Path,
    /// The nearest root that was passed over, since it or its mark belongs to another user.
    pub passed_over: Option<&'a Path>,
}

/// Finds the project of `here`: the nearest directory above it that has `.git`, otherwise `here` itself.
///
/// On Unix, a directory counts only if it and its `.git` belong to this user, to root, or to the owner of
/// `here`. As root under `sudo`, the user who ran `sudo` counts as well.
pub fn project_of(here: &Path) -> Project<'_> {
    project_marked_by(here, &MARKERS)
}

/// Finds the project of `here` as [`project_of`] does, but by any of `markers` in place of `.git`.
pub fn project_marked_by<'a>(here: &'a Path, markers: &[&str]) -> Project<'a> {
    let mut passed_over = None;
    for root in here.ancestors() {
        let mut marks =
            markers.iter().map(|name| root.join(name)).filter(|mark| mark.exists()).peekable();
        if marks.peek().is_none() {
            continue;
        }
        if owners::may_be_root(root, here) && marks.any(|mark| owners::may_be_mark(&mark, here)) {
            return Project { root, passed_over };
        }
        passed_over = passed_over.or(Some(root));
    }
    Project { root: here, passed_over }
}

/// Tells whether `dir`, above `here`, is read by somebody who works in `here`: its owner is one that
/// [`project_of`] accepts, and not everybody can put files into it.
pub fn is_safe_above(dir: &Path, here: &Path) -> bool {
    owners::may_be_root(dir, here) && !owners::is_writable_by_all(dir)
}

/// Tells whether another user may have put `path` into its directory: everybody can write there, and `path`
/// belongs neither to this user or root, nor to the owner of the directory.
pub fn is_planted(path: &Path) -> bool {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    owners::is_writable_by_all(dir) && path.exists() && !owners::may_be_mark(path, dir)
}

#[cfg(unix)]
mod owners {
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    pub(super) fn may_be_root(root: &Path, here: &Path) -> bool {
        root.metadata().is_ok_and(|metadata| is_trusted_here(metadata.uid(), here))
    }

    /// A mark may be a link, and whoever made the link chose where it leads.
    pub(super) fn may_be_mark(mark: &Path, here: &Path) -> bool {
        mark.symlink_metadata().is_ok_and(|metadata| is_trusted_here(metadata.uid(), here))
    }

    pub(super) fn is_writable_by_all(dir: &Path) -> bool {
        dir.metadata().is_ok_and(|metadata| metadata.mode() & 0o002 != 0)
    }

    fn is_trusted_here(owner: u32, here: &Path) -> bool {
        let here = here.metadata().ok().map(|metadata| metadata.uid());
        let user = rustix::process::geteuid().as_raw();
        let by_sudo = std::env::var("SUDO_UID").ok().and_then(|user| user.parse().ok());
        is_trusted(owner, user, by_sudo, here)
    }

    /// Tells whether what belongs to `owner` counts for `user`, who stands in a directory of the owner
    /// `here`. `by_sudo` is the user who ran `sudo`.
    pub(super) fn is_trusted(
        owner: u32,
        user: u32,
        by_sudo: Option<u32>,
        here: Option<u32>,
    ) -> bool {
        owner == user || owner == 0 || here == Some(owner) || user == 0 && by_sudo == Some(owner)
    }
}

#[cfg(not(unix))]
mod owners {
    use std::path::Path;

    pub(super) fn may_be_root(_: &Path, _: &Path) -> bool {
        true
    }

    pub(super) fn may_be_mark(_: &Path, _: &Path) -> bool {
        true
    }

    pub(super) fn is_writable_by_all(_: &Path) -> bool {
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, create_dir_all, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};

    use super::*;

    #[test]
    fn a_project_belongs_to_the_user_or_root_or_the_owner_of_the_working_directory() {
        for (owner, user, by_sudo, here, is_ours) in [
            (1000, 1000, None, Some(1000), true),
            (0, 1000, None, Some(1000), true),
            (1001, 1000, None, Some(1000), false),
            (1001, 1000, None, None, false),
            (1001, 1000, None, Some(1001), true),
            (1001, 1000, Some(1001), Some(1000), false),
            (1000, 0, None, Some(0), false),
            (1000, 0, None, Some(1000), true),
            (1000, 0, Some(1000), Some(0), true),
            (1001, 0, Some(1000), Some(1000), false),
        ] {
            let found = owners::is_trusted(owner, user, by_sudo, here);
            assert_eq!(found, is_ours, "{owner} {user} {by_sudo:?} {here:?}");
        }
    }

    #[test]
    fn the_nearest_mark_is_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        create_dir_all(path("a/.git")).unwrap();
        create_dir_all(path("a/b/c")).unwrap();
        write(path("a/b/.git"), "gitdir: elsewhere").unwrap();
        for (here, root) in [("a", "a"), ("a/b", "a/b"), ("a/b/c", "a/b")] {
            let here = path(here);
            assert_eq!(project_of(&here), Project { root: &path(root), passed_over: None });
        }
    }

    const OTHER: Option<u32> = Some(54321);

    /// Only root can give files to another user.
    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    #[test]
    fn a_root_that_another_user_planted_is_passed_over() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        create_dir_all(path("mine/.git")).unwrap();
        let here = path("mine/tmp/deep");
        create_dir_all(&here).unwrap();
        let (planted, mark) = (path("mine/tmp"), path("mine/tmp/.git"));
        let found = |here| project_of(here).root.to_owned();
        assert_eq!(found(&here), path("mine"));

        create_dir_all(&mark).unwrap();
        assert_eq!(found(&here), planted);
        chown(&mark, OTHER, None).unwrap();
        let root = &path("mine");
        assert_eq!(project_of(&here), Project { root, passed_over: Some(&planted) });

        std::fs::remove_dir(&mark).unwrap();
        symlink(path("mine/.git"), &mark).unwrap();
        lchown(&mark, OTHER, None).unwrap();
        assert_eq!(found(&here), path("mine"), "a link is its maker's");

        lchown(&mark, Some(0), None).unwrap();
        chown(&planted, OTHER, None).unwrap();
        assert_eq!(found(&here), path("mine"), "the directory is another's");
        // Root stands in a stranger's checkout, as in a container.
        chown(&here, OTHER, None).unwrap();
        assert_eq!(found(&here), planted);
        assert_eq!(found(&planted), planted);
    }

    #[test]
    fn what_another_user_put_where_all_can_write_is_planted() {
        if !is_root() {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        create_dir_all(path("tmp/.agents/skills")).unwrap();
        let (tmp, agents) = (path("tmp"), path("tmp/.agents"));
        for (mode, owner_of_dir, owner, is_planted_there) in [
            (0o1777, 0, 54321, true),
            (0o1777, 0, 0, false),
            (0o777, 54321, 54321, false),
            (0o775, 0, 54321, false),
        ] {
            chown(&tmp, Some(owner_of_dir), None).unwrap();
            chown(&agents, Some(owner), None).unwrap();
            set_permissions(&tmp, Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_planted(&agents), is_planted_there, "{mode:o} {owner_of_dir} {owner}");
            assert_eq!(is_safe_above(&tmp, &path("tmp/x")), mode == 0o775, "{mode:o}");
        }
        assert!(!is_planted(&path("tmp/none")));
    }
}
