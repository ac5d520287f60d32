//! Opens files and directories below a root, without ever leaving it.
//!
//! A path is looked up from an open directory, never by joining names and asking the system again, so
//! swapping a directory for a link in between gains nothing. On Linux, the kernel does the lookup
//! (`openat2`). Where it cannot, and on other Unix systems, the path is walked part by part without
//! following links. On all other systems, names are resolved and compared, which a race can defeat.

#[cfg(any(not(unix), test))]
mod fallback;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(not(unix))]
pub use fallback::Dir;
#[cfg(unix)]
pub use unix::Dir;

/// The longest path that is looked up, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// The longest part of a path, in bytes.
const MAX_PART_BYTES: usize = 255;

/// The treatment of symbolic links below the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Refuse a path with a link anywhere in it.
    Never,
    /// Follow relative links as long as they stay below the root.
    Inside,
}

/// The type of a directory entry; links are not followed to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without a path.
    pub name: OsString,
    /// The type.
    pub kind: Kind,
}

/// Opens the regular file `relative` below `root` for reading. Never blocks, not even for a pipe.
///
/// Fails with `PermissionDenied` if the path leads outside or has a link that is refused, with
/// `IsADirectory` for a directory, and with `InvalidInput` for any other file that is not regular.
/// `root` itself may be a link.
pub fn open(root: &Path, relative: &Path, links: Links) -> io::Result<File> {
    Dir::open(root)?.file(relative, links)
}

/// Normalises `path` as the relative path of a file, with `/` and without empty parts and `.` (`./a//b`
/// becomes `a/b`). The error says why it is not valid.
///
/// This looks at the text only, not at the disk. A path that passes must still be opened by this
/// module.
pub fn plain(path: &str) -> Result<String, &'static str> {
    let bytes = path.as_bytes();
    if path.is_empty() {
        return Err("it is empty");
    }
    if bytes.len() > MAX_PATH_BYTES {
        return Err("it is longer than 4096 bytes");
    }
    if path.contains(|c: char| c.is_control()) {
        return Err("it has a control character");
    }
    if path.contains('\\') {
        return Err("it has a backslash; write `/`");
    }
    if path.starts_with('/') {
        return Err("it is absolute");
    }
    if bytes[0].is_ascii_alphabetic() && bytes.get(1) == Some(&b':') {
        return Err("it starts with a drive letter");
    }
    if path.contains("://") {
        return Err("it is a URL");
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err("it has a `..`"),
            _ if part.len() > MAX_PART_BYTES => return Err("a name in it is over 255 bytes"),
            _ => parts.push(part),
        }
    }
    if path.ends_with('/') || path == "." || path.ends_with("/.") {
        return Err("it names a directory");
    }
    Ok(parts.join("/"))
}

fn leads_outside() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it leads out of the directory")
}

fn has_link() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is a symbolic link, or leads through one")
}

/// Returns `file` if it is a regular one.
fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if kind.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}
