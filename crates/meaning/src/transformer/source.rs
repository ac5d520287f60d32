//! The bytes of a transformer: a file that is read by and by, or memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, ErrorKind};
use crate::file::{self, MAX_FILE};

/// The bytes of a transformer.
pub(super) struct Source {
    len: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    File(Mutex<File>),
}

fn failed(error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, error.to_string())
}

impl Source {
    pub(super) fn memory(bytes: Vec<u8>) -> Source {
        Source { len: bytes.len() as u64, place: Place::Memory(bytes) }
    }

    pub(super) fn file(path: &Path) -> Result<Source, Error> {
        let (file, len) = file::open(path)?;
        if len > MAX_FILE {
            return Err(Error::new(ErrorKind::Unsupported, "larger than 1 GiB").of(path));
        }
        Ok(Source { len, place: Place::File(Mutex::new(file)) })
    }

    /// The number of bytes when it was opened.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads bytes at a place, as many as there are up to `len`.
    pub(super) fn read(&self, at: usize, len: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        match &self.place {
            Place::Memory(all) => {
                let rest = all.get(at..).unwrap_or_default();
                bytes.extend_from_slice(&rest[..len.min(rest.len())]);
            }
            Place::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let left = self.len.saturating_sub(at as u64).min(len as u64);
                bytes.reserve_exact(left as usize);
                let read = file.seek(SeekFrom::Start(at as u64));
                let read = read.and_then(|_| file.by_ref().take(left).read_to_end(&mut bytes));
                read.map_err(|error| failed(&error))?;
            }
        }
        Ok(bytes)
    }

    /// Reads all of `out` at a place; `None` if that fails.
    pub(super) fn read_exact(&self, at: usize, out: &mut [u8]) -> Option<()> {
        match &self.place {
            Place::Memory(all) => out.copy_from_slice(all.get(at..at.checked_add(out.len())?)?),
            Place::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(at as u64)).ok()?;
                file.read_exact(out).ok()?;
            }
        }
        Some(())
    }
}
