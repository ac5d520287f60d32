//! The calls that reach other addresses. The supervisor makes them itself, on a duplicate of the caller's
//! descriptor and with a copy of its arguments: whatever the caller changes meanwhile, what was checked is
//! what happens.

use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use linux_raw_sys::general as linux;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, Result};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{socket_domain, socket_error, socket_type};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketType, bind, connect,
    connect_unspec, getsockname, listen, sendmsg, sendmsg_addr,
};

use super::caller::{Address, Caller};
use super::listener::Asked;
use super::message::{MAX_BYTES, MAX_MESSAGES, Message};
use super::policy::Policy;

/// The calls that wait for an answer of the supervisor, besides `sendto` with an address.
pub(in crate::sandbox) const ADDRESSES: [u32; 5] = [
    linux::__NR_connect,
    linux::__NR_bind,
    linux::__NR_listen,
    linux::__NR_sendmsg,
    linux::__NR_sendmmsg,
];

/// The result of a call, or the reason why it is not there yet.
pub(super) enum Outcome {
    Done(Result<i64>),
    Waits(Waiting),
}

/// A call whose socket must become writable first.
pub(super) struct Waiting {
    pub(super) socket: OwnedFd,
    next: Next,
}

enum Next {
    /// The connection is made or failed once the socket is writable.
    Connected,
    Send(Send),
}

/// A message to send.
struct Send {
    message: Message,
    flags: SendFlags,
    /// True if the caller waits until there is room.
    is_patient: bool,
}

impl Waiting {
    /// The number of bytes that are kept until the call goes on.
    pub(super) fn bytes(&self) -> usize {
        match &self.next {
            Next::Connected => 0,
            Next::Send(send) => send.message.bytes.len(),
        }
    }

    /// Goes on with a call whose socket is ready. Without `has_room`, it is errors that the caller leaves unread
    /// which keep it ready, and the call does not wait again: that would be over at once, for ever.
    pub(super) fn go_on(self, has_room: bool) -> Outcome {
        let Waiting { socket, next } = self;
        match next {
            Next::Connected => {
                let result = socket_error(&socket).and_then(|error| error);
                Outcome::Done(result.map(|()| 0))
            }
            Next::Send(send) => Send { is_patient: has_room, ..send }.on(socket),
        }
    }
}

/// Makes a call for its caller, if `policy` allows it. `is_valid` tells whether the caller still waits, and so
/// is the one that was opened.
pub(super) fn make(asked: &Asked, policy: &mut Policy, is_valid: &dyn Fn() -> bool) -> Outcome {
    let mut made = || {
        let caller = Caller::open(asked.thread)?;
        let [number, second, third, flags, at, len] = asked.arguments;
        let socket = caller.descriptor(number)?;
        match asked.number {
            linux::__NR_connect => {
                let address = caller.address(second, third & 0xffff_ffff)?;
                is_valid().then_some(()).ok_or(Errno::SRCH)?;
                start_connection(socket, address, policy)
            }
            linux::__NR_bind => {
                let address = caller.address(second, third & 0xffff_ffff)?;
                is_valid().then_some(()).ok_or(Errno::SRCH)?;
                take_address(&socket, address, policy).map(done)
            }
            linux::__NR_listen => {
                is_valid().then_some(()).ok_or(Errno::SRCH)?;
                serve(&socket, second as i32, policy).map(done)
            }
            linux::__NR_sendto => {
                let message = Message::of_sendto(&caller, second, third, at, len & 0xffff_ffff)?;
                is_valid().then_some(()).ok_or(Errno::SRCH)?;
                Ok(prepare(&socket, message, flags, policy)?.on(socket))
            }
            linux::__NR_sendmsg => {
                let message = Message::read(&caller, second)?;
                is_valid().then_some(()).ok_or(Errno::SRCH)?;
                Ok(prepare(&socket, message, third, policy)?.on(socket))
            }
            linux::__NR_sendmmsg => {
                send_all(&caller, &socket, second, third & 0xffff_ffff, flags, policy, is_valid)
            }
            _ => Err(Errno::NOSYS),
        }
    };
    made().unwrap_or_else(|error| Outcome::Done(Err(error)))
}

fn done(value: i64) -> Outcome {
    Outcome::Done(Ok(value))
}

fn is_stream(socket: &OwnedFd) -> Result<bool> {
    socket_type(socket).map(|kind| kind == SocketType::STREAM)
}

/// Connects a socket. The connection of a caller that waits for it is made without waiting here.
fn start_connection(socket: OwnedFd, address: Address, policy: &mut Policy) -> Result<Outcome> {
    let address = match address {
        Address::Nothing => return connect_unspec(&socket).map(|()| done(0)),
        Address::Kernel => {
            return connect(&socket, &SocketAddrNetlink::new(0, 0)).map(|()| done(0));
        }
        Address::Internet(address) => address,
    };
    if !policy.may_reach(address) {
        return Err(Errno::ACCESS);
    }
    let flags = fcntl_getfl(&socket)?;
    if flags.contains(OFlags::NONBLOCK) || !is_stream(&socket)? {
        return connect(&socket, &address).map(|()| done(0));
    }
    fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
    let result = connect(&socket, &address);
    fcntl_setfl(&socket, flags)?;
    match result {
        Ok(()) => Ok(done(0)),
        Err(Errno::INPROGRESS) => Ok(Outcome::Waits(Waiting { socket, next: Next::Connected })),
        Err(error) => Err(error),
    }
}

