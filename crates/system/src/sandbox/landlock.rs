//! Restricts files on Linux: Landlock rules, which also keep other processes out of reach.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use std::path::{Path, PathBuf};

use super::{FilesystemLevel, Reads, Rules, Sockets};

/// The newest version of Landlock that is asked for; an older kernel enforces less.
const ABI_WANTED: ABI = ABI::V6;

/// Programs and libraries of the system.
const PROGRAMS: [&str; 8] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];
/// The files and directories that every program reads.
const READ: [&str; 7] = [
    "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives",
    // Node.js ends if it cannot read this file.
    "/etc/ssl/openssl.cnf", "/proc/self", "/dev/urandom", "/dev/random",
];
/// The files that every program writes.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
/// The directory of devices. Terminals are among them: whoever reads one takes what the user types.
const ALL_DEVICES: &str = "/dev";
/// The devices that a process reads which may read all files.
const READ_DEVICES: [&str; 3] = ["/dev/random", "/dev/urandom", "/dev/shm"];
/// The files that programs read in order to use the network.
const NETWORK: [&str; 11] = [
    "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf",
    "/etc/nsswitch.conf", "/etc/services", "/etc/protocols", "/etc/ssl", "/etc/pki",
    "/etc/ca-certificates",
];

/// Closes all files except those that `rules` allow or that every program needs. Returns the level
/// reached, and whether TCP is closed.
pub(super) fn restrict_files(rules: &Rules) -> Result<(FilesystemLevel, bool), RulesetError> {
    let look: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = AccessFs::from_read(ABI_WANTED);
    let devices = AccessFs::MakeChar | AccessFs::MakeBlock;
    let handled = match rules.reads {
        Reads::Only { .. } => AccessFs::from_all(ABI_WANTED),
        // Directories can be listed everywhere, and programs be run. Questions about devices
        // (`ioctl`) are left to the filter of system calls.
        Reads::All { .. } => {
            (AccessFs::from_write(ABI_WANTED) | AccessFs::ReadFile) & !AccessFs::IoctlDev
        }
    };
    let change = handled & !(devices | AccessFs::IoctlDev);

    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(handled)?
        // Other processes of the user, the host among them, cannot be sent signals.
        .scope(Scope::from_all(ABI_WANTED))?;
    let has_network = !matches!(rules.sockets, Sockets::Pairs);
    if !has_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI_WANTED))?;
    }
    let ruleset = ruleset
        .create()?
        .add_rules(path_beneath_rules(DEVICES, (look | AccessFs::WriteFile) & handled))?
        .add_rules(path_beneath_rules(&rules.write, change))?;
    let ruleset = match &rules.reads {
        Reads::Only { read, run: programs, but } => {
            let network: &[&str] = if has_network { &NETWORK } else { &[] };
            ruleset
                .add_rules(path_beneath_rules(PROGRAMS, run))?
                .add_rules(path_beneath_rules(READ.iter().chain(network), look))?
                .add_rules(path_beneath_rules(all_but(read, but), look))?
                .add_rules(path_beneath_rules(all_but(programs, but), run))?
        }
        Reads::All { but } => ruleset
            .add_rules(path_beneath_rules(everything_but(but), AccessFs::ReadFile))?
            .add_rules(path_beneath_rules(READ_DEVICES, AccessFs::ReadFile))?,
    };
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
    Ok((level, speaks_tcp && !has_network && level != FilesystemLevel::None))
}

/// Returns files and directories that together hold everything but devices and `hidden`.
fn everything_but(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let hidden: Vec<PathBuf> = hidden.iter().cloned().chain([PathBuf::from(ALL_DEVICES)]).collect();
    all_but(&[PathBuf::from("/")], &hidden)
}

/// Returns files and directories that together hold all of `wanted` but `hidden`. Landlock can only allow, so
/// these are the entries next to what is hidden and next to the directories above it.
fn all_but(wanted: &[PathBuf], hidden: &[PathBuf]) -> Vec<PathBuf> {
    let real = |path: &PathBuf| path.canonicalize().ok();
    let hidden: Vec<PathBuf> = hidden.iter().flat_map(|path| with_companions(path)).collect();
    let mut open = Vec::new();
    let mut left: Vec<PathBuf> = wanted.iter().filter_map(real).collect();
    while let Some(path) = left.pop() {
        if hidden.iter().any(|hidden| path.starts_with(hidden)) {
            continue;
        }
        if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            left.extend(entries(&path, &hidden));
        } else {
            open.push(path);
        }
    }
    open
}

/// Returns a path, and the files beside it whose names go on from its name: what databases, editors and programs that
/// set files aside keep next to a file. The file itself may be gone.
fn with_companions(path: &Path) -> Vec<PathBuf> {
    let real = path.canonicalize().or_else(|_| {
        let (dir, name) = (path.parent(), path.file_name().unwrap_or_default());
        dir.unwrap_or(Path::new(".")).canonicalize().map(|dir| dir.join(name))
    });
    let Ok(real) = real else { return Vec::new() };
    let (Some(dir), Some(name)) = (real.parent(), real.file_name()) else { return vec![real] };
    if real.is_dir() {
        return vec![real];
    }
    let belongs = |entry: &std::fs::DirEntry| {
        let found = entry.file_name();
        let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        rest.is_some_and(|rest| rest.first().is_none_or(|next| b"-.~".contains(next)))
    };
    let Ok(entries) = std::fs::read_dir(dir) else { return vec![real] };
    entries.flatten().filter(belongs).map(|entry| entry.path()).collect()
}

/// Returns the entries of a directory, without links, which lead to what is allowed where it is. Of a
/// directory that cannot be listed, returns those that lead to what is hidden.
fn entries(dir: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else {
        let below = |path: &PathBuf| Some(dir.join(path.strip_prefix(dir).ok()?.iter().next()?));
        return hidden.iter().filter_map(below).collect();
    };
    let is_link = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.flatten().filter(|entry| !is_link(entry)).map(|entry| entry.path()).collect()
}
