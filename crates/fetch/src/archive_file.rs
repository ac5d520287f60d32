//! The file of an archive, and the limits under which it is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use super::directory::unreadable;
use super::limits::{Deadline, FetchLimits, too_large};
use super::provider::TreeKind;
use repertoire::{Error, ErrorCode};

/// A callback that receives entries: the path, the kind and the content of each.
pub(super) type EntryCallback<'v> =
    dyn FnMut(&str, TreeKind, &mut dyn Read) -> Result<(), Error> + 'v;

/// An archive of skills.
#[derive(Clone)]
pub(super) struct Archive {
    pub(super) path: PathBuf,
    /// The address for error messages: a path, or the address that the archive was downloaded from.
    pub(super) source: String,
    /// The SHA-256 that the archive must have, if one is given.
    pub(super) sha256: Option<String>,
    pub(super) limits: FetchLimits,
    pub(super) deadline: Deadline,
}

impl Archive {
    pub(super) fn open_file(&self) -> Result<File, Error> {
        File::open(&self.path).map_err(|error| unreadable(&self.path, &error))
    }

    /// The error for an archive that cannot be read to its end.
    pub(super) fn failed(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::FileTooLarge => self.unpacks_too_large(),
            io::ErrorKind::TimedOut => self.deadline.error(&self.source),
            _ => {
                let message = format!("{} is not a whole archive: {error}", self.source);
                Error::new(ErrorCode::InvalidParam, message, "get it again")
            }
        }
    }

    /// The error for an archive with more content than may be unpacked.
    pub(super) fn unpacks_too_large(&self) -> Error {
        too_large(&self.source, "bytes unpacked", self.limits.transfer_bytes)
    }
}
