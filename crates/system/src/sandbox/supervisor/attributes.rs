//! The calls that change modes, owners, times and extended attributes of files. Rules of Landlock do not govern
//! them. The supervisor opens the file that the caller names, finds out where that open file lies, and makes the
//! call on it: whatever the caller renames or links meanwhile, the file that was checked is the one that changes.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd as _, OwnedFd};

use linux_raw_sys::general as linux;
use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Timespec, Timestamps, UTIME_NOW, Uid,
    XattrFlags, chmodat, chownat, fstat, openat2, removexattr, setxattr, utimensat,
};
use rustix::io::{Errno, Result};

use super::caller::Caller;
use super::listener::Asked;
use super::writable::{Writable, link};

/// The calls that wait for an answer of the supervisor, or are refused where there is none.
pub(in crate::sandbox) const ATTRIBUTES: &[&[u32]] = &[
    numbers![
        __NR_fchmod, __NR_fchmodat, __NR_fchmodat2, __NR_fchown, __NR_fchownat, __NR_utimensat,
        __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr,
        __NR_fremovexattr,
    ],
    #[cfg(target_arch = "x86_64")]
    numbers![__NR_chmod, __NR_chown, __NR_lchown, __NR_futimesat, __NR_utime, __NR_utimes],
];

/// The longest path and the longest name of an attribute, with the zero at the end, as in the kernel.
const PATH_BYTES: usize = 4096;
const NAME_BYTES: usize = 256;
/// The most bytes of an attribute, as in the kernel.
const VALUE_BYTES: u64 = 1 << 16;
/// The attributes that programs keep for their users, and lists of access rights. Others belong to modules of the
/// kernel, or to its administrator.
const NAMES: [&[u8]; 2] = [b"user.", b"system.posix_acl_"];
/// The bits that let a program run with the rights of its owner and its group.
const RUNS_AS_OWNER: Mode = Mode::SUID.union(Mode::SGID);

/// A file, as a call names it.
enum Target {
    /// An open file.
    Open(OwnedFd),
    /// A path that starts at an open directory.
    Path { base: OwnedFd, path: CString, follows: bool },
}

/// The part of a call that is not about which file.
enum Change {
    Mode(Mode),
    Owner(Option<Uid>, Option<Gid>),
    Times(Timestamps),
    Set { name: CString, value: Vec<u8>, flags: XattrFlags },
    Remove { name: CString },
}

/// Tells whether a call is one of those above.
pub(super) fn is_one(number: u32) -> bool {
    ATTRIBUTES.iter().any(|numbers| numbers.contains(&number))
}

/// Makes a call for its caller, if the file is writable. `is_valid` tells whether the caller still waits, and so
/// is the one that was opened.
pub(super) fn make(asked: &Asked, writable: &Writable, is_valid: &dyn Fn() -> bool) -> Result<i64> {
    let caller = Caller::open(asked.thread)?;
    let (target, change) = read(asked, &caller)?;
    is_valid().then_some(()).ok_or(Errno::SRCH)?;
    let file = target.open()?;
    if !writable.holds(file.as_fd())? {
        return Err(Errno::PERM);
    }
    change.make(&file)
}

