//! Garbage collection: removes stored contents that no lock file pins and that were not used for a long
//! time.
//!
//! Any project on the machine may pin a content. Each list of sources notes the path of its directory
//! next to its copies, so that all lock files can be found. If a lock file elsewhere pins a content that
//! was collected, the content is fetched again when it is needed. The copies from which engines read
//! stay as long as the directory of their list exists. The stored answers of servers are removed by age
//! alone, since they only save a transfer.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use serde::Serialize;

use super::copies::Copies;
use super::fetcher::Fetcher;
use super::lock_file;
use super::objects::{Content, remove_older};
use repertoire::Error;

/// The number and the size of stored contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Kept {
    /// The number of all contents.
    pub files: u64,
    /// The bytes of all contents.
    pub bytes: u64,
    /// The number of contents that no lock file pins and that were not used for the given time.
    pub unused: u64,
    /// The bytes of these unused contents.
    pub unused_bytes: u64,
}

impl Fetcher {
    /// The time without use after which the command line collects a content: 30 days.
    pub const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

    /// Counts all contents in the cache, and those that are unused: not pinned, and not used for `time`.
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

    /// Removes the contents that no lock file pins and that were not used for `time`. Returns the counts
    /// from before. Removes nothing while another process collects or stores contents.
    ///
    /// Also removes stored answers of servers that were not used for `time`, and the copies of sources
    /// that were not checked for updates for that long and whose `config.toml` is gone with its
    /// directory.
    ///
    /// Fails like [`Fetcher::kept`]; in that case nothing is removed.
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
        Copies::collect(&self.installed, time);
        if kept.unused > 0 {
            tracing::info!(
                files = kept.unused,
                bytes = kept.unused_bytes,
                "unused files collected"
            );
        }
        Ok(kept)
    }

    /// The contents pinned by those lock files on this machine whose places are known.
    fn pinned(&self) -> Result<BTreeSet<String>, Error> {
        let mut pinned = BTreeSet::new();
        for copies in Copies::all(&self.installed) {
            let lock = copies.config_dir.join(lock_file::NAME);
            for locked in lock_file::read(&lock)?.into_values() {
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
    // After the clock was set back, nothing counts as old.
    let age = content.used.elapsed().unwrap_or_default();
    age >= time && !pinned.contains(&content.hash)
}
