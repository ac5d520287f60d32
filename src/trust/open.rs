//! Opens files that may be links or pipes, or belong to other users.

use std::fs;
use std::io;
use std::path::Path;

use repertoire_system::open_options::{without_waiting, without_waiting_or_links};

use super::io_error;
use crate::error::{Error, ErrorCode};

/// Opens the file that is locked while a store is written. Another user may have put a file or a link at
/// this path, so the content is kept, and a link is not followed.
pub(super) fn open_lock(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    without_waiting_or_links(&mut options).open(path)
}

/// Opens a regular file for reading. Refuses anything else, without waiting for the writer of a named
/// pipe.
pub fn open_file(path: &Path) -> Result<fs::File, Error> {
    let file = without_waiting(fs::OpenOptions::new().read(true))
        .open(path)
        .map_err(|error| io_error("read", path, error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(file);
    }
    let message = format!("{} is not a file", path.display());
    Err(Error::new(ErrorCode::InvalidParam, message, "name a file"))
}
