//! The file of a snapshot: an eight-byte magic number, a checksum of everything after it, the version
//! that wrote it, the key, and the content.
//!
//! The checksum guards against accidents, such as a torn or damaged file. Permissions guard against
//! attacks: a file is read only if it belongs to the user and no other user may write it.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use repertoire_system::open_options::without_waiting;

use super::UNFINISHED;

const MAGIC: &[u8; 8] = b"RPRTSNAP";
/// The number after the plus sign is that of the content's format. Increase it whenever the format
/// changes.
pub(super) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+23");
/// The maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The reason why a file cannot be used as a snapshot.
#[derive(Debug)]
pub(super) enum Unfit {
    Missing,
    OtherVersion,
    /// The file is not a snapshot of this user, or is not as it was written.
    Foreign(&'static str),
    Unreadable(io::Error),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Missing => f.write_str("it is gone"),
            Unfit::OtherVersion => f.write_str("another version wrote it"),
            Unfit::Foreign(why) => f.write_str(why),
            Unfit::Unreadable(error) => write!(f, "it cannot be read: {error}"),
        }
    }
}

/// The parts of a file whose checksum is correct.
pub(super) struct Parts<'a> {
    pub(super) key: &'a [u8],
    pub(super) content: &'a [u8],
}

/// Reads the file at `path`. Returns its bytes, and the time when it was written or last used.
pub(super) fn read(path: &Path) -> Result<(Vec<u8>, SystemTime), Unfit> {
    let mut file = match without_waiting(OpenOptions::new().read(true)).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unfit::Missing),
        file => file.map_err(Unfit::Unreadable)?,
    };
    let metadata = file.metadata().map_err(Unfit::Unreadable)?;
    if !metadata.is_file() {
        return Err(Unfit::Foreign("it is not a file"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o022 != 0 {
            return Err(Unfit::Foreign("another user can write it"));
        }
    }
    if metadata.len() > MAX_BYTES {
        return Err(Unfit::Foreign("it is larger than any snapshot"));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    let read = (&mut file).take(MAX_BYTES).read_to_end(&mut bytes);
    read.map_err(Unfit::Unreadable)?;
    Ok((bytes, metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)))
}

/// Checks the bytes of a file, and splits them into parts.
pub(super) fn check(bytes: &[u8]) -> Result<Parts<'_>, Unfit> {
    let damaged = || Unfit::Foreign("it is damaged");
    let rest = bytes.strip_prefix(MAGIC).ok_or(Unfit::Foreign("it is not a snapshot"))?;
    let (checksum, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    if u32::from_le_bytes(*checksum) != crc32fast::hash(rest) {
        return Err(damaged());
    }
    let (version, rest) = part(rest).ok_or_else(damaged)?;
    if version != VERSION.as_bytes() {
        return Err(Unfit::OtherVersion);
    }
    let (key, content) = part(rest).ok_or_else(damaged)?;
    Ok(Parts { key, content })
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
}

/// Replaces the file at `path` with one that holds `key` and `content`.
pub(super) fn replace(path: &Path, key: &[u8], content: &[u8]) -> io::Result<()> {
    static NTH: AtomicU32 = AtomicU32::new(0);
    let nth = NTH.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // The time is added because processes in other containers may have the same id.
    let name = format!("{}-{nth}-{}.{UNFINISHED}", std::process::id(), now.as_nanos());
    let unfinished = path.with_extension(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&unfinished).and_then(|file| {
        // On systems where this fails, the age of the file tells whether it is abandoned.
        let _ = file.lock();
        write(&file, key, content)?;
        // Close the file before renaming it: on some systems, its lock would keep readers out.
        drop(file);
        // There is no `fsync`: if power is lost, the checksum detects a damaged file.
        fs::rename(&unfinished, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Tells whether a process is writing the file at `path`; `None` if that cannot be known.
pub(super) fn is_being_written(path: &Path) -> Option<bool> {
    match File::open(path).ok()?.try_lock() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

fn write(mut file: &File, key: &[u8], content: &[u8]) -> io::Result<()> {
    let mut head = Vec::new();
    for part in [VERSION.as_bytes(), key] {
        let len = u32::try_from(part.len()).map_err(io::Error::other)?;
        head.extend_from_slice(&len.to_le_bytes());
        head.extend_from_slice(part);
    }
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&head);
    checksum.update(content);
    file.write_all(MAGIC)?;
    file.write_all(&checksum.finalize().to_le_bytes())?;
    file.write_all(&head)?;
    file.write_all(content)
}
