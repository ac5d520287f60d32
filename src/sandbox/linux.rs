//! Linux: Landlock closes files, a seccomp filter closes system calls.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

use super::{FilesystemLevel, Reads, Rules};

/// The newest rules that are asked for; an older kernel enforces fewer.
const ABI_WANTED: ABI = ABI::V6;

/// Programs and libraries of the system.
const PROGRAMS: [&str; 8] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/// What every program reads.
const READ: [&str; 6] = [
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
    "/proc/self",
    "/dev/urandom",
    "/dev/random",
];
/// What every program writes.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
/// What programs of the network read.
const NETWORK: [&str; 11] = [
    "/etc/resolv.conf",
    "/run/systemd/resolve",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/gai.conf",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
];

/// Closes all files but some; also says whether TCP is closed.
pub(super) fn restrict_files(rules: &Rules) -> Result<(FilesystemLevel, bool), RulesetError> {
    let look: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = AccessFs::from_read(ABI_WANTED);
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let handled = match rules.reads {
        Reads::Only(_) => AccessFs::from_all(ABI_WANTED),
        // Without a rule for terminals: what can be read can be asked for its size.
        Reads::All => AccessFs::from_write(ABI_WANTED) & !AccessFs::IoctlDev,
    };
    let change = handled & !(devices | AccessFs::IoctlDev);

    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        // Other processes of the user, the host among them, get no signals.
        .scope(Scope::from_all(ABI_WANTED))?;
    if !rules.network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI_WANTED))?;
    }
    let mut ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(DEVICES, (look | AccessFs::WriteFile) & handled))?
        .add_rules(path_beneath_rules(&rules.write, change))?;
    if let Reads::Only(paths) = &rules.reads {
        let network: &[&str] = if rules.network { &NETWORK } else { &[] };
        ruleset = ruleset
            .add_rules(path_beneath_rules(PROGRAMS, run))?
            .add_rules(path_beneath_rules(READ.iter().chain(network), look))?
            .add_rules(path_beneath_rules(paths, look))?;
    }
    let status = ruleset.restrict_self()?;
    let level = match status.ruleset {
        RulesetStatus::FullyEnforced => FilesystemLevel::Full,
        RulesetStatus::PartiallyEnforced => FilesystemLevel::Partial,
        RulesetStatus::NotEnforced => FilesystemLevel::None,
    };
    let speaks_tcp = matches!(
        status.landlock,
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V4
    );
    Ok((level, speaks_tcp && !rules.network && level != FilesystemLevel::None))
}

/// Numbers of the system calls that are refused, from the kernel's tables.
struct Calls {
    socket: i64,
    setpgid: i64,
    setsid: i64,
    ioctl: i64,
}

#[cfg(target_arch = "x86_64")]
const CALLS: Option<Calls> = Some(Calls { socket: 41, setpgid: 109, setsid: 112, ioctl: 16 });
#[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
const CALLS: Option<Calls> = Some(Calls { socket: 198, setpgid: 154, setsid: 157, ioctl: 29 });
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
const CALLS: Option<Calls> = None;

/// The same on every architecture; a ring makes sockets without `socket`.
const IO_URING_SETUP: i64 = 425;
/// The x86-64 kernel may take every call under a second number.
const X32: i64 = 0x4000_0000;
const AF_UNIX: u64 = 1;
/// Types into a terminal, as its user: the shell reads it when the process is gone. The second one
/// does so on a console, by its selection.
const TYPE_INTO_TERMINAL: [u64; 2] = [0x5412, 0x541C];
const EPERM: u32 = 1;

/// Refuses to leave the process group, so that it can be killed as a whole, to type into a
/// terminal, and, without the network, sockets other than those of Unix.
pub(super) fn filter_calls(rules: &Rules) -> Result<(), Box<dyn std::error::Error>> {
    let Calls { socket, setpgid, setsid, ioctl } =
        CALLS.ok_or("the numbers of this processor's system calls are not known")?;
    // The kernel, too, reads no more of these arguments than their lower half.
    let when = |argument, operator, value| -> Result<_, Box<dyn std::error::Error>> {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
        Ok(SeccompRule::new(vec![condition])?)
    };
    let join = match rules.join {
        Some(group) => vec![when(1, SeccompCmpOp::Ne, u64::from(group))?],
        None => Vec::new(),
    };
    let [types, selects] = TYPE_INTO_TERMINAL;
    let typing = vec![when(1, SeccompCmpOp::Eq, types)?, when(1, SeccompCmpOp::Eq, selects)?];
    let mut refused = vec![(setpgid, join), (setsid, Vec::new()), (ioctl, typing)];
    if !rules.network {
        refused.push((socket, vec![when(0, SeccompCmpOp::Ne, AF_UNIX)?]));
        refused.push((IO_URING_SETUP, Vec::new()));
    }
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> =
            refused.iter().map(|(number, rules)| (number | X32, rules.clone())).collect();
        refused.extend(twins);
    }
    let filter: BpfProgram = SeccompFilter::new(
        refused.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(EPERM),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter(&filter)?;
    Ok(())
}
