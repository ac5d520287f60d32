//! The files of an interpreter, which code that reads little of the user's may read nevertheless.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Returns `found` or, if that is a script, the next interpreter of its name on the `PATH` that is not.
/// Version managers install scripts (shims) that start programs in places that the sandbox closes.
pub fn not_a_script(found: PathBuf, path: &OsStr) -> PathBuf {
    let is_script = |path: &Path| {
        let mut head = [0; 2];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && head == *b"#!"
    };
    if !is_script(&found) {
        return found;
    }
    let name = found.file_name().unwrap_or_default();
    let others = which::which_in_all(name, Some(path), "/").into_iter().flatten();
    others.into_iter().find(|other| !is_script(other)).unwrap_or(found)
}

/// The files that an interpreter reads: the directory of the path by which it was found, and that of the file
/// behind its links; for a directory `bin`, its parent. A directory that holds `home` is never used, nor a hidden one
/// in it, such as `~/.local`, `~/.cargo` and `~/.docker`, where programs keep data of all kinds and credentials: the
/// one below it is or, if there is none, the interpreter alone.
///
/// An interpreter whose directory is not on the `PATH` was named by the author of the code, who would choose by it what
/// is read: unless it looks like an installation, the interpreter alone is.
pub fn installation(interpreter: &Path, path: &OsStr, home: Option<&Path>) -> Vec<PathBuf> {
    let is_of_user = interpreter.parent().is_some_and(|dir| {
        std::env::split_paths(path).any(|known| known == dir || real(&known) == real(dir))
    });
    let is_open = |dir: &Path| {
        let is_chosen = is_of_user || is_installation(dir);
        is_chosen && !holds_home(dir, home) && !is_hidden_in(dir, home)
    };
    let names = [Some(interpreter.to_owned()), interpreter.canonicalize().ok()];
    let mut found = Vec::new();
    for name in names.iter().flatten() {
        let Some(dir) = name.parent() else { continue };
        let is_bin = dir.file_name() == Some(OsStr::new("bin"));
        let above = dir.parent().filter(|above| is_bin && is_open(above));
        let own = if is_open(dir) { dir } else { name };
        found.push(above.unwrap_or(own).to_owned());
    }
    found.dedup();
    found
}

/// Tells whether `dir` has the form of an installed language: its libraries are beside its programs, and nobody works
/// there.
fn is_installation(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).exists();
    has("bin") && (has("lib") || has("pyvenv.cfg")) && !has(".git")
}

/// Tells whether `dir` is a hidden directory of the user's home itself.
fn is_hidden_in(dir: &Path, home: Option<&Path>) -> bool {
    let dir = real(dir);
    let is_hidden = dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    is_hidden && home.is_some_and(|home| dir.parent() == Some(&*real(home)))
}

/// Tells whether `dir` is the root, the user's home, or a directory above it, whatever links lead there. Such a
/// directory is never opened unasked.
pub fn holds_home(dir: &Path, home: Option<&Path>) -> bool {
    let dir = real(dir);
    dir.parent().is_none() || home.is_some_and(|home| real(home).starts_with(&dir))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_installation_never_holds_the_home() {
        let world = tempfile::tempdir().unwrap();
        let world = world.path().canonicalize().unwrap();
        let home = world.join("users/ana");
        let of = |path: &str| {
            let path = world.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let linked = world.join("link");
        std::os::unix::fs::symlink(&home, &linked).ok();
        // The interpreter, and what is read of it.
        for (interpreter, expected) in [
            ("users/ana/.pyenv/versions/3/bin/python3", "users/ana/.pyenv/versions/3"),
            ("users/ana/bin/python3", "users/ana/bin"),
            ("users/ana/python3", "users/ana/python3"),
            ("users/ana/.local/bin/python3", "users/ana/.local/bin"),
            ("users/ana/.local/python3", "users/ana/.local/python3"),
            ("users/ana/.local/python/python3", "users/ana/.local/python"),
            ("users/ana/.cargo/bin/cargo", "users/ana/.cargo/bin"),
            ("users/ana/.docker/docker", "users/ana/.docker/docker"),
            ("users/bin/python3", "users/bin"),
            ("users/python3", "users/python3"),
            ("bin/python3", "bin"),
            ("opt/python/bin/python3", "opt/python"),
        ] {
            let interpreter = of(interpreter);
            let path = interpreter.parent().unwrap().as_os_str();
            for home in [&home, &linked] {
                assert_eq!(installation(&interpreter, path, Some(home)), [world.join(expected)]);
            }
        }
        let by_link = linked.join("python3");
        let alone = [by_link.clone(), home.join("python3")];
        assert_eq!(installation(&by_link, linked.as_os_str(), Some(&home)), alone);
        let root = Path::new("/no-such-interpreter");
        assert_eq!(installation(root, OsStr::new("/"), None), [root]);
    }

    #[test]
    fn an_interpreter_that_an_author_names_opens_no_directory_of_their_choice() {
        let world = tempfile::tempdir().unwrap();
        let world = world.path().canonicalize().unwrap();
        let home = world.join("ana");
        let write = |path: &str| {
            let path = home.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        for path in ["work/bin/run", "work/sh", "app/bin/run", "app/lib/x", "app/.git/config"] {
            write(path);
        }
        for path in
            ["venv/bin/python", "venv/pyvenv.cfg", ".uv/python/bin/python", ".uv/python/lib/x"]
        {
            write(path);
        }
        let linked = home.join("letters/sh");
        write("letters/secret");
        std::os::unix::fs::symlink("/bin/sh", &linked).unwrap();
        let elsewhere = OsStr::new("/usr/bin:/bin");
        for (interpreter, expected) in [
            ("work/sh", "work/sh"),
            ("work/bin/run", "work/bin/run"),
            ("app/bin/run", "app/bin/run"),
            ("venv/bin/python", "venv"),
            (".uv/python/bin/python", ".uv/python"),
        ] {
            let found = installation(&home.join(interpreter), elsewhere, Some(&home));
            assert_eq!(found, [home.join(expected)], "{interpreter}");
        }
        let found = installation(&linked, elsewhere, Some(&home));
        assert!(
            found.iter().all(|open| !home.join("letters/secret").starts_with(open)),
            "{found:?}"
        );
    }
}
