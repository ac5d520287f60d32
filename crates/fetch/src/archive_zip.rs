//! The entries of `.zip` archives, in the order of the central directory.
//!
//! A zip describes each entry twice: in the central directory at its end, and in a local header before
//! the data. Programs that trust different descriptions see different files. So an archive is refused if
//! it contradicts itself, if entries share bytes, or if bytes belong to no entry. Sizes and checksums
//! are not trusted either: they are compared with the data while it is read.

use std::io::{self, Read};

use rawzip::extra_fields::ExtraFieldId;
use rawzip::{
    CompressionMethod, ErrorKind, FileReader, MAX_CENTRAL_DIRECTORY_RECORD_SIZE, RangeReader,
    ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipFileHeaderRecord, ZipLocator, ZipReader,
};

use super::archive_file::{Archive, EntryCallback};
use super::archive_zip_content::{Content, invalid};
use super::limits::{Deadline, refused, too_large};
use super::provider::TreeKind;
use repertoire::{Error, ErrorCode};

/// The longest target of a link, in bytes.
const MAX_TARGET: u64 = 4096;

/// The size of a record of the central directory before its name, in bytes.
const RECORD_BYTES: usize = 46;

/// The size of the two zip64 records between the central directory and the end record, in bytes.
const ZIP64_BYTES: u64 = 56 + 20;

/// The longest possible data descriptor, with a signature and 64-bit sizes, in bytes.
const MAX_DESCRIPTOR: u64 = 24;

/// The bits of a Unix mode that tell the type of a file.
const TYPE: u32 = 0o170_000;
const DIRECTORY: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// Calls `visit` with all entries but directories. Fails with the error of `visit`, with
/// `PERMISSION_DENIED` for an entry that is refused, and with `INVALID_PARAM` if the archive is damaged
/// or larger than a limit.
pub(super) fn walk(archive: &Archive, visit: &mut EntryCallback<'_>) -> Result<(), Error> {
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

/// A file whose reads fail once the deadline is over.
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

/// The bytes of the archive that belong to an entry.
struct Extent {
    path: String,
    start: u64,
    /// The end of the data of the entry.
    end: u64,
    /// The checksum and the sizes, packed and unpacked, that the following data descriptor must have;
    /// `None` if no descriptor follows.
    descriptor: Option<(u32, u64, u64)>,
}

/// An archive whose end was found.
struct Zip<'a> {
    archive: &'a Archive,
    zip: ZipArchive<Bounded>,
}

