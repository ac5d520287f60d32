//! Hashes of contents, by which code is trusted.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::io_error;
use super::open::open_file;
use crate::error::{Error, ErrorCode};

/// The size of the buffer for hashing a file, in bytes.
const READ_BYTES: usize = 64 * 1024;

/// The maximum size of a file that can be trusted, in bytes. Code is smaller, and hashing a huge sparse
/// file could take hours.
const MAX_TRUSTED_BYTES: u64 = 1 << 30;

/// The SHA-256 of a content, as `sha256sum` prints it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of `content`.
    pub fn of(content: &[u8]) -> ContentHash {
        ContentHash::finished(Sha256::new_with_prefix(content))
    }

    /// The hash of the rest of `content`, which is never in memory as a whole.
    pub fn of_reader(mut content: impl Read) -> io::Result<ContentHash> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match content.read(&mut buffer) {
                Ok(0) => return Ok(ContentHash::finished(hash)),
                Ok(n_bytes) => hash.update(&buffer[..n_bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The hash of the file at `path`, of at most 1 GiB.
    ///
    /// Fails with `NOT_FOUND`, `PERMISSION_DENIED` or `EXECUTION_ERROR` if it cannot be read, and with
    /// `INVALID_PARAM` if it is not a file or is larger.
    pub fn of_file(path: &Path) -> Result<ContentHash, Error> {
        let file = open_file(path)?;
        let n_bytes = file.metadata().map_err(|error| io_error("read", path, error))?.len();
        if n_bytes > MAX_TRUSTED_BYTES {
            let message = format!(
                "{} has {n_bytes} bytes; at most {MAX_TRUSTED_BYTES} can be trusted",
                path.display()
            );
            return Err(Error::new(ErrorCode::InvalidParam, message, "name a library or a script"));
        }
        ContentHash::of_reader(file.take(MAX_TRUSTED_BYTES))
            .map_err(|error| io_error("read", path, error))
    }

    /// The hash of everything that `hash` was given.
    pub fn finished(hash: Sha256) -> ContentHash {
        ContentHash(HEXLOWER.encode(&hash.finalize()))
    }

    /// The hash in 64 lower-case hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_read_part_by_part_has_the_hash_of_the_whole() {
        for n_bytes in [0, 1, READ_BYTES - 1, READ_BYTES, 3 * READ_BYTES + 7] {
            let content: Vec<u8> = (0..n_bytes).map(|i| (i % 251) as u8).collect();
            let hash = ContentHash::of_reader(&*content).unwrap();
            assert_eq!(hash, ContentHash::of(&content), "{n_bytes} bytes");
        }
        let error = fs::File::open(std::env::temp_dir()).and_then(ContentHash::of_reader);
        assert!(error.is_err(), "a directory");
    }

    #[test]
    fn hashes_are_those_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ContentHash::of(b"").as_str(), empty);
    }
}
