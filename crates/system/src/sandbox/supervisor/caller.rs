//! The thread that makes a call: its memory and its descriptors.

use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

const AF_UNSPEC: u16 = 0;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const AF_NETLINK: u16 = 16;
/// The most bytes of an address that the kernel takes.
const ADDRESS_BYTES: u64 = 128;

/// The error of a caller that swaps descriptors while they are looked at. It is supervised no longer.
pub(super) const ATTACK: Errno = Errno::NOTRECOVERABLE;

/// An address of a socket, as a call names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Address {
    /// An address of the Internet protocols.
    Internet(SocketAddr),
    /// The kernel, by netlink.
    Kernel,
    /// No address: `connect` ends a connection.
    Nothing,
}

/// A thread that waits in a call.
#[derive(Debug)]
pub(super) struct Caller {
    thread: i32,
    memory: File,
    number: Pid,
    process: OwnedFd,
}

impl Caller {
    /// Opens the thread. Whoever called has to find out afterwards that it still is the thread that made the
    /// call, and not one that got its number.
    pub(super) fn open(thread: i32) -> Result<Caller> {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status"))
            .map_err(|error| errno(&error))?;
        let number = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let number = number.and_then(|number| number.trim().parse().ok());
        let number = Pid::from_raw(number.ok_or(Errno::SRCH)?).ok_or(Errno::SRCH)?;
        let path = format!("/proc/{thread}/mem");
        let memory =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| errno(&error))?;
        Ok(Caller { thread, memory, number, process: pidfd_open(number, PidfdFlags::empty())? })
    }

    /// Returns a duplicate of a descriptor of a socket, a pipe, a device or an object of the kernel. Files are refused: to
    /// close a file, which happens to the duplicate, drops all locks that this program has on it.
    pub(super) fn descriptor(&self, number: u64) -> Result<OwnedFd> {
        if may_be_locked(&self.file(number)?)? {
            return Err(Errno::PERM);
        }
        let number = i32::try_from(number & 0xffff_ffff).map_err(|_| Errno::BADF)?;
        let duplicate = pidfd_getfd(self.process.as_fd(), number, PidfdGetfdFlags::empty())?;
        if may_be_locked(&duplicate)? {
            // Another thread of the caller has put a file there meanwhile.
            std::mem::forget(duplicate);
            return Err(ATTACK);
        }
        Ok(duplicate)
    }

    /// Opens the file of a descriptor, without looking at its content.
    pub(super) fn file(&self, number: u64) -> Result<OwnedFd> {
        let path = format!("/proc/{}/fd/{}", self.thread, number & 0xffff_ffff);
        rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| if error == Errno::NOENT { Errno::BADF } else { error })
    }

    /// Opens the directory at which a path starts: the one that it works in, or that of a descriptor.
    pub(super) fn directory(&self, number: u64) -> Result<OwnedFd> {
        if number as i32 != linux_raw_sys::general::AT_FDCWD {
            return self.file(number);
        }
        let path = format!("/proc/{}/cwd", self.thread);
        rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }

    /// Returns the number of the descriptor that a path names, such as `/proc/self/fd/3`; `None` if the path names
    /// something else.
    pub(super) fn own_descriptor(&self, path: &CStr) -> Option<u64> {
        let path = path.to_str().ok()?;
        let number = path.strip_prefix("/dev/fd/").or_else(|| {
            let (process, number) = path.strip_prefix("/proc/")?.split_once("/fd/")?;
            let own = self.number.as_raw_nonzero();
            let is_own =
                ["self", "thread-self"].contains(&process) || process.parse() == Ok(own.get());
            is_own.then_some(number)
        });
        number?.parse::<u32>().ok().map(u64::from)
    }

    /// Copies a text that ends with a zero. Fails with `RANGE` if it takes more than `most` bytes.
    pub(super) fn text(&self, at: u64, most: usize) -> Result<CString> {
        const PAGE: u64 = 4096;
        let mut text = Vec::new();
        while text.len() < most {
            let from = at.checked_add(text.len() as u64).ok_or(Errno::FAULT)?;
            // What follows on the next page may not be there.
            let len = ((PAGE - from % PAGE) as usize).min(most - text.len());
            text.extend(self.bytes(from, len)?);
            if let Ok(whole) = CStr::from_bytes_until_nul(&text) {
                return Ok(whole.to_owned());
            }
        }
        Err(Errno::RANGE)
    }

    /// Copies signed numbers of 64 bits.
    pub(super) fn words<const COUNT: usize>(&self, at: u64) -> Result<[i64; COUNT]> {
        let bytes = self.bytes(at, 8 * COUNT)?;
        let mut words = [0; COUNT];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = i64::from_ne_bytes(*bytes);
        }
        Ok(words)
    }

    /// Copies bytes of its memory.
    pub(super) fn bytes(&self, at: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.memory.read_exact_at(&mut bytes, at).map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }

    /// Writes a number of 32 bits into its memory.
    pub(super) fn write(&self, at: u64, value: u32) -> Result<()> {
        self.memory.write_all_at(&value.to_ne_bytes(), at).map_err(|_| Errno::FAULT)
    }

    /// Reads the address of a socket.
    pub(super) fn address(&self, at: u64, len: u64) -> Result<Address> {
        if !(2..=ADDRESS_BYTES).contains(&len) {
            return Err(Errno::INVAL);
        }
        parse(&self.bytes(at, len as usize)?)
    }
}

