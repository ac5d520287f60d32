//! `path:Class` entries of a manifest, and the library files that they refer to.

use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use repertoire_system::confined::{self, Links};

use crate::error::{Error, ErrorCode, Remedy};
use crate::skill::path_and_class;

/// The class name that marks an entry as an MCP server.
pub(crate) const SERVER: &str = "mcp";

/// The advice for a library that was not built yet.
const BUILD: &str = "build the library from its code for release, and copy it there";

/// An entry of `toolsets`: a library below the skill's directory and a class in it, or an MCP server,
/// such as `tools/server.py:mcp`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolsetEntry {
    /// The path of the library without the prefix and the extension that the system adds, such as
    /// `toolsets/hello`.
    path: String,
    /// The name of the class, such as `HelloToolset`.
    class: String,
}

impl ToolsetEntry {
    /// The path of the library below the skill's directory, as written.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The name of the class.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// Returns true if the entry refers to an MCP server, which is the file at its path, as written.
    pub fn is_server(&self) -> bool {
        self.class == SERVER
    }

    /// The files that the entry may refer to, below the skill's directory; the first that exists is
    /// used. For `toolsets/my-hello`, these are `toolsets/<target>/libmy_hello.so` and
    /// `toolsets/libmy_hello.so`, with the file name that cargo and the system give the library.
    pub fn candidates(&self) -> Vec<PathBuf> {
        if self.is_server() {
            return vec![PathBuf::from(&self.path)];
        }
        let (dir, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let file = format!("{prefix}{}{suffix}", name.replace('-', "_"));
        let target = repertoire_plugin::host::TARGET;
        vec![Path::new(dir).join(target).join(&file), Path::new(dir).join(&file)]
    }

    /// Finds the library below `skill_dir`, without loading it.
    ///
    /// Fails as loading does if the library cannot be opened: with `NOT_FOUND` and the paths that were
    /// tried, or with `PERMISSION_DENIED` if a link leads out of the skill's directory.
    pub fn library(&self, skill_dir: &Path) -> Result<PathBuf, Error> {
        self.open(skill_dir).map(|(path, _)| path)
    }

    /// Opens the library below `skill_dir`.
    ///
    /// Fails with `NOT_FOUND` and the paths that were tried, or with `PERMISSION_DENIED` if a link
    /// leads out of the skill's directory.
    pub(super) fn open(&self, skill_dir: &Path) -> Result<(PathBuf, File), Error> {
        let candidates = self.candidates();
        for candidate in &candidates {
            let path = skill_dir.join(candidate);
            if path.symlink_metadata().is_ok() {
                let file = confined::open(skill_dir, candidate, Links::Inside)
                    .map_err(|error| self.refuse(&path, &error))?;
                return Ok((path, file));
            }
        }
        let tried: Vec<String> =
            candidates.iter().map(|path| skill_dir.join(path).display().to_string()).collect();
        let tried = tried.join(", ");
        let message = if self.is_server() {
            format!("the MCP server `{tried}` is not there")
        } else {
            format!("the toolset `{}` has no library; tried {tried}", self.path)
        };
        let error = Error::new(ErrorCode::NotFound, message, self.naming_help(skill_dir));
        let is_unbuilt = error.help() == BUILD;
        let build = || Remedy::BuildToolset(skill_dir.to_owned());
        Err(if is_unbuilt { error.with_remedy(build()) } else { error })
    }

    /// The help for a library that is missing: suggests another name if one seems to be meant.
    fn naming_help(&self, skill_dir: &Path) -> String {
        if self.is_server() {
            return "write the path of the program in the skill's directory, with its ending"
                .to_owned();
        }
        let (dir, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let file = |name: &str| Path::new(dir).join(name);
        let stem = [".so", ".dylib", ".dll"].iter().find_map(|end| name.strip_suffix(end));
        if let Some(stem) = stem {
            let entry = file(stem.strip_prefix("lib").unwrap_or(stem));
            let (entry, class) = (entry.display(), &self.class);
            return format!(
                "write the entry as `{entry}:{class}`: `{prefix}` and `{suffix}` are added to it"
            );
        }
        let wanted = format!("{prefix}{}{suffix}", name.replace('-', "_"));
        let others = [
            format!("{name}{suffix}"),
            format!("{prefix}{name}{suffix}"),
            format!("{}{suffix}", name.replace('-', "_")),
        ];
        let found = others.iter().find(|other| skill_dir.join(file(other)).is_file());
        match found {
            Some(found) => format!("rename `{}` to `{wanted}`", file(found).display()),
            None => BUILD.to_owned(),
        }
    }

    fn refuse(&self, path: &Path, error: &std::io::Error) -> Error {
        let message = format!("toolset `{self}`: cannot open {}: {error}", path.display());
        let (code, help) = match error.kind() {
            ErrorKind::NotFound => (ErrorCode::NotFound, "fix the link, or copy the library"),
            ErrorKind::IsADirectory => (ErrorCode::ExecutionError, "check the name of the library"),
            _ => (
                ErrorCode::PermissionDenied,
                "keep the library inside the skill's directory, without links that leave it",
            ),
        };
        Error::new(code, message, help)
    }
}

impl fmt::Display for ToolsetEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.class)
    }
}

