//! The arguments with which calls of the list are refused, nevertheless.

use std::error::Error;

use linux_raw_sys::general as linux;
use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::Calls;
use crate::sandbox::{Rules, Sockets};

const AF_UNIX: u64 = 1;
/// The address families IPv4, IPv6, and netlink, which looks up the addresses of this machine.
const INTERNET: [u64; 3] = [2, 10, 16];
/// The address families of the Internet, and netlink.
const INET: [u64; 2] = [2, 10];
const NETLINK: u64 = 16;
/// The protocols of their own choice, TCP, and UDP. Netlink's first is about routes and addresses.
const PROTOCOLS: [u64; 3] = [0, 6, 17];
/// Types of sockets other than streams and datagrams. Raw ones write headers themselves.
const OTHER_TYPES: [u64; 5] = [3, 4, 5, 6, 10];
/// Options, by level, that send packets by way of another address than that of the socket: source routes of
/// IPv4, and routing headers of IPv6 in their present and older form.
const ROUTES: [(u64, u64); 4] = [(0, 4), (41, 57), (41, 5), (41, 6)];
/// Options, by level, that let a socket keep more than usual: `SO_SNDBUF`, `SO_RCVBUF`, both by force, and
/// `SO_ZEROCOPY`, which keeps the pages of the sender. What is kept is memory that no limit counts.
const BUFFERS: [(u64, u64); 5] = [(1, 7), (1, 8), (1, 32), (1, 33), (1, 60)];
/// Makes a connection while sending (`MSG_FASTOPEN`); with the argument of each call that has the flags.
const FAST_OPEN: u64 = 0x2000_0000;
const SENDING: [(u32, u8); 3] =
    [(linux::__NR_sendto, 3), (linux::__NR_sendmsg, 2), (linux::__NR_sendmmsg, 3)];
/// The flag of `seccomp` that makes a filter ask: it could answer in the supervisor's place.
const NEW_LISTENER: u64 = 1 << 3;
/// The bits of a socket's type, without its flags.
const TYPE_MASK: u64 = 0xf;
/// The types of socket pairs that can send to any path: datagram sockets, and `SOCK_RAW`, which for
/// Unix sockets means the same.
const DATAGRAMS: [u64; 2] = [2, 3];

/// Flags of `clone` that make a namespace, or a sibling: a process that its parent does not know of
/// would outlive a call.
const CLONE_REFUSED: u32 = linux::CLONE_NEWNS
    | linux::CLONE_NEWCGROUP
    | linux::CLONE_NEWUTS
    | linux::CLONE_NEWIPC
    | linux::CLONE_NEWUSER
    | linux::CLONE_NEWPID
    | linux::CLONE_NEWNET
    | linux::CLONE_PARENT;

/// The flags of `clone` with which a thread is started, and shares the descriptors of its process.
const THREAD: u64 = linux::CLONE_THREAD as u64;
const FILES: u64 = linux::CLONE_FILES as u64;
/// The flag of `close_range` that gives a thread descriptors of its own.
const UNSHARE: u64 = 2;
/// The requests of `prctl` that hide what a process has open from whoever counts it, and that keep other programs off
/// a processor.
const SET_DUMPABLE: u64 = 4;
const SCHED_CORE: u64 = 62;

/// The personalities of Linux itself (see personality(2)): the usual one, its 32-bit machine name,
/// kernel versions before 4, and the question for the present one.
const PERSONALITIES: [u64; 5] = [0, 8, 0x0002_0000, 0x0002_0008, 0xffff_ffff];

/// Requests of `ioctl` that programs make of files, pipes, sockets and network interfaces, and
/// questions about terminals. All others are refused, such as those that type into a terminal, change
/// its modes or take it over.
const IOCTLS: [u64; 26] = [
    0x5401,      // TCGETS: whether it is a terminal
    0x802c_542a, // TCGETS2, the same
    0x540f,      // TIOCGPGRP
    0x5411,      // TIOCOUTQ, SIOCOUTQ
    0x5413,      // TIOCGWINSZ
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
    0x5452,      // FIOASYNC
    0x5460,      // FIOQSIZE
    0x2,         // FIGETBSZ
    0x4004_9409, // FICLONE
    0x4020_940d, // FICLONERANGE
    0xc020_660b, // FS_IOC_FIEMAP
    0x8008_6601, // FS_IOC_GETFLAGS
    0x8905,      // SIOCATMARK
    0x8910,      // SIOCGIFNAME
    0x8912,      // SIOCGIFCONF
    0x8913,      // SIOCGIFFLAGS
    0x8915,      // SIOCGIFADDR
    0x8919,      // SIOCGIFBRDADDR
    0x891b,      // SIOCGIFNETMASK
    0x8921,      // SIOCGIFMTU
    0x8927,      // SIOCGIFHWADDR
    0x8933,      // SIOCGIFINDEX
];

