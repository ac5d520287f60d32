//! A replacement for systems on which plugins cannot have a process of their own yet.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::call::{Cause, Death, Slot};
use super::code::Code;
use super::limits::{HostProgram, Limits};
use super::protocol::{CallId, ToChild};

/// A process, which never exists here: it cannot be started.
pub(super) enum Process {}

impl Process {
    pub(super) fn start(
        _: &HostProgram,
        _: &Code,
        _: &Path,
        _: &Path,
        _: &Limits,
    ) -> Result<(Arc<Self>, Arc<Slot>), String> {
        Err("process isolation is not available on this system".to_owned())
    }

    pub(super) fn pid(&self) -> u32 {
        match *self {}
    }

    pub(super) fn death(&self) -> Option<Arc<Death>> {
        match *self {}
    }

    pub(super) fn is_over(&self) -> bool {
        match *self {}
    }

    pub(super) fn register(&self) -> Option<(CallId, Arc<Slot>)> {
        match *self {}
    }

    pub(super) fn remove(&self, _: CallId) {
        match *self {}
    }

    pub(super) fn send(&self, _: &ToChild<'_>) -> Result<(), String> {
        match *self {}
    }

    pub(super) fn kill(&self, _: Cause) {
        match *self {}
    }

    pub(super) fn retire(&self) {
        match *self {}
    }

    pub(super) fn close(&self, _: Duration) {
        match *self {}
    }

    pub(super) fn wait_until_gone(&self, _: Duration) {
        match *self {}
    }

    pub(super) fn check(&self) {
        match *self {}
    }
}

/// The `main` of a plugin's child process. On this system, it only reports that isolation is not
/// available.
pub fn main() -> ! {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "process isolation is not available on this system");
    std::process::exit(2)
}
