//! System calls that fail: a filter makes those of a thread wait until its parent has decided about each.
#![expect(unsafe_code, reason = "no crate wraps the notifications of seccomp without a C library")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

const MARK: &str = "listener: ";

/// The calls that can fail, by whether they write, open, or take space in another way. Locks of `fcntl` are not among
/// them: one that fails looks like one that another process holds, for which `SQLite` waits ten seconds.
const WRITING: &[i64] = &[libc::SYS_write, libc::SYS_pwrite64];
const OPENING: &[i64] = &[
    libc::SYS_openat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
];
const MAKING: &[i64] = &[
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
];
const OTHERS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_flock,
    libc::SYS_fchmod,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_unlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
];

fn is_one(call: u32, calls: &[i64]) -> bool {
    calls.contains(&i64::from(call))
}

pub(crate) fn writes(call: u32) -> bool {
    is_one(call, WRITING)
}

pub(crate) fn opens(call: u32) -> bool {
    is_one(call, OPENING)
}

pub(crate) fn takes_space(call: u32) -> bool {
    [WRITING, OPENING, MAKING].iter().any(|calls| is_one(call, calls))
}

/// The fate of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Pass,
    Fail(Errno),
    /// Writes half of its bytes.
    Short,
}

/// Does `work` in a thread whose calls wait for the parent.
pub(crate) fn watched<T>(work: impl FnOnce() -> T) -> T {
    let (found, number) = mpsc::channel::<i32>();
    let (confirm, is_taken) = mpsc::channel();
    // This thread is not watched.
    thread::spawn(move || {
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{MARK}{}", number.recv().unwrap()).and_then(|()| stdout.flush()).unwrap();
        std::io::stdin().read_exact(&mut [0]).unwrap();
        confirm.send(()).unwrap();
    });
    let listener = install();
    found.send(listener.as_raw_fd()).unwrap();
    is_taken.recv().unwrap();
    drop(listener);
    work()
}

/// Applies the filter to this thread.
fn install() -> OwnedFd {
    const LOAD_NUMBER: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let instruction = |code, jt, k| libc::sock_filter { code, jt, jf: 0, k };
    let calls = [WRITING, OPENING, MAKING, OTHERS].concat();
    let mut program = vec![instruction(LOAD_NUMBER, 0, 0)];
    for (nth, call) in calls.iter().enumerate() {
        let to_the_last = u8::try_from(calls.len() - nth).unwrap();
        program.push(instruction(IF_EQUAL, to_the_last, u32::try_from(*call).unwrap()));
    }
    program.push(instruction(RETURN, 0, libc::SECCOMP_RET_ALLOW));
    program.push(instruction(RETURN, 0, libc::SECCOMP_RET_USER_NOTIF));
    rustix::thread::set_no_new_privs(true).unwrap();
    let len = u16::try_from(program.len()).unwrap();
    let fprog = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    // SAFETY: the kernel reads the program, which outlives the call; the descriptor is new.
    unsafe {
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let made = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const fprog,
        );
        assert!(made >= 0, "{}", std::io::Error::last_os_error());
        OwnedFd::from_raw_fd(i32::try_from(made).unwrap())
    }
}

/// A process whose calls this program decides about.
pub(crate) struct Watched {
    child: Child,
    process: OwnedFd,
    listener: OwnedFd,
}

impl Watched {
    pub(crate) fn take(mut child: Child) -> Watched {
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let number = lines.find_map(|line| Some(line.rsplit_once(MARK)?.1.to_owned()));
        let number = number.unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        let listener =
            pidfd_getfd(&process, number.parse().unwrap(), PidfdGetfdFlags::empty()).unwrap();
        child.stdin.take().unwrap().write_all(b"!").unwrap();
        Watched { child, process, listener }
    }

    /// Decides about all calls until the process ends. Returns their numbers.
    pub(crate) fn run(mut self, fate: &dyn Fn(u32) -> Fate) -> (Vec<u32>, ExitStatus) {
        let mut calls = Vec::new();
        loop {
            let mut polled = [PollFd::new(&self.listener, PollFlags::IN)];
            poll(&mut polled, None).unwrap();
            if !polled[0].revents().contains(PollFlags::IN) {
                break;
            }
            let Some(asked) = self.receive() else { continue };
            let call = asked.data.nr.cast_unsigned();
            let result = match fate(call) {
                Fate::Pass => None,
                Fate::Fail(error) => Some(Err(error)),
                Fate::Short => Some(self.write_half(&asked)),
            };
            calls.push(call);
            self.answer(asked.id, result);
        }
        (calls, self.child.wait().unwrap())
    }

    fn receive(&self) -> Option<libc::seccomp_notif> {
        // SAFETY: a notification consists of numbers, and the kernel wants it to be empty before it fills it.
        unsafe {
            let mut asked: libc::seccomp_notif = std::mem::zeroed();
            let listener = self.listener.as_raw_fd();
            let received = libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked);
            (received == 0).then_some(asked)
        }
    }

    /// Answers a call; `None` lets the kernel make it.
    fn answer(&self, id: u64, result: Option<Result<i64, Errno>>) {
        let (val, error, flags) = match result {
            None => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Some(Ok(value)) => (value, 0, 0),
            Some(Err(error)) => (0, -error.raw_os_error(), 0),
        };
        let answer = libc::seccomp_notif_resp { id, val, error, flags };
        // SAFETY: the kernel reads the answer. It forgets one for a process that has ended.
        unsafe {
            let listener = self.listener.as_raw_fd();
            libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer);
        }
    }

    /// Writes the first half of the bytes of a call, in its place.
    fn write_half(&self, asked: &libc::seccomp_notif) -> Result<i64, Errno> {
        let [number, at, len, offset, ..] = asked.data.args;
        let memory = File::open(format!("/proc/{}/mem", asked.pid)).unwrap();
        let mut bytes = vec![0; usize::try_from(len).unwrap().div_ceil(2)];
        memory.read_exact_at(&mut bytes, at).unwrap();
        let number = i32::try_from(number).unwrap();
        let file = pidfd_getfd(self.process.as_fd(), number, PidfdGetfdFlags::empty())?;
        let written = if i64::from(asked.data.nr) == libc::SYS_write {
            rustix::io::write(&file, &bytes)?
        } else {
            rustix::io::pwrite(&file, &bytes, offset)?
        };
        Ok(i64::try_from(written).unwrap())
    }
}
