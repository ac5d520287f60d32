//! The supervisor: decides which addresses sandboxed code reaches, and of which files it changes the attributes.
//!
//! A filter of system calls sees numbers, and addresses and paths are in memory. So the calls that name them wait
//! until a thread of this program, outside of the sandbox, has looked at a copy of their arguments and made the
//! call itself: on a duplicate of the socket ([`calls`]), or on the file that it opened ([`attributes`]). The
//! filter gives the process that applies it a descriptor ([`listener`]), which this program takes by its number,
//! and which must be closed there before any foreign code runs. If this program ends, the calls fail.

mod attributes;
mod caller;
mod calls;
mod listener;
mod message;
mod policy;
mod writable;

use std::io::{self, PipeReader, PipeWriter};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, PidfdGetfdFlags, dumpable_behavior, pidfd_getfd, pidfd_open,
};
use seccompiler::BpfProgram;

use super::{Allowed, capabilities};
use caller::ATTACK;
use calls::{Outcome, Waiting};
use policy::Policy;
use writable::Writable;

pub(super) use attributes::ATTRIBUTES;
pub(super) use calls::ADDRESSES;
pub(super) use listener::install;

/// The interval at which calls that ended meanwhile are forgotten.
const TICK: Duration = Duration::from_secs(1);
/// The most calls of one process that wait for their sockets at once; more of them fail.
const MOST_WAITING: usize = 256;
/// The most bytes of messages that wait at once; calls with more of them fail.
const MOST_WAITING_BYTES: usize = 4 << 20;

/// A thread that answers the calls of one sandbox. Dropping this value ends it, and all later calls fail.
#[derive(Debug)]
pub struct Supervisor {
    /// Closed when this value is dropped.
    _alive: PipeWriter,
}

impl Supervisor {
    /// Takes the listener that the process `pid` has under this number, and answers its calls from now on.
    pub fn start(pid: Pid, number: RawFd, allowed: &Allowed) -> io::Result<Supervisor> {
        let listener = take(pid, number)?;
        let writable = Writable::open(&allowed.write);
        let policy = Policy::new(allowed.network.clone());
        Supervisor::run(move |ended| supervise(&listener, ended, policy, &writable))
    }

    /// Answers the calls of a process that does not exist yet, and has to hand over its listener.
    pub fn expect(allowed: Allowed) -> io::Result<(Supervisor, Handle)> {
        let (numbers, announce) = io::pipe()?;
        let (confirmed, mut confirm) = io::pipe()?;
        let supervisor = Supervisor::run(move |ended| {
            // Nothing comes if the process does not apply the filter.
            let Ok((pid, listener)) = receive_numbers(numbers) else { return };
            let taken = take(pid, listener);
            let writable = Writable::open(&allowed.write);
            if confirm.write_all(&[taken.is_ok().into()]).is_ok()
                && let Ok(listener) = taken
            {
                drop(confirm);
                supervise(&listener, ended, Policy::new(allowed.network), &writable);
            }
        })?;
        Ok((supervisor, Handle { announce, confirmed }))
    }

    fn run(work: impl FnOnce(&PipeReader) + Send + 'static) -> io::Result<Supervisor> {
        let (ended, alive) = io::pipe()?;
        let thread = thread::Builder::new().name("sandbox-calls".to_owned());
        thread.spawn(move || work(&ended))?;
        Ok(Supervisor { _alive: alive })
    }
}

fn take(pid: Pid, number: RawFd) -> io::Result<OwnedFd> {
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}

/// Answers calls until nobody is left to make one, or the writing end of `ended` is closed.
fn supervise(listener: &OwnedFd, ended: &PipeReader, mut policy: Policy, writable: &Writable) {
    // What it does for sandboxed code, it does with no more rights than that has.
    if let Err(error) = capabilities::rest() {
        return tracing::warn!("a sandbox is not supervised: {error}");
    }
    listener::take_turns(listener);
    let mut waiting: Vec<(u64, Waiting)> = Vec::new();
    let tick = Timespec { tv_sec: TICK.as_secs().cast_signed(), tv_nsec: 0 };
    loop {
        let mut polled =
            vec![PollFd::new(ended, PollFlags::IN), PollFd::new(listener, PollFlags::IN)];
        polled.extend(waiting.iter().map(|(_, call)| PollFd::new(&call.socket, PollFlags::OUT)));
        if poll(&mut polled, Some(&tick)).is_err_and(|error| error != Errno::INTR) {
            return;
        }
        let ready: Vec<PollFlags> = polled.iter().map(PollFd::revents).collect();
        drop(polled);
        if !ready[0].is_empty() || ready[1].intersects(PollFlags::HUP | PollFlags::ERR) {
            return;
        }
        for ((id, call), state) in std::mem::take(&mut waiting).into_iter().zip(&ready[2..]) {
            if !listener::waits(listener, id) {
                continue;
            }
            let outcome = if state.is_empty() {
                Outcome::Waits(call)
            } else {
                call.go_on(state.contains(PollFlags::OUT))
            };
            settle(listener, id, outcome, &mut waiting);
        }
        if ready[1].contains(PollFlags::IN) {
            let asked = match listener::receive(listener) {
                Ok(asked) => asked,
                Err(Errno::NOENT) => continue,
                // It is not a listener, and would be ready for ever.
                Err(_) => return,
            };
            let is_valid = || listener::waits(listener, asked.id);
            let outcome = if attributes::is_one(asked.number) {
                Outcome::Done(attributes::make(&asked, writable, &is_valid))
            } else {
                calls::make(&asked, &mut policy, &is_valid)
            };
            if matches!(outcome, Outcome::Done(Err(ATTACK))) {
                return;
            }
            settle(listener, asked.id, outcome, &mut waiting);
        }
    }
}

