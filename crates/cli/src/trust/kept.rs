//! Copies of the texts that were trusted, by which `trust diff` shows what changed in them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use repertoire::trust::{ContentHash, SkillFiles};

/// The maximum size in bytes of a text that is kept to show later what changed.
const MAX_KEPT_BYTES: u64 = 256 << 10;
/// The maximum size in bytes of all texts that are kept of one skill.
const MAX_KEPT_OF_SKILL: u64 = 16 << 20;

/// Copies of the texts that were trusted, named by their hashes, in a directory beside the trust
/// store.
pub(super) struct Kept {
    dir: PathBuf,
}

impl Kept {
    pub(super) fn beside(store: &Path) -> Kept {
        Kept { dir: store.with_extension("texts") }
    }

    /// Keeps copies of the texts of a skill's files.
    pub(super) fn keep_all(&self, skill: &SkillFiles) {
        let mut left = MAX_KEPT_OF_SKILL;
        for path in skill.files().keys().map(|path| skill.dir().join(path)) {
            let metadata = path.symlink_metadata().ok().filter(fs::Metadata::is_file);
            let Some(rest) = metadata.and_then(|file| left.checked_sub(file.len())) else {
                continue;
            };
            left = rest;
            self.keep(&path);
        }
    }

    /// Keeps a copy of the text of a file. Without it, a change is reported by hashes alone.
    pub(super) fn keep(&self, file: &Path) {
        let is_small = file.metadata().is_ok_and(|metadata| metadata.len() <= MAX_KEPT_BYTES);
        let Some(text) = is_small.then(|| fs::read_to_string(file).ok()).flatten() else { return };
        self.keep_text(&text);
    }

    /// Keeps a copy of a text.
    pub(super) fn keep_text(&self, text: &str) {
        let path = self.dir.join(ContentHash::of(text.as_bytes()).as_str());
        let kept = private_dir(&self.dir).and_then(|()| private_file(&path, text));
        if let Err(error) = kept {
            tracing::debug!(path = %path.display(), %error, "a trusted text is not kept");
        }
    }

    /// Returns the text with this hash, if it was kept and still has the hash.
    pub(super) fn text(&self, hash: &ContentHash) -> Option<String> {
        let text = fs::read_to_string(self.dir.join(hash.as_str())).ok()?;
        (ContentHash::of(text.as_bytes()) == *hash).then_some(text)
    }
}

/// Creates a directory that only this user can read: the texts may be of files that others cannot
/// read.
fn private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(dir)
}

/// Writes a file that only this user can read.
fn private_file(path: &Path, text: &str) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}
