//! Nothing outside of a skill is read or copied through it, whatever path is requested, whatever is
//! planted in the skill, and whatever is swapped during the read.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../support/escapes.rs"]
mod escapes;
mod paths;
#[cfg(unix)]
mod planted;
#[cfg(unix)]
mod races;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use repertoire::activation::{
    Content, MountLimits, Mounted, ReadOptions, Resource, mount, read_resource,
};
use repertoire::{Error, ErrorCode};
use walkdir::WalkDir;

/// The content of every file that must not be read.
const CANARY: &str = "canary 7f3d1c, never to be seen";

/// The content of the files that may be read.
const INSIDE: &str = "inside the skill";

/// A skill `review` in a source, surrounded by files that it must not reach.
struct Fixture {
    temp: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture { temp: tempfile::tempdir().unwrap() };
        for file in [
            "canary.txt",
            "outside/canary.txt",
            "outside/one.md",
            "outside/references/one.md",
            "skills/canary.txt",
            "skills/review-two/canary.txt",
            "skills/other/SKILL.md",
            "skills/review/sub/SKILL.md",
            "skills/review/sub/canary.txt",
            "skills/review/group/sub/skill.md",
            "skills/review/group/sub/deep/canary.txt",
            "skills/review/.git/config",
        ] {
            fixture.write(file, CANARY);
        }
        for file in [
            "SKILL.md", "references/one.md", "references/two.md", "a/b/c/deep.md", "..almost/...",
            "~/home.md", "%2e%2e/100%.md", ".env.example", "group/own.md", "ünïcode/使用.md",
        ] {
            fixture.write(&format!("skills/review/{file}"), INSIDE);
        }
        fixture.write("tasks/.keep", "");
        fixture
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.temp.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn outside(&self) -> PathBuf {
        self.temp.path().join("outside")
    }

    fn skill(&self) -> PathBuf {
        self.temp.path().join("skills/review")
    }

    fn tasks(&self) -> PathBuf {
        self.temp.path().join("tasks")
    }

    fn read(&self, path: &str) -> Result<Resource, Error> {
        read_resource("review", &self.skill(), path, &ReadOptions::default())
    }

    fn mount(&self) -> Result<Mounted, Error> {
        mount("review", &self.skill(), &self.tasks(), &MountLimits::default())
    }
}

/// Returns the result of `work`. Aborts the test if `work` blocks for ever.
fn without_waiting<T: Send>(what: &str, work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || sender.send(work()));
        receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| {
            // A panic would wait for the blocked thread at the end of the scope, so abort.
            let _ = writeln!(std::io::stderr(), "{what} hangs");
            std::process::abort()
        })
    })
}

/// Returns the error of reading `path`. Asserts that the error names the file and the skill, and
/// reveals nothing else.
fn refusal(fixture: &Fixture, path: &str) -> Error {
    let read = without_waiting(path, || fixture.read(path));
    let error = read.expect_err(path);
    let name: String = path.chars().take(100).flat_map(char::escape_debug).collect();
    assert!(error.message().starts_with(&format!("file `{name}")), "{error}");
    assert!(error.message().contains("of skill `review`"), "{error}");
    assert!(!error.help().is_empty(), "{error}");
    assert!(!format!("{error:#} {error:?}").contains(CANARY), "{error:#}");
    error
}

fn text(resource: &Resource) -> &str {
    match &resource.content {
        Content::Text { text, .. } => text,
        Content::Base64(content) => content,
    }
}

/// Asserts that no part of a mount is foreign or could lead out of it.
fn assert_sealed(copy: &Path) {
    for entry in WalkDir::new(copy) {
        let entry = entry.unwrap();
        let kind = entry.file_type();
        assert!(kind.is_file() || kind.is_dir(), "{}", entry.path().display());
        if kind.is_file() {
            let content = fs::read(entry.path()).unwrap();
            assert_eq!(content, INSIDE.as_bytes(), "{}", entry.path().display());
        }
    }
}

#[test]
fn what_belongs_to_the_skill_is_read_and_copied() {
    let fixture = Fixture::new();
    for path in [
        "references/one.md", "./references/./one.md", "references//one.md", "a/b/c/deep.md",
        "~/home.md", "%2e%2e/100%.md", "group/own.md", "ünïcode/使用.md",
    ] {
        let resource = fixture.read(path).unwrap_or_else(|error| panic!("{error:#}"));
        assert_eq!((text(&resource), resource.size), (INSIDE, INSIDE.len() as u64), "{path}");
        let listed = fixture.skill().join(&resource.path);
        assert!(listed.is_file(), "{path} is answered as {}", resource.path);
    }
    let mounted = fixture.mount().unwrap();
    assert_sealed(&mounted.dir);
    assert_eq!(mounted.files, 10);
    assert!(mounted.dir.join("a/b/c/deep.md").is_file());
}
