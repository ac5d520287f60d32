//! The skills of the fleet, which change while agents use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The skills. The text of each contains its version.
pub(crate) const SKILLS: [&str; 3] = ["deploy", "review", "release"];

/// The versions of all skills. A version begins before its files are written, and ends after the files
/// of the next one have been written.
pub(crate) struct Versions {
    dir: TempDir,
    known: Mutex<Vec<Version>>,
}

struct Version {
    begun: Instant,
    over: Option<Instant>,
}

impl Versions {
    /// Writes the first version.
    pub(crate) fn new() -> Versions {
        let versions = Versions { dir: TempDir::new().unwrap(), known: Mutex::default() };
        versions.update();
        versions
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the number of the newest version, from 1.
    pub(crate) fn newest(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Writes the next version, replacing each file atomically.
    pub(crate) fn update(&self) {
        let number = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.push(Version { begun: Instant::now(), over: None });
            known.len()
        };
        for skill in SKILLS {
            let dir: PathBuf = self.dir().join(skill);
            fs::create_dir_all(&dir).unwrap();
            let text = format!(
                "---\nname: {skill}\ndescription: Does a {skill}.\n---\nThis is version {number}.\n"
            );
            fs::write(dir.join("new"), text).unwrap();
            fs::rename(dir.join("new"), dir.join("SKILL.md")).unwrap();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if number > 1 {
            known[number - 2].over = Some(Instant::now());
        }
    }

    /// Returns for how long a version had been replaced when a request was sent. Asserts that the
    /// version had begun before the answer came.
    pub(crate) fn behind(&self, number: usize, sent: Instant, answered: Instant) -> Duration {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = &known[number - 1];
        assert!(version.begun <= answered, "version {number} before its time");
        version.over.map_or(Duration::ZERO, |over| sent.saturating_duration_since(over))
    }
}
