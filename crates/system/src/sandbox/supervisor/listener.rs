//! Notifications of seccomp: a filter that asks about some calls, and the descriptor that answers. No crate
//! wraps them without a C library.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::io::Errno;
use seccompiler::BpfProgramRef;

/// A call that waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) id: u64,
    /// The thread that makes the call.
    pub(super) thread: i32,
    /// The number of the call.
    pub(super) number: u32,
    pub(super) arguments: [u64; 6],
}

/// Applies a filter whose action `SECCOMP_RET_USER_NOTIF` makes calls wait, to this thread or to all threads
/// of the process. Returns the descriptor that answers these calls. Allocates nothing.
pub(in crate::sandbox) fn install(
    program: BpfProgramRef<'_>,
    all_threads: bool,
) -> io::Result<OwnedFd> {
    let len = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let fprog = libc::sock_fprog { len, filter: program.as_ptr().cast_mut().cast() };
    let threads = libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | if all_threads { threads } else { 0 };
    // Kernels before 5.19 cannot keep signals from interrupting a call that is being answered.
    for flags in [flags | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, flags] {
        // SAFETY: the kernel reads the program, which outlives the call, and writes nothing.
        #[expect(unsafe_code, reason = "there is no safe way to apply a filter with a listener")]
        let listener = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                std::ptr::from_ref(&fprog),
            )
        };
        if let Ok(listener @ 0..) = i32::try_from(listener) {
            // SAFETY: the kernel has just made this descriptor for this call alone.
            #[expect(
                unsafe_code,
                reason = "the descriptor comes from a system call without a wrapper"
            )]
            return Ok(unsafe { OwnedFd::from_raw_fd(listener) });
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) {
            return Err(error);
        }
    }
    Err(Errno::INVAL.into())
}

/// Lets a caller and its supervisor take turns on one processor, instead of waking another one for each call. Kernels
/// before 6.6 cannot.
pub(super) fn take_turns(listener: impl AsFd) {
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    let (listener, request) = (listener.as_fd().as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS);
    // SAFETY: this request takes its value as such, and accesses no memory of this program.
    #[expect(unsafe_code, reason = "no crate has this request")]
    unsafe {
        libc::ioctl(listener, request, SYNC_WAKE_UP);
    }
}

/// Takes the next call that waits. Fails with `NOENT` if its thread has ended meanwhile.
pub(super) fn receive(listener: impl AsFd) -> rustix::io::Result<Asked> {
    let mut asked = libc::seccomp_notif {
        id: 0,
        pid: 0,
        flags: 0,
        data: libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] },
    };
    control(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &mut asked)?;
    Ok(Asked {
        id: asked.id,
        thread: asked.pid.cast_signed(),
        number: asked.data.nr.cast_unsigned(),
        arguments: asked.data.args,
    })
}

/// Answers a call: with the value that it returns, or with its error. The kernel forgets an answer to a
/// thread that has ended.
pub(super) fn answer(listener: impl AsFd, id: u64, result: rustix::io::Result<i64>) {
    let (val, error) = match result {
        Ok(value) => (value, 0),
        Err(error) => (0, -error.raw_os_error()),
    };
    let mut answer = libc::seccomp_notif_resp { id, val, error, flags: 0 };
    let _ = control(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
}

/// Tells whether a call still waits. While it does, its thread is the one that made it.
pub(super) fn waits(listener: impl AsFd, id: u64) -> bool {
    control(listener, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut { id }).is_ok()
}

fn control<T>(listener: impl AsFd, request: libc::Ioctl, value: &mut T) -> rustix::io::Result<()> {
    loop {
        let listener = listener.as_fd().as_raw_fd();
        // SAFETY: each request above comes with the value whose size is part of its number, and the kernel
        // reads and writes no more than that.
        #[expect(unsafe_code, reason = "no crate has these requests")]
        let result = unsafe { libc::ioctl(listener, request, std::ptr::from_mut(value)) };
        if result == 0 {
            return Ok(());
        }
        match io::Error::last_os_error().raw_os_error() {
            Some(libc::EINTR) => {}
            number => return Err(Errno::from_raw_os_error(number.unwrap_or(libc::EIO))),
        }
    }
}
