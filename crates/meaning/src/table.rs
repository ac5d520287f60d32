//! The table: pieces and their rows.

use std::borrow::Cow;
use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::file::{self, MAX_FILE};
use crate::layout::{self, Header, TABLE, filter_bits};

#[cfg(feature = "bundled")]
static BUNDLED_BYTES: &[u8] = include_bytes!("../data/table.bin");
#[cfg(feature = "bundled")]
static BUNDLED: Table = Table {
    bytes: Cow::Borrowed(BUNDLED_BYTES),
    header: match Header::read(BUNDLED_BYTES, BUNDLED_BYTES.len() as u64, TABLE) {
        Ok(header) => header,
        Err(_) => panic!("data/table.bin is not a table"),
    },
};

/// Word pieces, and a row of numbers for each.
///
/// Opening one looks at its header only; the rest is read when a text needs it.
#[derive(Debug, Clone)]
pub struct Table {
    bytes: Cow<'static, [u8]>,
    header: Header,
}

impl Table {
    /// The table in this crate. Its bytes lie in the program, and the system reads the pages that a
    /// text needs; the header was checked when the program was compiled.
    #[cfg(feature = "bundled")]
    pub fn bundled() -> &'static Table {
        &BUNDLED
    }

    /// Opens a table in memory, in the format of this crate, and checks its header. Whatever the rest
    /// holds, no text makes the table panic; [`Table::verify`] tells whether it is as it was written.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotATable`], and [`ErrorKind::Damaged`] if sizes do not fit the bytes.
    pub fn open(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Table, Error> {
        let bytes = bytes.into();
        let header = Header::read(&bytes, bytes.len() as u64, TABLE)?;
        Ok(Table { bytes, header })
    }

    /// Opens the file of a table as [`Table::open`] does.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Io`] if the file cannot be read, and those of [`Table::open`].
    pub fn open_file(path: &Path) -> Result<Table, Error> {
        let bytes = file::read(path, MAX_FILE)?;
        Table::open(bytes).map_err(|error| error.of(path))
    }

    /// Reads the whole table and compares it with its fingerprint, in a few milliseconds.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Damaged`] if a byte is not as it was written.
    pub fn verify(&self) -> Result<(), Error> {
        if layout::fingerprint(&self.bytes) == self.header.fingerprint {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Damaged, "the bytes do not match their fingerprint"))
    }

    /// The file of the table.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A number that is the same for the same table in every process, and differs for others.
    pub fn fingerprint(&self) -> u64 {
        self.header.fingerprint
    }

    /// The number of dimensions of a vector: a multiple of 16, at most 256; also the size of a
    /// [`Compact`](crate::Compact) vector in bytes.
    pub fn dimensions(&self) -> usize {
        self.header.dimensions
    }

    /// The number of pieces.
    pub fn pieces(&self) -> usize {
        self.header.pieces
    }

    /// The name of the table, up to 32 bytes.
    pub fn name(&self) -> &str {
        name(&self.bytes)
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The pieces and the rule by which texts are cut into them.
    pub(crate) fn vocabulary(&self) -> Vocabulary<'_> {
        Vocabulary::new(&self.bytes, &self.header)
    }

    /// The scale and the values of a row; nothing for one that the table does not have.
    pub(crate) fn row(&self, row: u32) -> Option<(f32, &[u8])> {
        if row as usize >= self.header.pieces {
            return None;
        }
        let size = self.header.row_bytes();
        let at = self.header.rows_at + row as usize * size;
        let (scale, values) = self.bytes.get(at..at + size)?.split_first_chunk()?;
        Some((f32::from(u16::from_le_bytes(*scale)), values))
    }
}

/// The name in a header.
pub(crate) fn name(bytes: &[u8]) -> &str {
    let name = bytes.get(96..layout::HEADER).unwrap_or_default();
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    std::str::from_utf8(&name[..end]).unwrap_or_default()
}

/// The hash table of pieces, and the header that says how texts are cut into them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vocabulary<'a> {
    pub(crate) header: &'a Header,
    filter: &'a [[u8; 8]],
    buckets: &'a [[u8; 8]],
    entries: &'a [u8],
}

impl<'a> Vocabulary<'a> {
    /// The vocabulary in a file of which at least the start up to the rows is given.
    pub(crate) fn new(bytes: &'a [u8], header: &'a Header) -> Vocabulary<'a> {
        let section =
            |at: usize, n: usize| bytes.get(at..at + n * 8).unwrap_or_default().as_chunks().0;
        let Header { filter_at, filter_words, buckets_at, buckets, entries_at, .. } = *header;
        Vocabulary {
            header,
            filter: section(filter_at, filter_words),
            buckets: section(buckets_at, buckets + 1),
            entries: bytes.get(entries_at..).unwrap_or_default(),
        }
    }

    /// Returns the row of a piece and its cost, in 1/1024 nat.
    #[inline]
    pub(crate) fn find(&self, hash: u64, flag: bool, piece: &[u8]) -> Option<(u32, u32)> {
        // Of ten strings in a text that are looked up, nine are no piece; this finds out in one read.
        let (word, bits) = filter_bits(hash, self.filter.len());
        if u64::from_le_bytes(*self.filter.get(word)?) & bits != bits {
            return None;
        }
        self.find_in_bucket(hash as usize & (self.buckets.len() - 2), flag, piece)
    }

    fn find_in_bucket(&self, bucket: usize, flag: bool, piece: &[u8]) -> Option<(u32, u32)> {
        // The place of the first entry in the lower half, the number of its row in the upper one.
        let [this, next] = self.buckets.get(bucket..)?.first_chunk()?.map(u64::from_le_bytes);
        let (start, end, mut row) = (this as u32, next as u32, (this >> 32) as u32);
        let mut entries = self.entries.get(start as usize..end as usize)?;
        while let [len, low, high, rest @ ..] = entries {
            let (bytes, others) = rest.split_at_checked(usize::from(*len))?;
            let cost = u16::from_le_bytes([*low, *high]);
            if bytes == piece && (cost & FLAG != 0) == flag {
                return Some((row, u32::from(cost & !FLAG)));
            }
            entries = others;
            row = row.wrapping_add(1);
        }
        None
    }
}

/// The bit of an entry's cost that tells a marked piece from others with the same bytes.
pub(crate) const FLAG: u16 = 0x8000;