/// Commands of `fcntl`: descriptors, flags, locks, sizes of pipes, and seals. Others make the kernel send signals
/// (`F_SETOWN`), hold up whoever opens a file next (`F_SETLEASE`), watch a directory (`F_NOTIFY`), or keep hints with
/// a file that is only open for reading (`F_SET_RW_HINT`).
const FCNTLS: [u64; 24] = [
    0, 1, 2, 3, 4, // F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL
    5, 6, 7, 9, 11, // F_GETLK, F_SETLK, F_SETLKW, F_GETOWN, F_GETSIG
    16, 36, 37, 38, // F_GETOWN_EX, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
    1025, 1027, 1028, 1030, // F_GETLEASE, F_DUPFD_QUERY, F_CREATED_QUERY, F_DUPFD_CLOEXEC
    1031, 1032, 1033, 1034, // F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS
    1035, 1037, // F_GET_RW_HINT, F_GET_FILE_RW_HINT
];

/// The calls that make files, with their arguments of flags, if they have any, and of modes.
const MAKING: &[(u32, Option<u8>, u8)] = &[
    (linux::__NR_openat, Some(2), 3),
    (linux::__NR_mknodat, None, 2),
    #[cfg(target_arch = "x86_64")]
    (linux::__NR_open, Some(1), 2),
    #[cfg(target_arch = "x86_64")]
    (linux::__NR_creat, None, 1),
    #[cfg(target_arch = "x86_64")]
    (linux::__NR_mknod, None, 1),
];
/// The flags with which `open` makes a file: `O_CREAT`, and `O_TMPFILE` without the bits of other flags.
const MAKES: [u64; 2] = [linux::O_CREAT as u64, linux::__O_TMPFILE as u64];
/// The bits of a mode with which a program has the rights of its owner or its group, whoever starts it.
const RUNS_AS_OWNER: [u64; 2] = [linux::S_ISUID as u64, linux::S_ISGID as u64];

/// Returns the calls of the list that are refused with certain arguments, or always because `rules` do
/// not allow them.
pub(super) fn refused(rules: &Rules) -> Result<Calls, Box<dyn Error>> {
    let mut calls = Calls::new();
    let mut refuse = |number: u32, rules: Vec<SeccompRule>| calls.insert(number.into(), rules);
    // A rule for each flag: one of them is enough.
    let flags = (0..u32::BITS).map(|bit| u64::from(CLONE_REFUSED & (1 << bit)));
    let flags = flags.filter(|flag| *flag != 0);
    let flags: Result<Vec<_>, _> = flags.map(|flag| when(&[(0, has(flag), flag)])).collect();
    let mut clones = flags?;
    // The descriptors of such a thread would be seen nowhere; no library starts one.
    clones.push(when(&[(0, has(THREAD), THREAD), (0, has(FILES), 0)])?);
    refuse(linux::__NR_clone, clones);
    refuse(linux::__NR_close_range, vec![when(&[(2, has(UNSHARE), UNSHARE)])?]);
    refuse(linux::__NR_prctl, vec![hiding()?, when(&[(0, SeccompCmpOp::Eq, SCHED_CORE)])?]);
    refuse(linux::__NR_ioctl, none_of(1, &IOCTLS)?);
    refuse(linux::__NR_fcntl, none_of(1, &FCNTLS)?);
    refuse(linux::__NR_seccomp, vec![when(&[(1, has(NEW_LISTENER), NEW_LISTENER)])?]);
    refuse(linux::__NR_personality, none_of(0, &PERSONALITIES)?);
    programs_of_their_owner(&mut refuse)?;
    own_priorities(&mut refuse)?;
    sockets(&mut refuse, &rules.sockets)?;
    Ok(calls)
}

/// Returns the rule for `prctl` that matches if it makes a process hide what it has open.
fn hiding() -> Result<SeccompRule, Box<dyn Error>> {
    when(&[(0, SeccompCmpOp::Eq, SET_DUMPABLE), (1, SeccompCmpOp::Eq, 0)])
}

/// Refuses to make files that run with the rights of their owner. The supervisor refuses to change others into such.
fn programs_of_their_owner(
    refuse: &mut impl FnMut(u32, Vec<SeccompRule>) -> Option<Vec<SeccompRule>>,
) -> Result<(), Box<dyn Error>> {
    for (call, flags, modes) in MAKING.iter().copied() {
        let mut rules = Vec::new();
        for mode in RUNS_AS_OWNER.map(|mode| (modes, has(mode), mode)) {
            match flags {
                None => rules.push(when(&[mode])?),
                // Without these flags, the mode is not read and may be anything.
                Some(flags) => {
                    for flag in MAKES {
                        rules.push(when(&[(flags, has(flag), flag), mode.clone()])?);
                    }
                }
            }
        }
        refuse(call, rules);
    }
    Ok(())
}

