//! Options for opening a file whose name others may have given to a pipe or a link.

use std::fs::OpenOptions;

/// Opens a named pipe at once, instead of waiting for its other end. The caller checks what it got.
#[cfg(any(feature = "fetch", feature = "scripts", feature = "snapshot", feature = "toolsets"))]
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    set_flags(options, rustix::fs::OFlags::NONBLOCK);
    options
}

/// Like [`without_waiting`], and makes opening a link an error.
#[cfg(any(feature = "fetch", feature = "scripts", feature = "sqlite", feature = "toolsets"))]
pub(crate) fn without_waiting_or_links(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    set_flags(options, rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW);
    options
}

#[cfg(unix)]
fn set_flags(options: &mut OpenOptions, flags: rustix::fs::OFlags) {
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
}
