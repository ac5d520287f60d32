//! Small files that later processes read: a line with a checksum, then JSON. A file that is missing,
//! damaged, or writable by others is ignored.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::collect::note_use;
use super::private_dir::create_private;
use crate::trust::{ContentHash, check_permissions};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file that [`write`] wrote.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let file = File::open(path)?;
    // Anyone who can write the file decides what models are told.
    check_permissions(path, &file).map_err(io::Error::other)?;
    let mut text = String::new();
    (&file).take(MAX_BYTES).read_to_string(&mut text)?;
    let damaged = || io::Error::from(io::ErrorKind::InvalidData);
    let (checksum, json) = text.split_once('\n').ok_or_else(damaged)?;
    if ContentHash::of(json.as_bytes()).as_str() != checksum {
        return Err(damaged());
    }
    note_use(&file);
    Ok(serde_json::from_str(json)?)
}

/// Replaces a file as a whole, so that no reader sees half of it. If that fails, it is logged, and the
/// next process does the work again.
pub(super) fn write(dir: &Path, name: &str, content: &impl Serialize) {
    let written = || -> io::Result<()> {
        create_private(dir)?;
        let json = serde_json::to_string(content)?;
        let mut new = tempfile::NamedTempFile::new_in(dir)?;
        write!(new, "{}\n{json}", ContentHash::of(json.as_bytes()))?;
        new.persist(dir.join(name)).map_err(|error| error.error)?;
        Ok(())
    };
    if let Err(error) = written() {
        tracing::warn!(%error, dir = %dir.display(), name, "a description of tools is not kept");
    }
}