/// Refuses to change limits, priorities, schedulers and processors of anything but the calling thread,
/// which these calls name by 0. Reading them is allowed.
fn own_priorities(
    refuse: &mut impl FnMut(u32, Vec<SeccompRule>) -> Option<Vec<SeccompRule>>,
) -> Result<(), Box<dyn Error>> {
    const IOPRIO_WHO_PROCESS: u64 = 1;
    let is_set = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let limit = SeccompRule::new(vec![condition(0, SeccompCmpOp::Ne, 0)?, is_set])?;
    refuse(linux::__NR_prlimit64, vec![limit]);
    let others = |own: u64| -> Result<_, Box<dyn Error>> {
        Ok(vec![when(&[(0, SeccompCmpOp::Ne, own)])?, when(&[(1, SeccompCmpOp::Ne, 0)])?])
    };
    refuse(linux::__NR_setpriority, others(u64::from(linux::PRIO_PROCESS))?);
    refuse(linux::__NR_ioprio_set, others(IOPRIO_WHO_PROCESS)?);
    for number in [
        linux::__NR_sched_setaffinity,
        linux::__NR_sched_setattr,
        linux::__NR_sched_setparam,
        linux::__NR_sched_setscheduler,
    ] {
        refuse(number, vec![when(&[(0, SeccompCmpOp::Ne, 0)])?]);
    }
    Ok(())
}

/// Returns the rules for calls of `setsockopt` that set one of these options, each with its level.
fn setting(options: &[(u64, u64)]) -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    let rule = |(level, option): &(u64, u64)| {
        when(&[(1, SeccompCmpOp::Eq, *level), (2, SeccompCmpOp::Eq, *option)])
    };
    options.iter().map(rule).collect()
}

/// Refuses the calls that make and use the sockets that are not allowed.
fn sockets(
    refuse: &mut impl FnMut(u32, Vec<SeccompRule>) -> Option<Vec<SeccompRule>>,
    sockets: &Sockets,
) -> Result<(), Box<dyn Error>> {
    refuse(linux::__NR_setsockopt, setting(&BUFFERS)?);
    match sockets {
        Sockets::All => return Ok(()),
        Sockets::Some(_) => internet(refuse)?,
        Sockets::Pairs => {
            // A pair is already connected, and needs none of these calls.
            for number in [linux::__NR_socket, linux::__NR_connect, linux::__NR_bind] {
                refuse(number, Vec::new());
            }
        }
    }
    let datagrams = DATAGRAMS.map(|kind| when(&[(1, has(TYPE_MASK), kind)]));
    let mut pairs = datagrams.into_iter().collect::<Result<Vec<_>, _>>()?;
    pairs.push(when(&[(0, SeccompCmpOp::Ne, AF_UNIX)])?);
    refuse(linux::__NR_socketpair, pairs);
    Ok(())
}

/// Refuses sockets other than those of the Internet's streams and datagrams, and detours of their packets.
fn internet(
    refuse: &mut impl FnMut(u32, Vec<SeccompRule>) -> Option<Vec<SeccompRule>>,
) -> Result<(), Box<dyn Error>> {
    let mut rules = [none_of(0, &INTERNET)?, none_of(2, &PROTOCOLS)?].concat();
    rules.push(when(&[(0, SeccompCmpOp::Eq, NETLINK), (2, SeccompCmpOp::Ne, 0)])?);
    for family in INET {
        for kind in OTHER_TYPES {
            rules.push(when(&[(0, SeccompCmpOp::Eq, family), (1, has(TYPE_MASK), kind)])?);
        }
    }
    refuse(linux::__NR_socket, rules);
    refuse(linux::__NR_setsockopt, setting(&[&BUFFERS[..], &ROUTES].concat())?);
    for (call, flags) in SENDING {
        refuse(call, vec![when(&[(flags, has(FAST_OPEN), FAST_OPEN)])?]);
    }
    Ok(())
}

/// Returns the rules for a call of `sendto` that has an address.
pub(super) fn with_address() -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    let is_there = SeccompCondition::new(4, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    Ok(vec![SeccompRule::new(vec![is_there])?])
}

/// Makes a rule that matches if an argument is none of `values`.
fn none_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    let others: Vec<_> = values.iter().map(|value| (argument, SeccompCmpOp::Ne, *value)).collect();
    Ok(vec![when(&others)?])
}

/// The operator that compares the bits of `mask` in an argument with a value.
fn has(mask: u64) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(mask)
}

/// Makes a rule that matches if all `conditions` hold.
fn when(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Box<dyn Error>> {
    let conditions = conditions.iter().cloned();
    let conditions =
        conditions.map(|(argument, operator, value)| condition(argument, operator, value));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

/// Makes a condition on the lower half of an argument. The kernel reads no more of these arguments,
/// either.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, Box<dyn Error>> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