impl<'a> Zip<'a> {
    fn open(archive: &'a Archive) -> Result<Zip<'a>, Error> {
        let file = archive.open_file()?;
        let n_bytes = file.metadata().map_err(|error| archive.failed(&error))?.len();
        let reader = Bounded { file: file.into(), deadline: archive.deadline.clone() };
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let zip = ZipLocator::new().locate_in_reader(reader, &mut buffer, n_bytes);
        let zip = zip.map_err(|(_, error)| archive.failed(&io_error(error)))?;
        if zip.end_offset() != n_bytes {
            return Err(archive.failed(&invalid("it goes on behind its end")));
        }
        Ok(Zip { archive, zip })
    }

    /// Reads the central directory, and compares it with the local header of each entry.
    fn entries(&self) -> Result<Vec<Entry>, Error> {
        let archive = self.archive;
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let mut local_buffer = vec![0; 2 * usize::from(u16::MAX)];
        let (mut entries, mut extents) = (Vec::new(), Vec::new());
        let (mut n_records, mut n_bytes) = (0u64, 0u64);
        let mut end = self.zip.directory_offset();
        let mut records = self.zip.entries(&mut buffer);
        let failed = |error: rawzip::Error| archive.failed(&io_error(error));
        while let Some(record) = records.next_entry().map_err(failed)? {
            n_records += 1;
            if n_records > archive.limits.entries as u64 {
                return Err(too_large(&archive.source, "entries", archive.limits.entries as u64));
            }
            end = end_of(&record);
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
        self.check_end(end)?;
        self.check_extents(extents)?;
        Ok(entries)
    }

    /// Checks that the central directory ends where the end record, or the zip64 records before it, begin.
    /// Otherwise readers would ignore what lies between, such as a digital signature with any content.
    fn check_end(&self, end: u64) -> Result<(), Error> {
        let n_bytes = self.zip.eocd_offset().checked_sub(end);
        // `rawzip` has read the zip64 record, or the directory would not have ended here.
        let is_zip64 = || self.bytes(end, 4).map(|start| start == b"PK\x06\x06");
        if n_bytes == Some(0) || (n_bytes == Some(ZIP64_BYTES) && is_zip64()?) {
            return Ok(());
        }
        Err(self.archive.failed(&invalid("it has bytes behind its directory")))
    }

    fn bytes(&self, start: u64, n_bytes: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let read = RangeReader::new(self.zip.get_ref(), start..start.saturating_add(n_bytes))
            .read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| self.archive.failed(&error))
    }

    fn path(&self, record: &ZipFileHeaderRecord<'_>) -> Result<String, Error> {
        let Ok(path) = String::from_utf8(record.file_path().as_bytes().to_vec()) else {
            return Err(self.refused("…", "has a name that is not UTF-8"));
        };
        // Some programs read a backslash as `/`.
        if path.contains('\\') {
            return Err(self.refused(&path, "has a backslash in its name"));
        }
        Ok(path)
    }

    /// Reads the record of an entry in the central directory. Returns `None` for a directory.
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
            // Systems without modes write 0.
            0 | REGULAR | LINK => {}
            _ => return Err(self.refused(&path, "is a device, a pipe or of an unknown type")),
        }
        let (crc, wayfinder) = (record.crc32(), record.wayfinder());
        Ok(Some(Entry { path, mode, is_packed, n_bytes, n_packed_bytes, crc, wayfinder }))
    }

    /// Compares the local header of an entry with the central directory, and finds the end of the data.
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
        let mut fields = record.extra_fields().chain(local.extra_fields());
        let is_other_name = |(id, field): (ExtraFieldId, &[u8])| {
            // The name follows a version byte and a checksum of four bytes.
            id == ExtraFieldId::INFO_ZIP_UNICODE_PATH && field.get(5..) != Some(path.as_bytes())
        };
        if fields.any(is_other_name) {
            return Err(self.refused(path, "has another name in an extra field"));
        }
        let sizes =
            (record.crc32(), record.compressed_size_hint(), record.uncompressed_size_hint());
        // With a data descriptor, the checksum and the sizes may be zero here and follow the data.
        let is_streamed = local.flags().has_data_descriptor();
        let fits = |here: u64, there: u64| here == there || (is_streamed && here == 0);
        let is_same = local.compression_method() == record.compression_method()
            && local.flags().is_encrypted() == record.flags().is_encrypted()
            && is_streamed == record.flags().has_data_descriptor()
            && fits(local.crc32().into(), sizes.0.into())
            && fits(local.compressed_size_hint(), sizes.1)
            && fits(local.uncompressed_size_hint(), sizes.2);
        if !is_same {
            return Err(self.refused(path, "is described in two ways"));
        }
        let (_, end) = found.compressed_data_range();
        let (start, path) = (record.local_header_offset(), path.to_owned());
        Ok(Extent { path, start, end, descriptor: is_streamed.then_some(sizes) })
    }

    /// Checks that no byte belongs to two entries, or to an entry and the directory, and that every byte
    /// belongs to one: a program that reads from the front would find hidden entries in the gaps.
    fn check_extents(&self, mut extents: Vec<Extent>) -> Result<(), Error> {
        extents.sort_unstable_by_key(|extent| (extent.start, extent.end));
        let starts = extents.iter().map(|extent| extent.start);
        let mut starts = starts.chain([self.zip.directory_offset()]);
        if starts.next() != Some(0) {
            let first = extents.first().map_or("…", |extent| &extent.path);
            return Err(self.refused(first, "follows bytes of no entry"));
        }
        for (extent, next) in extents.iter().zip(starts) {
            let Some(n_bytes) = next.checked_sub(extent.end) else {
                return Err(self.refused(&extent.path, "shares bytes with what follows it"));
            };
            match extent.descriptor {
                None if n_bytes > 0 => {
                    return Err(self.refused(&extent.path, "is followed by bytes of no entry"));
                }
                Some(sizes) if !self.is_descriptor(extent.end, n_bytes, sizes)? => {
                    return Err(self.refused(&extent.path, "has another descriptor"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Tells whether these bytes are a data descriptor with this checksum and these sizes. The sizes may
    /// have four or eight bytes, and a signature may come first.
    fn is_descriptor(
        &self,
        start: u64,
        n_bytes: u64,
        (crc, n_packed, n_unpacked): (u32, u64, u64),
    ) -> Result<bool, Error> {
        let found = self.bytes(start, n_bytes.min(MAX_DESCRIPTOR + 1))?;
        let [packed, unpacked] = [n_packed, n_unpacked].map(u64::to_le_bytes);
        let wide = [&crc.to_le_bytes()[..], &packed, &unpacked].concat();
        let narrow = [&crc.to_le_bytes()[..], &packed[..4], &unpacked[..4]].concat();
        let is_narrow = u32::try_from(n_packed.max(n_unpacked)).is_ok();
        let bare = found.strip_prefix(b"PK\x07\x08").unwrap_or(&found);
        let is_it = |found: &[u8]| found == wide || (is_narrow && found == narrow);
        Ok(is_it(&found) || is_it(bare))
    }

    fn content(&self, entry: &Entry) -> Result<Content<ZipReader<&Bounded>>, Error> {
        let found = self.zip.get_entry(entry.wayfinder);
        let found = found.map_err(|error| self.archive.failed(&io_error(error)))?;
        let Entry { is_packed, n_bytes, n_packed_bytes, crc, .. } = *entry;
        Ok(Content::new(found.reader(), is_packed, (n_packed_bytes, n_bytes), crc))
    }

    /// The error for an entry with a compression method that hardly any program writes.
    fn unreadable(&self, path: &str) -> Error {
        let path = path.escape_debug();
        let message = format!("`{path}` of {} is not packed by Deflate", self.archive.source);
        Error::new(ErrorCode::InvalidParam, message, "pack it by Deflate, or not at all")
    }

    fn refused(&self, path: &str, why: &str) -> Error {
        refused(&self.archive.source, path, why)
    }
}

/// The offset in the archive at which a record of the central directory ends.
fn end_of(record: &ZipFileHeaderRecord<'_>) -> u64 {
    let names = record.file_path().as_bytes().len() + record.comment().as_bytes().len();
    let n_bytes = RECORD_BYTES + names + record.extra_fields().remaining_bytes().len();
    record.central_directory_offset().saturating_add(n_bytes as u64)
}

fn io_error(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        ErrorKind::IO(error) => error,
        kind => io::Error::new(io::ErrorKind::InvalidData, kind.to_string()),
    }
}