impl FromStr for ToolsetEntry {
    type Err = Error;

    fn from_str(text: &str) -> Result<ToolsetEntry, Error> {
        let (path, class) = path_and_class(text).map_err(|why| {
            Error::new(
                ErrorCode::InvalidParam,
                format!("toolset `{text}` is not a `path:Class`: {why}"),
                "write it as in `toolsets/hello:HelloToolset`, relative to the skill's directory",
            )
        })?;
        Ok(ToolsetEntry { path: path.to_owned(), class: class.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_strictly() {
        let entry: ToolsetEntry = "toolsets/my-hello:Hello_2".parse().unwrap();
        assert_eq!((entry.path(), entry.class()), ("toolsets/my-hello", "Hello_2"));
        for text in [
            "", ":", "hello", "hello:", ":Hello", "hello:2x", "hello:a-b", "/abs/hello:H",
            "../hello:H", "a/../b:H", "./a:H", "a//b:H", "a/:H", "a\\b:H", "c:/x:H", "a\0:H",
            "a/./b:H",
        ] {
            let error = text.parse::<ToolsetEntry>().expect_err(text);
            assert_eq!(error.code(), ErrorCode::InvalidParam);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_library_of_the_target_wins_and_what_was_tried_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let entry: ToolsetEntry = "toolsets/my-hello:Hello".parse().unwrap();
        let error = entry.open(dir.path()).unwrap_err();
        let target = repertoire_plugin::host::TARGET;
        for tried in [format!("toolsets/{target}/libmy_hello.so"), "toolsets/libmy_hello.so".into()]
        {
            assert!(error.message().contains(&tried), "{error}");
        }
        std::fs::create_dir_all(dir.path().join("toolsets").join(target)).unwrap();
        let plain = dir.path().join("toolsets/libmy_hello.so");
        std::fs::write(&plain, "x").unwrap();
        assert_eq!(entry.open(dir.path()).unwrap().0, plain);
        let special = dir.path().join("toolsets").join(target).join("libmy_hello.so");
        std::fs::write(&special, "x").unwrap();
        assert_eq!(entry.open(dir.path()).unwrap().0, special);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_of_another_name_is_hinted_at() {
        for (entry, file, hint) in [
            (
                "toolsets/libhello.so:X",
                "libhello.so",
                "write the entry as `toolsets/hello:X`: `lib`",
            ),
            ("toolsets/hello.dll:X", "none", "write the entry as `toolsets/hello:X`: `lib`"),
            (
                "toolsets/my-hello:X",
                "libmy-hello.so",
                "rename `toolsets/libmy-hello.so` to `libmy_hello.so`",
            ),
            (
                "toolsets/my-hello:X",
                "my_hello.so",
                "rename `toolsets/my_hello.so` to `libmy_hello.so`",
            ),
            ("toolsets/libx:X", "none", BUILD),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir(dir.path().join("toolsets")).unwrap();
            std::fs::write(dir.path().join("toolsets").join(file), "").unwrap();
            let error = entry.parse::<ToolsetEntry>().unwrap().open(dir.path()).unwrap_err();
            assert!(error.help().starts_with(hint), "{error:#}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn renames_elsewhere_do_not_disturb_a_link_inside() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = format!("{}x{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        std::fs::create_dir(dir.path().join("t")).unwrap();
        std::fs::write(dir.path().join("real"), "x").unwrap();
        std::os::unix::fs::symlink("../real", dir.path().join("t").join(&name)).unwrap();
        let entry: ToolsetEntry = "t/x:X".parse().unwrap();
        let done = AtomicBool::new(false);
        let [a, b] = ["a", "b"].map(|name| elsewhere.path().join(name));
        std::fs::write(&a, "").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::fs::rename(&a, &b).unwrap();
                    std::fs::rename(&b, &a).unwrap();
                }
            });
            let opened: Vec<_> = (0..2000).map(|_| entry.open(dir.path()).err()).collect();
            done.store(true, Ordering::Relaxed);
            assert!(opened.iter().all(Option::is_none), "{opened:?}");
        });
    }

    #[cfg(unix)]
    #[test]
    fn links_that_leave_the_skill_are_refused() {
        use std::os::unix::fs::symlink;
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = format!("{}x{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        std::fs::write(outside.path().join(&name), "x").unwrap();
        let entry: ToolsetEntry = "t/x:X".parse().unwrap();
        symlink(outside.path(), dir.path().join("t")).unwrap();
        assert_eq!(entry.open(dir.path()).unwrap_err().code(), ErrorCode::PermissionDenied);
        std::fs::remove_file(dir.path().join("t")).unwrap();
        std::fs::create_dir(dir.path().join("t")).unwrap();
        symlink(outside.path().join(&name), dir.path().join("t").join(&name)).unwrap();
        assert_eq!(entry.open(dir.path()).unwrap_err().code(), ErrorCode::PermissionDenied);
        std::fs::remove_file(dir.path().join("t").join(&name)).unwrap();
        std::fs::write(dir.path().join("real"), "x").unwrap();
        symlink("../real", dir.path().join("t").join(&name)).unwrap();
        assert!(entry.open(dir.path()).is_ok(), "links inside are followed");
    }
}
