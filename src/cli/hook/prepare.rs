//! The snapshot that a hook had no time to make, made by a process that is left behind.
//!
//! Where all skills must be read and compiled and that takes longer than an agent waits, every hook
//! would begin anew and none come to an end. The agent waits until the hook has ended and its pipes
//! are closed: so it is another process that goes on, with none of them.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use repertoire::Engine;
use repertoire::engine::CacheUse;

use crate::args::{Common, RoutingArgs};
use crate::setup;

/// The option of `hook AGENT` that means [`run`].
const OPTION: &str = "--prepare";
/// Held by the process that is at it: one at a time for each user.
const LOCK: &str = "prepare.lock";
/// Skills that were changed so lately that they may change again unnoticed have settled after it.
const SETTLING: Duration = Duration::from_millis(2500);
/// So often skills may change while they are read.
const ATTEMPTS: usize = 5;

/// Starts this command again in the background, to make the snapshot of `common`.
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

/// Makes the snapshot, unless another process is about to make one. What is wrong with it, in a
/// sentence each.
pub(super) fn run(routing: &RoutingArgs, common: &Common) -> anyhow::Result<Vec<String>> {
    step_back();
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

/// Leaves the session of the agent, with which it would end, and lets all others go first.
fn step_back() {
    #[cfg(unix)]
    {
        // Where that cannot be done, as by hand in a terminal, it is not needed.
        let _ = rustix::process::setsid();
        let _ = rustix::process::nice(10);
    }
}

/// `None` if another process has it.
fn lock(path: &Path) -> io::Result<Option<File>> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let file = File::options().append(true).create(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
