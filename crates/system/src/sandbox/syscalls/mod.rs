//! Filters system calls on Linux. Two seccomp filters hold at once: the first knows which calls exist
//! in the sandbox ([`allowed`]), the second refuses some of their arguments ([`arguments`]). A third makes calls wait
//! for the supervisor: those that change attributes of files, and where the network is open those with addresses.

mod allowed;
mod arguments;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::OnceLock;

use linux_raw_sys::general as linux;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, apply_filter};

use super::{Rules, Sockets, supervisor};

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;

/// Calls that libraries do without if there is no such call, but not if it is refused: they then use
/// `clone`, temporary files, `openat`, and `read` with `write`.
const UNKNOWN: [u32; 7] = [
    linux::__NR_clone3,
    linux::__NR_memfd_create,
    linux::__NR_openat2,
    linux::__NR_sendfile,
    linux::__NR_splice,
    linux::__NR_tee,
    linux::__NR_vmsplice,
];

/// The newest call that was weighed for the list. Programs are used to kernels that do not have newer
/// ones, and then use older ones instead.
const NEWEST: u32 = linux::__NR_mseal;

/// Returns the numbers of the calls that exist in the sandbox, for tests that try all others.
pub fn allowed_calls() -> Vec<u32> {
    allowed::all().collect()
}

/// Calls by their numbers, each with the arguments for which the filter acts; none means always.
type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// The filters of a process, compiled.
#[derive(Debug)]
pub(super) struct Filters {
    /// The filters that decide by themselves.
    own: [BpfProgram; 2],
    /// The filter that asks the supervisor; `None` if nothing is asked. It is applied first: the others
    /// refuse to apply one.
    pub(super) asking: Option<BpfProgram>,
}

impl Filters {
    /// Compiles the filters for `rules`. With `has_files`, nothing restricts files, and their attributes stay open,
    /// too; without `is_supervised`, they are closed everywhere. Fails on processors whose calls are not known.
    pub(super) fn new(
        rules: &Rules,
        has_files: bool,
        is_supervised: bool,
    ) -> Result<Filters, Box<dyn Error>> {
        let allowed: BTreeSet<u32> = allowed::all().collect();
        let existing = allowed.iter().map(|number| (i64::from(*number), Vec::new())).collect();
        let mut refused = arguments::refused(rules)?;
        let known = (0..=NEWEST).filter(|number| !allowed.contains(number));
        let known = known.filter(|number| !UNKNOWN.contains(number));
        refused.extend(known.map(|number| (i64::from(number), Vec::new())));
        if !has_files && !is_supervised {
            refused.extend(attributes());
        }
        let own = [
            compile(existing, SeccompAction::Errno(ENOSYS), SeccompAction::Allow)?,
            compile(refused, SeccompAction::Allow, SeccompAction::Errno(EPERM))?,
        ];
        let asks_network = matches!(rules.sockets, Sockets::Some(_));
        let is_asked = is_supervised && (asks_network || !has_files);
        let asking = is_asked.then(|| asking(asks_network, !has_files)).transpose()?;
        Ok(Filters { own, asking })
    }

    /// Applies the filters to the calling thread and all that it starts later. Allocates nothing unless
    /// it fails.
    pub(super) fn apply(&self) -> Result<(), seccompiler::Error> {
        self.own.iter().try_for_each(|program| apply_filter(program))
    }

    /// Applies the filters to all threads of this process, those included that a runtime has started
    /// before.
    pub(super) fn apply_to_process(&self) -> Result<(), seccompiler::Error> {
        self.own.iter().try_for_each(|program| seccompiler::apply_filter_all_threads(program))
    }
}

/// Tells whether a supervisor can decide about calls of a sandbox.
pub(super) fn is_supervised() -> bool {
    supervisor::is_supported(|| asking(true, true).ok())
}

/// The calls that change attributes of files.
fn attributes() -> impl Iterator<Item = (i64, Vec<SeccompRule>)> {
    let numbers = supervisor::ATTRIBUTES.iter().copied().flatten();
    numbers.map(|number| (i64::from(*number), Vec::new()))
}

/// Compiles the filter that asks the supervisor about addresses, about attributes of files, or both.
fn asking(network: bool, files: bool) -> Result<BpfProgram, Box<dyn Error>> {
    const RETURN: u16 = 0x06;
    const TRAP: u32 = 0x0003_0000;
    const ASK: u32 = 0x7fc0_0000; // SECCOMP_RET_USER_NOTIF
    let mut calls = Calls::new();
    if network {
        calls.extend(supervisor::ADDRESSES.map(|number| (i64::from(number), Vec::new())));
        calls.insert(linux::__NR_sendto.into(), arguments::with_address()?);
    }
    if files {
        calls.extend(attributes());
    }
    // The compiler does not know this action, so that another one, which nothing else uses, marks its place.
    let mut program = compile(calls, SeccompAction::Allow, SeccompAction::Trap)?;
    for instruction in &mut program {
        if (instruction.code, instruction.k) == (RETURN, TRAP) {
            instruction.k = ASK;
        }
    }
    Ok(program)
}

/// Tells whether this kernel takes filters. It is tried once, on a thread that ends with it.
pub(super) fn are_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    let try_it = || {
        let empty = compile(Calls::new(), SeccompAction::Allow, SeccompAction::Errno(EPERM));
        empty.is_ok_and(|filter| apply_filter(&filter).is_ok())
    };
    *SUPPORTED.get_or_init(|| {
        let thread = std::thread::Builder::new().name("sandbox-trial".to_owned()).spawn(try_it);
        thread.is_ok_and(|thread| thread.join().unwrap_or(false))
    })
}

/// Compiles a filter that takes the action `listed` for `calls`, and `other` for all others. Calls of
/// other tables (x32) have other numbers, so none of them is listed; 32-bit calls end the process.
fn compile(
    calls: Calls,
    other: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, Box<dyn Error>> {
    let filter = SeccompFilter::new(calls, other, listed, std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}

#[cfg(test)]
mod tests;
