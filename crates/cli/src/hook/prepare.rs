//! A background process that writes the snapshot for which a hook had no time.
//!
//! If reading and compiling all skills takes longer than an agent waits, every hook would start
//! over and none would finish. The agent waits until the hook has ended and its pipes are closed,
//! so the work goes to another process, which has none of the pipes.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use repertoire::Engine;
use repertoire::engine::CacheUse;

use super::log;
use crate::args::{Common, RoutingArgs};
use crate::setup;

/// The option of `hook AGENT` that calls [`run`].
const OPTION: &str = "--prepare";
/// The lock that lets only one process prepare snapshots at a time for each user.
const LOCK: &str = "prepare.lock";
/// The time after which a change of a skill counts as settled. Before that, the skill may change
/// again unnoticed.
const SETTLING: Duration = Duration::from_millis(2500);
/// The number of attempts when skills change while they are read.
const ATTEMPTS: usize = 5;

/// Starts this command again in the background, to write the snapshot of `common`.
pub(super) fn start(common: &Common) -> io::Result<()> {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    args.extend([OPTION.into(), common.working_dir.clone().into_os_string()]);
    if !common.names_project {
        args.extend(["--project".into(), common.project.clone().into_os_string()]);
    }
    Command::new(std::env::current_exe()?)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

/// Writes the snapshot, unless another process is about to write one. Returns the problems, a
/// sentence each.
pub(super) fn run(routing: &RoutingArgs, common: &Common) -> anyhow::Result<Vec<String>> {
    detach_and_renice();
    let Some(_lock) = lock(&setup::hook_log(common)?.with_file_name(LOCK))? else {
        return Ok(Vec::new());
    };
    for attempt in 1.. {
        let config = setup::config(common)?;
        let builder = setup::with_skills(Engine::builder(), common, &config);
        let builder = setup::with_cache(builder, common);
        let engine = routing.matching.apply(builder).build()?;
        let CacheUse { used, written, problems, .. } = engine.cache_use();
        if *used || *written || !problems.is_empty() || attempt == ATTEMPTS {
            return Ok(problems.clone());
        }
        drop(engine);
        thread::sleep(SETTLING);
    }
    Ok(Vec::new())
}

/// Leaves the agent's process session, whose end would also end this process, and lowers the priority
/// of this process.
fn detach_and_renice() {
    #[cfg(unix)]
    {
        // If this fails, as in a terminal, it is not needed.
        let _ = rustix::process::setsid();
        let _ = rustix::process::nice(10);
    }
}

/// Takes the lock at `path`; `None` if another process holds it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = log::append_to(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
