//! Files that others may have put in place of a model.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// The largest file of a model, in bytes.
pub(crate) const MAX_FILE: u64 = 1 << 30;

/// Opens a regular file, and returns it with its size.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Error> {
    let failed = |error: std::io::Error| Error::new(ErrorKind::Io, error.to_string()).of(path);
    // Opening a pipe would wait for somebody who writes to it.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(Error::new(ErrorKind::Io, "not a regular file").of(path));
    }
    let file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((file, size))
}

/// Tells whether a file begins with these bytes.
pub(crate) fn begins_with(path: &Path, start: [u8; 8]) -> Result<bool, Error> {
    let (file, _) = open(path)?;
    let mut bytes = Vec::new();
    let read = file.take(start.len() as u64).read_to_end(&mut bytes);
    read.map_err(|error| Error::new(ErrorKind::Io, error.to_string()).of(path))?;
    Ok(bytes == start)
}

/// Reads a file of at most so many bytes as a whole.
pub(crate) fn read(path: &Path, max: u64) -> Result<Vec<u8>, Error> {
    let (file, size) = open(path)?;
    if size > max {
        let message = format!("larger than {} MiB", max >> 20);
        return Err(Error::new(ErrorKind::Unsupported, message).of(path));
    }
    let mut bytes = Vec::with_capacity(size as usize);
    let read = file.take(max).read_to_end(&mut bytes);
    read.map_err(|error| Error::new(ErrorKind::Io, error.to_string()).of(path))?;
    Ok(bytes)
}
