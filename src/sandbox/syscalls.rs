//! Filters system calls on Linux: a seccomp filter refuses those that lead out of the sandbox.

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

// These numbers are the same on every architecture.
/// `io_uring_setup`: a ring makes sockets without `socket`.
const IO_URING_SETUP: i64 = 425;
/// `clone3`: its flags are in memory, which a filter cannot read.
const CLONE3: i64 = 435;
/// The bit of the second number under which the x86-64 kernel may take each call (the x32 ABI).
const X32: i64 = 0x4000_0000;

const AF_UNIX: u64 = 1;
/// The address families IPv4, IPv6, and netlink, which looks up the addresses of this machine.
const INTERNET: [u64; 3] = [2, 10, 16];
/// The bits of a socket's type, without its flags.
const TYPE_MASK: u64 = 0xf;
/// The types of socket pairs that can send to any path: datagram sockets, and `SOCK_RAW`, which for
/// Unix sockets means the same.
const DATAGRAMS: [u64; 2] = [2, 3];
const CLONE_NEWUSER: u64 = 0x1000_0000;
/// The first argument of `setpriority` that means all processes of a user. Smaller ones mean a process
/// or a group.
const PRIO_USER: u64 = 2;
/// The `ioctl` requests that type into a terminal as its user: the shell reads the text when the
/// process is gone. They are `TIOCSTI`, and `TIOCLINUX`, which pastes the selection of a console.
const TYPE_INTO_TERMINAL: [u64; 2] = [0x5412, 0x541C];
const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Refused calls, by their numbers. A call is refused if one of its rules matches, or always if it has
/// no rules.
type Refused = Vec<(i64, Vec<SeccompRule>)>;

/// Refuses calls by which a process could leave its process group, which must be killed as a whole;
/// type into a terminal; become root in a namespace of its own; change limits and priorities of other
/// processes; read the user's keyrings; or use sockets that `rules` do not allow.
pub(super) fn filter_calls(rules: &Rules) -> Result<(), Box<dyn Error>> {
    let calls = CALLS.ok_or("the numbers of this processor's system calls are not known")?;
    let mut refused = vec![
        (calls.setsid, Vec::new()),
        (calls.setpgid, any_of(1, &SeccompCmpOp::Ne, rules.join.map(u64::from).as_slice())?),
        (calls.ioctl, any_of(1, &SeccompCmpOp::Eq, &TYPE_INTO_TERMINAL)?),
        (calls.unshare, vec![when(&[(0, has(CLONE_NEWUSER), CLONE_NEWUSER)])?]),
        (calls.clone, vec![when(&[(0, has(CLONE_NEWUSER), CLONE_NEWUSER)])?]),
        // Refuse to set the limits of another process, since these could end it. Reading them is
        // allowed.
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
    // With the error that there is no such call, libraries use `clone` instead.
    refuse(vec![(CLONE3, Vec::new())], ENOSYS)
}

/// The calls that make and use the sockets that are not allowed.
fn sockets(calls: &Calls, sockets: Sockets) -> Result<Refused, Box<dyn Error>> {
    let mut refused = Vec::new();
    match sockets {
        Sockets::All => return Ok(refused),
        Sockets::Internet => {
            let others = INTERNET.map(|family| (0, SeccompCmpOp::Ne, family));
            refused.push((calls.socket, vec![when(&others)?]));
        }
        Sockets::Pairs => {
            // A pair is already connected, and needs none of these calls.
            let all = [calls.socket, calls.connect, calls.bind];
            refused.extend(all.map(|number| (number, Vec::new())));
        }
    }
    let mut pairs = any_of(1, &has(TYPE_MASK), &DATAGRAMS)?;
    pairs.push(when(&[(0, SeccompCmpOp::Ne, AF_UNIX)])?);
    refused.extend([(calls.socketpair, pairs), (IO_URING_SETUP, Vec::new())]);
    Ok(refused)
}

/// Refuses these calls with `errno`, for this thread and all that it starts.
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

/// The operator that compares the bits of `mask` in an argument with a value.
fn has(mask: u64) -> SeccompCmpOp {
    SeccompCmpOp::MaskedEq(mask)
}

/// Makes a rule for each of `values`: any of them is enough.
fn any_of(
    argument: u8,
    operator: &SeccompCmpOp,
    values: &[u64],
) -> Result<Vec<SeccompRule>, Box<dyn Error>> {
    values.iter().map(|value| when(&[(argument, operator.clone(), *value)])).collect()
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
