//! The entries of `.zip` archives, in the order of their directory.
//!
//! A zip says the same things twice: in the directory at its end, and before the data of each entry. Programs that
//! believe different ones see different files, so an archive that contradicts itself is refused, as are entries that
//! share bytes. Nothing is believed that the data does not show: sizes and checksums are compared while it is read.

use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, Crc32, ErrorKind, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, ReaderAt,
    ZipArchive, ZipArchiveEntryWayfinder, ZipFileHeaderRecord, ZipLocator, ZipReader,
};

use super::archive_file::{ArchiveFile, Visit};
use super::limits::{Deadline, refused, too_large};
use super::provider::TreeKind;
use crate::error::{Error, ErrorCode};

/// The longest target of a link, in bytes.
const MAX_TARGET: u64 = 4096;

/// The bits of a Unix mode that tell the type of a file.
const TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// Calls `visit` with all entries but directories. Fails with the error of `visit`, with
/// `PERMISSION_DENIED` for an entry that is refused, and with `INVALID_PARAM` if the archive is damaged
/// or larger than a limit.
pub(super) fn walk(archive: &ArchiveFile, visit: &mut Visit<'_>) -> Result<(), Error> {
    let zip = Zip::open(archive)?;
    for entry in zip.entries()? {
        let mut content = zip.content(&entry)?;
        let result = if entry.mode & TYPE == LINK {
            let mut target = Vec::new();
            let read = (&mut content).take(MAX_TARGET + 1).read_to_end(&mut target);
            match read {
                Ok(n_bytes) if n_bytes as u64 > MAX_TARGET => {
                    return Err(refused(&archive.source, &entry.path, "is a link without a path"));
                }
                Ok(_) => {
                    let target = String::from_utf8_lossy(&target).into_owned();
                    visit(&entry.path, TreeKind::Link { target }, &mut io::empty())
                }
                Err(error) => Err(archive.failed(&error)),
            }
        } else {
            let executable = entry.mode & 0o100 != 0;
            visit(&entry.path, TreeKind::File { bytes: entry.n_bytes, executable }, &mut content)
        };
        match content.failure {
            Some(error) => return Err(archive.failed(&error)),
            None => result?,
        }
    }
    Ok(())
}

/// A file that is read until the deadline.
struct Bounded {
    file: FileReader,
    deadline: Deadline,
}

impl ReaderAt for Bounded {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if self.deadline.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read_at(buffer, offset)
    }
}

/// An entry that is not a directory.
struct Entry {
    path: String,
    mode: u32,
    is_packed: bool,
    n_bytes: u64,
    n_packed_bytes: u64,
    crc: u32,
    wayfinder: ZipArchiveEntryWayfinder,
}

/// The bytes of the archive that belong to an entry, and its path.
type Extent = (u64, u64, String);

/// An archive whose end was found.
struct Zip<'a> {
    archive: &'a ArchiveFile,
    zip: ZipArchive<Bounded>,
}

impl<'a> Zip<'a> {
    fn open(archive: &'a ArchiveFile) -> Result<Zip<'a>, Error> {
        let file = archive.open()?;
        let n_bytes = file.metadata().map_err(|error| archive.failed(&error))?.len();
        let reader = Bounded { file: file.into(), deadline: archive.deadline };
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let zip = ZipLocator::new().locate_in_reader(reader, &mut buffer, n_bytes);
        let zip = zip.map_err(|(_, error)| archive.failed(&io_error(error)))?;
        if zip.end_offset() != n_bytes {
            return Err(archive.failed(&invalid("it goes on behind its end")));
        }
        Ok(Zip { archive, zip })
    }

    /// Reads the directory, and compares it with what stands before each entry.
    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let archive = self.archive;
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let mut local_buffer = vec![0; 2 * usize::from(u16::MAX)];
        let (mut entries, mut extents) = (Vec::new(), Vec::new());
        let (mut n_records, mut n_bytes) = (0u64, 0u64);
        let mut records = self.zip.entries(&mut buffer);
        let failed = |error: rawzip::Error| archive.failed(&io_error(error));
        while let Some(record) = records.next_entry().map_err(failed)? {
            n_records += 1;
            if n_records > archive.limits.entries as u64 {
                return Err(too_large(&archive.source, "entries", archive.limits.entries as u64));
            }
            let path = self.path(&record)?;
            extents.push(self.extent(&record, &path, &mut local_buffer)?);
            let Some(entry) = self.entry(&record, path)? else { continue };
            n_bytes = n_bytes.saturating_add(entry.n_bytes);
            if n_bytes > archive.limits.transfer_bytes {
                return Err(archive.unpacks_too_large());
            }
            entries.push(entry);
        }
        if n_records != self.zip.entries_hint() {
            return Err(archive.failed(&invalid("it does not have as many entries as it says")));
        }
        self.check_extents(extents)?;
        Ok(entries)
    }

    fn path(&self, record: &ZipFileHeaderRecord<'_>) -> Result<String, Error> {
        let Ok(path) = String::from_utf8(record.file_path().as_bytes().to_vec()) else {
            return Err(self.refused("…", "has a name that is not UTF-8"));
        };
        // Some programs take it for a `/`.
        if path.contains('\\') {
            return Err(self.refused(&path, "has a backslash in its name"));
        }
        Ok(path)
    }

