//! Capabilities of root on Linux: gives up all of them, except for access to files.

use rustix::io::{Errno, Result};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
};

/// The only capability that is kept. Root in a container works in directories that belong to other
/// users, and Landlock rules bind it there like any other user.
const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE;
/// The capabilities that the supervisor uses for sandboxed code. Ports below 1024 are asked for and allowed like
/// others.
const USED: CapabilitySet = KEPT.union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up the capabilities of this thread and of all that it starts. Without them, root cannot look
/// into the memory, the environment and the descriptors of other processes, change its root directory,
/// mount, trace or load anything.
pub(super) fn give_up() -> Result<()> {
    let held = capabilities(None)?;
    if held.permitted.contains(CapabilitySet::SETPCAP) {
        // A program that root starts gets all capabilities in this bounding set.
        for bit in 0..u64::BITS {
            let one = CapabilitySet::from_bits_retain(1 << bit);
            match capability_is_in_bounding_set(one) {
                Ok(true) if one != KEPT => remove_capability_from_bounding_set(one)?,
                Ok(_) => {}
                // This kernel has no further capabilities.
                Err(Errno::INVAL) => break,
                Err(error) => return Err(error),
            }
        }
    }
    // Kernels before 4.3 have no ambient set.
    let _ = clear_ambient_capability_set();
    let kept = held.permitted & KEPT;
    let effective = held.effective & KEPT;
    set_capabilities(
        None,
        CapabilitySets { effective, permitted: kept, inheritable: CapabilitySet::empty() },
    )
}

/// Keeps this thread from using capabilities for the calls that it makes for sandboxed code. It still holds them:
/// the system lets it look only into processes that hold no others.
pub(super) fn rest() -> Result<()> {
    let held = capabilities(None)?;
    set_capabilities(None, CapabilitySets { effective: held.effective & USED, ..held })
}
