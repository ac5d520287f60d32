//! Git repositories that the tests create, and servers for them on the loopback interface.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::binary::Place;
use crate::ports::free_port;

/// A git repository in a directory of its own.
pub(crate) struct Repository {
    dir: TempDir,
}

impl Repository {
    /// Creates an empty repository with the branch `main`.
    pub(crate) fn new() -> Repository {
        let repository = Repository { dir: TempDir::new().unwrap() };
        fs::create_dir(repository.path()).unwrap();
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Creates a repository with one skill, `deploy`, which has a script.
    pub(crate) fn with_deploy() -> Repository {
        let repository = Repository::new();
        repository.skill("skills/deploy", "deploy", "Deploy it with care.\n");
        repository.write("skills/deploy/scripts/go.sh", "echo gone\n");
        repository.commit();
        repository
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    /// Returns the repository's `file://` URL.
    pub(crate) fn url(&self) -> String {
        format!("file://{}", self.path().display())
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a skill that has its name as its keyword.
    pub(crate) fn skill(&self, dir: &str, name: &str, body: &str) {
        self.write(&format!("{dir}/SKILL.md"), &skill(name, "", body));
    }

    /// Commits all files, and returns the hash of the commit.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "change"]);
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.path())
            .envs(["AUTHOR", "COMMITTER"].iter().flat_map(|who| {
                [(format!("GIT_{who}_NAME"), "test"), (format!("GIT_{who}_EMAIL"), "t@example.org")]
            }))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns the text of a skill file, with additional lines of front matter.
pub(crate) fn skill(name: &str, fields: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\ntriggers: [{name}]\n{fields}---\n{body}")
}

/// Copies a directory and everything in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A `git daemon` on the loopback interface, which ends on drop.
pub(crate) struct Daemon {
    child: Child,
    port: u16,
}

impl Daemon {
    /// Serves all repositories below `base`.
    pub(crate) fn start(base: &Path) -> Daemon {
        let port = free_port();
        // Start the program directly: as a child of `git`, it would go on running when `git` is killed.
        let programs = Command::new("git").arg("--exec-path").output().unwrap().stdout;
        let programs = PathBuf::from(String::from_utf8(programs).unwrap().trim());
        let child = Command::new(programs.join("git-daemon"))
            .args(["--listen=127.0.0.1", &format!("--port={port}"), "--export-all"])
            .arg(format!("--base-path={}", base.display()))
            .arg(base)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < end, "the daemon does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Daemon { child, port }
    }

    /// Ends the daemon, and listens in its place without ever answering.
    pub(crate) fn into_silent(self) -> TcpListener {
        let port = self.port;
        drop(self);
        TcpListener::bind(("127.0.0.1", port)).unwrap()
    }

    pub(crate) fn url(&self, repository: &str) -> String {
        format!("git://127.0.0.1:{}/{repository}", self.port)
    }

    /// Returns a repository's address as if it were on another machine; the user's git at `place` finds
    /// it on this machine. Projects must not name addresses of this machine.
    pub(crate) fn remote_url(&self, place: &Place, repository: &str) -> String {
        let here = self.url("");
        place.write("home/.gitconfig", format!("[url \"{here}\"]\n\tinsteadOf = git://h.org/\n"));
        format!("git://h.org/{repository}")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
