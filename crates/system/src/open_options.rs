//! Opens paths at which another user or process, or the author of a project, may have put a named pipe, a
//! device or a link.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens the regular file at `path` for reading, links followed. Anything else is an error, and nothing is
/// waited for: a pipe may have no writer, and a device no end.
pub fn regular_file(path: &Path) -> io::Result<File> {
    let not_regular = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    // Opening some devices has effects.
    if !path.metadata()?.is_file() {
        return Err(not_regular());
    }
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    // It may have been swapped since.
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Opens a named pipe without waiting for its other end. The caller must check what kind of file it got.
pub fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    set_flags(options, rustix::fs::OFlags::NONBLOCK);
    options
}

/// Opens a named pipe without waiting for its other end, and fails if the path is a symbolic link.
pub fn without_waiting_or_links(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    set_flags(options, rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW);
    options
}

#[cfg(unix)]
fn set_flags(options: &mut OpenOptions, flags: rustix::fs::OFlags) {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
}