fn take_address(socket: &OwnedFd, address: Address, policy: &Policy) -> Result<i64> {
    match address {
        Address::Internet(address) if policy.may_bind(address) => bind(socket, &address)?,
        Address::Kernel => bind(socket, &SocketAddrNetlink::new(0, 0))?,
        _ => return Err(Errno::ACCESS),
    }
    Ok(0)
}

/// Lets others connect to a socket, whose address cannot change any more.
fn serve(socket: &OwnedFd, backlog: i32, policy: &Policy) -> Result<i64> {
    let address = getsockname(socket).and_then(std::net::SocketAddr::try_from)?;
    if !policy.may_serve(address) {
        return Err(Errno::ACCESS);
    }
    listen(socket, backlog).map(|()| 0)
}

/// Checks whether a message may be sent.
fn prepare(
    socket: &OwnedFd,
    mut message: Message,
    flags: u64,
    policy: &mut Policy,
) -> Result<Send> {
    let flags = SendFlags::from_bits_retain(flags as u32);
    let family = socket_domain(socket)?;
    if !message.descriptors.is_empty() && family != AddressFamily::UNIX {
        return Err(Errno::INVAL);
    }
    // A stream goes where it is connected to. To a pair, an address of the Internet is none, as in the kernel.
    message.address = match (message.address, socket_type(socket)?) {
        (Some(_), SocketType::STREAM) if family == AddressFamily::UNIX => {
            return Err(Errno::ISCONN);
        }
        (Some(_), SocketType::DGRAM) if family == AddressFamily::UNIX => return Err(Errno::INVAL),
        (_, SocketType::STREAM | SocketType::SEQPACKET) => None,
        (address, _) => address,
    };
    match message.address {
        Some(Address::Internet(address)) if !policy.may_reach(address) => {
            return Err(Errno::ACCESS);
        }
        Some(Address::Nothing) => return Err(Errno::AFNOSUPPORT),
        _ => {}
    }
    let may_wait = !fcntl_getfl(socket)?.contains(OFlags::NONBLOCK);
    // Descriptors that wait would use up those of this program.
    let may_wait = may_wait && message.descriptors.is_empty();
    let is_patient = may_wait && !flags.contains(SendFlags::DONTWAIT);
    let passed = SendFlags::MORE
        | SendFlags::OOB
        | SendFlags::EOR
        | SendFlags::CONFIRM
        | SendFlags::DONTROUTE;
    // A signal about a broken pipe would reach this program.
    let flags = (flags & passed) | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    Ok(Send { message, flags, is_patient })
}

impl Send {
    fn on(self, socket: OwnedFd) -> Outcome {
        match self.try_on(&socket) {
            Err(Errno::AGAIN) if self.is_patient => {
                Outcome::Waits(Waiting { socket, next: Next::Send(self) })
            }
            result => Outcome::Done(result),
        }
    }

    fn try_on(&self, socket: &OwnedFd) -> Result<i64> {
        let Message { address, bytes, descriptors } = &self.message;
        let descriptors: Vec<BorrowedFd<'_>> = descriptors.iter().map(|it| it.as_fd()).collect();
        let rights = SendAncillaryMessage::ScmRights(&descriptors);
        let mut space = vec![std::mem::MaybeUninit::uninit(); rights.size()];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(rights) {
            return Err(Errno::NOBUFS);
        }
        let data = [IoSlice::new(bytes)];
        let sent = match address {
            Some(Address::Internet(address)) => {
                sendmsg_addr(socket, address, &data, &mut control, self.flags)
            }
            Some(Address::Kernel) => {
                let kernel = SocketAddrNetlink::new(0, 0);
                sendmsg_addr(socket, &kernel, &data, &mut control, self.flags)
            }
            _ => sendmsg(socket, &data, &mut control, self.flags),
        };
        Ok(sent?.cast_signed() as i64)
    }
}

/// Sends several messages, up to the first that fails or has no room. Like the kernel, returns how many were
/// sent if there is any.
fn send_all(
    caller: &Caller,
    socket: &OwnedFd,
    at: u64,
    count: u64,
    flags: u64,
    policy: &mut Policy,
    is_valid: &dyn Fn() -> bool,
) -> Result<Outcome> {
    let mut sent = 0;
    let mut left = MAX_BYTES;
    for at in Message::places(at, count.min(MAX_MESSAGES)) {
        let mut step = || {
            let message = Message::read(caller, at)?;
            left = left.checked_sub(message.bytes.len()).ok_or(Errno::MSGSIZE)?;
            is_valid().then_some(()).ok_or(Errno::SRCH)?;
            prepare(socket, message, flags, policy)?.try_on(socket)
        };
        match step() {
            Ok(bytes) => {
                Message::note_sent(caller, at, u32::try_from(bytes).unwrap_or(u32::MAX))?;
                sent += 1;
            }
            Err(error) if sent == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(done(sent))
}
