//! Garbage collection: kept contents that no lock file pins, and that were not used for long.
//!
//! Any project on the machine may pin a content. Each list of sources leaves the path of its
//! directory beside its copies, by which all lock files are found. A content that is collected
//! although a lock file that is elsewhere pins it is fetched again when it is needed. The copies from
//! which skills are read stay as long as the directory of their list does. Answers of servers that
//! nobody asked again go by their age alone: they save a transfer, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde::Serialize;

use super::copies::Copies;
use super::fetcher::Fetcher;
use super::lock_file;
use super::objects::{Content, remove_older};
use crate::error::Error;

/// The number and the size of kept contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Kept {
    /// The number of all contents.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The number of those that no lock file pins, and that were not used for the time that was
    /// asked for.
    pub unused: u64,
    /// Their bytes.
    pub unused_bytes: u64,
}

impl Fetcher {
    /// The time without use after which the command line collects a content: 30 days.
    pub const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// Counts the contents in the cache, and those that were not used for `time`.
    ///
    /// Fails with `INVALID_PARAM` if a lock file that may pin contents is damaged.
    pub fn kept(&self, time: Duration) -> Result<Kept, Error> {
        let pinned = self.pinned()?;
        let mut kept = Kept::default();
        for content in self.objects.contents() {
            kept.count(&content, is_unused(&content, &pinned, time));
        }
        Ok(kept)
    }

    /// Removes the contents that no lock file pins, and that were not used for `time`; returns the
    /// counts from before. While another process collects or keeps contents, nothing is removed.
    ///
    /// With them go noted answers of servers that were not used for `time`, and copies of sources that
    /// were not asked for something newer for so long, and whose `config.toml` is gone with its directory.
    ///
    /// Fails as [`Fetcher::kept`]; then nothing is removed.
    pub fn collect(&self, time: Duration) -> Result<Kept, Error> {
        let Some(_guard) = self.objects.lock_to_collect() else { return Ok(Kept::default()) };
        let pinned = self.pinned()?;
        let mut kept = Kept::default();
        for content in self.objects.contents() {
            let unused = is_unused(&content, &pinned, time);
            let removed = unused && fs::remove_file(&content.path).is_ok();
            kept.count(&content, removed);
        }
        remove_older(&self.answers(), "", time);
        Copies::collect(self.cache(), time);
        if kept.unused > 0 {
            tracing::info!(
                files = kept.unused,
                bytes = kept.unused_bytes,
                "unused files collected"
            );
        }
        Ok(kept)
    }

    /// The contents that the lock files of this machine pin, as far as their places are known.
    fn pinned(&self) -> Result<BTreeSet<String>, Error> {
        let mut pinned = BTreeSet::new();
        for dir in Copies::config_dirs(self.cache()) {
            for locked in lock_file::read(&dir.join(lock_file::NAME))?.into_values() {
                let files = locked.files.into_values();
                pinned.extend(files.map(|file| file.sha256.to_string()));
            }
        }
        Ok(pinned)
    }
}

impl Kept {
    fn count(&mut self, content: &Content, unused: bool) {
        self.files += 1;
        self.bytes += content.n_bytes;
        if unused {
            self.unused += 1;
            self.unused_bytes += content.n_bytes;
        }
    }
}

fn is_unused(content: &Content, pinned: &BTreeSet<String>, time: Duration) -> bool {
    // A clock that was set back makes nothing old.
    let age = content.used.elapsed().unwrap_or_default();
    age >= time && !pinned.contains(&content.hash)
}
