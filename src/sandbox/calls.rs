//! System calls under Linux: a seccomp filter refuses those that lead out of the sandbox.

use std::error::Error;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::{Rules, Sockets};

/// Numbers of the system calls that are filtered, from the kernel's tables.
struct Calls {
    socket: i64,
    connect: i64,
    bind: i64,
    socketpair: i64,
    clone: i64,
    unshare: i64,
    setpgid: i64,
    setsid: i64,
    ioctl: i64,
    prlimit: i64,
    setpriority: i64,
    /// `add_key`, `request_key` and `keyctl`.
    keyrings: [i64; 3],
}

#[cfg(target_arch = "x86_64")]
const CALLS: Option<Calls> = Some(Calls {
    socket: 41,
    connect: 42,
    bind: 49,
    socketpair: 53,
    clone: 56,
    unshare: 272,
    setpgid: 109,
    setsid: 112,
    ioctl: 16,
    prlimit: 302,
    setpriority: 141,
    keyrings: [248, 249, 250],
});
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const CALLS: Option<Calls> = Some(Calls {
    socket: 198,
    connect: 203,
    bind: 200,
    socketpair: 199,
    clone: 220,
    unshare: 97,
    setpgid: 154,
    setsid: 157,
    ioctl: 29,
    prlimit: 261,
    setpriority: 140,
    keyrings: [217, 218, 219],
});
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const CALLS: Option<Calls> = None;

// The same on every architecture.
/// A ring makes sockets without `socket`.
const IO_URING_SETUP: i64 = 425;
/// Its flags are in memory, which no filter reads.
const CLONE3: i64 = 435;
/// The x86-64 kernel may take every call under a second number.
const X32: i64 = 0x4000_0000;

const AF_UNIX: u64 = 1;
/// IPv4, IPv6, and netlink, which looks up the addresses of this machine.
const INTERNET: [u64; 3] = [2, 10, 16];
/// The type of a socket without its flags.
const TYPE_MASK: u64 = 0xf;
/// The types of socket pairs that can be sent from to any path: a Unix socket that is `SOCK_RAW` is
/// a datagram socket as well.
const DATAGRAMS: [u64; 2] = [2, 3];
const CLONE_NEWUSER: u64 = 0x1000_0000;
/// Everything above processes and groups of them: all processes of a user.
const PRIO_USER: u64 = 2;
/// Types into a terminal, as its user: the shell reads it when the process is gone. The second one
/// does so on a console, by its selection.
const TYPE_INTO_TERMINAL: [u64; 2] = [0x5412, 0x541C];
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Calls by their numbers, with the rules of which any refuses a call; without a rule, all are
/// refused.
type Refused = Vec<(i64, Vec<SeccompRule>)>;

/// Refuses to leave the process group, so that it can be killed as a whole; to type into a
/// terminal; to become root in a namespace of its own; to change limits and priorities of other
/// processes; to read the user's keyrings; and the sockets that `rules` do not leave open.
pub(super) fn filter_calls(rules: &Rules) -> Result<(), Box<dyn Error>> {
    let calls = CALLS.ok_or("the numbers of this processor's system calls are not known")?;
    let mut refused = vec![
        (calls.setsid, Vec::new()),
        (
            calls.setpgid,
            rules.join.map_or(Ok(Vec::new()), |group| {
                Ok::<_, Box<dyn Error>>(vec![when(&[(1, SeccompCmpOp::Ne, u64::from(group))])?])
            })?,
        ),
        (calls.ioctl, any_of(1, &SeccompCmpOp::Eq, &TYPE_INTO_TERMINAL)?),
        (calls.unshare, vec![when(&[(0, has(CLONE_NEWUSER), CLONE_NEWUSER)])?]),
        (calls.clone, vec![when(&[(0, has(CLONE_NEWUSER), CLONE_NEWUSER)])?]),
        // Of another process, and not only asked for. That one's limits may end it.
        (
            calls.prlimit,
            vec![SeccompRule::new(vec![
                condition(0, SeccompCmpOp::Ne, 0)?,
                SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?,
            ])?],
        ),
        (calls.setpriority, any_of(0, &SeccompCmpOp::Eq, &[PRIO_USER])?),
    ];
    refused.extend(calls.keyrings.map(|number| (number, Vec::new())));
    refused.extend(sockets(&calls, rules.sockets)?);
    refuse(refused, EPERM)?;
    // What says that there is no such call makes libraries use `clone`.
    refuse(vec![(CLONE3, Vec::new())], ENOSYS)
}

/// The calls by which sockets are made and used that are not to be.
fn sockets(calls: &Calls, sockets: Sockets) -> Result<Refused, Box<dyn Error>> {
    let mut refused = Vec::new();
    match sockets {
        Sockets::All => return Ok(refused),
        Sockets::Internet => {
            let others = INTERNET.map(|family| (0, SeccompCmpOp::Ne, family));
            refused.push((calls.socket, vec![when(&others)?]));
        }
        Sockets::Pairs => {
            // A pair is connected already.
            let all = [calls.socket, calls.connect, calls.bind];
            refused.extend(all.map(|number| (number, Vec::new())));
        }
    }
    let mut pairs = any_of(1, &has(TYPE_MASK), &DATAGRAMS)?;
    pairs.push(when(&[(0, SeccompCmpOp::Ne, AF_UNIX)])?);
    refused.extend([(calls.socketpair, pairs), (IO_URING_SETUP, Vec::new())]);
    Ok(refused)
}

/// Refuses these calls to this thread, and to all that it starts, with `errno`.
fn refuse(mut calls: Refused, errno: u32) -> Result<(), Box<dyn Error>> {
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> =
            calls.iter().map(|(number, rules)| (number | X32, rules.clone())).collect();
        calls.extend(twins);
    }
    let filter: BpfProgram = SeccompFilter::new(
        calls.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    Ok(apply_filter(&filter)?)
}

/// The bits of `mask` in an argument, compared with a value.
fn has(mask: u64) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(mask)
}

/// A rule for each of `values`: any of them is enough.
fn any_of(
    argument: u8,
    operator: &SeccompCmpOp,
    values: &[u64],
) -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    values.iter().map(|value| when(&[(argument, operator.clone(), *value)])).collect()
}

/// A rule that wants all of `conditions`.
fn when(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, Box<dyn Error>> {
    let conditions = conditions.iter().cloned();
    let conditions =
        conditions.map(|(argument, operator, value)| condition(argument, operator, value));
    Ok(SeccompRule::new(conditions.collect::<Result<_, _>>()?)?)
}

/// The kernel, too, reads no more of these arguments than their lower half.
fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, Box<dyn Error>> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}