    /// Reads what the directory says of an entry; `None` if that is a directory.
    fn entry(
        &self,
        record: &ZipFileHeaderRecord<'_>,
        path: String,
    ) -> Result<Option<Entry>, Error> {
        let flags = record.flags();
        if flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked() {
            return Err(self.refused(&path, "is encrypted"));
        }
        let is_packed = match record.compression_method() {
            CompressionMethod::STORE => false,
            CompressionMethod::DEFLATE => true,
            _ => return Err(self.unreadable(&path)),
        };
        let (n_bytes, n_packed_bytes) =
            (record.uncompressed_size_hint(), record.compressed_size_hint());
        if !is_packed && n_bytes != n_packed_bytes {
            return Err(self.refused(&path, "has two sizes"));
        }
        let mode = record.mode().value();
        // Many writers give a directory the mode of a file.
        if record.is_dir() || mode & TYPE == DIRECTORY {
            return match n_bytes {
                0 => Ok(None),
                _ => Err(self.refused(&path, "is a directory with a content")),
            };
        }
        match mode & TYPE {
            // Systems without modes.
            0 | REGULAR | LINK => {}
            _ => return Err(self.refused(&path, "is a device, a pipe or unknown")),
        }
        let (crc, wayfinder) = (record.crc32(), record.wayfinder());
        Ok(Some(Entry { path, mode, is_packed, n_bytes, n_packed_bytes, crc, wayfinder }))
    }

    /// Compares what stands before an entry with the directory, and finds the end of its data.
    fn extent(
        &self,
        record: &ZipFileHeaderRecord<'_>,
        path: &str,
        buffer: &mut [u8],
    ) -> Result<Extent, Error> {
        let failed = |error: rawzip::Error| self.archive.failed(&io_error(error));
        let found = self.zip.get_entry(record.wayfinder()).map_err(failed)?;
        let local = found.local_header(buffer).map_err(failed)?;
        if local.file_path().as_bytes() != path.as_bytes() {
            return Err(self.refused(path, "has another name before its data"));
        }
        // With a descriptor, sizes and checksum follow the data, which show them anyway.
        let differs = local.compression_method() != record.compression_method()
            || local.flags().is_encrypted() != record.flags().is_encrypted()
            || (!local.flags().has_data_descriptor()
                && (local.crc32(), local.compressed_size_hint(), local.uncompressed_size_hint())
                    != (
                        record.crc32(),
                        record.compressed_size_hint(),
                        record.uncompressed_size_hint(),
                    ));
        if differs {
            return Err(self.refused(path, "is described in two ways"));
        }
        let (_, end) = found.compressed_data_range();
        Ok((record.local_header_offset(), end, path.to_owned()))
    }

    /// Checks that no byte belongs to two entries, or to one and the directory.
    fn check_extents(&self, mut extents: Vec<Extent>) -> Result<(), Error> {
        extents.sort_unstable();
        let starts = extents.iter().skip(1).map(|(start, _, _)| *start);
        let starts = starts.chain([self.zip.directory_offset()]);
        for ((_, end, path), next) in extents.iter().zip(starts) {
            if *end > next {
                return Err(self.refused(path, "shares bytes with what follows it"));
            }
        }
        Ok(())
    }

    fn content(&self, entry: &Entry) -> Result<Content<'_>, Error> {
        let found = self.zip.get_entry(entry.wayfinder);
        let found = found.map_err(|error| self.archive.failed(&io_error(error)))?;
        let data = found.reader();
        let data = if entry.is_packed {
            Data::Packed(Box::new(DeflateDecoder::new(data)))
        } else {
            Data::Stored(data)
        };
        let (left, n_packed_bytes) = (entry.n_bytes, entry.n_packed_bytes);
        Ok(Content {
            data,
            crc: Crc32::new(),
            wanted: entry.crc,
            left,
            n_packed_bytes,
            failure: None,
        })
    }

    /// The error of an entry that is packed in a way that hardly anything writes.
    fn unreadable(&self, path: &str) -> Error {
        let path = path.escape_debug();
        let message = format!("`{path}` of {} is not packed by Deflate", self.archive.source);
        Error::new(ErrorCode::InvalidParam, message, "pack it by Deflate, or not at all")
    }

    fn refused(&self, path: &str, why: &str) -> Error {
        refused(&self.archive.source, path, why)
    }
}

enum Data<'a> {
    Stored(ZipReader<&'a Bounded>),
    Packed(Box<DeflateDecoder<ZipReader<&'a Bounded>>>),
}

/// The content of an entry, which is compared with what the directory says of it.
struct Content<'a> {
    data: Data<'a>,
    crc: Crc32,
    /// The checksum that it must have.
    wanted: u32,
    /// The bytes that it must still have.
    left: u64,
    n_packed_bytes: u64,
    /// The reason why it could not be read.
    failure: Option<io::Error>,
}

impl Content<'_> {
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = match &mut self.data {
            Data::Stored(data) => data.read(buffer)?,
            Data::Packed(data) => data.read(buffer)?,
        };
        self.left = self
            .left
            .checked_sub(n as u64)
            .ok_or_else(|| invalid("a file is longer than it says"))?;
        self.crc.update(&buffer[..n]);
        if n > 0 {
            return Ok(n);
        }
        if self.left > 0 {
            return Err(invalid("a file is shorter than it says"));
        }
        if self.crc.checksum() != self.wanted {
            return Err(invalid("a file does not have its checksum"));
        }
        match &self.data {
            Data::Packed(data) if data.total_in() != self.n_packed_bytes => {
                Err(invalid("a file has bytes behind its end"))
            }
            _ => Ok(0),
        }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.step(buffer).map_err(|error| {
            let told = io::Error::new(error.kind(), error.to_string());
            self.failure = Some(error);
            told
        })
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn io_error(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::IO(error) => error,
        kind => io::Error::new(io::ErrorKind::InvalidData, kind.to_string()),
    }
}