fn settle(listener: &OwnedFd, id: u64, outcome: Outcome, waiting: &mut Vec<(u64, Waiting)>) {
    match outcome {
        Outcome::Done(result) => listener::answer(listener, id, result),
        Outcome::Waits(call) if has_room(waiting, &call) => waiting.push((id, call)),
        Outcome::Waits(_) => listener::answer(listener, id, Err(Errno::NOBUFS)),
    }
}

/// Tells whether one more call can wait: others decide how many there are, and memory is this program's.
fn has_room(waiting: &[(u64, Waiting)], call: &Waiting) -> bool {
    let bytes: usize = waiting.iter().map(|(_, call)| call.bytes()).sum();
    waiting.len() < MOST_WAITING && bytes + call.bytes() <= MOST_WAITING_BYTES
}

/// Reads the number of a process, and that of its listener.
fn receive_numbers(mut numbers: PipeReader) -> io::Result<(Pid, RawFd)> {
    let mut bytes = [0; 8];
    numbers.read_exact(&mut bytes)?;
    let [pid, listener] = [0, 4].map(|at| {
        let mut number = [0; 4];
        number.copy_from_slice(&bytes[at..at + 4]);
        i32::from_ne_bytes(number)
    });
    Ok((Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?, listener))
}

/// The end of the process that applies the filter. It is closed when that becomes a program.
#[derive(Debug)]
pub struct Handle {
    announce: PipeWriter,
    confirmed: PipeReader,
}

impl Handle {
    /// Hands over a listener, and waits until it has been taken. Allocates nothing.
    pub(super) fn give(&self, listener: &OwnedFd) -> io::Result<()> {
        let mut numbers = [0; 8];
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        numbers[..4].copy_from_slice(&pid.to_ne_bytes());
        numbers[4..].copy_from_slice(&listener.as_raw_fd().to_ne_bytes());
        (&self.announce).write_all(&numbers)?;
        let mut is_taken = [0];
        (&self.confirmed).read_exact(&mut is_taken)?;
        if is_taken == [1] { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

/// Tells whether this system lets a program supervise another: it has notifications of seccomp, nobody above
/// has taken them, and descriptors of a child can be duplicated. It is tried once, on a thread that ends.
pub(super) fn is_supported(filter: impl FnOnce() -> Option<BpfProgram> + Send + 'static) -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| {
        let try_it = move || {
            let _ = rustix::thread::set_no_new_privs(true);
            let Some(listener) = filter().and_then(|filter| install(&filter, false).ok()) else {
                return false;
            };
            take(rustix::process::getpid(), listener.as_raw_fd()).is_ok()
                && may_look_into_children()
        };
        let thread = thread::Builder::new().name("sandbox-trial".to_owned()).spawn(try_it);
        thread.is_ok_and(|thread| thread.join().unwrap_or(false))
    })
}

/// Tells whether children are open to this program: not if it keeps others from looking into itself, and with the
/// Yama module from 2 on only to root.
fn may_look_into_children() -> bool {
    if !matches!(dumpable_behavior(), Ok(DumpableBehavior::Dumpable)) {
        return false;
    }
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    let scope = scope.ok().and_then(|scope| scope.trim().parse::<u8>().ok()).unwrap_or(0);
    scope < 2 || scope == 2 && rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn what_is_not_a_listener_is_not_asked_for_ever() {
        let (other, mut filled) = io::pipe().unwrap();
        filled.write_all(b"always ready").unwrap();
        let (ended, alive) = io::pipe().unwrap();
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            supervise(&other.into(), &ended, Policy::new(true.into()), &Writable::open(&[]));
            done.send(())
        });
        is_done.recv_timeout(Duration::from_secs(10)).expect("it asks again and again");
        drop((filled, alive));
    }
}
