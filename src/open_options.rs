//! Options for opening a path at which another user or process may have put a named pipe or a link.

use std::fs::OpenOptions;

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
