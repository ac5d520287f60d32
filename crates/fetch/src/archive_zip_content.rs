//! The content of an entry of a `.zip` archive, compared with the central directory while it is read.

use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use rawzip::Crc32;

enum Data<R> {
    Stored(R),
    Packed(Box<DeflateDecoder<R>>),
}

/// The content of an entry.
pub(super) struct Content<R> {
    data: Data<R>,
    crc: Crc32,
    /// The checksum from the central directory.
    wanted: u32,
    /// The number of bytes that must still follow.
    left: u64,
    n_packed_bytes: u64,
    /// The error that ended reading, if there was one.
    pub(super) failure: Option<io::Error>,
}

impl<R: Read> Content<R> {
    /// Creates the content of an entry from its data. The central directory declares the sizes, packed
    /// and unpacked, and the checksum `wanted`.
    pub(super) fn new(
        data: R,
        is_packed: bool,
        (n_packed_bytes, n_bytes): (u64, u64),
        wanted: u32,
    ) -> Content<R> {
        let data = if is_packed {
            Data::Packed(Box::new(DeflateDecoder::new(data)))
        } else {
            Data::Stored(data)
        };
        Content { data, crc: Crc32::new(), wanted, left: n_bytes, n_packed_bytes, failure: None }
    }

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

impl<R: Read> Read for Content<R> {
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

/// The error for an archive that contradicts itself.
pub(super) fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
