//! Ports for servers that cannot let the system choose one.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

/// The ports to choose from: below those that systems give to whoever asks for any (Linux from 32768 on), so that
/// nobody is given one between the answer and its use.
const RANGE: std::ops::Range<u32> = 10_000..32_000;

/// Returns a port of loopback that nobody uses, neither by TCP nor by UDP, and that this process was not told before.
pub(crate) fn free_port() -> u16 {
    static N_TOLD: AtomicU32 = AtomicU32::new(0);
    // Processes that run at the same time begin at places that are far from each other.
    let first = std::process::id().wrapping_mul(7_919);
    loop {
        let n_told = N_TOLD.fetch_add(1, Ordering::Relaxed);
        let port = RANGE.start + first.wrapping_add(n_told) % (RANGE.end - RANGE.start);
        let port = u16::try_from(port).unwrap();
        let tcp = TcpListener::bind(("127.0.0.1", port));
        if tcp.is_ok() && UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
