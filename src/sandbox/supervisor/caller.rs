//! The thread that makes a call: its memory and its descriptors.

use std::fs::{File, OpenOptions};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;

use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

const AF_UNSPEC: u16 = 0;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const AF_NETLINK: u16 = 16;
/// The most bytes of an address that the kernel takes.
const ADDRESS_BYTES: u64 = 128;

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
    memory: File,
    process: OwnedFd,
}

impl Caller {
    /// Opens the thread. Whoever called has to find out afterwards that it still is the thread that made the
    /// call, and not one that got its number.
    pub(super) fn open(thread: i32) -> Result<Caller> {
        let status = std::fs::read_to_string(format!("/proc/{thread}/status"))
            .map_err(|error| errno(&error))?;
        let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let process = process.and_then(|number| number.trim().parse().ok());
        let process = Pid::from_raw(process.ok_or(Errno::SRCH)?).ok_or(Errno::SRCH)?;
        let path = format!("/proc/{thread}/mem");
        let memory =
            OpenOptions::new().read(true).write(true).open(path).map_err(|error| errno(&error))?;
        Ok(Caller { memory, process: pidfd_open(process, PidfdFlags::empty())? })
    }

    /// Returns a duplicate of a descriptor.
    pub(super) fn descriptor(&self, number: u64) -> Result<OwnedFd> {
        let number = i32::try_from(number & 0xffff_ffff).map_err(|_| Errno::BADF)?;
        pidfd_getfd(self.process.as_fd(), number, PidfdGetfdFlags::empty())
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