/// Copies the arguments of a call from its caller.
fn read(asked: &Asked, caller: &Caller) -> Result<(Target, Change)> {
    let [first, second, third, fourth, fifth, _] = asked.arguments;
    let open = |number: u64| caller.file(number).map(Target::Open);
    let at = |base: u64, path: u64, flags: u64| Target::at(caller, base, path, flags);
    let here = |path: u64, follows: bool| {
        let flags = if follows { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        Target::at(caller, u64::from(linux::AT_FDCWD.cast_unsigned()), path, flags.bits().into())
    };
    let set = |name, value, len, flags| set(caller, name, value, len, flags);
    let remove = |at| Ok::<_, Errno>(Change::Remove { name: name(caller, at)? });
    Ok(match asked.number {
        linux::__NR_fchmod => (open(first)?, mode(second)),
        linux::__NR_fchmodat => (at(first, second, 0)?, mode(third)),
        linux::__NR_fchmodat2 => (at(first, second, fourth)?, mode(third)),
        linux::__NR_fchown => (open(first)?, owner(second, third)),
        linux::__NR_fchownat => (at(first, second, fifth)?, owner(third, fourth)),
        linux::__NR_utimensat if second == 0 => (open(first)?, times(caller, third)?),
        linux::__NR_utimensat => (at(first, second, fourth)?, times(caller, third)?),
        linux::__NR_setxattr => (here(first, true)?, set(second, third, fourth, fifth)?),
        linux::__NR_lsetxattr => (here(first, false)?, set(second, third, fourth, fifth)?),
        linux::__NR_fsetxattr => (open(first)?, set(second, third, fourth, fifth)?),
        linux::__NR_removexattr => (here(first, true)?, remove(second)?),
        linux::__NR_lremovexattr => (here(first, false)?, remove(second)?),
        linux::__NR_fremovexattr => (open(first)?, remove(second)?),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_chmod => (here(first, true)?, mode(second)),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_chown => (here(first, true)?, owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_lchown => (here(first, false)?, owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_futimesat if second == 0 => (open(first)?, older_times(caller, third, MICROS)?),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_futimesat => (at(first, second, 0)?, older_times(caller, third, MICROS)?),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_utimes => (here(first, true)?, older_times(caller, second, MICROS)?),
        #[cfg(target_arch = "x86_64")]
        linux::__NR_utime => (here(first, true)?, older_times(caller, second, 0)?),
        _ => return Err(Errno::NOSYS),
    })
}

impl Target {
    /// Reads a path and the directory at which it starts.
    fn at(caller: &Caller, base: u64, path: u64, flags: u64) -> Result<Target> {
        let flags = AtFlags::from_bits_retain(flags as u32);
        if !(AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH).contains(flags) {
            return Err(Errno::INVAL);
        }
        let path = caller.text(path, PATH_BYTES).map_err(|error| match error {
            Errno::RANGE => Errno::NAMETOOLONG,
            error => error,
        })?;
        if path.is_empty() && flags.contains(AtFlags::EMPTY_PATH) {
            return Ok(Target::Open(caller.directory(base)?));
        }
        // These name descriptors of whoever opens them, which would be this program.
        if let Some(number) = caller.own_descriptor(&path) {
            return caller.file(number).map(Target::Open);
        }
        let base = caller.directory(base)?;
        Ok(Target::Path { base, path, follows: !flags.contains(AtFlags::SYMLINK_NOFOLLOW) })
    }

    /// Opens the file, without looking at its content.
    fn open(self) -> Result<OwnedFd> {
        match self {
            Target::Open(file) => Ok(file),
            Target::Path { base, path, follows } => {
                let flags = if follows { OFlags::empty() } else { OFlags::NOFOLLOW };
                let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
                openat2(base, &*path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
            }
        }
    }
}

impl Change {
    /// Makes the change. The link to an open file leads to the file itself, even if that is a link.
    fn make(&self, file: &OwnedFd) -> Result<i64> {
        let path = link(file.as_fd());
        match self {
            Change::Mode(mode) => {
                let kind = FileType::from_raw_mode(fstat(file)?.st_mode);
                // Other users who start it would run code of a skill with the rights of this one.
                if kind != FileType::Directory && mode.intersects(RUNS_AS_OWNER) {
                    return Err(Errno::PERM);
                }
                chmodat(CWD, path, *mode, AtFlags::empty())?;
            }
            Change::Owner(user, group) => chownat(CWD, path, *user, *group, AtFlags::empty())?,
            Change::Times(times) => utimensat(CWD, path, times, AtFlags::empty())?,
            Change::Set { name, value, flags } => setxattr(path, &**name, value, *flags)?,
            Change::Remove { name } => removexattr(path, &**name)?,
        }
        Ok(0)
    }
}

fn mode(bits: u64) -> Change {
    Change::Mode(Mode::from_raw_mode(bits as u32 & 0o7777))
}

fn owner(user: u64, group: u64) -> Change {
    let [user, group] = [user, group].map(|id| Some(id as u32).filter(|id| *id != u32::MAX));
    Change::Owner(user.map(Uid::from_raw), group.map(Gid::from_raw))
}

/// Reads two times in nanoseconds; without any, both are now.
fn times(caller: &Caller, at: u64) -> Result<Change> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let [last_access, last_modification] = if at == 0 {
        [now; 2]
    } else {
        let [first, first_part, second, second_part] = caller.words(at)?;
        [(first, first_part), (second, second_part)]
            .map(|(seconds, part)| Timespec { tv_sec: seconds, tv_nsec: part })
    };
    Ok(Change::Times(Timestamps { last_access, last_modification }))
}

/// The parts of a second in which `utimes` counts.
#[cfg(target_arch = "x86_64")]
const MICROS: i64 = 1_000_000;

/// Reads two times in seconds and this many parts of a second; without any, both are now.
#[cfg(target_arch = "x86_64")]
fn older_times(caller: &Caller, at: u64, parts: i64) -> Result<Change> {
    if at == 0 {
        return times(caller, 0);
    }
    let times = if parts == 0 {
        caller.words(at)?.map(|seconds| (seconds, 0))
    } else {
        let [first, first_part, second, second_part] = caller.words(at)?;
        [(first, first_part), (second, second_part)]
    };
    let is_valid = |part: i64| part == 0 || (0..parts).contains(&part);
    if !times.iter().all(|(_, part)| is_valid(*part)) {
        return Err(Errno::INVAL);
    }
    let [last_access, last_modification] =
        times.map(|(tv_sec, part)| Timespec { tv_sec, tv_nsec: part * 1000 });
    Ok(Change::Times(Timestamps { last_access, last_modification }))
}

fn set(caller: &Caller, name_at: u64, value: u64, len: u64, flags: u64) -> Result<Change> {
    let name = name(caller, name_at)?;
    if len > VALUE_BYTES {
        return Err(Errno::TOOBIG);
    }
    let value = caller.bytes(value, len as usize)?;
    Ok(Change::Set { name, value, flags: XattrFlags::from_bits_retain(flags as u32) })
}

/// Reads the name of an attribute.
fn name(caller: &Caller, at: u64) -> Result<CString> {
    let name = caller.text(at, NAME_BYTES)?;
    let is_open = |prefix: &&[u8]| CStr::to_bytes(&name).starts_with(prefix);
    if NAMES.iter().any(is_open) { Ok(name) } else { Err(Errno::PERM) }
}
