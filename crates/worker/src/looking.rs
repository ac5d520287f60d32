//! Reads a socket, and does something else from time to time, whatever arrives.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The longest interval at which a process without calls is looked at.
const LONGEST: Duration = Duration::from_secs(1);

/// Returns the interval for a process that ends once it was idle for this long; zero means never.
pub(super) fn interval(idle: Duration) -> Duration {
    if idle.is_zero() { LONGEST } else { idle.min(LONGEST) }
}

/// A socket with a read timeout. What a library does between calls must be looked at also while it keeps the reader
/// busy, with messages or with single bytes of one.
pub(super) struct Looking<'a, F> {
    socket: &'a UnixStream,
    interval: Duration,
    look: F,
    looked: Instant,
}

impl<'a, F: FnMut()> Looking<'a, F> {
    pub(super) fn new(socket: &'a UnixStream, interval: Duration, look: F) -> Self {
        Looking { socket, interval, look, looked: Instant::now() }
    }
}

impl<F: FnMut()> Read for Looking<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.looked.elapsed() >= self.interval {
            (self.look)();
            self.looked = Instant::now();
        }
        self.socket.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{ErrorKind, Write as _};

    use super::*;
    use crate::protocol::Frames;

    #[test]
    fn a_library_that_keeps_writing_is_looked_at() {
        let (socket, mut library) = UnixStream::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        let n_looks = Cell::new(0);
        let look = || n_looks.set(n_looks.get() + 1);
        let mut frames = Frames::new(Looking::new(&socket, Duration::ZERO, look));
        // A frame whose bytes arrive one by one, and frames without a pause between them.
        for byte in [3, 0, 0, 0, b'a', b'b'] {
            library.write_all(&[byte]).unwrap();
            assert_eq!(frames.next().unwrap_err().kind(), ErrorKind::WouldBlock);
        }
        assert_eq!(n_looks.get(), 12);
        for _ in 0..5 {
            library.write_all(b"c\x03\0\0\0ab").unwrap();
            assert_eq!(frames.next().unwrap(), Some(&b"abc"[..]));
        }
        assert_eq!(n_looks.get(), 17);
    }
}
