//! Writes zip archives byte by byte, so that they can lie.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// An entry: its record in the central directory, and the local header before its data.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) name: Vec<u8>,
    /// The name in the local header.
    pub(crate) local_name: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    /// The method in the local header.
    pub(crate) local_method: u16,
    pub(crate) crc: u32,
    pub(crate) n_bytes: u32,
    pub(crate) n_packed_bytes: u32,
    /// The checksum and the sizes in the local header.
    pub(crate) local: (u32, u32, u32),
    /// The Unix mode.
    pub(crate) mode: u32,
    /// Additional fields of the central directory, each with its id and length.
    pub(crate) extra: Vec<u8>,
    /// Additional fields of the local header.
    pub(crate) local_extra: Vec<u8>,
    /// The bytes after the data.
    pub(crate) behind: Vec<u8>,
    /// False if the central directory does not list the entry.
    pub(crate) is_listed: bool,
    /// The offset in the central directory, if it differs from the real one.
    pub(crate) offset: Option<u32>,
    pub(crate) data: Vec<u8>,
}

impl Part {
    /// Creates a file that is stored without compression.
    pub(crate) fn stored(name: &str, content: impl AsRef<[u8]>) -> Part {
        let content = content.as_ref();
        let (crc, n_bytes) = (rawzip::crc32(content), u32::try_from(content.len()).unwrap());
        Part {
            name: name.into(),
            local_name: name.into(),
            flags: 0,
            method: 0,
            local_method: 0,
            crc,
            n_bytes,
            n_packed_bytes: n_bytes,
            local: (crc, n_bytes, n_bytes),
            mode: 0o100_644,
            extra: Vec::new(),
            local_extra: Vec::new(),
            behind: Vec::new(),
            is_listed: true,
            offset: None,
            data: content.to_owned(),
        }
    }

    /// Creates a file that is compressed with Deflate.
    pub(crate) fn packed(name: &str, content: impl AsRef<[u8]>) -> Part {
        let mut part = Part::stored(name, &content);
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content.as_ref()).unwrap();
        part.data = encoder.finish().unwrap();
        part.n_packed_bytes = u32::try_from(part.data.len()).unwrap();
        part.local = (part.crc, part.n_packed_bytes, part.n_bytes);
        (part.method, part.local_method) = (8, 8);
        part
    }

    /// Sets the Unix mode.
    pub(crate) fn mode(mut self, mode: u32) -> Part {
        self.mode = mode;
        self
    }

    /// Moves the checksum and the sizes to this descriptor, after the data.
    pub(crate) fn streamed(mut self, descriptor: impl Into<Vec<u8>>) -> Part {
        (self.flags, self.local) = (1 << 3, (0, 0, 0));
        self.behind = descriptor.into();
        self
    }

    /// Returns the entry's descriptor, with sizes of four or eight bytes.
    pub(crate) fn descriptor(&self, is_wide: bool) -> Vec<u8> {
        let sizes = [self.n_packed_bytes, self.n_bytes];
        let sizes = sizes.map(|size| u64::from(size).to_le_bytes());
        let sizes = sizes.map(|size| size[..if is_wide { 8 } else { 4 }].to_owned());
        [self.crc.to_le_bytes().to_vec(), sizes.concat()].concat()
    }

    /// Returns the entry after a change.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Part)) -> Part {
        change(&mut self);
        self
    }
}

/// Writes an archive whose end record claims `n_entries`.
pub(crate) fn zip_of(parts: &[Part], n_entries: usize) -> Vec<u8> {
    zip_with(parts, n_entries, b"")
}

/// Writes such an archive with additional bytes between its directory and its end record.
pub(crate) fn zip_with(parts: &[Part], n_entries: usize, behind: &[u8]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for part in parts {
        let offset = part.offset.unwrap_or(u32::try_from(bytes.len()).unwrap());
        let (crc, n_packed_bytes, n_bytes) = part.local;
        put(&mut bytes, b"PK\x03\x04");
        put_all(&mut bytes, &[20, part.flags, part.local_method, 0, 0x21]);
        put_wide(&mut bytes, &[crc, n_packed_bytes, n_bytes]);
        put_all(&mut bytes, &[length(&part.local_name), length(&part.local_extra)]);
        for more in [&part.local_name, &part.local_extra, &part.data, &part.behind] {
            put(&mut bytes, more);
        }
        if !part.is_listed {
            continue;
        }

        put(&mut directory, b"PK\x01\x02");
        put_all(&mut directory, &[0x0314, 20, part.flags, part.method, 0, 0x21]);
        put_wide(&mut directory, &[part.crc, part.n_packed_bytes, part.n_bytes]);
        put_all(&mut directory, &[length(&part.name), length(&part.extra), 0, 0, 0]);
        put_wide(&mut directory, &[part.mode << 16, offset]);
        put(&mut directory, &part.name);
        put(&mut directory, &part.extra);
    }
    let (n_entries, start) = (u16::try_from(n_entries).unwrap(), bytes.len());
    put(&mut directory, behind);
    let n_bytes = directory.len();
    put(&mut bytes, &directory);
    put(&mut bytes, b"PK\x05\x06");
    put_all(&mut bytes, &[0, 0, n_entries, n_entries]);
    put_wide(&mut bytes, &[n_bytes, start].map(|number| u32::try_from(number).unwrap()));
    put_all(&mut bytes, &[0]);
    bytes
}

/// Writes an archive whose end record gives the true number of entries.
pub(crate) fn zip(parts: &[Part]) -> Vec<u8> {
    zip_of(parts, parts.iter().filter(|part| part.is_listed).count())
}

fn put(bytes: &mut Vec<u8>, more: &[u8]) {
    bytes.extend_from_slice(more);
}

fn put_all(bytes: &mut Vec<u8>, numbers: &[u16]) {
    for number in numbers {
        put(bytes, &number.to_le_bytes());
    }
}

fn put_wide(bytes: &mut Vec<u8>, numbers: &[u32]) {
    for number in numbers {
        put(bytes, &number.to_le_bytes());
    }
}

fn length(bytes: &[u8]) -> u16 {
    u16::try_from(bytes.len()).unwrap()
}