/// Tells whether a program may hold locks on an open file that go when it closes another descriptor of the file.
fn may_be_locked(file: &OwnedFd) -> Result<bool> {
    use FileType::{CharacterDevice, Fifo, Socket};
    let kind = fstat(file)?.st_mode & 0o170_000;
    // Objects of the kernel, such as timers and watches, have no kind.
    let is_file = !matches!(FileType::from_raw_mode(kind), CharacterDevice | Fifo | Socket);
    Ok(kind != 0 && is_file)
}

fn parse(bytes: &[u8]) -> Result<Address> {
    let short = |at: usize| <[u8; 2]>::try_from(bytes.get(at..at + 2)?).ok();
    let word = |at: usize| <[u8; 4]>::try_from(bytes.get(at..at + 4)?).ok();
    let family = short(0).map(u16::from_ne_bytes).ok_or(Errno::INVAL)?;
    let port = || short(2).map(u16::from_be_bytes);
    let address = match family {
        AF_UNSPEC => Some(Address::Nothing),
        AF_INET => (|| {
            // The kernel wants the whole structure, which ends with padding.
            let address = Ipv4Addr::from(word(4).filter(|_| bytes.len() >= 16)?);
            Some(Address::Internet(SocketAddrV4::new(address, port()?).into()))
        })(),
        AF_INET6 => (|| {
            let address = Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?);
            let flow = u32::from_ne_bytes(word(4)?);
            let scope = word(24).map_or(0, u32::from_ne_bytes);
            Some(Address::Internet(SocketAddrV6::new(address, port()?, flow, scope).into()))
        })(),
        AF_NETLINK => (|| {
            let (port, groups) = (word(4)?, word(8)?);
            // Other processes and groups of them are not the kernel.
            (port == [0; 4] && groups == [0; 4]).then_some(Address::Kernel)
        })(),
        _ => return Err(Errno::AFNOSUPPORT),
    };
    address.ok_or(Errno::INVAL)
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::PERM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_the_kernel_reads_them() {
        let v4 = [2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(parse(&v4), Ok(Address::Internet("127.0.0.1:80".parse().unwrap())));
        let mut v6 = vec![10, 0, 1, 187, 0, 0, 0, 0];
        v6.extend(Ipv6Addr::LOCALHOST.octets());
        assert_eq!(parse(&v6), Ok(Address::Internet("[::1]:443".parse().unwrap())));
        assert_eq!(parse(&[0, 0]), Ok(Address::Nothing));
        assert_eq!(parse(&[16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), Ok(Address::Kernel));
        assert_eq!(parse(&[16, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]), Err(Errno::INVAL));
        assert_eq!(parse(&[1, 0, b'/', b'a']), Err(Errno::AFNOSUPPORT));
        for short in 0..16 {
            assert!(!matches!(parse(&v4[..short]), Ok(Address::Internet(_))), "{short}");
        }
    }
}
