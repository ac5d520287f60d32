//! The files that a script may read: all of them for scripts of the user's own skills; for scripts of projects,
//! those of its skill, of the workspace and of its interpreter, and those that the skill asks for.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use repertoire_system::process::{holds_home, installation};

use super::ScriptOptions;
use super::run::Reads;

/// Hidden directories of the user's home that programs share, or that hold keys. Even if one of them is under version
/// control, it is not a project.
const SHARED: [&str; 10] = [
    ".ssh", ".aws", ".gnupg", ".config", ".local", ".cache", ".kube", ".docker", ".azure",
    ".password-store",
];
/// The entries that mark a directory as a project.
const MARKERS: [&str; 3] = [".git", ".hg", ".jj"];

/// Settings and facts of the system that interpreters and common programs read. Keys and passwords of the
/// system are not among them: root could read these.
const SYSTEM: [&str; 19] = [
    "/proc",
    "/opt",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/mime.types",
    "/etc/gitconfig",
    "/etc/inputrc",
    "/etc/bash.bashrc",
    "/etc/terminfo",
    "/etc/fonts",
    "/etc/perl",
    "/etc/java",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/etc/ca-certificates",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

impl ScriptOptions {
    /// The directory of the project, which scripts of projects read: the one that is set, or the one in which
    /// this program works. A directory that holds the user's home is not a project, nor is one that programs keep
    /// settings and keys in, such as `~/.aws`.
    fn workspace(&self) -> Option<PathBuf> {
        let dir = self.workspace.clone().or_else(|| std::env::current_dir().ok())?;
        let dir = std::path::absolute(dir).ok()?;
        let dir = dir.canonicalize().unwrap_or(dir);
        let home = self.home().or_else(std::env::home_dir);
        let is_closed = home.as_deref().is_some_and(|home| is_private(&dir, home));
        (!is_closed && !holds_home(&dir, home.as_deref())).then_some(dir)
    }

    fn home(&self) -> Option<PathBuf> {
        let home = PathBuf::from(self.environment.var("HOME")?);
        Some(home.canonicalize().unwrap_or(home))
    }

    /// Tells whether one of these paths is in the user's home, or holds it.
    pub(super) fn are_at_home(&self, paths: &[String]) -> bool {
        let Some(home) = self.home() else { return false };
        let is_there = |path: &String| Path::new(path).starts_with(&home) || home.starts_with(path);
        paths.iter().any(is_there)
    }

    /// The files of a script of a project. `own` is the copy of its skill, `program` what runs it, and `asked`
    /// what the skill asked for and the user allowed.
    pub(super) fn reads_of_project(
        &self,
        own: PathBuf,
        program: &Path,
        search_path: &OsStr,
        asked: Vec<String>,
    ) -> Reads {
        let mut run = vec![own];
        run.extend(self.workspace());
        let home = self.home();
        let home = home.as_deref();
        run.extend(installation(program, search_path, home));
        run.extend(std::env::split_paths(search_path).filter(|dir| !holds_home(dir, home)));
        let mut read: Vec<PathBuf> = SYSTEM.map(PathBuf::from).to_vec();
        read.extend(settings_of_python());
        read.extend(asked.into_iter().map(PathBuf::from));
        Reads::Only { read, run, but: self.hidden.clone() }
    }
}

/// Tells whether `dir` is a hidden directory of the user's home, or in one, and belongs to no project there.
fn is_private(dir: &Path, home: &Path) -> bool {
    let Ok(below) = dir.strip_prefix(home) else { return false };
    let Some(Component::Normal(name)) = below.components().next() else { return false };
    if !name.as_encoded_bytes().starts_with(b".") {
        return false;
    }
    let top = home.join(name);
    let is_shared = SHARED.iter().any(|shared| name.eq_ignore_ascii_case(shared));
    let projects = dir.ancestors().take_while(|dir| dir.starts_with(&top));
    let mut projects = projects.filter(|dir| !is_shared || *dir != top);
    !projects.any(|dir| MARKERS.iter().any(|marker| dir.join(marker).exists()))
}

/// The directories with settings of Python, which Debian names by version and links to from its library.
fn settings_of_python() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
    let is_python =
        |entry: &std::fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"python");
    entries.filter(is_python).map(|entry| entry.path())
}
