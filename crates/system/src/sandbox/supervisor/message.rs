//! Messages as `sendto`, `sendmsg` and `sendmmsg` describe them, copied from the memory of their caller. The
//! layouts are those of 64-bit systems, which are all that have filters here.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, Result};

use super::caller::{Address, Caller};

/// The most bytes that are copied for a call. A stream sends the rest with its next call.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The most messages of one call, as in the kernel.
pub(super) const MAX_MESSAGES: u64 = 1024;
/// The most parts of a message, as in the kernel.
const MAX_PARTS: u64 = 1024;
/// The most bytes of control messages.
const MAX_CONTROL: u64 = 4096;
/// The most descriptors of a message, as in the kernel.
const MAX_DESCRIPTORS: usize = 253;
/// The size of `struct msghdr`; in `struct mmsghdr`, the number of bytes that were sent follows.
const HEADER: u64 = 56;
/// The size of `struct mmsghdr`.
const HEADER_WITH_COUNT: u64 = 64;
/// The size of `struct cmsghdr`.
const CONTROL_HEADER: usize = 16;
const SOL_SOCKET: u32 = 1;
const SCM_RIGHTS: u32 = 1;

/// A message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) address: Option<Address>,
    pub(super) bytes: Vec<u8>,
    /// Descriptors that are passed on.
    pub(super) descriptors: Vec<OwnedFd>,
}

impl Message {
    pub(super) fn of_sendto(
        caller: &Caller,
        data: u64,
        len: u64,
        address: u64,
        address_len: u64,
    ) -> Result<Message> {
        let address = caller.address(address, address_len).map(Some)?;
        let bytes = caller.bytes(data, usize::try_from(len).unwrap_or(MAX_BYTES).min(MAX_BYTES))?;
        Ok(Message { address, bytes, descriptors: Vec::new() })
    }

    /// Reads the message whose header is at `at`.
    pub(super) fn read(caller: &Caller, at: u64) -> Result<Message> {
        let header = words(&caller.bytes(at, HEADER as usize)?);
        let [name, name_len, parts, parts_len, control, control_len, _] = header[..] else {
            return Err(Errno::FAULT);
        };
        let name_len = name_len & 0xffff_ffff;
        let address = (name != 0 && name_len != 0).then(|| caller.address(name, name_len));
        let bytes = read_parts(caller, parts, parts_len)?;
        let control_len = if control == 0 { 0 } else { control_len };
        let descriptors = read_descriptors(caller, control, control_len)?;
        Ok(Message { address: address.transpose()?, bytes, descriptors })
    }

    /// The places of the headers of several messages.
    pub(super) fn places(at: u64, count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| at.wrapping_add(number * HEADER_WITH_COUNT))
    }

    /// Notes behind a header how many bytes were sent.
    pub(super) fn note_sent(caller: &Caller, at: u64, bytes: u32) -> Result<()> {
        caller.write(at.wrapping_add(HEADER), bytes)
    }
}

fn read_parts(caller: &Caller, at: u64, count: u64) -> Result<Vec<u8>> {
    if count > MAX_PARTS {
        return Err(Errno::MSGSIZE);
    }
    let parts = words(&caller.bytes(at, 16 * count as usize)?);
    let mut bytes = Vec::new();
    for part in parts.chunks_exact(2) {
        let room = MAX_BYTES - bytes.len();
        let len = usize::try_from(part[1]).unwrap_or(usize::MAX).min(room);
        bytes.extend(caller.bytes(part[0], len)?);
    }
    Ok(bytes)
}

/// Duplicates the descriptors that control messages pass on. Others, such as those that choose the address from
/// which is sent, are refused: programs then do without.
fn read_descriptors(caller: &Caller, at: u64, len: u64) -> Result<Vec<OwnedFd>> {
    if len > MAX_CONTROL {
        return Err(Errno::NOBUFS);
    }
    let control = caller.bytes(at, len as usize)?;
    let mut descriptors = Vec::new();
    let mut rest = &control[..];
    while rest.len() >= CONTROL_HEADER {
        let size = words(&rest[..8])[0];
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let kind = numbers(&rest[8..CONTROL_HEADER]);
        if size < CONTROL_HEADER || size > rest.len() || kind != [SOL_SOCKET, SCM_RIGHTS] {
            return Err(Errno::INVAL);
        }
        let passed = numbers(&rest[CONTROL_HEADER..size]);
        if descriptors.len() + passed.len() > MAX_DESCRIPTORS {
            return Err(Errno::INVAL);
        }
        for number in passed {
            descriptors.push(caller.descriptor(number.into())?);
        }
        rest = rest.get(size.next_multiple_of(8)..).unwrap_or_default();
    }
    Ok(descriptors)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_ne_bytes(*word)).collect()
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|number| u32::from_ne_bytes(*number)).collect()
}
