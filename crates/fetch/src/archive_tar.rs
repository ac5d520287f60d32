//! The entries of `.tar` and `.tar.gz` archives, in the order of the archive.

use std::io::{self, BufReader, Read, Write};

use flate2::read::MultiGzDecoder;
use tar::{Archive as Tar, EntryType};

use super::archive_file::{Archive, EntryCallback};
use super::limits::{Deadline, refused};
use super::provider::TreeKind;
use repertoire::Error;

/// Calls `visit` with all entries but directories. Fails with the error of `visit`, with
/// `PERMISSION_DENIED` for an entry that is refused, and with `INVALID_PARAM` if the archive is damaged
/// or larger than a limit.
pub(super) fn walk(archive: &Archive, visit: &mut EntryCallback<'_>) -> Result<(), Error> {
    let source = archive.source.as_str();
    let failed = |error: io::Error| archive.failed(&error);
    let file = BufReader::new(archive.open_file()?);
    let is_plain = archive.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("tar"));
    let inner: Box<dyn Read> =
        if is_plain { Box::new(file) } else { Box::new(MultiGzDecoder::new(file)) };
    let (left, deadline) = (archive.limits.transfer_bytes, archive.deadline.clone());
    let mut tar = Tar::new(Bounded { inner, left, deadline, n_zeros: 0 });
    for entry in tar.entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let path = entry.path_bytes().into_owned();
        let Ok(path) = String::from_utf8(path) else {
            return Err(refused(source, "…", "has a name that is not UTF-8"));
        };
        let kind = match entry.header().entry_type() {
            EntryType::Directory | EntryType::XGlobalHeader => continue,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                let mode = entry.header().mode().unwrap_or(0);
                TreeKind::File { bytes: entry.size(), executable: mode & 0o100 != 0 }
            }
            EntryType::Symlink => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                TreeKind::Link { target: String::from_utf8_lossy(&target).into_owned() }
            }
            EntryType::Link => return Err(refused(source, &path, "is a hard link")),
            _ => return Err(refused(source, &path, "is a device, a pipe or of an unknown type")),
        };
        visit(&path, kind, &mut entry)?;
    }
    let mut rest = tar.into_inner();
    // The checksum of a compressed archive is behind its last entry. Other programs may find entries behind the end,
    // which nobody who looked at this archive has seen.
    io::copy(&mut rest, &mut OnlyZeros).map_err(failed)?;
    if rest.n_zeros < END_BYTES {
        return Err(failed(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(())
}

/// The number of zeros at the end of an archive. Without them, an archive that was cut between two entries
/// would look whole.
const END_BYTES: u64 = 1024;

/// A writer that takes zeros alone.
struct OnlyZeros;

impl Write for OnlyZeros {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(io::Error::other("it has something behind its end"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A reader that fails once the size limit or the deadline is reached.
struct Bounded<R> {
    inner: R,
    left: u64,
    deadline: Deadline,
    /// The number of zeros at the end of what was read.
    n_zeros: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let n = self.inner.read(buffer)?;
        let n_zeros = buffer[..n].iter().rev().take_while(|byte| **byte == 0).count();
        self.n_zeros = n_zeros as u64 + if n_zeros == n { self.n_zeros } else { 0 };
        self.left = match self.left.checked_sub(n as u64) {
            Some(left) => left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        };
        Ok(n)
    }
}
