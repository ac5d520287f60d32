//! What a plugin's process gives up before it opens the library.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::limits::{FilesystemLevel, NetworkLevel, SandboxLevel};
use super::protocol::Load;

/// Gives up all that can be, and says how far that went. Only the calling thread and what it
/// starts later are bound.
pub(super) fn apply(load: &Load) -> SandboxLevel {
    let rlimits = limit(load);
    #[cfg(target_os = "linux")]
    {
        let no_new_privs = rustix::thread::set_no_new_privs(true)
            .inspect_err(|error| complain("no new privileges", error))
            .is_ok();
        let (filesystem, tcp_is_closed) = linux::restrict_files(load).unwrap_or_else(|error| {
            complain("landlock", &error);
            (FilesystemLevel::None, false)
        });
        let filtered = linux::filter_calls(load.network)
            .inspect_err(|error| complain("seccomp", error))
            .is_ok();
        let network = match (load.network, filtered, tcp_is_closed) {
            (true, ..) | (false, false, false) => NetworkLevel::Open,
            (false, true, _) => NetworkLevel::All,
            (false, false, true) => NetworkLevel::Tcp,
        };
        SandboxLevel { no_new_privs, rlimits, filesystem, network }
    }
    #[cfg(not(target_os = "linux"))]
    SandboxLevel {
        no_new_privs: false,
        rlimits,
        filesystem: FilesystemLevel::None,
        network: NetworkLevel::Open,
    }
}

/// Sets the limits of the system; true if all of them are set.
fn limit(load: &Load) -> bool {
    let limits = [
        (Resource::As, load.address_space, 0),
        // The hard limit kills, the soft one says why.
        (Resource::Cpu, load.cpu_seconds, 1),
        (Resource::Fsize, load.file_bytes, 0),
        (Resource::Nproc, load.processes, 0),
        (Resource::Core, Some(0), 0),
    ];
    let set = limits.iter().filter_map(|(resource, limit, more)| {
        let most = getrlimit(*resource).maximum.unwrap_or(u64::MAX);
        let soft = (*limit)?.min(most);
        let maximum = Some(soft.saturating_add(*more).min(most));
        Some(setrlimit(*resource, Rlimit { current: Some(soft), maximum }))
    });
    // Each limit is set, also after one that could not be.
    let failed = set.filter_map(Result::err).inspect(|error| complain("a limit", error));
    failed.count() == 0
}

/// The host logs it.
fn complain(what: &str, error: &dyn std::fmt::Display) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "the sandbox lacks {what}: {error}");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _,
        LandlockStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, apply_filter,
    };

    use super::{FilesystemLevel, Load};

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
    const DEVICES: [&str; 2] = ["/dev/null", "/dev/zero"];
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
    pub(super) fn restrict_files(load: &Load) -> Result<(FilesystemLevel, bool), RulesetError> {
        let look: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
        let run = AccessFs::from_read(ABI_WANTED);
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
        let change = AccessFs::from_all(ABI_WANTED) & !(devices | AccessFs::IoctlDev);
        let network: &[&str] = if load.network { &NETWORK } else { &[] };
        let of = |paths: &[std::ffi::OsString]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let own = [&load.library, &load.skill_dir].map(Path::new);

        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI_WANTED))?
            // Other processes of the user, the host among them, get no signals.
            .scope(Scope::from_all(ABI_WANTED))?;
        if !load.network {
            rules = rules.handle_access(AccessNet::from_all(ABI_WANTED))?;
        }
        let status = rules
            .create()?
            .add_rules(path_beneath_rules(PROGRAMS, run))?
            .add_rules(path_beneath_rules(READ.iter().chain(network), look))?
            .add_rules(path_beneath_rules(DEVICES, look | AccessFs::WriteFile))?
            .add_rules(path_beneath_rules(own, look))?
            .add_rules(path_beneath_rules(of(&load.read), look))?
            .add_rules(path_beneath_rules(of(&load.write), change))?
            .add_rules(path_beneath_rules([&load.scratch], change))?
            .restrict_self()?;
        let level = match status.ruleset {
            RulesetStatus::FullyEnforced => FilesystemLevel::Full,
            RulesetStatus::PartiallyEnforced => FilesystemLevel::Partial,
            RulesetStatus::NotEnforced => FilesystemLevel::None,
        };
        let speaks_tcp = matches!(
            status.landlock,
            LandlockStatus::Available { effective_abi, .. } if effective_abi >= ABI::V4
        );
        Ok((level, speaks_tcp && !load.network && level != FilesystemLevel::None))
    }

    /// Numbers of the system calls that are refused, from the kernel's tables.
    struct Calls {
        socket: i64,
        setpgid: i64,
        setsid: i64,
    }

    #[cfg(target_arch = "x86_64")]
    const CALLS: Option<Calls> = Some(Calls { socket: 41, setpgid: 109, setsid: 112 });
    #[cfg(any(target_arch = "aarch64", target_arch = "riscv64"))]
    const CALLS: Option<Calls> = Some(Calls { socket: 198, setpgid: 154, setsid: 157 });
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
    const CALLS: Option<Calls> = None;

    /// The same on every architecture; a ring makes sockets without `socket`.
    const IO_URING_SETUP: i64 = 425;
    /// The x86-64 kernel may take every call under a second number.
    const X32: i64 = 0x4000_0000;
    const AF_UNIX: u64 = 1;
    const EPERM: u32 = 1;

    /// Refuses to leave the process group, so that it can be killed as a whole, and, without the
    /// network, sockets other than those of Unix.
    pub(super) fn filter_calls(network: bool) -> Result<(), Box<dyn std::error::Error>> {
        let Calls { socket, setpgid, setsid } =
            CALLS.ok_or("the numbers of this processor's system calls are not known")?;
        let mut refused = vec![(setpgid, Vec::new()), (setsid, Vec::new())];
        if !network {
            let other =
                SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, AF_UNIX)?;
            refused.push((socket, vec![SeccompRule::new(vec![other])?]));
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
}
