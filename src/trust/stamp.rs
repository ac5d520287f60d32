//! What tells a file that was written anew from one that was not, without reading it.

use std::fs::Metadata;
use std::time::SystemTime;

/// Size, time and number of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Stamp { len: metadata.len(), modified: metadata.modified().ok(), inode }
    }
}
